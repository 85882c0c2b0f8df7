"""Score files: reading them whatever their form, and what looks odd in them."""
