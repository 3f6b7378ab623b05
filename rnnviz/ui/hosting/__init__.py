"""Serving others: who a visitor is, what only the lecturer may do, how many there is room for."""
