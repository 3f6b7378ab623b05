"""Targets: whether, or how much, a property holds at each character of a text.

    mask    (T,) bool      inside quotes, a capital, a match of a pattern, a selected span
    graded  (T,) float     the position in the line, the depth of the indentation

Row t holds once character t has been read, as a trace's hidden state does: *inside quotes* begins with the
opening mark, after which the network can know it.

Rules of thumb for prose find quotes, brackets and indentation. Programs have a parser: Python's own tokeniser
reads the targets called py-… (`rnnviz.lab.analysis.python_text`). On 40 modules of the standard library, 1.6
million characters, the rules differ from the tokeniser on this share of the characters:

    unclosed      strings   brackets   indentation
    "line"          0.7 %      7.7 %         4.8 %      ends a call's brackets with its first line
    "paragraph"     2.3 %      3.6 %         4.8 %

One odd mark in a comment can invert a rule for the rest of a text.
"""

import json
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rnnviz.arrays import Array
from rnnviz.checks import check_text, checked, received
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis import python_text
from rnnviz.lab.analysis.python_text import PythonText
from rnnviz.text.vocabulary import code_points

Span = tuple[int, int]
Unclosed = Literal["paragraph", "line"]

PAIRED_QUOTES = {"“": "”", "„": "“”", "‘": "’", "«": "»", "‹": "›", "「": "」", "『": "』"}
STRAIGHT_QUOTES = ('"', "'", '"""', "'''")
BRACKETS = {"(": ")", "[": "]", "{": "}", "（": "）", "【": "】", "《": "》", "〈": "〉", "⟨": "⟩"}


def _marks(*marks: str) -> re.Pattern[str]:
    """A pattern for line breaks, those before an empty line as group "paragraph", and `marks`."""
    return re.compile("|".join(["(?P<paragraph>\n(?=[ \t]*\n))", "\n", *map(re.escape, marks)]))


_QUOTE = _marks('"""', "'''", '"', "'", *PAIRED_QUOTES, *"".join(PAIRED_QUOTES.values()))
_BRACKET = _marks(*BRACKETS, *BRACKETS.values())

MAX_SPEAKER_CHARS = 40
"""Characters of a speaker's name at most, without its colon."""

PLAY_SHARE = 0.01
"""The share of a play's text, at least, that is speakers' names; a novel has few such lines."""

_SPEAKER = re.compile(rf"""[^\W\d_][^:;.!?"“”]{{0,{MAX_SPEAKER_CHARS - 1}}}:""")


@checked
@dataclass(frozen=True, eq=False)
class Target:
    """A target's `values` (T,): a bool mask, or float64 if graded. `parsed` is the share of the characters
    that a parser read rather than rules of thumb; None without a parser. Raises ConfigError for an unfit
    name or values.
    """

    name: str
    values: Array
    parsed: float | None = None

    def __post_init__(self) -> None:
        values: object = self.values
        if not isinstance(values, np.ndarray):
            problem = received(values)
        elif values.ndim != 1 or values.dtype.kind not in "bfiu":
            problem = f"{values.dtype} {values.shape}"
        elif not np.isfinite(values).all():
            at = int(np.argmin(np.isfinite(values)))
            problem = f"{values[at]} at character {at:,}"
        else:
            return
        raise ConfigError(
            "a target's values are an array (T,) of booleans, or of finite numbers if it is graded; received "
            "{found}",
            found=problem,
        )

    @property
    def graded(self) -> bool:
        """Whether `values` are numbers rather than a mask."""
        return self.values.dtype != np.bool_

    @property
    def varies(self) -> bool:
        """Whether the target isn't constant; only such a target can be searched for."""
        return bool((self.values[1:] != self.values[:-1]).any())

    def __len__(self) -> int:
        return len(self.values)

    def check(self, steps: int) -> None:
        """Raise ConfigError unless the target covers `steps` characters and varies."""
        if len(self) != steps:
            raise ConfigError(
                "{name} covers {characters:,} characters, the activations {steps:,}; take both of the same "
                "text, such as `trace.text`, where a line end is one character",
                name=self.name,
                characters=len(self),
                steps=steps,
            )
        if self.varies:
            return
        if self.graded:
            raise ConfigError(
                "{name} is the same at every character of this text; choose another text", name=self.name
            )
        if self.values.any():
            raise ConfigError(
                "{name} is true at every character of this text; choose another text", name=self.name
            )
        raise ConfigError("{name} is true at no character of this text; choose another text", name=self.name)

    def spans(self) -> list[Span]:
        """The (start, stop) of each run of characters where it holds. Raises ConfigError if graded."""
        if self.graded:
            raise ConfigError(
                "{name} is a matter of degree and has no spans; choose one that is true or false",
                name=self.name,
            )
        # +1 where the target begins to hold and -1 after it ends; zeros outside the text close spans at
        # both ends.
        edges = np.flatnonzero(np.diff(self.values.astype(np.int8), prepend=0, append=0))
        return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _count_open_marks(
    text: str, marks: re.Pattern[str], read: Callable[[str, int, str, list[str]], None], unclosed: Unclosed
) -> Array:
    """The number of open `marks` after each character of `text`, (T,) float64. `read(text, at, mark,
    closing)` applies a mark to the stack of closing marks, innermost last.
    """
    steps = np.zeros(len(text) + 1)
    closing: list[str] = []
    for match in marks.finditer(text):
        at, mark, depth = match.start(), match[0], len(closing)
        if mark != "\n":
            read(text, at, mark, closing)
        # Three marks in a row begin a docstring, which may hold empty lines: it ends with its own mark
        # alone.
        elif closing and len(closing[0]) < 3 and (unclosed == "line" or match["paragraph"]):
            closing.clear()
        steps[at] += len(closing) - depth
    return np.cumsum(steps[:-1])


