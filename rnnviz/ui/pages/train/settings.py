"""The recipe: a preset, and every setting in plain words."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.i18n import _
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import TrainConfig
from rnnviz.training import presets
from rnnviz.training.estimate import cores
from rnnviz.ui.hosting import allowed
from rnnviz.ui.pages.train import words as say
from rnnviz.ui.pages.train.texts import Chosen

LONGEST_WATCHED = 80
_MARK = "train.preset"

SENTENCES = {
    "python-source": "def average(self, values):",
    "python-docs": "The value of the expression is a list.",
    "timemachine": "the time traveller smiled at the machine",
    "tinyshakespeare": "What is the night, my lord? The morning",
}
"""Sentences to watch, in the style of the corpora."""

SETTINGS = (
    "cell", "activation", "hidden_size", "layers", "embedding_size", "steps", "truncation", "batch",
    "learning_rate", "clip", "dropout_embedding", "dropout_weight", "dropout_output", "dropout_layer",
    "seed", "fresh_rows",
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
    """The choice among the presets that fit the text and are offered."""
    words = {
        "toy": _("A few seconds"),
        "one-minute": _("One minute"),
        "one-minute-mingru": _("One minute, minGRU"),
        "five-minutes": _("Five minutes"),
        "best": _("Half an hour"),
    }
    fitting = presets.fitting(text.characters if text is not None else 1, cores())
    keys = [key for key in fitting if presets.PRESETS[key] <= allowed.minutes(10_000.0)] or fitting[:1]
    if st.session_state.get("train-preset") not in keys:
        st.session_state["train-preset"] = keys[0]
    chosen = st.segmented_control(
        _("2 · Training time"),
        keys,
        key="train-preset",
        required=True,
        persist_state="session",
        format_func=lambda key: words.get(key, key),
        help=_(
            "Network and settings are chosen to get far in this time, on this machine and this text. "
            "Settings, below, changes all of it."
        )
        + " "
        + _(
            "The minGRU is for comparison: its gates see the characters alone, so all time steps are "
            "computed at once. After a minute its perplexity is higher than the LSTM's."
        ),
    )
    return chosen or keys[0]


def usual_sentence(text: Chosen) -> str:
    """A sentence in the text's style, or from its validation part: the presets' networks never read it."""
    if text.toy:
        return text.text[:LONGEST_WATCHED]
    if text.corpus in SENTENCES:
        return SENTENCES[text.corpus]
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
    """The sentence to watch."""
    return st.text_input(
        _("3 · Sentence to watch"),
        key="set-watched",
        persist_state="session",
        max_chars=LONGEST_WATCHED,
        help=_("While it learns, it reads this sentence twice a second. You see its hidden states."),
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
        help=_("Letters, digits, '.', '_' and '-'. The model gets this name too."),
    )


def _network() -> None:
    st.markdown("**" + _("Network") + "**")
    cells = {
        "mlp": _("MLP: no hidden state"),
        "rnn": _("RNN: the simple recurrence"),
        "gru": _("GRU: two gates"),
        "lstm": _("LSTM: three gates and a cell"),
        "mingru": _("minGRU: one gate that sees the input alone"),
    }
    cell = st.selectbox(
        say.settings()["cell"],
        CELLS,
        key="set-cell",
        persist_state="session",
        on_change=_renamed,
        format_func=lambda name: cells.get(name, CELLS[name].label),
        help=_("How a hidden state follows from the one before it and the next character."),
    )
    _choice(
        "activation",
        _("Activation φ"),
        {"tanh": "tanh", "relu": "relu"},
        _("tanh keeps each unit between −1 and 1, ReLU above 0. Cells with gates have their own."),
        disabled=bool(CELLS[cell].gates),
    )
    _whole("hidden_size", 1, 4096, _("How many numbers the hidden state of a layer has."))
    _whole("layers", 1, 8, _("Each layer reads the hidden states of the one below."))
    _whole(
        "embedding_size",
        0,
        1024,
        _("How many learnt numbers stand for a character. 0: one-hot vectors."),
    )


def _learning() -> None:
    st.markdown("**" + _("Training") + "**")
    _whole(
        "steps",
        1,
        2048,
        _("Backpropagation through time goes back so many characters. More of them take longer."),
    )
    _choice(
        "truncation",
        say.settings()["truncation"],
        {"regular": _("regular"), "random": _("random")},
        _("Random: truncated after half to one and a half times as many characters, drawn anew each time."),
    )
    _whole("batch", 1, 1024, _("How many passages of the text are read side by side."))
    _real(
        "learning_rate",
        (1e-5, 1.0, 0.001),
        "%.5f",
        _("The largest step. Too high, and training diverges; too low, and it takes long."),
    )
    _real(
        "clip",
        (0.01, 100.0, 0.25),
        "%.2f",
        _("A gradient with a larger norm is scaled down to this one."),
    )

    st.slider(
        say.settings()["fresh_rows"],
        0.0,
        0.7,
        step=0.01,
        key="set-fresh_rows",
        persist_state="session",
        help=_(
            "The share of the passages that begin at a random paragraph in each step, before which the "
            "network has read nothing. It then reads better what you type, which begins so too."
        ),
    )


def _guarding() -> None:
    st.markdown("**" + _("Regularisation") + "**")
    without = _without(st.session_state)
    for name in ("dropout_output", "dropout_layer", "dropout_weight", "dropout_embedding"):
        st.slider(
            say.settings()[name],
            0.0,
            0.7,
            step=0.01,
            key=f"set-{name}",
            persist_state="session",
            disabled=name in without,
            help=_("The share left out at random in each step, so that the network memorises less."),
        )
    st.markdown("**" + _("Length and seed") + "**")
    until = _choice("until", _("Train for"), {"minutes": _("minutes"), "characters": _("characters")})
    if until == "minutes":
        _real(
            "minutes",
            (0.05, allowed.minutes(10_000.0), 0.5),
            "%.2f",
            _("The speed is measured first."),
            _("Minutes"),
        )
    else:
        _whole("characters", 1, 10**12, _("A text that is read twice counts twice."), _("Characters"))
    _whole("seed", 0, 2**31, _("Where random numbers begin. The same seed gives the same run."))


def _without(state: Mapping[Any, Any]) -> dict[str, float]:
    """The kinds of dropout that the network has nothing for, each with 0."""
    has = {"dropout_weight": CELLS[state["set-cell"]].mixes, "dropout_layer": state["set-layers"] > 1}
    return {name: 0.0 for name, there in has.items() if not there}


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
    high = allowed.most(name, high)
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
    values |= _without(state)
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
