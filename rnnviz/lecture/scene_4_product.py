"""Scene 4: the two products of a time step are one product of concatenated matrices."""

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.i18n import N_, _
from rnnviz.lecture.controls import Control, Valid, again, choice, list_of, number, whole
from rnnviz.lecture.machine import SYMBOLS, Machine
from rnnviz.lecture.number_format import rough
from rnnviz.lecture.primitives import Node, column, inline, matrix, text
from rnnviz.lecture.readers import load
from rnnviz.lecture.scene_3_recurrence import WEIGHTS
from rnnviz.lecture.steps import StepPicture, step

TITLE = N_("One product")

_TWO = r"\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh}"
_ONE = r"[\s{X_t},\ \s{H_t-1}]\ " + WEIGHTS


SHAPES = [(3, 1), (1, 4), (3, 4), (4, 4)]
"""The shapes of X_t, W_xh, H_{t-1} and W_hh."""


def _matrix(rows: int, columns: int) -> Valid:
    return list_of(*[list_of(*[number(-9.99, 9.99)] * columns)] * rows)


@step(
    N_("One product gives the same"),
    f"{_TWO} = {_ONE}",
    say=N_(
        "Side by side along axis 1, one above the other along axis 0: no number changes, only its place. Let "
        "someone change a number: both sides follow."
    ),
    prompt=N_("Along which axis are X and H joined? And the weights? Which row makes the framed number?"),
    covers=(12, 14),
    minutes=1.5,
    minutes_of_90=3,
    prints="joined.round(2)",
    seed=again(1, N_("New random numbers"), resets=("typed",)),
    typed=Control(list_of(*(_matrix(*shape) for shape in SHAPES)), in_address=False),
    at=Control(whole(0, 11), 0),
)
def one(seed: int, typed: list[Doubles] | None, at: int) -> StepPicture:
    generator = np.random.default_rng(seed)
    random = [generator.standard_normal(shape).round(2) for shape in SHAPES]
    X, W_xh, H, W_hh = map(np.array, typed or random)
    both = X @ W_xh + H @ W_hh
    XH = np.concatenate([X, H], axis=1)
    W = np.concatenate([W_xh, W_hh], axis=0)
    joined = XH @ W
    # in torch: torch.matmul(
    #     torch.cat((X, H), 1),
    #     torch.cat((W_xh, W_hh), 0))
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
        "same matrix, but for rounding: {difference}. Click or tap a number to change it."
    )
    picture = column(inline(x, h, column(w_xh, w_hh)), inline(two, text("=", "large"), product))
    return picture, notice.format(difference=rough(abs(both - joined).max(), 1))


@step(
    N_("A one-hot row picks a row"),
    r"\s{X_t}\s{W_xh}",
    say=N_(
        "Nobody multiplies by zeros: a library looks the row up. That table of rows is called an embedding."
    ),
    prompt=N_("Which numbers of the matrix does the product need?"),
    covers=(8, 19),
    appendix=True,
    prints="product, difference",
    letter=choice({c: c for c in SYMBOLS}, "c", N_("letter")),
)
def embedding(letter: str) -> StepPicture:
    net, i = Machine().net, SYMBOLS.index(letter)
    X_t = np.eye(len(SYMBOLS))[i]
    product = X_t @ net.W_xh
    difference = abs(product - net.W_xh[i]).max()
    # show
    gru = load("timemachine-gru")
    d, h = gru.config.embedding_size, gru.config.hidden_size
    lit = [(i, j) for j in range(4)]
    picture = column(
        inline(
            matrix(X_t, "X_t", columns=SYMBOLS, digits=0),
            matrix(net.W_xh, "W_xh", rows=SYMBOLS, lit=lit, digits=1),
            text("=", "large"),
            matrix(product, title=r"\s{X_t}\s{W_xh}", lit=[(0, j) for j in range(4)], digits=1),
        ),
        text(
            _(
                "The shipped GRU has such a table of {V} rows of {d} numbers, its embedding; each row is the "
                "input of its {h} units."
            ).format(V=gru.vocabulary.size, d=d, h=h),
            "large centre",
        ),
    )
    return picture, _(
        "The product with a one-hot row is the framed row of W_xh: their difference is {difference}. The "
        "multiplication is a look-up."
    ).format(difference=rough(difference))
