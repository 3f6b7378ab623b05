"""`python -m rnnviz`: see rnnviz.cli."""

from rnnviz.cli import run

run()
