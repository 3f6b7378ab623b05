"""Scene 4: a time step's two products are one product of what is put side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rnnviz.errors import ConfigError
from rnnviz.lecture.products import NAMES, Factors
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 4
SEED = 1
HIGHEST = 9999


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("Each number on the right is a row times a column, twice: for the input and for the state."),
        _("The same numbers, put side by side and one above the other: nothing new has come in."),
        _("One product gives what the sum of two gave. Point at an entry: its row and column light up."),
        _("Change any number: both sides follow, and the difference stays at rounding."),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's identity."""
    if state["step"] == 0:
        return r"\mathbf{X}_t\mathbf{W}_{xh} + \mathbf{H}_{t-1}\mathbf{W}_{hh}"
    return (
        r"\mathbf{X}_t\mathbf{W}_{xh} + \mathbf{H}_{t-1}\mathbf{W}_{hh} = "
        r"[\mathbf{X}_t,\ \mathbf{H}_{t-1}]\ "
        r"\bigl[\begin{smallmatrix}\mathbf{W}_{xh}\\ \mathbf{W}_{hh}\end{smallmatrix}\bigr]"
    )


def initial(query: Mapping[str, str]) -> State:
    """Numbers from the address's seed."""
    return {"seed": given.whole(query.get("seed"), 0, HIGHEST) or SEED, "edits": {}}


def query(state: State) -> dict[str, str]:
    """The seed. Numbers that were typed are not kept in the address."""
    return {"seed": str(state["seed"])} if state["seed"] != SEED else {}


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """Both sides for the matrices as they are now."""
    seed = given.whole(ask.get("seed"), 0, HIGHEST)
    if seed is not None:
        state = {**state, "seed": seed, "edits": {}}
    factors = Factors.drawn(state["seed"])
    edits = dict(state["edits"])
    for name in NAMES:
        for values in (edits.get(name), ask.get(name)):
            if isinstance(values, list):
                try:
                    factors = factors.changed(name, values)
                except ConfigError:
                    continue
                edits[name] = values
    data = {
        **{name: getattr(factors, name).tolist() for name in NAMES},
        "joinedInputs": factors.joined_inputs.tolist(),
        "joinedWeights": factors.joined_weights.tolist(),
        "sum": factors.sum_of_products().tolist(),
        "product": factors.product_of_concatenations().tolist(),
        "difference": factors.largest_difference(),
        "seed": state["seed"],
        "edited": bool(edits),
        "words": {
            "seed": _("seed {n}"),
            "edited": _("seed {n}, edited"),
            "draw": _("Draw anew"),
            "difference": _("largest absolute difference"),
            "two": _("two products, added"),
            "one": _("one product"),
        },
    }
    return {**state, "edits": edits}, data
