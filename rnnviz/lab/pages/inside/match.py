"""Match: the units that are on throughout a selected passage, and other places where most of them are on."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures.themes import ColourScale
from rnnviz.findings import count, words
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import matching, places
from rnnviz.lab.analysis.matching import Match, Matches, Pattern
from rnnviz.lab.analysis.places import SearchedText
from rnnviz.lab.pages.inside.computation import Computation, StartButton
from rnnviz.lab.pages.inside.other_networks import show_untrained_start
from rnnviz.lab.pages.inside.page_view import (
    AT,
    MAX_TEXT_CHARS,
    TEXT,
    PagePart,
    PageView,
    cursor,
    fragment,
)
from rnnviz.lab.pages.inside.search_texts import PAGE_TEXT, WHOLE, Source, SourcePicker
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

SHARE = ColourScale("sequential", 0.0, 1.0)
MAX_SHOWN_MATCHES = 12
MAX_BARS = 4  # most probable characters after a match
CHARS_BEFORE_MATCH = 500  # that go with a picked match into the text in view
MAX_CHARS_AT_ONCE = 20_000  # a longer text is read on request only
MAX_MARGIN_CHARS = 20

# Not shared: a session holds one text's states, those of the last one that it has searched.
SEARCHED = Computation[SearchedText](
    "searched",
    lambda: _("Opening the text"),
    lambda model, text, progress: SearchedText(model, text),
    max_chars=1_000_000,
)


@dataclass(frozen=True, eq=False)
class MatchPart(PagePart):
    """The units that are on throughout a passage of the text, and other places where most of them are on."""

    key = "match"
    label = N_("Match")
    question = N_("Where else are the same units on?")
    hint = N_("Drag over a passage. The app looks for other places where the same units are on.")

    @fragment
    def render(self) -> None:
        request = dashboard.take_request(KEY)
        at = cursor(request, self.view, None)
        passage = self._find_passage(request)
        controls = self._render_controls(passage[1] - passage[0])
        pattern = self._find_pattern(passage, controls)
        self._render_text(pattern, passage, at)
        sentence = render_finding.finding_markdown(pattern.said(controls["edges"]))
        if not pattern.units:
            st.info(sentence, icon=":material/search_off:")
            return
        st.markdown(sentence)
        st.subheader(_("Other places where most of these units are on"), anchor=False)
        with st.container(width=420):
            source = SourcePicker(self.view, "inside.match.source", WHOLE).render()
        searched = SEARCHED.render(self.view, source)
        if source is not None and searched is not None:
            MatchSearch(self.view, source, searched, passage, controls).render()

    def _find_passage(self, request: dashboard.DashboardRequest) -> tuple[int, int]:
        """Start and stop of the selected passage; before a selection, those of the last word, if possible of
        one that occurs twice; in a text without words, the last character's.
        """
        text = self.view.text
        selected = request.span(len(text))
        if selected is not None:
            SPAN.request(selected)
        words_found = list(re.finditer(r"\b\w{3,10}\b", text))
        counts = Counter(word[0] for word in words_found)
        spans = [word.span() for word in words_found if counts[word[0]] > 1]
        spans = spans or [word.span() for word in words_found]
        # The last one: the network has read the others before it.
        usual = spans[-1] if spans else (len(text) - 1, len(text))
        return SPAN.resolve(usual=usual, subject=text)

    def _render_controls(self, length: int) -> dict[str, Any]:
        """Draw the controls. Returns their values, by the parameters of `SearchedText.elsewhere`."""
        first, second, third, fourth = st.columns(4, vertical_alignment="bottom")
        # An LSTM's H is gated: fewer of its units come near 1.
        threshold = THRESHOLD.resolve(usual=0.3 if self.view.cell == "lstm" else 0.5)
        first.slider(
            _("Threshold, distance from 0"),
            0.05,
            0.95,
            step=0.05,
            **THRESHOLD.widget,
            help=_(
                "A unit is on where its value is at least this far from 0. Throughout the passage it must be "
                "on, and on the same side of 0. Drag over the text below to select another passage."
            ),
        )
        edges = second.number_input(
            _("Margin with the units off"),
            0,
            MAX_MARGIN_CHARS,
            0,
            key="inside.match.edges",
            persist_state="session",
            help=_(
                "A unit must be off for this many characters on each side of the passage. 0: it need not be."
            ),
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
        # Another passage brings its own length: a match is at least as long as what was selected.
        least = LEAST.resolve(usual=length, subject=length)
        fourth.number_input(_("Shortest match, in characters"), 1, MAX_TEXT_CHARS, **LEAST.widget)
        return {
            "threshold": threshold,
            "edges": edges,
            "share": share / 100,
            "least": least,
            "most": MAX_SHOWN_MATCHES,
        }

    def _find_pattern(self, passage: tuple[int, int], controls: dict[str, Any]) -> Pattern:
        """The units that are on throughout the passage."""
        threshold, edges = controls["threshold"], controls["edges"]
        return matching.pattern(
            self.view.trace, *passage, threshold=threshold, edges=edges, layer=self.view.layer
        )

    def _render_text(self, pattern: Pattern, passage: tuple[int, int], at: int | None) -> None:
        """Draw the text coloured by the share of the passage's units that are on; without one, of all."""
        view, columns = self.view, [unit.unit for unit in pattern.units]
        states = units.activations(view.trace, layer=view.layer)
        # Without units of its own the passage still shows where the network as a whole is on.
        if columns:
            on_shares = matching.shares(states[:, columns], pattern)
            label = _("share of these units that are on")
        else:
            on_shares = (abs(states) >= pattern.threshold).mean(axis=1)
            label = _("share of all units that are on")
        scale = view.scale("hidden")
        panel = pattern.along(states, (scale.kind, scale.low, scale.high))
        dashboard.mount(
            KEY,
            texts=[dashboard.colour_text(view.text, on_shares, SHARE, label)],
            panels=[render_finding.finding_panel(panel, height=260)],
            at=at,
            spans=[passage],
            select=True,
            scale=dashboard.legend_ends(SHARE),
        )


