"""Submissions: archive, layout, checks, re-scoring, explanation, verdict, certificate, packing."""
