"""Positions of strings, comments, brackets and indentation in a text, read by Python's own tokeniser.

A text may begin and end anywhere, also within a string, and may be incorrect. The tokeniser reads statement
by statement. A statement can't be Python with a mark that opens nothing, two names side by side, or a `def`
inside a bracket. After such a statement the tokeniser restarts on the next line; `parsed` marks the
characters it understood.
"""

from __future__ import annotations

import keyword
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from rnnviz.arrays import Doubles, Mask

JUDGED_CHARS = 20_000
"""Characters at the beginning by which `is_python` judges."""

MIN_PARSED_SHARE = 0.8
"""The least share of these that must parse, not counting blanks, strings and comments."""

MIN_CODE_SHARE = 0.3
"""The least share of statements that assign, call, or begin with a keyword, as prose doesn't."""

_CLOSING = {")": "(", "]": "[", "}": "{"}
_OPENING = frozenset(_CLOSING.values())
_CONSTANTS = {"None", "True", "False"}
_KEYWORDS = frozenset(keyword.kwlist) - _CONSTANTS
_INFIX = frozenset(("and", "or", "not", "if", "else", "in", "is", "for", "as", "import", "async", "from"))
_OUTSIDE = frozenset(
    (
        *("assert", "break", "class", "continue", "def", "del", "except", "finally", "global", "import"),
        *("nonlocal", "pass", "raise", "return", "try", "while"),
    )
)
_BEGINS = _OUTSIDE | {"from", "if", "elif", "else", "for", "with", "@", "async", "yield"}
_AFTER = frozenset(("<", ">", "<<", ">>", "=", "==", "!=", "/", "//", "%", "&", "|", "^", ":", ";", "->"))
_TRIPLE = re.compile("\"\"\"|'''")
_MARK = re.compile("\"\"\"|'''|[\"']")
_F_BEGINS = getattr(tokenize, "FSTRING_START", -1)  # from Python 3.12 on, an f-string is many tokens
_F_ENDS = getattr(tokenize, "FSTRING_END", -1)
_BLANK_KINDS = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_INKLESS_KINDS = (*_BLANK_KINDS, tokenize.COMMENT)


@dataclass(frozen=True, eq=False)
class PythonText:
    """The syntax around each of T characters, once it has been read; all 0 where `parsed` is 0.

    string   (T,) bool     inside a string, from its opening mark up to its closing one
    comment  (T,) bool     from # to the end of the line
    depth    (T,) float64  number of open brackets
    indent   (T,) bool     in the blanks before a statement
    level    (T,) float64  number of blocks around the statement, as far as its blanks have been read
    parsed   (T,) bool     whether the tokeniser understood the character
    """

    string: Mask
    comment: Mask
    depth: Doubles
    indent: Mask
    level: Doubles
    parsed: Mask


def read_python(text: str) -> PythonText:
    """Read a text of T characters as Python. Never raises.

    >>> found = read_python("f(a, 'b')  # c")
    >>> "".join(".x"[int(x)] for x in found.string), found.depth.tolist()[:3], int(found.comment.sum())
    ('.....xx.......', [0.0, 1.0, 1.0], 3)
    """
    return _best(text).marks


def is_python(text: str) -> bool:
    """Whether a text is Python, by its first 20,000 characters.

    >>> is_python("import os\\nfor name in os.listdir():\\n    print(name)\\n"), is_python("He said yes.")
    (True, False)
    """
    begun = text[:JUDGED_CHARS]
    reading = _best(begun)
    # Strings and comments don't count: any prose could stand in them.
    code = (
        np.array([not c.isspace() for c in begun], np.bool_) & ~reading.marks.string & ~reading.marks.comment
    )
    parsed = int((reading.marks.parsed & code).sum())
    return reading.telling > MIN_CODE_SHARE * reading.statements and parsed >= MIN_PARSED_SHARE * int(
        code.sum()
    )


def _best(text: str) -> _PythonReading:
    """The reading of a text from outside a string, or from inside one if that parses more."""
    reading = _PythonReading(text, "")
    first = _TRIPLE.search(text)
    if first is not None and not reading.marks.parsed.all():
        inside_string = _PythonReading(text, first[0])
        if inside_string.marks.parsed.sum() > reading.marks.parsed.sum():
            return inside_string
    return reading


