"""The same texts under other models, under baselines, and under real compressors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rnnviz.i18n import _, ngettext
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.reading.scoring import of_sum
from rnnviz.ui import choice, model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import OVER, Jobs, Make
from rnnviz.ui.pages.perplexity import comparison, work
from rnnviz.ui.pages.perplexity.comparison import Bar, Kind
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import describe, plain
from rnnviz.ui.words import percent, title

AUTOMATIC = 300_000  # bytes or characters up to which the yardsticks are measured unasked
PATIENCE = 0.5

Figures = tuple[float, float]  # perplexity, bits per character


@dataclass(frozen=True)
class Row:
    """One way to predict or store a text: a model's file, or a baseline beside the chosen model."""

    name: str
    about: str
    info: ModelInfo
    baseline: str = ""

    def key(self, text: Text) -> Key:
        """The key of its figures for a text."""
        if self.baseline:
            return text.key("baselines", model_cache.digest(self.info))
        return work.plain_key(self.info, text)

    def figures(self, text: Text) -> Figures | None:
        """Perplexity and bits per character of a text, if known."""
        found = store.shared().get(self.key(text))
        if found is not None and self.baseline:
            found = found[self.baseline]
        return None if found is None else (found.perplexity, found.bits_per_character)


def show(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], closer: Text) -> list[Key]:
    """Bars for the text that is looked at, or for all. Returns the jobs it wants."""
    st.markdown(
        _(
            "Other models, simple baselines and file compressors on the same text. "
            "**Shorter bars are better**: fewer bits per character, so a lower perplexity."
        )
    )
    usual, more = rows(context, unknown=any(one.report.unknown for _text, one in scored))
    asked = st.session_state.setdefault("perplexity.asked", False)
    small = all(text.size <= AUTOMATIC for text, _s in scored)
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    names = [row.name for row in more]
    picked = left.multiselect(
        _("Other models"),
        names,
        key="rivals",
        persist_state="session",
        placeholder=_("All {n} of them").format(n=len(names)),
    )
    pressed = right.button(
        _("Compare"), icon=":material/leaderboard:", key="compare", type="primary", width="stretch"
    )
    if pressed:
        st.session_state["perplexity.asked"] = asked = True
    chosen = [*usual, *(row for row in more if asked and (row.name in picked or not picked))]
    wanted = ask(context, jobs, scored, chosen, again=pressed) if asked or small else []
    if jobs.busy(wanted):
        jobs.wait(wanted, PATIENCE)
    if jobs.busy(wanted):
        progress.bar(jobs, wanted, "against")
    elif any(job.state == "cancelled" for key in wanted if (job := jobs.get(key)) is not None):
        st.info(_("Cancelled: press **Compare** to go on."), icon=":material/cancel:")
    texts = [text for text, _s in scored]
    picture(context, scored, closer, chosen)
    digits(texts, chosen)
    failures(jobs, texts, chosen)
    return wanted


def failures(jobs: Jobs, texts: Sequence[Text], chosen: Sequence[Row]) -> None:
    """What could not be scored, and why."""
    for row in chosen:
        for text in texts:
            job = jobs.get(row.key(text))
            if job is not None and job.state == "failed" and job.error is not None:
                st.error(f"**{plain(row.name)}**: {describe(job.error, text.name)}", icon=":material/error:")


def picture(
    context: Context, scored: Sequence[tuple[Text, Scored]], closer: Text, chosen: Sequence[Row]
) -> None:
    """The bars, and what to notice in them."""
    compared = [one for one in scored if one[0] is closer]
    if len(scored) > 1:
        words = {"one": closer.name, "all": _("All {n} texts together").format(n=len(scored))}
        if choice.pick(_("Text"), words, "compared", default="one", required=True, hidden=True) == "all":
            compared = list(scored)
    bars = [bar(context, row, compared) for row in chosen]
    st.html(f"<style>{comparison.STYLE}</style>{comparison.html(bars, full(chosen, bars))}")
    st.caption(verdict(title(context.info), bars))


def full(chosen: Sequence[Row], bars: Sequence[Bar]) -> float | None:
    """The bits that a bar of full length stands for: a uniform guess's, or the chosen model's if more."""
    known = [
        bar.bits
        for row, bar in zip(chosen, bars, strict=True)
        if bar.bits is not None and (bar.kind == "own" or row.baseline == "uniform")
    ]
    return max(known, default=None)


def bar(context: Context, row: Row, texts: Sequence[tuple[Text, Scored]]) -> Bar:
    """A row's figures for these texts as one: the average of its bits over all characters."""
    kind: Kind = "baseline" if row.baseline else "own" if row.info.path == context.info.path else "model"
    rival = row.baseline != "unigram"  # it was told the text beforehand
    found = [(f[1], one.report.characters) for text, one in texts if (f := row.figures(text)) is not None]
    if len(found) < len(texts):
        return Bar(row.name, row.about, kind, None, None, rival)
    bits = sum(bits * count for bits, count in found) / sum(count for _bits, count in found)
    return Bar(row.name, row.about, kind, bits, of_sum(bits * math.log(2), 1), rival)


