"""What a network has learnt: what units respond to, what depends on them, what flows back through time."""
