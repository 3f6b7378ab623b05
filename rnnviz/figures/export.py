"""Exports of a scored text: a table of its characters, or a self-contained page.

The table has one row a character:

    position    1 for the first character
    character   as normalised
    code_point  the same as a number
    nll         -log P in nats, an unknown character's whole cost included: exp of the mean is the perplexity
    rank        1 if the most probable symbol came; an unknown character ranks as <unk>
    entropy     in nats, of the prediction before the character
    known       whether the character is in the model's vocabulary
    index       0 for the first character, as positions count everywhere else in rnnviz

Everything streams, in constant memory. A file whose writing fails keeps its previous content.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, TextIO

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from rnnviz import sentences
from rnnviz.checks import renamed, renamed_names
from rnnviz.errors import ConfigError
from rnnviz.figures.axes import axis_number, ticks
from rnnviz.figures.perplexity import beyond, extent
from rnnviz.figures.themes import DARK, LIGHT, SURPRISAL_FULL, Theme, ramp
from rnnviz.findings import Number
from rnnviz.scoring.words import words_of_record
from rnnviz.sentences import DEFAULT, format_number
from rnnviz.text import files
from rnnviz.text.characters import Blanks, printable
from rnnviz.text.row_files import parquet_library as parquet_library

if TYPE_CHECKING:
    from jinja2 import Template

    from rnnviz.scoring.breakdown import Curve
    from rnnviz.scoring.record import Record
    from rnnviz.scoring.score import Score

# ---- CSV cells -------------------------------------------------------------------------------------------
#
# Tables as CSV, safe to open in a spreadsheet, which would compute a file name that begins like a formula.


FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""First characters of a formula in some spreadsheet; full-width ones in East Asian versions."""


def cell(value: object) -> object:
    """`value` with an apostrophe in front if a spreadsheet would compute its text. A single character is no
    formula, and stays as it is.

    >>> cell("=1+1"), cell("="), cell(-1.5), cell("a=1")
    ("'=1+1", '=', -1.5, 'a=1')
    """
    return f"'{value}" if isinstance(value, str) and len(value) > 1 and value.startswith(FORMULA) else value


