"""Several runs in one chart and one table, to download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from rnnviz.figures import spreadsheet, training
from rnnviz.figures.runs import compared
from rnnviz.figures.themes import THEMES
from rnnviz.runs import api as runs
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.train import words as say


def show(found: Sequence[runs.Run]) -> None:
    """The choice, the curves, the table."""
    by_id = {run.id: run for run in found if run.last is not None or run.report is not None}
    if len(by_id) < 2:
        st.caption(_("When two runs have trained, their curves can be laid over one another here."))
        return
    picked = st.multiselect(
        _("Runs to compare"),
        list(by_id),
        list(by_id)[:2],
        key="train-compare",
        persist_state="session",
        max_selections=12,
    )
    chosen = [by_id[id] for id in picked if id in by_id]
    if not chosen:
        return
    curves = {run.id: _curves(run.id, run.created, (run.last or {}).get("step"), run.state) for run in chosen}
    kind = "dark" if st.context.theme.type == "dark" else "light"
    st.plotly_chart(
        compared(curves, theme=THEMES[kind], title=_("characters read")),
        theme=None,
        width="stretch",
        key="train-compare-chart",
        config={"displayModeBar": False},
    )
    st.caption(
        _("Validation perplexity, lower is better. Runs on different texts can't be compared by it directly.")
    )
    rows = [row(run) for run in chosen]
    st.dataframe(rows, hide_index=True, width="stretch", column_config=dict(say.settings()))
    st.download_button(
        _("Download as CSV"),
        spreadsheet.of(rows),
        "runs.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="train-compare-csv",
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _curves(id: str, created: float, step: object, state: str) -> training.Curves:
    events, _read = runs.follow(id)
    return training.curves(events)


def row(run: runs.Run) -> dict[str, Any]:
    """A run in the table: what it is, what it reached, how it was set."""
    config = run.description.get("config") or {}
    last, report = run.last or {}, run.report or {}
    return {
        _("Run"): run.id,
        _("State"): say.state(run.state),
        _("Text"): str(run.description.get("title") or run.description.get("corpus") or ""),
        _("Validation perplexity"): report.get("validation_perplexity"),
        _("Training perplexity"): say.training_perplexity(last, report),
        _("Characters read"): last.get("characters", report.get("characters")),
        _("Seconds"): _rounded(last.get("seconds", report.get("seconds"))),
        **{name: config.get(name) for name in say.settings()},
    }


def _rounded(value: Any) -> float | None:
    return round(float(value), 1) if isinstance(value, int | float) else None
