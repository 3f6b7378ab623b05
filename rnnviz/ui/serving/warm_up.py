"""The warm-up: imports and first results, computed before a reader needs them.

- Before the port answers: the app's first picture, so that the first visit is as fast as later ones.
- While the browser opens: the pages' imports.
- Later, while no reader asks for anything: torch, which only scoring needs. Its import takes longer than a
  page should take to appear.

Packages that import all their modules are imported here, before any thread starts. With one thread importing
the package and another one of its modules, each waits for the other; Python breaks the deadlock with a
half-imported module.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import rnnviz.gradients
import rnnviz.units  # noqa: F401
from rnnviz import registry
from rnnviz.page.responses import preferred_language
from rnnviz.sentences import LANGUAGES
from rnnviz.ui.serving.first_picture import first_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.networks.numpy_model import Model

log = logging.getLogger("rnnviz")

LATER_PIECES_AFTER_S = 10.0  # seconds until the later pieces may begin
QUIET_BEFORE_PIECE_S = 3.0  # seconds without a key or a click before each piece

_last_message_time = 0.0  # the time of the last message from any browser, by time.monotonic()


class LastMessageMiddleware:
    """The middleware that records each key or click: a message over a WebSocket."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_and_record() -> Message:
            global _last_message_time
            message = await receive()
            _last_message_time = time.monotonic()
            return message

        await self.app(scope, receive_and_record if scope["type"] == "websocket" else receive, send)


def prepare_first_picture() -> None:
    """Compute the app's first picture in this computer's language, which its browser speaks, too."""
    # Streamlit warns at each cached call outside a session, 60 times: the room's address would scroll by.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(logging.ERROR)
    first_answer("explore", preferred_language(os.environ.get("LANG", "")), {})


def warm_up() -> None:
    """Import the pages, then run the later pieces. Errors are only logged: the page that
    needs the failed piece shows them.
    """
    try:
        from rnnviz.ui.jobs import store
        from rnnviz.ui.shell import model_cache

        look_pages = (f"rnnviz.ui.pages.{name}.page" for name in ("explore", "learn", "perplexity"))
        # One after another in this thread, packages before their pages: see the head of this file on
        # deadlocks.
        for module in (*look_pages, *(page.module for page in registry.pages())):
            importlib.import_module(module)
        models, _ = model_cache.list_models()
        store.sweep()
        time.sleep(LATER_PIECES_AFTER_S)
        for piece in _later_pieces(models):
            # An import holds Python's lock for half a second, in which no key is answered.
            while (wait := _last_message_time + QUIET_BEFORE_PIECE_S - time.monotonic()) > 0:
                time.sleep(wait)
            piece()
        # What is loaded stays: full collections, which stop every thread, look at it no longer. They took a
        # second while strangers attacked the room.
        gc.collect()
        gc.freeze()
    except Exception:
        log.debug("warming up failed", exc_info=True)


def _later_pieces(models: list[ModelInfo]) -> Iterator[Callable[[], object]]:
    """The later pieces of the warm-up, each a call of at most some seconds."""
    from rnnviz.lecture.scenes import scenes
    from rnnviz.networks import engines
    from rnnviz.ui.shell import model_cache

    for info in models[: model_cache.MAX_LOADED_MODELS]:
        yield lambda info=info: _compute_first_picture(model_cache.load_reader(info))  # type: ignore[misc]
    for language in LANGUAGES:  # not sooner: it would take a core from the first visit
        yield lambda language=language: first_answer("explore", language, {})  # type: ignore[misc]
    for scene in scenes():  # steps' first pictures, for which a class would otherwise wait
        yield from (partial(step.draw, step.initial_values) for step in scene.steps)
    if (engine := engines.registered()) is not None:
        yield partial(importlib.import_module, engine)


def _compute_first_picture(model: Model) -> None:
    """Compute the units of a network's first picture, for which it writes a reference text; the result is
    cached.
    """
    from rnnviz.networks.ngram import NgramModel
    from rnnviz.page import shown_units

    if not isinstance(model, NgramModel):
        shown_units.unit_order(model, "steady", 0)
