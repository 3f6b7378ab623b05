"""Units: a single unit's card, and the search for units that follow a target, with its controls."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import streamlit as st

from rnnviz import units
from rnnviz.arrays import Array
from rnnviz.errors import RnnvizError
from rnnviz.figures import live
from rnnviz.figures.themes import ColourScale
from rnnviz.findings import Number, Panel, Sentence, words
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import controls, directions, probing, scanning, search_result, targets
from rnnviz.lab.analysis.probing import Probe
from rnnviz.lab.analysis.scanning import MAX_PUSHES, ScanReport, UnitReport, pushes
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS, Target, pattern_target, span_target
from rnnviz.lab.pages.inside import direction, search_texts
from rnnviz.lab.pages.inside.computation import Computation, ResultRequest, StartButton
from rnnviz.lab.pages.inside.direction import DirectionChoice, NamedDirection, card_sums
from rnnviz.lab.pages.inside.other_networks import show_untrained_start
from rnnviz.lab.pages.inside.page_view import (
    LAYER,
    QUANTITY,
    UNIT,
    PagePart,
    PageView,
    cursor,
    fragment,
    heat_panel,
    remember,
)
from rnnviz.lab.pages.inside.search_texts import CARD_TEXT, PAGE, PAGE_TEXT, Source, SourcePicker
from rnnviz.lab.reports.scanning import pushes_panel
from rnnviz.networks import model_card
from rnnviz.networks.model_card import Recorded, WeightedSum, described
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress, part
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, UNTRAINED_COPIES
from rnnviz.page.formatting import quantity_names, signed, spoken, together
from rnnviz.page.initial_data import numbers_sentence, typed_share_sentence
from rnnviz.page.shown_units import unnamed_targets
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace_long_text
from rnnviz.ui.shell import address, dashboard, render_finding
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.fields import Field

PATTERN, SPAN = "pattern", "span"
# Targets that are numbers: they are correlated with units, and have no inside whose edges could be compared.
GRADED = ("bracket-depth", "line-position", "indent-depth", "py-bracket-depth", "py-blocks")


def target_words(python: bool = False) -> dict[str, str]:
    """Targets' names in the session's language: `KINDS`, with `python` also `PYTHON_KINDS`, a pattern, a
    selection.
    """
    names = (*(PYTHON_KINDS if python else ()), *KINDS, PATTERN, SPAN)
    return {name: spoken(Sentence(f"target.{name}")) for name in names}


SPANS = Field[tuple[tuple[int, int], ...]]("inside.spans", ())  # the passages selected in the text
TARGET = Field("inside.target", "word-start")
REGEX = Field("inside.pattern", "")
STRICT = Field("inside.strict", False)  # whether units must also win against the characters around
SOURCE_KEY = "inside.source"
UNIT_CARD_KEY, RANKING_KEY = "inside.finding", "inside.found"
READING_SHARE = 0.25  # of a search's time is the text's reading
STRICT_EDGE_CHARS = 5  # on each side of a target, with STRICT
MAX_REGEX_CHARS = 1000
WEIGHTED_SCALE = ColourScale("diverging", -1, 1)  # where a card's weighted sums lie, but for rare peaks
_NAMED = "inside.unit.named"  # a key of st.session_state: the unit or direction that the address has named


@dataclass(frozen=True)
class UnitQuestion:
    """A search's question.

    target   a target's name
    pattern  the regular expression of the target "pattern"
    edges    as in `rnnviz.units.find`
    spans    start and stop of each passage of the target "span", in the page's text
    """

    target: str
    pattern: str = ""
    edges: int = 0
    spans: tuple[tuple[int, int], ...] = ()


class SearchAnswer(NamedTuple):
    """A search's answer: its finding, and the direction from the mean state outside its target to that
    inside.
    """

    finding: Search | search_result.Unanswered
    mean_direction: units.Direction | None


def _search_text(
    model: Network,
    text: str,
    *,
    layer: int,
    quantity: str,
    questions: tuple[UnitQuestion, ...],
    unclosed: str,
    progress: Progress,
) -> list[SearchAnswer]:
    """The search of one text for all questions. A text long enough for a verdict is read with
    untrained copies too, and Holm's correction covers all questions.
    """
    traced = trace_long_text(model, text, part(progress, 0.0, READING_SHARE))
    targets = [_target(question, unclosed, traced.text) for question in questions]
    edges = questions[0].edges
    # A short text allows no verdict, so it isn't read with untrained copies either.
    if len(traced) < MIN_VERDICT_CHARS:
        searcher = Searcher(traced, layer=layer, quantity=quantity)
        # A graded target has no edges, and a named one is searched with all the others: `controlled` drops
        # them there, too.
        searched = [
            searcher.search(target, edges=0 if target.graded else edges) if target.varies else None
            for target in targets
        ]
    else:
        searched = controls.controlled(
            model,
            traced,
            targets,
            layer=layer,
            quantity=quantity,
            edges=edges,
            progress=part(progress, READING_SHARE, 1.0),
        )
        # The more targets are tried, the more of them a unit follows by chance: Holm asks more of each.
        family = iter(holm([search for search in searched if search is not None]))
        # None keeps its place: a target that the text doesn't have is no comparison, and not in the family.
        searched = [search and next(family) for search in searched]
    return [
        SearchAnswer(
            search or search_result.Unanswered(target), _mean_direction(traced, target, layer, quantity)
        )
        for target, search in zip(targets, searched, strict=True)
    ]


def _mean_direction(traced: Trace, target: Target, layer: int, quantity: str) -> units.Direction | None:
    values = units.activations(traced, layer=layer, quantity=quantity)
    with suppress(RnnvizError):  # equal mean states have no direction
        return directions.mean_difference(values, target, layer=layer, quantity=quantity)
    return None


def _probe_text(
    model: Network,
    text: str,
    *,
    layer: int,
    quantity: str,
    question: UnitQuestion,
    unclosed: str,
    progress: Progress,
) -> Probe:
    """A linear probe on all units of the network, and of untrained copies."""
    # Untrained copies have units and a probe too: what theirs reach is no merit of the training.
    networks = [model, *units.untrained(model)]
    searchers = []
    for number, network in enumerate(networks):
        share = 0.4 / len(networks)
        traced = trace_long_text(network, text, part(progress, share * number, share * (number + 1)))
        searchers.append(Searcher(traced, layer=layer, quantity=quantity))
    # All networks have read the same characters, so the last one's text serves for the target.
    target = _target(question, unclosed, traced.text)
    searcher, *copies = searchers
    rest = part(progress, 0.4, 1.0)
    return probing.probe_units(searcher, target, untrained=copies, copies=len(copies), progress=rest)


def _scan_text(model: Network, text: str, *, layer: int, quantity: str, progress: Progress) -> ScanReport:
    """A scan of all units of a layer, and behind them the weighted sums that the network's card names."""
    sums = [finding.weighted for finding in card_sums(model.card, layer, quantity) if finding.weighted]
    return units.scan(
        model,
        text=text,
        layer=layer,
        quantity=quantity,
        sums=sums,
        contexts=4,
        before=40,
        after=20,
        progress=progress,
    )


