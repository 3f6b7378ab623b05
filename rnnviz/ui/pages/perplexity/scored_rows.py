"""Uploaded files of rows, a text a row. The whole file's perplexity is first, the choice of columns below."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import streamlit as st

from rnnviz import sentences
from rnnviz.errors import RnnvizError
from rnnviz.figures.row_table import FORMATS, RowTable, kinds
from rnnviz.findings import count, words
from rnnviz.i18n import _
from rnnviz.networks.progress import mapped
from rnnviz.scoring.rows import RowScore, Scored, score_rows
from rnnviz.scoring.score import RowsScore
from rnnviz.text.files import packing, private
from rnnviz.text.row_files import format_of, open_rows, opened
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.error_messages import describe, plain, sentence
from rnnviz.ui.formatting import column_format, rounded, spoken, together
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check, Jobs, Step, Steps
from rnnviz.ui.pages.perplexity import download, scoring_jobs
from rnnviz.ui.pages.perplexity.scoring_jobs import step_of
from rnnviz.ui.pages.perplexity.surprise import one_line
from rnnviz.ui.pages.perplexity.text_sources import Text
from rnnviz.ui.render_finding import tell, told

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.text.decoding import Source

SHOWN = 1000  # rows that the page lists
BEGINNING = 120  # characters shown of each row's text
_AS_TEXT = "perplexity.as-text"  # a key of st.session_state: checksums of files to read as one text


@dataclass(frozen=True, eq=False)
class RowsScored:
    """A file's score, and its rows.

    listed  the first SHOWN rows, each with its text's beginning
    folder  the tables of all rows, one in each of FORMATS
    """

    score: RowsScore
    listed: tuple[tuple[RowScore, str], ...]
    folder: Path

    @property
    def complete(self) -> bool:
        """Whether the tables are still on disk; they may have made room for other results."""
        return self.folder.is_dir()

    def written(self, format: str) -> bytes:
        """The table of all rows in a format of FORMATS, as a file's bytes."""
        return (self.folder / f"scored.{format}").read_bytes()


def scoring(info: ModelInfo, text: Text, column: str, given: str | None, check: Check) -> Steps[RowsScored]:
    """The steps of scoring a file's rows by a model.

    column  the column of texts
    given   the column of contexts, which the model reads first; None: there is none
    """
    yield Step(0.0)
    folder = store.shared().folder()
    folder.mkdir(mode=0o700)
    try:
        file = open_rows(
            cast("Source", text.source(check)["path"]),
            column=column,
            given=given,
            encoding=text.encoding,
            name=text.name,
            format=format_of(text.name),
        )
        listed: list[tuple[RowScore, str]] = []
        with ExitStack() as stack:
            own = kinds([file])
            tables = []
            for format in FORMATS:
                out = stack.enter_context(private(folder / f"scored.{format}"))
                tables.append(stack.enter_context(closing(RowTable(out, format, own))))

            def take(scored: Scored) -> None:
                for table in tables:
                    table.add(scored, text.name)
                first = islice(zip(scored.scores, scored.texts, strict=True), SHOWN - len(listed))
                listed.extend((row, text[:BEGINNING]) for row, text in first)

            steps = score_rows(model_cache.scorer(info), file, each=take, own=True)
            score = yield from mapped(steps, step_of)
    except BaseException:  # also GeneratorExit, of a cancelled job
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return RowsScored(score, tuple(listed), folder)


# On the page.


@dataclass(frozen=True)
class Columns:
    """The columns of a file; `candidates` are those that may hold its texts."""

    names: tuple[str, ...]
    candidates: tuple[str, ...]


def is_one(text: Text) -> bool:
    """Whether a text is a file of rows, which the reader hasn't asked to read as one text."""
    asked: set[str] = st.session_state.get(_AS_TEXT, set())
    return text.data is not None and format_of(text.name) is not None and text.content not in asked


def show(context: Context, jobs: Jobs, texts: Sequence[Text]) -> None:
    """Draw every file of rows, each in a box."""
    for text in texts:
        with st.container(border=True):
            _file(context, jobs, text)


def _file(context: Context, jobs: Jobs, text: Text) -> None:
    mark = f"{text.content[:12]}-{text.name}"
    looked: dict[Key, Columns | RnnvizError] = st.session_state.setdefault("perplexity.columns", {})
    if (key := text.key("columns")) not in looked:
        looked[key] = _looked(text)
    columns = looked[key]
    if isinstance(columns, RnnvizError):
        st.error(describe(columns, text.name), icon=":material/error:")
        _as_text(text, mark)
        return
    number, choice = st.container(), st.container()  # the number is above the choice, but drawn after it
    with choice:
        column, given = _choice(columns, text, mark)
    if column is None:
        with number:
            _whole(context, text, mark)
        return
    key = text.key("rows", model_cache.digest(context.info), column, given)
    make = partial(scoring, context.info, text, column, given)
    pending = ask(key, text.name, make, patience=scoring_jobs.PATIENCE, shared=True)
    with number:
        found = pending.show(f"rows-{mark}")
        if found is not None:
            _answer(text, found)
    if found is not None:
        _table(found, mark)
        _downloads(jobs, text, found, key)