@dataclass(frozen=True, eq=False)
class MatchSearch:
    """The search of a source for other places where most of a passage's units are on.

    searched  the source's text, with its states where these are kept
    controls  by the parameters of `SearchedText.elsewhere`
    """

    view: PageView
    source: Source
    searched: SearchedText
    passage: tuple[int, int]
    controls: dict[str, Any]

    def render(self) -> None:
        """Draw the matches, and on request those of untrained copies."""
        matches = self._search()
        if matches is None:
            return
        # The button for the copies stands below the finding, which says more once they have read the text.
        finding_place = st.container()
        if matches.found:
            if self.source.kind == PAGE_TEXT:
                st.caption(_("This text contains the selected passage, so it is among these places."))
            matches = self._compare_copies(matches) or matches
        with finding_place:
            render_finding.show_finding(matches)
            if matches.untrained is not None:
                show_untrained_start(self.view)
        if matches.found:
            self._render_matches(matches)

    @property
    def _arguments(self) -> dict[str, Any]:
        """What the matches depend on, beside the network and the source."""
        # A passage is two numbers: in another text the same two are another pattern, and another result.
        text_mark = store.checksum(self.view.text)
        return {"text_mark": text_mark, "passage": self.passage, "layer": self.view.layer, **self.controls}

    def _search(self) -> Matches | None:
        trace = self.view.trace  # computed here: it is cached in the session, which a job's thread lacks

        def search(
            _model: Network,
            _text: object,
            text_mark: str,
            passage: tuple[int, int],
            progress: Progress,
            **controls: Any,
        ) -> Any:
            return self.searched.elsewhere(trace, *passage, progress=progress, **controls)

        # No characters: the text is in `searched` already, so the job doesn't read the source again.
        computation = Computation[Matches]("matches", lambda: _("Searching the text"), search, max_chars=0)
        return computation.render(self.view, self.source, self._make_button(), **self._arguments)

    def _make_button(self) -> StartButton | None:
        """The button that starts a search which reads a long text; None for a search that takes a moment."""
        searched = self.searched
        # Kept states are compared in memory, without the network.
        if searched.in_memory or len(searched.text) <= MAX_CHARS_AT_ONCE:
            return None
        size, max_size = (
            f"{count_bytes / 1e6:,.0f}" for count_bytes in (searched.bytes, places.MAX_KEPT_BYTES)
        )
        if searched.bytes <= places.MAX_KEPT_BYTES:
            cost = _(
                "Reads {n} characters. Their states, {size} MB, stay in memory, so the next search is quick."
            )
        else:
            cost = _(
                "Reads {n} characters anew in each search: their states would take {size} MB, more than the "
                "{most} MB that are kept. A million characters take from half a minute to a few minutes."
            )
        cost = cost.format(n=f"{len(searched.text):,}", size=size, most=max_size)
        return StartButton(_("Search the text"), ":material/search:", cost)

    def _compare_copies(self, matches: Matches) -> Matches | None:
        """The matches beside those of untrained copies, once these are asked for and have read the text."""
        copies = self._read_with_copies()
        if copies is None:
            return None
        trace = self.view.trace

        def compare(
            _model: Network, _text: object, passage: tuple[int, int], progress: Progress, **arguments: Any
        ) -> Matches:
            # What defines the pattern is in `matches` already; these decide what counts as a match of it.
            options = {name: arguments[name] for name in ("layer", "share", "most")}
            return self.searched.beside(matches, trace, *passage, copies, **options)

        computation = Computation[Matches](
            "matches-control", lambda: _("Searching the text"), compare, max_chars=0
        )
        return computation.render(self.view, self.source, **self._arguments)

    def _read_with_copies(self) -> Sequence[matching.Copy] | None:
        cost = _(
            "Reads the first {n} characters with {copies} untrained copies of the network. It takes a few "
            "seconds, longer for a large network."
        )
        read_chars = f"{min(len(self.searched.text), matching.CONTROL_CHARS):,}"
        computation = Computation[Sequence[matching.Copy]](
            "match-copies",
            lambda: _("Reading the text with {n} untrained copies of the network").format(n=UNTRAINED_COPIES),
            lambda model, _text, progress: matching.untrained_copies(
                model, self.searched.text, progress=progress
            ),
            max_chars=0,
        )
        button = StartButton(
            _("Compare with untrained copies"),
            ":material/compare_arrows:",
            cost.format(n=read_chars, copies=UNTRAINED_COPIES),
        )
        return computation.render(self.view, self.source, button)

    def _render_matches(self, matches: Matches) -> None:
        # Looking at a match changes the text in view and reruns the page, before the rows are drawn.
        picked = dashboard.take_request(ROWS).pick(len(matches.found), "text")
        if picked is not None:
            _look_at(self.searched.text, matches.found[picked])
        dashboard.mount(
            ROWS,
            texts=[_match_row(matches, match, number) for number, match in enumerate(matches.found)],
            quiet=True,
            scale=dashboard.legend_ends(SHARE),
        )


