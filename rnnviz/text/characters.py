"""Characters before a model reads them: line ends are normalised, invisible characters get a visible mark."""

import unicodedata

from rnnviz.errors import ConfigError
from rnnviz.text.validate import check_text

_MARKS = {" ": "·", "\n": "⏎", "\t": "⇥", "\u3000": "□", "\xa0": "⍽", "\x7f": "␡"}
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
    """Normalises a text chunk by chunk, with the same result wherever the text is cut. Feed every chunk, then
    finish.

    CRLF and CR become LF; other characters follow the rule called `name`, one of NORMALISERS, which a model's
    file names. `changed` counts the characters changed. Raises ConfigError for another name.
    """

    def __init__(self, name: str = "newlines") -> None:
        if name not in NORMALISERS:
            raise ConfigError(
                "no normaliser is called {name!r}; there are {names}",
                name=name[:100],
                names=", ".join(NORMALISERS),
            )
        self._table = str.maketrans(NORMALISERS[name])
        self.changed = 0
        self._waiting = ""  # a CR at the end of a chunk waits for the next character

    def feed(self, chunk: str) -> str:
        """The normalised text as far as it is certain, maybe empty."""
        chunk = self._waiting + chunk
        self._waiting = "\r" if chunk.endswith("\r") else ""
        return self._converted(chunk.removesuffix("\r"))

    def finish(self) -> str:
        """The text's last character, if `feed` held it back: a CR, before which a LF may have followed."""
        last, self._waiting = self._waiting, ""
        return self._converted(last)

    def _converted(self, text: str) -> str:
        # Each CR is either removed (before a LF) or turned into one: one change each.
        changes = text.count("\r")
        self.changed += changes
        if changes:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if self._table and (found := sum(map(text.count, map(chr, self._table)))):
            self.changed += found
            text = text.translate(self._table)
        return text


def normalise(text: str, name: str = "newlines") -> str:
    """The whole text, normalised. Raises ConfigError for an unknown name.

    >>> normalise("one\\r\\ntwo\\rthree")
    'one\\ntwo\\nthree'
    >>> normalise("“Wait…”", "typography")
    '"Wait."'
    """
    normaliser = Normaliser(name)
    check_text(text)
    return normaliser.feed(text) + normaliser.finish()
