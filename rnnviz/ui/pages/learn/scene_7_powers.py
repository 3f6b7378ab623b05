"""Scene 7, why gradients vanish or explode: trained networks, and the powers of a matrix."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.gradients import state_gradients
from rnnviz.i18n import _
from rnnviz.lecture import backwards, symbols
from rnnviz.lecture.controls import State
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.question_words import said

LONGEST = 120
CELLS = ("rnn", "gru", "lstm")
LEAST, MOST = 0.6, 1.4  # of the dial
NORMS = (1e-13, 1e7)
"""The dial's axis: no curve of any seed and radius leaves it."""

EARLY = 10
"""Steps back after which the LSTM is compared with the RNN."""


# ---- how far it reaches in trained networks ----------------------------------------------------------


def flow_formula(state: State) -> str:
    """The chain rule."""
    return (
        r"\tfrac{\partial \s{l_T}}{\partial \s{H_t}} = "
        r"\tfrac{\partial \s{l_T}}{\partial \s{H_T}}\,"
        r"\tfrac{\partial \s{H_T}}{\partial \s{H_T-1}} \cdots "
        r"\tfrac{\partial \s{H_t+1}}{\partial \s{H_t}}"
    )


def flow_notice(state: State) -> str:
    """By what the way back multiplies: in the end, and early, where an LSTM may do no better than an RNN."""
    text = state["text"]
    there = {name: norm for name, norm in norms(text).items() if norm[0] > 0}
    if len(text) < 3 or len(there) < len(CELLS):
        return _("Here is no way back yet: type a longer text.")
    k = min(EARLY, len(text) - 2)
    early, gated = (rough(there[name][k] / there[name][0]) for name in ("rnn", "lstm"))
    return _(
        "On the right: what is left of the gradient {n} steps back. At k = {k}: RNN {early}, LSTM {gated}."
    ).format(n=len(text) - 2, k=k, early=early, gated=gated)


@lru_cache(maxsize=32)
def norms(text: str) -> dict[str, npt.NDArray[np.float64]]:
    """The last character's loss by the state before it and all earlier ones but the start symbol's. An LSTM's
    state is H with C: what it hands on by C alone must not be missed.
    """
    found = {}
    for cell in CELLS:
        back = state_gradients(models.network(f"timemachine-{cell}"), text, at=len(text) - 1)
        hidden = back.hidden[:-1, -1]
        found[cell] = hidden if back.cell is None else np.hypot(hidden, back.cell[:-1, -1])
    return found


def flow(state: State) -> dict[str, Any]:
    """A curve for each network."""
    curves = [
        {"cell": name, "points": short(norm), "left": rough(norm[-1] / norm[0]) if norm[0] else ""}
        for name, norm in norms(state["text"]).items()
    ]
    return {
        "text": state["text"],
        "limit": LONGEST,
        "curves": curves,
        "words": {
            "text": _("text"),
            "norm": _("size of ∂ℓ/∂H"),
            "lag": _("steps back, k"),
            "gates": _(
                "GRU and LSTM have gates, which can pass a state on almost unchanged. "
                "An LSTM's state is H with C."
            ),
        },
    }


# ---- the dial ----------------------------------------------------------------------------------------


def dial_formula(state: State) -> str:
    """What ρ is the rate of."""
    return (
        r"\textstyle\lim_{\s{k}\to\infty} \bigl\lVert (\s{W_hh})^{\s{k}} \bigr\rVert^{1/\s{k}} = \s{rho},"
        r"\quad \s{rho} = \max_{\s{i_eigenvalue}} |\s{lambda_i}|"
    )


def dial_notice(state: State) -> str:
    """What the curves do in the long run and on the way."""
    dial = backwards.dial(state["radius"], state["seed"])
    change = np.diff(dial.linear)
    return _(
        "In the long run the linear gradient follows ρᵏ; {up} of {n} steps enlarge it. "
        "{linear} arrives, with tanh {tanh}."
    ).format(
        n=len(change),
        up=int((change > 0).sum()),
        tanh=rough(dial.tanh[-1]),
        linear=rough(dial.linear[-1]),
    )


def dial(state: State) -> dict[str, Any]:
    """The matrix, its power, its eigenvalues, and the gradients."""
    dial = backwards.dial(state["radius"], state["seed"])
    k = state["power"]
    power = np.linalg.matrix_power(dial.matrix, k)
    return {
        "radius": state["radius"],
        "range": [LEAST, MOST],
        "power": k,
        "lags": backwards.LAGS,
        "seed": state["seed"],
        "matrix": np.round(power, 8).tolist(),
        "size": float(np.linalg.norm(power, 2)),
        "eigenvalues": [[round(z.real, 4), round(z.imag, 4)] for z in dial.eigenvalues.tolist()],
        "linear": short(dial.linear),
        "tanh": short(dial.tanh),
        "rule": short(dial.power),
        "norms": NORMS,
        "here": symbols.here({"rho": state["radius"], "k": k, "W_hh": dial.matrix}),
        "words": {
            "dial": _("largest eigenvalue modulus"),
            "power": _("power k"),
            "linear": _("linear"),
            "plane": _("eigenvalues λ"),
            "norm": _("size of ∂L/∂H"),
            "lag": _("steps back, k"),
            "seed": _("Other matrix"),
        },
    }


def rough(value: float) -> str:
    """Two digits that count."""
    return said(float(f"{value:.2g}"))


def short(values: Any) -> list[float]:
    """Round to four digits, clip to the finite numbers JSON can hold."""
    return [float(f"{min(float(v), 1e300):.4g}") for v in values]