SEARCH = Computation[list[SearchAnswer]](
    "search",
    lambda: _("Searching the text with the network and untrained copies"),
    _search_text,
    max_chars=search_texts.MAX_SEARCH_CHARS,
    shared=True,
)
PROBE = Computation[Probe](
    "probe",
    lambda: _("Probing the units of the network and of untrained copies"),
    _probe_text,
    max_chars=search_texts.MAX_SEARCH_CHARS,
)
SCAN = Computation[ScanReport](
    "scan",
    lambda: _("Reading the text"),
    _scan_text,
    max_chars=300_000,
    shared=True,
)
# Not shared: it reads what the reader has chosen, perhaps a file of their own.
LONGER_TEXT_SCAN = replace(SCAN, name="longer", shared=False)


@dataclass(frozen=True, eq=False)
class UnitsPart(PagePart):
    """What to look at, the card of the unit in view, and the search for units that follow a target.

    The card stands above the search, but shows the unit that the search finds. So the search is asked for
    first, and drawn where it stands.
    """

    key = "units"
    label = N_("Units")
    question = N_("What does a single unit respond to?")
    hint = N_(
        "The colours show one number of the network at each character. Choose another unit, or find one "
        "below that responds to something."
    )

    @fragment
    def render(self) -> None:
        self._take_choices()
        spans = SPANS.resolve(subject=self.view.text)
        with st.container():
            self._render_named_units()
            with st.container(horizontal=True, vertical_alignment="bottom"):
                quantity = self._render_quantity()
                # The controls are drawn further down, but what they hold is known from the session.
                search = TargetSearch(self.view, TargetControls(self.view, spans), quantity)
                unit = self._render_unit(search)
                # Before the choice is drawn: the directions just found are among its entries.
                search.keep_directions()
                named = search.named_finding
                colouring = DirectionChoice(
                    *(self.view, quantity, "finding", _("Colour the text by"), _("this unit")),
                    usual=_usual_colouring(named),
                ).render()
        with st.container():
            UnitCard(self.view, quantity, unit, colouring, search.controls.marked_spans).render(search.scan)
        with st.container():
            search.render(unit)

    def _take_choices(self) -> None:
        """Take a click on the search's ranking, and the unit that the address names."""
        clicked = dashboard.take_request(RANKING_KEY).pick(self.view.H, "ranking")
        if clicked is not None:
            UNIT.request(clicked)
        if LAYER.get() != self.view.layer:
            st.rerun()  # a unit of another layer was chosen: the layer's widget is outside this fragment
        row = address.requested_value("direction") or ""
        named = row if row.startswith(direction.CARD) else address.requested_value("unit")
        if named is not None:
            st.session_state[_NAMED] = named

    def _render_named_units(self) -> None:
        """Draw a button for each unit or direction that the model's card names; else why it names none."""
        # Only findings that stand after all comparisons are remembered: a card may hold others.
        named = model_card.remembering(self.view.context.info.card)
        if not named:
            st.caption(plain(unnamed_targets(self.view.context.info.card)))
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_("Units and directions that this network's card names:"), width="content")
            for finding in named:
                row = "Σ" if finding.weighted else finding.unit
                st.button(
                    f"**{row}** · {render_finding.finding_markdown(described(finding.target))}",
                    key=f"inside.named.{finding.unit}.{finding.target}",
                    on_click=_choose_named_unit,
                    args=(finding,),
                )

    def _render_quantity(self) -> str:
        """Draw the choice of a quantity, if the cell has several."""
        offered = {name: quantity_names()[name] for name in live.quantities(self.view.cell)}
        first = choose_card_finding(self.view)
        # The quantity of the finding that the page opens with; else H, where the cell has one.
        usual = first.quantity if first else "hidden" if "hidden" in offered else next(iter(offered))
        if len(offered) == 1:
            return QUANTITY.resolve(offered, usual)
        return QUANTITY.choose(_("Look at"), offered, usual, draw=st.selectbox)

    def _render_unit(self, search: "TargetSearch") -> int:
        """Draw the unit's number: what the reader, a click or the address names, else what is known best."""
        view, question = self.view, search.controls.question
        # Another question, layer or quantity drops the reader's unit for the best one there.
        subject = (view.model_digest, view.layer, question, search.quantity)
        unit = UNIT.resolve(range(view.H), search.find_usual_unit(), subject=subject)
        label = _("The unit, 0 to {last}").format(last=view.H - 1)
        st.number_input(label, 0, view.H - 1, width=200, **UNIT.widget)
        return unit or 0