class _Token(NamedTuple):
    kind: int
    word: str
    start: int
    stop: int


class _NoPythonError(Exception):
    """A token that can't be Python."""


class _Statement:
    """The tokens of a statement so far, including comments and empty lines before it."""

    def __init__(self) -> None:
        self.tokens: list[_Token] = []
        self.ink: list[_Token] = []
        self.open: list[str] = []  # brackets

    def add(self, token: _Token) -> None:
        """Add a token. Raises _NoPythonError where it can't follow."""
        if token.kind == tokenize.ERRORTOKEN or self._out_of_place(token):
            raise _NoPythonError
        self.tokens.append(token)
        if token.kind == tokenize.OP:
            if token.word in _OPENING:
                self.open.append(token.word)
            elif token.word in _CLOSING and (not self.open or self.open.pop() != _CLOSING[token.word]):
                raise _NoPythonError
        if token.kind not in _INKLESS_KINDS:
            self.ink.append(token)

    def _out_of_place(self, token: _Token) -> bool:
        word = token.word if token.kind == tokenize.NAME else ""
        # `def` within an open bracket: the bracket is prose's or belongs to a text that was cut, not to
        # this line.
        if self.open and word in _OUTSIDE:
            return True
        if not self.ink:
            return token.kind == tokenize.OP and token.word in _AFTER
        if not _value(self.ink[-1]):
            return False
        last = self.ink[-1]
        if len(self.ink) == 1 and last.word in keyword.softkwlist:  # soft keyword: match x:
            return False
        # Two strings side by side are one in Python; any other two values are no statement, but most of
        # prose.
        joined = last.kind == token.kind == tokenize.STRING
        return (_value(token) and not joined) or (word in _KEYWORDS and word not in _INFIX)

    @property
    def ended(self) -> bool:
        """Whether the last token ends the statement."""
        kind = self.tokens[-1].kind
        return kind == tokenize.NEWLINE or (kind == tokenize.NL and not self.ink)

    @property
    def telling(self) -> bool:
        """Whether the statement is unlikely in prose."""
        words = [token.word for token in self.ink]
        calls = any(
            b.word == "(" and a.stop == b.start and _value(a)
            for a, b in zip(self.ink, self.ink[1:], strict=False)
        )
        return words[0] in _BEGINS or "=" in words or calls


def _value(token: _Token) -> bool:
    if token.kind == tokenize.NAME:
        return token.word not in _KEYWORDS
    return token.kind in (tokenize.NUMBER, tokenize.STRING)


