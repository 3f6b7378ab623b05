"""Runs: a training run is a process and a folder."""
