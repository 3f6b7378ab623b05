"""Find the units: which respond to something, beside chance, and what a chosen one does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import charts
from rnnviz.text.characters import visible
from rnnviz.ui import address, dashboard, findings
from rnnviz.ui.dashboard import Panel, ends, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.pages.inside import (
    control,
    corpus_scan,
    direction,
    probe,
    question,
    sources,
)
from rnnviz.ui.pages.inside.common import UNIT, WANTED, View, cursor, done, fragment, kept, say_start
from rnnviz.ui.pages.inside.question import SPANS, Question
from rnnviz.ui.pages.inside.sources import Source
from rnnviz.ui.pages.inside.words import PATTERN, SPAN
from rnnviz.ui.trouble import describe
from rnnviz.ui.words import decimal, quantities
from rnnviz.units import Direction

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rnnviz.units import Probe, Search, Searcher

    Ready = tuple[str, Searcher]
    Named = tuple[str, Direction]

KEY = "inside.finding"
LISTED = 12
_UNIT, _FOLLOWED, _BEFORE = UNIT, "inside.followed", "inside.before"


@fragment
def section(view: View) -> None:
    ask = dashboard.asked(KEY)
    clicked = ask.pick(view.H, "ranking")
    if clicked is not None:
        st.session_state[_UNIT] = clicked
    spans = _spans(view, ask)
    at = cursor(ask, view, None)
    asked = question.ask(view)
    search, ready = None, None
    if asked.target == SPAN and not spans:
        st.info(_("Drag over the text below to select a passage, or several."), icon=":material/select:")
    elif asked.target == PATTERN and not asked.pattern:
        st.info(
            _("Write a regular expression, such as `[0-9]+` or `said`."), icon=":material/regular_expression:"
        )
    elif asked.source is not None:
        ready = _ready(view, asked, asked.source, spans)
        search = _search(view, asked, asked.source, ready, spans) if ready else None
    picked = st.container(horizontal=True, vertical_alignment="bottom")
    with picked:
        unit = _unit(view, asked, search)
        address.say(unit=unit)
    probed = None
    recorded = question.standing(view, (asked.target,), asked.quantity)
    if recorded is not None:  # found on more text than the page's
        st.markdown(findings.told(recorded.sentences()))
    if search is not None:
        assert ready is not None
        search = _said(view, asked, *ready, search, unit)
        probed = probe.section(view, asked, search, ready, spans)
    with picked:  # now that all directions are known
        along = direction.pick(view, asked.quantity, "finding", _("Colour the text by"), _("this unit"))
    _show(view, asked, search, unit, along, probed, at, spans)
    corpus_scan.section(view, asked.quantity, unit, asked.source)


def _said(view: View, asked: Question, text: str, searcher: Searcher, search: Search, unit: int) -> Search:
    """Say what was found; returns the search with its evidence, once that is known."""
    place = st.container()
    if search.verdict not in ("short", "same text"):
        search = control.weighed(view, asked, text, searcher, search)
    with place:
        findings.show(search)
        if search.untrained:
            say_start(view)
        too_short = search.verdict == "short" and search.characters < sources.WRITTEN
        if too_short and asked.source is not None and asked.target != SPAN:
            sources.propose(view, asked.source, question.SOURCE)
        if (other := search.about(unit)) is not None:
            st.caption(findings.tell(other))
    return search


def _ready(view: View, asked: Question, source: Source, spans: list[tuple[int, int]]) -> Ready | None:
    """The text that is searched and its Searcher; None while it is being read."""
    key = _key(view, asked, source, "searcher")
    if source.kind == sources.OWN:
        return view.text, kept(key, lambda: _searcher(view, asked))
    ready: Ready | None = done(
        key,
        _("Reading {n} characters").format(n=f"{sources.SEARCHED:,}"),
        lambda check: sources.searching(
            view, source, asked.quantity, partial(_find, view, asked, spans), check
        ),
        "search",
        patience=0.0,
    )
    return ready


def _key(view: View, asked: Question, source: Source, what: str, *rest: Hashable) -> Key:
    return source.key(view, what, view.layer, asked.quantity, *rest)


def _find(view: View, asked: Question, spans: list[tuple[int, int]], text: str, searcher: Searcher) -> Search:
    return searcher.search(question.target(view, asked, text, spans), edges=asked.edges)


def _search(
    view: View, asked: Question, source: Source, ready: Ready, spans: list[tuple[int, int]]
) -> Search | None:
    text, searcher = ready
    sought = asked.target, asked.pattern, asked.edges, tuple(spans)
    try:
        return kept(
            _key(view, asked, source, "search", *sought), lambda: _find(view, asked, spans, text, searcher)
        )
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/search_off:")
        return None


def _searcher(view: View, asked: Question) -> Searcher:
    return units.Searcher(view.trace, layer=view.layer, quantity=asked.quantity)


def _unit(view: View, asked: Question, search: Search | None) -> int:
    state = st.session_state
    mark = (view.mark, view.layer, asked.target, asked.pattern, asked.quantity, search)
    if search is not None and (state.get(_FOLLOWED) != mark or _UNIT not in state):
        if not state.pop(WANTED, False):
            found = question.standing(view, (asked.target,), asked.quantity)
            state[_UNIT] = search.best.unit.unit if found is None else found.unit
        state[_FOLLOWED] = mark
    elif search is None:
        if (state.get(_BEFORE) != mark[:3] or _UNIT not in state) and WANTED not in state:
            state[_UNIT] = _before_search(view, asked)
        state[_BEFORE] = mark[:3]
    state[_UNIT] = min(max(int(state[_UNIT]), 0), view.H - 1)
    return int(
        st.number_input(
            _("The unit, 0 to {last}").format(last=view.H - 1),
            0,
            view.H - 1,
            key=_UNIT,
            persist_state="session",
            width=320,
        )
    )


def _before_search(view: View, asked: Question) -> int:
    """The unit until a longer text has been read: one on record, or the best on the page's text."""
    found = question.standing(view, (asked.target,), asked.quantity)
    if found is not None:
        return found.unit
    try:
        target = question.target(view, asked, view.text, [])
        return _searcher(view, asked).search(target, shifts=0).best.unit.unit
    except RnnvizError:
        return 0


