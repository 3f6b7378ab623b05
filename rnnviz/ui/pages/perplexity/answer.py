"""The answer: the perplexity of one text, what it means, and the figures around it."""

from __future__ import annotations

import math
from html import escape

import streamlit as st

from rnnviz.figures.themes import DARK, LIGHT
from rnnviz.reading.scoring import Report
from rnnviz.text.characters import visible
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.perplexity import caution, encodings
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import named, rounded


def show(context: Context, text: Text, scored: Scored) -> None:
    report = scored.report
    with st.container(border=True, key="answer"):
        st.html("<style>" + _STYLE % (LIGHT.model, DARK.model) + "</style>")
        large, rest = st.columns([2, 7], vertical_alignment="top")
        with large:
            st.metric(
                _("Perplexity of {name}").format(name=plain(report.file)),
                rounded(report.perplexity),
                help=_(
                    "exp of the average surprise per character. Every character counts, the first one too."
                ),
            )
        with rest:
            st.markdown(meaning(report))
            st.html(scale(context, report))
        columns = st.columns(5)
        for column, (label, value, about) in zip(columns, figures(report), strict=True):
            column.markdown(f":small[:gray[{label}]]  \n**{value}**", help=about)
        if report.unknown:
            with columns[3], st.popover(_("Which?"), type="tertiary"):
                unknown(scored)
        caution.notes(scored)
        if report.encoding is not None:
            encodings.control(text, report.encoding, report.certainty)
        st.caption(provenance(text, report))


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
            _("Unknown characters"),
            f"{report.unknown:,}",
            _("Characters outside the model's vocabulary. Each costs as much as spelling it out."),
        ),
        (
            _("Perplexity without unknown"),
            "–" if known is None else rounded(known) if report.unknown else _("the same"),
            _("The perplexity over the known characters alone."),
        ),
    ]


def meaning(report: Report) -> str:
    """What the perplexity says, in a sentence or two."""
    sentences = [
        _("On average it was as unsure as choosing among **{perplexity}** equally likely characters.").format(
            perplexity=rounded(report.perplexity, 1)
        )
    ]
    if report.perplexity_known is None:
        sentences.append(_("It knows none of these characters: choose a model that has read this language."))
    elif report.unknown:
        sentences.append(
            ngettext(
                "{n} character is not in its vocabulary, which costs much; "
                "without it the perplexity is **{perplexity}**.",
                "{n} characters are not in its vocabulary, which costs much; "
                "without them the perplexity is **{perplexity}**.",
                report.unknown,
            ).format(n=f"{report.unknown:,}", perplexity=rounded(report.perplexity_known))
        )
    return "  \n".join(sentences)


def scale(context: Context, report: Report) -> str:
    """The perplexity on a line from 1, certainty, to V, uniform guessing."""
    blind = context.model.vocabulary.size
    held_out = context.info.card.get("held_out")
    usual = held_out.get("perplexity") if isinstance(held_out, dict) else None
    end = max(blind, report.perplexity if math.isfinite(report.perplexity) else blind, 2.0)

    def place(value: float) -> float:
        return 100 * min(max(math.log(max(value, 1.0)) / math.log(end), 0.0), 1.0)

    guess = _("{n}: blind guess").format(n=f"{blind:,}")
    points = [(report.perplexity, "here", ""), (1.0, "", _("1: always knew")), (blind, "end", guess)]
    if isinstance(usual, int | float) and usual > 0:
        points.append((usual, "middle", _("{n}: on text like its own").format(n=rounded(usual))))
    marks = [f"<i style='left:{place(at):.2f}%' class='{kind}'></i>" for at, kind, _said in points if kind]
    below = [
        f"<span style='left:{place(at):.2f}%' class='{kind}'>{escape(said)}</span>"
        for at, kind, said in points
        if said
    ]
    label = _("On a line from always knowing to guessing blindly, this text stands at {n}.").format(
        n=rounded(report.perplexity)
    )
    return (
        f"<div class='rv-scale' role='img' aria-label='{escape(label, quote=True)}'>"
        f"<div class='line'><b style='width:{place(report.perplexity):.2f}%'></b>{''.join(marks)}</div>"
        f"<div class='below'>{''.join(below)}</div></div>"
    )


def unknown(scored: Scored) -> None:
    """The characters outside the vocabulary, with counts and code points."""
    st.dataframe(
        {
            _("Character"): [visible(c) for c, _n in scored.unknown],
            _("Count"): [n for _c, n in scored.unknown],
            _("Code point"): [f"U+{ord(c):04X}" for c, _n in scored.unknown],
            _("Name"): [named(c) for c, _n in scored.unknown],
        },
        hide_index=True,
        key="unknown",
    )
    if scored.kinds_unknown > len(scored.unknown):
        st.caption(
            _("The {shown} most frequent of {all} different ones.").format(
                shown=f"{len(scored.unknown):,}", all=f"{scored.kinds_unknown:,}"
            )
        )


def provenance(text: Text, report: Report) -> str:
    """What was done to the text before it was read, and how long scoring took."""
    parts = []
    if report.normalised:
        parts.append(
            ngettext("{n} line end made uniform", "{n} line ends made uniform", report.normalised).format(
                n=f"{report.normalised:,}"
            )
        )
    elif text.data is not None:
        parts.append(_("nothing about it was changed"))
    parts.append(_("read by {model}").format(model=plain(report.model)))
    parts.append(_("scored in {seconds} s").format(seconds=f"{report.seconds:.2f}"))
    words = " · ".join(parts)
    return words[:1].upper() + words[1:]


_STYLE = """
.st-key-answer [data-testid="stMetricValue"] { font-size: 3.4rem; line-height: 1.1; font-weight: 650; }
.rv-scale { padding: 0.1rem 0 0; }
.rv-scale .line { position: relative; height: 0.5rem; border-radius: 0.25rem;
  background: color-mix(in srgb, currentColor 12%%, transparent); }
.rv-scale .line b { position: absolute; inset: 0 auto 0 0; border-radius: 0.25rem;
  background: light-dark(%s, %s); }
.rv-scale .line i { position: absolute; top: -0.2rem; bottom: -0.2rem; width: 2px; margin-left: -1px;
  background: currentColor; opacity: 0.45; }
.rv-scale .line i.here { opacity: 1; }
.rv-scale .below { position: relative; height: 1.3rem; font-size: 0.8rem; opacity: 0.75; margin-top: 0.3rem; }
.rv-scale .below span { position: absolute; white-space: nowrap; }
.rv-scale .below .end { transform: translateX(-100%%); }
.rv-scale .below .middle { transform: translateX(-50%%); }
"""
