"""Scene 7, gradients made shorter: clipped, and cut at random."""

import math
from typing import Any

import numpy as np

from rnnviz import gradients
from rnnviz.i18n import _
from rnnviz.lecture import backwards, symbols
from rnnviz.lecture.controls import State
from rnnviz.lecture.machine import Machine

DRAWS = 10_000
FEW = 5
"""Draws that reach the farthest term, on average, below which the mean of all is not to be trusted."""

CURVE = tuple(sorted({round(10 ** (n / 12)) for n in range(49)}))


# ---- clipped -----------------------------------------------------------------------------------------


def clip_formula(state: State) -> str:
    """The rule."""
    return r"\s{g} \leftarrow \min\bigl(1, \tfrac{\s{theta}}{\lVert\s{g}\rVert}\bigr)\,\s{g}"


def clip_notice(state: State) -> str:
    """What happens to the arrow, and to the word's gradients."""
    norm, theta = Machine(steps=state["steps"]).backward().norm, state["threshold"]
    if norm <= theta:
        return _(
            "Clipping shortens what is longer than θ; the direction stays. "
            "The word's gradient is short enough."
        )
    return _(
        "Clipping shortens what is longer than θ; the direction stays. The word's gradient: times {factor}."
    ).format(factor=f"{theta / norm:.2f}")


def clip(state: State) -> dict[str, Any]:
    """An arrow, and the gradients of the word's network."""
    g, theta = np.array(state["gradient"]), state["threshold"]
    clipped = gradients.clip(g, theta).gradient
    word = Machine(steps=state["steps"])
    back, shortened = word.backward(), word.clipped(theta)
    sizes = {
        name: [float(np.linalg.norm(g[name])) for g in (back.gradients, shortened)] for name in word.names
    }
    return {
        "gradient": g.tolist(),
        "clipped": clipped.tolist(),
        "norms": [float(np.linalg.norm(g)), float(np.linalg.norm(clipped))],
        "threshold": theta,
        "sizes": sizes,
        "numbers": sum(g.size for g in back.gradients.values()),
        "norm": back.norm,
        "short": math.sqrt(sum(after**2 for _before, after in sizes.values())),
        "factor": min(1.0, theta / back.norm),
        "inputs": word.inputs,
        "here": symbols.here({"theta": theta, "g": g}),
        "words": {
            "threshold": _("threshold"),
            "drag": _("Drag the arrow"),
            "across": _("first number of the gradient"),
            "up": _("second number of the gradient"),
            "gradient": _("gradient g"),
            "clipped": _("clipped"),
            "word": _("“{inputs}”: {count} derivatives are one gradient g"),
            "sizes": _("length of each part, before and after"),
            "all": _("all"),
        },
    }


# ---- cut at random -----------------------------------------------------------------------------------


def random_formula(state: State) -> str:
    """The estimate, and why it is right on average."""
    return (
        r"\s{z_t} = \tfrac{\partial \s{f_t}}{\partial \s{w}} + "
        r"\s{xi_t}\,\tfrac{\partial \s{f_t}}{\partial \s{h_t-1.one}}\,\s{z_t-1},"
        r"\quad \s{P}(\s{xi_t} = \tfrac{1}{\s{pi}}) = \s{pi}"
        r"\ \Rightarrow\ \s{E}[\s{z_t}] = \tfrac{\partial \s{h_t}}{\partial \s{w}}"
    )


def random_notice(state: State) -> str:
    """Why a random cut is right on average."""
    if state["keep"] == 1:
        return _("At π = 1 nothing is cut: every draw is the full gradient.")
    if DRAWS * state["keep"] ** (backwards.STEPS - 1) < FEW:
        return _(
            "On average it is the full gradient. But so few draws go far that the mean of 10,000 may miss it."
        )
    return _(
        "A random cut keeps far terms less often and weighs them more then. "
        "On average it is the full gradient."
    )


def random(state: State) -> dict[str, Any]:
    """Weights of each term: all 1, cut regularly, and in four draws; and the mean of many estimates."""
    chain = backwards.chain(backwards.WEIGHT, state["seed"])
    keep = state["keep"]
    weights = backwards.random_weights(keep, DRAWS, state["draw"])  # (N, T)
    estimates = weights @ chain.terms  # (N,)
    mean = np.cumsum(estimates) / np.arange(1, DRAWS + 1)
    spread = backwards.spread(chain, keep)
    return {
        "keep": keep,
        "draw": state["draw"],
        "steps": backwards.STEPS,
        "draws": DRAWS,
        "terms": np.round(chain.terms, 8).tolist(),
        "weights": np.round(weights[:3], 8).tolist(),
        "average": np.round(weights.mean(axis=0), 8).tolist(),
        "estimates": np.round(estimates[:3], 8).tolist(),
        "at": CURVE,
        "mean": [round(float(mean[n - 1]), 5) for n in CURVE],
        "band": [round(2 * spread / math.sqrt(n), 5) for n in CURVE],
        "full": chain.gradient,
        "regular": chain.truncated(state["cut"]),
        "cut": state["cut"],
        "here": symbols.here({"w": chain.w, "pi": keep, "h_t": round(float(chain.states[-1]), 4)}),
        "last": float(mean[-1]),
        "error": spread / math.sqrt(DRAWS),
        "words": {
            "keep": _("probability of going on, π"),
            "cut": _("regular cut after"),
            "draw": _("New random numbers"),
            "net": _("One unit, twelve steps: {net}; z estimates ∂h/∂w.").format(
                net=f"hₜ = f(xₜ, hₜ₋₁, w) = tanh(xₜ + w hₜ₋₁), w = {chain.w:g}"
            ),
            "weights": _("what each term is multiplied by"),
            "average": _("mean of 10,000"),
            "lag": _("{n} steps back"),
            "mean": _("mean of the estimates z of ∂h/∂w"),
            "count": _("draws"),
            "band": _("shaded: ± 2 standard errors"),
            "whole": _("full"),
            "regular": _("regular cut"),
            "random": _("random {n}"),
            "cures": _("Neither cures vanishing: a small term stays small."),
            "result": _("mean of 10,000 draws: {mean}, standard error {error}; full gradient: {full}"),
        },
    }
