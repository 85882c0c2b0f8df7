"""Attackers: one small interface, one file or folder each."""
