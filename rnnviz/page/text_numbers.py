"""The numbers that Explore shows of a text, each declared once: its name, its words, its place, its formula.

An answer's header has their values and `initial_data.fixed_part` their places; the browser draws
whatever is declared. The page without a server has no Python: `numbers` in engine.js has the same formulas
once more, and the golden tests hold them to those here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnviz.i18n import N_, _
from rnnviz.scoring.trace import Trace


@dataclass(frozen=True)
class TextNumber:
    """A number of a text.

    name     in the answer's header, in the browser's class and test id
    label    its word on the page
    formula  its value of a Trace; not called for an empty text, unless it is a count. None: the browser
             knows the value, which depends on the caret
    help     the sentence under the pointer
    count    whether it is a count, which has no decimals, and is 0 of an empty text
    folded   whether it is under More, not in the header
    """

    name: str
    label: str
    formula: Callable[[Trace], float] | None
    help: str = ""
    count: bool = False
    folded: bool = False


# Words are marked here and translated at each use: the module is imported before a language is chosen.
TEXT_NUMBERS = (
    TextNumber("characters", N_("characters"), lambda trace: len(trace), count=True),
    TextNumber(
        "perplexity",
        N_("perplexity"),
        lambda trace: float(trace.perplexity[-1]),
        N_("On average it hesitated between about this many characters; unknown ones cost extra"),
    ),
    TextNumber(
        "entropy",
        N_("unsure about the next character (bits)"),
        None,
        N_("The entropy of its prediction: 0 where it is certain"),
    ),
    TextNumber(
        "unknown",
        N_("unknown"),
        lambda trace: int(np.count_nonzero(~trace.known)),
        N_("Characters the network never learnt; underlined in the text"),
        count=True,
    ),
    TextNumber(
        "bits",
        N_("bits per character"),
        lambda trace: float(trace.nll.mean()) / math.log(2),
        N_("The base-2 logarithm of the perplexity"),
        folded=True,
    ),
)
"""In the order on the page."""


def number_values(trace: Trace) -> dict[str, float | None]:
    """The values for an answer's header; None where one is undefined or infinite, which JSON can't say."""
    values: dict[str, float | None] = {}
    for number in TEXT_NUMBERS:
        # An empty text has no perplexity; its mean would be 0 / 0.
        if number.formula is not None:
            value = number.formula(trace) if len(trace) or number.count else math.nan
            values[number.name] = value if math.isfinite(value) else None
    return values


def number_places() -> list[dict[str, Any]]:
    """The numbers as JSON for the browser, in order: `TextNumber` of Explore's types.d.ts."""
    return [{"name": number.name, "count": number.count, "folded": number.folded} for number in TEXT_NUMBERS]


def number_words() -> dict[str, str]:
    """The numbers' words in the session's language, by the names that the browser uses."""
    labels = {number.name: _(number.label) for number in TEXT_NUMBERS}
    return labels | {f"{number.name}.help": _(number.help) for number in TEXT_NUMBERS if number.help}
