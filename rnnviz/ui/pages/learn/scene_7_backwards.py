"""Scene 7: gradients on their way back, and what makes them vanish, explode, or stop."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.gradients import clip, state_gradients
from rnnviz.lecture import backwards
from rnnviz.lecture.questions import SEED, TEXT
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.controls import Control, State, number, numbers, text, whole
from rnnviz.ui.pages.learn.question_words import said

NAMES = ("flow", "dial", "clip", "cut", "random")
STEPS = len(NAMES)
FLOW, DIAL, CLIP, CUT, RANDOM = range(STEPS)

LONGEST = 120
CELLS = ("rnn", "gru", "lstm")
LEAST, MOST = 0.6, 1.4  # of the dial
RADII = [round(float(r), 3) for r in np.linspace(LEAST, MOST, 41)]
NORMS = (1e-13, 1e7)
"""The dial's axis: no curve of any seed and radius leaves it."""

EARLY = 10
"""Characters back after which an LSTM is compared with an RNN."""

DRAWS = 10_000
CURVE = tuple(sorted({round(10 ** (n / 12)) for n in range(49)}))

CONTROLS = (
    Control("text", text(LONGEST, least=2), TEXT, steps=[FLOW]),
    Control("radius", number(LEAST, MOST), 0.9, steps=[DIAL, CLIP]),
    Control("power", whole(1, backwards.LAGS), 8, steps=[DIAL]),
    Control("seed", whole(0, 999), SEED, steps=[DIAL, CLIP, CUT, RANDOM]),
    Control("threshold", number(0.1, 100), 1.0, address="theta", steps=[CLIP]),
    Control("gradient", numbers(-5, 5, count=2), [3.0, 2.0], address=""),
    Control("cut", whole(1, backwards.STEPS), 4, steps=[CUT]),
    Control("keep", number(0.3, 1.0), 0.7, address="pi", steps=[RANDOM]),
    Control("draw", whole(0, 999), 1, steps=[RANDOM]),
)


def notice(state: State) -> str:
    """What to notice; about the first two pictures, from their numbers: they can go either way."""
    return [
        _flow_notice(state["text"]),
        _dial_notice(state["radius"], state["seed"]),
        _("Clipping shortens an arrow that is too long. Where it points to stays the same."),
        _("Values cross the cut, gradients stop at it: the terms beyond it are simply left out."),
        _("Seldom going far back, but then weighing it more: on average it is the full gradient."),
    ][state["step"]]


def _flow_notice(text: str) -> str:
    norms = {name: norm for name, norm in _norms(text).items() if norm[0] > 0}
    if len(text) < 3 or not {"rnn", "gru", "lstm", "memory"} <= norms.keys():
        return _("Here is no way back yet: type a longer text.")
    factors = {name: _rough(norm[-1] / norm[0]) for name, norm in norms.items()}
    k = min(EARLY, len(text) - 2)
    early, gated = (_rough(norms[name][k] / norms[name][0]) for name in ("rnn", "lstm"))
    return _(
        "Over {n} characters back the gradient is multiplied by: RNN {rnn}, GRU {gru}, LSTM {lstm}, "
        "its cell {memory}. After {k} characters: RNN {early}, LSTM {gated}."
    ).format(n=len(text) - 2, **factors, k=k, early=early, gated=gated)


def _dial_notice(radius: float, seed: int) -> str:
    dial = backwards.dial(radius, seed)
    change = np.diff(dial.linear)
    return _(
        "In the long run the linear network's gradient follows ρᵏ. On the way {up} of {n} steps make it "
        "larger and {down} smaller. With tanh, whose slope is at most 1, {tanh} arrives instead of {linear}."
    ).format(
        n=len(change),
        up=int((change > 0).sum()),
        down=int((change < 0).sum()),
        tanh=_rough(dial.tanh[-1]),
        linear=_rough(dial.linear[-1]),
    )


def _rough(value: float) -> str:
    return said(float(f"{value:.2g}"))


