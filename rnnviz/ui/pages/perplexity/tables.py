"""Tables of where a text's bits lie: passages, lines, paragraphs, kinds of character, two models.

A click in a row that stands for a place goes there in the viewer. Only the
table that is looked at is computed, once a text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.reports.record import Record
from rnnviz.text.characters import visible
from rnnviz.ui.i18n import _
from rnnviz.ui.trouble import plain

if TYPE_CHECKING:
    from rnnviz.ui.pages.perplexity.where import Where

LINES = 10_000
"""Lines or paragraphs listed at most."""

PASSAGES, LENGTH = 20, 80
"""Passages listed, and about how many characters each has."""


def show(where: Where) -> None:
    """Passages, lines and kinds of character; only what is looked at is computed."""
    offered: dict[str, tuple[str, Callable[[Where], None]]] = {
        "most": (_("Most surprising"), _most),
        "least": (_("Least surprising"), _least),
        "lines": (_("Lines"), _lines),
        "paragraphs": (_("Paragraphs"), _paragraphs),
        "kinds": (_("Kinds of character"), _kinds),
    }
    if where.difference is not None:
        offered["versus"] = (_("Largest differences"), _versus)
    chosen = st.segmented_control(
        _("Where in the text"),
        list(offered),
        default="most",
        required=True,
        format_func=lambda name: offered[name][0],
        key=f"{where.key}.table",
        persist_state="session",
        label_visibility="collapsed",
    )
    offered[chosen or "most"][1](where)


def _most(where: Where) -> None:
    st.caption(
        _(
            "The {n} passages of some {length} characters that surprised the model most: names, numbers, "
            "other languages, misprints. Click one to see it in the text."
        ).format(n=PASSAGES, length=LENGTH)
    )
    _passages(where, least=False)


def _least(where: Where) -> None:
    st.caption(
        _(
            "The {n} passages that it found easiest: set phrases, repetitions, what it knows by heart. "
            "Click one to see it in the text."
        ).format(n=PASSAGES, length=LENGTH)
    )
    _passages(where, least=True)


def _passages(where: Where, *, least: bool) -> None:
    found = where.found(("passages", least), lambda: where.record.passages(PASSAGES, LENGTH, least))
    table = {
        _("Perplexity"): [p.perplexity for p in found],
        _("Character"): [p.start + 1 for p in found],
        _("Passage"): [seen(p.text) for p in found],
    }
    _jumping(where, f"passages.{least}", table, [(p.start, p.stop) for p in found])


def _versus(where: Where) -> None:
    assert where.difference is not None
    a, b = where.names
    total = where.difference.total
    st.caption(
        _(
            "Passages where the two models differ most, in bits a character: above 0 **{a}** predicts them "
            "better, below 0 **{b}**. Over the whole text the difference is {total} bits."
        ).format(a=plain(a), b=plain(b), total=f"{total / np.log(2):+,.0f}")
    )
    compared = where.difference
    found = where.found("versus", lambda: compared.passages(PASSAGES, LENGTH))
    table = {
        _("Bits a character"): [p.mean / np.log(2) for p in found],
        _("Character"): [p.start + 1 for p in found],
        _("Passage"): [seen(p.text) for p in found],
    }
    _jumping(where, "versus", table, [(p.start, p.stop) for p in found])


def _lines(where: Where) -> None:
    _stretches(where, "line")


def _paragraphs(where: Where) -> None:
    _stretches(where, "paragraph")


def _stretches(where: Where, by: Any) -> None:
    found = where.found(by, lambda: where.record.lines(by, LINES))
    listed = list(found)
    if by == "line":
        said = _(
            "Every line with its own perplexity; each character's prediction still knows "
            "all that came before."
        )
    else:
        said = _("Paragraphs are set apart by empty lines. Click a column's head to sort, a row to see it.")
    if found.total > len(listed):
        said += " " + _("The first {shown} of {n} are listed.").format(
            shown=f"{len(listed):,}", n=f"{found.total:,}"
        )
    st.caption(said)
    table = {
        _("Number"): list(range(1, len(listed) + 1)),
        _("Perplexity"): [s.perplexity for s in listed],
        _("Bits"): [s.bits for s in listed],
        _("Characters"): [s.characters for s in listed],
        _("Beginning"): where.found((by, "text"), lambda: [_beginning(where.record, s) for s in listed]),
    }
    _jumping(where, by, table, [(s.start, s.stop) for s in listed])


def _beginning(record: Record, stretch: Any) -> str:
    return seen(record.text(stretch.start, min(stretch.stop, stretch.start + 100)).rstrip("\n"))


def _kinds(where: Where) -> None:
    st.caption(
        _(
            "Where the bits go. Compare the two shares: a kind that takes a larger part of the bits than of "
            "the characters is harder than the average. Letters cost most at the beginning of a word, and a "
            "space is easy once the word is clear."
        )
    )
    kinds = where.found("kinds", where.record.kinds)
    names = kind_names()
    st.dataframe(
        {
            _("Kind"): [names.get(k.name, k.name) for k in kinds],
            _("Characters"): [k.characters for k in kinds],
            _("Share of characters"): [k.share for k in kinds],
            _("Share of bits"): [k.bits_share for k in kinds],
            _("Perplexity"): [k.perplexity for k in kinds],
        },
        hide_index=True,
        width="stretch",
        column_config={
            _("Characters"): st.column_config.NumberColumn(format="localized"),
            _("Perplexity"): st.column_config.NumberColumn(format="%.2f"),
            **{
                share: st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
                for share in (_("Share of characters"), _("Share of bits"))
            },
        },
    )


def kind_names() -> dict[str, str]:
    """The kinds of character in the session's language."""
    return {
        "letter": _("letters"),
        "capital": _("capitals"),
        "space": _("spaces and line breaks"),
        "punctuation": _("punctuation"),
        "digit": _("digits"),
        "other script": _("letters of other scripts"),
        "other": _("other characters"),
    }


def _jumping(where: Where, name: str, table: dict[str, list[Any]], spans: list[tuple[int, int]]) -> None:
    """A table whose rows are places: a click on a cell goes there."""
    key = f"{where.key}.{name}"

    def go() -> None:
        chosen = st.session_state[key].selection
        rows = [row for row, _column in chosen.cells]
        if rows and rows[0] < len(spans):
            where.session.go(*spans[rows[0]])

    if not spans:
        st.info(_("There is nothing to list in this text."))
        return
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=min(400, 37 + 35 * len(spans)),
        key=key,
        on_select=go,
        selection_mode="single-cell",
        column_config={
            _("Number"): st.column_config.NumberColumn(format="localized", width="small"),
            _("Perplexity"): st.column_config.NumberColumn(format="%.2f", width="small"),
            _("Bits"): st.column_config.NumberColumn(format="%.1f", width="small"),
            _("Bits a character"): st.column_config.NumberColumn(format="%+.2f", width="small"),
            _("Character"): st.column_config.NumberColumn(format="localized", width="small"),
            _("Characters"): st.column_config.NumberColumn(format="localized", width="small"),
            _("Passage"): st.column_config.TextColumn(width="large"),
            _("Beginning"): st.column_config.TextColumn(width="large"),
        },
    )


def seen(text: str) -> str:
    """A passage in one line: line breaks, tabs and controls as marks, spaces as they are."""
    return "".join(c if c == " " else visible(c) if not c.isprintable() else c for c in text)
