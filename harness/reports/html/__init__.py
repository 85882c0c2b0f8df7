"""One page of HTML that needs nothing but itself."""
