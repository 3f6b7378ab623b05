"""Models that predict the next character: recurrent networks, n-gram models, and their files."""
