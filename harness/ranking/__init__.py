"""Who is better, how sure that is, and what an anonymizer is worth against all of them."""
