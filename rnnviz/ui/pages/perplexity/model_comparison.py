"""The text in view under other models, baselines and file compressors, the best first; and the second model,
to compare with the chosen one throughout.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from rnnviz.i18n import _, ngettext
from rnnviz.networks.cells import CELLS
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.contamination import MAX_UNKNOWN_SHARE
from rnnviz.page.formatting import rounded, title, titles
from rnnviz.scoring.score import CostRow, Score, mark_best
from rnnviz.ui.jobs import model_suggestion, pending
from rnnviz.ui.jobs.pending import Pending, ask
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.pages.perplexity.scoring_jobs import TextScore
from rnnviz.ui.pages.perplexity.text_sources import ReaderText
from rnnviz.ui.shell import model_cache
from rnnviz.ui.shell.error_messages import describe, plain, show_errors
from rnnviz.ui.shell.model_cache import ModelContext
from rnnviz.ui.shell.render_finding import join_sentences

SECOND_CHOICE = "second"  # the key of the choice of the second model
# Bytes or characters of a text, at most, that is measured without a button: what takes long is asked for.
MAX_AUTOMATIC_SIZE = 300_000
ALL_REQUESTED = "perplexity.asked.all"  # the text for which models of other scripts are wanted too
COMPARISON_PATIENCE_S = 0.5  # seconds that the page waits for results before it shows a progress bar


@dataclass(frozen=True)
class SecondModel:
    """The chosen second model, and its result or the job that makes it."""

    info: ModelInfo
    result: Pending[TextScore]

    @property
    def name(self) -> str:
        return title(self.info)


def _other_models(context: ModelContext) -> dict[str, ModelInfo]:
    """The other models, by name."""
    return {i.path.stem: i for i in model_cache.list_models()[0] if i.path != context.info.path}


def _order_models(
    context: ModelContext, text: ReaderText, score: Score
) -> tuple[list[ModelInfo], list[ModelInfo]]:
    """The other models: those that know most of the text's characters, the recommended one first; the rest,
    of other scripts.
    """
    beginning = text.beginning(model_suggestion.READ_CHARS, score.encoding)
    suggestion, models = (
        model_suggestion.ask_suggestion(context.info, beginning).result,
        _other_models(context),
    )
    # A glance at the beginning: the order is there at once, before any model has read the text.
    unknown = {name: model_suggestion.unknown_share(info, beginning) for name, info in models.items()}
    order = sorted(models, key=lambda name: (suggestion is None or name != suggestion.name, unknown[name]))
    # Relative to the best: of a text in a script that none knows well, those that know most still lead.
    limit = min(unknown.values(), default=0.0) + MAX_UNKNOWN_SHARE
    near = [models[name] for name in order if unknown[name] <= limit]
    return near, [models[name] for name in order if unknown[name] > limit]


def pick_second(context: ModelContext, text: ReaderText, score: Score) -> None:
    """Draw the choice of the second model, those of the text's script first."""
    near, other_scripts = _order_models(context, text, score)
    models = {info.path.stem: info for info in (*near, *other_scripts)}
    st.selectbox(
        _("Compare with a second model"),
        list(models),
        index=None,
        key=SECOND_CHOICE,
        persist_state="session",
        format_func=titles(models.values()).__getitem__,
        placeholder=_("No second model"),
        help=_("Its perplexity then appears above. Colours and passages show where one model did better."),
        width=420,
    )


def second_model(context: ModelContext, text: ReaderText) -> SecondModel | None:
    """The second model with its result on a text, whose job is started; None if none is chosen."""
    info = _other_models(context).get(st.session_state.get(SECOND_CHOICE) or "")
    return None if info is None else SecondModel(info, scoring_jobs.ask_score(info, text, info.path.stem))


@dataclass(frozen=True)
class ComparisonRow:
    """A row of the comparison: a model; or a `baseline`, measured with the chosen model's vocabulary."""

    name: str
    about: str
    info: ModelInfo
    baseline: str = ""

    def ask(
        self, context: ModelContext, text: ReaderText, text_score: TextScore, pressed: bool | None
    ) -> Pending[Any]:
        """The model's score of a text, or the costs under all baselines; `pressed` as in `pending.ask`."""
        # Another model may guess another encoding: then it would read another text.
        if text_score.score.certainty == "guessed":
            text = replace(text, encoding=text_score.score.encoding)
        key, name = scoring_jobs.score_key(self.info, text), f"{self.name}: {text.name}"
        work: Callable[..., Any] = partial(scoring_jobs.score_by_other, self.info, text)
        if self.baseline:
            key, name = text.key("baselines", model_cache.digest(self.info)), text.name
            work = partial(scoring_jobs.measure_baselines, text, text_score.score, context.model.vocabulary)
        return ask(key, name, work, pressed=pressed, patience=0, shared=True)

    def cost(self, result: Pending[Any]) -> CostRow | None:
        """The text's cost under this row; None until `result` has a value."""
        if result.value is None:
            return None
        measured: Score | Mapping[str, CostRow] = result.value
        if isinstance(measured, Score):
            return measured.row("model", self.about, self.name)
        return replace(measured[self.baseline], name=self.name, about=self.about)


