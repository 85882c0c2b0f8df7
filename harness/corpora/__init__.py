"""What speech there is: manifest, store, importers, exporters, checks."""