def formula(state: State) -> str:
    """The step's formula."""
    return [
        (
            r"\tfrac{\partial \s{l_T}}{\partial \s{H_t}} = "
            r"\tfrac{\partial \s{l_T}}{\partial \s{H_T-1}}\,"
            r"\tfrac{\partial \s{H_T-1}}{\partial \s{H_T-2}} \cdots "
            r"\tfrac{\partial \s{H_t+1}}{\partial \s{H_t}}"
        ),
        (
            r"\textstyle\lim_{\s{k}\to\infty} \bigl\lVert (\s{W_hh})^{\s{k}} \bigr\rVert^{1/\s{k}} = \s{rho},"
            r"\quad \s{rho} = \max_{\s{i_eigenvalue}} |\s{lambda_i}|"
        ),
        r"\s{g} \leftarrow \min\bigl(1, \tfrac{\s{theta}}{\lVert\s{g}\rVert}\bigr)\,\s{g}",
        (
            r"\tfrac{\partial \s{h_T}}{\partial \s{w}} = \textstyle\sum_{\s{k}=0}^{\s{T}-1} "
            r"\tfrac{\partial \s{f_T-k}}{\partial \s{w}}"
            r"\prod_{\s{j_step}=\s{T}-\s{k}+1}^{\s{T}} \tfrac{\partial \s{f_j}}{\partial \s{h_j-1}}"
        ),
        (
            r"\s{z_t} = \tfrac{\partial \s{f_t}}{\partial \s{w}} + "
            r"\s{xi_t}\,\tfrac{\partial \s{f_t}}{\partial \s{h_t-1.one}}\,\s{z_t-1},"
            r"\quad \s{P}(\s{xi_t} = \tfrac{1}{\s{pi}}) = \s{pi}"
            r"\ \Rightarrow\ \s{E}[\s{z_t}] = \tfrac{\partial \s{h_t}}{\partial \s{w}}"
        ),
    ][state["step"]]


def picture(state: State) -> dict[str, Any]:
    """The current step's data."""
    show = (_flow, _dial, _clip, _cut, _random)[state["step"]]
    return {"show": show.__name__[1:], **show(state)}


@lru_cache(maxsize=32)
def _norms(text: str) -> dict[str, npt.NDArray[np.float64]]:
    """The last character's loss by the state before it and all earlier ones but the start symbol's, for each
    cell and for the LSTM's "memory".
    """
    found = {}
    for cell in CELLS:
        norms = state_gradients(models.network(f"timemachine-{cell}"), text, at=len(text) - 1)
        found[cell] = norms.hidden[:-1, -1]
        if norms.cell is not None:
            found["memory"] = norms.cell[:-1, -1]
    return found


def _flow(state: State) -> dict[str, Any]:
    curves = [{"cell": name, "points": _short(norm)} for name, norm in _norms(state["text"]).items()]
    return {
        "text": state["text"],
        "limit": LONGEST,
        "curves": curves,
        "words": {
            "text": _("text"),
            "norm": _("gradient norm"),
            "lag": _("characters back"),
            "memory": _("LSTM, its cell C"),
        },
    }


def _dial(state: State) -> dict[str, Any]:
    dial = backwards.dial(state["radius"], state["seed"])
    k = state["power"]
    power = np.linalg.matrix_power(dial.matrix, k)
    return {
        "radius": state["radius"],
        "range": [LEAST, MOST],
        "power": k,
        "lags": backwards.LAGS,
        "seed": state["seed"],
        "matrix": np.round(power, 4).tolist(),
        "size": float(np.linalg.norm(power, 2)),
        "eigenvalues": [[round(z.real, 4), round(z.imag, 4)] for z in dial.eigenvalues.tolist()],
        "linear": _short(dial.linear),
        "tanh": _short(dial.tanh),
        "rule": _short(dial.power),
        "norms": NORMS,
        "words": {
            "dial": _("largest eigenvalue modulus"),
            "power": _("power k"),
            "linear": _("linear"),
            "plane": _("eigenvalues"),
            "norm": _("gradient norm"),
            "lag": _("steps back, k"),
            "seed": _("Other matrix"),
        },
    }


