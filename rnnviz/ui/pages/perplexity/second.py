"""A second model's reading of the text in view: its figure stands in the answer, its colours in the text."""

from dataclasses import dataclass
from functools import partial
from threading import Event

import streamlit as st

from rnnviz.i18n import _
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.ui import model_cache
from rnnviz.ui.context import Context
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Job, Jobs
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.pages.perplexity.work import Scored
from rnnviz.ui.words import title, titles

CHOICE = "second"
PATIENCE = 0.6


@dataclass(frozen=True)
class Second:
    """The chosen second model, and what it found or the job that finds it."""

    info: ModelInfo
    key: Key
    scored: Scored | None
    job: Job | None

    @property
    def name(self) -> str:
        return title(self.info)


def others(context: Context) -> dict[str, ModelInfo]:
    """The models beside the chosen one, by name."""
    return {i.path.stem: i for i in model_cache.listed()[0] if i.path != context.info.path}


def pick(context: Context) -> None:
    """The choice of the second model."""
    st.selectbox(
        _("Compare with a second model"),
        list(there := others(context)),
        index=None,
        key=CHOICE,
        persist_state="session",
        format_func=titles(there.values()).__getitem__,
        placeholder=_("No second model"),
        help=_("Its number then stands above. Colours and passages show where one model did better."),
        width=420,
    )


def chosen(context: Context, jobs: Jobs, text: Text) -> Second | None:
    """What the chosen second model says of a text; starts to ask it."""
    info = others(context).get(st.session_state.get(CHOICE) or "")
    if info is None:
        return None
    kept, key = store.shared(), work.full_key(info, text)
    found: Scored | None = kept.get(key)
    job = None
    if found is None:
        make = partial(work.scoring, info, text, Event())
        job = jobs.ask(key, info.path.stem, make, again=work.NOT_KEPT, size=text.size)
        jobs.wait([key], PATIENCE)
        found = kept.get(key)
    return Second(info, key, found, job)
