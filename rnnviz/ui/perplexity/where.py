"""Where it comes from: the curve, the coloured text, and tables of what cost most.

All numbers are the record's. The viewer and the tables are fragments, one in
the other: scrolling reruns the viewer alone, and a click in a table the two.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz.analysis import Curve, Difference, difference
from rnnviz.errors import RnnvizError
from rnnviz.figures import perplexity as figures
from rnnviz.figures.live import visible
from rnnviz.figures.themes import BANDS, SURPRISAL_FULL, THEMES, VERSUS_FULL, ramp
from rnnviz.record import Record
from rnnviz.ui.i18n import _, language
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.viewer import component
from rnnviz.ui.viewer.expected import CONTEXT, Expected
from rnnviz.ui.viewer.session import Ask, ViewerSession
from rnnviz.ui.viewer.words import words

if TYPE_CHECKING:
    from rnnviz.model import CharModel
    from rnnviz.ngram import NgramModel
    from rnnviz.prepared import NumpyModel

    Model = CharModel | NumpyModel | NgramModel

SURPRISAL_STEPS, VERSUS_STEPS = 12, 13  # colours behind the text; viewer.css numbers them
LINES = 10_000


def show(record: Record, model: Model, other: tuple[Record, Model] | None = None) -> None:
    """The whole section, for a text that `model` has read; `other` is the same text read by another model."""
    state = st.session_state
    key = "where." + hashlib.sha256(str(record.folder).encode()).hexdigest()[:12]
    mark = (str(record.folder), id(model), other and str(other[0].folder), other and id(other[1]))
    kept = state.get(key)
    if kept is None or kept.mark != mark:
        kept = state[key] = Where(key, mark, record, model, other)
    if kept.trouble:
        st.warning(kept.trouble, icon=":material/warning:")
    _section(kept)


class Where:
    """One text's section in one session: what has been computed for it, and what its viewer knows."""

    def __init__(
        self,
        key: str,
        mark: tuple[Any, ...],
        record: Record,
        model: Model,
        other: tuple[Record, Model] | None,
    ) -> None:
        self.key, self.mark, self.record = key, mark, record
        self.trouble = ""
        self.difference: Difference | None = None
        if other is not None:
            try:
                self.difference = difference(record, other[0])
            except RnnvizError as error:
                self.trouble, other = describe(error), None
        self.other = other[0] if other else None
        names = [record.report.model, *([self.other.report.model] if self.other else [])]
        self.names = names if len(set(names)) == len(names) else [f"{n} ({i})" for i, n in enumerate(names, 1)]
        models = [model, *([other[1]] if other else [])]
        records = [record, *([self.other] if self.other else [])]
        self.session = ViewerSession(
            record,
            {n: Expected(m, record) for n, m in zip(self.names, models, strict=True)},
            self.other,
            self.difference,
        )
        self.curves: dict[str, Curve] = {n: r.curve() for n, r in zip(self.names, records, strict=True)}
        self.ask: Ask | None = None
        self._found: dict[object, Any] = {}
        self._static: dict[str, tuple[dict[str, Any], str]] = {}

    def found(self, what: object, make: Callable[[], Any]) -> Any:
        """What `make` returns, computed once."""
        if what not in self._found:
            with st.spinner(_("Reading the whole text …"), show_time=True):
                self._found[what] = make()
        return self._found[what]

    def static(self) -> tuple[dict[str, Any], str]:
        """What the browser needs once, in the session's language: words, colours, axes; and its digest."""
        if language() not in self._static:
            made = self._make_static()
            text = json.dumps([made, [str(part) for part in self.mark]], sort_keys=True)
            self._static[language()] = made, hashlib.sha256(text.encode()).hexdigest()[:12]
        return self._static[language()]

    def _make_static(self) -> dict[str, Any]:
        ends = figures.extent(self.curves)
        themes = {
            theme.name: {
                **asdict(theme),
                "surprisal": ramp(theme.surprisal, SURPRISAL_STEPS),
                "versus": ramp(theme.versus, VERSUS_STEPS),
                "figure": figures.skeleton(
                    tuple(self.names), length=len(self.record), ends=ends, theme=theme
                ),
            }
            for theme in THEMES.values()
        }
        return {
            "words": words(),
            "names": self.names,
            "window": self.curves[self.names[0]].window,
            "context": CONTEXT,
            "themes": themes,
            "bands": BANDS,
            "surprisalFull": SURPRISAL_FULL,
            "surprisalSteps": SURPRISAL_STEPS,
            "versusFull": VERSUS_FULL,
            "versusSteps": VERSUS_STEPS,
        }

    def lines(self) -> dict[str, Any]:
        """The curve's points as the browser takes them."""
        first = self.curves[self.names[0]]
        arrays = {"curveAt": np.asarray(first.position, "<u4")}
        for n, curve in enumerate(self.curves.values()):
            arrays[f"curveRolling{n}"] = np.asarray(curve.rolling, "<f4")
            arrays[f"curveRunning{n}"] = np.asarray(curve.running, "<f4")
        return arrays


@st.fragment
def _section(where: Where) -> None:
    _viewer(where)
    _tables(where)


@st.fragment
def _viewer(where: Where) -> None:
    ask, where.ask = where.ask, None
    static, digest = where.static()
    data = where.session.answer(ask, static, digest, where.lines())
    key = f"{where.key}.viewer"

    def take() -> None:
        where.ask = Ask.from_json(component.asked(key))

    component.mount(data, key=key, on_ask=take)


def _tables(where: Where) -> None:
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
        label_visibility="collapsed",
    )
    offered[chosen or "most"][1](where)


def _most(where: Where) -> None:
    st.caption(
        _(
            "The {n} passages of some 80 characters that surprised the model most: names, numbers, other "
            "languages, misprints. Click one to see it in the text."
        ).format(n=20)
    )
    _passages(where, least=False)


def _least(where: Where) -> None:
    st.caption(
        _(
            "The {n} passages that it found easiest: set phrases, repetitions, what it knows by heart. "
            "Click one to see it in the text."
        ).format(n=20)
    )
    _passages(where, least=True)


def _passages(where: Where, *, least: bool) -> None:
    found = where.found(("passages", least), lambda: where.record.passages(20, 80, least))
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
    found = where.found("versus", lambda: compared.passages(20))
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
        said = _("Every line with its own perplexity; each character's prediction still knows all that came before.")
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
            "Where the bits go. Compare the two shares: a kind that takes a larger part of the bits than of the "
            "characters is harder than the average. Letters cost most at the beginning of a word, and a space "
            "is easy once the word is clear."
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
