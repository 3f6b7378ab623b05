"""The characters a model knows, and the integers it reads and predicts.

Layout of the integers, for a vocabulary of V symbols:

    0            <unk>, any character that is not in the vocabulary
    1 .. V - 1   the known characters, in code point order
    V            <s>, the start symbol: read before the first character, never predicted

So a model has V + 1 inputs and V outputs, and a uniform model a perplexity of exactly V on known characters.

A vocabulary that `ends` knows where a text ends. The end is one of its characters, U+0003, which ASCII
calls end of text and no text has inside: predicted after a text's last character, and once it is read the
next text begins, from the state after the start symbol. Where no text that it knows has a line end inside,
a line end is read as the end: then each line is a text, as in a file of names.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Ids, Integers, Points
from rnnviz.checks import check_text, received
from rnnviz.errors import ConfigError, TextError
from rnnviz.reprs import ReprMixin

UNKNOWN_ID = 0
UNKNOWN_SYMBOL = "<unk>"
START_SYMBOL = "<s>"
END = "\x03"
"""The end of a text, in a vocabulary that `ends`."""

# U+0000 .. U+10FFFF without the 2,048 surrogates: the characters that an `<unk>` may stand for.
UNICODE_SCALAR_VALUES = 0x110000 - 0x800


LONG_TEXT_CHARS = 10_000
"""Characters of a text from which what occurs once is read as <unk>. On shorter texts in English or Python a
5-gram model predicts the rest better when it knows every character, by 2 bits per character at 100, 0.05 at
3,000, 0.01 at 10,000; on Chinese ones worse, by up to 0.6. From here on it is all one. What a model doesn't
know, it can't write.
"""

WARNED_SHARE = 0.01
"""The share of a training text that is dropped from which Python warns; a command always says it."""


def usual_min_count(characters: int) -> int:
    """The occurrences that a character needs in a training text of so many, to be in its vocabulary."""
    return 2 if characters >= LONG_TEXT_CHARS else 1


def code_points(text: str) -> Points:
    """The code points of `text`, (T,). Raises TextError for a lone surrogate, which can't be encoded."""
    check_text(text)
    try:
        # UTF-32 is the array of code points: Python's codec makes it at memory speed.
        return np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    except UnicodeEncodeError as error:
        raise TextError(
            "character {position:,} is U+{code_point:04X}, half of a surrogate pair and not a character; "
            "remove it, or read the file again in its right encoding",
            position=error.start + 1,
            code_point=ord(text[error.start]),
        ) from None