def rows(context: Context, *, unknown: bool) -> tuple[list[Row], list[Row]]:
    """What every text is measured against, and the other models here. `unknown`: a uniform guess pays for
    characters that it can't spell, as every model does: another number than |V|, so another name.
    """
    own = context.info
    uniform = _("uniform guess, unknown characters spelled out") if unknown else _("uniform guess")
    guess = _("every one of {n} symbols equally likely").format(n=f"{context.model.vocabulary.size:,}")
    letters = _("this text's own character counts, known beforehand: a bound, not a prediction")
    usual = [
        Row(title(own), _("the chosen model"), own),
        Row(uniform, guess, own, "uniform"),
        Row(_("letter frequencies"), letters, own, "unigram"),
        Row("gzip", _("a common compressor, at its strongest setting"), own, "gzip"),
        Row("xz", _("a strong compressor, at its strongest setting"), own, "xz"),
    ]
    more = []
    for info in model_cache.listed()[0]:
        row = Row(title(info), about(info), info)
        if info.path == own.path:
            continue
        if context.yardstick is not None and info.name == own.card.get("ngram"):
            usual.insert(1, row)
        else:
            more.append(row)
    return usual, more


def about(info: ModelInfo) -> str:
    """What a model is and what it read, from its card."""
    kind = _("n-gram counts") if info.kind == "ngram" else CELLS[info.kind].label
    text = info.card.get("title") or info.card.get("corpus")
    return _("{kind}, trained on {title}").format(kind=kind, title=text) if text else kind


def ask(
    context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], chosen: Sequence[Row], *, again: bool
) -> list[Key]:
    """Start what is not known yet; `again`: also what was cancelled or failed. Returns the keys."""
    wanted: list[Key] = []
    for text, one in scored:
        for row in chosen:
            key = row.key(text)
            if key in wanted or store.shared().get(key) is not None or (row.baseline and not one.complete):
                continue
            wanted.append(key)
            make: Make = partial(work.comparing, row.info, text)
            if row.baseline:
                make = partial(work.measuring, key, one, context.model.vocabulary)
            job = text.name if row.baseline else f"{row.name}: {text.name}"
            jobs.ask(key, job, make, again=OVER if again else work.NOT_KEPT, size=text.size)
    return wanted


def digits(texts: Sequence[Text], chosen: Sequence[Row]) -> None:
    """All figures, for who asks for them: a row for each way to predict, columns for each text."""

    def column(text: Text, which: int) -> list[float | None]:
        return [f[which] if (f := row.figures(text)) else None for row in chosen]

    number = st.column_config.NumberColumn(format="%.3f")
    columns: dict[str, list[Any]] = {_("Predicted by"): [row.name for row in chosen]}
    for text in texts:
        for which, name in enumerate((_("Perplexity"), _("Bits per character"))):
            columns[name if len(texts) == 1 else f"{text.name}: {name}"] = column(text, which)
    config: dict[str, Any] = dict.fromkeys(list(columns)[1:], number)
    columns[_("What it is")] = [row.about for row in chosen]
    with st.expander(_("Exact figures"), icon=":material/table:"):
        st.dataframe(columns, hide_index=True, width="stretch", column_config=config, key="against")
        st.caption(
            _(
                "A compressor predicts too: the bits it writes are its bits per character. "
                "On short texts its fixed header weighs heavily."
            )
        )


def verdict(own: str, bars: Sequence[Bar]) -> str:
    """What to notice; `own` is the chosen model."""
    scored = {bar.name: bar.bits for bar in bars if bar.bits is not None}
    best = comparison.best(bars)
    if best is None or best.bits is None:
        return _("Press **Compare** to score this text with the others.")
    waiting, mine = len(bars) - len(scored), scored.get(own)
    rivals = sum(bar.rival for bar in bars if bar.bits is not None)
    if best.name == own or not mine:
        line = _("**{name}** predicts best among the {n} scored.").format(name=plain(best.name), n=rivals)
    else:
        line = _("**{name}** needs {share} fewer bits than {model}.").format(
            name=plain(best.name), share=percent(1 - best.bits / mine), model=plain(own)
        )
    if any(not bar.rival for bar in bars if bar.bits is not None):
        line += " " + _("Letter frequencies stand last: counted on this very text, they predict nothing.")
    if waiting:
        line += " " + ngettext("{n} is not scored yet.", "{n} are not scored yet.", waiting).format(n=waiting)
    return line
