"""Scene 7, what the way back costs: measured on this computer when the lecturer asks for it."""

from statistics import median
from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import cost, symbols
from rnnviz.lecture.controls import Ask, State
from rnnviz.lecture.machine import Machine

COUNT = len(cost.LENGTHS)


def take(state: State, ask: Ask) -> State:
    """Measure the next length, if that is what is asked for: {"measure": how many were measured before}.

    0 begins anew. Another length of a cut has other numbers.
    """
    measured = state.get("measured", ())
    if measured and measured[0].cut != state["piece"]:
        measured = ()
    n = ask.get("measure")
    if type(n) is int and 0 <= n < COUNT and n in (0, len(measured)):
        measured = (*measured[:n], cost.measured(cost.LENGTHS[n], state["piece"]))
    return {**state, "measured": measured}


def formula(state: State) -> str:
    """The product whose length a cut bounds."""
    return (
        r"\tfrac{\partial \s{l_t}}{\partial \s{H_s}} = \tfrac{\partial \s{l_t}}{\partial \s{H_t}}"
        r"\,\tfrac{\partial \s{H_t}}{\partial \s{H_t-1}} \cdots "
        r"\tfrac{\partial \s{H_s+1}}{\partial \s{H_s}},"
        r"\quad \s{t} - \s{s} < \s{tau}"
    )


def notice(state: State) -> str:
    """What was measured."""
    measured = state.get("measured", ())
    if len(measured) < COUNT:
        return _("How long do the way there and the way back take, and what must be kept? Measure.")
    last = measured[-1]
    return _(
        "Here, now: there and back takes {times} times as long as there alone. "
        "At T = {T} a cut update takes {share} of that."
    ).format(
        times=f"{median(m.both / m.forward for m in measured):.1f}",
        share=f"{100 * last.update / last.both:.0f} %",
        T=last.steps,
    )


def picture(state: State) -> dict[str, Any]:
    """Times so far, what is kept, and the reasons for a cut."""
    cut = state["piece"]
    flows = [
        float(abs(Machine(recurrent=recurrent).backward().from_next).sum()) for recurrent in (True, False)
    ]
    return {
        "cut": cut,
        "cuts": cost.CUTS,
        "lengths": cost.LENGTHS,
        "units": cost.UNITS,
        "measured": [[1e3 * m.forward, 1e3 * m.both, 1e3 * m.update] for m in state.get("measured", ())],
        "kept": [[cost.kept(n) / 1024, cost.kept(min(n, cut)) / 1024] for n in cost.LENGTHS],
        "alone": np.zeros(cost.UNITS).nbytes / 1024,  # a state, which the next one replaces
        "flows": flows,
        "here": symbols.here({"tau": cut}),
        "words": {
            "measure": _("Measure on this computer"),
            "cut": _("cut after τ steps"),
            "time": _("time of an update, ms (medians, on this computer, now)"),
            "kept": _("kept for an update, KiB"),
            "length": _("time steps T"),
            "press": _("not measured yet"),
            "forward": _("there alone"),
            "both": _("there and back"),
            "update": _("cut after {n}"),
            "why": _("Why cut?"),
            "cost": _("Cost: a cut update takes the time of τ steps, however long the text."),
            "cached": _("Memory: it keeps the states of τ steps, not of T."),
            "stable": _("Stability: at most {factors} factors are multiplied; no longer way can explode."),
            "both_said": _("{first} {second}"),
            "times": _("At T = {steps}: {left} instead of {all} ms."),
            "sizes": _("At T = {steps}: {left} instead of {all} KiB."),
            "state": _(
                "Only with a state: in “machin” the steps hand back {state} (sum of sizes), "
                "without recurrent weights {without}."
            ),
        },
    }
