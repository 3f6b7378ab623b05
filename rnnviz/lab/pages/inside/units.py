"""Units: a single unit's card, and the search for units that follow a target, with its controls."""

from collections.abc import Collection, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import live
from rnnviz.figures.themes import Scale
from rnnviz.findings import Number, Panel, Sentence, words
from rnnviz.i18n import _
from rnnviz.lab.analysis import controls, directions, probing, scanning, search_result, targets
from rnnviz.lab.analysis.probing import Probe
from rnnviz.lab.analysis.scanning import PUSHES, Context, ScanReport, UnitReport, pushes
from rnnviz.lab.analysis.search_result import Search, holm
from rnnviz.lab.analysis.searching import Searcher
from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS, Target, pattern_target, span_target
from rnnviz.lab.pages.inside import direction, search_texts
from rnnviz.lab.pages.inside.parts import Button, Part, found
from rnnviz.lab.pages.inside.search_texts import CARD, OWN, PAGE, Source
from rnnviz.lab.pages.inside.view import (
    LAYER,
    QUANTITY,
    UNIT,
    View,
    cursor,
    fragment,
    heat_panel,
    kept,
    say_start,
)
from rnnviz.lab.reports.scanning import pushes_panel
from rnnviz.networks import model_card
from rnnviz.networks.model_card import Recorded, described
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress, mapped
from rnnviz.networks.progress import Share as Step
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, UNTRAINED_COPIES
from rnnviz.page.formatting import quantity_names, signed, spoken
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import tracing
from rnnviz.ui.shell import address, dashboard, render_finding
from rnnviz.ui.shell.fields import Field

PATTERN, SPAN = "pattern", "span"
GRADED = ("bracket-depth", "line-position", "indent-depth", "py-bracket-depth", "py-blocks")


def target_words(python: bool = False) -> dict[str, str]:
    """Targets' names in the session's language: `KINDS`, with `python` also `PYTHON_KINDS`, a pattern, a
    selection.
    """
    names = (*(PYTHON_KINDS if python else ()), *KINDS, PATTERN, SPAN)
    return {name: spoken(Sentence(f"target.{name}")) for name in names}


SOURCE = "inside.source"
SPANS = Field[tuple[tuple[int, int], ...]]("inside.spans", ())  # the passages selected in the text
TARGET = Field("inside.target", "word-start")
KEY, FOUND = "inside.finding", "inside.found"
READING = 0.25  # the text's reading takes this share of a search's time
_NAMED = "inside.unit.named"  # a key of st.session_state: the unit that the address has named


@dataclass(frozen=True)
class Question:
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


class Answer(NamedTuple):
    """A search's answer: its finding, and the direction from the mean state outside its target to that
    inside.
    """

    finding: Search | search_result.Unanswered
    means: units.Direction | None


def _finding(
    model: Network,
    text: str,
    *,
    layer: int,
    quantity: str,
    asked: tuple[Question, ...],
    unclosed: str,
    progress: Progress,
) -> Generator[Step, None, list[Answer]]:
    """The steps of a search of one text for all questions. A text long enough for a verdict is read with
    untrained copies too, and Holm's correction covers all questions.
    """
    steps = tracing(model, text)
    traced = yield from mapped(steps, lambda share: Step(READING * share))
    targets = [_target(one, unclosed, traced.text) for one in asked]
    edges = asked[0].edges
    if len(traced) < MIN_VERDICT_CHARS:
        searcher = Searcher(traced, layer=layer, quantity=quantity)
        searched = [searcher.search(one, edges=edges) if one.varies else None for one in targets]
    else:
        weighing = controls.controlled(model, traced, targets, layer=layer, quantity=quantity, edges=edges)
        searched = yield from mapped(weighing, lambda now: Step(READING + (1 - READING) * now.fraction))
        family = iter(holm([one for one in searched if one is not None]))
        searched = [one and next(family) for one in searched]
    return [
        Answer(search or search_result.Unanswered(target), _means(traced, target, layer, quantity))
        for target, search in zip(targets, searched, strict=True)
    ]