def _match_row(matches: Matches, match: Match, number: int) -> dashboard.ColouredText:
    length = count(len(match))
    units_on = {"overlap": count(match.overlap), "all": count(len(matches.pattern))}
    begin = len(match.before)
    return dashboard.ColouredText(
        match.before + match.text + match.after,
        SHARE.levels(np.array(match.on)),
        palette=SHARE.kind,
        label=spoken(words("match.row", length=length, at=count(match.start + 1), **units_on)),
        linked=False,
        marked=(begin, begin + len(match)),
        bars=[(visible(symbol), probability) for symbol, probability in match.next[:MAX_BARS]],
        pick=number,
    )


def _look_at(text: str, match: Match) -> None:
    """Make a match, with the text around it, the text in view, and select the match."""
    # The text in view is cut from the source: shifted back where the source ends too soon after the match.
    start = max(0, min(match.start - CHARS_BEFORE_MATCH, len(text) - MAX_TEXT_CHARS))
    stop = min(len(text), start + MAX_TEXT_CHARS)
    # A match may be longer than the field holds: what is selected ends where the text in view ends.
    span = match.start - start, min(match.stop, stop) - start
    TEXT.request(text[start:stop])
    SPAN.request(span)
    # The cursor was a place in the text that is left.
    AT.request(None)
    st.rerun()
