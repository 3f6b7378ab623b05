"""Work done between the server's start and the first visit, and after it.

What the first page needs is imported while the browser is still opening. torch
takes longer to import than a page should take to appear, and only scoring files
needs it: it comes when the first page has long been served. Meanwhile the disk is
freed of what servers that were killed left there.
"""

from __future__ import annotations

import importlib
import logging
import time

log = logging.getLogger("rnnviz")

LATER = 10.0  # seconds after which torch may have the processor


def up() -> None:
    """Import the pages and load the model a newcomer meets. What fails here, the page will explain."""
    try:
        from rnnviz.ui import explore, shelf
        from rnnviz.ui.inside import finding
        from rnnviz.ui.learn import page as lecture
        from rnnviz.ui.perplexity import page, scratch
        from rnnviz.ui.train import page as train

        del explore, finding, page, lecture, train
        models, _ = shelf.listed()
        if models:
            info = models[shelf.first(models)]
            shelf.load(info, to_read=True)
            shelf.yardstick(info, models)
        scratch.sweep()
        time.sleep(LATER)
        for info in models[: shelf.LOADED_AT_ONCE]:  # what the lecture shows, so that no scene waits for it
            shelf.reader(info)
        importlib.import_module("rnnviz.model")
    except Exception:
        log.debug("warming up failed", exc_info=True)
