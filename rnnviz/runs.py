"""Training runs, each a process and a folder.

    with rnnviz.runs.follow("my-loop", model) as run:    # any training loop, shown live on the Train page
        run.log(step, loss)

`rnnviz.runs.api` starts, lists and stops rnnviz's own.
"""

from rnnviz.training import runs as api
from rnnviz.training.external_run import Followed, follow

__all__ = ["Followed", "api", "follow"]
