"""Where the surprise is: the curve, the coloured text, and tables of what cost most. The viewer is a
fragment inside the tables' fragment: scrolling reruns at most the viewer, and nothing where it has its own
connection; a click in a table reruns both.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.reports.record import Record
from rnnviz.ui import model_cache
from rnnviz.ui.browser.component import Component, asked
from rnnviz.ui.context import Context
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import tables, work
from rnnviz.ui.pages.perplexity.comparison import Second
from rnnviz.ui.pages.perplexity.scored_text import ScoredText
from rnnviz.ui.pages.perplexity.texts import Text
from rnnviz.ui.pages.perplexity.viewer import Ask
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import plain

if TYPE_CHECKING:
    from rnnviz.ui.context import Model

KEPT = 3  # texts of a session beside the newest
_component = Component("viewer")


def show(context: Context, jobs: Jobs, text: Text, scored: Scored, second: Second | None) -> None:
    """One text, under one model or two."""
    other = None
    if second is not None and (found := second.found.value) is not None:
        if found.complete:
            other = (Record.open(found.folder), model_cache.load(second.info, to_read=True))
        else:
            offer_reading(jobs, work.full_key(second.info, text), f"{text.name}, {second.name}")
    draw(Record.open(scored.folder), model_cache.load(context.info, to_read=True), other)


def offer_reading(jobs: Jobs, key: Key, name: str) -> None:
    """A button for a text whose figures are there but whose characters had to make room for others."""

    def read() -> None:
        store.shared().forget(key)
        jobs.forget([key])

    said = _(
        "The perplexity of **{name}** is kept, but the values of its characters had to make room for "
        "other texts."
    ).format(name=plain(name))
    progress.offer(said, _("Read it again"), f"read-again-{name}", read, icon=":material/inventory_2:")


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


@st.fragment
def _viewer_and_tables(text: ScoredText) -> None:
    _viewer(text)
    tables.show(text)


@st.fragment
def _viewer(text: ScoredText) -> None:
    key, link, session = f"{text.key}.viewer", text.link, text.session
    fixed = *text.static(), text.curve_points()

    def answer(said: Any, at_once: bool) -> bytes | None:
        return None if at_once else session.answer(Ask.from_json(said), *fixed)  # it reads files

    said = asked(key)
    with link.lock:
        link.answer = answer
        data = session.answer(said and Ask.from_json(said), *fixed, session=link.token)
    _component.mount(data, key=key)
