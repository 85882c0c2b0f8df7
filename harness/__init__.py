"""A reproducible benchmark harness for speech anonymization and its attackers."""

__version__ = "0.1.0"
