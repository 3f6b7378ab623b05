"""What the page's part that trains has beside a text: its words, and the package's settings as dials."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import Any, get_args

from rnnviz import __version__
from rnnviz.errors import ConfigError
from rnnviz.i18n import _
from rnnviz.networks.config import Initialisation, TrainConfig
from rnnviz.networks.settings import Setting, settings_of
from rnnviz.text import corpora

CELLS = ("rnn", "gru", "lstm")
"""The cells that the page trains."""

UNITS = (16, 32, 48, 64, 96, 128)
SECONDS = (10, 30, 60, 180, 600)
HIGHEST = {"batch": 64, "steps": 128}
"""What a phone's memory and one core can do: less than the package."""

DIALS = ("cell", "hidden_size")
MORE_DIALS = (
    "learning_rate",
    "optimiser",
    "clip",
    "weight_decay",
    "initialisation",
    "sigma",
    "activation",
    "steps",
    "batch",
    "fresh_rows",
    "seed",
)
"""Settings of `TrainConfig` that the page offers: those in sight, and those under More, in order."""

RECIPE = TrainConfig(
    cell="gru",
    hidden_size=64,
    embedding_size=0,
    batch=32,
    steps=32,
    learning_rate=0.03,
    weight_decay=0.1,
    fresh_rows=1 / 16,
)
"""The recipe for a text, of a minute: of 14 that were tried on The Time Machine, the one with the lowest
validation perplexity, 4.4 (with a rate of 0.01 and 3/16 fresh rows 4.7).
"""

WORD_RECIPE = TrainConfig(
    cell="rnn",
    hidden_size=16,
    embedding_size=0,
    batch=1,
    steps=7,
    learning_rate=0.02,
    weight_decay=0.0,
)
"""The recipe for a text too short to be split, of ten seconds: the package's toy's, with 16 units."""

SENT = (*DIALS, *MORE_DIALS, "min_count")
"""Settings that an order of a training has (types.d.ts: Recipe)."""

WATCHED = {
    "timemachine": 'I looked at the Time Traveller. "There is something the matter," he said.',
    "names": "Arabella\nKatrinka\nMirabel",
}
"""The first sentence to watch, by text."""


def training_corpora() -> list[corpora.Corpus]:
    """The texts that come with the page."""
    return [corpora.read(name) for name in WATCHED]


def training_fixed() -> dict[str, Any]:
    """The unchanging part of the page's training, in the session's language (TrainingFixed in types.d.ts)."""
    settings = settings_of(TrainConfig)
    return {
        "words": training_words(),
        "version": __version__,
        "dials": [_dial(name, settings[name]) for name in DIALS + MORE_DIALS],
        "applying": _applying(),
        "times": [[seconds, _time(seconds)] for seconds in SECONDS],
        "recipes": {
            "text": {"seconds": 60, **_sent(RECIPE)},
            "word": {"seconds": 10, **_sent(WORD_RECIPE)},
        },
        "shortestSplit": corpora.SHORTEST_SPLIT,
    }


def _time(seconds: int) -> str:
    if seconds < 60:
        return _("{s} s").format(s=seconds)
    return _("{n} min").format(n=seconds // 60)


def _sent(recipe: TrainConfig) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in SENT}


def _dial(name: str, about: Setting) -> dict[str, Any]:
    """A setting's control as JSON (Dial in types.d.ts)."""
    control = about.control
    if control is None:
        raise ValueError(f"{name} has no control")
    words = control.words or {}
    values: Iterable[Any] = {"cell": CELLS, "hidden_size": UNITS}.get(name, words)
    low, high = control.numbers or about.limits or (0, 0)
    return {
        "name": name,
        "label": _(control.label),
        "help": _(control.help),
        "more": name in MORE_DIALS,
        "choices": [[value, _(words[value]) if words else str(value)] for value in values],
        "low": low,
        "high": HIGHEST.get(name, high),
        "whole": control.step is None and not about.is_share,
        "off": about.off,
    }


def _applying() -> dict[str, dict[str, list[str]]]:
    """The dials that do anything, by cell and initialisation; the identity is for an RNN alone."""
    applying: dict[str, dict[str, list[str]]] = {cell: {} for cell in CELLS}
    for cell, initialisation in product(CELLS, get_args(Initialisation)):
        try:
            recipe = replace(RECIPE, cell=cell, initialisation=initialisation)
        except ConfigError:
            continue
        applying[cell][initialisation] = [
            name for name in DIALS + MORE_DIALS if settings_of(TrainConfig)[name].applies(recipe)
        ]
    return applying


