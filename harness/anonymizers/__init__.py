"""Anonymizers: one small interface, one file each."""
