"""Work around the first visit: the first page's imports while the browser opens, later torch's, which take
longer than a page should take to appear and are needed for scoring only.
"""

from __future__ import annotations

import importlib
import logging
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rnnviz.ui.context import Model

log = logging.getLogger("rnnviz")

LATER = 10.0  # seconds after which torch may have the processor


def up() -> None:
    """Import the pages and load the default model. What fails here, the page will explain."""
    try:
        import rnnviz.ui.pages.explore.page
        import rnnviz.ui.pages.inside.units
        import rnnviz.ui.pages.learn.page
        import rnnviz.ui.pages.perplexity.page
        import rnnviz.ui.pages.train.page  # noqa: F401
        from rnnviz.networks import has_torch
        from rnnviz.ui import model_cache
        from rnnviz.ui.jobs import scratch

        models, _ = model_cache.listed()
        if models:
            info = models[model_cache.first(models)]
            _picture(model_cache.load(info, to_read=True))
            model_cache.yardstick(info, models)
        scratch.sweep()
        time.sleep(LATER)
        for info in models[: model_cache.LOADED_AT_ONCE]:
            _picture(model_cache.reader(info))
        _lecture()
        if has_torch.installed():
            importlib.import_module("rnnviz.networks.torch_model")
    except Exception:
        log.debug("warming up failed", exc_info=True)


def _picture(model: Model) -> None:
    """Find out which units of a network its first picture shows: it writes a text for that."""
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.ui.pages.explore import rows

    if not isinstance(model, NgramModel):
        rows.order(model, "steady", 0)


def _lecture() -> None:
    """Train the networks that a step of the lecture would wait for."""
    from rnnviz.lecture import linear
    from rnnviz.lecture.word import STEPS
    from rnnviz.ui.pages.learn import scene_7_linear

    for cell in linear.CELLS:
        linear.network(cell, scene_7_linear.WORD, steps=STEPS)
