"""Training runs, each a process and a folder; `rnnviz.runs.api` is their interface."""
