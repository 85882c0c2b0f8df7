"""Where work runs: files written whole, ordered parallel maps, seeds, events."""