def _read_quote(text: str, at: int, mark: str, closing: list[str]) -> None:
    innermost = closing[-1] if closing else ""
    after_word, before_word = _is_alphanumeric(text, at - 1), _is_alphanumeric(text, at + 1)
    if innermost in STRAIGHT_QUOTES:
        # Inside straight marks only the same kind closes; curly marks may belong to the quoted text.
        if mark == innermost and not _escaped(text, at) and (mark != "'" or not before_word):
            closing.pop()
        elif mark == "'" and innermost == '"' and not after_word and before_word:
            closing.append("'")
        elif mark == '"' and innermost == "'" and '"' in closing:
            del closing[closing.index('"') :]  # closes the outer mark; the inner was an apostrophe
    elif mark in innermost:
        if mark != "’" or not before_word:
            closing.pop()
    elif mark in PAIRED_QUOTES:
        closing.append(PAIRED_QUOTES[mark])
    elif mark in STRAIGHT_QUOTES and (mark != "'" or not after_word):
        closing.append(mark)


def _read_bracket(_text: str, _at: int, mark: str, closing: list[str]) -> None:
    if mark in BRACKETS:
        closing.append(BRACKETS[mark])
    elif closing and mark == closing[-1]:
        closing.pop()


def _is_alphanumeric(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum()


def _escaped(text: str, at: int) -> bool:
    count = 0
    while at - count > 0 and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1


def inside_quotes(text: str, unclosed: Unclosed) -> Array:
    """From an opening mark up to the mark that closes it, (T,) bool.

    Curly, angle and corner marks nest. A straight double mark opens and closes in turn. A straight single one
    opens after no letter or digit and closes before none, so apostrophes do neither. Inside straight marks, a
    mark after a backslash is ignored. Three straight marks, as in Python's docstrings, close only with three.
    """
    return _count_open_marks(text, _QUOTE, _read_quote, unclosed) > 0


def bracket_depth(text: str, unclosed: Unclosed) -> Array:
    """The number of open brackets, (T,) float64; a closing bracket of the wrong kind is ignored."""
    return _count_open_marks(text, _BRACKET, _read_bracket, unclosed)


def line_position(text: str) -> Array:
    """The number of characters read in the line, (T,) float64; 0 at the line break."""
    place = np.arange(len(text))
    # The last line break at or before each character, as a running maximum of places.
    breaks = np.where(code_points(text) == ord("\n"), place, -1)
    return np.asarray(place - np.maximum.accumulate(breaks), np.float64)


def indent_depth(text: str) -> Array:
    """The number of leading blanks of the line, as far as read, (T,) float64."""
    lines = text.split("\n")
    blanks = np.repeat([len(line) - len(line.lstrip()) for line in lines], [len(line) + 1 for line in lines])
    return np.asarray(np.minimum(line_position(text), blanks[:-1]))


def speaker_names(text: str) -> Array:
    """The lines of a play that name who speaks, up to their colon, (T,) bool: KING RICHARD: or First Lord:

    Such a line begins the text or follows an empty line, and speech follows it in the next. It begins with a
    capital and ends with a colon, and has no other mark that ends a sentence or quotes, and at most
    MAX_SPEAKER_CHARS characters before the colon.
    """
    spans, start, lines = [], 0, text.split("\n")
    for before, line, after in zip(["", *lines], lines, [*lines[1:], "…"], strict=False):
        name = line.strip()
        if not before.strip() and after.strip() and _SPEAKER.fullmatch(name) and name[0].isupper():
            at = start + line.index(name)
            spans.append((at, at + len(name)))
        start += len(line) + 1
    return _from_spans(spans, len(text))


def _mask_by_character(test: Callable[[str], bool]) -> Callable[[str], Array]:
    """A mask from a test of single characters; each distinct character is tested once."""

    def mask(text: str) -> Array:
        points, inverse = np.unique(code_points(text), return_inverse=True)
        holds: Array = np.array([test(chr(p)) for p in points.tolist()], np.bool_)[inverse]
        return holds

    return mask


_alphanumeric = _mask_by_character(str.isalnum)


def _word_start(text: str) -> Array:
    word = _alphanumeric(text)
    return np.asarray(word & ~np.concatenate(([False], word))[:-1])


def _indentation(text: str) -> Array:
    position = line_position(text)
    return np.asarray((position > 0) & (position == indent_depth(text)))


def _vowel(character: str) -> bool:
    return unicodedata.normalize("NFD", character)[0] in "aeiouAEIOU"


class _Kind(NamedTuple):
    find: Callable[..., Array]
    about: str
    closes: bool = False  # takes `unclosed`


KINDS: Mapping[str, _Kind] = {
    "quotes": _Kind(inside_quotes, "inside quotation marks", closes=True),
    "brackets": _Kind(lambda *at: bracket_depth(*at) > 0, "inside brackets", closes=True),
    "bracket-depth": _Kind(bracket_depth, "how many brackets are open (graded)", closes=True),
    "word-start": _Kind(_word_start, "the first letter or digit after something else"),
    "line-position": _Kind(line_position, "characters since the line began (graded)"),
    "line-start": _Kind(lambda text: line_position(text) == 1, "the first character after a line break"),
    "speaker": _Kind(speaker_names, "in a line of a play that names who speaks"),
    "indentation": _Kind(_indentation, "in the blanks that a line begins with"),
    "indent-depth": _Kind(indent_depth, "how many blanks the line begins with (graded)"),
    "capital": _Kind(_mask_by_character(str.isupper), "a capital letter"),
    "vowel": _Kind(_mask_by_character(_vowel), "a, e, i, o, u, with or without accents"),
    "digit": _Kind(_mask_by_character(str.isdigit), "a digit"),
}
"""Targets by name; `about` describes each."""


class _PythonKind(NamedTuple):
    find: Callable[[PythonText], Array]
    otherwise: Callable[[str], Array]
    about: str
    instead_of: str = ""


PYTHON_KINDS: Mapping[str, _PythonKind] = {
    "py-string": _PythonKind(
        lambda read: read.string, lambda text: inside_quotes(text, "line"), "inside a Python string", "quotes"
    ),
    "py-comment": _PythonKind(
        lambda read: read.comment, lambda text: np.zeros(len(text), np.bool_), "in a Python comment"
    ),
    "py-brackets": _PythonKind(
        lambda read: read.depth > 0,
        lambda text: bracket_depth(text, "line") > 0,
        "inside brackets of a Python program, not of its strings and comments",
        "brackets",
    ),
    "py-bracket-depth": _PythonKind(
        lambda read: read.depth,
        lambda text: bracket_depth(text, "line"),
        "how many such brackets are open (graded)",
        "bracket-depth",
    ),
    "py-indentation": _PythonKind(
        lambda read: read.indent,
        _indentation,
        "in the blanks that a Python statement or comment begins with, not those of its further lines",
        "indentation",
    ),
    "py-blocks": _PythonKind(
        lambda read: read.level,
        lambda text: np.ceil(indent_depth(text) / 4),
        "how many blocks a Python statement is in (graded)",
        "indent-depth",
    ),
}
"""Targets that Python's tokeniser reads; on a Python text they replace the rule `instead_of`."""


def kinds(text: str) -> tuple[str, ...]:
    """The names of targets for a text: `KINDS`, "speaker" on a play's text alone; on a Python text
    `PYTHON_KINDS` replace their rules.

    >>> kinds("for name in names:\\n    print(name, 1)\\n")[:3], kinds("He said yes.")[:3]
    (('py-string', 'py-brackets', 'py-bracket-depth'), ('quotes', 'brackets', 'bracket-depth'))
    """
    is_play = np.count_nonzero(speaker_names(text)) > PLAY_SHARE * len(text)
    names = [name for name in KINDS if name != "speaker" or is_play]
    if not python_text.is_python(text):
        return tuple(names)
    better = {kind.instead_of: name for name, kind in PYTHON_KINDS.items() if kind.instead_of}
    return (*(better.get(name, name) for name in names), "py-comment")


def _python_target(name: str, text: str) -> Target:
    kind = PYTHON_KINDS[name]
    code_points(text)  # refuses half a surrogate pair
    read = python_text.read_python(text)
    values = kind.find(read).copy()
    # Where the tokeniser gave up, the rule of thumb reads the piece alone: its own quotes and brackets
    # decide.
    for start, stop in Target("", ~read.parsed).spans():
        values[start:stop] = kind.otherwise(text[start:stop])
    return Target(name, values, float(read.parsed.mean()) if len(text) else 1.0)


@checked
def target(what: str | Target | Array, text: str, *, unclosed: Unclosed = "paragraph") -> Target:
    """A target over `text`: where a property holds, or how much, once each of its T characters has been read.

    what      one of the names below; any other str is a regular expression, whose matches hold; a mask (T,)
              bool, or numbers (T,) for a graded target; a Target is returned as it is
    unclosed  where unclosed quotes and brackets end: with their "paragraph", at an empty line, as in speech
              that goes on in the next; or with their "line", for programs

        quotes brackets bracket-depth word-start line-position line-start speaker indentation
        indent-depth capital vowel digit
        py-string py-comment py-brackets py-bracket-depth py-indentation py-blocks

    Depths, blocks and the position are graded. Python's tokeniser reads the py- targets, and rules of thumb
    the parts that it can't parse (`Target.parsed`). Raises ConfigError for an invalid regular expression or
    an unknown name without matches, and TextError for half a surrogate pair.

    >>> from rnnviz import units
    >>> units.target("quotes", "He said “yes” and").spans()
    [(8, 12)]
    >>> units.target("[0-9]+", "in 1895, or 802701").values.sum()
    np.int64(10)
    """
    if isinstance(what, Target):
        return what
    if not isinstance(what, str):
        return Target("mask", what)
    if what in KINDS or what in PYTHON_KINDS:
        return named_target(what, text, unclosed=unclosed)
    check_text(text)
    matches = pattern_target(what, text)
    if not matches.values.any():
        raise ConfigError(
            "{what!r} is not the name of a target, and as a pattern it matches nothing in this text; the "
            "names are {kinds}",
            what=what,
            kinds=", ".join((*KINDS, *PYTHON_KINDS)),
        )
    return matches


def named_target(name: str, text: str, *, unclosed: Unclosed = "paragraph") -> Target:
    """The `target` of a name. Raises ConfigError for an unknown name."""
    check_text(text)
    if isinstance(name, str) and name in PYTHON_KINDS:
        return _python_target(name, text)
    kind = KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ConfigError(
            "there is no target {name!r}; choose one of {kinds}",
            name=name,
            kinds=", ".join((*KINDS, *PYTHON_KINDS)),
        )
    if unclosed not in ("paragraph", "line"):
        raise ConfigError("unclosed is 'paragraph' or 'line'; received {unclosed!r}", unclosed=unclosed)
    return Target(name, kind.find(text, unclosed) if kind.closes else kind.find(text))


def pattern_target(pattern: str, text: str, *, timeout: float = 2.0) -> Target:
    """The characters that match a user's regular expression, (T,) bool.

    Runs in a separate process, which ends after `timeout` seconds. Raises ConfigError for an invalid pattern,
    or one that takes too long or too much memory.

    >>> pattern_target("[0-9]+", "in 1895, or 802701").spans()
    [(3, 7), (12, 18)]
    """
    return Target(f"/{pattern}/", _from_spans(find_all(pattern, text, timeout=timeout), len(text)))


def span_target(spans: Sequence[Span], text: str) -> Target:
    """Characters start .. stop - 1 of each of `spans`, (T,) bool. Raises ConfigError for a span that is empty
    or outside the text.

    >>> span_target([(1, 3), (2, 4)], "lever").values.tolist()
    [False, True, True, True, False]
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


def _from_spans(spans: Sequence[Span], length: int) -> Array:
    mask = np.zeros(length, np.bool_)
    for start, stop in spans:
        mask[start:stop] = True
    return mask


MAX_PATTERN_CHARS = 1000
"""Characters of a pattern at most."""

SEARCH_MEMORY_BYTES = 1 << 30
"""Bytes that a search may use, where the system can enforce it."""

_INVALID_PATTERN_EXIT = 3

# The pattern comes through standard input: other users could read a command line.
_SEARCH = f"""
import array, json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({SEARCH_MEMORY_BYTES}, {SEARCH_MEMORY_BYTES}))
except (ImportError, OSError, ValueError):
    pass
