"""Tables of where a text's bits lie; a click in a row goes to its place. Computes only the table in view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.i18n import _
from rnnviz.reports.analysis import By
from rnnviz.reports.record import Record
from rnnviz.text.characters import visible
from rnnviz.ui.fields import Field
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import column_format, signed

if TYPE_CHECKING:
    from rnnviz.ui.pages.perplexity.scored_text import ScoredText

LINES = 10_000  # lines or paragraphs listed at most
PASSAGES, LENGTH = 20, 80  # passages listed, and about how many characters each has


def show(text: ScoredText) -> None:
    offered: dict[str, tuple[str, Callable[[ScoredText], None]]] = {
        "most": (_("Most surprising"), partial(_passages, least=False)),
        "least": (_("Least surprising"), partial(_passages, least=True)),
        "lines": (_("Lines"), partial(_stretches, by="line")),
        "paragraphs": (_("Paragraphs"), partial(_stretches, by="paragraph")),
        "kinds": (_("Kinds of character"), _kinds),
    }
    if text.difference is not None:
        offered["versus"] = (_("Largest differences"), _versus)
    words = {name: label for name, (label, _table) in offered.items()}
    table = Field(f"{text.key}.table", "most")
    chosen = table.choose(_("Where in the text"), words, label_visibility="collapsed")
    offered[chosen][1](text)


def _passages(text: ScoredText, *, least: bool) -> None:
    if least:
        said = _(
            "The {n} passages that surprised the model least. Look for set phrases and repetitions. "
            "Click one to see it in the text."
        )
    else:
        said = _(
            "The {n} passages of about {length} characters that surprised the model most. "
            "Look for names, numbers and misprints. Click one to see it in the text."
        )
    st.caption(said.format(n=PASSAGES, length=LENGTH))
    found = text.found(("passages", least), lambda: text.record.surprising_passages(PASSAGES, LENGTH, least))
    table = {
        _("Perplexity"): [p.perplexity for p in found],
        _("Character no."): [p.start + 1 for p in found],
        _("Passage"): [one_line(p.text) for p in found],
    }
    _places(text, f"passages.{least}", table, found)


def _versus(text: ScoredText) -> None:
    assert text.difference is not None
    compared, (a, b) = text.difference, text.names
    st.caption(
        _(
            "Passages where the two models differ most, in bits per character. "
            "Above 0, **{a}** predicts better; below 0, **{b}**. "
            "Over the whole text the difference is {total} bits."
        ).format(a=plain(a), b=plain(b), total=signed(compared.total / np.log(2), 0))
    )
    found = text.found("versus", lambda: compared.gaps(PASSAGES, LENGTH))
    table = {
        _("Bits per character"): [p.mean / np.log(2) for p in found],
        _("Character no."): [p.start + 1 for p in found],
        _("Passage"): [one_line(p.text) for p in found],
    }
    _places(text, "versus", table, found)


def _stretches(text: ScoredText, *, by: By) -> None:
    if by == "line":
        said = _("The perplexity of every line. The model still knows all that came before a line.")
    else:
        said = _("Paragraphs are separated by empty lines. Click a column head to sort, or a row to see it.")
    found = text.found(by, lambda: text.record.lines(by, LINES))
    listed = list(found)
    if found.total > len(listed):
        said += " " + _("These are the first {shown} of {n}.").format(
            shown=f"{len(listed):,}", n=f"{found.total:,}"
        )
    st.caption(said)
    table = {
        _("Number"): list(range(1, len(listed) + 1)),
        _("Perplexity"): [s.perplexity for s in listed],
        _("Bits"): [s.bits for s in listed],
        _("Characters"): [s.characters for s in listed],
        _("Beginning"): text.found((by, "text"), lambda: [_beginning(text.record, s) for s in listed]),
    }
    _places(text, by, table, listed)


def _beginning(record: Record, stretch: Any) -> str:
    return one_line(record.text(stretch.start, min(stretch.stop, stretch.start + 100)).rstrip("\n"))


def _kinds(text: ScoredText) -> None:
    st.caption(
        _(
            "Compare the two shares. A kind with more of the bits than of the characters is harder to "
            "predict than the average character of this text."
        )
    )
    kinds = text.found("kinds", text.record.kinds)
    names = kind_names()
    share = st.column_config.ProgressColumn(format="percent", min_value=0.0, max_value=1.0)
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
            _("Perplexity"): st.column_config.NumberColumn(format=column_format(k.perplexity for k in kinds)),
            _("Share of characters"): share,
            _("Share of bits"): share,
        },
    )


def kind_names() -> dict[str, str]:
    return {
        "letter": _("letters"),
        "capital": _("capitals"),
        "space": _("spaces and line breaks"),
        "punctuation": _("punctuation"),
        "digit": _("digits"),
        "other script": _("letters of other scripts"),
        "other": _("other characters"),
    }


def _places(text: ScoredText, name: str, table: Mapping[str, Any], places: Sequence[Any]) -> None:
    """A table whose rows are `places`, each with a start and a stop: a click on a cell goes there."""
    key = f"{text.key}.{name}"

    def go() -> None:
        rows = [row for row, _column in st.session_state[key].selection.cells]
        if rows and rows[0] < len(places):
            text.session.go(places[rows[0]].start, places[rows[0]].stop)

    if not places:
        st.info(_("This text has nothing to list."))
        return
    formats = {
        _("Number"): "localized",
        _("Perplexity"): column_format(table.get(_("Perplexity"), ())),
        _("Bits"): "%.1f",
        _("Bits per character"): "%+.2f",
        _("Character no."): "localized",
        _("Characters"): "localized",
    }
    column = st.column_config
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=min(400, 37 + 35 * len(places)),
        key=key,
        on_select=go,
        selection_mode="single-cell",
        column_config={
            **{head: column.NumberColumn(format=kind, width="small") for head, kind in formats.items()},
            **{head: column.TextColumn(width="large") for head in (_("Passage"), _("Beginning"))},
        },
    )


def one_line(text: str) -> str:
    """A passage on one line: line breaks, tabs and controls as marks, spaces kept."""
    return "".join(c if c == " " or c.isprintable() else visible(c) for c in text)
