"""Why a claim differs from the scores."""