def _means(traced: Trace, target: Target, layer: int, quantity: str) -> units.Direction | None:
    values = units.activations(traced, layer=layer, quantity=quantity)
    with suppress(RnnvizError):  # equal mean states have no direction
        return directions.mean_difference(values, target, layer=layer, quantity=quantity)
    return None


def _probing(
    model: Network,
    text: str,
    *,
    layer: int,
    quantity: str,
    asked: Question,
    unclosed: str,
    progress: Progress,
) -> Generator[Step, None, Probe]:
    """The steps of a linear probe on all units of the network, and of untrained copies."""
    networks = [model, *units.untrained(model)]
    searchers = []
    for number, one in enumerate(networks):
        share = 0.4 / len(networks)
        steps = tracing(one, text)
        traced = yield from mapped(steps, lambda now, done=number, each=share: Step(each * (done + now)))  # type: ignore[misc]
        searchers.append(Searcher(traced, layer=layer, quantity=quantity))
    target = _target(asked, unclosed, traced.text)
    own, *copies = searchers
    probed = probing.steps(own, target, untrained=copies, copies=len(copies))
    return (yield from mapped(probed, lambda now: Step(0.4 + 0.6 * now.fraction)))


SEARCH = Part[list[Answer]](
    "search",
    lambda: _("Searching the text, beside untrained copies of the network"),
    _finding,
    most=search_texts.SEARCHED,
    shared=True,
)
PROBE = Part[Probe](
    "probe",
    lambda: _("Probing the units of the network and of untrained copies"),
    _probing,
    most=search_texts.SEARCHED,
)
SCAN = Part[ScanReport](
    "scan",
    lambda: _("Reading the text"),
    lambda model, text, progress, **given: scanning.scanning(
        model, text=text, contexts=4, before=40, after=20, **given
    ),
    most=300_000,
    shared=True,
)
LONGER = replace(SCAN, name="longer", shared=False)


@fragment
def section(view: View) -> None:
    if (clicked := dashboard.asked(FOUND).pick(view.H, "ranking")) is not None:
        UNIT.request(clicked)
    if LAYER.get() != view.layer:
        st.rerun()  # a unit of another layer was chosen: the layer's widget is outside this fragment
    if (named := address.requested_value("unit")) is not None:
        st.session_state[_NAMED] = named
    spans = SPANS.resolve(subject=view.text)
    top, card, below = st.container(), st.container(), st.container()
    with top:
        looked, picked = _looked(view)
    with below:
        st.subheader(_("Which units follow something?"), anchor=False)
        asked, source = _ask(view, spans)
        answer = _answer(view, asked, source, looked) if asked and source else None
    search = answer.finding if answer and isinstance(answer.finding, Search) else None
    with picked:
        unit = _unit(view, asked, source, looked, search)
    longer = None
    if asked and source and answer:
        with below:
            longer = _said(view, asked, source, looked, answer, unit)
    with picked:  # after `_said`, which has added the directions that it found
        along = direction.pick(view, looked, "finding", _("Colour the text by"), _("this unit"))
    with card:
        for one in model_card.remembering(view.context.info.card):
            if (one.layer, one.unit, one.quantity) == (view.layer, unit, looked):
                st.markdown(render_finding.join_sentences(one.follows()))
        own = Source(CARD) if view.context.info.card.get("text") else PAGE
        report = longer or found(SCAN, view, own, layer=view.layer, quantity=looked)
        marked = spans if asked and asked.target == SPAN else []
        _card(view, looked, unit, along, marked, None if report is None else report[view.layer, unit])