# A callback: Streamlit runs it before the script, so that one run draws all three fields anew.
def _choose_named_unit(finding: Recorded) -> None:
    UNIT.request(None if finding.weighted else finding.unit)
    direction.COLOURING.request(direction.CARD + finding.target if finding.weighted else direction.UNIT)
    QUANTITY.request(finding.quantity)
    LAYER.request(finding.layer)


@dataclass(frozen=True, eq=False)
class TargetControls:
    """The controls of a search: what to look for, and on which text. Their values are known before
    `render`.
    """

    view: PageView
    spans: tuple[tuple[int, int], ...]

    # Frozen, and yet cached: `cached_property` writes into the instance's `__dict__`, past `__setattr__`.
    @cached_property
    def target(self) -> str:
        return TARGET.resolve(self.labels, self._usual_target)

    @cached_property
    def labels(self) -> dict[str, str]:
        return target_words(self.view.python)

    @cached_property
    def _usual_target(self) -> str | None:
        finding = choose_card_finding(self.view)
        return finding.target if finding else None

    @property
    def marked_spans(self) -> tuple[tuple[int, int], ...]:
        """The selected passages, if they are what the search is about."""
        return self.spans if self.target == SPAN and self.spans else ()

    @cached_property
    def picker(self) -> SourcePicker:
        return SourcePicker(self.view, SOURCE_KEY)

    @cached_property
    def source(self) -> Source | None:
        """The text to search; None while a file is awaited. Passages are selected in the page's own text."""
        return PAGE if self.target == SPAN else self.picker.selected()

    @cached_property
    def question(self) -> UnitQuestion | None:
        """What the search asks; None while a pattern or a selection is awaited."""
        pattern = REGEX.resolve() if self.target == PATTERN else ""
        edges = STRICT_EDGE_CHARS if self.target not in GRADED and STRICT.resolve() else 0
        if (self.target == SPAN and not self.spans) or (self.target == PATTERN and not pattern):
            return None
        return UnitQuestion(self.target, pattern, edges, self.spans if self.target == SPAN else ())

    def render(self) -> None:
        left, right = st.columns(2)
        with left:
            self._render_target()
        with right:
            if self.target == SPAN:
                self._render_clear_button()
            else:
                self.picker.render()
        if self.target == PATTERN:
            st.text_input(
                _("Regular expression"), max_chars=MAX_REGEX_CHARS, placeholder="[0-9]+", **REGEX.widget
            )
        if self.target not in GRADED:
            self._render_strict_toggle()
        if self.question is None:
            self._render_what_is_missing()

    def _render_target(self) -> None:
        TARGET.choose(
            _("What to look for"),
            self.labels,
            self._usual_target,
            draw=st.selectbox,
            help=_(
                "Simple rules find quotes, brackets and indentation. In the source of Python's standard "
                "library they differ from Python's own tokeniser at 1, 8 and 5 % of the characters."
            )
            + (
                _(" For targets with Python in their name, that tokeniser is used.")
                if self.view.python
                else ""
            ),
        )

    def _render_clear_button(self) -> None:
        st.space("small")
        st.button(_("Clear the selection"), icon=":material/deselect:", on_click=SPANS.request, args=((),))

    def _render_strict_toggle(self) -> None:
        st.toggle(
            _("Compare with the characters just before and after, too"),
            help=_(
                "Scores each unit twice: against all other text, and against the 5 characters on each side. "
                "The lower score counts."
            ),
            **STRICT.widget,
        )

    def _render_what_is_missing(self) -> None:
        if self.target == SPAN:
            st.info(_("Drag over the text above to select a passage, or several."), icon=":material/select:")
        else:
            message = _("Write a regular expression, such as `[0-9]+` or `said`.")
            st.info(message, icon=":material/regular_expression:")


