"""A scored text as one page of HTML: figures, curve (as SVG, for print) and coloured text. It runs no script,
loads nothing and follows the reader's light or dark setting. Text and names are escaped. Words are English
unless `translate` turns them into another language.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.figures.svg import curve
from rnnviz.figures.themes import DARK, LIGHT, SURPRISAL_FULL, Theme, ramp
from rnnviz.text.characters import printable

if TYPE_CHECKING:
    from rnnviz.reading.scoring import Report
    from rnnviz.reports.record import Record
    from rnnviz.reports.surprising_passages import Passage

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
    sentence = _("On average {model} was as unsure as if it chose among {n} equally likely characters.")
    model = f"<bdi>{visible(report.model)}</bdi>"
    return (
        f'<p class="answer"><span>{escape(name)}</span> {_number(report.perplexity)}</p>\n'
        f"<p>{_filled(sentence, model=model, n=_short(report.perplexity))}</p>\n"
    )


def _filled(sentence: str, **values: str) -> str:
    return escape(sentence).format(**values)


def _short(value: float) -> str:
    if not math.isfinite(value):
        return "∞"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


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
