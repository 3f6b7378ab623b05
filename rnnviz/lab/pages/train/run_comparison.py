"""The comparison of several runs: a chart of their curves, and a table to download."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from rnnviz.figures import export
from rnnviz.figures.themes import THEMES
from rnnviz.i18n import _
from rnnviz.lab.pages.train import run_words, settings
from rnnviz.lab.reports import training
from rnnviz.lab.run import runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.page.formatting import rounded
from rnnviz.text.files import MAX_NAME_CHARS, printable
from rnnviz.ui.pages.perplexity import download
from rnnviz.ui.shell import model_cache
from rnnviz.ui.shell.fields import Field

PICKED: Field[tuple[str, ...]] = Field("train-compare", ())


def show(listed_runs: Sequence[runs.Run], selected_id: str | None) -> None:
    """Draw the choice among comparable runs, their curves, and the table. `shown` is the id of the run in
    view.
    """
    by_id = {run.id: run for run in comparable(listed_runs, selected_id)}
    if len(by_id) < 2:
        st.caption(_("When two runs have trained on the same text, you can compare their curves here."))
        return
    text, steps = _measured_on(next(iter(by_id.values())))
    # Another text or unit of counting begins with a fresh choice.
    PICKED.resolve(by_id, tuple(by_id)[:2], subject=(text, steps))
    picked = st.multiselect(_("Runs to compare"), list(by_id), max_selections=12, **PICKED.widget)
    if not picked:
        return
    chosen = [by_id[id] for id in picked]
    curves = {
        run.id: _curves(run.id, run.created, (run.progress or {}).get("step"), run.state) for run in chosen
    }
    kind = "dark" if st.context.theme.type == "dark" else "light"
    st.plotly_chart(
        training.compared(curves, theme=THEMES[kind], title=_("steps") if steps else _("characters read")),
        theme=None,
        width="stretch",
        key="train-compare-chart",
        config={"displayModeBar": False},
    )
    if finding := lowest_sentence(curves):
        st.caption(finding)
    if all(np.isfinite(curve.validation).any() for curve in curves.values()):
        st.caption(_("Validation perplexity: lower is better. It compares runs on the same text only."))
    else:
        st.caption(_("Training perplexity where a run has no validation text: lower is better."))
    rows = [row(run) for run in chosen]
    titles = {name: _(control.label) for name, control in settings.RECIPE_CONTROLS.items()}
    st.dataframe(rows, hide_index=True, width="stretch", column_config=dict(titles))
    download.button(_("Download as CSV"), lambda: export.csv_text(rows).encode(), "runs.csv", "text/csv")


def lowest_sentence(curves: Mapping[str, training.Curves]) -> str:
    """The sentence on the run with the lowest validation perplexity; "" for fewer than two such curves."""
    reached = {
        id: float(np.nanmin(curve.validation))
        for id, curve in curves.items()
        if np.isfinite(curve.validation).any()
    }
    if len(reached) < 2:
        return ""
    id = min(reached, key=lambda id: reached[id])
    return _("{run} has reached the lowest perplexity, {p}.").format(run=id, p=rounded(reached[id]))


def comparable(listed_runs: Sequence[runs.Run], selected_id: str | None) -> list[runs.Run]:
    """The runs with events that share their text and unit of counting with the run `shown`, else with the
    newest.
    """
    measured_runs = [run for run in listed_runs if run.progress is not None or run.report is not None]
    reference = next(
        (run for run in measured_runs if run.id == selected_id), measured_runs[0] if measured_runs else None
    )
    return [
        run for run in measured_runs if reference is not None and _measured_on(run) == _measured_on(reference)
    ]


def _measured_on(run: runs.Run) -> tuple[str, bool]:
    """A run's text, by a corpus's name or a checksum, and whether the run counts steps, not characters."""
    return _text(run), str((run.progress or {}).get("counted")) == "steps"


def _text(run: runs.Run) -> str:
    if corpus := run.description.get("corpus"):
        return str(corpus)
    path = RunFolder(run.path).text
    try:
        # The digest is cached by time and size, so a long text isn't read again with every rerun.
        about = path.stat()
        return model_cache.file_digest(str(path), about.st_mtime_ns, about.st_size)
    except OSError:
        return f"of {run.id} alone"


def _title(run: runs.Run) -> str:
    title = run.description.get("title") or Path(str(run.description.get("corpus") or "")).name
    return printable(str(title), MAX_NAME_CHARS)


@st.cache_data(max_entries=64, show_spinner=False)
def _curves(id: str, created: float, step: object, state: str) -> training.Curves:
    # `created`, `step` and `state` only tell the cache when a run has gone on, or another has its name.
    events, _read = runs.tail_log(id)
    return training.curves(events)


def row(run: runs.Run) -> dict[str, Any]:
    """A run's row in the table: name and text, results, settings."""
    config = run.description.get("config") or {}
    last, report = run.progress or {}, run.report or {}
    return {
        _("Run"): run.id,
        _("State"): run_words.state_word(run.state),
        _("Text"): _title(run),
        _("Validation perplexity"): report.get("validation_perplexity"),
        _("Training perplexity"): run_words.training_perplexity(last, report),
        _("Characters read"): last.get("characters", report.get("characters")),
        _("Seconds"): _rounded(last.get("seconds", report.get("seconds"))),
        **{name: config.get(name) for name in settings.RECIPE_CONTROLS},
    }


def _rounded(value: Any) -> float | None:
    return round(float(value), 1) if isinstance(value, int | float) else None
