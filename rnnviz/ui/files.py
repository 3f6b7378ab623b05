"""The Perplexity page: how well a model predicts text files, or a text that is pasted.

Scoring itself is rnnviz.scoring; this page shows its progress and its report.
What was scored is kept for the session, so that a click elsewhere costs nothing.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.scoring import Progress, Report, score
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.trouble import describe, plain

log = logging.getLogger("rnnviz")

KEPT = 200  # scored texts remembered in a session
LONGEST_PASTE = 1_000_000
EXAMPLE = "The Time Traveller asked us to wait."  # for a model whose card has none


@dataclass(frozen=True)
class Text:
    """Something to score: an uploaded file, or a text. `identity` changes when its content does."""

    name: str
    identity: str
    file: Any = None  # a seekable binary file
    text: str | None = None


@dataclass(frozen=True)
class Failure:
    """Why a text has no perplexity, safe as Markdown."""

    file: str
    reason: str


Outcome = Report | Failure


def page(context: Context) -> None:
    """Draw the page."""
    st.title(_("Perplexity of your texts"))
    st.markdown(
        _(
            "How well does **{model}** predict a text it has never seen? It reads character by character and "
            "says before each one how likely every character is. The less it is surprised, the lower the "
            "**perplexity**: 1 means it always knew what comes; {symbols} means it guessed blindly."
        ).format(model=plain(context.info.path.stem), symbols=f"{context.model.vocabulary.size:,}")
    )
    texts = chosen_texts()
    if texts:
        results([outcome(context, text) for text in texts])
    else:
        example(context)


def chosen_texts() -> list[Text]:
    """The uploaded files and the pasted text, in this order."""
    upload, paste = st.tabs([_("Upload files"), _("Paste a text")])
    with upload:
        files = st.file_uploader(
            _("Text files: drop them here, or choose them"),
            accept_multiple_files=True,
            key="files",
            help=_("Plain text in any language and encoding. Files stay on the machine that runs this app."),
        )
    with paste, st.form("paste", border=False):
        pasted = st.text_area(
            _("Text"),
            key="pasted",
            height=160,
            max_chars=LONGEST_PASTE,
            placeholder=_("Paste or type a text here."),
        )
        st.form_submit_button(_("Score this text"), type="primary")
    texts = [Text(file.name, file.file_id, file=file) for file in files]
    if pasted:
        digest = hashlib.sha256(pasted.encode("utf-8", "surrogatepass")).hexdigest()
        texts.append(Text(_("pasted text"), digest, text=pasted))
    return texts


def outcome(context: Context, text: Text) -> Outcome:
    """The report of a text, or why there is none; remembered for the session."""
    remembered: dict[tuple[object, ...], Outcome] = st.session_state.setdefault("scored", {})
    key = (context.info.path, context.info.path.stat().st_mtime_ns, text.identity, text.name)
    if key not in remembered:
        try:
            remembered[key] = watched(text.name, scoring(context, text))
        except RnnvizError as error:
            remembered[key] = Failure(text.name, describe(error, text.name))
        except Exception as error:
            log.error("scoring failed", exc_info=error)
            return Failure(text.name, describe(error, text.name))
        while len(remembered) > KEPT:
            del remembered[next(iter(remembered))]
    return remembered[key]


def scoring(context: Context, text: Text) -> Generator[Progress, None, Report]:
    """The steps of scoring one text."""
    if text.file is not None:
        text.file.seek(0)
        return score(context.scorer, text.file, name=text.name)
    return score(context.scorer, text=text.text, name=text.name)


def watched(name: str, steps: Generator[Progress, None, Report]) -> Report:
    """Run the steps to their report, with a progress bar meanwhile."""
    bar = st.progress(0.0, text=_("{name}: looking at its encoding").format(name=plain(name)))
    try:
        while True:
            step = next(steps)
            bar.progress(
                step.fraction,
                text=_("{name}: {count} characters read, perplexity so far {perplexity}").format(
                    name=plain(name), count=f"{step.characters:,}", perplexity=rounded(step.perplexity)
                ),
            )
    except StopIteration as end:
        report: Report = end.value
        return report
    finally:
        bar.empty()


def results(outcomes: Sequence[Outcome]) -> None:
    """A card for each text; with several, a table to compare them; and everything to take away."""
    reports = [o for o in outcomes if isinstance(o, Report)]
    if len(reports) > 1:
        comparison(reports)
    for one in outcomes:
        if isinstance(one, Report):
            card(one)
        else:
            st.error(f"**{plain(one.file)}**  \n{one.reason}", icon=":material/error:")
    if reports:
        downloads(reports)


def comparison(reports: Sequence[Report]) -> None:
    """All texts in one table, which a click on a column's head sorts."""
    st.dataframe(
        {
            _("Text"): [r.file for r in reports],
            _("Perplexity"): [r.perplexity for r in reports],
            _("Bits per character"): [r.bits_per_character for r in reports],
            _("Bits per byte"): [r.bits_per_byte for r in reports],
            _("Characters"): [r.characters for r in reports],
            _("Unknown"): [r.unknown for r in reports],
        },
        hide_index=True,
        width="stretch",
        column_config={
            _("Perplexity"): st.column_config.NumberColumn(format="%.3f"),
            _("Bits per character"): st.column_config.NumberColumn(format="%.3f"),
            _("Bits per byte"): st.column_config.NumberColumn(format="%.3f"),
            _("Characters"): st.column_config.NumberColumn(format="localized"),
            _("Unknown"): st.column_config.NumberColumn(format="localized"),
        },
    )


