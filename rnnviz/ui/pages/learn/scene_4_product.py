"""Scene 4: a time step's two products are one product of what is put side by side."""

from typing import Any

from rnnviz.errors import ConfigError
from rnnviz.i18n import _
from rnnviz.lecture.controls import Control, State, Valid, whole
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.product import NAMES as MATRICES
from rnnviz.lecture.product import Factors

NAMES = ("two", "joined", "one", "try", "word")
STEPS = len(NAMES)
WORD = NAMES.index("word")
MACHINE = Machine()


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
    Control("t", whole(1, MACHINE.steps), 3, steps=(WORD,)),
)


def notice(state: State) -> str:
    """What to notice."""
    return [
        _(
            "(3, 1)(1, 4) + (3, 4)(4, 4) = (3, 4): each number on the right is a row times a column, "
            "twice: for the input and for the state."
        ),
        _(
            "Side by side, (3, 1) and (3, 4) become (3, 5). One above the other, (1, 4) and (4, 4) "
            "become (5, 4). No number has changed."
        ),
        _("(3, 5)(5, 4) = (3, 4): one product gives what two gave. Point at an entry of the result."),
        _("Click a number and type another: both sides follow, and they differ at most by rounding error."),
        _(
            "Step {t} of “machine”, by the small network: again one product gives what two gave. "
            "With the bias and φ it becomes the next state."
        ).format(t=state["t"]),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's identity."""
    two = r"\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh}"
    one = r"[\s{X_t},\ \s{H_t-1}]\ \bigl[\begin{smallmatrix}\s{W_xh}\\ \s{W_hh}\end{smallmatrix}\bigr]"
    if state["step"] == WORD:
        return rf"\s{{H_t}} = \s{{phi}}\bigl({one} + \s{{b_h}}\bigr)"
    return two if state["step"] == 0 else f"{two} = {one}"


def picture(state: State) -> dict[str, Any]:
    """Both sides for the current matrices."""
    factors = Factors.drawn(state["seed"])
    edits = {name: state[name] for name in MATRICES if state[name] is not None}
    for name, values in edits.items():
        factors = factors.changed(name, values)
    return {
        **{name: getattr(factors, name).tolist() for name in MATRICES},
        "sum": factors.sum_of_products().tolist(),
        "product": factors.product_of_concatenations().tolist(),
        "apart": (1e16 * factors.differences()).tolist(),
        "difference": factors.largest_difference(),
        "seed": state["seed"],
        "edited": bool(edits),
        "word": _word(state["t"]),
        "words": {
            "seed": _("seed {n}"),
            "edited": _("seed {n}, edited"),
            "draw": _("New random numbers"),
            "difference": _("largest absolute difference"),
            "two": _("two products, added"),
            "one": _("one product"),
            "apart": _("difference, in 10⁻¹⁶"),
            "axis1": _("side by side: concatenate along axis 1"),
            "axis0": _("one above the other: concatenate along axis 0"),
            "picks": _("The 1 at “{character}” picks the framed row."),
        },
    }


def _word(t: int) -> dict[str, Any]:
    """A step of the word's network, as scenes 2 to 7 show it."""
    run, net, factors = MACHINE.forward, MACHINE.net, Factors.of_word(t, MACHINE)
    return {
        "t": t,
        "steps": MACHINE.steps,
        "inputs": MACHINE.inputs,
        "symbols": list(MACHINE.symbols),
        "x": factors.X.tolist(),
        "before": factors.H.tolist(),
        "W_xh": net.W_xh.tolist(),
        "W_hh": net.W_hh.tolist(),
        "from_input": run.from_input[t - 1 : t].tolist(),
        "from_state": run.from_state[t - 1 : t].tolist(),
        "sum": factors.product_of_concatenations().tolist(),
        "b_h": net.b_h[None].tolist(),
        "state": run.state[t - 1 : t].tolist(),
    }