def _clip(state: State) -> dict[str, Any]:
    g = np.array(state["gradient"])
    clipped = clip(g, state["threshold"]).gradient
    weights = [backwards.dial(r, state["seed"]).weight for r in RADII]
    return {
        "gradient": g.tolist(),
        "clipped": clipped.tolist(),
        "norms": [float(np.linalg.norm(g)), float(np.linalg.norm(clipped))],
        "threshold": state["threshold"],
        "radii": RADII,
        "weights": [round(w, 5) for w in weights],
        "cut": [round(min(w, state["threshold"]), 5) for w in weights],
        "words": {
            "threshold": _("threshold"),
            "drag": _("Drag the arrow"),
            "gradient": _("gradient"),
            "clipped": _("clipped"),
            "norm": _("norm of the gradient of the weights"),
            "radius": _("largest eigenvalue modulus"),
        },
    }


def _cut(state: State) -> dict[str, Any]:
    chain = backwards.chain(backwards.WEIGHT, state["seed"])
    return {
        "cut": state["cut"],
        "steps": backwards.STEPS,
        "seed": state["seed"],
        "w": chain.w,
        "states": np.round(chain.states, 3).tolist(),
        "terms": np.round(chain.terms, 5).tolist(),
        "full": chain.gradient,
        "truncated": chain.truncated(state["cut"]),
        "words": {
            "net": _net(chain.w),
            "forward": _("values go forwards"),
            "backward": _("gradients go back"),
            "cut": _("cut"),
            "full": _("full gradient"),
            "truncated": _("with the cut"),
            "missing": _("left out"),
            "terms": _("each step's term of the gradient"),
            "drag": _("Drag the cut"),
            "seed": _("Other inputs"),
        },
    }


def _random(state: State) -> dict[str, Any]:
    chain = backwards.chain(backwards.WEIGHT, state["seed"])
    keep = state["keep"]
    weights = backwards.random_weights(keep, DRAWS, state["draw"])  # (N, T)
    estimates = weights @ chain.terms  # (N,)
    counts = np.arange(1, DRAWS + 1)
    mean = np.cumsum(estimates) / counts
    spread = float(estimates.std())
    return {
        "keep": keep,
        "draw": state["draw"],
        "steps": backwards.STEPS,
        "draws": DRAWS,
        "terms": np.round(chain.terms, 5).tolist(),
        "weights": np.round(weights[:4], 3).tolist(),
        "average": np.round(weights.mean(axis=0), 3).tolist(),
        "estimates": np.round(estimates[:4], 4).tolist(),
        "at": CURVE,
        "mean": [round(float(mean[n - 1]), 5) for n in CURVE],
        "band": [round(2 * spread / math.sqrt(n), 5) for n in CURVE],
        "full": chain.gradient,
        "regular": chain.truncated(state["cut"]),
        "cut": state["cut"],
        "last": float(mean[-1]),
        "error": spread / math.sqrt(DRAWS),
        "words": {
            "keep": _("probability of going on, π"),
            "net": _net(chain.w),
            "draw": _("New random numbers"),
            "weights": _("weight of each step, in four draws"),
            "average": _("mean of 10,000"),
            "lag": _("steps back"),
            "mean": _("mean of the estimates"),
            "count": _("draws"),
            "band": _("shaded: ± 2 standard errors"),
            "full": _("full gradient"),
            "regular": _("regular cut after {n}"),
            "result": _("mean of 10,000 draws: {mean}, standard error {error}; full gradient: {full}"),
        },
    }


def _net(w: float) -> str:
    return f"hₜ = f(xₜ, w, hₜ₋₁) = tanh(xₜ + w hₜ₋₁),  w = {w:g}"


def _short(values: Any) -> list[float]:
    """Round to four digits, clip to the finite numbers JSON can hold."""
    return [float(f"{min(float(v), 1e300):.4g}") for v in values]
