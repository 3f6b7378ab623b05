"""The same texts under other models, under none, and under real compressors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.networks.config import CELLS
from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.trouble import describe, plain

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.ui.context import Context
    from rnnviz.ui.jobs.worker import Check, Jobs
    from rnnviz.ui.pages.perplexity.texts import Text
    from rnnviz.ui.pages.perplexity.work import Scored

AUTOMATIC = 300_000  # bytes or characters up to which the yardsticks are measured unasked
PATIENCE = 0.5


@dataclass(frozen=True)
class Row:
    """One way to predict or to store a text: the model of a file, `info`, or a `baseline` by its name."""

    name: str
    about: str
    info: ModelInfo | None = None
    baseline: str = ""

    def key(self, text: Text, digest: str) -> Hashable:
        """Under which its figure for a text is kept; `digest` is that of the chosen model."""
        if self.info is not None:
            return work.plain_key(model_cache.digest(self.info), text)
        return "baselines", digest, text.identity


def show(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]]) -> list[Hashable]:
    """A table of models and texts. Returns the jobs it wants."""
    st.markdown(
        _(
            "A perplexity means little alone. Here are the same texts under other models, under no model "
            "at all, "
            "and in the hands of programs that compress files. **Lower is better**; the best of each "
            "text is marked."
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
    wanted = ask(context, jobs, scored, chosen if asked else usual, again=pressed) if asked or small else []
    if jobs.busy(wanted):
        jobs.wait(wanted, PATIENCE)
    if jobs.busy(wanted):
        progress.bar(jobs, wanted, "against")
    elif any(job.state == "cancelled" for key in wanted if (job := jobs.get(key)) is not None):
        st.info(_("Cancelled: press **Compare** to go on."), icon=":material/cancel:")
    if len(scored) == 1:  # the best first; what is not known yet comes last
        digest = model_cache.digest(context.info)
        known = {row.name: figure(row, scored[0][0], digest) for row in chosen}
        chosen.sort(key=lambda row: f[1] if (f := known[row.name]) else math.inf)
    table(context, jobs, scored, chosen)
    return wanted


def rows(context: Context) -> tuple[list[Row], list[Row]]:
    """What every text is measured against, and the other models that are here."""
    models = model_cache.listed()[0]
    blind = _("every one of {n} symbols equally likely").format(n=f"{context.model.vocabulary.size:,}")
    letters = _("knows how often each character occurs in this very text: a bound, no predictor")
    usual = [
        Row(context.info.path.stem, _("the chosen model"), info=context.info),
        Row(_("blind guess"), blind, baseline="uniform"),
        Row(_("its own letters"), letters, baseline="unigram"),
        Row("gzip", _("a compressor found everywhere, at its strongest"), baseline="gzip"),
        Row("xz", _("a strong compressor, at its strongest"), baseline="xz"),
    ]
    more = []
    for info in models:
        if info.path == context.info.path:
            continue
        row = Row(info.path.stem, about(info), info=info)
        if context.yardstick is not None and info.name == context.info.card.get("ngram"):
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
    """Set to work what is not known yet; `again`: what was cancelled or failed too. Returns the keys."""
    kept, digest = store.shared(), model_cache.digest(context.info)
    wanted: list[Hashable] = []
    for text, one in scored:
        for row in chosen:
            key = row.key(text, digest)
            if key in wanted or kept.get(key) is not None or (row.baseline and one.folder is None):
                continue
            wanted.append(key)
            title = f"{row.name}: {text.name}" if row.info else text.name
            if row.info is not None:
                info = row.info

                def make(check: Check, info: ModelInfo = info, text: Text = text) -> work.Steps:
                    return work.comparing(
                        kept, model_cache.digest(info), lambda: model_cache.scorer(info), text, check
                    )

            else:

                def make(check: Check, key: Hashable = key, one: Scored = one) -> work.Steps:  # type: ignore[misc]
                    return work.measuring(kept, key, one, context.model.vocabulary)

            jobs.ask(key, title, make, again=again)
    return wanted


def table(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], chosen: Sequence[Row]) -> None:
    """The rows, with one column for a single text or one column each for several."""
    unit = "perplexity"
    if len(scored) > 1:
        words = {"perplexity": _("Perplexity"), "bits": _("Bits per character")}
        unit = st.segmented_control(
            _("In"),
            list(words),
            default="bits",
            required=True,
            key="unit",
            persist_state="session",
            format_func=words.__getitem__,
        ) or "bits"  # fmt: skip
    digest = model_cache.digest(context.info)
    found = {(row.name, t.name): figure(row, t, digest) for row in chosen for t, _s in scored}
    rivals = [row for row in chosen if row.baseline != "unigram"]  # it was told the text beforehand
    best = {
        text.name: min((f[1] for row in rivals if (f := found[row.name, text.name])), default=None)
        for text, _s in scored
    }
    columns: dict[str, list[Any]] = {_("Who predicts"): [row.name for row in chosen]}
    config: dict[str, Any] = {}
    number = st.column_config.NumberColumn
    for text, _s in scored:
        values = [found[row.name, text.name] for row in chosen]
        marks = [
            "★" if v and row in rivals and v[1] == best[text.name] else ""
            for row, v in zip(chosen, values, strict=True)
        ]
        if len(scored) == 1:
            columns[_("best")] = marks
            columns[_("Perplexity")] = [v[0] if v else None for v in values]
            columns[_("Bits per character")] = [v[1] if v else None for v in values]
            config |= {_("Perplexity"): number(format="%.3f"), _("Bits per character"): number(format="%.3f")}
        else:
            columns[f"★ {text.name}"] = marks
            columns[text.name] = [(v[0] if unit == "perplexity" else v[1]) if v else None for v in values]
            config[text.name] = number(format="%.3f")
            config[f"★ {text.name}"] = st.column_config.TextColumn(label="", width=20)
    columns[_("What it is")] = [row.about for row in chosen]
    st.dataframe(columns, hide_index=True, width="stretch", column_config=config, key="against")
    verdict(context, scored, rivals, found, best)
    for row in chosen:
        for text, _s in scored:
            job = jobs.get(row.key(text, digest))
            if job is not None and job.state == "failed" and job.error is not None:
                st.error(f"**{plain(row.name)}**: {describe(job.error, text.name)}", icon=":material/error:")


def figure(row: Row, text: Text, digest: str) -> tuple[float, float] | None:
    """Perplexity and bits per character of a text in this row, if they are known."""
    found = store.shared().get(row.key(text, digest))
    if found is None:
        return None
    if row.info is not None:
        return found.perplexity, found.bits_per_character
    one = found[row.baseline]
    return one.perplexity, one.bits_per_character


def verdict(
    context: Context,
    scored: Sequence[tuple[Text, Scored]],
    chosen: Sequence[Row],
    found: dict[tuple[str, str], tuple[float, float] | None],
    best: dict[str, float | None],
) -> None:
    """What to notice, in a sentence for each of the first texts; and what a compressor's figure means."""
    own = context.info.path.stem
    for text, _s in scored[:3]:
        mine, lowest = found[own, text.name], best[text.name]
        if mine is None or lowest is None:
            continue
        first = next(row.name for row in chosen if (f := found[row.name, text.name]) and f[1] == lowest)
        xz = found.get(("xz", text.name))
        if first != own:
            line = _("**{text}**: {best} needs {bits} bits a character, {model} {mine}.").format(
                text=plain(text.name), best=plain(first), bits=f"{lowest:.3f}", model=plain(own),
                mine=f"{mine[1]:.3f}",
            )  # fmt: skip
        elif xz is not None:
            line = _("**{text}**: {model} predicts it best; xz needs {times} times as many bits.").format(
                text=plain(text.name), model=plain(own), times=f"{xz[1] / mine[1]:.1f}"
            )
        else:
            line = _("**{text}**: {model} predicts it best.").format(text=plain(text.name), model=plain(own))
        st.caption(line)
    st.caption(
        _(
            "A compressor predicts, too: what it writes for a character, in bits, is what the character "
            "cost it, and "
            "2 to that power is its perplexity. On short texts its fixed header weighs heavily."
        )
    )
