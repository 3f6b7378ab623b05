"""The answer: one text's perplexity on a scale, with cautions and next steps; or several texts' table with
averages; and the calculation of the perplexity, in steps that a student can check.
"""

import math
import shlex
from collections.abc import Sequence
from functools import partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from rnnviz import sentences
from rnnviz.findings import Sentence
from rnnviz.i18n import _
from rnnviz.networks.contamination import foreign_reason, held_out_bits
from rnnviz.page.formatting import character_name, percent, rounded, title, titles, together
from rnnviz.page.text_viewer import scale_css
from rnnviz.scoring.record import Record
from rnnviz.scoring.score import Score, averages, describe_averages, describe_readings
from rnnviz.scoring.totals import perplexity_from_sum
from rnnviz.text.characters import visible
from rnnviz.text.row_files import format_of
from rnnviz.ui.jobs import model_suggestion
from rnnviz.ui.jobs.pending import ask
from rnnviz.ui.jobs.worker import END_STATES, Job
from rnnviz.ui.pages.perplexity import scoring_jobs, text_sources
from rnnviz.ui.pages.perplexity.model_comparison import MAX_AUTOMATIC_SIZE, SecondModel
from rnnviz.ui.pages.perplexity.scoring_jobs import TextScore
from rnnviz.ui.pages.perplexity.text_sources import STOPPED, ReaderText
from rnnviz.ui.shell import model_cache, sidebar
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.model_cache import ModelContext
from rnnviz.ui.shell.render_finding import finding_markdown

TEXT_CHOICE = "closer"  # the key of the choice of the text shown in full
TEXT_TABLE = "texts"
# Seconds to wait for the other models' reading, if the text is foreign to the chosen one: the advice then
# leads the answer. On other texts it follows with a later run.
SUGGESTION_WAIT_S = 0.3


def show(context: ModelContext, text: ReaderText, text_score: TextScore, second: SecondModel | None) -> None:
    """Draw one text's answer: the number, its scale, and advice, which leads if the text is foreign to the
    model.
    """
    score, bits = text_score.score, held_out_bits(context.info.card)
    foreign = _is_foreign(context, score)
    with st.container(border=True, key="answer"):
        if foreign:
            _suggest_model(context, text, score, foreign=True)
        number = rounded(score.perplexity)
        # A long number, such as "98.7 million", has to fit the column.
        st.html(f"<style>{_STYLE % (3.4 if len(number) < 8 else 2.2)}</style>")
        large, rest = st.columns([3, 8], vertical_alignment="top", gap="medium")
        with large:
            st.metric(
                _("Perplexity of {name}").format(name=plain(score.file)),
                number,
                help=_("exp of the average surprisal per character. Every character counts."),
            )
        second_mark = None
        if second is not None and (second_text_score := second.result.value) is not None:
            second_mark = (second.name, second_text_score.score.perplexity)
            second_line = _("**{perplexity}** with {model}")
            large.markdown(second_line.format(perplexity=rounded(second_mark[1]), model=plain(second.name)))
        with rest:
            sentence_levels = [(sentence, sentences.level(sentence)) for sentence in score.sentences()]
            if second is not None and (second_text_score := second.result.value) is not None:
                readings = [
                    (title(context.info), score.reading),
                    (second.name, second_text_score.score.reading),
                ]
                sentence_levels += [
                    (sentence, sentences.level(sentence)) for sentence in describe_readings(readings)
                ]
            st.markdown(
                "  \n".join(
                    finding_markdown(sentence) for sentence, level in sentence_levels if level == "said"
                )
            )
            # A uniform guess is |V|, as on all pages; a sentence above has the cost of unknown characters.
            typical = None if bits is None else 2.0**bits
            st.html(scale(score.perplexity, context.model.vocabulary.size, typical, second_mark))
            if second is not None and second_mark is None:
                second.result.show("second")
            if text.stopped_at is not None:
                _note_stopped(text)
            for sentence, level in sentence_levels:  # cautions before the number is quoted, a line each
                if sentence.code.startswith("score.rewriting."):
                    _offer_rewriting(context, text, score, sentence)
                elif level in ("aside", "hint"):
                    st.caption(finding_markdown(sentence))
                if level == "caution":
                    st.warning(finding_markdown(sentence), icon=":material/history_edu:")
            if text.original_sha256:
                label = _("Use the original text")
                st.button(
                    label, key="restore", on_click=text_sources.undo_rewriting, args=(text.original_sha256,)
                )
            if format_of(text.name) is not None:
                table_note = _("This table was read as plain text; this command scores it row by row:")
                row_by_row(context, text, table_note)
        if not foreign:
            _suggest_model(context, text, score, foreign=False)
        _details(text, text_score)


