"""Scene 4: a time step's two products are one product of what is put side by side."""

from __future__ import annotations

from typing import Any

from rnnviz.errors import ConfigError
from rnnviz.lecture.product import NAMES as MATRICES
from rnnviz.lecture.product import Factors
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn.controls import Control, State, Valid, whole

NAMES = ("two", "joined", "one", "try")
STEPS = len(NAMES)


def _matrix(name: str) -> Valid:
    factors = Factors.drawn(0)

    def valid(value: object) -> list[list[float]] | None:
        try:
            return value if isinstance(value, list) and factors.changed(name, value) else None
        except ConfigError:
            return None

    return valid


# A matrix is None as long as its numbers are those of the seed; what was typed is not kept in the address.
CONTROLS = (
    Control("seed", whole(0, 9999), 1, resets=MATRICES),
    *(Control(name, _matrix(name), address="") for name in MATRICES),
)


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("Each number on the right is a row times a column, twice: for the input and for the state."),
        _("The same numbers, put side by side and one above the other: nothing new has come in."),
        _("One product gives what the sum of two gave. Point at an entry: its row and column light up."),
        _("Change any number: both sides follow, and they differ only by rounding error."),
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


def picture(state: State) -> dict[str, Any]:
    """Both sides for the current matrices."""
    factors = Factors.drawn(state["seed"])
    edits = {name: state[name] for name in MATRICES if state[name] is not None}
    for name, values in edits.items():
        factors = factors.changed(name, values)
    return {
        **{name: getattr(factors, name).tolist() for name in MATRICES},
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
            "draw": _("New random numbers"),
            "difference": _("largest absolute difference"),
            "two": _("two products, added"),
            "one": _("one product"),
        },
    }
