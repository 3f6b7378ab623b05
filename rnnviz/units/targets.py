"""What a unit might respond to: for each character of a text, whether it holds there, or how much.

    mask    (T,) bool      inside quotes, a capital, a match of a pattern, a span that was selected
    graded  (T,) float     the position in the line, the depth of the indentation

Row t tells what holds once character t has been read, as row t of a trace's
hidden state does. So *inside quotes* begins with the opening mark, after which
the network can know it, and ends before the closing one.

This module knows nothing of networks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.text.vocabulary import code_points
from rnnviz.units.patterns import find_all

Values = npt.NDArray[Any]
Span = tuple[int, int]
Unclosed = Literal["paragraph", "line"]

PAIRED_QUOTES = {"“": "”", "„": "“”", "‘": "’", "«": "»", "‹": "›", "「": "」", "『": "』"}
BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）", "【": "】", "《": "》", "〈": "〉", "⟨": "⟩"}

_QUOTE = re.compile("\"\"\"|'''|\n[ \t]*(?=\n)|[\n\"'“”„‘’«»‹›「」『』]")
_BRACKET = re.compile("\n[ \t]*(?=\n)|[\n()\\[\\]{}（）【】《》〈〉⟨⟩]")


@dataclass(frozen=True, eq=False)
class Target:
    """`values` (T,): bool where it holds or doesn't, float64 where it is a matter of degree.

    `name` is what to call it.
    """

    name: str
    values: Values

    @property
    def graded(self) -> bool:
        """Whether it is a matter of degree."""
        return self.values.dtype != np.bool_

    def __len__(self) -> int:
        """T."""
        return len(self.values)

    def spans(self) -> list[Span]:
        """The (start, stop) of each run of characters for which it holds. Raises ConfigError if graded."""
        if self.graded:
            raise ConfigError(
                "{name} is a matter of degree and has no spans; choose one that holds or not", name=self.name
            )
        edges = np.flatnonzero(np.diff(self.values.astype(np.int8), prepend=0, append=0))
        return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _from_spans(spans: Sequence[Span], length: int) -> Values:
    steps = np.zeros(length + 1, np.int64)
    for start, stop in spans:
        steps[start] += 1
        steps[stop] -= 1
    return np.asarray(np.cumsum(steps[:-1]) > 0)


def inside_quotes(text: str, *, unclosed: Unclosed = "paragraph") -> Values:
    """From an opening mark up to the one that closes it, (T,) bool.

    Curly, angle and corner marks nest. A straight double mark opens and closes
    in turn; a straight single one opens where no letter or digit stands
    before it, and closes where none follows, so that apostrophes do neither,
    and one after a backslash does nothing inside straight marks. Three
    straight marks, as around Python's docstrings, close only with three.

    What is never closed ends where its paragraph does, at an empty line, and
    counts up to there, as in speech that goes on in the next paragraph. With
    `unclosed` "line" it ends with its line: for programs, and texts whose paragraphs are lines.
    """
    by_line = _by_line(unclosed)
    spans: list[Span] = []
    open_at, waiting = 0, list[str]()  # what would close each open mark, the innermost last
    for match in _QUOTE.finditer(text):
        at, mark = match.start(), match[0]
        was = bool(waiting)
        if mark[0] == "\n":
            triple = bool(waiting) and len(waiting[0]) == 3
            if not triple and (by_line or len(mark) > 1 or text[at + 1 : at + 2] == "\n"):
                waiting.clear()
        elif waiting and waiting[-1] in ('"', "'", '"""', "'''"):
            # Of straight marks only their own kind means anything, but curly ones may be of the text inside.
            if mark == waiting[-1] and not _escaped(text, at) and (mark != "'" or not _word(text, at + 1)):
                waiting.pop()
            elif mark == "'" and waiting[-1] == '"' and not _word(text, at - 1) and _word(text, at + 1):
                waiting.append("'")
            elif mark == '"' and waiting[-1] == "'" and '"' in waiting:
                del waiting[waiting.index('"') :]  # the outer one ends; the inner was an apostrophe
        elif waiting and mark in waiting[-1]:
            if mark != "’" or not _word(text, at + 1):
                waiting.pop()
        elif mark in PAIRED_QUOTES:
            waiting.append(PAIRED_QUOTES[mark])
        elif mark in ('"', '"""', "'''") or (mark == "'" and not _word(text, at - 1)):
            waiting.append(mark)
        if waiting and not was:
            open_at = at
        elif was and not waiting:
            spans.append((open_at, at))
    if waiting:
        spans.append((open_at, len(text)))
    return _from_spans(spans, len(text))


def inside_brackets(text: str, *, unclosed: Unclosed = "paragraph") -> Values:
    """From an opening bracket, of any kind, up to the one that closes it, (T,) bool.

    A closing bracket of the wrong kind is passed over. `unclosed` as for `inside_quotes`.
    """
    return bracket_depth(text, unclosed=unclosed) > 0


def bracket_depth(text: str, *, unclosed: Unclosed = "paragraph") -> Values:
    """How many brackets are open, (T,) float64; see `inside_brackets`."""
    by_line = _by_line(unclosed)
    steps = np.zeros(len(text) + 1)
    waiting: list[str] = []
    for match in _BRACKET.finditer(text):
        at, mark = match.start(), match[0]
        if mark[0] == "\n":
            if waiting and (by_line or len(mark) > 1 or text[at + 1 : at + 2] == "\n"):
                steps[at] -= len(waiting)
                waiting.clear()
        elif mark in BRACKETS:
            waiting.append(BRACKETS[mark])
            steps[at] += 1
        elif waiting and mark == waiting[-1]:
            waiting.pop()
            steps[at] -= 1
    return np.cumsum(steps[:-1])


