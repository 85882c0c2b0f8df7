"""What anonymized speech is still good for: its words, emotions and intonation."""