def row_by_row(context: ModelContext, text: ReaderText, sentence: str) -> None:
    """Draw a `sentence` on a table, and the command that scores its rows."""
    st.markdown(sentence)
    model = context.info.path.stem
    command = ["python", "-m", "rnnviz", "perplexity", text.name, "--model", model]  # it finds the column
    st.code(shlex.join(command), "bash", wrap_lines=True)


def _is_foreign(context: ModelContext, score: Score) -> bool:
    return bool(foreign_reason(context.info.card, score.characters, score.unknown, score.bits_per_character))


def _suggest_model(context: ModelContext, text: ReaderText, score: Score, *, foreign: bool) -> None:
    """Draw whether another network reads the text much better, and a button for that one.

    The row has its height before the others have read the text: an answer of one line that comes late moves
    nothing that its reader is about to click.
    """
    beginning = text.beginning(model_suggestion.READ_CHARS, score.encoding)
    job = model_suggestion.ask_suggestion(context.info, beginning, SUGGESTION_WAIT_S if foreign else 0.0)
    if job.state not in END_STATES:
        _rerun_after(job)
    suggestion: model_suggestion.Suggestion | None = job.result
    parts = list[str]()
    if foreign:
        parts.append(
            _("**{model} hasn't learnt this kind of text.**").format(model=plain(title(context.info)))
        )
    with st.container(horizontal=True, vertical_alignment="center", key="advice"):
        if suggestion is None or suggestion.name is None or suggestion.bits is None:
            if suggestion is not None:
                parts.append(_("No other network here predicts its beginning much better."))
            elif job.state not in END_STATES:
                parts.append(_("Other networks are reading its beginning."))
            (st.markdown if foreign else st.caption)(together(parts))
            return
        name = titles(model_cache.list_models()[0]).get(suggestion.name, suggestion.name)
        parts.append(
            _("{name} predicts the beginning of this text best: perplexity {other}, not {own}.").format(
                name=plain(name),
                other=_perplexity_text(suggestion.bits),
                own=_perplexity_text(suggestion.own_bits),
            )
        )
        parts += map(
            finding_markdown,
            describe_readings([*zip((title(context.info), name), suggestion.read_as, strict=True)]),
        )
        st.markdown(together(parts), width="content")
        st.button(
            _("Use {name}?").format(name=plain(name)),
            key="perplexity.suggestion",
            type="primary" if foreign else "secondary",
            on_click=sidebar.MODEL.request,
            args=(suggestion.name,),
        )


def _perplexity_text(bits: float) -> str:
    """Bits per character as a perplexity: beside the page's large number, another unit would confuse."""
    return rounded(perplexity_from_sum(bits * math.log(2), 1))


# The fragment draws nothing: it looks at the job twice a second, and costs no run of the page until then.
@st.fragment(run_every=0.5)
def _rerun_after(job: Job) -> None:
    """Rerun the page once the other models have read the text."""
    if job.state in END_STATES:
        st.rerun()


def _note_stopped(text: ReaderText) -> None:
    """Draw a note that the text was read in part, and a button that reads all of it."""
    note = _("These are its first {n} characters, where you stopped.").format(n=f"{text.stopped_at:,}")
    # Without its entry the text is a whole one again, whose result is another key's: the page asks for it.
    stopped = st.session_state[STOPPED]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(note, width="content")
        st.button(_("Read all of it"), key="whole", on_click=stopped.pop, args=(text.identity, None))


