"""Anonymizers ranked by what was measured of them, within minimums of privacy."""
