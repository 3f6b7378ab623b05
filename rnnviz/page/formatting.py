"""Words, numbers and characters in the session's language, for all pages."""

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

from rnnviz import sentences
from rnnviz.findings import Number, Sentence
from rnnviz.i18n import N_, _, language, ngettext
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.sentences import format_number
from rnnviz.text.vocabulary import END


def rounded(value: float, digits: int = 2) -> str:
    """A perplexity in words: with decimals while they matter, then without, then as "98.7 million"."""
    return format_number(Number(value, "perplexity", digits), language())


def signed(value: float, digits: int = 2) -> str:
    """A difference, with its sign: +0.12, −1,234.50."""
    return format_number(Number(value, "signed", digits), language())


def spoken(value: object) -> str:
    """A finding's words in the session's language, without Markdown: for a picture or a label."""
    return sentences.describe(value, language(), str, marked=False)


def measure_name(finding: Any) -> str:
    """The name of the measure by which a search, or a finding in a model's card, ranks units."""
    return spoken(Sentence(f"measure.{finding.measure.lower()}"))


def choices(perplexity: float) -> str:
    """A perplexity as a number of characters that a model hesitates between: whole from 3 on."""
    return rounded(perplexity, 0 if perplexity >= 3 else 1)


def together(sentences_said: Iterable[str]) -> str:
    """Sentences joined by the language's space; Chinese has none."""
    return sentences.join_sentences(sentences_said, language())


def percent(share: float) -> str:
    """A share, from 0 to 1, in percent: 0 % only for none, 100 % only for all."""
    return format_number(Number(share, "percent"), language())


def duration(seconds: float) -> str:
    """A number of seconds, in minutes and seconds; at least 1 s."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return _("{s} s").format(s=max(whole, 1))
    return _("{m} min {s} s").format(m=whole // 60, s=whole % 60)


def character_name(character: str) -> str:
    """A character's name: a translated one for control characters, Unicode's for all others."""
    # Unicode gives control characters no name.
    controls = {"\n": _("line end"), "\t": _("tab"), "\0": _("NUL"), "\r": _("carriage return")}
    return controls.get(character) or unicodedata.name(character, _("without a name")).capitalize()


def size(count: float) -> str:
    """A number of bytes, rounded up, in bytes, kB or MB of 1,000 each."""
    if (n := math.ceil(count)) < 1000:
        return ngettext("{n} byte", "{n} bytes", n).format(n=n)
    if count < 1_000_000:
        return f"{count / 1000:,.1f} kB"
    return f"{count / 1_000_000:,.1f} MB"


def presenting_words() -> dict[str, str]:
    """The presentation's button, by the names that browser/static/present.js uses; Learn's has the same."""
    return {
        "present": _("Present"),
        "present.help": _("Fill the screen, for a projector (P; Escape comes back)"),
        "leave": _("Leave the presentation (Escape)"),
    }


def view_words() -> dict[str, str]:
    """The words that the live view and the training view share, by the name their browser modules use."""
    return {
        "layer": _("Layer"),
        "layer.n": _("layer {n}"),
        "order": _("Units"),
        "order.index": _("by number"),
        "order.alike": _("grouped by similarity"),
        "zoom": _("Rows"),
        "zoom.all": _("all {n}"),
        "next": _("Next character"),
        "next.at": _("Expected after"),
        "next.start": _("Expected first"),
        "next.other": _("others"),
        "next.notice": _("A long bar: the network is sure. Many short ones: it isn't."),
        "next.entropy": _("unsure: {bits} bits"),
        "next.left": _("{n} left to draw from"),
        "next.write": _("write {c}, {p}"),
        "next.said": "{c}, {p}",
        "unk": _("unknown"),
        **{f"name.{character}": name for character, name in punctuation_names().items()},
    }


def punctuation_names() -> dict[str, str]:
    """Names of the characters that a screen reader skips."""
    return {
        " ": _("space"),
        "\n": _("line end"),
        END: _("end of the text"),
        "\t": _("tab"),
        "\u3000": _("wide space"),
        ".": _("full stop"),
        ",": _("comma"),
        ";": _("semicolon"),
        ":": _("colon"),
        "!": _("exclamation mark"),
        "?": _("question mark"),
        "'": _("apostrophe"),
        '"': _("quotation mark"),
        "-": _("hyphen"),
        "_": _("underscore"),
        "(": _("opening bracket"),
        ")": _("closing bracket"),
    }


def network(name: str, units: int, layers: int) -> str:
    """A network's kind and size in words."""
    if layers > 1:
        return _("{name}, {layers} layers of {units} hidden units").format(
            name=name, layers=layers, units=units
        )
    return _("{name}, {units} hidden units").format(name=name, units=units)


TEXTS = {
    "chinese": N_("Journey to the West (Chinese)"),
    "holmes": N_("Sherlock Holmes"),
    "names": N_("First names"),
    "python": N_("Python code"),
    "shakespeare": N_("Shakespeare"),
    "timemachine": N_("The Time Machine"),
}
"""Short titles of the shipped models' texts, by the first part of a model's name."""


def title(info: checkpoint.ModelInfo) -> str:
    """A model's title: a shipped one's text and kind, any other one's name."""
    name = info.path.stem
    # Only a file in rnnviz's own folder is a shipped model: a reader's of the same name may be anything.
    text, _hyphen, kind = name.rpartition("-")
    if text not in TEXTS or info.path.parent != checkpoint.folders()[-1]:
        return name
    kinds = {"ngram": _("counts of {n}").format(n=kind.removesuffix("gram")), "mlp": _("MLP (no memory)")}
    kind = kinds.get(info.kind) or CELLS[info.kind].label
    return _("{text}, {kind}").format(text=_(TEXTS[text]), kind=kind)


def titles(models: Iterable[checkpoint.ModelInfo]) -> dict[str, str]:
    """The titles of models, by the names that addresses and commands use."""
    return {info.path.stem: title(info) for info in models}


def quantity_names() -> dict[str, str]:
    """The name of each quantity of a cell."""
    return {
        "hidden": _("hidden state H"),
        "cell": _("cell C"),
        "reset": _("reset gate R"),
        "update": _("update gate Z"),
        "candidate": _("candidate"),
        "input": _("input gate I"),
        "forget": _("forget gate F"),
        "output": _("output gate O"),
    }


def uncoloured() -> str:
    """The hint above a coloured text in a browser without the CSS Custom Highlight API."""
    return _(
        "This browser shows the text without its colours. Firefox from 140, Chrome and Edge from 105 and "
        "Safari from 17.2 show them."
    )


def quantity_notices() -> dict[str, str]:
    """The sentence on a heat map of each quantity: where to look."""
    return {
        "hidden": _(
            "Each row is one number the network keeps. Look for rows that stay one colour through a whole "
            "word."
        ),
        "cell": _("the long-term memory: look for units that count up, or keep a value and then reset"),
        "reset": _("near 0 the candidate ignores the past: look for dark columns where a word ends"),
        "update": _("near 1 the old state is kept, near 0 it is replaced: look at spaces"),
        "candidate": _("what the cell would write: compare it with the new state"),
        "input": _("near 1 new content is written: look at the first letter of a word"),
        "forget": _("near 1 the memory is kept: look for columns where it is dropped"),
        "output": _("near 1 the memory is shown: look for units that stay silent for long"),
    }
