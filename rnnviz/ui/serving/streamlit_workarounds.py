"""Workarounds for Streamlit that each run of the script calls.

A browser that reconnects must rerun its page: its asks meanwhile are lost, and the process may have been
restarted without its session. Streamlit's browser side reruns the page only if the last run was a fragment's,
or if a fragment is due (`run_every`). Otherwise a browser would ask a new session for fragments that it
doesn't know, without an answer. So one fragment is always due, though not soon.

And Streamlit watches files for a session that reconnects, even if it was told not to.
"""

from datetime import timedelta

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

FRAGMENT_DUE = timedelta(days=14)  # browsers' timers hold at most 2**31 ms, 24 days


@st.fragment(run_every=FRAGMENT_DUE)
def due_fragment() -> None:
    """The fragment that is always due. Each whole run of the script calls this."""


def rerun_for_old_timers() -> None:
    """Rerun the script if a timer (`run_every`) of the last page has fired during this run. Each whole run
    calls this at its end.

    The timer's fragment is gone, but Streamlit's browser side would clear the new page for it.
    """
    # Streamlit 1.67 keeps what is asked of a running script in `_rerun_data`, and has no public way to it.
    context = get_script_run_ctx()
    rerun_data = getattr(getattr(context, "script_requests", None), "_rerun_data", None)
    if context is None or rerun_data is None or not rerun_data.fragment_id_queue:
        return
    if rerun_data.page_script_hash not in ("", context.page_script_hash):
        st.rerun()


def stop_file_watchers() -> None:
    """Stop this session's file watchers where `server.fileWatcherType` is "none". Each run of the script
    calls this.

    They look up the files of 2,400 modules, and nobody is answered for 150 ms. See docs/streamlit.md.
    """
    context = get_script_run_ctx()
    if context is not None and runtime.exists() and st.get_option("server.fileWatcherType") == "none":
        session = runtime.get_instance().get_app_session(context.session_id)
        if session is not None:
            session.disconnect_file_watchers()
