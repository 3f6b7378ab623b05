"""Scene 7: gradients on their way back, and what makes them vanish, explode, or stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.lecture import backwards
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 5
FLOW, DIAL, CLIP, CUT, RANDOM = range(STEPS)

TEXT = "The Time Traveller put his hand on the lever, and the room went dark before our eyes."
LONGEST = 120
CELLS = ("rnn", "gru", "lstm")
SEED = 1
HIGHEST = 999
LEAST, MOST = 0.6, 1.4  # of the dial
RADII = [round(float(r), 3) for r in np.linspace(LEAST, MOST, 41)]
TIME_STEPS = 12
DRAWS = 10_000
CURVE = tuple(sorted({round(10 ** (n / 12)) for n in range(49)}))


def notice(state: State) -> str:
    """What to notice."""
    return [
        _(
            "Every step back costs the RNN about the same factor: a straight line down. "
            "The GRU's gates let the gradient pass for longer."
        ),
        _("Below 1 every step back shrinks the gradient, above 1 it grows: the largest eigenvalue decides."),
        _("Clipping shortens an arrow that is too long. Where it points to stays the same."),
        _("Values cross the cut, gradients stop at it: the terms beyond it are simply left out."),
        _("Seldom going far back, but then weighing it more: on average it is the full gradient."),
    ][state["step"]]


def formula(state: State) -> str:
    """The step's formula."""
    return [
        (
            r"\tfrac{\partial L_T}{\partial \mathbf{H}_t} = \tfrac{\partial L_T}{\partial \mathbf{H}_T}\,"
            r"\textstyle\prod_{j=t+1}^{T} \tfrac{\partial \mathbf{H}_j}{\partial \mathbf{H}_{j-1}}"
        ),
        (
            r"\bigl\lVert \mathbf{W}_{hh}^{\,k} \bigr\rVert \sim \rho^{\,k},"
            r"\quad \rho = \textstyle\max_i |\lambda_i|"
        ),
        r"\mathbf{g} \leftarrow \min\bigl(1, \tfrac{\theta}{\lVert\mathbf{g}\rVert}\bigr)\,\mathbf{g}",
        (
            r"\tfrac{\partial h_T}{\partial w} = \textstyle\sum_{k=0}^{T-1} "
            r"\tfrac{\partial f_{T-k}}{\partial w}"
            r"\prod_{j=T-k+1}^{T} \tfrac{\partial f_j}{\partial h_{j-1}}"
        ),
        (
            r"z_t = \tfrac{\partial f_t}{\partial w} + "
            r"\xi_t\,\tfrac{\partial f_t}{\partial h_{t-1}}\,z_{t-1},"
            r"\quad P(\xi_t = \tfrac{1}{\pi}) = \pi,\quad E[\xi_t] = 1"
        ),
    ][state["step"]]


def initial(query: Mapping[str, str]) -> State:
    """Everything the address holds, and the usual where it says nothing."""
    return {
        "text": given.text(query.get("text"), LONGEST) or TEXT,
        "radius": given.number(query.get("radius"), LEAST, MOST) or 0.9,
        "power": given.whole(query.get("power"), 1, backwards.LAGS) or 8,
        "seed": given.whole(query.get("seed"), 0, HIGHEST) if "seed" in query else SEED,
        "threshold": given.number(query.get("theta"), 0.1, 100.0) or 1.0,
        "gradient": [3.0, 2.0],
        "cut": given.whole(query.get("cut"), 1, TIME_STEPS) or 4,
        "keep": given.number(query.get("pi"), 0.3, 1.0) or 0.7,
        "draw": given.whole(query.get("draw"), 0, HIGHEST) or 0,
    }


_NAMES = {
    "text": "text",
    "radius": "radius",
    "power": "power",
    "threshold": "theta",
    "cut": "cut",
    "keep": "pi",
    "draw": "draw",
}
_SHOWN = {
    FLOW: ("text",),
    DIAL: ("radius", "power"),
    CLIP: ("radius", "threshold"),
    CUT: ("cut",),
    RANDOM: ("keep", "draw"),
}


def query(state: State) -> dict[str, str]:
    """What differs from the usual, of the step that is shown."""
    usual = initial({})
    found = {_NAMES[k]: str(state[k]) for k in _SHOWN[state["step"]] if state[k] != usual[k]}
    if state["step"] != FLOW and state["seed"] != SEED:
        found["seed"] = str(state["seed"])
    return found


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """The step that is shown, and nothing of the others."""
    state = _taken(state, ask)
    name, show = (("flow", _flow), ("dial", _dial), ("clip", _clip), ("cut", _cut), ("random", _random))[
        state["step"]
    ]
    return state, {"show": name, **show(state, context)}


