"""Scene 2: without a hidden state, two texts that end alike are the same; every number of the layers."""

from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.i18n import _
from rnnviz.lecture import memoryless, symbols
from rnnviz.lecture.controls import Control, State, one_of, text, whole
from rnnviz.lecture.machine import SYMBOLS, WORD, Machine
from rnnviz.text.characters import visible
from rnnviz.ui.pages.learn import models

NAMES = ("prediction", "layer", "hidden", "output", "state", "gates")
STEPS = len(NAMES)
LIMIT = 30
LISTED = 6
ROWS = 3  # of the minibatch
HIDDEN, OUTPUT = NAMES.index("hidden"), NAMES.index("output")
NETWORKS = ("mlp", "rnn", "gru")
USUAL = ("mlp", "mlp", "mlp", "mlp", "rnn", "gru")  # each step's network
CONTROLS = (
    Control("left", text(LIMIT), "in the dark nig"),
    Control("right", text(LIMIT), "I was going"),
    Control("model", one_of(NETWORKS), each_step=True),  # None: the step's own
    Control("pairs", whole(0, 9999), 0, steps=(HIDDEN, OUTPUT)),  # the seed that draws them
)


def notice(state: State) -> str:
    """What to notice."""
    left, right = state["left"], state["right"]
    if state["step"] == HIDDEN:
        return _(
            "One pair a row; every row gets the same bias. "
            "Rows know nothing of each other, so any order will do."
        )
    if state["step"] == OUTPUT:
        return _("Softmax turns every row of O into probabilities. Framed: the label, the next character.")
    if state["step"] == STEPS - 1:
        return _(
            "GRU, a gated recurrent unit, and LSTM, long short-term memory, are recurrent too: "
            "gates say how much of the state stays."
        )
    if left == right:
        return _("The same text twice: change one of them, but keep its last character.")
    if left[-1] != right[-1]:
        if not _compared(state)[2].prediction:
            return _("Both last characters are unknown to this network: to it they are the same symbol.")
        return _("The two texts end differently, so even a network without a state can tell them apart.")
    if _shown(state) != "mlp":
        if not _compared(state)[2].prediction:
            return _("To this network both texts are the same: change one of them before its last character.")
        return _(
            "A network with hidden states is a recurrent neural network, RNN. "
            "Same last character, different predictions."
        )
    if state["step"] == 1:
        return _("Its hidden layer is the same too, unit by unit: nothing else of the text has reached it.")
    return _("Two texts, one last character: the network without a state gives the very same prediction.")


def formula(state: State) -> str:
    """The recurrence that is shown."""
    if state["step"] == HIDDEN:
        return r"\s{H} = \s{phi}(\s{X}\s{W_xh} + \s{b_h})"
    if state["step"] == OUTPUT:
        return r"\s{O} = \s{H}\s{W_hq} + \s{b_q}"
    if _shown(state) == "mlp":
        return r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{b_h})"
    if _shown(state) == "gru":
        return r"\s{H_t} = \s{Z_t} \odot \s{H_t-1} + (1 - \s{Z_t}) \odot \s{H_t.new}"
    return r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"


def _shown(state: State) -> str:
    return state["model"] or USUAL[state["step"]]


def _compared(state: State) -> tuple[memoryless.Ending, memoryless.Ending, memoryless.Compared]:
    model = models.network(f"timemachine-{_shown(state)}")
    one, other = (memoryless.ending(model, state[side]) for side in ("left", "right"))
    return one, other, memoryless.compare(one, other, LISTED)


def picture(state: State) -> dict[str, Any]:
    """The chosen network after both texts, or the layers on a minibatch of pairs."""
    return _layers(state) if state["step"] in (HIDDEN, OUTPUT) else _texts(state)


def _layers(state: State) -> dict[str, Any]:
    net = Machine().net
    found = memoryless.minibatch(net, memoryless.drawn_pairs(state["pairs"], ROWS))
    return {
        "show": "layers",
        "seed": state["pairs"],
        "pairs": found.pairs,
        "targets": found.targets,
        "symbols": list(SYMBOLS),
        "X": found.x.tolist(),
        "W_xh": net.W_xh.tolist(),
        "b_h": net.b_h.tolist(),
        "H": found.hidden.tolist(),
        "W_hq": net.W_hq.tolist(),
        "b_q": net.b_q.tolist(),
        "O": found.output.tolist(),
        "P": found.probabilities.tolist(),
        "losses": found.losses.tolist(),
        "loss": found.loss,
        "words": {
            "pairs": _("{n} pairs from “{word}”, drawn at random").format(n=ROWS, word=WORD),
            "draw": _("Draw other pairs"),
            "hidden": _("hidden layer"),
            "output": _("output layer"),
            "repeated": _("the same row for all: broadcast"),
            "picks": _("each 1 picks a row"),
            "softmax": "softmax",
            "loss": _("loss, nats"),
            "mean": _("mean {value}"),
        },
    }


def _here(kind: str, hidden: npt.NDArray[Any]) -> dict[str, dict[str, Any]]:
    """The left text's state and, as the textbook writes them, the weights; a GRU has three of each."""
    layer = models.network(f"timemachine-{kind}").weights.layers[0]
    values: dict[str, Any] = {"H_t": hidden}
    if kind != "gru":
        values |= {"W_xh": layer.W_x.T, "b_h": layer.b}
    if kind == "rnn" and layer.W_h is not None:
        values["W_hh"] = layer.W_h.T
    return symbols.here(values)


def _texts(state: State) -> dict[str, Any]:
    model = models.network(f"timemachine-{_shown(state)}")
    one, other, compared = _compared(state)

    def symbol(number: int) -> str:
        return visible(model.vocabulary.characters[number - 1]) if number else _("other")

    def half(text: str, end: memoryless.Ending) -> dict[str, Any]:
        return {
            "text": text,
            "marks": [visible(c) for c in text],
            "state": np.round(end.state, 3).tolist(),
            "chances": [float(end.probabilities[i]) for i in compared.symbols],
        }

    return {
        "show": "texts",
        "kind": _shown(state),
        "kinds": [[kind, kind.upper()] for kind in NETWORKS],
        "left": half(state["left"], one),
        "right": half(state["right"], other),
        "symbols": [symbol(i) for i in compared.symbols],
        "prediction": compared.prediction,
        "state": compared.state,
        "alike": state["left"][-1] == state["right"][-1],
        "here": _here(_shown(state), one.state),
        "limit": LIMIT,
        "words": {
            "left": _("One text"),
            "right": _("Another"),
            "sees": _("lit: what reaches the prediction"),
            "units": _("hidden layer, {n} units") if _shown(state) == "mlp" else _("hidden state, {n} units"),
            "next": _("next character"),
            "largest": _("largest difference in probability"),
            "unlike": _("the two texts end differently"),
            "network": _("Network"),
        },
    }
