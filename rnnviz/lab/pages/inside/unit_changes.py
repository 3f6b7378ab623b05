"""Shared by the ways of Cause: a field for units, and a text read without and with a change."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import streamlit as st

from rnnviz.arrays import Array
from rnnviz.figures.themes import VERSUS_FULL, ColourScale
from rnnviz.i18n import _
from rnnviz.lab.pages.inside.page_view import PageView
from rnnviz.ui.shell import dashboard

CONTINUATION_CHARS = 120
CONTINUATION_SEED = 0
MAX_UNITS_CHARS = 2000  # of what a reader writes
DIFFERENCE = ColourScale("diverging", -VERSUS_FULL, VERSUS_FULL)  # bits
MARKED = ColourScale("sequential", 0.0, 5.0)  # marks alone: 1 is a pale colour


@dataclass(frozen=True, eq=False)
class ChangeWay:
    """A way to change something, one of those under Cause; `render` draws it from top to bottom.

    key    its name in the session's field
    label  its name on the page, in English
    """

    view: PageView
    key: ClassVar[str]
    label: ClassVar[str]

    def render(self) -> None:
        raise NotImplementedError


def continuation_options(view: PageView) -> dict[str, Any]:
    """The keywords of `rnnviz.scoring.sampling.resume` for all continuations, with one seed."""
    return {
        "length": CONTINUATION_CHARS,
        "temperature": view.context.temperature,
        "seed": CONTINUATION_SEED,
    }


def render_units_field(view: PageView, **options: Any) -> tuple[int, ...]:
    """Draw a field for the numbers of units, and return them; () while they are invalid."""
    written = st.text_input(
        _("Units, 0 to {last}").format(last=view.H - 1),
        max_chars=MAX_UNITS_CHARS,
        help=_("One, or several separated by commas; a range such as 10-19 works too."),
        **options,
    )
    return read_numbers(written, view.H)


def show_units_hint(view: PageView) -> None:
    """Show how to write the numbers of units."""
    st.info(
        _("Write the numbers of units, from 0 to {last}, such as 3, 17 or 10-19.").format(last=view.H - 1),
        icon=":material/pin:",
    )


def read_numbers(written: str, H: int) -> tuple[int, ...]:
    """The units in a reader's text, such as "3, 10-19", sorted, each once; () if any is not below `H`."""
    # Chinese commas too: an input method types them.
    numbers: set[int] = set()
    for part in filter(None, re.split(r"[\s,;，、]+", written)):
        match = re.fullmatch(r"(\d{1,6})(?:[-–](\d{1,6}))?", part)
        if match is None:
            return ()
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not first <= last < H:
            return ()
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


@dataclass(frozen=True, eq=False)
class ChangedText:
    """A text read with a change: coloured by what it gains, with two continuations, and panels.

    gained         bits (T,) that each character gains with the change
    continuations  without and with the change
    labels         of the text and the two continuations
    at             the index of the chosen character
    """

    key: str
    text: str
    gained: Array
    continuations: tuple[str, str]
    labels: tuple[str, str, str]
    panels: Sequence[dashboard.DashboardPanel]
    at: int

    def render(self) -> None:
        full = f"≥ {VERSUS_FULL:g}"
        plain, changed = self.continuations
        text_label, plain_label, changed_label = self.labels
        gain = _("gain in log₂ P, bits")
        dashboard.mount(
            self.key,
            texts=[
                dashboard.colour_text(self.text, self.gained, DIFFERENCE, text_label, "versus", name=gain),
                # Not linked: continuations are other texts, in which the page's cursor has no place.
                dashboard.ColouredText(
                    plain, mark_difference(plain, changed), "sequential", plain_label, linked=False
                ),
                dashboard.ColouredText(
                    changed, mark_difference(changed, plain), "sequential", changed_label, linked=False
                ),
            ],
            panels=self.panels,
            at=self.at,
            scale=(
                "versus",
                _("lowers log₂ P by {n} bits").format(n=full),
                _("raises it by {n} bits").format(n=full),
            ),
        )


def mark_difference(continuation: str, other: str) -> Array:
    """Colour levels of a continuation: marked from the first character that differs from `other`."""
    # Both come from the same random numbers: up to the first difference they are the same text.
    pairs = zip(continuation, other, strict=False)
    same = next((index for index, (a, b) in enumerate(pairs) if a != b), len(continuation))
    return MARKED.levels(np.where(np.arange(len(continuation)) < same, 0.0, 1.0))