def _looked(text: Text) -> Columns | RnnvizError:
    """The file's columns, or the error that prevents reading it."""
    try:
        file = opened(io.BytesIO(text.data or b""), name=text.name, encoding=text.encoding)
    except RnnvizError as error:
        return error
    return Columns(file.columns, tuple(file.candidates))


def _choice(columns: Columns, text: Text, mark: str) -> tuple[str | None, str | None]:
    """Draw the choice of the columns of texts and of contexts, and return both; None for none."""
    names, candidates = columns.names, columns.candidates
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    column = left.selectbox(
        _("Column with the texts"),
        names,
        index=names.index(candidates[0]) if len(candidates) == 1 else None,
        key=f"column-{mark}",
        placeholder=_("Choose a column"),
        help=_("Every row is a text of its own, read from the beginning."),
    )
    given = middle.selectbox(
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
        if candidates:
            said = _("More than one column of {name} may hold the texts. Choose one.")
        else:
            said = _("No column of {name} seems to hold texts. Choose one, or another file.")
        st.info(said.format(name=plain(text.name)))
    return column, given


def _one_text(text: Text) -> bool:
    """Whether the whole file can be read as one text."""
    return format_of(text.name) != "parquet" and not packing(text.name)


def _as_text(text: Text, mark: str) -> None:
    """Draw a button that reads the whole file as one text, if it can be."""

    def as_text(content: str) -> None:
        st.session_state[_AS_TEXT] = {*st.session_state.get(_AS_TEXT, set()), content}

    if _one_text(text):
        label, key = _("Score it as one text"), f"as-text-{mark}"
        st.button(label, key=key, on_click=as_text, args=(text.content,), type="tertiary")


def _whole(context: Context, text: Text, mark: str) -> None:
    """Draw the perplexity of the whole file as one text, while no column of texts is chosen."""
    found = (
        scoring_jobs.scored(context.info, text, text.name).show(f"whole-{mark}") if _one_text(text) else None
    )
    if found is not None:
        _metric(text, found.score.perplexity)
        st.caption(_("The whole file as one text, its commas and line ends included."))


def _metric(text: Text, perplexity: float) -> None:
    label = _("Perplexity of {name}").format(name=plain(text.name))
    st.metric(label, rounded(perplexity), help=_("exp of the average surprisal per character."))


def _answer(text: Text, found: RowsScored) -> None:
    score = found.score
    large, rest = st.columns([3, 8], vertical_alignment="center", gap="medium")
    with large:
        _metric(text, score.perplexity)
    with rest:
        said = score.sentences()
        st.markdown("  \n".join(tell(one) for one in said if sentences.level(one) == "said"))
        st.caption(told(said, "detail"))
        if score.damage is not None:
            st.warning(describe(score.damage, text.name), icon=":material/warning:")
        if score.rows_left_out:
            row, error = score.examples[0]
            reason = describe(error).rstrip(".")
            first = spoken(words("rows.first", row=count(row), reason=reason))
            st.warning(together([told(said, "caution"), first]), icon=":material/warning:")


def _table(found: RowsScored, mark: str) -> None:
    column, listed = st.column_config, found.listed
    known = [row.perplexity for row, _text in listed if row.perplexity is not None]
    st.caption(
        _(
            "Click a column head to sort: the rows of highest perplexity surprised the model most. "
            "Rows count from 0."
        )
    )
    small = column.NumberColumn(format="localized", width="small")
    st.dataframe(
        {
            _("Row"): [row.row for row, _text in listed],
            _("Perplexity"): [row.perplexity for row, _text in listed],
            _("Characters"): [row.characters for row, _text in listed],
            _("Unknown"): [row.unknown for row, _text in listed],
            _("Beginning"): [
                f"({sentence(row.fault)})" if row.fault is not None else one_line(text)
                for row, text in listed
            ],
        },
        hide_index=True,
        width="stretch",
        height=min(400, 37 + 35 * len(listed)),
        key=f"rows-{mark}",
        column_config={
            **dict.fromkeys([_("Row"), _("Characters"), _("Unknown")], small),
            _("Perplexity"): column.NumberColumn(format=column_format(known or [1.0])),
            _("Beginning"): column.TextColumn(width="large"),
        },
    )
    if found.score.rows > len(listed):
        st.caption(
            _("The first {shown} of {n} rows. The files below hold all of them.").format(
                shown=f"{len(listed):,}", n=f"{found.score.rows:,}"
            )
        )


def _downloads(jobs: Jobs, text: Text, found: RowsScored, key: Key) -> None:
    """Draw the buttons that download the tables of all rows."""
    if not found.complete:
        said = _("The tables of **{name}** had to make room for other texts.").format(name=plain(text.name))
        progress.offer(jobs, key, said, _("Score it again"), f"rows-again-{text.name}")
        return
    stem = Path(text.name).name.split(".")[0] or "rows"
    kinds = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv", "jsonl": "application/jsonl"}
    names = {"parquet": _("Rows as Parquet"), "csv": _("Rows as CSV"), "jsonl": _("Rows as JSON Lines")}
    with st.container(horizontal=True):
        for format, kind in kinds.items():
            make = partial(found.written, format)
            download.button(names[format], make, f"{stem}-scored.{format}", kind, f"{text.name}-{format}")