def _looked(view: View) -> tuple[str, DeltaGenerator]:
    """Draw buttons for the units that the model's card names, and the choice of a quantity.

    Returns the quantity, and the row of controls that it is in.
    """
    if named := model_card.remembering(view.context.info.card):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(_("Units that this network's card names:"), width="content")
            for one in named:
                label = f"**{one.unit}** · {render_finding.finding_markdown(described(one.target))}"
                st.button(
                    label,
                    key=f"inside.named.{one.unit}.{one.target}",
                    on_click=_choose,
                    args=(one,),
                )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    offered, first = {name: quantity_names()[name] for name in live.quantities(view.cell)}, _standing(view)
    usual = first.quantity if first else "hidden" if "hidden" in offered else next(iter(offered))
    if len(offered) == 1:
        return QUANTITY.resolve(offered, usual), row
    return QUANTITY.choose(_("Look at"), offered, usual, draw=row.selectbox), row


def _choose(one: Recorded) -> None:
    UNIT.request(one.unit)
    QUANTITY.request(one.quantity)
    LAYER.request(one.layer)


def _answer(view: View, asked: Question, source: Source, looked: str) -> Answer | None:
    """A question's answer. On a longer text, one search answers the questions for all named targets."""
    kinds = (*KINDS, *PYTHON_KINDS) if view.python else tuple(KINDS)
    every: tuple[Question, ...] = (asked,)
    button: Button | None = None
    if source.kind != OWN:
        if asked.target in kinds:
            every = tuple(replace(asked, target=name) for name in kinds)
        cost = _("Reads {n} characters with the network and {copies} untrained copies: some 20 seconds.")
        said = cost.format(n=f"{search_texts.SEARCHED:,}", copies=UNTRAINED_COPIES)
        button = Button(_("Search the text"), ":material/search:", said)
        if st.session_state.pop(search_texts.NOW, False):
            button = None
    given = {"layer": view.layer, "quantity": looked, "unclosed": view.unclosed}
    answers = found(SEARCH, view, source, button, asked=every, **given)
    return None if answers is None else answers[every.index(asked)]


def _said(
    view: View, asked: Question, source: Source, looked: str, answer: Answer, unit: int
) -> ScanReport | None:
    """Draw the finding with its panels and further buttons. Returns the scan of the source's text, if the
    reader has asked for it.
    """
    render_finding.show_finding(answer.finding)
    if not isinstance(answer.finding, Search):
        return None
    search = answer.finding
    if search.untrained:
        say_start(view)
    if answer.means is not None:
        direction.keep(view, direction.MEANS, asked.target, answer.means)
    if search.verdict == "short" and search.characters < search_texts.WRITTEN and asked.target != SPAN:
        search_texts.propose(view, source, SOURCE)
    if (other := search.about(unit)) is not None:
        st.caption(render_finding.finding_markdown(other))
    panels, longer = search.panels(unit), None
    given = {"layer": view.layer, "quantity": looked}
    if search.verdict not in ("short", "same text"):
        cost = _(
            "Fits a linear probe on all {n} units, and on the best 1, 2, 4 and 8: half a minute, or more."
        )
        button = Button(_("One unit, or many?"), ":material/join:", cost.format(n=view.H))
        probed = found(PROBE, view, source, button, asked=asked, unclosed=view.unclosed, **given)
        if probed is not None:
            render_finding.show_finding(probed)
            panels += probed.panels()
            direction.keep(view, direction.PROBE, asked.target, probed.direction())
    if source.kind != OWN:
        cost = _("Reads up to {n} characters, for all units at once. It takes about ten seconds.")
        button = Button(
            _("The unit's card from this text"),
            ":material/menu_book:",
            cost.format(n=f"{LONGER.most:,}"),
        )
        longer = found(LONGER, view, source, button, **given)
    drawn = [render_finding.finding_panel(one, height=340, width=3) for one in panels]
    dashboard.mount(FOUND, panels=drawn, quiet=True)
    return longer


