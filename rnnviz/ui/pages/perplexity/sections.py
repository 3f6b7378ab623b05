"""Below the answer: where the number comes from, and everything that can be done with it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from rnnviz.ui import address, model_cache
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.perplexity import against, compression, origin, take, work
from rnnviz.ui.pages.perplexity import sum as sum_section

if TYPE_CHECKING:
    from rnnviz.ui.context import Context
    from rnnviz.ui.jobs.worker import Jobs
    from rnnviz.ui.pages.perplexity.texts import Text
    from rnnviz.ui.pages.perplexity.work import Scored

NAMES = ("origin", "against", "sum", "compression", "take")


def show(context: Context, jobs: Jobs, scored: Sequence[tuple[Text, Scored]], text: Text) -> list[Hashable]:
    """One section at a time, for `text`; returns the jobs it wants. `scored` are all texts with figures."""
    words = {
        "origin": _("Where it comes from"),
        "against": _("Against what"),
        "sum": _("Show the sum"),
        "compression": _("It is compression"),
        "take": _("Take it away"),
    }
    address.adopt("section", NAMES, NAMES[0])
    chosen = st.segmented_control(
        _("Look at"),
        NAMES,
        required=True,
        key="section",
        persist_state="session",
        on_change=address.keep,
        args=("section",),
        format_func=words.__getitem__,
        label_visibility="collapsed",
    )
    one = next(s for t, s in scored if t is text)
    if one.folder is None:
        origin.without(jobs, (work.full_key(model_cache.digest(context.info), text), text.name), text.name)
        if chosen in ("origin", "compression"):
            return []
    if chosen == "against":
        return against.show(context, jobs, scored)
    if chosen == "sum":
        sum_section.show(context, one)
    elif chosen == "compression":
        return compression.show(context, jobs, text, one)
    elif chosen == "take":
        take.show([s.report for _t, s in scored], text, one)
    else:
        return origin.show(context, jobs, text, one)
    return []
