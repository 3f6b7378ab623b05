"""Training: truncated backpropagation through time, recipes, runs, and estimates of memory and speed."""
