"""Characters before a model reads them: line ends are normalised, invisible characters get a visible mark."""

import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from rnnviz.checks import check_text
from rnnviz.errors import ConfigError

_MARKS = {" ": "·", "\n": "⏎", "\x03": "■", "\t": "⇥", "\u3000": "□", "\xa0": "⍽", "\x7f": "␡"}
_PICTURES = {c: 0x2400 + c for c in range(32) if chr(c) not in "\t\n"} | {0x7F: 0x2421}
_PICTURES |= dict.fromkeys(range(0x80, 0xA0), 0x2426)


def visible(symbol: str) -> str:
    """A character as a visible mark; a longer symbol, `<unk>` say, as it is.

    >>> [visible(c) for c in " \\n\\0a"]
    ['·', '⏎', '␀', 'a']
    """
    if len(symbol) != 1:
        return symbol
    if symbol in _MARKS:
        return _MARKS[symbol]
    if symbol < " ":
        return chr(0x2400 + ord(symbol))
    category = unicodedata.category(symbol)
    if category[0] == "M":
        return "◌" + symbol
    return f"U+{ord(symbol):04X}" if category[0] in "ZC" else symbol


def printable(text: str) -> str:
    """A text with its control characters replaced by their pictures (U+2400 ff.)."""
    return text.translate(_PICTURES)


# The normalising of a text before a model reads it.


NORMALISERS: dict[str, dict[str, str]] = {
    "newlines": {},
    "typography": {"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "."},
    "corner-brackets": {"「": "“", "」": "”", "『": "‘", "』": "’"},
}
"""By name, the single characters that are replaced beside line ends.

"typography" turns the quotes and dashes of phones and word processors into those of old plain texts. One
character replaces one, so that typed and read texts line up. "corner-brackets" does the same for Chinese:
texts with “ ” have no 「 」.
"""


class Normaliser:
    """Normalises texts that come piece by piece, and counts the changes.

    Line ends become LF; other characters follow the rule called `name`, one of NORMALISERS, which a model's
    file names. `line_ends` counts the line ends converted, `replaced` the other characters. Raises
    ConfigError for another name.
    """

    def __init__(self, name: str = "newlines") -> None:
        if name not in NORMALISERS:
            raise ConfigError(
                "no normaliser is called {name!r}; there are {names}",
                name=name[:100],
                names=", ".join(NORMALISERS),
            )
        self._table = NORMALISERS[name]
        self.line_ends = self.replaced = 0

    def read(self, text: str) -> str:
        """A text as it is read, in which a CR stands for each line end that isn't LF alone.

        So one character becomes one, wherever a text is cut.
        """
        self.line_ends += text.count("\r")
        self.replaced += sum(map(text.count, self._table))
        return _replaced(self._table, text.replace("\r", "\n"))


def _replaced(table: dict[str, str], text: str) -> str:
    # Looking for a character costs next to nothing beside a translation.
    return (
        text.translate({ord(c): plainer for c, plainer in table.items()})
        if any(c in text for c in table)
        else text
    )


def normalise(text: str, name: str = "newlines") -> str:
    """The whole text, normalised. Raises ConfigError for an unknown name.

    >>> normalise("one\\r\\ntwo\\rthree")
    'one\\ntwo\\nthree'
    >>> normalise("“Wait…”", "typography")
    '"Wait."'
    """
    return Normaliser(name).read(check_text(text).replace("\r\n", "\r"))


def without_shared_line_end(context: str, text: str) -> str:
    """A text that follows another, without a LF that belongs to the other one's last line end.

    >>> without_shared_line_end("one\\r", "\\ntwo"), without_shared_line_end("one", "\\ntwo")
    ('two', '\\ntwo')
    """
    return text.removeprefix("\n") if context.endswith("\r") else text


# A text in regions.


Blanks = Literal["next", "previous"]
"""The word, or the region, for which white space counts."""

UNSPACED = (
    (0x0E00, 0x0FFF),  # Thai, Lao, Tibetan
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x9FFF),  # Chinese characters
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""The ranges of the scripts that don't part words by spaces."""

CLOSING = frozenset(".,;:!?)]}”’…")
"""Punctuation that clings to the word before it."""


def joined(regions: Sequence[str], join: str | None = None, blanks: Blanks = "next") -> list[str]:
    """The regions of a text as they are read, one behind the other.

    join    what stands between two regions that have characters; None: what stands between two words, which
            is the white space that one of them has there, else a blank, and nothing before CLOSING
            punctuation and beside a character of a script without spaces
    blanks  the region for which white space between two counts: the "next" one or the "previous" one

    >>> joined(["The horse raced ", "past the barn", "fell", "."])
    ['The horse raced', ' past the barn', ' fell', '.']
    >>> joined(["walk", "ed home"], ""), joined(["The horse", "fell"], blanks="previous")
    (['walk', 'ed home'], ['The horse ', 'fell'])
    """
    read, last = list[str](), ""
    for region in regions:
        if last and region:
            if join is not None:
                region = join + region
            elif last.isspace():
                region = region.lstrip()
            elif not region[0].isspace() and region[0] not in CLOSING:
                unspaced = any(low <= ord(c) <= high for c in (last, region[0]) for low, high in UNSPACED)
                region = region if unspaced else " " + region
        read.append(region)
        last = region[-1:] or last
    # White space crosses a border after another, so also regions of nothing else.
    for n in range(len(read) - 1)[:: 1 if blanks == "next" else -1]:
        both = read[n] + read[n + 1]
        cut = len(read[n].rstrip()) if blanks == "next" else len(both) - len(read[n + 1].lstrip())
        read[n : n + 2] = both[:cut], both[cut:]
    return read


# A text rewritten: another text, which a model may know better.

PLAINER: dict[str, dict[str, str]] = {
    "straight": dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛", "'"),
    "plain": {"—": "--", "…": "..."}
    | dict.fromkeys("‐‑‒–−", "-")
    | dict.fromkeys("\xa0\u2002\u2003\u2009\u202f", " "),
}
"""By name, the single characters that a rewriting replaces."""

REWRITINGS: dict[str, Callable[[str], str]] = {
    "composed": partial(unicodedata.normalize, "NFC"),
    **{name: partial(_replaced, table) for name, table in PLAINER.items()},
}
"""By name, changes of the text itself: an accent and its letter become one character (Unicode's NFC), quotes
straight, dashes, dots and spaces those of a typewriter.
"""
