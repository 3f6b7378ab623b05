"""The module of 1.0.0 that followed a user's own training loop; `rnnviz.follow` replaces it."""

from typing import TYPE_CHECKING

from rnnviz.deprecated import gone

if not TYPE_CHECKING:  # a type checker that sees a module's `__getattr__` accepts every name
    __getattr__ = gone(
        __name__,
        {
            "Followed": "rnnviz.follow returns one",
            "api": "start, list and stop runs on the page Train, or with python -m rnnviz train",
        },
        {"follow": ("rnnviz.training.external_run:follow", "rnnviz.follow")},
    )