def _unit(
    view: View, asked: Question | None, source: Source | None, looked: str, search: Search | None
) -> int:
    """The unit that the address, the reader or a click names; else one on the card; else the best one."""
    named = _standing(view, (asked.target,) if asked else None, looked)
    usual = named.unit if named else search.best.unit.unit if search else _best(view, asked, looked)
    unit = UNIT.resolve(range(view.H), usual, subject=(view.mark, view.layer, asked, looked))
    label = _("The unit, 0 to {last}").format(last=view.H - 1)
    st.number_input(label, 0, view.H - 1, width=200, **UNIT.widget)
    return unit or 0


def _best(view: View, asked: Question | None, looked: str) -> int:
    """The best unit on the page's text, for the time before a search on a longer one."""
    if asked is None:
        return 0

    def search() -> int:
        with suppress(RnnvizError):
            target = _target(asked, view.unclosed, view.text)
            searcher = Searcher(view.trace, layer=view.layer, quantity=looked)
            return searcher.search(target, shifts=0).best.unit.unit
        return 0

    return kept(view.key("best", view.layer, asked, looked), search)


def _select(new: tuple[int, int]) -> None:
    """Add a passage to the selected ones, merged where they overlap, and make them the target."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted([*SPANS.get(), new]):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    SPANS.request(tuple(merged))
    TARGET.request(SPAN)
    st.rerun()  # the target's widget is outside this fragment


def _card(
    view: View,
    looked: str,
    unit: int,
    along: tuple[str, units.Direction] | None,
    spans: Sequence[tuple[int, int]],
    report: UnitReport | None,
) -> None:
    """Draw the unit's card: its values in the text, and a scan's places where it is highest and lowest."""
    # `_coloured` draws the panel "pushes", at the unit's value at the cursor.
    shown = [] if report is None else [panel for panel in report.panels() if panel.name != "pushes"]
    drawn = [render_finding.finding_panel(panel, height=230, width=2) for panel in shown]
    together = heat_panel(
        "clustered",
        _("{quantity}, units that move together side by side").format(quantity=quantity_names()[looked]),
        units.activations(view.trace, layer=view.layer, quantity=looked),
        view.key("order", view.layer, looked),
        view.scale(looked),
        _(
            "A band of similar rows is a group of units that move together: look for the characters "
            "where a band changes colour."
        ),
        _("all similar units side by side: each row has only two neighbours."),
        height=260,
    )
    _coloured(view, looked, unit, along, spans, drawn, together)
    if report is not None:
        st.caption(render_finding.join_sentences(report.sentences()))
        for column, name in zip(st.columns(2), ("highest", "lowest"), strict=True):
            with column:
                st.markdown(f"**{render_finding.finding_markdown(words(f'unit.{name}'))}**")
                places = report.top if name == "highest" else report.bottom
                dashboard.mount(f"inside.{name}", texts=_places(view.scale(looked), places), quiet=True)


@fragment
def _coloured(
    view: View,
    looked: str,
    unit: int,
    along: tuple[str, units.Direction] | None,
    spans: Sequence[tuple[int, int]],
    drawn: list[dashboard.Panel],
    together: dashboard.Panel,
) -> None:
    """Draw the text coloured by the unit or direction, its card's panels, and a heat map of all units."""
    ask = dashboard.asked(KEY)
    if (new := ask.span(len(view.text))) is not None:
        _select(new)
    at = cursor(ask, view, None)
    scale = view.scale(looked)
    states = units.activations(view.trace, layer=view.layer, quantity=looked)
    values, label = (
        states[:, unit],
        _("{quantity} of unit {n}").format(quantity=quantity_names()[looked], n=unit),
    )
    if along is not None:
        values, scale = direction.coloured(view, along[1])
        label = _("value along {name}, minus its mean").format(name=along[0])
    if view.layer == int(view.model.config.layers) - 1 and (along is None or looked == "hidden"):
        drawn = [*drawn, render_finding.finding_panel(_pushes(view, unit, along, at), height=230, width=2)]
    dashboard.mount(
        KEY,
        texts=[dashboard.painted(view.text, values, scale, label)],
        panels=[*drawn, together],
        at=at,
        spans=spans,
        select=True,
        scale=dashboard.ends(scale),
    )


