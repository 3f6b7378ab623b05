"""Where the number comes from: the pictures of one text, under one model or two."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.reports.record import Record
from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import progress, store
from rnnviz.ui.pages.perplexity import where, work
from rnnviz.ui.trouble import describe, plain

if TYPE_CHECKING:
    from rnnviz.ui.context import Context
    from rnnviz.ui.jobs.worker import Check, Jobs
    from rnnviz.ui.pages.perplexity.texts import Text
    from rnnviz.ui.pages.perplexity.work import Scored


def show(context: Context, jobs: Jobs, text: Text, scored: Scored) -> list[Hashable]:
    """The pictures of one text. Returns the jobs it wants."""
    others = {i.path.stem: i for i in model_cache.listed()[0] if i.path != context.info.path}
    name = st.selectbox(
        _("Set it against a second model"),
        list(others),
        index=None,
        key="second",
        persist_state="session",
        placeholder=_("No other model"),
        help=_("Colours and passages then show where one model was less surprised than the other."),
        width=420,
    )
    if scored.folder is None:
        return []
    other = None
    wanted: list[Hashable] = []
    if name is not None:
        info = others[name]
        kept, digest = store.shared(), model_cache.digest(info)
        key = (work.full_key(digest, text), "second")
        found: Scored | None = kept.get(key[0])
        if found is None:

            def make(check: Check) -> work.Steps:
                return work.scoring(kept, digest, lambda: model_cache.scorer(info), info.path, text, check)

            job = jobs.ask(key, name, make)
            wanted.append(key)
            jobs.wait([key], 0.6)
            found = kept.get(key[0])
            if found is None and job.error is not None:
                st.error(describe(job.error), icon=":material/error:")
            elif found is None and job.state == "cancelled":
                progress.again(jobs, job, "second-again")
            elif found is None and jobs.busy([key]):
                progress.bar(jobs, [key], "second")
        if found is not None and found.folder is None:
            without(jobs, key, f"{text.name}, {name}")
        elif found is not None and found.folder is not None:
            other = (Record.open(found.folder), model_cache.load(info, to_read=True))
    where.show(Record.open(scored.folder), model_cache.load(context.info, to_read=True), other)
    return wanted


def without(jobs: Jobs, key: tuple[Hashable, str], name: str) -> None:
    """The figures of a text are there; its characters had to make room for those of others."""

    def read() -> None:
        store.shared().forget(key[0])
        jobs.forget([key])

    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            _(
                "The figures of **{name}** are kept, but not what was found for each character: other texts "
                "took its place."
            ).format(name=plain(name)),
            icon=":material/inventory_2:",
        )
        st.button(_("Read it again"), key=f"read-again-{key[1]}", icon=":material/replay:", on_click=read)
