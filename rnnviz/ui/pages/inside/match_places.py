"""The places of a corpus where most of a passage's units are on, beside their controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from rnnviz.figures.themes import Scale
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Text, ends
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, Steps
from rnnviz.ui.pages.inside import indexing, match_control, sources
from rnnviz.ui.pages.inside.common import LONGEST, View, done, say_start
from rnnviz.ui.pages.inside.match_control import Asked
from rnnviz.units import match_controls
from rnnviz.units.matching import column, shares

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.networks.numpy_model import Network
    from rnnviz.units import Index, Match, Matches, Pattern
    from rnnviz.units.match_controls import Controls, Share
    from rnnviz.units.match_untrained import Compared, Untrained

ROWS = "inside.matches"
COMING = "inside.coming"  # read by page.py
SPAN = "inside.match.span"  # of st.session_state: the text, and the passage selected in it

SHARE = Scale("sequential", 0.0, 1.0)
BEFORE, AFTER = 48, 24  # characters of a row's context
SHOWN = 12  # rows
ENDING = 30  # characters of an ending that are named
PATIENCE = 0.15  # seconds until a search shows its progress
VIEWED = 500  # characters before a match that become the text in view with it


@dataclass(frozen=True, eq=False)
class Row:
    """What is shown of a match: the `text` around it, with the match `marked` (start, stop); the share of the
    units that are `on` at each of its characters; what is expected after the match.
    """

    text: str
    on: npt.NDArray[np.float64]
    marked: tuple[int, int]
    bars: list[tuple[str, float]]


@dataclass(frozen=True, eq=False)
class Searched:
    """The matches, what they have in common, and a row for each."""

    found: Matches
    controls: Controls
    rows: tuple[Row, ...]


def section(view: View, pattern: Pattern, asked: Asked, start: int) -> None:
    """The rows below the passage that begins at `start` of the text in view and has this pattern."""
    st.subheader(_("Other places where most of these units are on"), anchor=False)
    with st.container(width=420):
        source = sources.pick(view, "inside.match.source")
    if source is None:
        return
    index = indexing.of(view, source)
    if index is None:
        return
    passage = view.text[start : start + pattern.length]
    key = source.key(view, "matches", str(index.path), pattern, asked, passage)
    searched: Searched | None = done(
        key,
        _("Searching the text"),
        lambda check: _searching(view.model, index, pattern, asked, passage),
        "matches",
        patience=PATIENCE,
    )
    if searched is None:
        return
    st.markdown(_said(searched.found, len(index)))
    if not searched.rows:
        return
    untrained = match_control.beside(
        view,
        index,
        searched.found,
        searched.controls,
        start,
        asked,
        key=key,
    )
    if untrained is not None:
        st.markdown(match_control.sentence(untrained))
        say_start(view)
    _table(searched.controls, untrained)
    _show(view, index, searched)


def _searching(model: Network, index: Index, pattern: Pattern, asked: Asked, passage: str) -> Steps[Searched]:
    """A job: the matches, their controls, and what is shown of each. A disk that is cold takes its time."""
    yield Step(0.0)
    found = index.match(pattern, share=asked.share, least=asked.least, most=asked.most)
    yield Step(0.4)
    controls = match_controls.beside(index, found, passage)
    rows = []
    for number, match in enumerate(found.found):
        yield Step(0.5 + 0.5 * number / len(found.found))
        rows.append(_row(model, index, pattern, match))
    return Searched(found, controls, tuple(rows))


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


def _table(controls: Controls, untrained: Untrained | None) -> None:
    """What the matches end in, beside what all places and untrained copies' matches do."""
    shares = [controls.whole] + [controls.ends] * (controls.ending != controls.whole.name)
    rows = [
        _line(share, untrained, None if untrained is None else untrained.shares[number])
        for number, share in enumerate(shares)
    ]
    st.dataframe(rows, hide_index=True, width="content")
    st.caption(
        _(
            "What to notice: if most matches end in the passage itself, the units may follow its characters "
            "and nothing more. Not shown: other passages; and {n} matches are few."
        ).format(n=controls.ends.matches)
    )


def _line(share: Share, untrained: Untrained | None, compared: Compared | None) -> dict[str, str]:
    ending = "".join(map(visible, share.name))
    line = {
        _("ends in"): ending if len(ending) <= ENDING else f"…{ending[-ENDING:]}",
        _("in the matches"): _("{n} of {all}").format(n=share.inside, all=share.matches),
        _("in the whole text"): f"{100 * share.everywhere:.2f} %",
    }
    if compared is None or untrained is None:
        return line
    return line | {
        _("matches, first {n} characters").format(n=f"{untrained.characters:,}"): _("{n} of {all}").format(
            n=compared.own, all=untrained.own
        ),
        _("there, untrained copies"): _("{n} of {all}").format(n=compared.untrained, all=untrained.matches),
    }


def _show(view: View, index: Index, searched: Searched) -> None:
    matches = searched.found.found
    picked = dashboard.asked(ROWS).pick(len(matches), "text")
    if picked is not None:
        _look_at(view, index, matches[picked])
    label = _("{n} of {all} units over {length} characters, from character {at}")
    dashboard.mount(
        ROWS,
        texts=[
            Text(
                row.text,
                SHARE.levels(row.on),
                palette=SHARE.kind,
                label=label.format(
                    n=match.overlap,
                    all=len(searched.found.pattern),
                    length=len(match),
                    at=f"{match.start + 1:,}",
                ),
                linked=False,
                marked=row.marked,
                bars=row.bars,
                pick=number,
            )
            for number, (match, row) in enumerate(zip(matches, searched.rows, strict=True))
        ],
        quiet=True,
        scale=ends(SHARE),
    )
    st.caption(
        _(
            "What to notice: the match is underlined on a strong colour; the stronger a colour, the more of "
            "the units are on. The bars are the characters that the network finds most probable after the "
            "match. Click a row to see its text above. Not shown: places with "
            "fewer of the units on, and what all other units do."
        )
    )


def _row(model: Network, index: Index, pattern: Pattern, match: Match) -> Row:
    start, stop = max(0, match.start - BEFORE), min(len(index), match.stop + AFTER)
    return Row(
        text=index.text(start, stop),
        on=shares(index.values(start, stop, [column(unit, index.units) for unit in pattern.units]), pattern),
        marked=(match.start - start, match.stop - start),
        bars=[(visible(symbol), p) for symbol, p in index.next(model, match.stop - 1, k=4)],
    )


def _look_at(view: View, index: Index, match: Match) -> None:
    """Make a match and what surrounds it the text in view, with the match selected."""
    start = max(0, min(match.start - VIEWED, len(index) - LONGEST))
    stop = min(len(index), start + LONGEST)
    text = index.text(start, stop)
    span = match.start - start, min(match.stop, stop) - start
    st.session_state[SPAN] = text, span
    st.session_state[COMING] = text
    st.session_state.pop("inside.at", None)
    st.rerun()
