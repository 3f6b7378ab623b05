"""The recipe: a preset, and every setting with what it means in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.networks.config import CELLS, TrainConfig
from rnnviz.training import presets
from rnnviz.training.estimate import cores
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.train.texts import Chosen

LONGEST_PROBE = 80
_MARK = "train.preset"


@dataclass(frozen=True)
class Recipe:
    """What was set.

    config   the recipe
    minutes  that it is given; None: as many characters as it says
    probe    the sentence to watch
    name     of the run
    changed  the settings that are not the preset's
    """

    config: TrainConfig
    minutes: float | None
    probe: str
    name: str
    changed: tuple[str, ...]


def preset(text: Chosen | None) -> str:
    """The choice of a preset. For a text too short to be split there is the toy alone."""
    words = {
        "toy": _("The toy"),
        "one-minute": _("One minute"),
        "five-minutes": _("Five minutes"),
        "best": _("Best this machine gives"),
    }
    toy = text is None or text.toy
    keys = [p.key for p in presets.PRESETS if (p.key == "toy") == toy]
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


def usual_probe(text: Chosen) -> str:
    """A sentence of the text's own kind, from its held-out part: the network never reads it."""
    if text.toy:
        return text.text[:LONGEST_PROBE]
    usual = {
        "python-source": "def average(self, values):",
        "python-docs": "The value of the expression is a list.",
        "timemachine": "the time traveller smiled at the machine",
        "tinyshakespeare": "What is the night, my lord? The morning",
    }
    if text.corpus in usual:
        return usual[text.corpus]
    after = sum(text.parts[:2])
    words = " ".join(text.text[after : after + 200].split())
    begin = words.find(" ") + 1 if len(words) > 60 else 0
    piece = words[begin : begin + 44]
    return piece.rsplit(" ", 1)[0] if " " in piece[20:] else piece


def adopt(text: Chosen, key: str) -> None:
    """Put the preset's values into the settings, when text or preset are new; what was changed stays else."""
    state = st.session_state
    mark = (text.sha256, key)
    if state.get(_MARK) == mark and "set-cell" in state:
        return
    config, minutes = presets.preset(key, text.characters, cores())
    for name in (
        "cell", "activation", "hidden_size", "layers", "embedding_size", "steps", "truncation", "batch",
        "learning_rate", "clip", "dropout_embedding", "dropout_weight", "dropout_output", "seed",
    ):  # fmt: skip
        state[f"set-{name}"] = getattr(config, name)
    state["set-learning_rate"] = float(config.learning_rate)
    state["set-clip"] = float(config.clip)
    state["set-until"] = "minutes" if minutes else "characters"
    state["set-minutes"] = float(minutes or 1.0)
    share = text.parts[0] or text.characters
    state["set-characters"] = int(config.characters or round(config.epochs * share))
    if state.get(_MARK, ("",))[0] != text.sha256:
        state["set-probe"] = usual_probe(text)
    state["set-name"] = f"{text.name}-{config.cell}"[:60]
    state["train.named"] = state["set-name"]
    state[_MARK] = mark


def probe() -> str:
    """The sentence whose reading is watched."""
    return st.text_input(
        _("3 · The sentence to watch"),
        key="set-probe",
        persist_state="session",
        max_chars=LONGEST_PROBE,
        help=_("Twice a second the network reads this sentence, and you see every unit of its hidden state."),
    )


