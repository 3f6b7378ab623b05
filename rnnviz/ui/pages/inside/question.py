"""What is asked of the units: the controls of the first sub-page, and what they amount to."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rnnviz import units
from rnnviz.i18n import _
from rnnviz.runs import unit_findings
from rnnviz.runs.unit_findings import Recorded
from rnnviz.ui.pages.inside import words
from rnnviz.ui.pages.inside.common import NAMED, View
from rnnviz.ui.pages.inside.sources import PAGE, Source, pick
from rnnviz.ui.pages.inside.words import PATTERN, SPAN

SOURCE = "inside.source"
SPANS = "inside.spans"  # of st.session_state: the text, and the passages selected in it


@dataclass(frozen=True)
class Question:
    """What is looked for: a target, with a pattern or `spans` of the page's text where it takes one; `edges`
    as in `rnnviz.units.search`.
    """

    target: str
    pattern: str = ""
    edges: int = 0
    spans: tuple[tuple[int, int], ...] = ()


def ask(view: View, spans: tuple[tuple[int, int], ...]) -> tuple[Question | None, Source | None]:
    """What is looked for, None while a pattern or a selection is awaited, and where, None while a file is."""
    names = words.targets(view.python)
    found = standing(view)
    first = found.target if found is not None else "word-start"
    kind, where = st.columns(2)
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
    with where:
        if about == SPAN:
            source: Source | None = PAGE
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
    if about == SPAN and not spans:
        st.info(_("Drag over the text above to select a passage, or several."), icon=":material/select:")
        return None, source
    if about == PATTERN and not pattern:
        said = _("Write a regular expression, such as `[0-9]+` or `said`.")
        st.info(said, icon=":material/regular_expression:")
        return None, source
    return Question(about, pattern, edges, spans if about == SPAN else ()), source


def standing_in(card: Mapping[str, Any]) -> list[Recorded]:
    """The findings in a card that stand."""
    return [one for one in unit_findings.of(card) if one.verdict == "remembers"]


def standing(
    view: View, names: Collection[str] | None = None, quantity: str | None = None
) -> Recorded | None:
    """Of the findings that stand, for one of `names` in the layer that is looked at, the one of the unit that
    the address named on arrival, else the one that leads by most: what the page opens with."""
    named = st.session_state.get(NAMED)
    names = words.targets(view.python) if names is None else names
    found = [
        one
        for one in standing_in(view.context.info.card)
        if one.layer == view.layer and one.target in names and quantity in (None, one.quantity)
    ]
    return max(found, key=lambda one: (one.unit == named, one.lead), default=None)


def _forget() -> None:
    st.session_state.pop(SPANS, None)


def target(asked: Question, unclosed: str, text: str) -> units.Target:
    """Where it holds in `text`, or how much. Raises what `rnnviz.units.pattern_target` raises."""
    if asked.target == SPAN:
        return units.span_target(asked.spans, text)
    if asked.target == PATTERN:
        return units.pattern_target(asked.pattern, text)
    return units.target(asked.target, text, unclosed=unclosed)  # type: ignore[arg-type]
