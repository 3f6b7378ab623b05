"""A linear probe on all units, beside the search's best: one unit, a few, or spread over many?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import charts
from rnnviz.reading.trace import tracing
from rnnviz.ui.dashboard import Panel
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import direction, question
from rnnviz.ui.pages.inside.common import View, done_on_request, kept, say_start
from rnnviz.ui.pages.inside.question import Question
from rnnviz.ui.words import decimal, together
from rnnviz.units import directions, probing

if TYPE_CHECKING:
    from rnnviz.units import Probe, Search, Searcher, Target


def section(
    view: View,
    asked: Question,
    search: Search,
    ready: tuple[str, Searcher],
    spans: list[tuple[int, int]],
) -> Probe | None:
    """What a probe finds on a text that is long enough, once a button has asked for it. The directions that
    are known now, all parts of the page offer.
    """
    text, searcher = ready
    assert asked.source is not None
    key = asked.source.key(view, "probe", view.layer, asked.quantity, asked.target, asked.pattern)
    with suppress(RnnvizError):  # states that don't differ have no such direction
        means = kept(
            replace(key, what="means", rest=(key.rest, tuple(spans))),
            lambda: directions.mean_difference(
                searcher.values,
                question.target(view, asked, text, spans),
                layer=view.layer,
                quantity=asked.quantity,
            ),
        )
        direction.keep(view, direction.MEANS, asked.target, means)
    if search.verdict in ("short", "same text"):
        return None
    found: Probe | None = done_on_request(
        key,
        _("Probing the units of the network and of {n} untrained copies").format(n=units.controls.COPIES),
        lambda check: _probing(view, question.target(view, asked, text, []), text, searcher),
        "probe",
        label=_("One unit, or many?"),
        icon=":material/join:",
        said=_(
            "Fits a linear probe on all {n} units, and on the best 1, 2, 4 and 8. It takes half a minute, or "
            "more for a large network."
        ).format(n=view.H),
    )
    if found is not None:
        st.markdown(sentence(found))
        if found.untrained:
            say_start(view)
        direction.keep(view, direction.PROBE, asked.target, found.direction())
    return found


def _probing(view: View, target: Target, text: str, searcher: Searcher) -> Steps[Probe]:
    yield Step(0.0)
    copies: list[Searcher] = []
    for number, copy in enumerate(units.untrained(view.model)):
        steps = tracing(copy, text)
        traced = yield from as_steps(steps, partial(_of_copies, number))
        copies.append(units.Searcher(traced, layer=view.layer, quantity=searcher.quantity))
    probed = probing.steps(searcher, target, untrained=copies, copies=len(copies))
    return (yield from as_steps(probed, lambda now: Step(0.4 + 0.6 * now.fraction)))


def _of_copies(number: int, share: float) -> Step:
    return Step(0.4 * (number + share) / units.controls.COPIES)


def sentence(found: Probe) -> str:
    """What it comes to, as Markdown free of any text from the reader."""
    said = [_held(found)]
    if found.verdict == "short":
        return _("This text is too short for a probe's score to mean anything.")
    if found.interval is not None:
        said.append(_("The 95 % interval of the probe on all units is {low} to {high}."))
    if found.verdict != "nothing":
        said.append(
            _("For a random target in runs of the same lengths, it reaches {control} on average.")
            if found.measure == "AUC"
            else _("For the same target shifted along the text, it reaches {control} on average.")
        )
    if found.untrained:
        said.append(_("On {copies} untrained copies of the network, it reaches at most {untrained}."))
    if found.verdict == "character":
        said.append(
            _("The current character alone reaches about as much, {character}: memory may not be needed.")
        )
    elif found.verdict == "context":
        said.append(_("The last {last} characters alone reach {context}: the probe is not clearly ahead."))
    elif found.verdict == "learned" and found.context is not None and found.context.low is None:
        said.append(
            _(
                "The last {last} characters alone reach {context}; this text is too short to say how surely "
                "the probe is ahead."
            )
        )
    elif found.context is not None and found.context.low is not None and found.verdict != "nothing":
        said.append(
            _("The last {last} characters alone reach {context}; the probe is ahead by {least} to {most}.")
        )
    if found.verdict == "untrained":
        said.append(
            _("Untrained copies reach about as much: the probe is no sign that the network learnt this.")
        )
    most = found.few[-1]
    return together(said).format(
        n=found.weights.size,
        measure=_("AUC") if found.measure == "AUC" else _("correlation"),
        score=decimal(found.score, 3),
        one=decimal(found.few[0].score, 3),
        unit=found.few[0].units[0].unit,
        k=len(enough.units) if (enough := _enough(found)) else len(most.units),
        few=decimal((enough or most).score, 3),
        control=decimal(sum(found.control) / len(found.control), 3) if found.control else "–",
        low=decimal(found.interval[0], 3) if found.interval else "–",
        high=decimal(found.interval[1], 3) if found.interval else "–",
        copies=len(found.untrained),
        untrained=decimal(max(found.untrained, default=0.0), 3),
        character="–" if found.character is None else decimal(found.character, 3),
        **_context(found),
    )


def _context(found: Probe) -> dict[str, str]:
    """What the last few characters tell, and how far the probe is ahead of it, for `sentence`."""
    rival = found.context
    if rival is None:
        return {}
    ends = {"least": rival.low, "most": rival.high}
    return {
        "last": str(rival.number),
        "context": decimal(rival.score, 3),
        **{name: "–" if end is None else decimal(end, 3) for name, end in ends.items()},
    }


def _enough(found: Probe) -> probing.Few | None:
    """The fewest units that hold it."""
    pairs = zip(found.few, found.shares, strict=True)
    return next((one for one, share in pairs if share >= probing.HOLDS), None)


def _held(found: Probe) -> str:
    if found.held == "one":
        return _(
            "**One unit** is enough: unit {unit} alone reaches {measure} {one}, a linear probe on all {n} "
            "units {score}."
        )
    if found.held == "few":
        return _(
            "**A few units** are enough: a linear probe on {k} units reaches {measure} {few}, on all {n} "
            "{score}; unit {unit} alone reaches {one}."
        )
    if found.held == "spread":
        return _(
            "**Spread over many units**: a linear probe on all {n} units reaches {measure} {score}, on the "
            "best {k} {few}; unit {unit} alone reaches {one}."
        )
    return _(
        "**Nothing found**: a linear probe on all {n} units reaches {measure} {score}, and {control} on "
        "average for a random target."
    )


def panel(found: Probe) -> Panel:
    """How much the best 1, 2, 4 and 8 units reach of what all do."""
    names = [str(len(one.units)) for one in found.few] + [_("all {n}").format(n=found.weights.size)]
    levels = {}
    if found.control:
        levels[_("random target, at most")] = max(found.control)
    if found.character is not None:
        levels[_("current character alone")] = found.character
    if found.context is not None:
        levels[_("last {k} characters alone").format(k=found.context.number)] = found.context.score
    if found.untrained:
        levels[_("all units, untrained")] = max(found.untrained)
    auc = found.measure == "AUC"
    return Panel(
        "probe",
        _("How many units it takes"),
        partial(
            charts.ranking,
            names,
            [*(one.score for one in found.few), found.score],
            levels=levels,
            first=found.floor,
            last=1.0 if auc else None,
            x=_("AUC") if auc else _("correlation"),
            chosen=len(names) - 1,
        ),
        _(
            "If the first bar is as long as the last, one unit is enough; if the bars grow, it takes several "
            "together. Only a bar that clearly passes every line is a sign of learning."
        ),
        _("whether the network itself uses it: choose the probe as a direction under Cause."),
        height=340,
        width=3,
    )