def _pushes(view: View, unit: int, along: tuple[str, units.Direction] | None, at: int | None) -> Panel:
    """The panel of the characters whose probability the unit, or a direction, raises and lowers most."""
    state = None if at is None else view.trace.hidden[at, -1]
    what: int | units.Direction = unit if along is None else along[1]
    value = 1.0
    if state is not None:
        value = float(state[unit] if along is None else along[1].along(state))
    name: object = words("unit", n=unit) if along is None else along[0]
    title = words("unit.pushes" if at is None else "unit.pushes-at", name=name, v=Number(value, digits=2))
    return pushes_panel(title, *pushes(view.model, what, value, k=PUSHES))


def _places(scale: Scale, places: Sequence[Context]) -> list[dashboard.Text]:
    return [
        dashboard.Text(
            one.text,
            scale.levels(one.values),
            palette=scale.kind,
            label=signed(one.value),
            at=one.at,
            linked=False,
        )
        for one in places
    ]


def _ask(view: View, spans: tuple[tuple[int, int], ...]) -> tuple[Question | None, Source | None]:
    """Draw the question's controls. Returns the question, None while a pattern or a selection is awaited, and
    the source, None while a file is awaited.
    """
    names = target_words(view.python)
    found = _standing(view)
    kind, where = st.columns(2)
    with kind:
        about = TARGET.choose(
            _("What to look for"),
            names,
            found.target if found else None,
            draw=st.selectbox,
            help=_(
                "Simple rules find quotes, brackets and indentation. In the source of Python's standard "
                "library they differ from Python's own tokeniser at 1, 8 and 5 % of the characters."
            )
            + (_(" For targets with Python in their name, that tokeniser is used.") if view.python else ""),
        )
    with where:
        if about == SPAN:
            source: Source | None = PAGE
            st.space("small")
            st.button(
                _("Clear the selection"), icon=":material/deselect:", on_click=SPANS.request, args=((),)
            )
        else:
            source = search_texts.pick(view, SOURCE)
    pattern, edges = "", 0
    if about == PATTERN:
        pattern = st.text_input(
            _("Regular expression"),
            key="inside.pattern",
            persist_state="session",
            max_chars=1000,
            placeholder="[0-9]+",
        )
    if about not in GRADED:
        strict = st.toggle(
            _("Compare with the characters just before and after, too"),
            key="inside.strict",
            persist_state="session",
            help=_(
                "Scores each unit twice: against all other text, and against the 5 characters on each side. "
                "The lower score counts."
            ),
        )
        edges = 5 if strict else 0
    if about == SPAN and not spans:
        st.info(_("Drag over the text above to select a passage, or several."), icon=":material/select:")
        return None, source
    if about == PATTERN and not pattern:
        said = _("Write a regular expression, such as `[0-9]+` or `said`.")
        st.info(said, icon=":material/regular_expression:")
        return None, source
    return Question(about, pattern, edges, spans if about == SPAN else ()), source


def _standing(
    view: View, names: Collection[str] | None = None, quantity: str | None = None
) -> Recorded | None:
    """The card's standing finding that the page opens with, for a target of `names` in the layer in view:
    that of the unit in the address, else the card's first, as on Explore. None without one.
    """
    named = st.session_state.get(_NAMED)
    names = target_words(view.python) if names is None else names
    found = [
        one
        for one in model_card.remembering(view.context.info.card)
        if one.layer == view.layer and one.target in names and quantity in (None, one.quantity)
    ]
    return max(found, key=lambda one: str(one.unit) == named, default=None)


def _target(asked: Question, unclosed: str, text: str) -> Target:
    """The question's target in `text`. Raises as `pattern_target` does."""
    if asked.target == SPAN:
        return span_target(asked.spans, text)
    if asked.target == PATTERN:
        return pattern_target(asked.pattern, text)
    return targets.named_target(asked.target, text, unclosed=unclosed)  # type: ignore[arg-type]
