"""Match: the units that are on throughout a selected passage, and where else in a corpus most of them are."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import heat
from rnnviz.figures.frame import Figure
from rnnviz.figures.themes import Scale, Theme
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.inside import dashboard, indexing, match_control, match_tracks, sources
from rnnviz.ui.pages.inside.common import LONGEST, View, cursor, fragment, kept
from rnnviz.ui.pages.inside.dashboard import TRACKS, Panel, Text, ends, painted
from rnnviz.ui.pages.inside.indexing import Indexed
from rnnviz.ui.trouble import describe
from rnnviz.units import match_controls
from rnnviz.units.matching import column, shares

if TYPE_CHECKING:
    from rnnviz.units import Match, Matches, Pattern, Target

KEY, ROWS = "inside.match", "inside.matches"
COMING = "inside.coming"  # read by page.py
_SPAN = "inside.match.span"  # of st.session_state: the text, and the passage selected in it

SHARE = Scale("sequential", 0.0, 1.0)
BEFORE, AFTER = 48, 24  # characters of a row's context
SHOWN = 12  # rows
NAMED = 16  # rows of the heat map that have their number beside them, at most
VIEWED = 500  # characters before a match that become the text in view with it


@dataclass(frozen=True)
class Asked:
    """What is looked for: `least` characters, in which a `share` of the units are on."""

    threshold: float
    edges: int
    share: float
    least: int


@fragment
def section(view: View) -> None:
    ask = dashboard.asked(KEY)
    at = cursor(ask, view, None)
    start, stop = _span(view, ask)
    asked = _controls(view, stop - start)
    pattern = units.pattern(
        view.trace, start, stop, threshold=asked.threshold, edges=asked.edges, layer=view.layer
    )
    columns = [unit.unit for unit in pattern.units]
    states = units.activations(view.trace, layer=view.layer)
    on = shares(states[:, columns], pattern) if columns else (abs(states) >= asked.threshold).mean(axis=1)
    label = _("share of these units that are on") if columns else _("share of all units that are on")
    dashboard.mount(
        KEY,
        texts=[painted(view.text, on, SHARE, label)],
        panels=[_heat(view, pattern, states)],
        at=at,
        spans=[(start, stop)],
        select=True,
        scale=ends(SHARE),
    )
    if not columns:
        st.info(
            _(
                "No unit is on throughout the {n} selected characters and off for {k} on each side. Select "
                "fewer, lower the threshold, or set the margin to 0."
            ).format(n=stop - start, k=asked.edges)
            if asked.edges
            else _(
                "No unit is on throughout the {n} selected characters. Select fewer, or lower the threshold."
            ).format(n=stop - start),
            icon=":material/search_off:",
        )
        return
    st.markdown(
        ngettext(
            "**{n} unit** is on throughout the selected passage (+: above 0, −: below 0): {units}",
            "**{n} units** are on throughout the selected passage (+: above 0, −: below 0): {units}",
            len(columns),
        ).format(n=len(columns), units=_names(pattern))
    )
    _corpus(view, pattern, asked, start)


def _span(view: View, ask: dashboard.Ask) -> tuple[int, int]:
    """The selected passage; before anything is selected a word that comes again, or else the last
    character.
    """
    new = ask.span(len(view.text))
    if new is not None:
        st.session_state[_SPAN] = view.text, new
    text, span = st.session_state.get(_SPAN, ("", None))
    if text == view.text and span is not None:
        return int(span[0]), int(span[1])
    words = list(re.finditer(r"\b\w{3,10}\b", view.text))
    often = Counter(word[0] for word in words)
    again = [word.span() for word in words if often[word[0]] > 1] or [word.span() for word in words]
    return again[-1] if again else (len(view.text) - 1, len(view.text))


def _controls(view: View, length: int) -> Asked:
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    usual = 0.3 if view.cell == "lstm" else 0.5
    threshold = first.slider(
        _("Threshold, distance from 0"),
        0.05,
        0.95,
        usual,
        0.05,
        key=f"inside.match.threshold.{usual}",
        persist_state="session",
        help=_(
            "A unit is on where its value is at least this far from 0. Throughout the passage it must be on, "
            "and on the same side of 0. Drag over the text below to select another passage."
        ),
    )
    edges = second.number_input(
        _("Margin with the units off"),
        0,
        20,
        0,
        key="inside.match.edges",
        persist_state="session",
        help=_("A unit must be off for so many characters on each side of the passage. 0: it need not be."),
    )
    share = third.slider(
        _("Units on in a match, at least"),
        25,
        100,
        75,
        5,
        format="%d %%",
        key="inside.match.share",
        persist_state="session",
    )
    least = fourth.number_input(
        _("Shortest match, in characters"),
        1,
        LONGEST,
        length,
        key=f"inside.match.least.{length}",
        persist_state="session",
    )
    return Asked(float(threshold), int(edges), share / 100, int(least))


def _heat(view: View, pattern: Pattern, states: Any) -> Panel:
    order = sorted(range(len(pattern)), key=lambda k: -pattern.signs[k])
    columns = [pattern.units[k].unit for k in order] or list(range(view.H))
    return Panel(
        "pattern",
        _("The units that are on throughout the passage, along the text")
        if len(pattern)
        else _("All units along the text: none is on throughout the passage"),
        partial(_table, states[:, columns].T, view.scale("hidden"), columns),
        _(
            "Inside the passage every row is strong and of one colour. Look for other places where most rows "
            "have those colours again."
        )
        if len(pattern)
        else _("No row is strong and of one colour throughout the passage, and weak in the margin, if any."),
        _("why they are on, and whether anything depends on them; that is what Cause asks."),
        height=260,
        link="x",
        pick="at",
    )


def _table(values: Any, scale: Scale, names: list[int], *, theme: Theme) -> Figure:
    """A heat map whose rows are called as the units are."""
    figure = heat.table(values, scale, x=_("character"), y=_("unit"), theme=theme)
    every = -(-len(names) // NAMED)
    shown = list(range(0, len(names), every))
    figure["layout"]["yaxis"].update(tickvals=shown, ticktext=[str(names[row]) for row in shown])
    return figure


def _names(pattern: Pattern) -> str:
    pairs = sorted(zip(pattern.units, pattern.signs, strict=True), key=lambda pair: pair[0])
    named = [f"{'+' if sign > 0 else '−'}{unit.unit}" for unit, sign in pairs]
    return ", ".join(named if len(named) <= 30 else [*named[:30], "…"])


def _corpus(view: View, pattern: Pattern, asked: Asked, start: int) -> None:
    st.subheader(_("Other places where most of these units are on"), anchor=False)
    where, which, own = st.columns([2, 2, 2])
    with where:
        source = sources.pick(view, "inside.match.source")
    if source is None:
        return
    indexed = indexing.of(view, source)
    if indexed is None:
        return
    tracks, mark = match_tracks.pick(indexed, which, own)
    index, passage = indexed.index, view.text[start : start + pattern.length]
    key = (view.mark, str(index.path), pattern, asked)
    try:
        found: Matches = kept(
            ("matches", *key),
            lambda: index.match(pattern, share=asked.share, least=asked.least, most=SHOWN),
        )
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/search_off:")
        return
    st.markdown(_said(found, len(index)))
    if not found.found:
        return
    controls = kept(
        ("match controls", *key, mark), lambda: match_controls.beside(index, found, passage, tracks)
    )
    untrained = match_control.beside(
        view,
        indexed,
        found,
        controls,
        start,
        share=asked.share,
        edges=asked.edges,
        most=SHOWN,
        tracks=tracks,
        key=(*key, mark, view.text, start),
    )
    if untrained is not None:
        st.markdown(match_control.sentence(untrained))
    match_tracks.table(controls, untrained)
    _rows(view, indexed, found, tracks, (*key, mark))


def _said(found: Matches, characters: int) -> str:
    if not found.windows:
        return _(
            "At no place of the {characters} characters are at least {needed} of these units on for {least} "
            "characters. Choose a smaller share or a shorter match."
        ).format(characters=f"{characters:,}", needed=found.needed, least=found.least)
    return _(
        "At least {needed} of the {all} units are on for {least} characters at {share} % of the places in "
        "{characters} characters. Below are the best {shown}: those with the most units on, then the longest."
    ).format(
        needed=found.needed,
        all=len(found.pattern),
        least=found.least,
        share=f"{100 * found.share:.2g}",
        characters=f"{characters:,}",
        shown=len(found.found),
    )


def _rows(view: View, indexed: Indexed, found: Matches, tracks: list[Target], key: tuple[Any, ...]) -> None:
    ask = dashboard.asked(ROWS)
    picked = ask.pick(len(found.found), "text")
    if picked is not None:
        _look_at(view, indexed, found.found[picked])
    dashboard.mount(
        ROWS,
        texts=kept(
            ("match rows", *key),
            lambda: [_row(view, indexed, found.pattern, one, n, tracks) for n, one in enumerate(found.found)],
        ),
        quiet=True,
        scale=ends(SHARE),
        tracks=[track.name for track in tracks],
    )
    st.caption(
        _(
            "What to notice: the match is underlined on a strong colour; the stronger a colour, the more of "
            "the units are on. Thinner lines are annotations. The bars are the characters that the network "
            "finds most probable after the match. Click a row to see its text above. Not shown: places with "
            "fewer of the units on, and what all other units do."
        )
    )


def _row(
    view: View, indexed: Indexed, pattern: Pattern, match: Match, number: int, tracks: list[Target]
) -> Text:
    index = indexed.index
    start, stop = max(0, match.start - BEFORE), min(len(index), match.stop + AFTER)
    columns = [column(unit, index.units) for unit in pattern.units]
    on = shares(index.values(start, stop, columns), pattern)
    bits = np.zeros(stop - start, np.uint8)
    for k, track in enumerate(tracks[:TRACKS]):
        bits |= track.values[start:stop].astype(np.uint8) << k
    label = _("{n} of {all} units over {length} characters, from character {at}").format(
        n=match.overlap, all=len(pattern), length=len(match), at=f"{match.start + 1:,}"
    )
    return Text(
        index.text(start, stop),
        SHARE.levels(on),
        palette=SHARE.kind,
        label=label,
        linked=False,
        marked=(match.start - start, match.stop - start),
        tracks=bits if tracks else None,
        bars=[(visible(symbol), p) for symbol, p in index.next(view.model, match.stop - 1, k=4)],
        pick=number,
    )


def _look_at(view: View, indexed: Indexed, match: Match) -> None:
    """Make a match and what surrounds it the text in view, with the match selected."""
    start = max(0, min(match.start - VIEWED, len(indexed.index) - LONGEST))
    stop = min(len(indexed.index), start + LONGEST)
    text = indexed.index.text(start, stop)
    span = match.start - start, min(match.stop, stop) - start
    st.session_state[_SPAN] = text, span
    st.session_state[COMING] = text
    st.session_state.pop("inside.at", None)
    st.rerun()
