"""The calculation of the perplexity, in steps that a student can check."""

import math

import numpy as np
import streamlit as st

from rnnviz.i18n import _
from rnnviz.page.formatting import percent, rounded
from rnnviz.scoring.record import Record
from rnnviz.text.characters import visible
from rnnviz.ui.pages.perplexity.scoring_jobs import Scored
from rnnviz.ui.shell.model_cache import Context

ROWS = 200


def show(context: Context, scored: Scored) -> None:
    """Draw the formula with its numbers, the sum's first rows, and explanations."""
    score = scored.score
    n, total = score.characters, math.log(score.perplexity) * score.characters
    st.markdown(
        _(
            "Before each character, the model gave it a probability. Take the negative logarithm of each, "
            "average them, and undo the logarithm:"
        )
    )
    st.latex(
        r"\begin{aligned}\text{" + _("perplexity") + r"} &= "
        r"\exp\Big(\tfrac{1}{n}\sum_{t=1}^{n} -\ln P(x_t \mid x_1 \dots x_{t-1})\Big)\\"
        rf" &= \exp\Big(\frac{{{latex(total, 2)}}}{{{latex(n, 0)}}}\Big) = \exp({total / n:.5f})\\"
        rf" &= {latex(score.perplexity, 4)}\end{{aligned}}"
    )
    left, right = st.columns([3, 2], gap="large")
    with left:
        if scored.complete:
            rows(scored.record, n)
    with right:
        facts(context, scored, total)
    with st.expander(_("Why an average, why exp, and why per character?"), icon=":material/school:"):
        st.markdown(lessons())


def latex(value: float, digits: int) -> str:
    """A number in LaTeX, with thin spaces between thousands."""
    return f"{value:,.{digits}f}".replace(",", r"\,") if math.isfinite(value) else r"\infty"


def rows(record: Record, n: int) -> None:
    """Draw a table of the first characters, each with its probability, its surprisal in nats, and the sum so
    far.
    """
    shown, number = min(n, ROWS), st.column_config.NumberColumn
    nll = record.read("nll", 0, shown).astype(np.float64)
    st.dataframe(
        {
            "t": range(1, shown + 1),
            _("character"): [visible(c) for c in record.text(0, shown)],
            "P": np.exp(-nll),
            "−ln P": nll,
            _("sum so far"): np.cumsum(nll),
        },
        hide_index=True,
        height=330,
        column_config={
            "t": number(width="small"),
            "P": number(format="%.3g"),
            "−ln P": number(format="%.4f"),
            _("sum so far"): number(format="%.4f"),
        },
    )
    if shown < n:
        said = _("The first {shown} of {n} rows. “Download” has all of them.")
    else:
        said = _("These are all rows. The fourth column adds up to the sum above.")
    st.caption(said.format(shown=f"{shown:,}", n=f"{n:,}"))


def facts(context: Context, scored: Scored, total: float) -> None:
    score = scored.score
    lines = [
        _("**The sum** is {nats} nats, or {bits} bits. One nat is 1 / ln 2 = 1.4427 bits.").format(
            nats=f"{total:,.2f}", bits=f"{total / math.log(2):,.2f}"
        ),
        _("**The base** of the logarithm doesn't matter: exp({nats}) = 2^{bits} = {perplexity}.").format(
            nats=f"{total / score.characters:.4f}",
            bits=f"{score.bits_per_character:.4f}",
            perplexity=rounded(score.perplexity, 3),
        ),
        _(
            "**The first character** counts too. The model reads a start symbol before it, so it has a "
            "probability like every other."
        ),
    ]
    if score.unknown:
        spread = context.model.vocabulary.unknown_cost
        lines.append(
            _(
                "**Unknown characters**: {unknown} ({share}). The model reads one symbol for all of them. "
                "Telling which one it was costs {spread} nats more. So all probabilities still add up to 1."
            ).format(
                unknown=f"{score.unknown:,}",
                share=percent(score.unknown / score.characters),
                spread=f"{spread:.2f}",
            )
        )
    else:
        lines.append(_("**Unknown characters**: none. The model knows every character of this text."))
    lines.append(
        _(
            "**How exact?** A long text is read in parallel stretches. A stretch that doesn't begin as the "
            "one before ended is read again. So the perplexity differs by at most 0.01 % from reading in "
            "sequence, unless the network magnifies rounding errors; the answer then says so."
        )
    )
    for line in lines:
        st.markdown(line)


def lessons() -> str:
    return "\n\n".join(
        [
            _(
                "**Why an average?** The probability of a text shrinks with every character. "
                "A long text would always look worse than a short one. Per character, they can be compared."
            ),
            _(
                "**Why the logarithm, and why exp?** A product of many small probabilities is too small for "
                "a computer; a sum of logarithms is not. exp turns the average back into a number of equally "
                "likely characters. It is 1 if the model gave every character that came probability 1, and "
                "for a uniform guess the number of symbols."
            ),
            _(
                "**Why not compare it with a perplexity per word?** A word has several characters, so its "
                "perplexity is far higher. With 5.7 characters per word, 4 per character is "
                "4^5.7 ≈ 2,700 per word. Compare models in the same unit, or in bits per byte."
            ),
        ]
    )
