"""Findings in words: `locale/findings.toml` has each code's sentence in each of LANGUAGES.

    [search.nothing]
    en = "**Nothing found**: … reaches {measure} {score}; …"
    zh = "…"
    level = "caution"     # one of LEVELS; without it, "said"

`en` may be a list of two: the first sentence is for `n` = 1, the second for any other number `n`. A
template's only Markdown is **bold** and `code`.
"""

import locale
import math
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rnnviz.findings import Number, Sentence
from rnnviz.text.files import printable

LANGUAGES = {"en": "English", "zh": "中文"}
DEFAULT = "en"
FILE = Path(__file__).parent / "locale" / "findings.toml"

LEVELS = ("said", "aside", "caution", "detail", "hint")
"""How a sentence is shown: in the text; small, under it; in a box, and on standard error beside --json;
once details are unfolded; only where a reader can click."""

SCALE_WORD_PERPLEXITY, NO_DIGITS_PERPLEXITY = 1e6, 1e12
"""The perplexity from which a word replaces digits ("98.7 million"), and from which words replace the whole
number, whose digits mean nothing any more."""

_LARGE = {
    "en": ((1e9, " billion"), (1e6, " million")),
    "zh": ((1e8, "亿"), (1e4, "万")),
}
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


@cache
def catalogue() -> Mapping[str, Mapping[str, Any]]:
    """Every code with its entry."""
    with FILE.open("rb") as file:
        return dict(_entries("", tomllib.load(file)))


def _entries(name: str, table: Mapping[str, Any]) -> Iterable[tuple[str, Mapping[str, Any]]]:
    if DEFAULT in table:
        yield name, {key: value for key, value in table.items() if not isinstance(value, dict)}
    for key, below in table.items():
        if isinstance(below, dict):
            yield from _entries(f"{name}.{key}" if name else key, below)


def match_language(name: str | None) -> str:
    """The language of LANGUAGES nearest to a locale such as "zh-CN"; English for any other."""
    language = (name or "").replace("_", "-").split("-")[0].lower()
    return language if language in LANGUAGES else DEFAULT


def terminal_language() -> str:
    """The language of RNNVIZ_LANGUAGE, else the locale's."""
    category = getattr(locale, "LC_MESSAGES", locale.LC_CTYPE)  # Windows has none for messages
    return match_language(os.environ.get("RNNVIZ_LANGUAGE") or locale.setlocale(category, None))


def level(sentence: Sentence) -> str:
    """The sentence's level, one of LEVELS."""
    return str(catalogue()[sentence.code].get("level", LEVELS[0]))


def describe(
    value: object, language: str, escape: Callable[[str], str] = printable, *, marked: bool = True
) -> str:
    """The Markdown of a sentence, a number, words or a list of them, in a language.

    escape  makes the reader's own text harmless
    marked  False leaves out the marks of Markdown, for a terminal

    >>> from rnnviz.findings import words
    >>> describe(words("span", low=Number(0.91), high=Number(-1)), "en")
    '0.910 to −1.000'
    """
    if isinstance(value, Sentence):
        template = catalogue()[value.code][language]
        if isinstance(template, list):
            n = value.values["n"]
            # Singular or plural; Chinese has one form, so its entry is no list.
            template = template[0 if (n.value if isinstance(n, Number) else n) == 1 else 1]
        if not marked:
            template = strip_marks(template)  # now, as the reader's own text, put in below, keeps such marks
        used = ((name, item) for name, item in value.values.items() if f"{{{name}}}" in template)
        described = {name: describe(item, language, escape, marked=marked) for name, item in used}
        return str(template.format(**described))
    if isinstance(value, Number):
        return format_number(value, language)
    if isinstance(value, list):
        return describe(Sentence("list"), language).join(
            describe(item, language, escape, marked=marked) for item in value
        )
    return escape(str(value))


def join_sentences(sentences: Iterable[str], language: str) -> str:
    """Sentences one after another; Chinese has no space between them."""
    return ("" if language == "zh" else " ").join(sentences)


def strip_marks(text: str) -> str:
    """A sentence without the marks of bold and code, for a terminal."""
    return text.replace("**", "").replace("`", "")


def format_number(number: Number, language: str) -> str:
    """A number in a language; a dash for None.

    >>> [format_number(Number(value, "percent"), "en") for value in (0.0004, 0.043, 0.9991, 1.0)]
    ['under 0.1 %', '4.3 %', 'over 99 %', '100 %']
    """
    value, form, digits = number.value, number.form, number.digits
    if value is None or math.isnan(value):
        return "–"
    if form == "perplexity" and value >= NO_DIGITS_PERPLEXITY:
        return describe(Sentence("number.beyond"), language)
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if form == "count":
        return _minus(f"{round(value):,}")
    # Rounding must not turn some into none, or nearly all into all.
    if form == "percent" and (0 < value < 0.001 or 0.995 <= value < 1):
        return describe(Sentence("number.under" if value < 0.5 else "number.over"), language)
    if form == "percent":
        return f"{100 * value:.1f} %" if 0 < value < 0.1 else f"{100 * value:.0f} %"
    if form == "whole percent":
        return f"{100 * value:.0f} %"
    if form == "perplexity":
        return _perplexity(value, digits, language)
    if form == "significant" and value < 0.0001:
        return "< 0.0001"
    if form == "significant" and value < 0.01:
        import numpy as np  # here, because the help of the commands, which loads this module, loads no numpy

        return np.format_float_positional(value, precision=2, fractional=False, trim="-")
    return _minus(f"{value:+,.{digits}f}" if form == "signed" else f"{value:,.{digits}f}")


def _minus(digits: str) -> str:
    return digits.replace("-", "−")


def _perplexity(value: float, digits: int, language: str) -> str:
    if value < SCALE_WORD_PERPLEXITY:
        return f"{value:,.{digits}f}" if value < 1000 else f"{value:,.0f}"
    size, word = next(pair for pair in _LARGE[language] if value >= pair[0])
    return f"{value / size:.1f}".removesuffix(".0") + word
