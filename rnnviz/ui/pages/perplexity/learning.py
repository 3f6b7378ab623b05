"""What a model needs that may learn from the text while it reads it, beside what it needs otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz.errors import install
from rnnviz.networks import has_torch
from rnnviz.reading.scoring import Report
from rnnviz.ui import address, model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.hosting import allowed
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Job, Jobs
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import percent, rounded

if TYPE_CHECKING:
    from rnnviz.networks.checkpoint import ModelInfo

CHOICE = "learns"  # in the session and in the address, there "mix", "dynamic" or "mix,dynamic"
WAYS = ("mix", "dynamic")
PATIENCE = 0.6
LONG = 20_000  # characters from which on the page says before how long it takes


@dataclass(frozen=True)
class Learning:
    """What the chosen ways of learning come to, or the job that computes it."""

    key: Key
    report: Report | None
    job: Job | None


def ways(context: Context, report: Report) -> dict[str, str]:
    """What may be done while reading; the n-gram is the one that the model's card names."""
    words = {}
    if context.yardstick is not None:
        words["mix"] = _("Mix in {ngram}").format(ngram=context.info.card["ngram"])
    if context.info.kind != "ngram" and allowed.to_learn(report.characters) and has_torch.installed():
        words["dynamic"] = _("Go on training (dynamic evaluation)")
    return words


def arrive() -> None:
    """Choose what the address asks for on arrival, and say what is chosen; before the page needs it."""
    state, asked = st.session_state, address.asked(CHOICE)
    wanted = [way for way in WAYS if way in (asked or "").split(",")]
    state[CHOICE] = wanted or ([] if address.went_back() else state.get(CHOICE, []))
    _say(state[CHOICE])


def _say(chosen: Sequence[str]) -> None:
    address.say(**{CHOICE: ",".join(way for way in WAYS if way in chosen) or None})


def pick(context: Context, report: Report) -> None:
    """The choice of them for the text of this report, several at once; none at first."""
    words = ways(context, report)
    chosen = [way for way in st.session_state.get(CHOICE, []) if way in words]
    _say(chosen)
    if words:
        st.session_state[CHOICE] = chosen
        st.pills(
            _("Learn while reading"),
            list(words),
            selection_mode="multi",
            format_func=words.__getitem__,
            key=CHOICE,
            persist_state="session",
            help=_(
                "Predictions are then fitted to this text as it is read. "
                "Each character is still predicted from those before it alone."
            ),
        )
    if context.info.kind != "ngram" and not has_torch.installed():
        said = _("Going on training needs torch, which is not installed. This brings it: {command}")
        st.caption(said.format(command=f"`{install('train')}`"))
    elif not allowed.to_learn(report.characters):
        said = _("For visitors, a network goes on training only on texts of up to {n} characters.")
        st.caption(said.format(n=f"{allowed.LEARNS:,}"))
    elif report.characters > LONG and "dynamic" in words and "dynamic" not in st.session_state[CHOICE]:
        minutes = max(round(report.characters * work.seconds_to_learn(context.info) / 60), 1)
        said = ngettext(
            "Going on training takes about {n} minute on this text.",
            "Going on training takes about {n} minutes on this text.",
            minutes,
        )
        st.caption(said.format(n=f"{minutes:,}"))


def _asked(context: Context, report: Report) -> tuple[tuple[str, ...], ModelInfo | None]:
    """The chosen ways, and the n-gram."""
    asked = st.session_state.get(CHOICE, [])
    done = tuple(way for way in ways(context, report) if way in asked)
    return done, model_cache.yardstick_info(context.info, model_cache.listed()[0])


def model(context: Context, report: Report) -> Any:
    """The model, with what is chosen for the text of this report done with it."""
    done, other = _asked(context, report)
    return work.learner(context.info, other, done)


def chosen(context: Context, jobs: Jobs, text: Text, alone: Report) -> Learning | None:
    """What the chosen ways come to on a text, `alone` what the model does without; starts to ask it."""
    done, other = _asked(context, alone)
    if not done:
        return None
    kept = store.shared()
    digests = [model_cache.digest(info) for info in (context.info, other) if info is not None]
    key = text.key(CHOICE, *done, *digests)
    report: Report | None = kept.get(key)
    job = None
    if report is None:
        make = partial(work.learning, key, context.info, other, done, text)
        job = jobs.ask(key, _("Learn while reading"), make, again=work.NOT_KEPT, size=text.size)
        jobs.wait([key], PATIENCE)
        report = kept.get(key)
    return Learning(key, report, job)


def number(found: Learning | None) -> None:
    """The perplexity, small, under the one without."""
    if found is not None and found.report is not None:
        st.markdown(_("**{perplexity}** while learning").format(perplexity=rounded(found.report.perplexity)))


def words(jobs: Jobs, report: Report, found: Learning) -> None:
    """How far it is from the model's own `report`, and what such a number means; or how far the job is."""
    if found.report is None:
        if found.job is not None:
            progress.without_result(jobs, found.job, CHOICE)
        return
    more = found.report.bits_per_character / report.bits_per_character - 1 if report.bits_per_character else 0
    if more < 0:
        line = _("**{model}** needs {share} fewer bits per character while it learns from this text.")
    else:
        line = _("**{model}** needs {share} more bits per character while it learns from this text.")
    meaning = _(
        "Don't compare that with other models' numbers: this one learns from the very text it is measured on."
    )
    if more < 0 and "dynamic" in st.session_state[CHOICE]:
        meaning += " " + _(
            "A gain doesn't show that it understands the text: an untrained network gains too."
        )
    st.markdown(line.format(model=plain(found.report.model), share=percent(abs(more))) + " " + meaning)
