"""Signed certificates of verifications."""
