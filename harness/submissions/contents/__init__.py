"""What a submission holds: score files, claims, its description; and the rules for them."""
