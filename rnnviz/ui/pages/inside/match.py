"""Match: the units that are on throughout a selected passage, and other places where most of them are on."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.analysis import controls, indexing, matching
from rnnviz.analysis.indexing import Index
from rnnviz.analysis.matching import Match, Matches
from rnnviz.figures.themes import Scale
from rnnviz.findings import count, words
from rnnviz.i18n import _
from rnnviz.networks.numpy_model import Network
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard, render_finding
from rnnviz.ui.fields import Field
from rnnviz.ui.formatting import spoken
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.inside import search_texts
from rnnviz.ui.pages.inside.parts import Button, Part, found
from rnnviz.ui.pages.inside.search_texts import OWN, Source
from rnnviz.ui.pages.inside.view import AT, LONGEST, TEXT, View, cursor, fragment, kept, say_start

KEY, ROWS = "inside.match", "inside.matches"
SPAN = Field("inside.match.span", (0, 0))  # the passage selected in the text
THRESHOLD, LEAST = Field("inside.match.threshold", 0.5), Field("inside.match.least", 1)

SHARE = Scale("sequential", 0.0, 1.0)
SHOWN = 12  # matches listed
BARS = 4  # most probable characters after a match
VIEWED = 500  # characters before a picked match that go into the text in view
AT_ONCE = 20_000  # characters of a text, at most, that is indexed without a button

INDEX = Part[Index](
    "index",
    lambda: _("Indexing the text"),
    lambda model, text: indexing.index(model, text, store.shared().folder()),
    most=1_000_000,
    shared=True,
)


@fragment
def section(view: View) -> None:
    ask = dashboard.asked(KEY)
    at = cursor(ask, view, None)
    start, stop = _span(view, ask)
    asked = _controls(view, stop - start)
    chosen = {"threshold": asked["threshold"], "edges": asked["edges"], "layer": view.layer}
    pattern = matching.pattern(view.trace, start, stop, **chosen)
    columns = [unit.unit for unit in pattern.units]
    states = units.activations(view.trace, layer=view.layer)
    if columns:
        on, label = matching.shares(states[:, columns], pattern), _("share of these units that are on")
    else:
        on, label = (abs(states) >= pattern.threshold).mean(axis=1), _("share of all units that are on")
    scale = view.scale("hidden")
    dashboard.mount(
        KEY,
        texts=[dashboard.painted(view.text, on, SHARE, label)],
        panels=[render_finding.panel(pattern.along(states, (scale.kind, scale.low, scale.high)), height=260)],
        at=at,
        spans=[(start, stop)],
        select=True,
        scale=dashboard.ends(SHARE),
    )
    said = render_finding.tell(pattern.said(chosen["edges"]))
    if not columns:
        st.info(said, icon=":material/search_off:")
        return
    st.markdown(said)
    st.subheader(_("Other places where most of these units are on"), anchor=False)
    with st.container(width=420):
        source = search_texts.pick(view, "inside.match.source", search_texts.WHOLE)
    index = None if source is None else _index(view, source)
    if source is not None and index is not None:
        _elsewhere(view, source, index, (start, stop), asked)


def _span(view: View, ask: dashboard.Ask) -> tuple[int, int]:
    """Start and stop of the selected passage; before a selection, those of the last word, if possible of one
    that occurs twice; in a text without words, the last character's.
    """
    new = ask.span(len(view.text))
    if new is not None:
        SPAN.put(new)
    listed = list(re.finditer(r"\b\w{3,10}\b", view.text))
    often = Counter(word[0] for word in listed)
    again = [word.span() for word in listed if often[word[0]] > 1] or [word.span() for word in listed]
    usual = again[-1] if again else (len(view.text) - 1, len(view.text))
    return SPAN.now(usual=usual, of=view.text)


def _controls(view: View, length: int) -> dict[str, Any]:
    """The controls' values, by the parameters of `Index.elsewhere`."""
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    threshold = THRESHOLD.now(usual=0.3 if view.cell == "lstm" else 0.5)
    first.slider(
        _("Threshold, distance from 0"),
        0.05,
        0.95,
        step=0.05,
        **THRESHOLD.widget,
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
    least = LEAST.now(usual=length, of=length)
    fourth.number_input(_("Shortest match, in characters"), 1, LONGEST, **LEAST.widget)
    return {"threshold": threshold, "edges": edges, "share": share / 100, "least": least, "most": SHOWN}


def _index(view: View, source: Source) -> Index | None:
    """The index of a source. While it is None, the page shows its progress, or the button that starts it."""
    short = source.kind != search_texts.SAMPLED and kept(  # sample text is long, and `read` would draw it
        source.key(view, "short"), lambda: len(source.read(view, INDEX.most)) <= AT_ONCE
    )
    cost = _(
        "Keeps the states of up to {n} characters on this machine while the app runs: {size} MB at most for "
        "this network. A million characters take from half a minute to a few minutes."
    )
    size = 2 * INDEX.most * view.H * int(view.model.config.layers) // 10**6
    button = Button(
        _("Index the text"), ":material/database:", cost.format(n=f"{INDEX.most:,}", size=f"{size:,}")
    )
    return found(INDEX, view, source, None if short else button)


def _elsewhere(
    view: View, source: Source, index: Index, passage: tuple[int, int], asked: dict[str, Any]
) -> None:
    """Draw the matches of the passage's units in a source, and on request those of untrained copies."""

    read = view.trace  # computed here: it is cached in the session, which a job's thread lacks

    def search(copies: Sequence[matching.Copy] = ()) -> Matches | None:
        def run(_model: Network, _text: object, of: str, passage: tuple[int, int], **given: Any) -> Matches:
            return index.elsewhere(view.model, read, *passage, copies=copies, **given)

        name = "matches-control" if copies else "matches"
        part: Part[Matches] = Part(name, lambda: _("Searching the text"), run, most=0)
        return found(
            part, view, source, of=store.checksum(view.text), passage=passage, layer=view.layer, **asked
        )

    matches = search()
    if matches is None:
        return
    place = st.container()
    if matches.found:
        if source.kind == OWN:
            st.caption(_("This text holds the selected passage itself: it is among these places."))
        cost = _(
            "Reads the first {n} characters with {copies} untrained copies of the network. It takes some "
            "seconds, or more for a large network."
        )
        copies: Sequence[matching.Copy] | None = found(
            Part(
                "match-copies",
                lambda: _("Reading the text with {n} untrained copies of the network").format(
                    n=controls.COPIES
                ),
                lambda model, _text: matching.copies(model, index.text(0, matching.BEGINNING)),
                most=0,
            ),
            view,
            source,
            Button(
                _("Compare with untrained copies"),
                ":material/compare_arrows:",
                cost.format(n=f"{min(len(index), matching.BEGINNING):,}", copies=controls.COPIES),
            ),
        )
        if copies is not None:
            matches = search(copies) or matches
    with place:
        render_finding.show(matches)
        if matches.untrained is not None:
            say_start(view)
    if matches.found:
        _show(view, index, matches)


def _show(view: View, index: Index, matches: Matches) -> None:
    picked = dashboard.asked(ROWS).pick(len(matches.found), "text")
    if picked is not None:
        _look_at(index, matches.found[picked])
    dashboard.mount(
        ROWS,
        texts=[_row(matches, match, number) for number, match in enumerate(matches.found)],
        quiet=True,
        scale=dashboard.ends(SHARE),
    )


def _row(matches: Matches, match: Match, number: int) -> dashboard.Text:
    length = count(len(match))
    units_on = {"overlap": count(match.overlap), "all": count(len(matches.pattern))}
    begin = len(match.before)
    return dashboard.Text(
        match.before + match.text + match.after,
        SHARE.levels(np.array(match.on)),
        palette=SHARE.kind,
        label=spoken(words("match.row", length=length, at=count(match.start + 1), **units_on)),
        linked=False,
        marked=(begin, begin + len(match)),
        bars=[(visible(symbol), p) for symbol, p in match.next[:BARS]],
        pick=number,
    )


def _look_at(index: Index, match: Match) -> None:
    """Make a match, with the text around it, the text in view, and select the match."""
    start = max(0, min(match.start - VIEWED, len(index) - LONGEST))
    stop = min(len(index), start + LONGEST)
    text = index.text(start, stop)
    span = match.start - start, min(match.stop, stop) - start
    TEXT.put(text)
    SPAN.put(span)
    AT.put(None)
    st.rerun()
