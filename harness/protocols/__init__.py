"""Challenge editions and benchmarks as data."""