def line_position(text: str) -> Values:
    """How many characters of its line have been read, (T,) float64; 0 at the line break itself."""
    place = np.arange(len(text))
    breaks = np.where(code_points(text) == ord("\n"), place, -1)
    return np.asarray(place - np.maximum.accumulate(breaks), np.float64)


def indent_depth(text: str) -> Values:
    """How many blank characters its line begins with, as far as it has been read, (T,) float64."""
    blank = np.array([c.isspace() and c != "\n" for c in text], np.bool_)
    position = line_position(text)
    # The first character of a line that is not blank ends the indentation.
    place = np.arange(len(text))
    start = place - position.astype(np.int64) + 1
    solid = np.maximum.accumulate(np.where(blank, -1, place)) if len(text) else place
    leading = blank & (solid < start)
    depth = np.where(leading, position, 0.0)
    ends = np.flatnonzero(leading)
    last = np.full(len(text), -1)
    last[ends] = ends
    last = np.maximum.accumulate(last) if len(text) else last
    same_line = (last >= start) & (position > 0)
    return np.where(same_line, depth[last], 0.0) if len(text) else depth


def _each(test: Callable[[str], bool]) -> Callable[[str], Values]:
    """A mask from a test of single characters; each different character is tested once."""

    def mask(text: str) -> Values:
        points, which = np.unique(code_points(text), return_inverse=True)
        found: Values = np.array([test(chr(p)) for p in points.tolist()], np.bool_)[which]
        return found

    return mask


def _vowel(character: str) -> bool:
    return unicodedata.normalize("NFD", character)[0] in "aeiouAEIOU"


_alphanumeric = _each(str.isalnum)


def _word_start(text: str) -> Values:
    word = _alphanumeric(text)
    return np.asarray(word & ~np.concatenate(([False], word))[:-1])


def _indentation(text: str) -> Values:
    blank = _each(lambda c: c.isspace() and c != "\n")(text)
    return np.asarray(blank & (indent_depth(text) == line_position(text)))


def _line_start(text: str) -> Values:
    return np.asarray(line_position(text) == 1)


@dataclass(frozen=True)
class _Kind:
    find: Callable[..., Values]
    about: str
    closes: bool = False  # takes `unclosed`


KINDS: Mapping[str, _Kind] = {
    "quotes": _Kind(inside_quotes, "inside quotation marks", closes=True),
    "brackets": _Kind(inside_brackets, "inside brackets", closes=True),
    "bracket-depth": _Kind(bracket_depth, "how many brackets are open (graded)", closes=True),
    "word-start": _Kind(_word_start, "the first letter or digit after something else"),
    "line-position": _Kind(line_position, "characters since the line began (graded)"),
    "line-start": _Kind(_line_start, "the first character after a line break"),
    "indentation": _Kind(_indentation, "in the blanks that a line begins with"),
    "indent-depth": _Kind(indent_depth, "how many blanks the line begins with (graded)"),
    "capital": _Kind(_each(str.isupper), "a capital letter"),
    "vowel": _Kind(_each(_vowel), "a, e, i, o, u, with or without accents"),
    "digit": _Kind(_each(str.isdigit), "a digit"),
}
"""What can be asked for by name; `about` says what it is."""


def target(name: str, text: str, *, unclosed: Unclosed = "paragraph") -> Target:
    """One of `KINDS` over `text`. `unclosed` is for quotes and brackets, see `inside_quotes`.

    Raises ConfigError for an unknown name, TextError for half a surrogate pair.
    """
    kind = KINDS.get(name)
    if kind is None:
        raise ConfigError(
            "nothing is called {name!r} here; there is {kinds}", name=name, kinds=", ".join(KINDS)
        )
    _by_line(unclosed)
    values = kind.find(text, unclosed=unclosed) if kind.closes else kind.find(text)
    return Target(name, values)


def pattern_target(pattern: str, text: str, *, timeout: float = 2.0) -> Target:
    """The characters that match a regular expression of the user's own, (T,) bool.

    It is searched for in a process of its own, which is ended after `timeout`
    seconds: some patterns would take longer than anybody waits. Raises
    ConfigError for one that is misspelt, or that takes too long or too much memory.
    """
    return Target(f"/{pattern}/", _from_spans(find_all(pattern, text, timeout=timeout), len(text)))


def span_target(spans: Sequence[Span], text: str) -> Target:
    """Characters start .. stop - 1 of each of `spans`, (T,) bool.

    Raises ConfigError for a span that is empty or outside the text.
    """
    for start, stop in spans:
        if not 0 <= start < stop <= len(text):
            raise ConfigError(
                "a span begins and ends within the text of {count:,} characters and is not empty; "
                "received {start} to {stop}",
                count=len(text),
                start=start,
                stop=stop,
            )
    return Target("the selected span", _from_spans(spans, len(text)))


def _by_line(unclosed: str) -> bool:
    if unclosed not in ("paragraph", "line"):
        raise ConfigError("unclosed is 'paragraph' or 'line'; received {unclosed!r}", unclosed=unclosed)
    return unclosed == "line"


def _word(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum()


def _escaped(text: str, at: int) -> bool:
    count = 0
    while at - count > 0 and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1
