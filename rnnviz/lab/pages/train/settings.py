"""The recipe's form: a preset, and the controls of all settings that have one (rnnviz.networks.settings)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from textwrap import shorten
from types import SimpleNamespace
from typing import Any

import streamlit as st

from rnnviz.errors import ConfigError
from rnnviz.i18n import N_, _
from rnnviz.lab.fit import presets
from rnnviz.lab.fit.estimate import cores
from rnnviz.lab.pages.train.training_text import TrainingText
from rnnviz.lab.run.folder import Description
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.settings import (
    BATCHES,
    LENGTH,
    NETWORK,
    OPTIMISATION,
    REGULARISATION,
    Setting,
    SettingControl,
    settings_of,
)
from rnnviz.ui.shell.fields import Field

MAX_FIELD_CHARS = 80
"""Characters of the field of the sentence to watch, at most. A run from a terminal takes more
(`folder.MAX_WATCH_CHARS`).
"""

MAX_SHARE = 0.7
"""The largest share that a slider offers: a network that loses more of itself hardly learns."""

MAX_SEGMENTS = 4
"""Words of a choice that stand side by side, at most; more are a list to open."""

WATCH_TEXTS = {
    "python-source": "def average(self, values):",
    "python-library": "def average(self, values):",
    "python-docs": "The value of the expression is a list.",
    "timemachine": "the time traveller smiled at the machine",
    "names": "Annabella",  # in no line of the text
    "tinyshakespeare": "What is the night, my lord? The morning",
}
"""Sentences to watch, in the style of the corpora."""


LENGTH_UNIT = SettingControl(
    N_("Train for"), "", LENGTH, 1, {"minutes": N_("minutes"), "characters": N_("characters")}
)
"""The choice of the setting that limits a run's length."""

COLUMNS = ((NETWORK,), (OPTIMISATION, BATCHES), (REGULARISATION, LENGTH))
"""The groups of the form, in columns."""

SETTINGS = {**settings_of(TrainConfig), "minutes": settings_of(Description)["minutes"]}
"""The settings that the form offers, by their names in TrainConfig and in a run's description."""


def setting_controls(settings: Mapping[str, Setting]) -> dict[str, SettingControl]:
    """The form's controls by name, in their order."""
    groups = [group for column in COLUMNS for group in column]
    controls = {name: about.control for name, about in settings.items() if about.control is not None}
    pairs = {"until": LENGTH_UNIT, **controls}.items()
    return dict(sorted(pairs, key=lambda pair: (groups.index(pair[1].group), pair[1].place)))


CONTROLS = setting_controls(SETTINGS)

RECIPE_CONTROLS = {
    name: control for name, control in CONTROLS.items() if name not in ("until", "minutes", "characters")
}
"""The controls of settings that a preset decides. The length of a run is its own."""

PRESET: Field[str] = Field("train-preset")
FIELDS: dict[str, Field[Any]] = {name: Field(f"set-{name}") for name in (*CONTROLS, "name", "watch_text")}


@dataclass(frozen=True)
class FormValues:
    """The values of the form.

    config      the recipe
    minutes     the limit of training, or None
    watch_text  the sentence to watch
    name        the run's name
    changed     whether any setting differs from the preset's
    """

    config: TrainConfig
    minutes: float | None
    watch_text: str
    name: str
    changed: bool


def choose_preset(text: TrainingText | None) -> str:
    """Draw the choice among presets that fit the text; returns the preset's key."""
    words = {
        "toy": _("A few seconds"),
        "one-minute": _("One minute"),
        "one-minute-mingru": _("One minute, minGRU"),
        "five-minutes": _("Five minutes"),
        "best": _("Half an hour"),
        "textbook": _("As in the textbook"),
        "names": _("For short texts that end"),
    }
    keys = presets.fitting(text.corpus.characters if text is not None else 1, cores())
    if text is not None and text.corpus.name == "timemachine" and not text.from_reader:
        keys.append("textbook")
    if text is not None and text.corpus.ends:
        keys.insert(0, "names")
    return PRESET.choose(
        _("2 · Training time"),
        {key: words[key] for key in keys},
        keys[0],
        help=_(
            "The network and its settings are chosen to learn a lot in this time, on this machine and this "
            "text. You can change all of them below, under Settings."
        )
        + " "
        + _(
            "The minGRU is for comparison: its gates see the characters alone, so all time steps are "
            "computed at once. After a minute its perplexity is higher than the LSTM's."
        )
        + " "
        + _(
            "As in the textbook: an RNN on the first 10,000 letters and spaces, by plain gradient descent. "
            "It learns them by heart."
        ),
    )


