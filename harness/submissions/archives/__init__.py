"""From an archive or a folder of a stranger to its members."""