pattern, text = json.load(sys.stdin)
try:
    compiled = re.compile(pattern, re.MULTILINE)
except (re.error, OverflowError, RecursionError) as error:
    sys.stderr.write(str(error) or "it is too large")
    sys.exit({_INVALID_PATTERN_EXIT})
found = array.array("q")
for match in compiled.finditer(text):
    if match.end() > match.start():
        found.extend(match.span())
sys.stdout.buffer.write(found.tobytes())
"""


def find_all(pattern: str, text: str, *, timeout: float = 2.0) -> list[tuple[int, int]]:
    """The (start, stop) of every non-empty match in order, of an untrusted regular expression.

    Python's regular expressions backtrack: over a line of a's (a+)+b never ends, and blocks the whole
    process. So the search runs in a separate process, with a memory limit and a timeout. Starting the process
    takes about 20 ms. ^ and $ match at line ends; `timeout` is in seconds.

    Raises ConfigError for an unfit or costly pattern, TextError for half a surrogate pair.
    """
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise ConfigError(
            "a pattern has 1 to {longest:,} characters; received {count:,}",
            longest=MAX_PATTERN_CHARS,
            count=len(pattern),
        )
    code_points(text)  # refuses half a surrogate pair
    excerpt = pattern if len(pattern) <= 60 else pattern[:59] + "…"
    try:
        done = subprocess.run(
            # -I and -S: no module of the user, and a quick start.
            [sys.executable, "-I", "-S", "-W", "ignore", "-c", _SEARCH],
            input=json.dumps([pattern, text]).encode("ascii"),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(
            "the search for {pattern!r} was stopped after {timeout:g} seconds; a repetition inside a "
            "repetition, as in (a+)+, can take for ever: write it in another way",
            pattern=excerpt,
            timeout=timeout,
        ) from None
    except OSError as error:
        raise ConfigError(
            "patterns can't be searched for on this machine: {strerror}", strerror=error.strerror
        ) from None
    if done.returncode == _INVALID_PATTERN_EXIT:
        reason = done.stderr.decode("utf-8", "replace")[:200]
        raise ConfigError(
            "the pattern {pattern!r} is not a regular expression: {reason}", pattern=excerpt, reason=reason
        )
    if done.returncode != 0:
        raise ConfigError(
            "the pattern {pattern!r} needs more memory than it may have; write a simpler one", pattern=excerpt
        )
    spans = np.frombuffer(done.stdout, np.int64).reshape(-1, 2)
    return [(start, stop) for start, stop in spans.tolist()]
