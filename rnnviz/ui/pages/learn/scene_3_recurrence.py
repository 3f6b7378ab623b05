"""Scene 3: one time step after another, every number of a small net, and one unit of a real one."""

from typing import Any

import numpy as np

from rnnviz.i18n import _
from rnnviz.lecture import machine, symbols
from rnnviz.lecture.controls import Control, State, text, whole
from rnnviz.lecture.machine import SEED, SYMBOLS, WORD, Machine, numbers
from rnnviz.lecture.recurrence import Recurrence, walk
from rnnviz.text.characters import visible
from rnnviz.ui.pages.learn import models

NAMES = ("first", "second", "third", "parameters", "apart", "adjacent", "minibatch", "unit")
STEPS = len(NAMES)
OPENS = {"first": 1, "second": 2, "third": 3, "parameters": 4}  # the time step that a step looks at; else 3
LONGEST = len(WORD) - 1
SECOND = "cinema"  # the other sequence of the minibatch
TEXT, LIMIT = "the Time Traveller", 24
NETWORK = "timemachine-rnn"
ROWS = 20


def _word(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return "".join(c for c in value.lower() if c in SYMBOLS)[:LONGEST] or None


CONTROLS = (
    Control("word", _word, WORD[:LONGEST]),
    Control("seed", whole(0, 9999), SEED),
    Control("text", text(LIMIT), TEXT, resets=("t",)),
    Control("t", whole(1, LIMIT), each_step=True),  # None: where the step looks
    Control("unit", whole(0, 9999)),  # None: one of those shown
)


def notice(state: State) -> str:
    """What to notice."""
    name, t = NAMES[state["step"]], _walked(state)
    if name in ("first", "second", "third"):
        if t == 1:
            return _("The first character meets an empty state, zeros: so far this is scene 2's network.")
        if t == 2:
            return _(
                "One more term: the state that step 1 computed, times weights of its own, goes into step 2."
            )
        return _("A recurrent layer: the same definition at every step, applied to its own result.")
    return {
        "parameters": _(
            "Every step uses the same weights: their number does not grow with T. A table of all texts grows."
        ),
        "apart": _(
            "A hidden layer is between input and output. "
            "A hidden state is an input of the step, computed before it."
        ),
        "adjacent": _("Each step: concatenate, then one layer with φ. Its state goes on and to the output."),
        "minibatch": _(
            "Two sequences side by side: row i belongs to sequence i. "
            "Rows share the weights, never their states."
        ),
        "unit": _("One unit of a real network: its parts add up, and φ brings the sum between −1 and 1."),
    }[name]


def formula(state: State) -> str:
    """The recurrence; of one unit, where one unit is shown."""
    name = NAMES[state["step"]]
    if name == "unit":
        return (
            r"\s{h_tj} = \s{phi}\bigl((\s{X_t}\s{W_xh})_{\s{j}} "
            r"+ \textstyle\sum_{\s{i}} \s{h_t-1i}\,\s{w_ij} + \s{b_j}\bigr)"
        )
    if name == "first" and _walked(state) == 1:
        return r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{b_h})"
    recurrent = r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"
    if name in ("first", "second"):
        return recurrent
    return recurrent + r",\quad \s{O_t} = \s{H_t}\s{W_hq} + \s{b_q}"


def picture(state: State) -> dict[str, Any]:
    """The small net at one time step, or the real one."""
    shown = _real(state) if NAMES[state["step"]] == "unit" else _small(state)
    words = {
        "word": _("Letters"),
        "word.help": _("only {letters}").format(letters=", ".join(SYMBOLS)),
        "text": _("Text"),
        "seed": _("seed {n}"),
        "draw": _("New random numbers"),
        "forward": _("Read the next character"),
        "backward": _("Go back one character"),
        "layer": _("hidden layer"),
        "layer.is": _("between input and output; the same weights at every step"),
        "state": _("hidden state"),
        "state.is": _("an input of this step, from earlier steps only; new at every step"),
        "input": _("input"),
        "output": _("output"),
        "next": _("to the next step"),
        "join": _("concatenate"),
        "connected": _("fully connected layer, φ"),
        "parameters": _("parameters"),
        "table": _("table of all texts"),
        "sequence": _("sequence {i}"),
        "sum": _("sum"),
        "bias": _("bias"),
        "reads": _("input {character}"),
        "unit": _("unit {n}"),
        "before": _("state before"),
        "began": _("start symbol"),
        "units": _("{n} of {count} units; click one"),
    }
    return {**shown, "words": words}


def _walked(state: State) -> int:
    """The time step of the small net that is shown, from 1."""
    t: int = state["t"] or OPENS.get(NAMES[state["step"]], 3)
    return min(t, len(state["word"]))


def _small(state: State) -> dict[str, Any]:
    net, word, t = Machine(state["seed"]).net, state["word"], _walked(state)
    name = NAMES[state["step"]]
    texts = [word, SECOND[: len(word)]] if name == "minibatch" else [word]
    steps = walk(net, *map(numbers, texts))
    sizes = {weights: getattr(net, weights).size for weights in machine.NAMES}
    return {
        "show": {"apart": "figure", "adjacent": "figure", "parameters": "parameters"}.get(name, "walk"),
        "texts": texts,
        "symbols": list(SYMBOLS),
        "longest": LONGEST,
        "seed": state["seed"],
        "t": t,
        "grown": name != "first" or t > 1,
        "states": np.round(np.concatenate([steps.before[:1], steps.state]), 8).tolist(),
        "outputs": np.round(steps.output, 8).tolist(),
        **{weights: np.atleast_2d(getattr(net, weights)).tolist() for weights in machine.NAMES},
        **{part: rows[t - 1].tolist() for part, rows in steps._asdict().items()},
        "sizes": sizes,
        "parameters": sum(sizes.values()),
        "tables": [len(SYMBOLS) ** T for T in range(1, LONGEST + 1)],
        "here": symbols.here(
            {
                **{name: np.atleast_2d(getattr(net, name)) for name in machine.NAMES},
                "X_t": steps.x[t - 1],
                "H_t-1": steps.before[t - 1],
                "H_t": steps.state[t - 1],
                "O_t": steps.output[t - 1],
            }
        ),
    }


def _real(state: State) -> dict[str, Any]:
    model, text = models.network(NETWORK), state["text"]
    units = model.config.hidden_size
    taken = Recurrence(model, text)
    # The rows stay the same while someone types: they are chosen over the usual text.
    rows = Recurrence(model, TEXT).varied(ROWS)
    t = min(state["t"] or len(text), len(text))
    unit = rows[len(rows) // 2] if state["unit"] is None else min(state["unit"], units - 1)
    parts = taken.parts(t, unit)
    return {
        "show": "unit",
        "model": model.name,
        "marks": [visible(c) for c in text],
        "text": text,
        "limit": LIMIT,
        "t": t,
        "unit": unit,
        "units": rows,
        "count": units,
        "states": np.round(taken.states[1:, rows], 3).tolist(),
        "input": parts.from_input,
        "before": float(parts.terms.sum()),
        "bias": parts.bias,
        "sum": parts.pre_activation,
        "here": symbols.here({"h_tj": float(np.tanh(parts.pre_activation)), "b_j": parts.bias, "j": unit}),
        "h": float(np.tanh(parts.pre_activation)),
    }
