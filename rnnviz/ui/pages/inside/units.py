"""Find the units: which of them tell something, beside chance, and what a chosen one does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import bars
from rnnviz.runs import unit_findings
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import board, corpora, corpus_scan, question_form, words
from rnnviz.ui.pages.inside.board import Panel, Text
from rnnviz.ui.pages.inside.common import Look, cursor, done, guarded, kept, quantities
from rnnviz.ui.pages.inside.question_form import SPANS, Question
from rnnviz.ui.pages.inside.words import PATTERN, SPAN
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.units import Search, Searcher

BOARD = "inside.finding"
LISTED = 12
_UNIT, _FOLLOWED = "inside.unit", "inside.followed"


@st.fragment
@guarded
def section(look: Look) -> None:
    """The whole sub-page."""
    ask = board.asked(BOARD)
    if ask.what == "pick" and ask.panel == "ranking" and type(ask.value) is int and 0 <= ask.value < look.H:
        st.session_state[_UNIT] = ask.value
    spans = _spans(look, ask)
    at = cursor(ask, look)
    question = question_form.question(look)
    search = None
    if question.target == SPAN and not spans:
        st.info(_("Drag over the text below to select a passage, or several."), icon=":material/select:")
    elif question.target == PATTERN and not question.pattern:
        st.info(
            _("Write a regular expression, such as `[0-9]+` or `said`."), icon=":material/regular_expression:"
        )
    elif question.source is not None:
        search = _search(look, question, question.source, spans)
    unit = _unit(look, question, search)
    if search is not None:
        found = next((f for f in search.found if f.unit.unit == unit), search.best)
        st.markdown(words.verdict(search, search.best, 1) + " " + words.many(len(search.above_chance)))
        if found is not search.best:
            st.caption(
                _("{unit}: {score}, ranked by {ranked}.").format(
                    unit=words.unit(0, unit).capitalize(),
                    score=f"{found.score:.3f}",
                    ranked=f"{found.ranked_by:.3f}",
                )
            )
    _board(look, question, search, unit, at, spans)
    corpus_scan.section(look, question.quantity, unit, question.source)


def _search(
    look: Look, question: Question, source: corpora.Source, spans: list[tuple[int, int]]
) -> Search | None:
    """What was found, or None while the text is being read; why nothing could be is said here."""

    def find(text: str, searcher: Searcher) -> Search:
        return searcher.search(question_form.target(look, question, text, spans), edges=question.edges)

    asked = ("searcher", look.mark, look.layer, question.quantity, source.identity)
    ready: tuple[str, Searcher] | None
    if source.kind == corpora.OWN:
        ready = kept(
            (*asked, look.text),
            lambda: (look.text, units.Searcher(look.trace, layer=look.layer, quantity=question.quantity)),
        )
    else:
        ready = done(
            asked,
            _("Reading {n} characters").format(n=f"{corpora.SEARCHED:,}"),
            lambda check: corpora.searching(look, source, question.quantity, find, check),
            "search",
            patience=0.0,
        )
    if ready is None:
        return None
    text, searcher = ready
    try:
        return kept(
            ("search", *asked, text, question.target, question.pattern, question.edges, tuple(spans)),
            lambda: find(text, searcher),
        )
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/search_off:")
        return None


def _unit(look: Look, question: Question, search: Search | None) -> int:
    """The chosen unit: what the search found best, until somebody chooses another."""
    state = st.session_state
    mark = (look.mark, look.layer, question.target, question.pattern, question.quantity, search)
    if search is not None and (state.get(_FOLLOWED) != mark or _UNIT not in state):
        state[_UNIT], state[_FOLLOWED] = words.find(search).unit.unit, mark
    elif search is None:
        known = [
            f.unit
            for f in unit_findings.of(look.context.info.name)
            if f.target == question.target and f.quantity == question.quantity and f.unit is not None
        ]
        if state.get("inside.known") != mark[:3] or _UNIT not in state:
            state[_UNIT] = known[0] if known else _quick(look, question)
        state["inside.known"] = mark[:3]
    state[_UNIT] = min(max(int(state[_UNIT]), 0), look.H - 1)
    return int(
        st.number_input(
            _("The unit that colours the text, 0 to {last}").format(last=look.H - 1),
            0,
            look.H - 1,
            key=_UNIT,
            persist_state="session",
            width=320,
        )
    )


def _quick(look: Look, question: Question) -> int:
    """What tells best on the text of the page, to look at until a longer one has been read."""
    try:
        searcher = units.Searcher(look.trace, layer=look.layer, quantity=question.quantity)
        return searcher.search(question_form.target(look, question, look.text, []), shifts=0).best.unit.unit
    except RnnvizError:
        return 0


def _spans(look: Look, ask: board.Ask) -> list[tuple[int, int]]:
    """The passages selected in this text, in order; those that overlap are one."""
    text, spans = st.session_state.get(SPANS, ("", []))
    if text != look.text:
        spans = []
    new = ask.span(len(look.text))
    if new is not None:
        spans = [*spans, new]
        merged: list[tuple[int, int]] = []
        for start, stop in sorted(spans):
            if merged and start <= merged[-1][1]:
                merged[-1] = merged[-1][0], max(stop, merged[-1][1])
            else:
                merged.append((start, stop))
        spans = merged
        st.session_state[SPANS] = look.text, spans
        names = words.targets()
        for key in list(st.session_state):  # whatever model this is: a selection is a question
            if str(key).startswith("inside.target.") and SPAN in names:
                st.session_state[key] = SPAN
    return list(spans)


def _board(
    look: Look,
    question: Question,
    search: Search | None,
    unit: int,
    at: int | None,
    spans: list[tuple[int, int]],
) -> None:
    scale = look.scale(question.quantity)
    values = units.activations(look.trace, layer=look.layer, quantity=question.quantity)[:, unit]
    panels = []
    if search is not None:
        panels.append(_ranking(search, unit))
    if look.layer == int(look.model.config.layers) - 1:
        panels.append(_pushes(look, unit, at))
    board.mount(
        BOARD,
        texts=[
            Text(
                look.text,
                scale.levels(values),
                palette=scale.kind,
                label=_("{quantity} of unit {n}").format(quantity=quantities()[question.quantity], n=unit),
                values=values,
            )
        ],
        panels=panels,
        at=at,
        spans=spans if question.target == SPAN else [],
        select=True,
        scale=(scale.kind, f"{scale.low:g}", f"{scale.high:g}"),
    )


def _ranking(search: Search, unit: int) -> Panel:
    listed = list(search.found[:LISTED])
    if all(f.unit.unit != unit for f in listed):
        listed += [f for f in search.found if f.unit.unit == unit][:1]
    names = [f"{'+' if f.direction > 0 else '−'} {f.unit.unit}" for f in listed]
    chosen = next((i for i, f in enumerate(listed) if f.unit.unit == unit), None)
    levels = {_("best by chance"): search.chance} if search.held_out else {}
    if search.character is not None:
        levels[_("current character alone")] = search.character
    auc = search.measure == "AUC"
    return Panel(
        "ranking",
        _("The units that tell best, on text the ranking did not see")
        if search.held_out
        else _("The units that tell best, on the text they were ranked on"),
        lambda theme: bars.ranking(
            names,
            [f.score for f in listed],
            levels=levels,
            first=0.5 if auc else 0.0,
            last=1.0 if auc else None,
            x=words.measure(search),
            chosen=chosen,
            theme=theme,
        ),
        _(
            "Only bars that pass both lines say that a unit remembers something; + is higher inside, − "
            "lower. "
            "Click a bar to see its unit."
        ),
        _("whether anything depends on the unit; that is what Cause asks."),
        height=340,
        width=3,
        pick="bar",
        picks=[f.unit.unit for f in listed],
    )


def _pushes(look: Look, unit: int, at: int | None) -> Panel:
    value = 1.0 if at is None else float(look.trace.hidden[at, -1, unit])
    up, down = units.pushes(look.model, unit, value, k=6)
    rows = [*up, *reversed(down)] or [("–", 0.0)]
    if at is None:
        title = _("What unit {n} speaks for and against, at the value 1").format(n=unit)
    else:
        title = _("What unit {n} speaks for and against, at its value {v} after the chosen character").format(
            n=unit, v=f"{value:.2f}"
        )
    return Panel(
        "pushes",
        title,
        lambda theme: bars.ranking(
            [visible(s) for s, _nats in rows], [n for _s, n in rows], x=_("nats added to log P"), theme=theme
        ),
        _("Long bars to the right are characters that this unit makes more probable next."),
        _("what the unit does by way of the other units at later characters."),
        height=340,
        width=3,
    )
