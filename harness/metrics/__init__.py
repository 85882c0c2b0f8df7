"""Arithmetic only: arrays in, numbers out."""
