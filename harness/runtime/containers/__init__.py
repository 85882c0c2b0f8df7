"""Strangers' programs behind bars: one container, its limits, and what came out of it."""
