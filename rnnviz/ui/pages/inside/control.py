"""The same search on the same network untrained, as a job: three copies read a text once for all that can be
looked for in it, and what they reach is kept for everybody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace

from rnnviz import units
from rnnviz.text.normalising import normalise
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import question, sources
from rnnviz.ui.pages.inside.common import View, done
from rnnviz.ui.pages.inside.question import Question
from rnnviz.ui.pages.inside.sources import Source

Scores = Mapping[str, tuple[float, ...]]


def of(view: View, asked: Question) -> Scores:
    """What untrained copies reach, by the target's name; empty while it is being measured, with a bar."""
    source = asked.source
    assert source is not None
    whole = asked.target in units.KINDS and not asked.edges
    which = "kinds" if whole else _checksum(asked.target, asked.pattern, asked.edges)
    text = _checksum(source.identity(view))
    if source.kind != "corpus":  # the reader's own
        store.shared().hold(store.holder(), [text])
    key = ("control", (view.mark, view.layer, asked.quantity), (text, which))
    found: Scores | None = store.shared().get(key)
    if found is None:
        asks = [replace(asked, target=name) for name in units.KINDS] if whole else [asked]
        found = done(
            key,
            _("Reading the same with {n} untrained copies").format(n=units.controls.COPIES),
            lambda check: _measuring(key, view, source, asks),
            "control",
            patience=0.0,
        )
    return found or {}


def _checksum(*values: object) -> str:
    """What a key tells of what a reader wrote or uploaded."""
    return hashlib.sha256(repr(values).encode("utf-8", "backslashreplace")).hexdigest()


def _measuring(key: Hashable, view: View, source: Source, asks: list[Question]) -> Steps[Scores]:
    yield Step(0.0)
    text = normalise(source.read(view, sources.SEARCHED), view.model.normaliser)
    targets = [target for one in asks if (target := question.target(view, one, text, [])).varies]
    steps = units.control(
        view.model, text, targets, layer=view.layer, quantity=asks[0].quantity, edges=asks[0].edges
    )
    scores = yield from as_steps(steps, lambda now: Step(now.fraction))
    found = {target.name: score for target, score in zip(targets, scores, strict=True)}
    store.shared().put(key, found)
    return found
