"""The recipe: a preset, and every setting in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.networks.config import CELLS, TrainConfig
from rnnviz.training import presets
from rnnviz.training.estimate import cores
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.texts import Chosen

LONGEST_WATCHED = 80
_MARK = "train.preset"

SETTINGS = (
    "cell", "activation", "hidden_size", "layers", "embedding_size", "steps", "truncation", "batch",
    "learning_rate", "clip", "dropout_embedding", "dropout_weight", "dropout_output", "seed",
)  # fmt: skip
"""The settings of a recipe, by the names of TrainConfig."""


@dataclass(frozen=True)
class Recipe:
    """A `config`, the limit in `minutes` or None; `changed`: whether any setting differs from the
    preset's.
    """

    config: TrainConfig
    minutes: float | None
    watched: str
    name: str
    changed: bool


def preset(text: Chosen | None) -> str:
    """The choice of a preset; a text too short to split has only the toy."""
    words = {
        "toy": _("The toy"),
        "one-minute": _("One minute"),
        "five-minutes": _("Five minutes"),
        "best": _("Best this machine gives"),
    }
    toy = text is None or text.toy
    keys = [key for key in presets.PRESETS if (key == "toy") == toy]
    if st.session_state.get("train-preset") not in keys:
        st.session_state["train-preset"] = keys[0]
    chosen = st.segmented_control(
        _("2 · How long it learns"),
        keys,
        key="train-preset",
        required=True,
        persist_state="session",
        format_func=lambda key: words.get(key, key),
        help=_(
            "A preset chooses a network and a recipe that get far in that time on this machine. "
            "All of it can be changed below."
        ),
    )
    return chosen or keys[0]


def usual_sentence(text: Chosen) -> str:
    """A sentence in the text's style, or from its validation part: the presets' networks never read it."""
    if text.toy:
        return text.text[:LONGEST_WATCHED]
    usual = {
        "python-source": "def average(self, values):",
        "python-docs": "The value of the expression is a list.",
        "timemachine": "the time traveller smiled at the machine",
        "tinyshakespeare": "What is the night, my lord? The morning",
    }
    if text.corpus in usual:
        return usual[text.corpus]
    after, end = text.parts[0], sum(text.parts[:2])
    words = " ".join(text.text[after : min(end, after + 200)].split())
    begin = words.find(" ") + 1 if len(words) > 60 else 0
    piece = words[begin : begin + 44]
    return piece.rsplit(" ", 1)[0] if " " in piece[20:] else piece


def adopt(text: Chosen, key: str) -> None:
    """Copy the preset's values into the settings if text or preset are new; else keep the changes."""
    state = st.session_state
    mark = (text.sha256, key)
    if state.get(_MARK) == mark and "set-cell" in state:
        return
    config, minutes = presets.preset(key, text.characters, cores())
    for name in SETTINGS:
        state[f"set-{name}"] = getattr(config, name)
    state["set-learning_rate"] = float(config.learning_rate)
    state["set-clip"] = float(config.clip)
    state["set-until"] = "minutes" if minutes else "characters"
    state["set-minutes"] = float(minutes or 1.0)
    share = text.parts[0] or text.characters
    state["set-characters"] = int(config.characters or round(config.epochs * share))
    if state.get(_MARK, ("",))[0] != text.sha256:
        state["set-watched"] = usual_sentence(text)
    state["set-name"] = f"{text.name}-{config.cell}"[:60]
    state["train.named"] = state["set-name"]
    state[_MARK] = mark


def watched() -> str:
    """The sentence whose reading is watched."""
    return st.text_input(
        _("3 · The sentence to watch"),
        key="set-watched",
        persist_state="session",
        max_chars=LONGEST_WATCHED,
        help=_("Twice a second the network reads this sentence, and you see every unit of its hidden state."),
    )


def expert() -> None:
    """Every setting, in columns."""
    for column, draw in zip(st.columns(3, gap="medium"), (_network, _learning, _guarding), strict=True):
        with column:
            draw()
    st.text_input(
        _("Name of the run"),
        key="set-name",
        persist_state="session",
        max_chars=60,
        help=_("Letters, digits, '.', '_' and '-'; the model will be called so."),
    )


