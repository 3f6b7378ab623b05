"""Forgetting a reader's texts at once, rather than when the browser has gone."""

import gc
import threading

import streamlit as st

from rnnviz.i18n import _
from rnnviz.ui.hosting import uploads
from rnnviz.ui.jobs import free_memory, store
from rnnviz.ui.jobs.worker import Jobs

SETTINGS = ("language", "model")  # of the session's state: they tell nothing of a text
PASTED = ("pasted", "train-paste")  # fields whose texts the browser sends again until it is told otherwise
_TIMES = "forgetting.times"
SOON = 2.0  # seconds that a job may take to notice that it is unwanted


def fresh(key: str) -> str:
    """The key of an upload field: another after every forgetting, as the browser's would still list files."""
    times = st.session_state.get(_TIMES, 0)
    return f"{key}.again{times}" if times else key


def button() -> None:
    """The button that forgets them."""
    st.button(
        _("Forget my texts"),
        key="forget-texts",
        icon=":material/delete_sweep:",
        type="tertiary",
        help=_(
            "Removes your uploaded and pasted texts from this machine, and all results computed from them. "
            "Runs keep their text until you delete them."
        ),
        on_click=forget,
    )


def forget() -> None:
    """Drop all that this session holds but SETTINGS: its jobs, uploads, what was found, its fields."""
    state = st.session_state
    for jobs in [value for value in map(state.get, list(state)) if isinstance(value, Jobs)]:
        jobs.retain([])
        jobs.stopped(SOON)
    store.shared().release(store.holder())
    for value in map(state.get, list(state)):
        if callable(close := getattr(value, "close", None)):  # open files can be read though they are deleted
            close()
    times = state.get(_TIMES, 0) + 1
    for name in list(state):
        if name not in SETTINGS:
            del state[name]
    state[_TIMES] = times
    for name in PASTED:
        state[name] = ""
    uploads.drop_all()
    timer = threading.Timer(SOON, _give_back)  # once the page has let go of what it showed
    timer.daemon = True
    timer.start()


def _give_back() -> None:
    gc.collect()  # a session's objects refer to one another
    free_memory.give_back()