def write_rows(out: TextIO | IO[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of a table, the columns' names first, with formulas escaped."""
    csv.writer(out, lineterminator="\n").writerows(map(cell, row) for row in rows)


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The CSV of at least one row, headed by its names.

    >>> csv_text([{"file": "@x", "perplexity": 4.5}])
    "file,perplexity\\n'@x,4.5\\n"
    """
    out = io.StringIO()
    write_rows(out, [list(rows[0]), *(list(row.values()) for row in rows)])
    return out.getvalue()


# ---- the page of a scored text, HTML ---------------------------------------------------------------------
#
# A scored text as one page: figures, curve (as SVG, for print) and coloured text. The template `page.html`
# beside this file escapes all values. Words are English unless `translate` changes them.


MAX_PAGE_CHARS = 200_000  # characters of text on a page, at most: a browser still scrolls these smoothly
MAX_CURVE_POINTS = 2_000  # points of the curve, at most
LISTED_PASSAGES = 10  # surprising passages listed, and as many unsurprising ones
MIN_CHARS_FOR_PASSAGES = 400  # characters below which a text has no passages worth a table
SURPRISAL_CLASSES = int(SURPRISAL_FULL) + 1  # whole bits; the last class is open-ended
BLOCK_CHARS = 4_096  # characters of one block of text, at most, cut at a line end

_NAMES = "abcdefghijk"  # one letter a class keeps a page with many runs small
_BREAK = Markup("<b></b>\n")  # the style sheet draws its mark, which is therefore not copied


@renamed(longest="max_chars")
def page(
    record: Record,
    *,
    translate: Callable[[str], str] = str,
    language: str = "en",
    max_chars: int = MAX_PAGE_CHARS,
) -> Iterator[str]:
    """The page, part by part; joined they are one document. `max_chars` limits the characters shown; the
    figures are the whole text's. `language` is the words' BCP 47 code.
    """
    count, shown_chars, spoken = len(record), min(len(record), max_chars), sentences.match_language(language)
    statements = [statement for statement in record.score.sentences() if sentences.level(statement) == "said"]
    passages = {
        name: record.surprising_passages(LISTED_PASSAGES, least=least)
        if count >= MIN_CHARS_FOR_PASSAGES
        else []
        for name, least in (("most", False), ("least", True))
    }
    yield from markup(Path(__file__).with_name("page.html")).generate(
        words=_words(translate),
        language=language,
        name=Path(record.score.file).name,
        score=record.score,
        said=sentences.join_sentences(
            (sentences.describe(statement, spoken, marked=False) for statement in statements), spoken
        ),
        rows=_figures(record.score, translate),
        curve=Markup(curve_svg(record.curve(MAX_CURVE_POINTS), translate)),
        passages=passages,
        shown=shown_chars,
        count=count,
        text=_text(record, shown_chars),
        classes=_NAMES,
        colours={theme.name: _variables(theme) for theme in (LIGHT, DARK)},
    )


def _words(_: Callable[[str], str]) -> dict[str, str]:
    return {
        "perplexity": _("Perplexity"),
        "results": _("Results"),
        "along": _("Along the text"),
        "along.notice": _(
            "Where a line rises, the text surprised the model. Where it falls, the text was easy to predict."
        ),
        "most": _("The most surprising passages"),
        "least": _("The least surprising passages"),
        "from": _("From character"),
        "passage": _("Passage"),
        "text": _("The text"),
        "text.notice": _("The stronger the colour, the more the character surprised the model."),
        "cut": _("Here are the first {shown} of {count} characters; the figures are those of all of them."),
        "bits": _("bits"),
        "unknown": _("unknown"),
        "note": _(
            "Perplexity is exp of the average −log P(character | everything before it). Every character "
            "counts, the first one too. An unknown character costs −log P(<unk>) plus the log of how many "
            "characters the vocabulary lacks."
        ),
    }


def _figures(score: Score, _: Callable[[str], str]) -> dict[str, object]:
    certainty = {"declared": _("declared"), "verified": _("verified"), "guessed": _("guessed")}
    known_perplexity = score.perplexity_known if score.unknown else None
    encoding = f"{score.encoding}, {certainty[str(score.certainty)]}" if score.encoding else None
    rows: dict[str, object] = {
        _("Model"): score.model,
        _("Perplexity"): score.perplexity,
        _("Perplexity without unknown characters"): known_perplexity,
        _("Bits per character"): score.bits_per_character,
        _("Bits per byte of UTF-8"): score.bits_per_byte,
        _("Characters"): score.characters,
        _("Bytes in UTF-8"): score.bytes,
        _("Unknown characters"): score.unknown,
        _("Line endings converted"): score.line_ends,
        _("Characters read as others"): score.replaced or None,
        _("Encoding"): encoding,
    }
    return {name: value for name, value in rows.items() if value is not None}


def _text(record: Record, shown_chars: int) -> Iterator[Markup]:
    """The first characters, coloured, in blocks of whole lines: a browser then lays out only those in
    sight.
    """
    start, opened = 0, False
    while start < shown_chars:
        text = record.text(start, min(start + BLOCK_CHARS, shown_chars))
        text = text[: text.rfind("\n") + 1] or text
        stop = start + len(text)
        if not opened:
            yield Markup("<pre>\n")  # HTML drops one line end after <pre>: this one, not the text's
        yield Markup("").join(coloured(text, record.read("nll", start, stop), record.is_known(start, stop)))
        opened = not text.endswith("\n")
        if not opened:
            yield Markup("</pre>")
        start = stop
    if opened:
        yield Markup("</pre>")


@cache
def markup(path: Path) -> Template:
    """The template in a file, with autoescaping where that is HTML."""
    import jinja2  # late: 30 ms, and few runs write a page

    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        autoescape=path.suffix == ".html",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    pages.filters["shown"] = printable
    pages.filters["rounded"] = _rounded_text
    return pages.get_template(path.name)


def _rounded_text(value: float, digits: int) -> str:
    """A number for people; the page has all digits beside it for machines."""
    return format_number(Number(value, digits=digits), DEFAULT)


# ---- its curve, SVG --------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, BOTTOM = 960, 300, 64, 30  # in SVG units


@renamed(drawn="curve")
def curve_svg(curve: Curve, translate: Callable[[str], str] = str) -> str:
    """Running and rolling perplexity as small, self-contained SVG on a logarithmic axis, fit for print."""
    _ = translate
    position = np.asarray(curve.position, np.float64)
    low, high = extent({"": curve})
    first, last = (float(position[0]), float(position[-1])) if position.size else (0.0, 1.0)
    span = max(last - first, 1.0)

    def x(at: Any) -> Any:
        return LEFT + (at - first) / span * (WIDTH - LEFT - 8)

    def y(value: Any) -> Any:
        # Values out of range are drawn outside the frame, which clips them; a decade outside is far enough.
        inside = (np.log10(np.clip(value, 10 ** (low - 1), 10 ** (high + 1))) - low) / (high - low)
        return 8 + (1 - inside) * (HEIGHT - BOTTOM - 8)

    def path(values: npt.ArrayLike) -> str:
        parts, pen = [], "M"
        for across, down, finite in zip(x(position), y(values), np.isfinite(values), strict=True):
            if finite:
                parts.append(f"{pen}{across:.1f} {down:.1f}")
            pen = "L" if finite else "M"
        # A path with a single point draws nothing; a line of length 0 with round ends draws a dot.
        return "".join(parts) + ("h0" if len(parts) == 1 else "")

    quarters = [first + share * span for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return markup(Path(__file__).with_name("curve.html")).render(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        bottom=BOTTOM,
        label=_("Perplexity along the text"),
        grid=[(y(tick), number) for tick, number in zip(*ticks(low, high), strict=True)],
        across=[(x(at), f"{at:,.0f}") for at in quarters],
        running=path(curve.running),
        rolling=path(curve.rolling),
        cuts=[(x(cut.position), cut, axis_number(cut.value)) for cut in beyond({"": curve}, (low, high))],
        last=last,
        words={
            "running": _("of everything so far"),
            "rolling": _("over the last {n} characters").format(n=f"{curve.window:,}"),
            "across": _("across: characters read"),
        },
    )


# ---- its coloured text -----------------------------------------------------------------------------------


@renamed(known="in_vocabulary")
def coloured(text: str, nll: npt.ArrayLike, in_vocabulary: npt.ArrayLike) -> Iterator[Markup]:
    """A text as HTML, each run of one surprisal class in one element. `nll` (n,) in nats and `in_vocabulary`
    (n,) are the characters'. A class is a whole number of bits; unknown characters are underlined.
    """
    # One element a run, not one a character: neighbours often share a class, and a browser lays out elements.
    bits = np.asarray(nll, np.float64) / math.log(2)
    level = np.clip(np.floor(bits), 0, SURPRISAL_CLASSES - 1).astype(np.int64)
    kind = level * 2 + ~np.asarray(in_vocabulary, bool)
    borders = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(text)] if text else []
    for start, stop in itertools.pairwise(borders):
        markup = escape(printable(text[start:stop])).replace("\n", _BREAK)
        classes = f'"{_NAMES[level[start]]} u"' if kind[start] % 2 else _NAMES[level[start]]
        yield Markup(f"<i class={classes}>{markup}</i>")


def _variables(theme: Theme) -> dict[str, str]:
    """The page's colours, by the style sheet's names."""
    return {
        "paper": theme.background,
        "ink": theme.text,
        "muted": theme.muted,
        "grid": theme.grid,
        "running": theme.model,
        "rolling": theme.actual,
        **{f"s{n}": colour for n, colour in enumerate(ramp(theme.surprisal, SURPRISAL_CLASSES))},
    }


# ---- the table of characters, CSV or Parquet -------------------------------------------------------------

Format = Literal["csv", "parquet"]
Target = str | os.PathLike[str] | BinaryIO
Columns = Mapping[str, Any]
"""A stretch of a table: columns (n,) by name, arrays or lists."""

FORMATS: tuple[Format, ...] = ("csv", "parquet")
ROWS_PER_GROUP = 1 << 16  # characters written at a time: one row group of a Parquet file


def per_character(record: Record, target: Target, format: Format | None = None) -> None:
    """Write the table of a scored text to a path or a binary file. `format` is "csv" or "parquet"; None: by
    the path's ending, or CSV. Raises ConfigError for an unknown format or missing pyarrow, ExportError if
    writing fails.
    """
    _write_table(_characters(record), target, format)


def per_word(
    record: Record, target: Target, format: Format | None = None, *, blanks: Blanks = "next"
) -> None:
    """Write the table of a scored text's words (`rnnviz.scoring.words`); arguments and errors are as above.
    White space counts for the "next" word or the "previous" one.
    """
    _write_table(words_of_record(record, blanks), target, format)


def _write_table(stretches: Iterable[Columns], target: Target, format: Format | None) -> None:
    write = {"csv": write_csv, "parquet": write_parquet}[table_format(target, format)]
    with files.replacing(target) as file:
        write(file, stretches)


def _characters(record: Record) -> Iterator[Columns]:
    """A row a character."""
    for start in range(0, len(record), ROWS_PER_GROUP):
        stop = min(start + ROWS_PER_GROUP, len(record))
        points, index = record.read("codes", start, stop).astype(np.int32), np.arange(start, stop)
        yield {
            "position": index + 1,
            "character": list(map(chr, points.tolist())),
            "code_point": points,
            "nll": record.read("nll", start, stop),
            "rank": record.ranks(start, stop),
            "entropy": record.read("entropy", start, stop),
            "known": record.is_known(start, stop),
            "index": index,
        }


def write_csv(file: BinaryIO, stretches: Iterable[Columns]) -> None:
    """A table of characters or words and numbers, headed by the columns' names."""
    out = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    try:
        writer = csv.writer(out, lineterminator="\n")
        for n, columns in enumerate(stretches):
            if n == 0:
                writer.writerow(columns)
            writer.writerows(zip(*map(_cells, columns.values()), strict=True))
    finally:
        out.detach()  # leaves the caller's file open


def _cells(column: Any) -> Any:
    """A column for CSV: floats with the fewest digits that restore them at their own precision."""
    if not isinstance(column, np.ndarray):
        return map(cell, column)
    return column.astype("U32").tolist() if column.dtype == np.float32 else column.tolist()


def write_parquet(file: BinaryIO, stretches: Iterable[Columns]) -> None:
    """The same table, a row group a stretch. Raises ConfigError without pyarrow."""
    pa = parquet_library()
    import pyarrow.parquet as pq

    writer = None
    with ExitStack() as stack:  # a writer left open would fail when garbage-collected
        for columns in stretches:
            table = pa.table({name: pa.array(column) for name, column in columns.items()})
            if writer is None:
                writer = stack.enter_context(pq.ParquetWriter(file, table.schema, compression="zstd"))
            writer.write_table(table, row_group_size=max(len(table), 1))


# ---- writing to a path -----------------------------------------------------------------------------------


def html(record: Record, target: Target, *, translate: Callable[[str], str] = str, **options: Any) -> None:
    """Write the page of `rnnviz.figures.export`, with its `options`. Raises ExportError if writing fails."""

    with files.replacing(target) as file:
        for part in page(record, translate=translate, **options):
            # A file's name may hold undecodable bytes, as surrogates, which UTF-8 can't encode.
            file.write(part.encode("utf-8", "backslashreplace"))


def table_format(target: Target, format: str | None = None) -> Format:
    """The format of a table of characters or words: `format`, or that of the target's ending. Raises
    ConfigError for another one, and for Parquet without pyarrow.
    """
    if format is None:
        if not isinstance(target, str | os.PathLike):
            return "csv"
        format = Path(target).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise ConfigError(
            "a table of characters or words is csv or parquet; received {format!r}",
            format=format or str(target),
        )
    if format == "parquet":
        parquet_library()
    return format


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        add="write_rows",
        curve="curve_svg",
        of="csv_text",
    )
