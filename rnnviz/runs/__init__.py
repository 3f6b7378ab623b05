"""Training runs, each a process and a folder; `rnnviz.runs.api` is their interface.

    with rnnviz.runs.follow("my-loop", model) as run:    # any training loop, shown live on the Train page
        run.log(step, loss)

The public names stand in `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