@dataclass(frozen=True, eq=False)
class TargetSearch:
    """The search for units that follow a target, and what it leads on to: a probe, a scan of its text.

    Its requests are made when they are first looked at, once a run.
    """

    view: PageView
    controls: TargetControls
    quantity: str

    @cached_property
    def _questions(self) -> tuple[UnitQuestion, ...]:
        """All questions that one search answers: on a longer text, those for all named targets.

        Reading such a text takes most of a search's time, so that the next target is answered at once.
        """
        question, source = self.controls.question, self.controls.source
        if question is None or source is None:
            return ()
        kinds = (*KINDS, *PYTHON_KINDS) if self.view.python else tuple(KINDS)
        if source.kind == PAGE_TEXT or question.target not in kinds:
            return (question,)
        return tuple(replace(question, target=name) for name in kinds)

    @cached_property
    def _request(self) -> ResultRequest[list[SearchAnswer]] | None:
        """The request for the answers; None while the question or the text is awaited."""
        source = self.controls.source
        if source is None or not self._questions:
            return None
        # The page's own text is short and searched at once; so is a text that a proposal's button has named.
        # Popped, as the button searches once: a second look in this run would not find it, hence the cache.
        button: StartButton | None = None
        if source.kind != PAGE_TEXT and not st.session_state.pop(search_texts.SEARCH_NOW, False):
            cost = _("Reads {n} characters with the network and {copies} untrained copies: about 20 seconds.")
            button = StartButton(
                _("Search the text"),
                ":material/search:",
                cost.format(n=f"{search_texts.MAX_SEARCH_CHARS:,}", copies=UNTRAINED_COPIES),
            )
        return SEARCH.request(
            self.view,
            source,
            button,
            questions=self._questions,
            layer=self.view.layer,
            quantity=self.quantity,
            unclosed=self.view.unclosed,
        )

    @cached_property
    def answer(self) -> SearchAnswer | None:
        """The answer to the reader's question, once it is there."""
        if self._request is None or self._request.result is None or self.controls.question is None:
            return None
        # One search has answered all questions, in their order.
        return self._request.result[self._questions.index(self.controls.question)]

    @property
    def ranking(self) -> Search | None:
        """The ranking of units; None before it is there, and for a target that the text doesn't have."""
        finding = self.answer.finding if self.answer else None
        return finding if isinstance(finding, Search) else None

    @cached_property
    def _probe_request(self) -> ResultRequest[Probe] | None:
        """The request for a probe; None where the text can't settle whether units follow the target."""
        question, source = self.controls.question, self.controls.source
        if (
            self.ranking is None
            or self.ranking.verdict in ("short", "same text")
            or not (question and source)
        ):
            return None
        cost = _(
            "Fits a linear probe on all {n} units, and on the best 1, 2, 4 and 8: half a minute, or more."
        )
        return PROBE.request(
            self.view,
            source,
            StartButton(_("One unit, or many?"), ":material/join:", cost.format(n=self.view.H)),
            question=question,
            unclosed=self.view.unclosed,
            layer=self.view.layer,
            quantity=self.quantity,
        )

    @cached_property
    def _scan_request(self) -> ResultRequest[ScanReport] | None:
        """The request for a scan of the searched text; the page's own text has the usual card."""
        source = self.controls.source
        if self.ranking is None or source is None or source.kind == PAGE_TEXT:
            return None
        cost = _("Reads up to {n} characters, for all units at once. It takes about ten seconds.")
        button = StartButton(
            _("A unit's card from this text"),
            ":material/menu_book:",
            cost.format(n=f"{LONGER_TEXT_SCAN.max_chars:,}"),
        )
        return LONGER_TEXT_SCAN.request(
            self.view, source, button, layer=self.view.layer, quantity=self.quantity
        )

    @property
    def scan(self) -> ScanReport | None:
        """The scan of the searched text, if the reader has asked for it."""
        return self._scan_request.result if self._scan_request else None

    def keep_directions(self) -> None:
        """Offer the directions that the search and the probe have found, in all parts of the page."""
        question = self.controls.question
        if question is None or self.answer is None or self.ranking is None:
            return
        if self.answer.mean_direction is not None:
            direction.keep(self.view, direction.MEANS, question.target, self.answer.mean_direction)
        probe = self._probe_request.result if self._probe_request else None
        if probe is not None:
            direction.keep(self.view, direction.PROBE, question.target, probe.direction())

    @property
    def named_finding(self) -> Recorded | None:
        """The card's finding for this question."""
        question = self.controls.question
        return choose_card_finding(self.view, (question.target,) if question else None, self.quantity)

    def find_usual_unit(self) -> int:
        """The unit that the card names for this question; else the search's best; else the best on the page's
        text.
        """
        named = self.named_finding
        if named and named.weighted is None:
            return named.unit
        return self.ranking.best.unit.unit if self.ranking else self._find_best_here()

    def _find_best_here(self) -> int:
        """The best unit on the page's text, for the time before a search on a longer one."""
        question, view = self.controls.question, self.view
        if question is None:
            return 0

        def search() -> int:
            # The text may lack the target, and a reader's pattern may be no regular expression: then unit 0.
            with suppress(RnnvizError):
                target = _target(question, view.unclosed, view.text)
                searcher = Searcher(view.trace, layer=view.layer, quantity=self.quantity)
                # No shifts: they are for the verdict, and here only the best unit counts.
                return searcher.search(target, shifts=0).best.unit.unit
            return 0

        return remember(view.key("best", view.layer, question, self.quantity), search)

    def render(self, unit: int) -> None:
        """Draw the controls and the finding, with what it says of this `unit`."""
        st.subheader(_("Which units follow what?"), anchor=False)
        self.controls.render()
        if self._request is not None:
            self._request.render()
        if self.answer is not None:
            render_finding.show_finding(self.answer.finding)
        if self.ranking is not None:
            self._render_found(self.ranking, unit)

    def _render_found(self, search: Search, unit: int) -> None:
        """Draw what stands beside a ranking, the buttons that lead on, and the panels."""
        source, target = self.controls.source or PAGE, self.controls.target
        if search.untrained:
            show_untrained_start(self.view)
        if search.verdict == "short" and search.characters < search_texts.SAMPLE_CHARS and target != SPAN:
            search_texts.render_proposals(self.view, source, SOURCE_KEY)
        if (sentence := search.about(unit)) is not None:
            st.caption(render_finding.finding_markdown(sentence))
        panels = search.panels(unit)
        if self._probe_request is not None and (probe := self._probe_request.render()) is not None:
            render_finding.show_finding(probe)
            panels += probe.panels()
        if self._scan_request is not None:
            self._scan_request.render()
        pictures = [render_finding.finding_panel(panel, height=340, width=3) for panel in panels]
        dashboard.mount(RANKING_KEY, panels=pictures, quiet=True)