def expert() -> None:
    """Every setting, in columns."""
    network, learning, guarding = st.columns(3, gap="medium")
    with network:
        st.markdown("**" + _("The network") + "**")
        cell = st.selectbox(
            _("Cell"),
            CELLS,
            key="set-cell",
            persist_state="session",
            on_change=_renamed,
            format_func=lambda c: {
                "mlp": _("MLP: no memory at all"),
                "rnn": _("RNN: the plain recurrence"),
                "gru": _("GRU: two gates"),
                "lstm": _("LSTM: three gates and a cell"),
            }[c],
            help=_("How the new hidden state is made from the old one and the next character."),
        )
        plain = cell in ("mlp", "rnn")
        st.segmented_control(
            _("Activation φ"),
            ("tanh", "relu"),
            key="set-activation",
            required=True,
            persist_state="session",
            disabled=not plain,
            help=_(
                "tanh keeps every state between −1 and 1; ReLU cuts off below 0. GRU and LSTM have their own."
            ),
        )
        _whole("hidden_size", _("Hidden units H"), 1, 4096, _("How many numbers the state has."))
        _whole(
            "layers", _("Layers L"), 1, 8, _("Recurrences stacked: each reads the states of the one below.")
        )
        _whole(
            "embedding_size",
            _("Numbers per character"),
            0,
            1024,
            _("Each character becomes so many learnt numbers; 0: one-hot vectors, as in the textbook."),
        )
    with learning:
        st.markdown("**" + _("Learning") + "**")
        _whole(
            "steps",
            _("Characters that gradients flow back"),
            1,
            2048,
            _("Backpropagation through time is cut off there: farther sees more, and takes longer."),
        )
        st.segmented_control(
            _("Where it is cut"),
            ("regular", "random"),
            key="set-truncation",
            required=True,
            persist_state="session",
            format_func=lambda t: {
                "regular": _("every time there"),
                "random": _("at random, there on average"),
            }[t],
            help=_("Cutting at random keeps the network from getting used to always the same distance."),
        )
        _whole(
            "batch",
            _("Streams side by side"),
            1,
            1024,
            _("Places of the text that are read at once (batch)."),
        )
        _real(
            "learning_rate",
            _("Learning rate"),
            1e-5,
            1.0,
            "%.5f",
            0.001,
            _("How far one step goes at most. Too high: it diverges. Too low: it takes for ever."),
        )
        _real(
            "clip",
            _("Clip gradients at"),
            0.01,
            100.0,
            "%.2f",
            0.25,
            _("A gradient longer than this is shortened to it, so that one odd line can't throw it off."),
        )
    with guarding:
        st.markdown("**" + _("Against learning by heart") + "**")
        _share("dropout_output", _("Dropout of the state before the prediction"))
        _share("dropout_weight", _("Dropout of the recurrent weights"), disabled=cell == "mlp")
        _share("dropout_embedding", _("Dropout of whole characters"))
        st.markdown("**" + _("How long, and from where") + "**")
        until = st.segmented_control(
            _("Until"),
            ("minutes", "characters"),
            key="set-until",
            required=True,
            persist_state="session",
            format_func=lambda u: {"minutes": _("minutes are over"), "characters": _("characters are read")}[
                u
            ],
        )
        if until == "minutes":
            _real("minutes", _("Minutes"), 0.05, 10_000.0, "%.2f", 0.5, _("Its speed is measured first."))
        else:
            _whole(
                "characters",
                _("Characters"),
                1,
                10**12,
                _("Counted as read: a text read twice counts twice."),
            )
        _whole("seed", _("Seed"), 0, 2**31, _("The same seed gives the same run, number for number."))
    st.text_input(
        _("Name of the run"),
        key="set-name",
        persist_state="session",
        max_chars=60,
        help=_("Letters, digits, '.', '_' and '-'; the model will be called so."),
    )


def _renamed() -> None:
    """Another cell, another name, unless the reader wrote one."""
    state = st.session_state
    if state.get("set-name") == state.get("train.named"):
        stem = str(state["set-name"]).rsplit("-", 1)[0]
        state["set-name"] = state["train.named"] = f"{stem}-{state['set-cell']}"


def _whole(name: str, label: str, low: int, high: int, help: str) -> None:
    st.number_input(label, low, high, key=f"set-{name}", persist_state="session", help=help)


def _real(name: str, label: str, low: float, high: float, form: str, step: float, help: str) -> None:
    st.number_input(
        label, low, high, key=f"set-{name}", persist_state="session", format=form, step=step, help=help
    )


def _share(name: str, label: str, *, disabled: bool = False) -> None:
    st.slider(
        label,
        0.0,
        0.7,
        step=0.01,
        key=f"set-{name}",
        persist_state="session",
        disabled=disabled,
        help=_("The share that is left out at random in each step, so that no single number is relied upon."),
    )


def recipe(text: Chosen, key: str) -> Recipe:
    """What the widgets say. Raises ConfigError for settings that don't go together."""
    state = st.session_state
    config, minutes = presets.preset(key, text.characters, cores())
    timed = state["set-until"] == "minutes"
    values: dict[str, Any] = {
        name: state[f"set-{name}"]
        for name in ("cell", "hidden_size", "layers", "embedding_size", "steps", "truncation", "batch",
                     "learning_rate", "clip", "dropout_embedding", "dropout_output", "seed")
    }  # fmt: skip
    values["activation"] = state["set-activation"] if values["cell"] in ("mlp", "rnn") else "tanh"
    values["dropout_weight"] = 0.0 if values["cell"] == "mlp" else state["set-dropout_weight"]
    changed = tuple(name for name, value in values.items() if value != getattr(config, name))
    values["characters"] = 0 if timed else int(state["set-characters"])
    if text.toy:
        values["min_count"] = 1
    chosen = replace(config, **values)
    given = float(state["set-minutes"]) if timed else None
    if (minutes or None) != given:
        changed = (*changed, "minutes")
    name = str(state["set-name"]).strip()
    if not name:
        raise ConfigError(_("give the run a name, under Settings"))
    return Recipe(chosen, given, str(state["set-probe"]), name, changed)