def _offer_rewriting(context: ModelContext, text: ReaderText, score: Score, sentence: Sentence) -> None:
    """Draw the sentence on what the model would gain from a text written in another way, and the button that
    rewrites the text; nothing if it would gain nothing.
    """
    name, gain = sentence.code.rpartition(".")[2], ""
    # Only a short text is read a second time unasked. A long one has the button, without the gain in figures.
    if text.size <= MAX_AUTOMATIC_SIZE:
        other = text_sources.rewritten_text(text, name)
        work = partial(scoring_jobs.score_by_other, context.info, other)
        result = ask(scoring_jobs.score_key(context.info, other), other.name, work, shared=True)
        if result.waits and result.job is not None:
            _rerun_after(result.job)
        if result.value is None or result.value.perplexity >= score.perplexity:
            return
        gain = _("The perplexity would be {other}, not {now}.").format(
            other=rounded(result.value.perplexity), now=rounded(score.perplexity)
        )
    label = {
        "composed": _("Compose the accents"),
        "straight": _("Use straight quotes"),
        "plain": _("Use plain dashes and spaces"),
    }[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(together([finding_markdown(sentence), gain]), width="content")
        help = _("This changes the text itself.")
        # All rewritings of a text are kept under its first checksum, so that one click takes them back.
        args = (text.original_sha256 or text.sha256, name)
        st.button(label, key=f"rewrite-{name}", help=help, on_click=text_sources.request_rewriting, args=args)


def _details(text: ReaderText, text_score: TextScore) -> None:
    """Draw the details, closed at first, but open if the encoding is a guess that the reader should check."""
    score = text_score.score
    doubtful = score.certainty == "guessed" or text.encoding is not None
    with st.expander(_("Details"), expanded=doubtful, icon=":material/info:"):
        columns = st.columns(5)
        for column, (label, value, about) in zip(columns, _figures(score), strict=True):
            column.markdown(f":small[:gray[{label}]]  \n**{value}**", help=about)
        if score.unknown:
            with columns[3], st.popover(_("Show them"), type="tertiary"):
                _unknown_table(text_score)
        for sentence in score.sentences():
            if sentences.level(sentence) == "detail":
                st.caption(finding_markdown(sentence))
        if score.encoding is not None:
            text_sources.encoding_control(text, score.encoding, score.certainty)


def _figures(score: Score) -> list[tuple[str, str, str]]:
    """Name, value and explanation of each number beside the perplexity."""
    perplexity_known = score.perplexity_known
    return [
        (
            _("Bits per character"),
            f"{score.bits_per_character:.3f}",
            _("The base-2 logarithm of the perplexity."),
        ),
        (
            _("Bits per byte"),
            f"{score.bits_per_byte:.3f}",
            _("The same per byte of the text itself in UTF-8. Stored as it is, a byte takes 8 bits."),
        ),
        (
            _("Characters"),
            f"{score.characters:,}",
            _("Every character counts, the first one, spaces and line breaks too."),
        ),
        (
            _("Unknown characters"),
            f"{score.unknown:,}"
            + (f" ({percent(score.unknown / score.characters)})" if score.unknown else ""),
            _("Characters outside the model's vocabulary. Each costs extra, to say which character it is."),
        ),
        (
            _("Perplexity without unknown characters"),
            "–"
            if perplexity_known is None
            else rounded(perplexity_known)
            if score.unknown
            else _("the same"),
            _("The perplexity over the known characters alone."),
        ),
    ]


def _unknown_table(text_score: TextScore) -> None:
    """Draw the table of characters outside the vocabulary, with counts and code points."""
    st.dataframe(
        {
            _("Character"): [visible(c) for c, _n in text_score.unknown_characters],
            _("Count"): [n for _c, n in text_score.unknown_characters],
            _("Code point"): [f"U+{ord(c):04X}" for c, _n in text_score.unknown_characters],
            _("Name"): [character_name(c) for c, _n in text_score.unknown_characters],
        },
        hide_index=True,
        key="unknown",
    )
    if text_score.kinds_unknown > len(text_score.unknown_characters):
        st.caption(
            _("The {shown} most frequent of {all} different ones.").format(
                shown=f"{len(text_score.unknown_characters):,}", all=f"{text_score.kinds_unknown:,}"
            )
        )


# Several texts.


def show_texts(
    done: Sequence[tuple[ReaderText, TextScore]], *, all_known: bool
) -> tuple[ReaderText, TextScore]:
    """Draw all texts in a sortable table, and their averages. Returns the text to show in full.

    `all_known`: whether all texts are scored; the averages wait for that.
    """
    scores = [text_score.score for _text, text_score in done]
    _table(scores)
    if all_known:
        means = averages(scores)
        about = _(
            "Micro: all {texts} texts as one, so that long texts count more. "
            "Macro: the geometric mean of their perplexities, so that every text counts the same."
        )
        st.markdown(finding_markdown(describe_averages(means)), help=about.format(texts=means.texts))
    else:
        st.caption(_("The averages follow when all texts are scored."))
    index = st.selectbox(
        _("Text shown below"),
        range(len(done)),
        key=TEXT_CHOICE,
        width=420,
        # The session may hold a number beyond a list that has become shorter.
        format_func=lambda i: done[i][0].name if i < len(done) else "",
    )
    return done[min(index or 0, len(done) - 1)]


def _table(scores: Sequence[Score]) -> None:
    """Draw the table, a row a text; a click on a row shows that text below."""

    def go() -> None:
        cells = st.session_state[TEXT_TABLE].selection.cells
        if cells and cells[0][0] < len(scores):
            st.session_state[TEXT_CHOICE] = cells[0][0]

    column = st.column_config
    highest_bits = max(score.bits_per_character for score in scores)
    st.caption(_("Click or tap a row to see that text below, or a column head to sort."))
    figures = pd.DataFrame(
        {
            _("Text"): [score.file for score in scores],
            _("Perplexity"): [score.perplexity for score in scores],
            _("Bits per character"): [score.bits_per_character for score in scores],
            _("Unknown"): [score.unknown / score.characters for score in scores],
            _("Characters"): [score.characters for score in scores],
        }
    )
    st.dataframe(
        figures.style.format({_("Perplexity"): rounded}),  # sorted as numbers, written as in the answer
        hide_index=True,
        width="stretch",
        key=TEXT_TABLE,
        alt=_("The texts with their perplexity; {name} has the lowest.").format(
            name=min(scores, key=lambda score: score.perplexity).file
        ),
        on_select=go,
        selection_mode="single-cell",
        column_config={
            _("Text"): column.TextColumn(width="medium"),
            _("Bits per character"): column.ProgressColumn(
                format="%.2f", min_value=0.0, max_value=highest_bits
            ),
            _("Unknown"): column.NumberColumn(format="percent"),
            _("Characters"): column.NumberColumn(format="localized"),
        },
    )


# The perplexity on a logarithmic line from 1, always certain, to a uniform guess.


def scale(value: float, guess: float, typical: float | None, second: tuple[str, float] | None = None) -> str:
    """The line's HTML, with marks at perplexities.

    value    this text's
    guess    a uniform guess's
    typical  the model's usual one; None if unknown
    second   a second model's name and perplexity on this text

    Each label has its own row, so that labels don't overlap at any width.
    """
    marks = []  # (perplexity, label, CSS class)
    if typical is not None:
        marks.append((typical, _("{n}: usual for this model").format(n=rounded(typical)), "typical"))
    if second is not None:
        marks.append((second[1], f"{rounded(second[1])}: {second[0]}", "second"))
    # An infinite perplexity can't set the line's end; `placed` puts it there.
    end = max([2.0, *filter(math.isfinite, [value, guess, *(at for at, _label, _kind in marks)])])
    guess_label, last_label = _("{n}: uniform guess").format(n=rounded(guess, 0)), ""
    # Where the uniform guess is the end, its label stands there, and a mark would repeat it.
    if guess < end:
        marks.append((guess, guess_label, "guess"))
    else:
        last_label = escape(guess_label)

    def placed(at: float) -> str:
        return f"style='--at:{min(max(at, 1.0), end):.4f}'"

    def row(perplexity: float, label: str, kind: str, arrow: str = "▲") -> str:
        # An arrow at its place; the label is on the side with more room, so it never leaves the line.
        after = math.log(max(perplexity, 1.0)) < math.log(end) / 2
        text, side = (f"{arrow} {label}", "after") if after else (f"{label} {arrow}", "before")
        return (
            f"<div class='row'><span class='{kind} {side}' {placed(perplexity)}>{escape(text)}</span></div>"
        )

    this_text = (value, _("this text"), "here")
    ticks = "".join(f"<i class='{kind}' {placed(at)}></i>" for at, _s, kind in (*marks, this_text))
    label = _("On a line from 1, always certain, to {guess}, a uniform guess, this text is at {n}.").format(
        n=rounded(value), guess=rounded(guess, 0)
    )
    first_label = escape(_("1: always certain"))
    return (
        f"<div class='scale' role='img' aria-label='{escape(label, quote=True)}' style='--end:{end:.4f}'>"
        f"{row(*this_text, '▼')}<div class='line'><b {placed(value)}></b>{ticks}</div>"
        f"{''.join(row(*mark) for mark in marks)}"
        f"<div class='ends'><span>{first_label}</span><span>{last_label}</span></div>"
        "</div>"
    )


# Filled in by `%` with the number's size, so the scale's own percent signs are doubled.
_STYLE = (
    scale_css().replace("%", "%%")  # the page without a server has the same element: scale.js
    + """
.st-key-answer [data-testid="stMetricValue"] { font-size: %srem; line-height: 1.15; font-weight: 650; }
.st-key-answer [data-testid="stMetricValue"] * { white-space: normal; overflow: visible; }
.st-key-answer [data-testid="stExpander"] { margin-top: 0.5rem; }
.st-key-advice { min-height: 2.5rem; }  /* its button's height, before the button is there */
"""
)


# Rows of the sum's table: enough to follow it. "Download" has them all.
MAX_SUM_ROWS = 200


def show_calculation(context: ModelContext, text_score: TextScore) -> None:
    """Draw the formula with its numbers, the sum's first rows, and explanations."""
    score = text_score.score
    # From the perplexity, not from the record: that may have made room for other texts.
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
        if text_score.has_record:
            first_rows(text_score.record, n)
    with right:
        calculation_facts(context, text_score, total)
    with st.expander(_("Why an average, why exp, and why per character?"), icon=":material/school:"):
        st.markdown(calculation_lessons())


def latex(value: float, digits: int) -> str:
    """A number in LaTeX, with thin spaces between thousands."""
    return f"{value:,.{digits}f}".replace(",", r"\,") if math.isfinite(value) else r"\infty"


def first_rows(record: Record, n: int) -> None:
    """Draw a table of the first characters, each with its probability, its surprisal in nats, and the sum so
    far.
    """
    count, number = min(n, MAX_SUM_ROWS), st.column_config.NumberColumn
    # Stored in 32 bits, but added up in 64: the last row of a short text is the sum above.
    nll = record.read("nll", 0, count).astype(np.float64)
    st.dataframe(
        {
            "t": range(1, count + 1),
            _("character"): [visible(c) for c in record.text(0, count)],
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
    if count < n:
        caption = _("The first {shown} of {n} rows. “Download” has all of them.")
    else:
        caption = _("These are all rows. The fourth column adds up to the sum above.")
    st.caption(caption.format(shown=f"{count:,}", n=f"{n:,}"))


def calculation_facts(context: ModelContext, text_score: TextScore, total: float) -> None:
    score = text_score.score
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
                "Saying which one it was costs {spread} nats more. So all probabilities still add up to 1."
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


def calculation_lessons() -> str:
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
