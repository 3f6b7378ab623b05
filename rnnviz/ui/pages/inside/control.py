"""How sure a search is, and what simpler things tell, as two jobs: untrained copies read a text once for all
that can be looked for in it, then one target's intervals are drawn; what comes of it is kept for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rnnviz import units
from rnnviz.text.characters import normalise
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import checksum
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import question, sources
from rnnviz.ui.pages.inside.common import View, done
from rnnviz.ui.pages.inside.question import Question
from rnnviz.ui.pages.inside.sources import Source

if TYPE_CHECKING:
    from rnnviz.units import Search, Searcher

Columns = Mapping[str, tuple[Any, ...]]


def weighed(view: View, asked: Question, text: str, searcher: Searcher, search: Search) -> Search:
    """`search` with its evidence; as it is while that is being measured, with a bar."""
    source = asked.source
    assert source is not None
    sought = asked.target, asked.pattern, asked.edges
    key = source.key(view, "weighed", view.layer, asked.quantity, checksum(*sought))
    if source.kind not in ("corpus", sources.SAMPLED):  # the reader's own
        store.shared().hold(store.holder(), [key.text])
    found = store.shared().get(key)
    if found is None:
        kinds = (*units.KINDS, *units.PYTHON_KINDS) if view.python else tuple(units.KINDS)
        whole = asked.target in kinds and not asked.edges
        which = "kinds" if whole else checksum(*sought)
        asks = [replace(asked, target=name) for name in kinds] if whole else [asked]
        columns: Columns | None = done(
            source.key(view, "control", view.layer, asked.quantity, which),
            _("Reading the text with {n} untrained copies of the network").format(n=units.controls.COPIES),
            lambda check: _reading(view, source, asks),
            "control",
            patience=0.0,
        )
        if columns is None:
            return search
        found = done(
            key,
            _("Resampling the text for the intervals"),
            lambda check: _weighing(view, asked, text, searcher, search, columns.get(search.target, ())),
            "weighing",
        )
        if found is None:
            return search
        store.shared().put(key, found)
    evidence, untrained = found
    return replace(search, evidence=evidence, untrained=untrained)


def _reading(view: View, source: Source, asks: list[Question]) -> Steps[Columns]:
    yield Step(0.0)
    text = normalise(source.read(view, sources.SEARCHED), view.model.normaliser)
    targets = [target for one in asks if (target := question.target(view, one, text, [])).varies]
    steps = units.echoes(
        view.model, text, targets, layer=view.layer, quantity=asks[0].quantity, edges=asks[0].edges
    )
    columns = yield from as_steps(steps, lambda now: Step(now.fraction))
    return {target.name: each for target, each in zip(targets, columns, strict=True)}


def _weighing(
    view: View,
    asked: Question,
    text: str,
    searcher: Searcher,
    search: Search,
    columns: tuple[Any, ...],
) -> Steps[tuple[units.Evidence | None, tuple[float, ...]]]:
    yield Step(0.0)
    target = question.target(view, asked, text, [])
    edges = 0 if target.graded else asked.edges
    steps = units.weigh(searcher, search, target, columns, edges=edges)
    found = yield from as_steps(steps, lambda now: Step(now.fraction))
    return found.evidence, found.untrained
