"""Fitting: truncated backpropagation through time, recipes, and estimates of memory and speed."""
