"""The recipe's form: a preset, and every setting with its title and help."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.i18n import N_, _
from rnnviz.lab.fit import presets
from rnnviz.lab.fit.estimate import cores
from rnnviz.lab.pages.train.training_text import Chosen
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import TrainConfig
from rnnviz.ui.shell.fields import Field

LONGEST_WATCHED = 80

SENTENCES = {
    "python-source": "def average(self, values):",
    "python-docs": "The value of the expression is a list.",
    "timemachine": "the time traveller smiled at the machine",
    "tinyshakespeare": "What is the night, my lord? The morning",
}
"""Sentences to watch, in the style of the corpora."""


@dataclass(frozen=True)
class Setting:
    """A field of the form, with its title and help.

    options  the labels of its options, by value
    numbers  keywords of `st.number_input`

    Without either, the field is a share on a slider.
    """

    title: str
    help: str
    options: Mapping[str, str] | None = None
    numbers: Mapping[str, Any] | None = None


def _whole(low: int, high: int) -> dict[str, Any]:
    return {"min_value": low, "max_value": high}


def _real(low: float, high: float, step: float, digits: int) -> dict[str, Any]:
    return {"min_value": low, "max_value": high, "step": step, "format": f"%.{digits}f"}


_DROPPED = N_("The share left out at random in each step, so that the network memorises less.")

SETTINGS = {
    "cell": Setting(
        N_("Cell"),
        N_("How a hidden state follows from the one before it and the next character."),
        {name: kind.summary or kind.label for name, kind in CELLS.items()},
    ),
    "activation": Setting(
        N_("Activation φ"),
        N_("tanh keeps each unit between −1 and 1, ReLU at 0 or above. Cells with gates have their own."),
        {"tanh": "tanh", "relu": "relu"},
    ),
    "hidden_size": Setting(
        N_("Hidden units H"),
        N_("How many numbers the hidden state of a layer has."),
        numbers=_whole(1, 4096),
    ),
    "layers": Setting(
        N_("Layers L"), N_("Each layer reads the hidden states of the one below."), numbers=_whole(1, 8)
    ),
    "embedding_size": Setting(
        N_("Embedding size"),
        N_("How many learnt numbers stand for a character. 0: one 1 among zeros (a one-hot vector)."),
        numbers=_whole(0, 1024),
    ),
    "steps": Setting(
        N_("Time steps of backpropagation"),
        N_("Backpropagation through time goes back so many characters. More of them take longer."),
        numbers=_whole(1, 2048),
    ),
    "truncation": Setting(
        N_("Truncation"),
        N_(
            "Random: truncated after half to one and a half times as many characters, drawn anew each time. "
            "Unlike in Learn, no weights make up for what is cut off."
        ),
        {"regular": N_("regular"), "random": N_("random")},
    ),
    "batch": Setting(
        N_("Batch size"),
        N_("How many passages of the text are read side by side."),
        numbers=_whole(1, 1024),
    ),
    "learning_rate": Setting(
        N_("Learning rate"),
        N_("The largest step. Too high, and training diverges; too low, and it takes long."),
        numbers=_real(1e-5, 1.0, 0.001, 5),
    ),
    "clip": Setting(
        N_("Gradient clipping"),
        N_("A gradient with a larger norm is scaled down to this one."),
        numbers=_real(0.01, 100.0, 0.25, 2),
    ),
    "fresh_rows": Setting(
        N_("Fresh starts"),
        N_(
            "The share of the passages that, at each step, begin at a random paragraph, with an empty state. "
            "What you type begins so too, and the network then predicts it better."
        ),
    ),
    "dropout_output": Setting(N_("Dropout of the hidden state"), _DROPPED),
    "dropout_layer": Setting(N_("Dropout between layers"), _DROPPED),
    "dropout_weight": Setting(N_("Dropout of the recurrent weights"), _DROPPED),
    "dropout_embedding": Setting(N_("Dropout of characters"), _DROPPED),
    "seed": Setting(
        N_("Seed"),
        N_("Where random numbers begin. With the same settings, on the same machine, it gives the same run."),
        numbers=_whole(0, 2**31),
    ),
}
"""The settings of a recipe, by the names of TrainConfig."""

LENGTH = {
    "until": Setting(N_("Train for"), "", {"minutes": N_("minutes"), "characters": N_("characters")}),
    "minutes": Setting(
        N_("Minutes"), N_("The speed is measured first."), numbers=_real(0.05, 10_000.0, 0.5, 2)
    ),
    "characters": Setting(
        N_("Characters"), N_("A text that is read twice counts twice."), numbers=_whole(1, 10**12)
    ),
}
"""The settings of a run's length, which are no fields of TrainConfig or replace some."""

COLUMNS: tuple[dict[str, tuple[str, ...]], ...] = (
    {N_("Network"): ("cell", "activation", "hidden_size", "layers", "embedding_size")},
    {N_("Training"): ("steps", "truncation", "batch", "learning_rate", "clip", "fresh_rows")},
    {
        N_("Regularisation"): ("dropout_output", "dropout_layer", "dropout_weight", "dropout_embedding"),
        N_("Length and seed"): ("until", "minutes", "characters", "seed"),
    },
)
"""The form: groups of fields, in columns."""


PRESET: Field[str] = Field("train-preset")
FIELDS: dict[str, Field[Any]] = {
    name: Field(f"set-{name}") for name in (*SETTINGS, *LENGTH, "name", "watched")
}


