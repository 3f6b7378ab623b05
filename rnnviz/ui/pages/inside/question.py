"""What is asked of the units: the controls of the first sub-page, and what they amount to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz import units
from rnnviz.runs import unit_findings
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import words
from rnnviz.ui.pages.inside.common import NAMED, View, quantity
from rnnviz.ui.pages.inside.sources import OWN, Source, pick
from rnnviz.ui.pages.inside.words import PATTERN, SPAN

if TYPE_CHECKING:
    from rnnviz.runs.unit_findings import Recorded
    from rnnviz.units import Target

SOURCE = "inside.source"
SPANS = "inside.spans"  # of st.session_state: the text, and the passages selected in it


@dataclass(frozen=True)
class Question:
    """What is looked for, and where; `source` is None while a file is awaited."""

    target: str
    pattern: str
    quantity: str
    edges: int
    source: Source | None


def ask(view: View) -> Question:
    names = words.targets(view.python)
    found = standing(view, names)
    first = found.target if found is not None else "word-start"
    read = found.quantity if found is not None else "hidden"
    kind, what, where = st.columns([3, 2, 3])
    with kind:
        about = st.selectbox(
            _("What to look for"),
            list(names),
            index=list(names).index(first),
            key=f"inside.target.{first}",
            persist_state="session",
            format_func=names.__getitem__,
            help=_(
                "Simple rules find quotes, brackets and indentation. In the source of Python's standard "
                "library they differ from Python's own tokeniser at 1, 8 and 5 % of the characters."
            )
            + (_(" That tokeniser finds what has Python in its name.") if view.python else ""),
        )
    with what:
        looked = quantity(view, f"inside.quantity.{read}", read)
    with where:
        if about == SPAN:
            source: Source | None = Source(OWN, "")
            st.space("small")
            st.button(_("Clear the selection"), icon=":material/deselect:", on_click=_forget)
        else:
            source = pick(view, SOURCE)
    pattern, edges = "", 0
    if about == PATTERN:
        pattern = st.text_input(
            _("Regular expression"),
            key="inside.pattern",
            persist_state="session",
            max_chars=1000,
            placeholder="[0-9]+",
        )
    if about not in words.GRADED:
        strict = st.toggle(
            _("Compare with the characters just before and after, too"),
            key="inside.strict",
            persist_state="session",
            help=_(
                "Scores each unit twice: against all other text, and against the 5 characters on each side. "
                "The lower score counts."
            ),
        )
        edges = 5 if strict else 0
    return Question(about, pattern, looked, edges, source)


def standing(view: View, names: Collection[str], quantity: str | None = None) -> Recorded | None:
    """Of the findings in the model's card that stand, for one of `names` in the layer that is looked at, the
    one of the unit that the address named on arrival, else the one that leads by most: what the page opens
    with."""
    named = st.session_state.get(NAMED)
    found = [
        one
        for one in unit_findings.of(view.context.info.card)
        if one.verdict == "remembers"
        and one.layer == view.layer
        and one.target in names
        and quantity in (None, one.quantity)
    ]
    return max(found, key=lambda one: (one.unit == named, one.lead), default=None)


def _forget() -> None:
    st.session_state.pop(SPANS, None)


def target(view: View, asked: Question, text: str, spans: list[tuple[int, int]]) -> Target:
    """Where it holds in `text`, or how much. Raises what `rnnviz.units.pattern_target` raises."""
    if asked.target == SPAN:
        return units.span_target(spans, text)
    if asked.target == PATTERN:
        return units.pattern_target(asked.pattern, text)
    return units.target(asked.target, text, unclosed=view.unclosed)
