"""Scene 3: one time step after another, every number of a small net, and one unit of a real one."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnnviz.lecture.recurrence import Recurrence, SmallNet
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import models
from rnnviz.ui.pages.learn.controls import Control, State, text, whole

NAMES = ("first", "second", "third", "fourth", "apart", "unit")
STEPS = len(NAMES)
WALKED, APART, REAL = 4, 4, 5  # steps that read a character each; that tell two words apart; that are real
LETTERS, LONGEST = "aet", 6
TEXT, LIMIT = "the Time Traveller", 24
NETWORK = "timemachine-rnn"
ROWS, LISTED = 20, 5


def _word(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return "".join(c for c in value.lower() if c in LETTERS)[:LONGEST] or None


CONTROLS = (
    Control("word", _word, "teat"),
    Control("seed", whole(0, 9999), 3),
    Control("text", text(LIMIT), TEXT, resets=("t",)),
    Control("t", whole(1, LIMIT), each_step=True),  # None: where the step looks
    Control("unit", whole(0, 9999)),  # None: one of those shown
)


def notice(state: State) -> str:
    """What to notice."""
    if state["step"] == REAL:
        return _(
            "One unit of a real network: a sum of 258 parts, then φ. Click another unit or another time step."
        )
    if state["step"] == APART:
        return _(
            "The layer is the rule and stays; the state is the numbers it hands on, and changes every step."
        )
    word, t = state["word"], _walked(state)
    if t == 1:
        return _("The first character: nothing to remember yet, so only its own part and the bias count.")
    if t == 2:
        return _("The second: what came out of the first step goes into this one, through W_hh.")
    if word[t - 1] == word[0]:
        return _(
            "The first character is back, but it meets another state before, so another state comes out."
        )
    return _("Two matrices and a bias, the same at every step: only the input and the state before are new.")


def formula(state: State) -> str:
    """The recurrence; of one unit, where one unit is shown."""
    if state["step"] == REAL:
        return (
            r"\s{h_tj} = \s{phi}\bigl((\s{X_t}\s{W_xh})_{\s{j}} "
            r"+ \textstyle\sum_{\s{i}} \s{h_t-1i}\,\s{w_ij} + \s{b_j}\bigr)"
        )
    return r"\s{H_t} = \s{phi}(\s{X_t}\s{W_xh} + \s{H_t-1}\s{W_hh} + \s{b_h})"


def picture(state: State) -> dict[str, Any]:
    """The small net at one time step, or the real one."""
    shown = _real(state) if state["step"] == REAL else _small(state)
    words = {
        "word": _("Letters"),
        "word.help": _("only {letters}").format(letters=", ".join(LETTERS)),
        "text": _("Text"),
        "seed": _("seed {n}"),
        "draw": _("New random numbers"),
        "forward": _("Read the next character"),
        "backward": _("Go back one character"),
        "layer": _("hidden layer"),
        "layer.is": _("the rule: the same numbers at every step"),
        "state": _("hidden state"),
        "state.is": _("what the rule hands on: new at every step"),
        "sum": _("sum"),
        "bias": _("bias"),
        "input": _("input {character}"),
        "unit": _("unit {n}"),
        "others": _("{n} other units"),
        "units": _("{n} of {count} units; click one"),
    }
    return {**shown, "words": words}


def _walked(state: State) -> int:
    """The time step of the small net that is shown, from 1."""
    t: int = state["t"] or min(state["step"], WALKED - 1) + 1
    return min(t, len(state["word"]))


def _small(state: State) -> dict[str, Any]:
    net, word = SmallNet.drawn(state["seed"]), state["word"]
    steps = net.read([LETTERS.index(c) for c in word])
    t = _walked(state)
    return {
        "real": False,
        "word": word,
        "letters": list(LETTERS),
        "longest": LONGEST,
        "seed": state["seed"],
        "t": t,
        "apart": state["step"] == APART,
        "states": [[0.0] * len(net.b_h), *np.round(steps.state, 4).tolist()],
        "W_xh": net.W_xh.tolist(),
        "W_hh": net.W_hh.tolist(),
        "b_h": [net.b_h.tolist()],
        **{name: [rows[t - 1].tolist()] for name, rows in steps._asdict().items()},
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
    largest, rest = parts.largest(LISTED)
    return {
        "real": True,
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
        "terms": [
            [i, float(parts.before[i]), float(parts.weights[i]), float(parts.terms[i])] for i in largest
        ],
        "rest": rest,
        "others": units - len(largest),
        "bias": parts.bias,
        "sum": parts.pre_activation,
        "h": float(np.tanh(parts.pre_activation)),
    }
