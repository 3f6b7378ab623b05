"""The text in view under other models, under baselines and under real compressors, the best first; and a
second model whose reading of it stands beside the chosen one's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from rnnviz.i18n import _
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.scoring.score import Compared, Score, best
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.error_messages import describe, plain
from rnnviz.ui.formatting import rounded, title, titles
from rnnviz.ui.jobs import progress
from rnnviz.ui.jobs.pending import Pending, ask
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.pages.perplexity.scoring_jobs import Scored
from rnnviz.ui.pages.perplexity.text_sources import Text
from rnnviz.ui.render_finding import told

SECOND = "second"  # the choice of the second model
AUTOMATIC = 300_000  # bytes or characters up to which the yardsticks are measured unasked
PATIENCE = 0.5
ROOM = 1.15  # times a uniform guess's bits that the longest bar stands for


@dataclass(frozen=True)
class Second:
    """The chosen second model, and what it found or the job that finds it."""

    info: ModelInfo
    found: Pending[Scored]

    @property
    def name(self) -> str:
        return title(self.info)


def _others(context: Context) -> dict[str, ModelInfo]:
    """The models beside the chosen one, by name."""
    return {i.path.stem: i for i in model_cache.listed()[0] if i.path != context.info.path}


def pick_second(context: Context) -> None:
    """The choice of the second model."""
    st.selectbox(
        _("Compare with a second model"),
        list(there := _others(context)),
        index=None,
        key=SECOND,
        persist_state="session",
        format_func=titles(there.values()).__getitem__,
        placeholder=_("No second model"),
        help=_("Its number then stands above. Colours and passages show where one model did better."),
        width=420,
    )


def second(context: Context, text: Text) -> Second | None:
    """What the chosen second model says of a text; starts to ask it."""
    info = _others(context).get(st.session_state.get(SECOND) or "")
    return None if info is None else Second(info, scoring_jobs.scored(info, text, info.path.stem))


@dataclass(frozen=True)
class Row:
    """One way to predict or store a text: a model's file, or a baseline beside the chosen model."""

    name: str
    about: str
    info: ModelInfo
    baseline: str = ""

    def ask(self, context: Context, text: Text, scored: Scored, pressed: bool | None) -> Pending[Any]:
        """Its report of a text, or those of all baselines; see `pending.ask`."""
        key, name = scoring_jobs.plain_key(self.info, text), f"{self.name}: {text.name}"
        make: Callable[..., Any] = partial(scoring_jobs.comparing, self.info, text)
        if self.baseline:
            key, name = text.key("baselines", model_cache.digest(self.info)), text.name
            make = partial(scoring_jobs.measuring, scored, context.model.vocabulary)
            pressed = pressed if scored.complete else False  # they are measured on its characters
        return ask(key, name, make, pressed=pressed, patience=0, shared=True)

    def cost(self, found: Pending[Any]) -> Compared | None:
        """What the text costs, if known."""
        known = found.value and (found.value[self.baseline] if self.baseline else found.value)
        return known and Compared(
            self.name, self.baseline or "model", self.about, known.perplexity, known.bits_per_character
        )


def show(context: Context, jobs: Jobs, text: Text, scored: Scored) -> None:
    """The choice of other models, and the table of what the text costs under each."""
    st.markdown(
        _(
            "Other models, simple baselines and file compressors on the same text. "
            "**Shorter bars are better**: fewer bits per character, so a lower perplexity."
        )
    )
    usual, more = rows(context, unknown=bool(scored.report.unknown))
    asked = st.session_state.setdefault("perplexity.asked", False)
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

    def look(pressed: bool | None) -> list[Pending[Any]]:
        return [row.ask(context, text, scored, pressed) for row in chosen]

    started = look(True if pressed else None if asked or text.size <= AUTOMATIC else False)
    jobs.wait([one.job.key for one in started if one.job is not None], PATIENCE)
    found = look(False)
    if busy := list(dict.fromkeys(one.job.key for one in found if one.job and one.waits)):
        progress.bar(jobs, busy, "against")
    elif any(one.value is None for one in found):
        st.info(_("Press **Compare** to score this text with the others."), icon=":material/leaderboard:")
    _table(scored, chosen, [row.cost(one) for row, one in zip(chosen, found, strict=True)])
    for row, one in zip(chosen, found, strict=True):
        if one.job is not None and one.job.error is not None:
            st.error(f"**{plain(row.name)}**: {describe(one.job.error, text.name)}", icon=":material/error:")


def rows(context: Context, *, unknown: bool) -> tuple[list[Row], list[Row]]:
    """What a text is measured against, and the other models here. `unknown`: a uniform guess pays for
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
    for info in _others(context).values():
        row = Row(title(info), _about(info), info)
        if context.yardstick is not None and info.name == own.card.get("ngram"):
            usual.insert(1, row)
        else:
            more.append(row)
    return usual, more


def _about(info: ModelInfo) -> str:
    """What a model is and what it read, from its card."""
    kind = _("n-gram counts") if info.kind == "ngram" else CELLS[info.kind].label
    text = info.card.get("title") or info.card.get("corpus")
    return _("{kind}, trained on {title}").format(kind=kind, title=text) if text else kind


def _table(scored: Scored, chosen: list[Row], costs: list[Compared | None]) -> None:
    """A row for each way to predict the text, its bar as long as its bits, and what to notice."""
    known = sorted(best([one for one in costs if one is not None]), key=lambda one: one.bits_per_character)
    heads = [_("Predicted by"), _("Bits per character"), _("Perplexity"), _("What it is")]
    named = [f"★ {one.name}" if one.best and None not in costs else one.name for one in known]
    listed = [
        *(
            (name, one.bits_per_character, one.perplexity, one.about)
            for name, one in zip(named, known, strict=True)
        ),
        *((row.name, None, None, row.about) for row, cost in zip(chosen, costs, strict=True) if cost is None),
    ]
    # Longer bars are cut off: a model of another language would press the others together.
    guess = max((one.bits_per_character for one in known if one.kind == "uniform"), default=8.0)
    column = st.column_config
    st.dataframe(
        pd.DataFrame(listed, columns=heads).style.format({heads[2]: rounded}, na_rep=""),  # sorted as numbers
        hide_index=True,
        width="stretch",
        height="content",
        column_config={
            heads[0]: column.TextColumn(width="large"),
            heads[1]: column.ProgressColumn(format="%.3f", min_value=0.0, max_value=ROOM * guess),
        },
        key="against",
    )
    if len(known) > 1:
        st.caption(told(Score(scored.report, compared=known).panels()[0].notice))
    st.caption(
        _(
            "A compressor predicts too: the bits it writes are its bits per character. "
            "On short texts its fixed header weighs heavily."
        )
    )
