"""Scene 3: one time step after another, every number of a small net, and one unit of a real one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.lecture.recurrence import SmallNet, Taken
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import given

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.ui.pages.learn.context import Context
    from rnnviz.ui.pages.learn.scenes import Ask, State

STEPS = 6
WALKED, APART, REAL = 4, 4, 5  # steps that read a character each; that tell two words apart; that are real
LETTERS = "aet"
WORD, SEED, LONGEST, HIGHEST = "teat", 3, 6, 9999
TEXT, LIMIT = "the Time Traveller", 24
NETWORK = "timemachine-rnn"
ROWS, LISTED = 20, 5


def notice(state: State) -> str:
    """What to notice."""
    return [
        _("The first character: nothing to remember yet, so only its own part and the bias count."),
        _("The second: what came out of the first step goes into this one, through W_hh."),
        _("The same three matrices at every step: only the input and the state before are new."),
        _("The first character is back, but it meets another state before, so another state comes out."),
        _("The layer is the rule and stays; the state is the numbers it hands on, and changes every step."),
        _("One unit of a real network: a sum of 258 parts, then φ. Click another unit or another time step."),
    ][state["step"]]


def formula(state: State) -> str:
    """The recurrence; of one unit, where one unit is shown."""
    if state["step"] == REAL:
        return (
            r"h_{t,j} = \phi\bigl((\mathbf{X}_t \mathbf{W}_{xh})_j "
            r"+ \textstyle\sum_i h_{t-1,i}\, w_{ij} + b_j\bigr)"
        )
    return (
        r"\mathbf{H}_t = \phi(\mathbf{X}_t \mathbf{W}_{xh} + \mathbf{H}_{t-1} \mathbf{W}_{hh} + \mathbf{b}_h)"
    )


def initial(query: Mapping[str, str]) -> State:
    """The word, seed and text of the address, and where to look."""
    return {
        "word": _word(query.get("word")) or WORD,
        "seed": given.whole(query.get("seed"), 0, HIGHEST) or SEED,
        "text": given.text(query.get("text"), LIMIT) or TEXT,
        "t": given.whole(query.get("t"), 1, LIMIT),
        "unit": given.whole(query.get("unit"), 0, 9999),
        "at": None,
    }


def query(state: State) -> dict[str, str]:
    """Whatever is not as usual."""
    found = {}
    for name, usual in (("word", WORD), ("seed", SEED), ("text", TEXT), ("t", None), ("unit", None)):
        if state[name] != usual:
            found[name] = str(state[name])
    return found


def answer(state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
    """The small net at one time step, or the real one."""
    state = dict(state)
    if state["at"] not in (None, state["step"]):
        state["t"] = None  # another step looks where it wants to
    state["at"] = state["step"]
    state["word"] = _word(ask.get("word")) or state["word"]
    if (text := given.text(ask.get("text"), LIMIT)) and text != state["text"]:
        state["text"], state["t"] = text, None
    seed = given.whole(ask.get("seed"), 0, HIGHEST)
    state["seed"] = state["seed"] if seed is None else seed
    t = given.whole(ask.get("t"), 1, LIMIT)
    state["t"] = state["t"] if t is None else t
    if state["step"] == REAL:
        model = context.network(NETWORK)
        unit = given.whole(ask.get("unit"), 0, model.config.hidden_size - 1)
        state["unit"] = state["unit"] if unit is None else unit
        shown = _real(state, model)
    else:
        shown = _small(state)
    words = {
        "word": _("Letters"),
        "word.help": _("only {letters}").format(letters=", ".join(LETTERS)),
        "text": _("Text"),
        "seed": _("seed {n}"),
        "draw": _("Draw anew"),
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
    return state, {**shown, "words": words}


def _small(state: State) -> dict[str, Any]:
    net, word = SmallNet.drawn(state["seed"]), state["word"]
    steps = net.read([LETTERS.index(c) for c in word])
    t = min(state["t"] or min(state["step"], WALKED - 1) + 1, len(word))
    now = steps[t - 1]
    names = ("x", "before", "from_input", "from_state", "pre_activation", "state")
    return {
        "real": False,
        "word": word,
        "letters": list(LETTERS),
        "longest": LONGEST,
        "seed": state["seed"],
        "t": t,
        "apart": state["step"] == APART,
        "states": [[0.0] * len(net.b_h), *(np.round(s.state, 4).tolist() for s in steps)],
        "W_xh": net.W_xh.tolist(),
        "W_hh": net.W_hh.tolist(),
        "b_h": [net.b_h.tolist()],
        **{name: [getattr(now, name).tolist()] for name in names},
    }


def _real(state: State, model: NumpyModel) -> dict[str, Any]:
    text = state["text"]
    taken = Taken(model, text)
    # The rows stay the same while someone types: they are chosen over the usual text.
    rows = Taken(model, TEXT).varied(ROWS)
    t = min(state["t"] or len(text), len(text))
    unit = rows[len(rows) // 2] if state["unit"] is None else min(state["unit"], model.config.hidden_size - 1)
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
        "count": model.config.hidden_size,
        "states": np.round(taken.states[1:, rows], 3).tolist(),
        "input": parts.from_input,
        "terms": [
            [i, float(parts.before[i]), float(parts.weights[i]), float(parts.terms[i])] for i in largest
        ],
        "rest": rest,
        "others": model.config.hidden_size - len(largest),
        "bias": parts.bias,
        "sum": parts.pre_activation,
        "h": float(np.tanh(parts.pre_activation)),
    }


def _word(value: object) -> str | None:
    """A word of the small net's letters."""
    if not isinstance(value, str):
        return None
    return "".join(c for c in value.lower() if c in LETTERS)[:LONGEST] or None
