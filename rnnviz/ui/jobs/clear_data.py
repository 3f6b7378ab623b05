"""The button that removes the reader's texts at once, not only when the app ends."""

import threading
from typing import Any

import streamlit as st
from streamlit import runtime

from rnnviz.i18n import _
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.worker import Jobs, session_id

# Keys of the session's state that stay: they reveal nothing of a text.
KEPT_KEYS = ("language", "model")
# Fields with a text. Without its key the browser's field would keep its text and send it again, so it is
# set to "", not deleted.
PASTE_KEYS = ("pasted", "train-paste")
_TIMES = "forgetting.times"
# Seconds that a cancelled job may take to end: its thread looks whether it is wanted at each report.
STOP_WAIT_S = 2.0


def upload_key(key: str) -> str:
    """The key of an upload field, a new one after each `forget`: under the old key the browser's field still
    lists its files.
    """
    times = st.session_state.get(_TIMES, 0)
    return f"{key}.again{times}" if times else key


def _upload_manager() -> Any:
    """Streamlit's upload manager, as Any: its protocol lacks `remove_file`. It holds files as long as their
    session, whether a page uses them or not.
    """
    return runtime.get_instance().uploaded_file_mgr


def remove_upload(file: str) -> None:
    """Remove an upload of this session, by its file id, from the server's memory."""
    if runtime.exists():
        _upload_manager().remove_file(session_id(), file)


def button() -> None:
    """Draw the button, whose click calls `forget`."""
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
    """Remove this session's jobs, uploads, results and fields; KEPT_KEYS alone stay."""
    state = st.session_state
    # Jobs first: one that still runs would put a result into the store that has just been emptied.
    for jobs in [value for value in map(state.get, list(state)) if isinstance(value, Jobs)]:
        jobs.retain([])
        jobs.wait_until_idle(STOP_WAIT_S)
    for value in map(state.get, list(state)):
        # A file that is open stays readable after its removal; Windows doesn't even remove it.
        if callable(close := getattr(value, "close", None)):
            close()
    store.shared().forget_texts()
    times = state.get(_TIMES, 0) + 1
    for name in list(state):
        if name not in KEPT_KEYS:
            del state[name]
    state[_TIMES] = times
    for name in PASTE_KEYS:
        state[name] = ""
    if runtime.exists():
        _upload_manager().remove_session_files(session_id())
    # Not now: the page's objects live until the next run has replaced them, which it has by then.
    timer = threading.Timer(STOP_WAIT_S, store.collect_memory)
    timer.daemon = True
    timer.start()
