"""Where the surprise is: the curve, the coloured text, and tables of the most surprising passages.

The viewer is a fragment inside the tables' fragment. Scrolling reruns the viewer alone, or nothing if it has
its own connection; a click in a table reruns both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.page.formatting import rounded, signed
from rnnviz.page.text_viewer import viewer_fixed
from rnnviz.scoring.breakdown import ModelDifference, compare_records
from rnnviz.scoring.record import Record
from rnnviz.scoring.words import costliest_words
from rnnviz.sentences import SCALE_WORD_PERPLEXITY
from rnnviz.text.characters import visible
from rnnviz.ui.browser.component import Component, take_ask
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.jobs import pending
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.pages.perplexity.expected_characters import CONTEXT_CHARS, Expected
from rnnviz.ui.pages.perplexity.model_comparison import SecondModel
from rnnviz.ui.pages.perplexity.scoring_jobs import TextScore
from rnnviz.ui.pages.perplexity.text_sources import ReaderText
from rnnviz.ui.pages.perplexity.viewer import ViewerAsk, ViewerSession
from rnnviz.ui.shell import model_cache
from rnnviz.ui.shell.error_messages import describe, plain
from rnnviz.ui.shell.fields import Field
from rnnviz.ui.shell.model_cache import ModelContext

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import Model

# Texts that a session keeps open beside the newest: each holds its record's files open.
MAX_OPEN_TEXTS = 3
MAX_LINES = 10_000  # lines listed, at most
MAX_PASSAGES, PASSAGE_CHARS = 20, 80  # passages listed, and characters of each, roughly
_component = Component("viewer")


def show(
    context: ModelContext, jobs: Jobs, text: ReaderText, text_score: TextScore, second: SecondModel | None
) -> None:
    """Draw one text under one model or two."""
    other = None
    if second is not None and (second_text_score := second.result.value) is not None:
        if second_text_score.has_record:
            other = (second_text_score.record, model_cache.load(second.info, to_read=True))
        else:
            offer_reading(jobs, scoring_jobs.record_key(second.info, text), f"{text.name}, {second.name}")
    draw(text_score.record, model_cache.load(context.info, to_read=True), other)


def offer_reading(jobs: Jobs, key: Key, name: str) -> None:
    """Draw a button that reads a text again whose perplexity is kept, but whose record has made room for
    others.
    """
    message = _(
        "The perplexity of **{name}** is still here, but the values of its characters were removed to make "
        "room for other texts."
    ).format(name=plain(name))
    icon = ":material/inventory_2:"
    pending.offer(jobs, key, message, _("Read it again"), f"read-again-{name}", icon)


def draw(record: Record, model: Model, other: tuple[Record, Model] | None = None) -> None:
    """Draw a text's record under `model`; `other` is the same text's record under another model."""
    state = st.session_state
    key = "origin." + hashlib.sha256(str(record.folder).encode()).hexdigest()[:12]
    # What the view was made of. A model read again from a changed file is another object; the view holds its
    # own, so that no new model can have the old one's id.
    source_key = (str(record.folder), id(model), other and str(other[0].folder), other and id(other[1]))
    view = state.get(key)
    if view is None or view.source_key != source_key:
        view = state[key] = TextView(key, source_key, [(record, model), *([other] if other else [])])
        # A few stay for a reader who comes back.
        older = [name for name, value in state.items() if isinstance(value, TextView) and name != key]
        for name in older[:-MAX_OPEN_TEXTS]:
            del state[name]
    if view.trouble:
        st.warning(view.trouble, icon=":material/warning:")
    _viewer_and_tables(view)


@st.fragment
def _viewer_and_tables(view: TextView) -> None:
    _viewer(view)
    _tables(view)


@st.fragment
def _viewer(view: TextView) -> None:
    key, socket, session = f"{view.key}.viewer", view.socket, view.session
    answer_parts = *view.fixed_part(), view.curve_points()
    ask = ViewerAsk.from_json(take_ask(key) or {"fresh": True})
    # An answer over the connection may be under way on another thread: the session is one thread's at a time.
    with socket.lock:
        socket.serve(ViewerAnswers(session, *answer_parts))
        data = session.answer(ask, *answer_parts, session=socket.token)
    _component.mount(data, key=key)


@dataclass(frozen=True)
class ViewerAnswers:
    """Answers over the viewer's own connection; the fields are `ViewerSession.answer`'s arguments."""

    session: ViewerSession
    fixed: dict[str, Any]
    digest: str
    curves: dict[str, Any]

    def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
        """See `Answerer.answer_ask`; never at once, as an answer reads files."""
        if at_once:
            return None
        return self.session.answer(ViewerAsk.from_json(ask_json), self.fixed, self.digest, self.curves)


class TextView:
    """One text in one session, under one model or two: its records, cached results, and its viewer."""

    def __init__(self, key: str, source_key: tuple[Any, ...], readings: list[tuple[Record, Model]]) -> None:
        self.key, self.source_key, self.record = key, source_key, readings[0][0]
        self.trouble = ""
        self.difference: ModelDifference | None = None
        if len(readings) > 1:
            try:
                self.difference = compare_records(self.record, readings[1][0])
            except RnnvizError as error:
                self.trouble = describe(error)
                readings = readings[:1]
        self._open = [record for record, _model in readings]
        # Tables and curves go by the models' names, and two models may have the same.
        names = [record.score.model for record, _model in readings]
        if len(set(names)) < len(names):
            names = [f"{name} ({i})" for i, name in enumerate(names, 1)]
        self.names = names
        self.session = ViewerSession(
            self.record,
            {n: Expected(model, record) for n, (record, model) in zip(names, readings, strict=True)},
            readings[1][0] if len(readings) > 1 else None,
            self.difference,
        )
        self.curves = {n: record.curve() for n, (record, _model) in zip(names, readings, strict=True)}
        self.socket = ViewSocket()
        self._computed: dict[object, Any] = {}

    def close(self) -> None:
        """Close the records' files and drop cached results: open files stay readable after their deletion."""
        self._computed.clear()
        for record in self._open:
            record.close()

    def compute_once(self, key: object, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once for each `key`."""
        if key not in self._computed:
            with st.spinner(_("Reading the whole text …"), show_time=True):
                self._computed[key] = make()
        return self._computed[key]

    def fixed_part(self) -> tuple[dict[str, Any], str]:
        """The fixed part of the answers, in the session's language: words, colours, axes; and its
        digest.
        """
        fixed = {
            **viewer_fixed(),
            "names": self.names,
            "window": self.curves[self.names[0]].window,
            "context": CONTEXT_CHARS,
        }
        # With the source: under equal words and colours, another text has another curve.
        text = json.dumps([fixed, [str(part) for part in self.source_key]], sort_keys=True)
        return fixed, hashlib.sha256(text.encode()).hexdigest()[:12]

    def curve_points(self) -> dict[str, Any]:
        """The curves' points as the browser's arrays: positions, rolling and running perplexities."""
        arrays = {"curveAt": np.asarray(self.curves[self.names[0]].position, "<u4")}
        for n, curve in enumerate(self.curves.values()):
            arrays[f"curveRolling{n}"] = np.asarray(curve.rolling, "<f4")
            arrays[f"curveRunning{n}"] = np.asarray(curve.running, "<f4")
        return arrays


# The tables. Only the one in view is computed.


def _tables(view: TextView) -> None:
    offered: dict[str, tuple[str, Callable[[TextView], None]]] = {
        "most": (_("Most surprising"), partial(_passages, least=False)),
        "least": (_("Least surprising"), partial(_passages, least=True)),
        "words": (_("Words"), _words),
        "lines": (_("Lines"), _lines),
    }
    if view.difference is not None:
        offered["versus"] = (_("Largest differences"), _differences)
    labels = {name: label for name, (label, _table) in offered.items()}
    table = Field(f"{view.key}.table", "most")
    chosen = table.choose(_("Where in the text"), labels, label_visibility="collapsed")
    offered[chosen][1](view)


def _passages(view: TextView, *, least: bool) -> None:
    if least:
        caption = _(
            "The {n} passages that surprised the model least. Look for set phrases and repetitions. "
            "Choose one to see it in the text."
        )
    else:
        caption = _(
            "The {n} passages of about {length} characters that surprised the model most. "
            "Look for names, numbers and misprints. Choose one to see it in the text."
        )
    st.caption(caption.format(n=MAX_PASSAGES, length=PASSAGE_CHARS))
    passages = view.compute_once(
        ("passages", least), lambda: view.record.surprising_passages(MAX_PASSAGES, PASSAGE_CHARS, least)
    )
    table = {
        _("Perplexity"): [p.perplexity for p in passages],
        _("Character no."): [p.start + 1 for p in passages],
        _("Passage"): [one_line(p.text) for p in passages],
    }
    _jump_table(view, f"passages.{least}", table, passages)


def _words(view: TextView) -> None:
    caption = _("The {n} words that cost the model most. The white space before a word counts as part of it.")
    if view.record.score.words is None:
        caption = _(
            "The {n} words that cost the model most. In scripts without spaces, each character is a word."
        )
    st.caption(caption.format(n=MAX_PASSAGES))
    costly = view.compute_once("words", lambda: costliest_words(view.record, MAX_PASSAGES))
    table = {
        _("Bits"): [word.bits for word in costly],
        _("Character no."): [word.start + 1 for word in costly],
        _("Word"): [one_line(word.text) for word in costly],
    }
    _jump_table(view, "words", table, costly)


def _differences(view: TextView) -> None:
    assert view.difference is not None
    difference, (a, b) = view.difference, view.names
    st.caption(
        _(
            "Passages where the two models differ most, in bits per character. "
            "Above 0, **{a}** predicts better; below 0, **{b}**. "
            "Over the whole text the difference is {total} bits."
        ).format(a=plain(a), b=plain(b), total=signed(difference.total / np.log(2), 0))
    )
    passages = view.compute_once("versus", lambda: difference.passages(MAX_PASSAGES, PASSAGE_CHARS))
    table = {
        _("Bits per character"): [p.mean / np.log(2) for p in passages],
        _("Character no."): [p.start + 1 for p in passages],
        _("Passage"): [one_line(p.text) for p in passages],
    }
    _jump_table(view, "versus", table, passages)


def _lines(view: TextView) -> None:
    caption = _("The perplexity of every line. The model still knows all that came before a line.")
    listed, total = view.compute_once("lines", lambda: view.record.lines(MAX_LINES))
    if total > len(listed):
        caption += " " + _("These are the first {shown} of {n}.").format(
            shown=f"{len(listed):,}", n=f"{total:,}"
        )
    st.caption(caption)
    table = {
        _("Number"): list(range(1, len(listed) + 1)),
        _("Perplexity"): [s.perplexity for s in listed],
        _("Bits"): [s.bits for s in listed],
        _("Characters"): [s.characters for s in listed],
        _("Beginning"): view.compute_once("beginnings", lambda: [_beginning(view.record, s) for s in listed]),
    }
    _jump_table(view, "lines", table, listed)


def _beginning(record: Record, stretch: Any) -> str:
    return one_line(record.text(stretch.start, min(stretch.stop, stretch.start + 100)).rstrip("\n"))


def _jump_table(view: TextView, name: str, table: Mapping[str, Any], places: Sequence[Any]) -> None:
    """Draw a table whose rows are `places`, each with a start and a stop; a click on a cell goes there."""
    key = f"{view.key}.{name}"

    def go() -> None:
        rows = [row for row, _column in st.session_state[key].selection.cells]
        if rows and rows[0] < len(places):
            view.session.go(places[rows[0]].start, places[rows[0]].stop)

    if not places:
        st.info(_("This text has nothing to list."))
        return
    perplexity = _("Perplexity")
    # From a million on a word replaces digits, as in the answer. Only pandas's styles can write it, value by
    # value, which takes long: so only where it is needed.
    huge = max(table.get(perplexity, ()), default=0.0) >= SCALE_WORD_PERPLEXITY
    formats = {
        _("Number"): "localized",
        perplexity: None if huge else "accounting",
        _("Bits"): "accounting",
        _("Bits per character"): "%+.2f",
        _("Character no."): "localized",
        _("Characters"): "localized",
    }
    column = st.column_config
    st.dataframe(
        pd.DataFrame(table).style.format({perplexity: rounded}) if huge else table,
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
    """A passage on one line: line breaks, tabs and control characters become visible marks."""
    return "".join(c if c == " " or c.isprintable() else visible(c) for c in text)
