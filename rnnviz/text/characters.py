"""Characters that leave no trace on a screen, made visible."""

from __future__ import annotations

import unicodedata

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
