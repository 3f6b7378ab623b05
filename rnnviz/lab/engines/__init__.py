"""Engines: torch, what numba compiles for it, adapters of other networks, and a cluster."""