@dataclass(frozen=True)
class Recipe:
    """A recipe.

    minutes  the limit of training, or None
    watched  the sentence to watch
    name     the run's name
    changed  whether any setting differs from the preset's
    """

    config: TrainConfig
    minutes: float | None
    watched: str
    name: str
    changed: bool


def preset(text: Chosen | None) -> str:
    """Draw the choice among presets that fit the text; returns the preset's key."""
    words = {
        "toy": _("A few seconds"),
        "one-minute": _("One minute"),
        "one-minute-mingru": _("One minute, minGRU"),
        "five-minutes": _("Five minutes"),
        "best": _("Half an hour"),
    }
    keys = presets.fitting(text.corpus.characters if text is not None else 1, cores())
    return PRESET.choose(
        _("2 · Training time"),
        {key: words[key] for key in keys},
        keys[0],
        help=_(
            "Network and settings are chosen to get far in this time, on this machine and this text. "
            "All of it can be changed below, under Settings."
        )
        + " "
        + _(
            "The minGRU is for comparison: its gates see the characters alone, so all time steps are "
            "computed at once. After a minute its perplexity is higher than the LSTM's."
        ),
    )


def usual_sentence(text: Chosen) -> str:
    """The default sentence to watch: one in the text's style, or from its validation part, which the presets'
    networks never read.
    """
    corpus = text.corpus
    if text.toy:
        return corpus.text[:LONGEST_WATCHED]
    if not text.own and corpus.name in SENTENCES:
        return SENTENCES[corpus.name]
    after, end = text.parts[0], sum(text.parts[:2])
    piece = corpus.text[after : min(end, after + 200)]
    whole = [piece, *piece.split(maxsplit=1)][-1]  # the piece probably begins inside a word
    return shorten(whole, 44, placeholder="") or whole[:44]


def decide(text: Chosen, key: str) -> None:
    """Decide every field: the reader's value for this text and preset, else the preset's."""
    corpus = text.corpus
    config, minutes = presets.preset(key, corpus.characters, cores())
    usual = {name: getattr(config, name) for name in SETTINGS} | {
        "until": "minutes" if minutes else "characters",
        "minutes": minutes or 1.0,
        "characters": config.characters or round(config.epochs * (text.parts[0] or corpus.characters)),
    }
    for name, value in usual.items():
        FIELDS[name].resolve(usual=value, subject=(corpus.sha256, key))
    FIELDS["name"].resolve(usual=f"{corpus.name}-{FIELDS['cell'].get()}"[:60], subject=corpus.sha256)
    FIELDS["watched"].resolve(usual=usual_sentence(text), subject=corpus.sha256)


def watched() -> None:
    """Draw the field of the sentence to watch."""
    st.text_input(
        _("3 · Sentence to watch"),
        max_chars=LONGEST_WATCHED,
        help=_(
            "While it learns, it reads this sentence twice a second. You see what surprises it, and its "
            "hidden states."
        ),
        **FIELDS["watched"].widget,
    )


def expert() -> None:
    """Draw every setting, in columns."""
    for column, groups in zip(st.columns(3, gap="medium"), COLUMNS, strict=True):
        with column:
            for title, names in groups.items():
                st.markdown("**" + _(title) + "**")
                for name in names:
                    _field(name)
    st.text_input(
        _("Name of the run"),
        max_chars=60,
        help=_("Letters, digits, '.', '_' and '-'. The model gets this name too."),
        **FIELDS["name"].widget,
    )


def _field(name: str) -> None:
    one = {**SETTINGS, **LENGTH}[name]
    if name in ("minutes", "characters") and FIELDS["until"].get() != name:
        return
    usual: dict[str, Any] = {
        "label": _(one.title),
        **FIELDS[name].widget,
        "help": _(one.help) if one.help else None,
        "disabled": name in _idle(),
    }
    if one.options is not None:
        words = one.options
        usual |= {"options": list(words), "format_func": lambda option: _(words[option])}
    if name == "cell":
        st.selectbox(**usual)
    elif one.options is not None:
        st.segmented_control(required=True, **usual)
    elif one.numbers is None:
        st.slider(min_value=0.0, max_value=0.7, step=0.01, **usual)
    else:
        st.number_input(**usual, **one.numbers)


def _idle() -> dict[str, Any]:
    """The settings that don't apply to the chosen network, with the values that they then have."""
    cell, found = CELLS[FIELDS["cell"].get()], dict[str, Any]()
    if cell.gates:
        found["activation"] = "tanh"
    if not cell.mixes:
        found["dropout_weight"] = 0.0
    if FIELDS["layers"].get() == 1:
        found["dropout_layer"] = 0.0
    return found


def recipe(text: Chosen, key: str) -> Recipe:
    """The recipe of the form's values. Raises ConfigError for settings that don't go together."""
    config, minutes = presets.preset(key, text.corpus.characters, cores())
    values = {name: FIELDS[name].get() for name in SETTINGS} | _idle()
    given = float(FIELDS["minutes"].get()) if FIELDS["until"].get() == "minutes" else None
    changed = given != (minutes or None) or any(v != getattr(config, name) for name, v in values.items())
    values["characters"] = 0 if given else FIELDS["characters"].get()
    chosen = replace(config, **values)
    if not (name := FIELDS["name"].get().strip()):
        raise ConfigError(_("give the run a name, under Settings"))
    return Recipe(chosen, given, FIELDS["watched"].get(), name, changed)
