"""A model's page, which needs no server: the app's browser files, with an engine in JavaScript."""

CELLS = ("mlp", "rnn", "gru", "lstm", "mingru")
"""The cells that a page can show: those that cells.js computes."""
