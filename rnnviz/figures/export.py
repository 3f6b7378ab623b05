"""Export a scored text: as a table of its characters, or a self-contained page.

The table has one row a character:

    position    1 for the first character
    character   as it was read, after normalising
    code_point  the same as a number
    nll         -log P in nats, an unknown character's whole cost included: exp of its mean is the perplexity
    rank        1 if the most probable symbol came; an unknown character ranks as <unk>
    entropy     in nats, of the prediction before the character came
    known       whether the character is in the model's vocabulary
    index       0 for the first character, as positions count everywhere else in rnnviz

Everything streams, in constant memory. A file that isn't completed keeps its previous content.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures.perplexity import curve
from rnnviz.figures.themes import DARK, LIGHT, SURPRISAL_FULL, Theme, ramp
from rnnviz.text import files
from rnnviz.text.characters import printable
from rnnviz.text.row_formats import parquet_library as parquet_library
from rnnviz.text.vocabulary import code_points

# Tables as CSV, safe to open in a spreadsheet: it would compute a file's name that begins like a formula.


FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a formula begins with, for one spreadsheet or another; in full width in East Asian ones."""


def cell(value: object) -> object:
    """`value` with an apostrophe in front if it is text that a spreadsheet would compute. One character alone
    is no formula, and stays as it was read.

    >>> cell("=1+1"), cell("="), cell(-1.5), cell("a=1")
    ("'=1+1", '=', -1.5, 'a=1')
    """
    return f"'{value}" if isinstance(value, str) and len(value) > 1 and value.startswith(FORMULA) else value


