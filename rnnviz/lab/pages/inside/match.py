"""Match: the units that are on throughout a selected passage, and other places where most of them are on."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures.themes import Scale
from rnnviz.findings import count, words
from rnnviz.i18n import _
from rnnviz.lab.analysis import matching, places
from rnnviz.lab.analysis.matching import Match, Matches
from rnnviz.lab.analysis.places import SearchedText
from rnnviz.lab.pages.inside import search_texts
from rnnviz.lab.pages.inside.parts import Button, Part, found
from rnnviz.lab.pages.inside.search_texts import OWN, Source
from rnnviz.lab.pages.inside.view import AT, LONGEST, TEXT, View, cursor, fragment, say_start
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress
from rnnviz.networks.verdicts import UNTRAINED_COPIES
from rnnviz.page.formatting import spoken
from rnnviz.text.characters import visible
from rnnviz.ui.jobs import store
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.fields import Field

KEY, ROWS = "inside.match", "inside.matches"
SPAN = Field("inside.match.span", (0, 0))  # the passage selected in the text
THRESHOLD, LEAST = Field("inside.match.threshold", 0.5), Field("inside.match.least", 1)

SHARE = Scale("sequential", 0.0, 1.0)
SHOWN = 12  # matches listed
BARS = 4  # most probable characters after a match
VIEWED = 500  # characters before a picked match that go into the text in view
AT_ONCE = 20_000  # characters of a text, at most, that is read without a button

# Not shared: a session holds one text's states, those of the last one that it has searched.
SEARCHED = Part[SearchedText](
    "searched",
    lambda: _("Opening the text"),
    lambda model, text, progress: SearchedText(model, text),
    most=1_000_000,
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
        panels=[
            render_finding.finding_panel(
                pattern.along(states, (scale.kind, scale.low, scale.high)), height=260
            )
        ],
        at=at,
        spans=[(start, stop)],
        select=True,
        scale=dashboard.ends(SHARE),
    )
    said = render_finding.finding_markdown(pattern.said(chosen["edges"]))
    if not columns:
        st.info(said, icon=":material/search_off:")
        return
    st.markdown(said)
    st.subheader(_("Other places where most of these units are on"), anchor=False)
    with st.container(width=420):
        source = search_texts.pick(view, "inside.match.source", search_texts.WHOLE)
    searched = found(SEARCHED, view, source)
    if source is not None and searched is not None:
        _elsewhere(view, source, searched, (start, stop), asked)


def _span(view: View, ask: dashboard.Ask) -> tuple[int, int]:
    """Start and stop of the selected passage; before a selection, those of the last word, if possible of one
    that occurs twice; in a text without words, the last character's.
    """
    new = ask.span(len(view.text))
    if new is not None:
        SPAN.request(new)
    listed = list(re.finditer(r"\b\w{3,10}\b", view.text))
    often = Counter(word[0] for word in listed)
    again = [word.span() for word in listed if often[word[0]] > 1] or [word.span() for word in listed]
    usual = again[-1] if again else (len(view.text) - 1, len(view.text))
    return SPAN.resolve(usual=usual, subject=view.text)


def _controls(view: View, length: int) -> dict[str, Any]:
    """The controls' values, by the parameters of `SearchedText.elsewhere`."""
    first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
    threshold = THRESHOLD.resolve(usual=0.3 if view.cell == "lstm" else 0.5)
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
    least = LEAST.resolve(usual=length, subject=length)
    fourth.number_input(_("Shortest match, in characters"), 1, LONGEST, **LEAST.widget)
    return {"threshold": threshold, "edges": edges, "share": share / 100, "least": least, "most": SHOWN}


def _reading(searched: SearchedText) -> Button | None:
    """The button that starts a search which reads a long text; None for a search that takes a moment."""
    if searched.kept or len(searched.text) <= AT_ONCE:
        return None
    size, most = (f"{bytes / 1e6:,.0f}" for bytes in (searched.bytes, places.MAX_KEPT_BYTES))
    if searched.bytes <= places.MAX_KEPT_BYTES:
        cost = _("Reads {n} characters. Their states take {size} MB of memory, and the next search a moment.")
    else:
        cost = _(
            "Reads {n} characters, in each search anew: their states would take {size} MB, more than the "
            "{most} MB that are kept. A million characters take from half a minute to a few minutes."
        )
    said = cost.format(n=f"{len(searched.text):,}", size=size, most=most)
    return Button(_("Search the text"), ":material/search:", said)


def _elsewhere(
    view: View, source: Source, searched: SearchedText, passage: tuple[int, int], asked: dict[str, Any]
) -> None:
    """Draw the matches of the passage's units in a source, and on request those of untrained copies."""

    read = view.trace  # computed here: it is cached in the session, which a job's thread lacks
    given = {"of": store.checksum(view.text), "passage": passage, "layer": view.layer, **asked}

    def search(
        _model: Network, _text: object, of: str, passage: tuple[int, int], progress: Progress, **asked: Any
    ) -> Any:
        return searched.elsewhere(read, *passage, **asked)

    part = Part[Matches]("matches", lambda: _("Searching the text"), search, most=0)
    matches = found(part, view, source, _reading(searched), **given)
    if matches is None:
        return
    place = st.container()
    if matches.found:
        if source.kind == OWN:
            st.caption(_("This text holds the selected passage itself: it is among these places."))
        matches = _control(view, source, searched, matches, given) or matches
    with place:
        render_finding.show_finding(matches)
        if matches.untrained is not None:
            say_start(view)
    if matches.found:
        _show(view, searched.text, matches)


def _control(
    view: View, source: Source, searched: SearchedText, matches: Matches, given: dict[str, Any]
) -> Matches | None:
    """The matches beside those of untrained copies, once these are asked for and have read the text."""
    cost = _(
        "Reads the first {n} characters with {copies} untrained copies of the network. It takes some "
        "seconds, or more for a large network."
    )
    copies: Sequence[matching.Copy] | None = found(
        Part(
            "match-copies",
            lambda: _("Reading the text with {n} untrained copies of the network").format(n=UNTRAINED_COPIES),
            lambda model, _text, progress: matching.copies(model, searched.text),
            most=0,
        ),
        view,
        source,
        Button(
            _("Compare with untrained copies"),
            ":material/compare_arrows:",
            cost.format(n=f"{min(len(searched.text), matching.BEGINNING):,}", copies=UNTRAINED_COPIES),
        ),
    )
    if copies is None:
        return None
    read = view.trace

    def compare(
        _model: Network, _text: object, passage: tuple[int, int], progress: Progress, **given: Any
    ) -> Matches:
        about = {name: given[name] for name in ("layer", "share", "most")}
        return searched.beside(matches, read, *passage, copies, **about)

    return found(
        Part("matches-control", lambda: _("Searching the text"), compare, most=0), view, source, **given
    )


def _show(view: View, text: str, matches: Matches) -> None:
    picked = dashboard.asked(ROWS).pick(len(matches.found), "text")
    if picked is not None:
        _look_at(text, matches.found[picked])
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


def _look_at(text: str, match: Match) -> None:
    """Make a match, with the text around it, the text in view, and select the match."""
    start = max(0, min(match.start - VIEWED, len(text) - LONGEST))
    stop = min(len(text), start + LONGEST)
    span = match.start - start, min(match.stop, stop) - start
    TEXT.request(text[start:stop])
    SPAN.request(span)
    AT.request(None)
    st.rerun()
