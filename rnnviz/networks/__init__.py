"""What predicts the next character: recurrent networks, n-gram models, and their files."""