def write(out: TextIO | IO[str], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, a row at a time."""
    add(out, [columns])
    add(out, rows)


def add(out: TextIO | IO[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of a table."""
    csv.writer(out, lineterminator="\n").writerows(map(cell, row) for row in rows)


def of(rows: Sequence[Mapping[str, Any]]) -> str:
    """The CSV of at least one row, headed by its names.

    >>> of([{"file": "@x", "perplexity": 4.5}])
    "file,perplexity\\n'@x,4.5\\n"
    """
    out = io.StringIO()
    write(out, list(rows[0]), (list(row.values()) for row in rows))
    return out.getvalue()


# A scored text as one page of HTML: figures, curve (as SVG, for print) and coloured text. It runs no script,
# loads nothing and follows the reader's light or dark setting. Text and names are escaped. Words are English
# unless `translate` turns them into another language.


if TYPE_CHECKING:
    from rnnviz.reading.scoring import Report
    from rnnviz.reports.analysis import Passage
    from rnnviz.reports.record import Record

LONGEST = 200_000  # characters of text on a page; a browser scrolls these with ease
POINTS = 2_000
PASSAGES = 10
SHORT = 400  # characters below which a text has no passages worth a table
CLASSES = int(SURPRISAL_FULL) + 1  # whole bits; the last one: that many and more
BLOCK = 4_096  # characters after which the text may be divided, at the next line end

_NAMES = "abcdefghijk"  # one letter a class: there are many runs


def page(
    record: Record,
    report: Report,
    *,
    translate: Callable[[str], str] = str,
    language: str = "en",
    longest: int = LONGEST,
) -> Iterator[str]:
    """The page, part by part; joined they are one document. `longest` limits the characters shown, not the
    figures, which are the whole text's. `language` is the words' BCP 47 code.
    """
    _ = translate
    name = Path(report.file).name
    title = f"{name} · {report.model}"
    yield (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        # No script can run here, whatever a text holds.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{visible(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
    )
    yield f"<header><h1><bdi>{visible(name)}</bdi></h1>\n{_answer(report, _)}</header>\n<main>\n"
    yield _section(_("Results"), "", _figures(report, _))
    yield _section(
        _("Along the text"),
        _("Where a line rises, the text surprised the model. Where it falls, the text was easy to predict."),
        curve(record.curve(POINTS), translate),
    )
    if len(record) >= SHORT:
        yield _passages(record, _)
    yield from _text(record, longest, _)
    yield f"</main>\n<footer>{_note(_)}</footer>\n</body>\n</html>\n"


def visible(text: str) -> str:
    """Text escaped for HTML, with control characters as their pictures."""
    return escape(printable(text))


def _section(head: str, notice: str, body: str) -> str:
    said = f'<p class="notice">{escape(notice)}</p>\n' if notice else ""
    return f"<section><h2>{escape(head)}</h2>\n{said}{body}</section>\n"


def _answer(report: Report, _: Callable[[str], str]) -> str:
    name = _("Perplexity")
    sentence = _("On average {model} hesitated between about {n} characters each time.")
    model = f"<bdi>{visible(report.model)}</bdi>"
    return (
        f'<p class="answer"><span>{escape(name)}</span> {_number(report.perplexity)}</p>\n'
        f"<p>{_filled(sentence, model=model, n=_about(report.perplexity))}</p>\n"
    )


def _filled(sentence: str, **values: str) -> str:
    return escape(sentence).format(**values)


def _about(perplexity: float) -> str:
    """How many characters a model hesitates between: whole ones, unless they are few."""
    if not math.isfinite(perplexity):
        return "∞"
    return f"{perplexity:,.{0 if perplexity >= 3 else 1}f}"


def _number(value: float) -> str:
    """Rounded for people, with all digits beside it for machines."""
    shown = "∞" if not math.isfinite(value) else f"{value:,.4f}"
    return f'<data value="{value!r}">{shown}</data>'


def _count(value: int) -> str:
    return f'<data value="{value}">{value:,}</data>'


def _figures(report: Report, _: Callable[[str], str]) -> str:
    rows = [
        (_("Model"), f"<bdi>{visible(report.model)}</bdi>"),
        (_("Perplexity"), _number(report.perplexity)),
    ]
    if report.unknown and report.perplexity_known is not None:
        rows.append((_("Perplexity without unknown characters"), _number(report.perplexity_known)))
    rows += [
        (_("Bits per character"), _number(report.bits_per_character)),
        (_("Bits per byte of UTF-8"), _number(report.bits_per_byte)),
        (_("Characters"), _count(report.characters)),
        (_("Bytes in UTF-8"), _count(report.bytes)),
        (_("Unknown characters"), _count(report.unknown)),
        (_("Line endings converted"), _count(report.normalised)),
    ]
    if report.encoding is not None:
        certainty = {"declared": _("declared"), "verified": _("verified"), "guessed": _("guessed")}
        how = certainty.get(str(report.certainty), str(report.certainty))
        rows.append((_("Encoding"), f"{visible(report.encoding)}, {escape(how)}"))
    body = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{value}</td></tr>\n' for name, value in rows)
    return f"<table><tbody>\n{body}</tbody></table>\n"


def _passages(record: Record, _: Callable[[str], str]) -> str:
    columns = (_("From character"), _("Perplexity"), _("Passage"))
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    parts = []
    for least, title in (
        (False, _("The most surprising passages")),
        (True, _("The least surprising passages")),
    ):
        rows = "".join(_passage(passage) for passage in record.surprising_passages(PASSAGES, least=least))
        table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>\n"
        parts.append(_section(title, "", table))
    return f'<div class="pair">{"".join(parts)}</div>\n'


def _passage(passage: Passage) -> str:
    text = visible(passage.text).replace("\n", "⏎")
    return (
        f"<tr><td>{_count(passage.start + 1)}</td><td>{_number(passage.perplexity)}</td>"
        f'<td><bdi class="text">{text}</bdi></td></tr>\n'
    )


def _text(record: Record, longest: int, _: Callable[[str], str]) -> Iterator[str]:
    count, shown = len(record), min(len(record), longest)
    title = _("The text")
    notice = _("The stronger the colour, the more the character surprised the model.")
    yield f'<section><h2>{escape(title)}</h2>\n<p class="notice">{escape(notice)}</p>\n{_legend(_)}'
    if shown < count:
        sentence = _(
            "Here are the first {shown} of {count} characters; the figures are those of all of them."
        )
        yield f'<p class="cut">{_filled(sentence, shown=f"{shown:,}", count=f"{count:,}")}</p>\n'
    # Divided between lines, so that a browser lays out only what is in sight.
    yield '<div class="reading">'
    start, opened = 0, False
    while start < shown:
        text = record.text(start, min(start + BLOCK, shown))
        text = text[: text.rfind("\n") + 1] or text
        stop = start + len(text)
        if not opened:
            yield "<pre>\n"  # this line end is markup's own, the text's are safe behind it
        yield "".join(coloured(text, record.read("nll", start, stop), record.known(start, stop)))
        opened = not text.endswith("\n")
        if not opened:
            yield "</pre>"
        start = stop
    yield "</pre></div></section>\n" if opened else "</div></section>\n"


def coloured(text: str, nll: npt.ArrayLike, known: npt.ArrayLike) -> Iterator[str]:
    """A text as HTML, each run of one surprisal class in one element. `nll` (n,) in nats and `known` (n,) are
    the characters'. A class is a whole number of bits; unknown characters are underlined too.
    """
    bits = np.asarray(nll, np.float64) / math.log(2)
    level = np.clip(np.floor(bits), 0, CLASSES - 1).astype(np.int64)
    kind = level * 2 + ~np.asarray(known, bool)
    borders = [0, *(np.flatnonzero(np.diff(kind)) + 1).tolist(), len(text)] if text else []
    for start, stop in itertools.pairwise(borders):
        shown = visible(text[start:stop]).replace("\n", "<b></b>\n")  # the mark is drawn, but not copied
        name = _NAMES[level[start]]
        unknown = "" if kind[start] % 2 == 0 else " u"
        yield f'<i class="{name}{unknown}">{shown}</i>' if unknown else f"<i class={name}>{shown}</i>"


def _legend(_: Callable[[str], str]) -> str:
    steps = "".join(
        f"<i class={name}>{n}{'+' if n == CLASSES - 1 else ''}</i>" for n, name in enumerate(_NAMES)
    )
    bits, unknown = escape(_("bits")), escape(_("unknown"))
    return f'<p class="key legend">{bits} {steps} <i class="a u">{unknown}</i></p>\n'


def _note(_: Callable[[str], str]) -> str:
    sentence = _(
        "Perplexity is exp of the average −log P(character | everything before it). Every character counts, "
        "the first one too. An unknown character costs −log P(<unk>) plus the log of how many "
        "characters the vocabulary lacks."
    )
    return f"<p>{escape(sentence)}</p>"


def _style() -> str:
    rules = [f"i.{name}{{background:var(--s{n})}}" for n, name in enumerate(_NAMES)]
    return (
        f":root{{{_variables(LIGHT)}}}@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
        + _CSS
        + "".join(rules)
    )


def _variables(theme: Theme) -> str:
    colours: Iterable[tuple[str, str]] = (
        ("paper", theme.background),
        ("ink", theme.text),
        ("muted", theme.muted),
        ("grid", theme.grid),
        ("running", theme.model),
        ("rolling", theme.came),
        *((f"s{n}", colour) for n, colour in enumerate(ramp(theme.surprisal, CLASSES))),
    )
    return "".join(f"--{name}:{colour};" for name, colour in colours)


_CSS = """
body{margin:0 auto;max-width:64rem;padding:1.5rem;background:var(--paper);color:var(--ink);
 font:1rem/1.55 system-ui,sans-serif}
h1{font-size:1.5rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin-top:2rem}
.answer{font-size:2.5rem;font-weight:600;margin:.2rem 0}.answer span,.notice,
.key,.cut,footer{color:var(--muted)}
.answer span{font-size:1rem;font-weight:400}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2rem .6rem .2rem 0;
 vertical-align:top;border-bottom:1px solid var(--grid);font-variant-numeric:tabular-nums}
th{font-weight:400;color:var(--muted)}
section>svg{width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--muted)}
svg path{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}svg .grid{stroke:var(--grid)}
svg .running{stroke:var(--running)}svg .rolling{stroke:var(--rolling);stroke-width:1}
.key i.running,.key i.rolling{display:inline-block;width:1.5rem;height:3px;margin:0 .4rem .2rem 0;
 background:var(--running)}.key i.rolling{background:var(--rolling);margin-left:1rem}
i{font-style:normal}.legend i{padding:0 .35rem}i.u{text-decoration:underline dotted 2px}
pre,.text{font-family:ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;
 unicode-bidi:plaintext}pre{margin:0;content-visibility:auto;contain-intrinsic-size:auto 40rem}
.reading i{color:var(--ink)}.reading b::after{content:"⏎";color:var(--muted);font-weight:400}
.pair{display:grid;gap:0 2rem}@media(min-width:60rem){.pair{grid-template-columns:1fr 1fr}}
@media print{pre{content-visibility:visible}}
"""


if TYPE_CHECKING:
    from rnnviz.reading.scoring import Piece, Report
    from rnnviz.reports.column_files import ColumnFiles
    from rnnviz.reports.record import Record

Format = Literal["csv", "parquet"]
Target = str | os.PathLike[str] | BinaryIO

FORMATS: tuple[Format, ...] = ("csv", "parquet")
COLUMNS = ("position", "character", "code_point", "nll", "rank", "entropy", "known", "index")
ROWS = 1 << 16  # characters written at a time: one row group of a Parquet file


class _Rows(NamedTuple):
    """A stretch of the table: n characters after the first `start`; arrays (n,)."""

    start: int
    points: npt.NDArray[np.uint32]
    nll: npt.NDArray[np.floating[Any]]
    rank: npt.NDArray[np.int32] | None
    entropy: npt.NDArray[np.float32] | None
    known: npt.NDArray[np.bool_]


def per_character(source: Iterable[Piece] | Record, target: Target, format: Format | None = None) -> int:
    """Write the table of a scored text to a path or a binary file; returns the number of rows.

    `source` is a Record, or `scoring.pieces`; without `details` ranks and entropies stay empty. `format` is
    "csv" or "parquet", by default the path's ending, or CSV. Raises ConfigError for an unknown format or
    missing pyarrow, ExportError if writing fails, and what scoring raises.
    """
    write = _WRITERS[_format(target, format)]
    with files.replacing(target) as file:
        return write(_rows(source), file)


def html(
    record: Record, report: Report, target: Target, *, translate: Callable[[str], str] = str, **options: Any
) -> None:
    """Write the page of `rnnviz.figures.export`, with its `options`. Raises ExportError if that fails."""

    with files.replacing(target) as file:
        for part in page(record, report, translate=translate, **options):
            # A file's name may hold bytes that are no text: half surrogates here.
            file.write(part.encode("utf-8", "backslashreplace"))


LONGEST_NAME = 240  # bytes; most systems take 255, and what is being written has a longer one


def check(target: str | os.PathLike[str], formats: tuple[str, ...] = FORMATS) -> None:
    """Raise early what writing to this path would raise after minutes of scoring."""
    path = Path(target)
    if formats == FORMATS and _format(path, None) == "parquet":
        parquet_library()
    if (
        os.path.isdir(path)
        or not os.path.isdir(path.absolute().parent)
        or len(os.fsencode(path.name)) > LONGEST_NAME
    ):
        raise ExportError(
            "{path} can't be written: there is no folder for it, or its name is too long; make one or name "
            "another file",
            path=path,
        )


def _format(target: Target, format: str | None) -> Format:
    if format is None:
        if not isinstance(target, str | os.PathLike):
            return "csv"
        format = Path(target).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise ConfigError(
            "a table of characters is csv or parquet; received {format!r}", format=format or str(target)
        )
    return format


def _rows(source: Iterable[Piece] | Record) -> Iterator[_Rows]:
    from rnnviz.reports.column_files import ColumnFiles

    yield from _rows_of_record(source) if isinstance(source, ColumnFiles) else _joined(source)


def _rows_of_record(record: ColumnFiles) -> Iterator[_Rows]:
    for start in range(0, len(record), ROWS):
        stop = min(start + ROWS, len(record))
        yield _Rows(
            start,
            record.read("codes", start, stop),
            record.read("nll", start, stop),
            record.ranks(start, stop),
            record.read("entropy", start, stop),
            record.known(start, stop),
        )


def _joined(pieces: Iterable[Piece]) -> Iterator[_Rows]:
    waiting: list[Piece] = []
    for piece in pieces:
        waiting.append(piece)
        if sum(len(p.nll) for p in waiting) >= ROWS:
            yield _join(waiting)
            waiting = []
    if waiting:
        yield _join(waiting)


def _join(pieces: list[Piece]) -> _Rows:
    ranks = [p.rank for p in pieces if p.rank is not None]
    entropies = [p.entropy for p in pieces if p.entropy is not None]
    return _Rows(
        pieces[0].start,
        code_points("".join(p.text for p in pieces)),
        np.concatenate([p.nll for p in pieces]),
        np.concatenate(ranks) if len(ranks) == len(pieces) else None,
        np.concatenate(entropies) if len(entropies) == len(pieces) else None,
        np.concatenate([p.known for p in pieces]),
    )


def _write_csv(stretches: Iterator[_Rows], file: BinaryIO) -> int:
    out = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    try:
        # Of all cells the characters alone are text, and one character is no formula for a spreadsheet.
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        count = 0
        for rows in stretches:
            n = len(rows.points)
            writer.writerows(
                zip(
                    range(rows.start + 1, rows.start + n + 1),
                    map(chr, rows.points.tolist()),
                    rows.points.tolist(),
                    digits(rows.nll),
                    [""] * n if rows.rank is None else rows.rank.tolist(),
                    [""] * n if rows.entropy is None else digits(rows.entropy),
                    rows.known.tolist(),
                    range(rows.start, rows.start + n),
                    strict=True,
                )
            )
            count += n
        return count
    finally:
        out.detach()  # the file is its owner's to close


def digits(values: npt.NDArray[np.floating[Any]]) -> list[str]:
    """The shortest digits that give each value back at its own precision."""
    return [str(value) for value in values.astype("U32")]


def _write_parquet(stretches: Iterator[_Rows], file: BinaryIO) -> int:
    pa = parquet_library()
    import pyarrow.parquet as pq

    first = next(stretches, None)
    nll = pa.float64() if first is None or first.nll.dtype == np.float64 else pa.float32()
    kinds = (pa.int64(), pa.string(), pa.int32(), nll, pa.int32(), pa.float32(), pa.bool_(), pa.int64())
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in () if first is None else chain([first], stretches):
            n = len(rows.points)
            values: tuple[Any, ...] = (
                np.arange(rows.start + 1, rows.start + n + 1),
                [chr(point) for point in rows.points.tolist()],
                rows.points.astype(np.int32),
                rows.nll,
                rows.rank,
                rows.entropy,
                rows.known,
                np.arange(rows.start, rows.start + n),
            )
            arrays = [
                pa.nulls(n, kind) if value is None else pa.array(value, kind)
                for value, kind in zip(values, kinds, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=max(n, 1))
            count += n
    return count


_WRITERS: dict[Format, Callable[[Iterator[_Rows], BinaryIO], int]] = {
    "csv": _write_csv,
    "parquet": _write_parquet,
}
