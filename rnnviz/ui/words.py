"""Numbers and characters as people read them."""

from __future__ import annotations

import math
import unicodedata

from rnnviz.ui.i18n import _


def rounded(value: float, digits: int = 2) -> str:
    """A perplexity for people: two decimals while they matter, then none."""
    if not math.isfinite(value):
        return "∞"
    return f"{value:,.{digits}f}" if value < 1000 else f"{value:,.0f}"


def named(character: str) -> str:
    """What Unicode calls a character."""
    controls = {"\n": _("line end"), "\t": _("tab"), "\0": _("NUL"), "\r": _("carriage return")}
    return controls.get(character) or unicodedata.name(character, _("without a name")).capitalize()


def size(count: float) -> str:
    """Bytes as people say them."""
    if count < 1000:
        return _("{n} bytes").format(n=f"{count:.0f}")
    if count < 1_000_000:
        return f"{count / 1000:,.1f} kB"
    return f"{count / 1_000_000:,.1f} MB"