def show(context: ModelContext, jobs: Jobs, text: ReaderText, text_score: TextScore) -> None:
    """Draw the choice of other models, and the table of the text's cost under each."""
    st.markdown(
        _(
            "Other models, simple baselines and file compressors on the same text. "
            "**Shorter bars are better**: fewer bits per character, so a lower perplexity."
        )
    )
    near, other_scripts = _order_models(context, text, text_score.score)
    common_rows, rivals = comparison_rows(
        context, [*near, *other_scripts], unknown=bool(text_score.score.unknown)
    )
    state = st.session_state
    is_requested = state.get("perplexity.asked", False)
    offered = [row for row in rivals if row.info in near or state.get(ALL_REQUESTED) == text.sha256]
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    names = [row.name for row in rivals]
    rest = len(rivals) - len(offered)
    placeholder = _("The {n} that know most of its characters") if rest else _("All {n} of them")
    picked = left.multiselect(
        _("Other models"),
        names,
        key="rivals",
        persist_state="session",
        placeholder=placeholder.format(n=len(offered)),
    )
    pressed = right.button(
        _("Compare"), icon=":material/leaderboard:", key="compare", type="primary", width="stretch"
    )
    if pressed:
        state["perplexity.asked"] = is_requested = True
    selected = [row for row in rivals if row.name in picked] or offered
    chosen = [*common_rows, *(selected if is_requested else ())]

    def look(pressed: bool | None) -> list[Pending[Any]]:
        return [row.ask(context, text, text_score, pressed) for row in chosen]

    # Asked for twice: first all jobs are started, without a wait for any; then, after one wait for all, the
    # results are looked at.
    started = look(True if pressed else None if is_requested or text.size <= MAX_AUTOMATIC_SIZE else False)
    jobs.wait([result.job.key for result in started if result.job is not None], COMPARISON_PATIENCE_S)
    results = look(False)
    if busy := list(dict.fromkeys(result.job.key for result in results if result.job and result.waits)):
        pending.progress_bar(jobs, busy, "against")
    elif any(result.value is None for result in results):
        st.info(_("Press **Compare** to score this text with the others."), icon=":material/leaderboard:")
    _table(text_score, chosen, [row.cost(result) for row, result in zip(chosen, results, strict=True)])
    if is_requested and rest and not picked:
        label = ngettext("Compare {n} other too", "Compare {n} others too", rest).format(n=rest)
        help, on = _("They know fewer of this text's characters."), {ALL_REQUESTED: text.sha256}
        st.button(label, key="compare-all", help=help, on_click=state.update, args=(on,))
    failed = [
        (row, result.job.error)
        for row, result in zip(chosen, results, strict=True)
        if result.job and result.job.error
    ]
    show_errors([f"**{plain(row.name)}**: {describe(error, text.name)}" for row, error in failed])


def comparison_rows(
    context: ModelContext, other_models: list[ModelInfo], *, unknown: bool
) -> tuple[list[ComparisonRow], list[ComparisonRow]]:
    """The rows of every comparison, and those of the `other_models`.

    `unknown`: whether the text has unknown characters. A uniform guess then pays for them, as every model
    does: its number is not |V|, so it has another name.
    """
    chosen = context.info
    uniform = _("uniform guess, unknown characters spelled out") if unknown else _("uniform guess")
    guess = _("every one of {n} symbols equally likely").format(n=f"{context.model.vocabulary.size:,}")
    letters = _("this text's own character counts, known beforehand: not a prediction")
    common_rows = [
        ComparisonRow(title(chosen), _("the chosen model"), chosen),
        ComparisonRow(uniform, guess, chosen, "uniform"),
        ComparisonRow(_("letter frequencies"), letters, chosen, "unigram"),
        ComparisonRow("gzip", _("a common compressor, at its strongest setting"), chosen, "gzip"),
        ComparisonRow("xz", _("a strong compressor, at its strongest setting"), chosen, "xz"),
    ]
    rivals = []
    for info in other_models:
        row = ComparisonRow(title(info), _about(info), info)
        if context.ngram_model is not None and info.name == chosen.card.get("ngram"):
            common_rows.insert(1, row)
        else:
            rivals.append(row)
    return common_rows, rivals


def _about(info: ModelInfo) -> str:
    """A model's kind and training text, from its card."""
    kind = _("n-gram counts") if info.kind == "ngram" else CELLS[info.kind].label
    text = info.card.get("title") or info.card.get("corpus")
    return _("{kind}, trained on {title}").format(kind=kind, title=text) if text else kind


def _table(text_score: TextScore, chosen: list[ComparisonRow], costs: list[CostRow | None]) -> None:
    """Draw the table: rows sorted by bits per character, which their bars show, and those not yet known."""
    ranked = sorted(
        mark_best([entry for entry in costs if entry is not None]), key=lambda entry: entry.bits_per_character
    )
    heads = [_("Predicted by"), _("Bits per character"), _("Perplexity"), _("What it is")]
    # No star until all costs are known: one still to come may be the best.
    names = [f"★ {entry.name}" if entry.best and None not in costs else entry.name for entry in ranked]
    listed = [
        *(
            (name, entry.bits_per_character, entry.perplexity, entry.about)
            for name, entry in zip(names, ranked, strict=True)
        ),
        *((row.name, None, None, row.about) for row, cost in zip(chosen, costs, strict=True) if cost is None),
    ]
    longest_bar = max((entry.bits_per_character for entry in ranked), default=8.0)
    column = st.column_config
    st.dataframe(
        pd.DataFrame(listed, columns=heads).style.format({heads[2]: rounded}, na_rep=""),  # sorted as numbers
        hide_index=True,
        width="stretch",
        height="content",
        column_config={
            heads[0]: column.TextColumn(width=280),  # the longest name, and all of "What it is" at 1280
            heads[1]: column.ProgressColumn(format="%.3f", min_value=0.0, max_value=longest_bar),
        },
        key="against",
    )
    if len(ranked) > 1:
        notice = replace(text_score.score, compared=ranked).panels()[0].notice
        st.caption(join_sentences(notice, "said", "aside"))
    st.caption(
        _(
            "A compressor predicts too: the better it predicts, the fewer bits it writes. It packs the text "
            "as it is, whichever model is chosen. On short texts its fixed header counts against it."
        )
    )
