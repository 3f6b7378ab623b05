"""The same texts under other models, under baselines, and under real compressors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.config import CELLS
from rnnviz.ui import choice, model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.worker import OVER, Jobs, Make
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.trouble import describe, plain

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

    def key(self, text: Text) -> Hashable:
        """The key of its figures for a text."""
        if self.baseline:
            return "baselines", model_cache.digest(self.info), text.identity
        return work.plain_key(self.info, text)

    def figures(self, text: Text) -> Figures | None:
        """Perplexity and bits per character of a text, if known."""
        found = store.shared().get(self.key(text))
        if found is not None and self.baseline:
            found = found[self.baseline]
        return None if found is None else (found.perplexity, found.bits_per_character)


def show(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]]) -> list[Hashable]:
    """A table of models and texts. Returns the jobs it wants."""
    st.markdown(
        _(
            "A perplexity means little alone. Here are the same texts under other models, under no model "
            "at all, and in the hands of programs that compress files. **Lower is better**; the best of each "
            "text is marked once all are known."
        )
    )
    usual, more = rows(context)
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
    if len(texts) == 1:  # the best first; what is not known yet comes last
        chosen.sort(key=lambda row: f[1] if (f := row.figures(texts[0])) else math.inf)
    table(context, texts, chosen)
    for row in chosen:
        for text in texts:
            job = jobs.get(row.key(text))
            if job is not None and job.state == "failed" and job.error is not None:
                st.error(f"**{plain(row.name)}**: {describe(job.error, text.name)}", icon=":material/error:")
    return wanted


def rows(context: Context) -> tuple[list[Row], list[Row]]:
    """What every text is measured against, and the other models here."""
    own = context.info
    blind = _("every one of {n} symbols equally likely").format(n=f"{context.model.vocabulary.size:,}")
    letters = _("knows how often each character occurs in this very text: a bound, no predictor")
    usual = [
        Row(own.path.stem, _("the chosen model"), own),
        Row(_("blind guess"), blind, own, "uniform"),
        Row(_("its own letters"), letters, own, "unigram"),
        Row("gzip", _("a compressor found everywhere, at its strongest"), own, "gzip"),
        Row("xz", _("a strong compressor, at its strongest"), own, "xz"),
    ]
    more = []
    for info in model_cache.listed()[0]:
        row = Row(info.path.stem, about(info), info)
        if info.path == own.path:
            continue
        if context.yardstick is not None and info.name == own.card.get("ngram"):
            usual.insert(1, row)
        else:
            more.append(row)
    return usual, more


def about(info: ModelInfo) -> str:
    """What a model is and what it read, from its card."""
    kind = _("counts") if info.kind == "ngram" else CELLS[info.kind].label
    title = info.card.get("title") or info.card.get("corpus")
    return _("{kind}, read {title}").format(kind=kind, title=title) if title else kind


def ask(
    context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], chosen: Sequence[Row], *, again: bool
) -> list[Hashable]:
    """Start what is not known yet; `again`: also what was cancelled or failed. Returns the keys."""
    wanted: list[Hashable] = []
    for text, one in scored:
        for row in chosen:
            key = row.key(text)
            if key in wanted or store.shared().get(key) is not None or (row.baseline and not one.complete):
                continue
            wanted.append(key)
            make: Make = partial(work.comparing, row.info, text)
            if row.baseline:
                make = partial(work.measuring, key, one, context.model.vocabulary)
            title = text.name if row.baseline else f"{row.name}: {text.name}"
            jobs.ask(key, title, make, again=OVER if again else work.NOT_KEPT)
    return wanted


def table(context: Context, texts: Sequence[Text], chosen: Sequence[Row]) -> None:
    """The rows, a column for a single text or one each for several; and what to notice."""
    found = {(row.name, text.name): row.figures(text) for row in chosen for text in texts}
    rivals = [row.name for row in chosen if row.baseline != "unigram"]  # it was told the text beforehand

    def compared(text: Text) -> dict[str, Figures | None]:
        return {name: found[name, text.name] for name in rivals}

    def marks(text: Text) -> list[str]:
        best = winner(compared(text))
        return ["★" if row.name == best else "" for row in chosen]

    def column(text: Text, which: int) -> list[float | None]:
        return [f[which] if (f := found[row.name, text.name]) else None for row in chosen]

    columns: dict[str, list[Any]] = {_("Who predicts"): [row.name for row in chosen]}
    config: dict[str, Any] = {}
    number = st.column_config.NumberColumn(format="%.3f")
    if len(texts) == 1:
        columns[_("best")] = marks(texts[0])
        for which, name in enumerate((_("Perplexity"), _("Bits per character"))):
            columns[name], config[name] = column(texts[0], which), number
    else:
        words = {"perplexity": _("Perplexity"), "bits": _("Bits per character")}
        unit = choice.pick(_("In"), words, "unit", default="bits", required=True)
        for text in texts:
            columns[f"★ {text.name}"] = marks(text)
            config[f"★ {text.name}"] = st.column_config.TextColumn(label="", width=20)
            columns[text.name] = column(text, 0 if unit == "perplexity" else 1)
            config[text.name] = number
    columns[_("What it is")] = [row.about for row in chosen]
    st.dataframe(columns, hide_index=True, width="stretch", column_config=config, key="against")
    for text in texts[:3]:
        verdict(context.info.path.stem, compared(text), text.name)
    st.caption(
        _(
            "A compressor predicts, too: what it writes for a character, in bits, is what the character "
            "cost it, and 2 to that power is its perplexity. On short texts its fixed header weighs heavily."
        )
    )


def winner(compared: Mapping[str, Figures | None]) -> str | None:
    """Who needs the fewest bits; None until all figures are known: one still to be scored may be better."""
    known = {name: figures[1] for name, figures in compared.items() if figures is not None}
    return min(known, key=lambda name: known[name]) if known and len(known) == len(compared) else None


def verdict(own: str, compared: Mapping[str, Figures | None], text: str) -> None:
    """What to notice about a text, once all figures are known; `own` is the chosen model."""
    found = {name: figures for name, figures in compared.items() if figures is not None}
    best = winner(compared)
    if best is None:
        if own in found:
            waiting = len(compared) - len(found)
            st.caption(
                ngettext(
                    "**{text}**: {n} of the rows has no figures yet, so none is marked as the best.",
                    "**{text}**: {n} of the rows have no figures yet, so none is marked as the best.",
                    waiting,
                ).format(text=plain(text), n=waiting)
            )
        return
    (_own, mine), (_best, least) = found[own], found[best]
    if best != own:
        line = _("**{text}**: {best} needs {bits} bits a character, {model} {mine}.").format(
            text=plain(text), best=plain(best), bits=f"{least:.3f}", model=plain(own), mine=f"{mine:.3f}"
        )
    elif "xz" in found:
        line = _("**{text}**: {model} predicts it best; xz needs {times} times as many bits.").format(
            text=plain(text), model=plain(own), times=f"{found['xz'][1] / mine:.1f}"
        )
    else:
        line = _("**{text}**: {model} predicts it best.").format(text=plain(text), model=plain(own))
    st.caption(line)
