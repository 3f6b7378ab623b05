"""The list of runs in the sidebar: running, queued and ended; and the number of runs that train at a time."""

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.lab.pages.train import run_words
from rnnviz.lab.pages.train.selected_run import RUN, SHIPPED, replays, run_name
from rnnviz.lab.run import queue, runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.page.formatting import rounded
from rnnviz.ui.shell import error_messages
from rnnviz.ui.shell.error_messages import plain

POLL_S = 2.0  # seconds between two refreshes
LISTED_RUNS = 8  # ended runs that are listed, until the reader asks for all
REPLAY = "\u2060"  # an invisible character that makes a replay's label differ from a run's of the same name


def choose_run() -> str | None:
    """The id of the run to show: the picked one, else `default_run`; None before the first run."""
    listed_runs, chosen = runs.listed(), RUN.get()
    names = {id: run_name(id) for id in (*(run.id for run in listed_runs), *replays())}
    return RUN.resolve(names, chosen if chosen in names else default_run(listed_runs), why=_missing)


def _missing(id: str) -> str:
    sentence = _("There is no run called **{asked}** here; it may have been deleted.")
    return sentence.format(asked=plain(run_name(id), 100))


def default_run(listed_runs: list[runs.Run]) -> str | None:
    """The default choice: a run that trains, else the newest with events, else the newest.
    A replay is never the default.
    """
    training = [run.id for run in listed_runs if run.state in ("running", "starting")]
    watchable = [run.id for run in listed_runs if run.progress is not None]
    return next(iter([*training, *watchable, *(run.id for run in listed_runs)]), None)


@st.fragment(run_every=POLL_S, key="train-listing")
def show(chosen: str | None) -> None:
    """Draw the list, refreshed every POLL_S seconds. A choice other than `chosen` reruns the page."""
    listed_runs = runs.listed()
    ended = [run for run in listed_runs if not run.alive]
    hidden = [] if st.session_state.get("train-all") else ended[LISTED_RUNS:]
    by_id: dict[str, runs.Run | None] = {run.id: run for run in listed_runs if run not in hidden}
    if (current := RUN.get()) is not None:
        # The chosen run or replay stays in the list even where it would be hidden: else the radio would
        # lose it.
        by_id.setdefault(current, next((run for run in listed_runs if run.id == current), None))
    st.markdown("**" + _("Runs") + "**")
    if by_id:
        names = {id: label(id) for id in by_id}
        st.radio(
            _("Runs"),
            list(by_id),
            index=None,
            label_visibility="collapsed",
            format_func=lambda id: names.get(id, id),
            captions=[caption(run) for run in by_id.values()],
            **RUN.widget,
        )
    else:
        st.caption(_("None yet. A run is one training of one network; closing this page doesn't stop it."))
    if len(ended) > LISTED_RUNS:
        st.toggle(_("All {n} runs").format(n=len(listed_runs)), key="train-all")
    if listed_runs:
        limit()
    # The fragment reruns alone; the page around it must run for another choice.
    if current != chosen:
        st.rerun()


def limit() -> None:
    """Draw the number of runs that train at a time."""
    st.number_input(
        _("Runs at a time"),
        1,
        queue.MAX_RUNS,
        value=runs.limit(),
        key="train-limit",
        on_change=_set_limit,
        help=_("Others wait in the queue. Two at a time share the processor: each takes longer."),
    )


def _set_limit() -> None:
    try:
        runs.set_limit(int(st.session_state["train-limit"]))
    except RnnvizError as error:
        error_messages.show_error(error)


def label(id: str) -> str:
    """A run's label. It is constant and unique, because the browser identifies the choice by it."""
    name = plain(run_name(id))
    return name + REPLAY if id.startswith(SHIPPED) else name


def caption(run: runs.Run | None) -> str:
    """A run's state in a few words; None: a replay."""
    state = run.state if run is not None else "shipped"
    words = f"{run_words.ICONS[state]} {run_words.state_word(state)}"
    if run is None:
        return words
    if state == "waiting":
        return f"{run_words.ICONS[state]} {run_words.queue_place(queue.runs_ahead(RunFolder(run.path)))}"
    last, report = run.progress or {}, run.report or {}
    if state == "running" and (share := run_words.share(last, run.total)) is not None:
        words += f" · {100 * share:.0f} %"
    reached = report.get("validation_perplexity") or run_words.training_perplexity(last, report)
    if isinstance(reached, int | float):
        words += " · " + _("perplexity {p}").format(p=rounded(reached))
    return words