def _spans(view: View, ask: dashboard.Ask) -> list[tuple[int, int]]:
    text, spans = st.session_state.get(SPANS, ("", []))
    if text != view.text:
        spans = []
    new = ask.span(len(view.text))
    if new is None:
        return list(spans)
    merged: list[tuple[int, int]] = []
    for start, stop in sorted([*spans, new]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    st.session_state[SPANS] = view.text, merged
    for key in list(st.session_state):  # whatever model this is: a selection is a question
        if str(key).startswith("inside.target."):
            st.session_state[key] = SPAN
    return merged


def _show(
    view: View,
    asked: Question,
    search: Search | None,
    unit: int,
    along: Named | None,
    probed: Probe | None,
    at: int | None,
    spans: list[tuple[int, int]],
) -> None:
    if along is None:
        scale = view.scale(asked.quantity)
        values = units.activations(view.trace, layer=view.layer, quantity=asked.quantity)[:, unit]
        label = _("{quantity} of unit {n}").format(quantity=quantities()[asked.quantity], n=unit)
    else:
        values, scale = direction.coloured(view, along[1])
        label = _("value along {name}, minus its mean").format(name=along[0])
    panels = []
    if search is not None:
        panels += [findings.panel(found, height=340, width=3) for found in search.panels(unit)]
    if probed is not None:
        panels += [findings.panel(found, height=340, width=3) for found in probed.panels()]
    if view.layer == int(view.model.config.layers) - 1 and (along is None or asked.quantity == "hidden"):
        panels.append(_pushes(view, unit, along, at, 3 if probed is None else 6))
    dashboard.mount(
        KEY,
        texts=[painted(view.text, values, scale, label)],
        panels=panels,
        at=at,
        spans=spans if asked.target == SPAN else [],
        select=True,
        scale=ends(scale),
    )


def _pushes(view: View, unit: int, along: Named | None, at: int | None, width: int) -> Panel:
    state = None if at is None else view.trace.hidden[at, -1]
    if along is None:
        what: int | Direction = unit
        name, value = _("unit {n}").format(n=unit), 1.0 if state is None else float(state[unit])
    else:
        name, what = along
        value = 1.0 if state is None else float(what.along(state))
    up, down = units.pushes(view.model, what, value, k=6)
    rows = [*up, *reversed(down)] or [("–", 0.0)]
    if at is None:
        title = _("Which next characters are favoured at the value 1: {name}").format(name=name)
    else:
        title = _("Which next characters are favoured after the chosen one, at the value {v}: {name}").format(
            name=name, v=decimal(value)
        )
    return Panel(
        "pushes",
        title,
        partial(
            charts.ranking,
            [visible(s) for s, _nats in rows],
            [n for _s, n in rows],
            x=_("nats added to the logit, minus their mean"),
        ),
        _("It favours the characters with bars to the right, and holds back those with bars to the left."),
        _("what it does through other units at later characters; and every unit favours some characters."),
        height=340,
        width=width,
    )