class _PythonReading:
    """One reading of a text that begins after `opening`, as `marks`. `statements` counts statements,
    `telling` those unlikely in prose.
    """

    def __init__(self, text: str, opening: str) -> None:
        self._text, self._opening = text, opening
        self._lines = text.split("\n")
        self._begins = np.concatenate([[0], np.cumsum([len(line) + 1 for line in self._lines])]).tolist()
        n = len(text)
        string, comment, indent, parsed = np.zeros((4, n), np.bool_)
        depth, level = np.zeros((2, n))
        self.marks = PythonText(string, comment, depth, indent, level, parsed)
        self.statements = self.telling = 0
        self._blocks = [0]  # the blanks before the statements of each open block
        line = 0
        while line < len(self._lines):
            line = self._stretch(line)

    def _stretch(self, first: int) -> int:
        """Read on from a line until a token can't be Python; returns the line to restart on."""
        statement, line = _Statement(), first
        begun = first  # the line of the statement
        try:
            for token in self._tokens(first):
                line = self._line(token.start)
                statement.add(token)
                if statement.ended:
                    self._keep(statement, begun)
                    statement, begun = _Statement(), line + 1
        except _NoPythonError:
            # An error before a statement's first token may come from its indentation: retry from its line.
            return begun if begun > first and not statement.tokens else max(line, begun + 1)
        if statement.tokens:
            self._keep(statement, begun)
        return len(self._lines)

    def _tokens(self, first: int) -> Iterator[_Token]:
        """The tokens from a line on. Raises _NoPythonError where the tokeniser fails."""
        # A text that begins within a string is read with its mark put before it. Places count without it,
        # so `place` takes its length off again on the first line.
        opening = self._opening if first == 0 else ""
        after = (self._lines[line] + "\n" for line in range(first + 1, len(self._lines)))
        lines = chain([opening + self._lines[first] + "\n"], after)
        last = self._begins[first]

        def place(row: int, column: int) -> int:
            line = first + row - 1
            at = self._begins[min(line, len(self._lines))] + column - (len(opening) if line == first else 0)
            return int(at)

        try:
            for token in tokenize.generate_tokens(lambda: next(lines, "")):
                last = place(*token.end)
                yield _Token(token.type, token.string, place(*token.start), last)
        except (tokenize.TokenError, SyntaxError, ValueError, Warning) as error:
            message = str(error)
            # The tokeniser has no error codes; its words differ between Python 3.11 and 3.12.
            within = "triple-quoted" in message or "multi-line string" in message
            begun = _TRIPLE.search(self._text, max(last, 0)) if within else None
            if begun is not None:  # the text ends within it
                end = len(self._text) + len(begun[0])
                yield _Token(tokenize.STRING, begun[0], begun.start(), end)
            elif "EOF in multi-line statement" not in message:
                raise _NoPythonError from None

    def _line(self, at: int) -> int:
        return bisect_right(self._begins, max(at, 0)) - 1

    def _keep(self, statement: _Statement, line: int) -> None:
        """Record the tokens of a statement that begins on a line."""
        begin = min(self._begins[line], len(self._text))
        end = min(max(token.stop for token in statement.tokens), len(self._text))
        self.marks.parsed[begin:end] = True
        for token in statement.tokens:
            if token.kind == tokenize.COMMENT:
                self.marks.comment[token.start : token.stop] = True
        if statement.ink:
            self.statements += 1
            self.telling += statement.telling
            self._keep_strings_and_brackets(statement.ink, begin, end)
        self._keep_indent(statement, end)

    def _keep_strings_and_brackets(self, ink: list[_Token], begin: int, end: int) -> None:
        steps = np.zeros(end - begin + 1)  # brackets opened at each place, less those closed
        f_strings: list[int] = []  # beginnings of the open ones
        for token in ink:
            if token.kind == _F_BEGINS:
                f_strings.append(_opening_mark(token)[0])
            elif token.kind == _F_ENDS:
                self.marks.string[max(f_strings.pop(), 0) : token.start] = True
            elif token.kind == tokenize.STRING:
                start, mark = _opening_mark(token)
                self.marks.string[max(start, 0) : max(token.stop - len(mark), 0)] = True
            elif token.kind == tokenize.OP and not f_strings:
                steps[token.start - begin] += (token.word in _OPENING) - (token.word in _CLOSING)
        self.marks.depth[begin:end] = np.cumsum(steps)[:-1]
        for start in f_strings:
            self.marks.string[start:] = True

    def _keep_indent(self, statement: _Statement, end: int) -> None:
        first = next((t for t in statement.tokens if t.kind not in _BLANK_KINDS), None)
        if first is None or first.start < 0:
            return
        begin = self._begins[self._line(first.start)]
        blanks = first.start - begin
        if statement.ink:
            # As Python does it: fewer blanks close blocks, more open one.
            while self._blocks[-1] > blanks:
                self._blocks.pop()
            if self._blocks[-1] < blanks:
                self._blocks.append(blanks)
        self.marks.indent[begin : first.start] = True
        # Within the blanks the level grows from block to block, as far as a reader can know it there.
        read = np.arange(1, blanks + 1)  # blanks, at each place
        self.marks.level[begin : first.start] = np.searchsorted(self._blocks, read, "right") - 1
        if self._text[end - 1 : end] == "\n":
            end -= 1
        self.marks.level[first.start : end] = bisect_right(self._blocks, blanks) - 1


def _opening_mark(token: _Token) -> tuple[int, str]:
    """The position of a string's opening mark, and the mark."""
    match = _MARK.search(token.word)
    assert match is not None
    return token.start + match.start(), match[0]
