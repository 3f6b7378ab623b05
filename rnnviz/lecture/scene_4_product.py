"""Scene 4: the two products of a time step are one product of concatenated matrices."""

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import Control, Valid, again, list_of, number, slider, toggle, whole
from rnnviz.lecture.machine import SYMBOLS, Machine
from rnnviz.lecture.number_format import rough
from rnnviz.lecture.primitives import Node, column, inline, matrix, text
from rnnviz.lecture.scene_3_recurrence import WEIGHTS
from rnnviz.lecture.steps import StepPicture, step

TITLE = N_("One product")

_TWO = r"\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh}"
_JOINED = {"X_t H_t-1": r"[\s{X_t},\ \s{H_t-1}]", "W_xh W_hh": WEIGHTS}
_ONE = r"\ ".join(_JOINED.values())


SHAPES = [(3, 1), (1, 4), (3, 4), (4, 4)]
"""The shapes of X_t, W_xh, H_{t-1} and W_hh."""


def _matrix(rows: int, columns: int) -> Valid:
    return list_of(*[list_of(*[number(-9.99, 9.99)] * columns)] * rows)


@step(
    N_("Side by side"),
    f"{_TWO} = {_ONE}",
    say=N_("Two products are added. Now put the factors together: no number changes, only its place."),
    prompt=N_("Along which axis are X and H joined? And the weights?"),
    covers=(14,),
    seed=again(1, N_("New random numbers")),
    together=toggle(N_("Put them together"), N_("Take them apart")),
)
def joined(seed: int, together: int) -> StepPicture:
    generator = np.random.default_rng(seed)
    X, W_xh, H, W_hh = [generator.standard_normal(shape).round(2) for shape in SHAPES]
    both = X @ W_xh + H @ W_hh
    XH = np.concatenate([X, H], axis=1)
    W = np.concatenate([W_xh, W_hh], axis=0)
    # show
    result = matrix(both, title=_TWO, full=4)
    if not together:
        notice = _(
            "(3, 1)(1, 4) + (3, 4)(4, 4) = (3, 4): each number on the right adds two row-times-column"
            " products: the input's and the state's."
        )
        of_input, of_state = (
            (matrix(X, "X_t"), matrix(W_xh, "W_xh")),
            (matrix(H, "H_t-1"), matrix(W_hh, "W_hh")),
        )
        return inline(*of_input, text("+", "large"), *of_state, text("=", "large"), result), notice
    left, right = (
        matrix(factor, names, title=_JOINED[names]) for factor, names in zip((XH, W), _JOINED, strict=True)
    )
    notice = _(
        "Side by side (axis 1), (3, 1) and (3, 4) become (3, 5). One above the other (axis 0), "
        "(1, 4) and (4, 4) become (5, 4). No number has changed."
    )
    return inline(left, right, text("=", "large"), result), notice


@step(
    N_("One product gives the same"),
    f"{_TWO} = {_ONE}",
    say=N_("One product gives what two gave. Let someone change a number: both sides follow."),
    prompt=N_("Which row and which column make the framed number?"),
    covers=(12, 14),
    minutes=2,
    seed=again(1, N_("New random numbers"), resets=("typed",)),
    typed=Control(list_of(*(_matrix(*shape) for shape in SHAPES)), in_address=False),
    at=Control(whole(0, 11), 0),
)
def one(seed: int, typed: list[Doubles] | None, at: int) -> StepPicture:
    generator = np.random.default_rng(seed)
    random = [generator.standard_normal(shape).round(2) for shape in SHAPES]
    X, W_xh, H, W_hh = map(np.array, typed or random)
    both = X @ W_xh + H @ W_hh
    joined = np.concatenate([X, H], axis=1) @ np.concatenate([W_xh, W_hh], axis=0)
    # show
    i, j = divmod(at, 4)
    factors = [X, W_xh, H, W_hh]

    def factor(n: int, name: str) -> Node:
        """One of the four, with its part of the framed number lit."""
        lit = [(a, b) for a, b in np.ndindex(factors[n].shape) if (b == j if n % 2 else a == i)]
        return matrix(factors[n], name, edit=("typed", n, factors), lit=lit)

    x, w_xh, h, w_hh = (factor(n, name) for n, name in enumerate(["X_t", "W_xh", "H_t-1", "W_hh"]))
    two = matrix(both, title=_TWO, lit=[(i, j)], pick="at", full=4)
    product = matrix(joined, title=_ONE, lit=[(i, j)], pick="at", full=4)
    notice = _(
        "X and H are joined along axis 1, the weights along axis 0. (3, 5)(5, 4) = (3, 4): the "
        "same matrix, but for rounding: {difference}. Click a number to change it."
    )
    picture = column(inline(x, h, column(w_xh, w_hh)), inline(two, text("=", "large"), product))
    return picture, notice.format(difference=rough(abs(both - joined).max(), 1))


@step(
    N_("On a word"),
    rf"\s{{H_t}} = \s{{phi}}\bigl({_ONE} + \s{{b_h}}\bigr)",
    say=N_("The word's network, too: one product, the bias and φ."),
    prompt=N_("Which entry of the input row is 1?"),
    covers=(14,),
    appendix=True,
    t=slider(1, 6, 1, 3, N_("time step t"), stands="t"),
)
def word(t: int) -> StepPicture:
    word = Machine()
    X, H = word.forward.x[t - 1 : t], word.forward.before[t - 1 : t]
    W = np.concatenate([word.net.W_xh, word.net.W_hh], axis=0)
    H_t = np.tanh(np.concatenate([X, H], axis=1) @ W + word.net.b_h)
    # show
    x = matrix(X, "X_t", columns=SYMBOLS, look="small")
    h = matrix(H, "H_t-1", look="small")
    picked = [(word.ids[t - 1], j) for j in range(4)]
    weights = matrix(W, "W_xh W_hh", title=WEIGHTS, rows=[*SYMBOLS, *"    "], lit=picked, look="small")
    state = column(matrix(word.net.b_h, "b_h"), matrix(H_t, "H_t"), look="middle")
    return inline(column(x, h, look="middle"), weights, state), _(
        "Step {t} of “machine”: the 1 at “{character}” picks the framed row. "
        "With the bias and φ the product is the next state."
    ).format(t=t, character=word.inputs[t - 1])