def _network() -> None:
    st.markdown("**" + _("The network") + "**")
    cells = {
        "mlp": _("MLP: no memory at all"),
        "rnn": _("RNN: the plain recurrence"),
        "gru": _("GRU: two gates"),
        "lstm": _("LSTM: three gates and a cell"),
    }
    cell = st.selectbox(
        say.settings()["cell"],
        CELLS,
        key="set-cell",
        persist_state="session",
        on_change=_renamed,
        format_func=lambda name: cells.get(name, CELLS[name].label),
        help=_("How the new hidden state is made from the old one and the next character."),
    )
    _choice(
        "activation",
        _("Activation φ"),
        {"tanh": "tanh", "relu": "relu"},
        _("tanh keeps every state between −1 and 1; ReLU cuts off below 0. GRU and LSTM have their own."),
        disabled=bool(CELLS[cell].gates),
    )
    _whole("hidden_size", 1, 4096, _("How many numbers the state has."))
    _whole("layers", 1, 8, _("Recurrences stacked: each reads the states of the one below."))
    _whole(
        "embedding_size",
        0,
        1024,
        _("Each character becomes so many learnt numbers; 0: one-hot vectors, as in the textbook."),
    )


def _learning() -> None:
    st.markdown("**" + _("Learning") + "**")
    _whole(
        "steps",
        1,
        2048,
        _("Backpropagation through time is cut off there: farther sees more, and takes longer."),
    )
    _choice(
        "truncation",
        say.settings()["truncation"],
        {"regular": _("every time there"), "random": _("at random, there on average")},
        _("Cutting at random keeps the network from getting used to always the same distance."),
    )
    _whole("batch", 1, 1024, _("Places of the text that are read at once (batch)."))
    _real(
        "learning_rate",
        (1e-5, 1.0, 0.001),
        "%.5f",
        _("How far one step goes at most. Too high: it diverges. Too low: it takes for ever."),
    )
    _real(
        "clip",
        (0.01, 100.0, 0.25),
        "%.2f",
        _("A gradient longer than this is shortened to it, so that one odd line can't throw it off."),
    )


def _guarding() -> None:
    st.markdown("**" + _("Against learning by heart") + "**")
    for name in ("dropout_output", "dropout_weight", "dropout_embedding"):
        st.slider(
            say.settings()[name],
            0.0,
            0.7,
            step=0.01,
            key=f"set-{name}",
            persist_state="session",
            disabled=name == "dropout_weight" and st.session_state["set-cell"] == "mlp",
            help=_(
                "The share that is left out at random in each step, so that no single number is relied upon."
            ),
        )
    st.markdown("**" + _("How long, and from where") + "**")
    until = _choice(
        "until", _("Until"), {"minutes": _("minutes are over"), "characters": _("characters are read")}
    )
    if until == "minutes":
        _real("minutes", (0.05, 10_000.0, 0.5), "%.2f", _("Its speed is measured first."), _("Minutes"))
    else:
        _whole(
            "characters", 1, 10**12, _("Counted as read: a text read twice counts twice."), _("Characters")
        )
    _whole("seed", 0, 2**31, _("The same seed gives the same run, number for number."))


def _renamed() -> None:
    """A new cell changes the name, unless the reader wrote one."""
    state = st.session_state
    if state.get("set-name") == state.get("train.named"):
        stem = str(state["set-name"]).rsplit("-", 1)[0]
        state["set-name"] = state["train.named"] = f"{stem}-{state['set-cell']}"


def _choice(
    name: str, label: str, options: Mapping[str, str], help: str | None = None, *, disabled: bool = False
) -> str | None:
    return st.segmented_control(
        label,
        list(options),
        key=f"set-{name}",
        required=True,
        persist_state="session",
        disabled=disabled,
        format_func=lambda option: options[option],
        help=help,
    )


def _whole(name: str, low: int, high: int, help: str, label: str = "") -> None:
    label = label or say.settings()[name]
    st.number_input(label, low, high, key=f"set-{name}", persist_state="session", help=help)


def _real(name: str, limits: tuple[float, float, float], form: str, help: str, label: str = "") -> None:
    """`limits`: the lowest, the highest, and one step of the buttons."""
    low, high, step = limits
    st.number_input(
        label or say.settings()[name],
        low,
        high,
        key=f"set-{name}",
        persist_state="session",
        format=form,
        step=step,
        help=help,
    )


def recipe(text: Chosen, key: str) -> Recipe:
    """What the widgets say. Raises ConfigError for settings that don't go together."""
    state = st.session_state
    config, minutes = presets.preset(key, text.characters, cores())
    timed = state["set-until"] == "minutes"
    values: dict[str, Any] = {name: state[f"set-{name}"] for name in SETTINGS}
    if CELLS[values["cell"]].gates:
        values["activation"] = "tanh"
    if values["cell"] == "mlp":
        values["dropout_weight"] = 0.0
    changed = any(value != getattr(config, name) for name, value in values.items())
    values["characters"] = 0 if timed else int(state["set-characters"])
    if text.toy:
        values["min_count"] = 1
    chosen = replace(config, **values)
    given = float(state["set-minutes"]) if timed else None
    name = str(state["set-name"]).strip()
    if not name:
        raise ConfigError(_("give the run a name, under Settings"))
    return Recipe(chosen, given, str(state["set-watched"]), name, changed or (minutes or None) != given)
