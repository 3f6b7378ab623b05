"""A linear probe on all units, beside the search's best: one unit, a few, or spread over many?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.reading.trace import tracing
from rnnviz.ui import findings
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import direction, question
from rnnviz.ui.pages.inside.common import View, done_on_request, kept, say_start
from rnnviz.ui.pages.inside.question import Question
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
        findings.show(found)
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
