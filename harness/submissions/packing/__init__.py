"""Making a submission that will pass."""
