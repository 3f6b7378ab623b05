"""Work done between the server's start and the first visit.

torch takes longer to import than a page should take to appear; here it is
imported while the browser is still opening.
"""

from __future__ import annotations

import logging

log = logging.getLogger("rnnviz")


def up() -> None:
    """Import the pages and load the model a newcomer meets. What fails here, the page will explain."""
    try:
        from rnnviz.ui import explore, files, shelf

        del explore, files
        models, _ = shelf.listed()
        if models:
            info = models[shelf.first(models)]
            shelf.load(info)
            shelf.yardstick(info, models)
    except Exception:
        log.debug("warming up failed", exc_info=True)
