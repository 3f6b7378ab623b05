"""What `python -m rnnviz perplexity` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rnnviz.cli.output import complain, print_table
from rnnviz.text.files import printable

if TYPE_CHECKING:
    from rnnviz.reading.rows import RowsReport
    from rnnviz.reading.scoring import Report
    from rnnviz.reports.interval import Interval
    from rnnviz.reports.many import Compared


def range_json(lies: Interval | None) -> dict[str, Any]:
    """Where the next passage of a text lies. Rows are no one text: none follows them."""
    from rnnviz.reports.interval import METHOD

    if lies is None:
        return {"interval": None, "interval_method": METHOD, "interval_why_not": "rows"}
    return {
        "interval": None if lies.low is None else [lies.low, lies.high],
        "interval_method": METHOD,
        "interval_why_not": lies.reason or None,
    }


_WHY_NOT = {
    "drifts": "the first half scores {first:.4g}, the second {second:.4g}: too far apart to say how more of "
    "this text would score",
    "uneven": "its passages differ too much to say how more of this text would score",
}


def _range_in_words(lies: Interval) -> str:
    if lies.low is not None:
        return (
            f"\n  as many characters more would score between {lies.low:.4g} and {lies.high:.4g}, "
            "95 times in 100"
        )
    if lies.halves is None:  # too short
        return ""
    first, second = lies.halves
    return "\n  " + _WHY_NOT[lies.reason].format(first=first, second=second)


def in_words(report: Report, lies: Interval) -> str:
    """A text's figures."""
    return (
        f"{_figures(report)}\n"
        f"  {_characters(report)}; {report.encoding}, {report.certainty}; "
        f"{_seconds(report)}{_range_in_words(lies)}"
        + (f"\n  {_UNSETTLED.format(report.unsettled)}" if report.unsettled else "")
    )


def rows_in_words(report: RowsReport) -> str:
    """The figures of a file's rows together."""
    rows = f"{report.rows:,} rows" if report.rows != 1 else "1 row"
    if report.rows_scored != report.rows:
        rows = f"{report.rows_scored:,} of {rows}"
    column = f"column {report.column!r}{', the only one with texts' if report.column_found else ''}"
    if report.given is not None:
        column += f", given {report.given!r}"
    return f"{_figures(report)}\n  {rows}, {column}; {_characters(report)}; {_seconds(report)}"


def _figures(report: Report) -> str:
    word = f"{report.word_perplexity:.4g} a word, " if report.word_perplexity is not None else ""
    return (
        f"{printable(report.file)}: perplexity {report.perplexity:.4g}, {word}"
        f"{report.bits_per_character:.4g} bits a character, {report.bits_per_byte:.4g} bits a byte"
    )


def _characters(report: Report) -> str:
    unknown = f"{report.unknown:,} unknown"
    if report.unknown and report.perplexity_known is not None:
        unknown += f" (without them {report.perplexity_known:.4g})"
    words = "" if report.words is None else f", {report.words:,} words between white space"
    context = f", after {report.given_characters:,} of context" if report.given_characters else ""
    return f"{report.characters:,} characters{context}, {unknown}{words}"


def _seconds(report: Report) -> str:
    return f"{report.seconds:.2f} s{', in float64' if report.precise else ''}"


def complain_of_rows(report: RowsReport) -> None:
    """Name the first rows that were left out, and count them all by what is wrong with them."""
    for row, error in report.examples:
        complain(f"{report.file}, row {row:,}: {error}")
    if report.rows_left_out:
        kinds = ", ".join(f"{_LEFT_OUT[kind]} {n:,}" for kind, n in report.rows_left_out.items())
        left_out = report.rows - report.rows_scored
        complain(f"{report.file}: {left_out:,} of {report.rows:,} rows were left out ({kinds})")
    if report.damage is not None:
        complain(f"{report.damage}; the {report.rows:,} rows before that were read")


_LEFT_OUT = {
    "broken": "not readable",
    "missing": "without the column",
    "null": "null",
    "type": "no text",
    "empty": "empty",
    "long": "too long",
    "surrogate": "half a character",
}


_UNSETTLED = (
    "on {:,} of these the network magnified rounding instead of forgetting it: their costs, and the "
    "last digits above, depend on the order of computing; --precise computes in float64"
)


LEARNED = (
    "  by {}, which learned from the text as it read it: not comparable with a figure of one that doesn't"
)


def print_rows(rows: Sequence[Compared]) -> None:
    print_table(
        ("", "under", "what it is", "perplexity", "bits a character"),
        [
            ("*" if r.best else "", r.name, r.about, f"{r.perplexity:.4g}", f"{r.bits_per_character:.4g}")
            for r in rows
        ],
        numbers=(3, 4),
        indent="  ",
    )


def print_averages(reports: Sequence[Report]) -> None:
    """Both averages of several files."""
    from rnnviz.reports.interval import averages

    found = averages(reports)
    print(
        f"all {found.texts:,} files: perplexity {found.micro:.4g} where every character counts the same "
        f"(micro), {found.macro:.4g} where every file does (macro)"
    )


def print_matrix(compared: dict[str, list[Compared]]) -> None:
    print("\nperplexity")
    files = list(compared)
    names = [row.name for row in compared[files[0]]]
    cells = [
        (name, *(f"{'*' if (row := compared[file][n]).best else ''}{row.perplexity:.4g}" for file in files))
        for n, name in enumerate(names)
    ]
    print_table(("under", *files), cells, numbers=range(1, len(files) + 1))
