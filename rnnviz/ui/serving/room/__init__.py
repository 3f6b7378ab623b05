"""The room: a class's phones, which answer the lecture's questions through a separate listener."""

NETWORKS = ("holmes-lstm", "timemachine-gru")
"""The networks that a class sees unless the lecturer chooses others."""