def card(report: Report) -> None:
    """One text: its perplexity, what that means, and the figures around it."""
    with st.container(border=True):
        st.markdown(f"**{plain(report.file)}**")
        large, rest = st.columns([1, 3], vertical_alignment="center")
        large.metric(
            _("Perplexity"),
            rounded(report.perplexity),
            help=_("exp of the average surprise per character. Every character counts, the first one too."),
        )
        with rest:
            st.markdown(meaning(report))
        for column, (label, value, about) in zip(st.columns(5), figures(report), strict=True):
            column.markdown(f":small[:gray[{label}]]  \n**{value}**", help=about)
        st.caption(provenance(report))


def figures(report: Report) -> list[tuple[str, str, str | None]]:
    """Name, value and explanation of the figures beside the perplexity."""
    known = report.perplexity_known
    return [
        (
            _("Bits per character"),
            f"{report.bits_per_character:.3f}",
            _("The same in bits: log2 of the perplexity."),
        ),
        (
            _("Bits per byte"),
            f"{report.bits_per_byte:.3f}",
            _("Per byte of the text in UTF-8, which spends 8: what a perfect compressor would need."),
        ),
        (_("Characters"), f"{report.characters:,}", None),
        (
            _("Unknown"),
            f"{report.unknown:,}",
            _("Characters outside the model's vocabulary. Each costs as much as spelling it out."),
        ),
        (
            _("Without unknown"),
            "–" if known is None else rounded(known),
            _("The perplexity over the known characters alone."),
        ),
    ]


def meaning(report: Report) -> str:
    """What the perplexity says, in a sentence or two."""
    sentences = [
        _(
            "On average it was as unsure as if it had to choose among **{perplexity}** "
            "equally likely characters."
        ).format(perplexity=rounded(report.perplexity, 1))
    ]
    if report.perplexity_known is None:
        sentences.append(_("It knows none of these characters: choose a model that has read this language."))
    elif report.unknown:
        sentences.append(
            ngettext(
                "{n} character is not in its vocabulary, which costs much; "
                "without it the perplexity is {perplexity}.",
                "{n} characters are not in its vocabulary, which costs much; "
                "without them the perplexity is {perplexity}.",
                report.unknown,
            ).format(n=f"{report.unknown:,}", perplexity=rounded(report.perplexity_known))
        )
    return "  \n".join(sentences)


def provenance(report: Report) -> str:
    """How the characters were read, and how long scoring took."""
    parts = []
    if report.encoding is not None:
        how = {
            "declared": _("declared by a byte order mark"),
            "verified": _("verified: all its bytes fit"),
            "guessed": _("guessed from its bytes"),
        }.get(str(report.certainty), "")
        parts.append(_("Encoding {encoding}, {how}").format(encoding=plain(report.encoding), how=how))
    if report.normalised:
        parts.append(
            ngettext("{n} line end made uniform", "{n} line ends made uniform", report.normalised).format(
                n=f"{report.normalised:,}"
            )
        )
    parts.append(_("scored in {seconds} s").format(seconds=f"{report.seconds:.2f}"))
    return " · ".join(parts)


def rounded(value: float, digits: int = 2) -> str:
    """A perplexity for people: two decimals while they matter, then none."""
    if not math.isfinite(value):
        return "∞"
    return f"{value:,.{digits}f}" if value < 1000 else f"{value:,.0f}"


def example(context: Context) -> None:
    """What a result looks like, on a text that suits the model, before anything was uploaded."""
    text = context.model.card.get("example")
    text = text if isinstance(text, str) and text else EXAMPLE
    st.subheader(_("An example"))
    st.caption(
        _("Upload a file or paste a text to see its figures here. Until then, this is how the model does on:")
    )
    st.code(text, language=None, wrap_lines=True)
    shown = outcome(context, Text(_("example"), hashlib.sha256(text.encode()).hexdigest(), text=text))
    if isinstance(shown, Report):
        card(shown)
    else:
        st.error(shown.reason, icon=":material/error:")


def downloads(reports: Sequence[Report]) -> None:
    """The figures to take away."""
    with st.container(horizontal=True):
        for label, data, name, kind in (
            (_("Download as CSV"), as_csv(reports), "perplexity.csv", "text/csv"),
            (_("Download as JSON"), as_json(reports), "perplexity.json", "application/json"),
        ):
            st.download_button(label, data, name, kind, icon=":material/download:", on_click="ignore")


def as_csv(reports: Sequence[Report]) -> str:
    """One row a text, with a row of names."""
    out = io.StringIO()
    rows = [report.to_json() for report in reports]
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_json(reports: Sequence[Report]) -> str:
    """A list of objects, one a text."""
    return json.dumps([report.to_json() for report in reports], indent=1, ensure_ascii=False)
