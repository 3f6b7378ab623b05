"""Scene 7, the word's own way back: step by step, and with a cut."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import symbols
from rnnviz.lecture.controls import State
from rnnviz.lecture.machine import Machine

NETS = ("state", "memoryless")


def _recurrent(state: State) -> bool:
    return bool(state["net"] == NETS[0])


def _machine(state: State) -> Machine:
    return Machine(steps=state["steps"], recurrent=_recurrent(state))


def _cached(word: Machine) -> dict[str, Any]:
    """How many numbers of each kind a step keeps, and all of them together."""
    kept = word.cached()
    return {
        "each": {name: array.shape[1] for name, array in kept.items()},
        "numbers": sum(array.size for array in kept.values()),
        "bytes": sum(array.nbytes for array in kept.values()),
    }


# ---- step by step ------------------------------------------------------------------------------------


def walk_formula(state: State) -> str:
    """A state's gradient, and the weights'."""
    back = r" + \s{delta_t+1}\s{W_hh}^\top" if _recurrent(state) else ""
    weights = (
        r"\tfrac{\partial \s{L}}{\partial \s{W_hh}} = "
        r"\textstyle\sum_{\s{t}=1}^{\s{T}} \s{H_t-1}^\top\s{delta_t}"
        if _recurrent(state)
        else r"\s{delta_t} = \tfrac{\partial \s{L}}{\partial \s{H_t}} \odot \s{phi}'(\s{A_t})"
    )
    return (
        r"\tfrac{\partial \s{L}}{\partial \s{H_t}} = "
        r"\tfrac{\partial \s{L}}{\partial \s{O_t}}\s{W_hq}^\top" + back + r",\quad " + weights
    )


def walk_notice(state: State) -> str:
    """What the step just walked to shows."""
    T, walked = state["steps"], min(state["walked"], state["steps"])
    t = T + 1 - walked
    if not _recurrent(state):
        return _(
            "No step hands anything back: only a network with a state needs backpropagation through time."
        )
    if not walked:
        return _(
            "Every step keeps what the way back will read: {numbers} numbers for {steps} steps. "
            "Now go back, step by step."
        ).format(numbers=_cached(_machine(state))["numbers"], steps=T)
    if t == T:
        return _("Nothing comes after the last step: its state hears of its own loss alone.")
    if t > 1:
        return _(
            "H changes the loss of its own step and, through the next state, every later loss. "
            "Both gradients add up."
        )
    return _(
        "The first term is zero, because H₀ = 0. The others add up to the gradient of the recurrent weights."
    )


def walk(state: State) -> dict[str, Any]:
    """Every number of the way back; row t - 1 is step t."""
    word = _machine(state)
    there, back = word.forward, word.backward()
    added = np.cumsum(back.terms[::-1], axis=0)[::-1]  # from the last step on
    rows = {
        "output": back.output,
        "fromLoss": back.from_loss,
        "fromNext": back.from_next,
        "state": back.state,
        "slope": back.slope,
        "delta": back.delta,
        "before": there.before,
        "terms": back.terms,
        "added": added,
    }
    return {
        "steps": word.steps,
        "walked": min(state["walked"], word.steps),
        "recurrent": _recurrent(state),
        "inputs": list(word.inputs),
        "labels": list(word.labels),
        "alphabet": list(word.symbols),
        "loss": there.loss,
        "losses": there.losses.tolist(),
        "chances": np.exp(-there.losses).tolist(),
        **{name: _rounded(values) for name, values in rows.items()},
        "cached": _cached(word),
        "here": _symbols(word, word.steps + 1 - min(state["walked"], word.steps)),
        "words": {
            "steps": _("time steps T"),
            "walked": _("steps back"),
            "back": _("One step back"),
            "again": _("Start again"),
            "kind": _("hidden state"),
            "with": _("with a state"),
            "without": _("without"),
            "variable": _("variable"),
            "parameter": _("parameter"),
            "operator": _("operator"),
            "mean": _("L = {loss} nats"),
            "step": _("t = {t}: reads {input}, label {label}"),
            "start": _("The way there: every step has its loss."),
            "there": _("t = {t}: reads {input}, should say {label}: P = {p}, ℓ{low} = {loss} nats"),
            "asks": _("what ℓ{t} asks"),
            "hands": _("what step {t} hands back"),
            "none": _("no step after it"),
            "nothing": _("no step hands anything back"),
            "sum": _("their sum"),
            "slope": _("slope of tanh"),
            "term": _("term of this step"),
            "added": _("added up so far"),
            "kept": _("numbers kept a step"),
            "total": _("T = {steps}: {numbers} numbers of 8 bytes, {bytes} bytes."),
        },
    }


def _symbols(word: Machine, t: int) -> dict[str, Any]:
    """The formula's symbols at step t; those of a step that isn't there have no value."""
    there, back, net = word.forward, word.backward(), word.net
    values: dict[str, Any] = {"T": word.steps, "L": round(there.loss, 4), "W_hh": net.W_hh, "W_hq": net.W_hq}
    if t <= word.steps:
        values |= {
            "t": t,
            "H_t": there.state[t - 1],
            "H_t-1": there.before[t - 1],
            "O_t": there.output[t - 1],
        }
        values |= {"A_t": there.pre_activation[t - 1], "delta_t": back.delta[t - 1]}
    if t < word.steps:
        values["delta_t+1"] = back.delta[t]
    return symbols.here(values)


# ---- with a cut --------------------------------------------------------------------------------------


def cut_formula(state: State) -> str:
    """The gradient as a sum over pairs."""
    return (
        r"\tfrac{\partial \s{L}}{\partial \s{W_hh}} = \textstyle\sum_{\s{t}=1}^{\s{T}}\sum_{\s{s}=1}^{\s{t}}"
        r"\s{H_s-1}^\top\s{delta_ts},"
        r"\quad \s{delta_ts} = \tfrac{1}{\s{T}}\tfrac{\partial \s{l_t}}{\partial \s{A_s}}"
    )


def cut_notice(state: State) -> str:
    """What the cut leaves out."""
    heard = Machine(steps=state["length"]).heard(_tau(state))
    out = int(np.tril(~heard).sum())
    if not out:
        return _("Without a cut each loss is heard by every step before it: nothing is left out.")
    return _(
        "States cross a cut, gradients don't: {out} of {count} terms, from across a cut, are left out."
    ).format(out=out, count=len(heard) * (len(heard) + 1) // 2)


def _tau(state: State) -> int:
    return int(min(state["tau"], state["length"]))


def cut(state: State) -> dict[str, Any]:
    """The terms by their loss and their step, and what a cut after τ steps leaves of them."""
    word, tau = Machine(steps=state["length"]), _tau(state)
    pairs, heard = word.pairs(), word.heard(tau)
    full, left = word.backward().gradients["W_hh"], word.backward(tau).gradients["W_hh"]
    whole = _cached(word)
    return {
        "steps": word.steps,
        "tau": tau,
        "inputs": list(word.inputs),
        "states": _rounded(word.forward.state),
        "sizes": _rounded(np.linalg.norm(pairs, axis=(2, 3))),
        "heard": heard.tolist(),
        "full": _rounded(full),
        "left": _rounded(left),
        "norms": [float(np.linalg.norm(g)) for g in (full, left, full - left)],
        "kept": [whole["numbers"], whole["numbers"] * tau // word.steps],
        "here": symbols.here({"T": word.steps}),
        "words": {
            "steps": _("time steps T"),
            "tau": _("cut after τ steps"),
            "forward": _("states go on"),
            "backward": _("gradients go back"),
            "drag": _("Drag the cut"),
            "cut": _("cut"),
            "pairs": _("size of each term: loss t (row), step s (column);"),
            "zero": _("the first column is 0, as H₀ = 0"),
            "full": _("full gradient"),
            "left": _("with the cut"),
            "out": _("left out"),
            "kept": _("kept at a time: {left} numbers of {all}"),
        },
    }


def _rounded(values: Any) -> Any:
    found: Any = np.round(values, 8) + 0.0
    return found.tolist()
