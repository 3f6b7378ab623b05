"""The Inside page: what units respond to, what the network remembers, and what depends on it."""