def training_words() -> dict[str, str]:
    """The words of the page's part that trains. Those on files of a reader's are `text_words`."""
    return {
        "training.about": _(
            "Press Start: {network} reads {text} for {time}, in this browser. You watch it learn to predict "
            "a sentence."
        ),
        "training.network": _("a network of {units} {cell} units"),
        "training.named": _("your {cell} {units} · {text}"),
        "training.under-way": _("{cell}, {units} units · {text} · {time}"),
        "training.text": _("Text"),
        "training.time": _("Train for"),
        "training.own": _("Your own text …"),
        "training.timemachine": _("The Time Machine"),
        "training.names": _("First names"),
        "training.word": _("“{word}”, the toy"),
        "training.own.text": _("your text"),
        "training.lines": _("Each line is a separate text"),
        "training.more": _("More settings"),
        "training.start": _("Start"),
        "training.pause": _("Pause"),
        "training.continue": _("Go on training"),
        "training.stop": _("Stop"),
        "training.another": _("Train another"),
        "training.save": _("Save"),
        "training.look": _("Look at it"),
        "training.forget": _("Delete everything"),
        "training.forgotten": _("Deleted: this browser keeps nothing of your training."),
        "training.number": _("{label} is a number from {low} to {high}; received “{value}”."),
        "training.whole": _("{label} is a whole number from {low} to {high}; received “{value}”."),
        # Of a file: what the part for whole texts says of it doesn't fit here.
        "text.empty": _("This file is empty; a training needs at least 2 characters."),
        "text.damaged": _(
            "{name} is UTF-8 but damaged: byte {position} (0x{byte}) can't be decoded; repair it there"
        ),
        "text.large": _(
            "{name} has {n} bytes, and the page reads at most {most}. Train on it with the command: "
            "python -m rnnviz train"
        ),
        "train.short": _("A text to train on has at least 2 characters; received {n}."),
        "train.long": _("A text to train on here has at most {most} characters; received {n}."),
        "training.is.begins": _("Reading the text and counting its letters …"),
        "training.is.measures": _("Measuring it on text that it never read …"),
        "training.left": _("{time} left · {speed} characters a second"),
        "training.is.runs": "",
        "training.is.paused": _("Paused."),
        "training.is.hidden": _("Paused while the page was hidden."),
        "training.is.ended": "",
        "training.after": _(
            "After {n} characters: perplexity {perplexity} on text that it doesn't train on. Guessing by "
            "letter frequencies alone: {letters}."
        ),
        "training.after.word": _(
            "After {n} characters: perplexity {perplexity} on the text itself, which it learns by heart. "
            "A uniform guess: {uniform}."
        ),
        "training.best": _(
            "The best weights are kept, those after {n} characters: perplexity {perplexity} on text that it "
            "doesn't train on. Guessing by letter frequencies alone: {letters}."
        ),
        "training.overfits": _(
            "From {n} characters on it gets worse there and better on its own text: it overfits, learning "
            "its text by heart."
        ),
        "training.overfitted": _("Later it overfitted: better on its own text, worse on this."),
        "training.passed": _("It beats a table that counts {n}-character sequences, which has {ngram}."),
        "training.held": _(
            "That text was used to choose the weights; on {n} other characters, its perplexity is "
            "{perplexity}."
        ),
        "training.open": _("It is in the list of networks now: type, and look inside."),
        "training.worse": _(
            "Its training perplexity is {perplexity}, above a uniform guess ({uniform}): the steps are "
            "too large."
        ),
        "training.exploded": _("The gradient's norm was {first} at the start and reached {last}."),
        "training.advice": _("Lower the learning rate."),
        "training.advice.clip": _("Clip the gradients, or lower the learning rate."),
        "training.diverged": _("Training has diverged: the loss is no longer a number."),
        "training.curve": _(
            "Lower is better. Dashed: a uniform guess. Dotted: letter frequencies alone, and counts of "
            "{n}-character sequences."
        ),
        "training.curve.word": _("Lower is better; 1 is by heart. Dashed: a uniform guess."),
        "training.curve.up": _("Above the dashed line it predicts worse than a uniform guess."),
        "training.norm": _("The gradient's norm. It is scaled down to {clip} where it is larger."),
        "training.norm.free": _(
            "The gradient's norm, which nothing limits: watch it jump when steps are too large."
        ),
        "training.sample": _("Sample text"),
        "training.sample.notice": _("What it writes by now: how much looks like the text it reads?"),
        "training.kept": _("Kept in this browser: {name}, after {n} characters, {share} of its time."),
        "training.kept.done": _("Kept in this browser: {name}. Its training has ended."),
        "training.replaces": _("Start replaces the training that is kept here: {name}."),
        "training.kept.full": _(
            "This browser's storage is full. Training works, but it is lost when you close the page."
        ),
        "training.kept.none": _(
            "This browser has no storage for pages. Training works, but it is lost when you close the page."
        ),
        "training.kept.refused": _(
            "This browser keeps nothing here, as in a private window. Training works, but it is lost when "
            "you close the page."
        ),
        "training.pictures": _("The training in pictures"),
        "training.x": _("characters read"),
        "training.y": _("perplexity"),
        "training.y.norm": _("gradient norm"),
        "training.line.train": _("training"),
        "training.line.validation": _("validation"),
        "training.line.uniform": _("uniform"),
        "training.line.letters": _("letters"),
        "training.line.ngram": _("{n}-gram"),
    }