def _select_passage(passage: tuple[int, int]) -> None:
    """Add a passage to the selected ones, merged where they overlap, and make them the target."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted([*SPANS.get(), passage]):
        # Sorted by their starts, a passage can only run into the last one.
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    SPANS.request(tuple(merged))
    TARGET.request(SPAN)
    st.rerun()  # the target's widget is outside this fragment


@dataclass(frozen=True, eq=False)
class UnitCard:
    """The card of a unit: its values in the text, and a scan's places where it is highest and lowest.

    colouring  a direction that colours the text in place of the unit
    spans      the passages that the search is about
    """

    view: PageView
    quantity: str
    unit: int
    colouring: NamedDirection | None
    spans: Sequence[tuple[int, int]]

    def render(self, scan: ScanReport | None) -> None:
        """Draw the card from this `scan`; None: from one of the text in the model's card, or on the page."""
        view = self.view
        for finding in self._findings():
            follows = render_finding.join_sentences(finding.follows())
            numbers = "" if finding.weighted else numbers_sentence(finding, view.model.config)
            st.markdown(together(filter(None, (follows, numbers, typed_share_sentence(finding)))))
        source = Source(CARD_TEXT) if view.context.info.card.get("text") else PAGE
        scan = scan or SCAN.render(view, source, layer=view.layer, quantity=self.quantity)
        unit_report = None if scan is None else scan[view.layer, self._scanned_row()]
        # `_render_text` draws the panel "pushes", at the unit's value at the cursor.
        panels = (
            [] if unit_report is None else [panel for panel in unit_report.panels() if panel.name != "pushes"]
        )
        pictures = [render_finding.finding_panel(panel, height=230, width=2) for panel in panels]
        self._render_text(pictures, self._all_units_panel())
        if unit_report is not None:
            st.caption(render_finding.join_sentences(unit_report.sentences()))
            self._render_places(unit_report)

    @property
    def _weighted(self) -> WeightedSum | None:
        """The card's weighted sum that colours the text."""
        finding = self.colouring.finding if self.colouring else None
        return finding.weighted if finding else None

    def _findings(self) -> list[Recorded]:
        """The card's standing findings on the weighted sum or the unit in view."""
        if self.colouring is not None and self.colouring.finding is not None:
            return [self.colouring.finding]
        place = (self.view.layer, self.unit, self.quantity)
        return [
            finding
            for finding in model_card.remembering(self.view.context.info.card)
            if (finding.layer, finding.unit, finding.quantity) == place
        ]

    def _scanned_row(self) -> int:
        """The number in a scan of the weighted sum or the unit in view."""
        if self.colouring is None or self.colouring.finding is None:
            return self.unit
        sums = card_sums(self.view.context.info.card, self.view.layer, self.quantity)
        return self.view.H + sums.index(self.colouring.finding)

    def _all_units_panel(self) -> dashboard.DashboardPanel:
        view = self.view
        title = _("{quantity}, units that move together side by side")
        return heat_panel(
            "clustered",
            title.format(quantity=quantity_names()[self.quantity]),
            self._states,
            view.key("order", view.layer, self.quantity),
            view.scale(self.quantity),
            _(
                "A band of similar rows is a group of units that move together: look for the characters "
                "where a band changes colour."
            ),
            _("all similar units side by side: each row has only two neighbours."),
            height=260,
        )

    @property
    def _states(self) -> Array:
        """All units' values along the page's text, (T, H)."""
        return units.activations(self.view.trace, layer=self.view.layer, quantity=self.quantity)

    @fragment
    def _render_text(
        self, pictures: list[dashboard.DashboardPanel], all_units: dashboard.DashboardPanel
    ) -> None:
        """Draw the text coloured by the unit or direction, its card's panels, and a heat map of all units."""
        view = self.view
        request = dashboard.take_request(UNIT_CARD_KEY)
        # A selection reruns the whole page, and nothing below is drawn in this run.
        if (passage := request.span(len(view.text))) is not None:
            _select_passage(passage)
        at = cursor(request, view, None)
        text, scale = self._paint_text()
        # The readout sees the last layer's H alone: of other states no push on a prediction can be told.
        last_layer = view.layer == int(view.model.config.layers) - 1
        if last_layer and (self.colouring is None or self.quantity == "hidden"):
            pushes_picture = render_finding.finding_panel(self._pushes_panel(at), height=230, width=2)
            pictures = [*pictures, pushes_picture]
        dashboard.mount(
            UNIT_CARD_KEY,
            texts=[text],
            panels=[*pictures, all_units],
            at=at,
            spans=self.spans,
            select=True,
            scale=dashboard.legend_ends(scale),
        )

    def _paint_text(self) -> tuple[dashboard.ColouredText, ColourScale]:
        if self._weighted is not None and self.colouring is not None:
            values, scale = self._weighted.along(self._states), WEIGHTED_SCALE  # as on Explore
            label = _("value of {name}").format(name=self.colouring.name)
        elif self.colouring is not None:
            values, scale = direction.centred_values(self.view, self.colouring.direction)
            label = _("value along {name}, minus its mean").format(name=self.colouring.name)
        else:
            values, scale = self._states[:, self.unit], self.view.scale(self.quantity)
            label = _("{quantity} of unit {n}")
            label = label.format(quantity=quantity_names()[self.quantity], n=self.unit)
        return dashboard.colour_text(self.view.text, values, scale, label), scale

    def _pushes_panel(self, at: int | None) -> Panel:
        """The panel of the characters whose probability the unit, or a direction, raises and lowers most.

        At the cursor for the value there, else for a value of 1.
        """
        # Words are translated where they are drawn; a direction's name is in the session's language.
        name: object = words("unit", n=self.unit) if self.colouring is None else self.colouring.name
        pushing = self.unit if self.colouring is None else self.colouring.direction
        value = 1.0
        if at is not None:
            # The state from which the next character is predicted, that of the last layer.
            state = self.view.trace.hidden[at, -1]
            value = float(state[pushing] if isinstance(pushing, int) else pushing.along(state))
        title = words("unit.pushes" if at is None else "unit.pushes-at", name=name, v=Number(value, digits=2))
        return pushes_panel(title, *pushes(self.view.model, pushing, value, k=MAX_PUSHES))

    def _render_places(self, unit_report: UnitReport) -> None:
        sides = {"highest": unit_report.top, "lowest": unit_report.bottom}
        for column, (name, places) in zip(st.columns(2), sides.items(), strict=True):
            with column:
                st.markdown(f"**{render_finding.finding_markdown(words(f'unit.{name}'))}**")
                texts = [self._place_text(place) for place in places]
                dashboard.mount(f"inside.{name}", texts=texts, quiet=True)

    def _place_text(self, place: scanning.Context) -> dashboard.ColouredText:
        scale = WEIGHTED_SCALE if self._weighted is not None else self.view.scale(self.quantity)
        return dashboard.ColouredText(
            place.text,
            scale.levels(place.values),
            palette=scale.kind,
            label=signed(place.value),
            at=place.at,
            linked=False,  # it is another text: the page's cursor has no place in it
        )