def _taken(state: State, ask: Ask) -> State:
    """The state after what is valid in `ask`."""
    wishes = {
        "text": given.text(ask.get("text"), LONGEST),
        "radius": given.number(ask.get("radius"), LEAST, MOST),
        "power": given.whole(ask.get("power"), 1, backwards.LAGS),
        "seed": given.whole(ask.get("seed"), 0, HIGHEST),
        "threshold": given.number(ask.get("threshold"), 0.1, 100.0),
        "cut": given.whole(ask.get("cut"), 1, TIME_STEPS),
        "keep": given.number(ask.get("keep"), 0.3, 1.0),
        "draw": given.whole(ask.get("draw"), 0, HIGHEST),
    }
    found = {**state, **{name: wish for name, wish in wishes.items() if wish is not None}}
    if len(found["text"]) < 2:
        found["text"] = state["text"]
    arrow = ask.get("gradient")
    if isinstance(arrow, list) and len(arrow) == 2:
        new = [given.number(v, -5, 5) for v in arrow]
        if None not in new:
            found["gradient"] = new
    return found


def _flow(state: State, context: Context) -> dict[str, Any]:
    curves: list[dict[str, Any]] = []
    for cell in CELLS:
        found = backwards.flow(context.network(f"timemachine-{cell}"), state["text"])
        curves.append({"cell": cell, "points": _short(found.hidden)})
        if found.cell is not None:
            curves.append({"cell": "memory", "points": _short(found.cell)})
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


def _dial(state: State, context: Context) -> dict[str, Any]:
    dial = backwards.dial(state["radius"], state["seed"])
    k = state["power"]
    power = dial.matrix_power(k)
    return {
        "radius": state["radius"],
        "range": [LEAST, MOST],
        "power": k,
        "lags": backwards.LAGS,
        "seed": state["seed"],
        "matrix": [[round(v, 4) for v in row] for row in power.tolist()],
        "size": float(np.linalg.norm(power, 2)),
        "eigenvalues": [[round(z.real, 4), round(z.imag, 4)] for z in dial.eigenvalues.tolist()],
        "linear": _short(dial.linear),
        "tanh": _short(dial.tanh),
        "rule": _short(dial.power),
        "words": {
            "dial": _("largest eigenvalue modulus"),
            "power": _("power k"),
            "plane": _("eigenvalues"),
            "norm": _("gradient norm"),
            "lag": _("steps back, k"),
            "seed": _("Other matrix"),
        },
    }


def _clip(state: State, context: Context) -> dict[str, Any]:
    g = np.array(state["gradient"])
    clipped = backwards.clip(g, state["threshold"])
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


def _cut(state: State, context: Context) -> dict[str, Any]:
    chain = backwards.chain(backwards.WEIGHT, state["seed"], steps=TIME_STEPS)
    return {
        "cut": state["cut"],
        "steps": TIME_STEPS,
        "seed": state["seed"],
        "w": chain.w,
        "states": [round(v, 3) for v in chain.states.tolist()],
        "terms": [round(v, 5) for v in chain.terms.tolist()],
        "full": chain.gradient,
        "truncated": chain.truncated(state["cut"]),
        "words": {
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


def _random(state: State, context: Context) -> dict[str, Any]:
    chain = backwards.chain(backwards.WEIGHT, state["seed"], steps=TIME_STEPS)
    keep = state["keep"]
    lengths = backwards.draw(keep, DRAWS, state["draw"], steps=TIME_STEPS)
    weights = backwards.weights(lengths, keep, TIME_STEPS)
    estimates = weights @ chain.terms
    counts = np.arange(1, DRAWS + 1)
    mean = np.cumsum(estimates) / counts
    spread = float(estimates.std())
    return {
        "keep": keep,
        "draw": state["draw"],
        "steps": TIME_STEPS,
        "draws": DRAWS,
        "terms": [round(v, 5) for v in chain.terms.tolist()],
        "weights": [[round(v, 3) for v in row] for row in weights[:4].tolist()],
        "average": [round(v, 3) for v in weights.mean(axis=0).tolist()],
        "estimates": [round(v, 4) for v in estimates[:4].tolist()],
        "at": CURVE,
        "mean": [round(float(mean[n - 1]), 5) for n in CURVE],
        "band": [round(spread / math.sqrt(n), 5) for n in CURVE],
        "full": chain.gradient,
        "regular": chain.truncated(state["cut"]),
        "cut": state["cut"],
        "last": float(mean[-1]),
        "error": spread / math.sqrt(DRAWS),
        "words": {
            "keep": _("probability of going on, π"),
            "draw": _("Draw anew"),
            "weights": _("weight of each step, in four draws"),
            "average": _("mean of 10,000"),
            "lag": _("steps back"),
            "mean": _("mean of the estimates"),
            "count": _("draws"),
            "full": _("full gradient"),
            "regular": _("regular cut after {n}"),
            "result": _("mean of 10,000 draws: {mean} ± {error}; full gradient: {full}"),
        },
    }


def _short(values: Any) -> list[float]:
    """Four digits are all that a curve shows; what is beyond all numbers becomes the largest."""
    return [float(f"{min(float(v), 1e300):.4g}") for v in values]
