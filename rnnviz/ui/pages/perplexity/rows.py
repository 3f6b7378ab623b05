"""Uploaded files of rows: each row a text of its own, with its perplexity beside it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from rnnviz import telling
from rnnviz.errors import RnnvizError
from rnnviz.findings import count, words
from rnnviz.i18n import _
from rnnviz.text.files import packing
from rnnviz.text.row_files import RowFile, format_of
from rnnviz.ui.context import Context
from rnnviz.ui.findings import tell, told
from rnnviz.ui.hosting import allowed
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import row_work, take, work
from rnnviz.ui.pages.perplexity.row_work import RowsScored
from rnnviz.ui.pages.perplexity.tables import one_line
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import column_format, rounded, spoken, together

_AS_TEXT = "perplexity.as-text"  # the checksums of files of rows that are to be read as one text
_LOOKED = "perplexity.columns"


@dataclass(frozen=True)
class Columns:
    """The columns of a file, and those that may hold its texts; or why it can't be read."""

    names: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    error: RnnvizError | None = None


def is_one(text: Text) -> bool:
    """Whether it is a file of rows, and the reader hasn't asked to read it as one text."""
    asked: set[str] = st.session_state.get(_AS_TEXT, set())
    return text.data is not None and format_of(text.name) is not None and text.content not in asked


def show(context: Context, jobs: Jobs, texts: Sequence[Text]) -> list[Key]:
    """Every file of rows; returns the jobs they want."""
    wanted: list[Key] = []
    for text in texts:
        with st.container(border=True):
            wanted += _file(context, jobs, text)
    return wanted


def _file(context: Context, jobs: Jobs, text: Text) -> list[Key]:
    mark = f"{text.content[:12]}-{text.name}"
    columns = _columns(text)
    if columns.error is not None:
        st.error(describe(columns.error, text.name), icon=":material/error:")
        _as_text(text, mark)
        return []
    column, given = _choice(columns, text, mark)
    if column is None:
        return []
    key = row_work.key_of(context.info, text, column, given)
    found: RowsScored | None = store.shared().get(key)
    if found is None:
        make = partial(row_work.scoring, context.info, text, column, given)
        job = jobs.ask(key, text.name, make, again=work.NOT_KEPT, size=text.size)
        jobs.wait([key], 0.6)
        found = store.shared().get(key)
        if found is None:
            progress.without_result(jobs, job, f"rows-{mark}")
            return [key]
    _answer(text, found)
    _table(found, mark)
    _downloads(jobs, text, found, key)
    return [key]


def _columns(text: Text) -> Columns:
    kept: dict[Key, Columns] = st.session_state.setdefault(_LOOKED, {})
    key = text.key("columns")
    if key not in kept:
        kept[key] = _looked(text)
    return kept[key]


def _looked(text: Text) -> Columns:
    format = format_of(text.name)
    assert format is not None
    try:
        file = RowFile(io.BytesIO(text.data or b""), text.name, format, text.encoding)
    except RnnvizError as error:
        return Columns(error=error)
    return Columns(file.columns, tuple(file.candidates))


def _choice(columns: Columns, text: Text, mark: str) -> tuple[str | None, str | None]:
    """The reader's columns of texts and of contexts."""
    names = list(columns.names)
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    with left:
        column = st.selectbox(
            _("Column with the texts"),
            names,
            index=names.index(columns.candidates[0]) if len(columns.candidates) == 1 else None,
            key=f"column-{mark}",
            placeholder=_("Choose a column"),
            help=_("Every row is a text of its own, read from the beginning."),
        )
    with middle:
        given = st.selectbox(
            _("Column with the context"),
            [name for name in names if name != column],
            index=None,
            key=f"given-{mark}",
            placeholder=_("None"),
            help=_("The model reads a row's context first. Only the text after it counts."),
        )
    with right:
        _as_text(text, mark)
    if column is None:
        if columns.candidates:
            said = _("More than one column of {name} may hold the texts. Choose one.")
        else:
            said = _("No column of {name} seems to hold texts. Choose one, or another file.")
        st.info(said.format(name=plain(text.name)))
    return column, given


