"""Characters before a model reads them: normalised line ends, and what leaves no trace on a screen."""

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
"""By name, what becomes of single characters beside line ends. "typography" turns what phones and word
processors type into what old plain texts hold, one character for one: what is typed and what is read line up.
"corner-brackets" does that for Chinese: texts with “ ” have none of 「 」.
"""


class Normaliser:
    """CRLF and CR become LF, and characters what their rule says, chunk by chunk, however the text is cut:
    feed every chunk, then finish.

    `name` is the rule's in a model's file, of NORMALISERS; another is a ConfigError. `changed` counts
    characters changed.
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
        self._waiting = ""  # a CR at the end of a chunk waits for what follows

    def feed(self, chunk: str) -> str:
        """The next piece of normalised text, maybe empty."""
        chunk = self._waiting + chunk
        self._waiting = "\r" if chunk.endswith("\r") else ""
        return self._converted(chunk.removesuffix("\r"))

    def finish(self) -> str:
        """What was held back until the text's end was known."""
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
