"""The live view: its data, its words, its session; and a model's page, which needs no server.

The page has the app's browser files, and an engine in JavaScript.
"""

CELLS = ("mlp", "rnn", "gru", "lstm", "mingru")
"""The cells that a page can show: those that cells.js computes."""
