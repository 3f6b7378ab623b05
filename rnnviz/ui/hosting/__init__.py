"""Serving others: visitors and the lecturer, their permissions, and the limits."""
