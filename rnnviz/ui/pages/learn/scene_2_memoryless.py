"""Scene 2: without a hidden state, two texts that end alike are the same text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.lecture import forgetting
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 4
LEFT, RIGHT = "in the dark nig", "I was going"
LIMIT = 30
LISTED = 6
NETWORKS = {"mlp": "timemachine-mlp", "rnn": "timemachine-rnn", "gru": "timemachine-gru"}


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("Two texts, one last character: the network without a state gives the very same prediction."),
        _("Its hidden layer is the same too, unit by unit: nothing else of the text has reached it."),
        _("With a hidden state the same last character leads to different predictions."),
        _("Write your own two texts with the same ending. Which of the networks can tell them apart?"),
    ][state["step"]]


def formula(state: State) -> str:
    """The recurrence that is shown."""
    if _shown(state) == "mlp":
        return r"\mathbf{H}_t = \phi(\mathbf{X}_t \mathbf{W}_{xh} + \mathbf{b}_h)"
    if _shown(state) == "gru":
        return (
            r"\mathbf{H}_t = \mathbf{Z}_t \odot \mathbf{H}_{t-1} "
            r"+ (1 - \mathbf{Z}_t) \odot \tilde{\mathbf{H}}_t"
        )
    return (
        r"\mathbf{H}_t = \phi(\mathbf{X}_t \mathbf{W}_{xh} + \mathbf{H}_{t-1} \mathbf{W}_{hh} + \mathbf{b}_h)"
    )


def initial(query: Mapping[str, str]) -> State:
    """The texts and the model of the address."""
    return {
        "left": given.text(query.get("left"), LIMIT) or LEFT,
        "right": given.text(query.get("right"), LIMIT) or RIGHT,
        "pick": given.one_of(query.get("model"), NETWORKS),
        "at": None,
    }


def query(state: State) -> dict[str, str]:
    """The texts, and the model where it was chosen by hand."""
    found = {side: state[side] for side, usual in (("left", LEFT), ("right", RIGHT)) if state[side] != usual}
    return found | ({"model": state["pick"]} if state["pick"] else {})


def _shown(state: State) -> str:
    """The model on the screen: the one picked at this step, or the step's own."""
    return state["pick"] or ("mlp" if state["step"] < 2 else "rnn")


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """What the chosen network makes of both texts."""
    state = dict(state)
    if state["at"] not in (None, state["step"]):
        state["pick"] = None
    state["at"] = state["step"]
    for side in ("left", "right"):
        state[side] = given.text(ask.get(side), LIMIT) or state[side]
    state["pick"] = given.one_of(ask.get("model"), NETWORKS) or state["pick"]
    model = context.network(NETWORKS[_shown(state)])
    one, other = forgetting.ending(model, state["left"]), forgetting.ending(model, state["right"])
    compared = forgetting.compare(one, other, LISTED)

    def symbol(number: int) -> str:
        return visible(model.vocabulary.characters[number - 1]) if number else _("other")

    def half(text: str, end: forgetting.Ending) -> dict[str, Any]:
        return {
            "text": text,
            "marks": [visible(c) for c in text],
            "state": np.round(end.state, 3).tolist(),
            "chances": [float(end.probabilities[i]) for i in compared.symbols],
        }

    data = {
        "kind": _shown(state),
        "kinds": [["mlp", "MLP"], ["rnn", "RNN"], ["gru", "GRU"]],
        "left": half(state["left"], one),
        "right": half(state["right"], other),
        "symbols": [symbol(i) for i in compared.symbols],
        "prediction": compared.prediction,
        "state": compared.state,
        "alike": state["left"][-1] == state["right"][-1],
        "limit": LIMIT,
        "words": {
            "left": _("One text"),
            "right": _("Another"),
            "sees": _("what it has read"),
            "units": _("hidden layer, {n} units") if _shown(state) == "mlp" else _("hidden state, {n} units"),
            "next": _("next character"),
            "largest": _("largest difference of a probability"),
            "unlike": _("the two texts end differently"),
            "network": _("Network"),
        },
    }
    return state, data
