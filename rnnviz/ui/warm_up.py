"""Work around the first visit: the first page's imports while the browser opens; later, while nobody asks for
anything, torch's, which take longer than a page should take to appear and are needed for scoring only.

Packages that import all of their modules are there before any of it: where a thread begins with such a
package and another with one of its modules, each waits for the other, and Python ends that with half of a
module.
"""

from __future__ import annotations

import importlib
import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import rnnviz.gradients
import rnnviz.units  # noqa: F401

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.ui.context import Model

log = logging.getLogger("rnnviz")

LATER = 10.0  # seconds after which torch may have the processor
QUIET = 3.0  # seconds without a key or a click before it has: an import holds answers up for half a second

_asked = 0.0  # when somebody last did, by the monotonic clock


class Listening:
    """Middleware that notices a key or a click: a message by a WebSocket."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> Message:
            global _asked
            message = await receive()
            _asked = time.monotonic()
            return message

        await self.app(scope, heard if scope["type"] == "websocket" else receive, send)


def up() -> None:
    """Import the pages and load the default model. What fails here, the page will explain."""
    try:
        import rnnviz.ui.pages.explore.page
        import rnnviz.ui.pages.inside.units
        import rnnviz.ui.pages.learn.page
        import rnnviz.ui.pages.perplexity.page
        import rnnviz.ui.pages.train.page  # noqa: F401
        from rnnviz.training import visitors
        from rnnviz.ui import model_cache
        from rnnviz.ui.jobs import scratch

        models, _ = model_cache.listed()
        if models:
            info = model_cache.first(models)
            _picture(model_cache.load(info, to_read=True))
            model_cache.yardstick(info, models)
        scratch.sweep()
        visitors.clear()  # of a process that was killed while it served others
        time.sleep(LATER)
        for piece in _pieces(models):
            while (wait := _asked + QUIET - time.monotonic()) > 0:
                time.sleep(wait)
            piece()
    except Exception:
        log.debug("warming up failed", exc_info=True)


def _pieces(models: list[ModelInfo]) -> Iterator[Callable[[], object]]:
    """What can wait until nobody is kept waiting by it."""
    from rnnviz.lecture.scenes import scenes
    from rnnviz.networks import has_torch
    from rnnviz.ui import model_cache

    for info in models[: model_cache.LOADED_AT_ONCE]:
        yield lambda info=info: _picture(model_cache.reader(info))  # type: ignore[misc]
    for scene in scenes():  # what a step would keep a class waiting for
        yield from (partial(step.shown, step.usual) for step in scene.steps)
    if has_torch.installed():
        yield partial(importlib.import_module, "rnnviz.networks.torch_model")


def _picture(model: Model) -> None:
    """Find out which units of a network its first picture shows: it writes a text for that."""
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.ui.pages.explore import unit_order

    if not isinstance(model, NgramModel):
        unit_order.order(model, "steady", 0)
