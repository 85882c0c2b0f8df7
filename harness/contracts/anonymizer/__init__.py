"""Anonymizer images: what lies in their inputs and outputs, what runs inside, what is checked."""
