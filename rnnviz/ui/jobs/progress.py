"""The bar of what is at work, with Cancel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st

from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.jobs.worker import Job, Jobs
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import rounded

EVERY = 0.4  # seconds between two looks


@st.fragment(run_every=EVERY)
def bar(jobs: Jobs, keys: Sequence[Hashable], name: str) -> None:
    """How far these jobs are, looked at again and again; the page is drawn anew when one of them ends.

    `name` tells this bar from others on the page.
    """
    mark = f"perplexity.bar.{name}"
    busy = jobs.busy(keys)
    before = st.session_state.get(mark)
    st.session_state[mark] = len(busy) if busy else None
    if not busy or (before is not None and len(busy) < before):
        st.session_state[mark] = None
        st.rerun()
    now = next((job for job in busy if job.state == "running"), busy[0])
    left, right = st.columns([6, 1], vertical_alignment="center")
    left.progress(min(max(now.step.fraction, 0.0), 1.0), text=words(now, len(busy) - 1))
    right.button(
        _("Cancel"),
        key=f"cancel-{name}",
        icon=":material/close:",
        on_click=jobs.cancel,
        args=([job.key for job in busy],),
        width="stretch",
    )


def again(jobs: Jobs, job: Job, key: str) -> None:
    """What stands in the place of a cancelled job's result; `key` is the button's."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(_("**{name}**: cancelled.").format(name=plain(job.title)), icon=":material/cancel:")
        st.button(
            _("Start again"), key=key, icon=":material/replay:", on_click=jobs.forget, args=([job.key],)
        )


def words(job: Job, waiting: int) -> str:
    """What is at work, how far it is, how fast and how much longer."""
    step, parts = job.step, []
    if step.characters:
        parts.append(_("{count} characters").format(count=f"{step.characters:,}"))
        if job.seconds > 0.5:
            parts.append(_("{speed} a second").format(speed=f"{step.characters / job.seconds:,.0f}"))
    if job.seconds > 0.5 and step.fraction > 0.01:
        parts.append(_("{time} left").format(time=duration(job.seconds / step.fraction - job.seconds)))
    if step.perplexity is not None:
        parts.append(_("perplexity so far {perplexity}").format(perplexity=rounded(step.perplexity)))
    if not parts:
        parts.append(_("waiting for its turn") if job.state == "waiting" else _("looking at it"))
    if waiting:
        parts.append(ngettext("{n} more to do", "{n} more to do", waiting).format(n=waiting))
    return f"**{plain(job.title)}** · " + " · ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as a person says them."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return _("{s} s").format(s=max(whole, 1))
    return _("{m} min {s} s").format(m=whole // 60, s=whole % 60)
