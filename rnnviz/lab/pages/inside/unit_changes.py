"""Shared by the parts of Cause: a field for units, and a text read without and with a change."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from rnnviz.arrays import Array
from rnnviz.figures.themes import VERSUS_FULL, Scale
from rnnviz.i18n import _
from rnnviz.lab.pages.inside.view import View
from rnnviz.ui.shell import dashboard

LENGTH = 120  # characters of a continuation
SEED = 0
DIFFERENCE = Scale("diverging", -VERSUS_FULL, VERSUS_FULL)  # bits
MARKED = Scale("sequential", 0.0, 5.0)  # marks alone: 1 is a pale colour


def drawn(view: View) -> dict[str, Any]:
    """The keywords of `rnnviz.scoring.sampling.resume` for all continuations, with one seed."""
    return {"length": LENGTH, "temperature": view.context.temperature, "seed": SEED}


def write(view: View, **options: Any) -> tuple[int, ...]:
    """Draw a field for the numbers of units, and return them; () while they are invalid."""
    written = st.text_input(
        _("Units, 0 to {last}").format(last=view.H - 1),
        max_chars=2000,
        help=_("One, or several with commas between them; a range such as 10-19 too."),
        **options,
    )
    return numbers(written, view.H)


def wanted(view: View) -> None:
    """Show how to write the numbers of units."""
    st.info(
        _("Write the numbers of units, from 0 to {last}, such as 3, 17 or 10-19.").format(last=view.H - 1),
        icon=":material/pin:",
    )


def numbers(written: str, H: int) -> tuple[int, ...]:
    """The units in a reader's text, such as "3, 10-19", sorted, each once; () if any is not below `H`."""
    found: set[int] = set()
    for part in filter(None, re.split(r"[\s,;，、]+", written)):
        match = re.fullmatch(r"(\d{1,6})(?:[-–](\d{1,6}))?", part)
        if match is None:
            return ()
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not first <= last < H:
            return ()
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def show(
    key: str,
    text: str,
    gained: Array,
    continuations: tuple[str, str],
    labels: tuple[str, str, str],
    panels: Sequence[dashboard.Panel],
    at: int,
) -> None:
    """Draw a text coloured by the bits (T,) `gained` with a change, two continuations, and panels.

    continuations  without and with the change
    labels         of the text and the two continuations
    at             the index of the chosen character
    """
    full = f"≥ {VERSUS_FULL:g}"
    plain, changed = continuations
    dashboard.mount(
        key,
        texts=[
            dashboard.painted(text, gained, DIFFERENCE, labels[0], "versus", said=_("gain in log₂ P, bits")),
            dashboard.Text(plain, apart(plain, changed), "sequential", labels[1], linked=False),
            dashboard.Text(changed, apart(changed, plain), "sequential", labels[2], linked=False),
        ],
        panels=panels,
        at=at,
        scale=(
            "versus",
            _("lowers log₂ P by {n} bits").format(n=full),
            _("raises it by {n} bits").format(n=full),
        ),
    )


def apart(one: str, other: str) -> Array:
    """Colour levels of the continuation `one`: marked from the first character that differs from `other`."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return MARKED.levels(np.where(np.arange(len(one)) < same, 0.0, 1.0))