def default_watch_text(text: TrainingText) -> str:
    """The default sentence to watch: one in the text's style, or from its validation part, which the presets'
    networks never read.
    """
    corpus = text.corpus
    if not text.from_reader and corpus.name in WATCH_TEXTS:
        return WATCH_TEXTS[corpus.name]
    after, end = text.parts[0], sum(text.parts[:2])
    piece = corpus.text[after : min(end, after + 200)]
    if corpus.ends:
        return shorten(re.split("[\n\3]", piece or corpus.text)[0], MAX_FIELD_CHARS, placeholder="")
    if text.toy:
        return corpus.text[:MAX_FIELD_CHARS]
    whole = [piece, *piece.split(maxsplit=1)][-1]  # the piece probably begins inside a word
    return shorten(whole, 44, placeholder="") or whole[:44]


def resolve_fields(text: TrainingText, preset_key: str) -> None:
    """Decide every field: the reader's value for this text and preset, else the preset's."""
    corpus = text.corpus
    config, minutes = presets.preset(preset_key, corpus.characters, cores())
    recipe = {name: getattr(config, name) for name in RECIPE_CONTROLS}
    usual = {name: SETTINGS[name].off if value is None else value for name, value in recipe.items()} | {
        "until": "minutes" if minutes else "characters",
        "minutes": minutes or 1.0,
        "characters": config.characters or round(config.epochs * (text.parts[0] or corpus.characters)),
    }
    for name, value in usual.items():
        # A reader's value belongs to its text and preset: with others, the preset's value shows.
        FIELDS[name].resolve(usual=value, subject=(corpus.sha256, preset_key))
    FIELDS["name"].resolve(usual=f"{corpus.name}-{FIELDS['cell'].get()}"[:60], subject=corpus.sha256)
    FIELDS["watch_text"].resolve(usual=default_watch_text(text), subject=corpus.sha256)


def watch_text_field() -> None:
    """Draw the field of the sentence to watch."""
    st.text_input(
        _("3 · Sentence to watch"),
        max_chars=MAX_FIELD_CHARS,
        help=_(
            "While the network learns, it reads this sentence twice a second. You see what surprises it, "
            "and its hidden states."
        ),
        **FIELDS["watch_text"].widget,
    )


def draw_settings() -> None:
    """Draw every setting, in columns."""
    for column, groups in zip(st.columns(3, gap="medium"), COLUMNS, strict=True):
        with column:
            for group in groups:
                st.markdown("**" + _(group) + "**")
                for name, control in CONTROLS.items():
                    if control.group == group:
                        _field(name, control)
    st.text_input(
        _("Name of the run"),
        max_chars=60,
        help=_("Letters, digits, '.', '_' and '-'. The model gets this name too."),
        **FIELDS["name"].widget,
    )


def _field(name: str, control: SettingControl) -> None:
    if name in ("minutes", "characters") and FIELDS["until"].get() != name:
        return
    widget_options: dict[str, Any] = {
        "label": _(control.label),
        **FIELDS[name].widget,
        "help": _(control.help) if control.help else None,
        "disabled": name in _idle(),
    }
    if control.words is not None:
        words = control.words
        widget_options |= {"options": list(words), "format_func": lambda option: _(words[option])}
        if len(words) > MAX_SEGMENTS:
            st.selectbox(**widget_options)
        else:
            st.segmented_control(required=True, **widget_options)
    elif control.numbers is None:
        st.slider(min_value=0.0, max_value=MAX_SHARE, step=0.01, **widget_options)
    else:
        if control.step is not None:
            widget_options |= {"step": control.step, "format": f"%.{control.digits}f"}
        low, high = control.numbers
        st.number_input(min_value=low, max_value=high, **widget_options)


def _idle() -> dict[str, Any]:
    """The settings that don't apply to the chosen network, with the values that they then have."""
    chosen = SimpleNamespace(**{name: FIELDS[name].get() for name in RECIPE_CONTROLS})
    return {
        name: getattr(TrainConfig, name) for name in RECIPE_CONTROLS if not SETTINGS[name].applies(chosen)
    }


def read_form(text: TrainingText, preset_key: str) -> FormValues:
    """The values of the form. Raises ConfigError for settings that don't go together."""
    config, minutes = presets.preset(preset_key, text.corpus.characters, cores())
    # A setting that doesn't apply takes TrainConfig's default, whatever its disabled field shows.
    field_values = {name: FIELDS[name].get() for name in RECIPE_CONTROLS} | _idle()
    values: dict[str, Any] = {
        name: None if value == SETTINGS[name].off else value for name, value in field_values.items()
    }
    minutes_limit = float(FIELDS["minutes"].get()) if FIELDS["until"].get() == "minutes" else None
    changed = minutes_limit != (minutes or None) or any(
        v != getattr(config, name) for name, v in values.items()
    )
    # 0: the run's process measures its speed and then decides (`process._decide_settings`).
    values["characters"] = 0 if minutes_limit else FIELDS["characters"].get()
    chosen = replace(config, **values)
    if not (name := FIELDS["name"].get().strip()):
        raise ConfigError(_("give the run a name, under Settings"))
    return FormValues(chosen, minutes_limit, FIELDS["watch_text"].get(), name, changed)