@dataclass(frozen=True, repr=False)
class Vocabulary(ReprMixin):
    """The known characters of a model, in code point order, without repetition.

    >>> vocabulary = Vocabulary.from_text("a machine", min_count=1)
    >>> vocabulary.size, vocabulary.encode("cab").tolist(), vocabulary.decode([3, 2, 0])
    (9, [3, 2, 0], 'ca\ufffd')
    """

    characters: tuple[str, ...]
    ends: bool = field(default=False, repr=False)
    _table: Integers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.characters, str | list | tuple):
            raise ConfigError(
                "a vocabulary is made of characters, in a tuple; received {received}",
                received=received(self.characters),
            )
        characters = tuple(self.characters)
        if not characters:
            raise ConfigError("a vocabulary needs at least one character; received none")
        for character in characters:
            if not isinstance(character, str) or len(character) != 1 or 0xD800 <= ord(character) < 0xE000:
                raise ConfigError(
                    "a vocabulary has single characters; received {character!r}", character=character
                )
        if list(characters) != sorted(set(characters)):
            raise ConfigError("a vocabulary's characters must be sorted by code point, each once")
        if self.ends and END not in characters:
            raise ConfigError("a vocabulary of texts that end has U+0003, their end; received none")
        object.__setattr__(self, "characters", characters)
        points = np.fromiter(map(ord, characters), np.int64, len(characters))
        table = np.zeros(int(points[-1]) + 2, np.int64)  # the last cell: everything beyond is unknown
        # Encoding is then one look-up for a whole text. The table is as long as the largest code point known,
        # a million entries at most; what is beyond it falls into the last cell.
        table[points] = np.arange(1, len(characters) + 1)
        if self.by_line:
            table = np.pad(table, (0, max(0, ord("\n") + 2 - len(table))))
            table[ord("\n")] = table[ord(END)]
        object.__setattr__(self, "_table", table)

    @classmethod
    def from_text(
        cls, text: str, *, min_count: int = 0, size: int | None = None, ends: bool = False
    ) -> Vocabulary:
        """The characters that occur at least `min_count` times in `text`, or all if none does; 0: as often as
        `usual_min_count` says.

        Rarer ones become `<unk>`, so a model learns its probability. `size` caps V: the most frequent stay.
        `ends`: the text holds texts that end, each with U+0003 behind it or, where none is there, each in a
        line.
        """
        if not check_text(text):
            raise TextError("a vocabulary needs a text; received an empty one")
        if min_count < 0:
            raise ConfigError(
                "min_count counts occurrences, 0 for as many as suit the text; received {min_count}",
                min_count=min_count,
            )
        if ends and END not in text:
            text = text.replace("\n", END)
        # Without rare characters read as <unk>, a model never learns how likely an unknown one is.
        counts, min_count = Counter(text), min_count or usual_min_count(len(text))
        if ends:
            counts[END] += len(text)  # whatever their number, texts end: never rare
        characters = [c for c, n in counts.items() if n >= min_count] or list(counts)
        if size is not None:
            if size < 2:
                raise ConfigError(
                    "a vocabulary has at least 2 symbols, one character and <unk>; received size {size}",
                    size=size,
                )
            # Ties by code point, so that the same text gives the same vocabulary everywhere.
            characters = sorted(characters, key=lambda c: (-counts[c], c))[: size - 1]
        code_points("".join(characters))  # refuses surrogates with a clear message
        return cls(tuple(sorted(characters)), ends)

    def dropped(self, text: str) -> tuple[str, float]:
        """The characters of a training text that this vocabulary lacks, in a sentence; and their share of it.

        >>> Vocabulary.from_text("hello", min_count=2).dropped("hello")
        ("3 of the text's 4 different characters are too rare and read as <unk>: 'e', 'h', 'o'", 0.6)
        """
        different = set(text)
        if not (lost := sorted(c for c in different if c not in self)):
            return "", 0.0
        examples = ", ".join(map(repr, lost[:10])) + (", …" if len(lost) > 10 else "")
        sentence = (
            f"{len(lost):,} of the text's {len(different):,} different characters are too rare and read as"
        )
        return f"{sentence} <unk>: {examples}", float(np.mean(self.encode(text) == UNKNOWN_ID))

    @property
    def size(self) -> int:
        """V: the number of symbols that can be predicted, `<unk>` among them."""
        return len(self.characters) + 1

    @property
    def start(self) -> int:
        """The integer of the start symbol: an input only."""
        return self.size

    @property
    def end(self) -> int | None:
        """The integer of a text's end; None in a vocabulary of texts that don't end."""
        return int(self._table[ord(END)]) if self.ends else None

    @property
    def by_line(self) -> bool:
        """Whether a line end is read as a text's end."""
        return self.ends and "\n" not in self.characters

    def ended(self, text: str) -> str:
        """A text with its end, if that isn't there. Raises ConfigError in a vocabulary of texts that don't
        end.
        """
        if not self.ends:
            raise ConfigError(
                "this model doesn't know where a text ends, as it was trained on one that doesn't; leave out "
                "ended"
            )
        return text if text and self.encode(text[-1]) == self.end else text + END

    @property
    def unknown_cost(self) -> float:
        """Nats that an unknown character costs on top of -log P(<unk>): all of these are equally likely."""
        return math.log(UNICODE_SCALAR_VALUES - np.count_nonzero(self._table))

    def __contains__(self, character: object) -> bool:
        return (
            isinstance(character, str)
            and len(character) == 1
            and self._table[min(ord(character), len(self._table) - 1)] != 0
        )

    def encode(self, text: str) -> Ids:
        """The integers of the characters of `text`, (T,), int64; 0 where unknown."""
        points = code_points(text)
        return self._table[np.minimum(points, len(self._table) - 1)]

    def decode(self, ids: Sequence[int] | npt.NDArray[np.integer[Any]]) -> str:
        """The text of integers in 1 .. V - 1; `<unk>` comes back as U+FFFD."""
        text = "".join("\ufffd" if i == UNKNOWN_ID else self.characters[int(i) - 1] for i in ids)
        return text.replace(END, "\n") if self.by_line else text

    def symbol(self, index: int) -> str:
        """The character of one integer, `<unk>` or `<s>` spelled out."""
        if index == UNKNOWN_ID:
            return UNKNOWN_SYMBOL
        return START_SYMBOL if index == self.start else self.characters[index - 1]

    def to_json(self) -> list[int]:
        """The code points, for `from_json`."""
        return [ord(c) for c in self.characters]

    @classmethod
    def from_json(cls, value: object, *, ends: bool = False) -> Vocabulary:
        """The vocabulary written by `to_json`. Raises ConfigError for anything else."""
        if not isinstance(value, list) or not all(type(p) is int and 0 <= p <= 0x10FFFF for p in value):
            raise ConfigError("a vocabulary is stored as a list of code points; received something else")
        return cls(tuple(map(chr, value)), ends)


def check_vocabulary(value: object) -> None:
    """Raise ConfigError unless `value` is a Vocabulary."""
    if not isinstance(value, Vocabulary):
        raise ConfigError(
            "a model's vocabulary is a Vocabulary; received {received}", received=received(value)
        )
