"""Training runs, each a process and a folder; `rnnviz.runs.api` is what can be done with them."""
