"""The page that needs no server: the app's own files, and an engine in JavaScript in the server's place."""

CELLS = ("mlp", "rnn", "gru", "lstm", "mingru")
"""The networks that a page can show: what cells.js computes."""