def _as_text(text: Text, mark: str) -> None:
    """A button that reads the whole file as one text, where it is one."""

    def ask(content: str) -> None:
        st.session_state[_AS_TEXT] = {*st.session_state.get(_AS_TEXT, set()), content}

    if format_of(text.name) != "parquet" and not packing(text.name):
        st.button(
            _("Score it as one text"),
            key=f"as-text-{mark}",
            on_click=ask,
            args=(text.content,),
            type="tertiary",
        )


def _answer(text: Text, found: RowsScored) -> None:
    report = found.report
    large, rest = st.columns([3, 8], vertical_alignment="center", gap="medium")
    large.metric(
        _("Perplexity of {name}").format(name=plain(text.name)),
        rounded(report.perplexity),
        help=_("exp of the average surprise per character, over all characters of all rows."),
    )
    with rest:
        said = found.sentences()
        st.markdown("  \n".join(tell(one) for one in said if telling.level(one) == "said"))
        st.caption(told(said, "detail"))
        if report.damage is not None:
            st.warning(describe(report.damage, text.name), icon=":material/warning:")
        if report.rows_left_out:
            row, error = report.examples[0]
            reason = describe(error).rstrip(".")
            first = spoken(words("rows.first", row=count(row), reason=reason))
            st.warning(together([told(said, "caution"), first]), icon=":material/warning:")


def _table(found: RowsScored, mark: str) -> None:
    column, listed = st.column_config, found.listed
    known = [one.perplexity for one in listed if one.perplexity is not None]
    st.caption(
        _(
            "Click a column head to sort: the rows of highest perplexity surprised the model most. "
            "Rows count from 0."
        )
    )
    st.dataframe(
        {
            _("Row"): [one.row for one in listed],
            _("Perplexity"): [one.perplexity for one in listed],
            _("Characters"): [one.characters for one in listed],
            _("Unknown"): [one.unknown for one in listed],
            _("Beginning"): [one_line(one.beginning) or f"({one.error})" for one in listed],
        },
        hide_index=True,
        width="stretch",
        height=min(400, 37 + 35 * len(listed)),
        key=f"rows-{mark}",
        column_config={
            _("Perplexity"): column.NumberColumn(format=column_format(known or [1.0])),
            _("Row"): column.NumberColumn(format="localized", width="small"),
            _("Characters"): column.NumberColumn(format="localized", width="small"),
            _("Unknown"): column.NumberColumn(format="localized", width="small"),
            _("Beginning"): column.TextColumn(width="large"),
        },
    )
    if found.report.rows > len(listed):
        st.caption(
            _("The first {shown} of {n} rows. The files below hold all of them.").format(
                shown=f"{len(listed):,}", n=f"{found.report.rows:,}"
            )
        )


def _downloads(jobs: Jobs, text: Text, found: RowsScored, key: Key) -> None:
    """Every row with its figures, as files."""
    if not found.complete:

        def again() -> None:
            store.shared().forget(key)
            jobs.forget([key])

        said = _("The tables of **{name}** had to make room for other texts.").format(name=plain(text.name))
        progress.offer(said, _("Score it again"), f"rows-again-{text.name}", again)
        return
    if not allowed.to_download():
        st.caption(take.none())
        return
    stem = Path(text.name).name.split(".")[0] or "rows"
    kinds = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv", "jsonl": "application/jsonl"}
    names = {"parquet": _("Rows as Parquet"), "csv": _("Rows as CSV"), "jsonl": _("Rows as JSON Lines")}
    with st.container(horizontal=True):
        for format, kind in kinds.items():
            make = partial(found.written, format)
            take.button(names[format], make, f"{stem}-scored.{format}", kind, f"{text.name}-{format}")
