"""Where the number comes from: the curve, the coloured text, and tables of what cost most. The viewer is a
fragment inside the tables' fragment: scrolling reruns the viewer alone, a click in a table both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.figures import perplexity as figures
from rnnviz.figures.themes import BANDS, SURPRISAL_FULL, THEMES, VERSUS_FULL
from rnnviz.reports.analysis import Difference, difference
from rnnviz.reports.record import Record
from rnnviz.ui import model_cache
from rnnviz.ui.browser.component import Component
from rnnviz.ui.browser.themes import themes
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import _, language
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import tables, work
from rnnviz.ui.pages.perplexity.expected import CONTEXT, Expected
from rnnviz.ui.pages.perplexity.texts import Text
from rnnviz.ui.pages.perplexity.viewer import Ask, ViewerSession
from rnnviz.ui.pages.perplexity.viewer_words import words
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import describe, plain

if TYPE_CHECKING:
    from rnnviz.ui.context import Model

KEPT = 3  # texts of a session beside the newest
SURPRISAL_STEPS, VERSUS_STEPS = 12, 13  # colours behind the text
_component = Component("viewer")


def show(context: Context, jobs: Jobs, text: Text, scored: Scored) -> list[Hashable]:
    """One text, under one model or two. Returns the jobs it wants."""
    others = {i.path.stem: i for i in model_cache.listed()[0] if i.path != context.info.path}
    name = st.selectbox(
        _("Set it against a second model"),
        list(others),
        index=None,
        key="second",
        persist_state="session",
        placeholder=_("No other model"),
        help=_("Colours and passages then show where one model was less surprised than the other."),
        width=420,
    )
    other, wanted = None, list[Hashable]()
    if name is not None:
        info, kept = others[name], store.shared()
        key = (work.full_key(info, text), "second")
        found: Scored | None = kept.get(key[0])
        if found is None:
            job = jobs.ask(key, name, partial(work.scoring, info, text), again=work.NOT_KEPT)
            wanted.append(key)
            jobs.wait([key], 0.6)
            found = kept.get(key[0])
            if found is None:
                progress.without_result(jobs, job, "second")
        if found is not None and found.complete:
            other = (Record.open(found.folder), model_cache.load(info, to_read=True))
        elif found is not None:
            offer_reading(jobs, key, f"{text.name}, {name}")
    draw(Record.open(scored.folder), model_cache.load(context.info, to_read=True), other)
    return wanted


def offer_reading(jobs: Jobs, key: tuple[Hashable, str], name: str) -> None:
    """A button for a text whose figures are there but whose characters had to make room for others."""

    def read() -> None:
        store.shared().forget(key[0])
        jobs.forget([key])

    said = _(
        "The figures of **{name}** are kept, but not what was found for each character: other texts "
        "took its place."
    ).format(name=plain(name))
    progress.offer(said, _("Read it again"), f"read-again-{key[1]}", read, icon=":material/inventory_2:")


def draw(record: Record, model: Model, other: tuple[Record, Model] | None = None) -> None:
    """A text read by `model`; `other` is the same text read by another."""
    state = st.session_state
    key = "origin." + hashlib.sha256(str(record.folder).encode()).hexdigest()[:12]
    mark = (str(record.folder), id(model), other and str(other[0].folder), other and id(other[1]))
    seen = state.get(key)
    if seen is None or seen.mark != mark:
        seen = state[key] = ScoredText(key, mark, [(record, model), *([other] if other else [])])
        # Each holds a record's files open: keep only a few for a reader who comes back.
        left = [name for name, value in state.items() if isinstance(value, ScoredText) and name != key]
        for name in left[:-KEPT]:
            del state[name]
    if seen.trouble:
        st.warning(seen.trouble, icon=":material/warning:")
    _viewer_and_tables(seen)


class ScoredText:
    """One text in one session, by one model or two: its records, results computed from them, its viewer."""

    def __init__(self, key: str, mark: tuple[Any, ...], readings: list[tuple[Record, Model]]) -> None:
        self.key, self.mark, self.record = key, mark, readings[0][0]
        self.trouble = ""
        self.difference: Difference | None = None
        if len(readings) > 1:
            try:
                self.difference = difference(self.record, readings[1][0])
            except RnnvizError as error:
                self.trouble = describe(error)
                readings = readings[:1]
        names = [record.report.model for record, _model in readings]
        if len(set(names)) < len(names):
            names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
        self.names = names
        self.session = ViewerSession(
            self.record,
            {n: Expected(model, record) for n, (record, model) in zip(names, readings, strict=True)},
            readings[1][0] if len(readings) > 1 else None,
            self.difference,
        )
        self.curves = {n: record.curve() for n, (record, _model) in zip(names, readings, strict=True)}
        self.ask: Ask | None = None
        self._found: dict[object, Any] = {}
        self._static: dict[str, tuple[dict[str, Any], str]] = {}

    def found(self, what: object, make: Callable[[], Any]) -> Any:
        """What `make` returns, computed once."""
        if what not in self._found:
            with st.spinner(_("Reading the whole text …"), show_time=True):
                self._found[what] = make()
        return self._found[what]

    def static(self) -> tuple[dict[str, Any], str]:
        """What the browser needs once, in the session's language: words, colours, axes; and its digest."""
        if language() not in self._static:
            made = self._make_static()
            text = json.dumps([made, [str(part) for part in self.mark]], sort_keys=True)
            self._static[language()] = made, hashlib.sha256(text.encode()).hexdigest()[:12]
        return self._static[language()]

    def _make_static(self) -> dict[str, Any]:
        names, length, ends = tuple(self.names), len(self.record), figures.extent(self.curves)
        colours = themes(surprisal=SURPRISAL_STEPS, versus=VERSUS_STEPS)
        for name, theme in THEMES.items():
            colours[name]["figure"] = figures.skeleton(names, length=length, ends=ends, theme=theme)
        return {
            "words": words(),
            "names": self.names,
            "window": self.curves[self.names[0]].window,
            "context": CONTEXT,
            "language": language(),
            "themes": colours,
            "bands": BANDS,
            "surprisalFull": SURPRISAL_FULL,
            "surprisalSteps": SURPRISAL_STEPS,
            "versusFull": VERSUS_FULL,
            "versusSteps": VERSUS_STEPS,
        }

    def curve_points(self) -> dict[str, Any]:
        """The curves' points as the browser takes them."""
        arrays = {"curveAt": np.asarray(self.curves[self.names[0]].position, "<u4")}
        for n, curve in enumerate(self.curves.values()):
            arrays[f"curveRolling{n}"] = np.asarray(curve.rolling, "<f4")
            arrays[f"curveRunning{n}"] = np.asarray(curve.running, "<f4")
        return arrays


@st.fragment
def _viewer_and_tables(text: ScoredText) -> None:
    _viewer(text)
    tables.show(text)


@st.fragment
def _viewer(text: ScoredText) -> None:
    ask, text.ask = text.ask, None
    static, digest = text.static()
    data = text.session.answer(ask, static, digest, text.curve_points())
    key = f"{text.key}.viewer"

    def take() -> None:
        text.ask = Ask.from_json(_component.asked(key))

    _component.mount(data, key=key, on_ask=take)