def choose_card_finding(
    view: PageView, names: Collection[str] | None = None, quantity: str | None = None
) -> Recorded | None:
    """The card's standing finding that the page opens with, for a target of `names` in the layer in view:
    that of the unit or direction in the address, else the card's first, as on Explore. None without one.
    """
    named = st.session_state.get(_NAMED)
    names = target_words(view.python) if names is None else names
    findings = [
        finding
        for finding in model_card.remembering(view.context.info.card)
        if finding.layer == view.layer and finding.target in names and quantity in (None, finding.quantity)
    ]
    # `max` takes the first of equals: the card's first finding, unless the address names a row.
    return max(findings, key=lambda finding: _address_name(finding) == named, default=None)


def _usual_colouring(finding: Recorded | None) -> str:
    """The direction that colours the text at first: that of the card's finding, unless the address names a
    unit.
    """
    names_unit = st.session_state.get(_NAMED, "").isdigit()
    return direction.UNIT if finding is None or not finding.weighted or names_unit else _address_name(finding)


def _address_name(finding: Recorded) -> str:
    """The unit, or the direction, of a finding in the address."""
    return direction.CARD + finding.target if finding.weighted else str(finding.unit)


def _target(question: UnitQuestion, unclosed: str, text: str) -> Target:
    """The question's target in `text`. Raises as `pattern_target` does."""
    if question.target == SPAN:
        return span_target(question.spans, text)
    if question.target == PATTERN:
        return pattern_target(question.pattern, text)
    return targets.named_target(question.target, text, unclosed=unclosed)  # type: ignore[arg-type]
