"""Training: truncated backpropagation through time, recipes, and what a run will take."""
