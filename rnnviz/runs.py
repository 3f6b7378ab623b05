"""The module of 1.0.0 for training loops of one's own; `rnnviz.follow` is their place now."""

from typing import TYPE_CHECKING

from rnnviz.deprecated import gone

if not TYPE_CHECKING:  # where a checker would take it to say that every name is there
    __getattr__ = gone(
        __name__,
        {
            "Followed": "rnnviz.follow returns one",
            "api": "start, list and stop runs on the page Train, or with python -m rnnviz train",
        },
        {"follow": ("rnnviz.training.external_run:follow", "rnnviz.follow")},
    )
