"""A browser that was cut off asks for its page anew once it is back: what it asked meanwhile is lost, and the
process that answers now may have been restarted, and know nothing of its session.

Streamlit's browser side does so if the last run was that of a fragment, or if one is due (`run_every`).
Otherwise a reader who had done nothing yet would go on asking for fragments that the new session has never
heard of: unanswered, for ever. So one is due, though not soon.
"""

from datetime import timedelta

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

DUE = timedelta(days=14)  # browsers' timers end at 24


@st.fragment(run_every=DUE)
def ask_again() -> None:
    """Called by each whole run of the script."""


def run_again_for_timers_left() -> None:
    """Called at the end of each whole run. A timer (`run_every`) of the page before may have gone off while
    this one was made. Its fragment is gone, but Streamlit's browser side clears the new page for it: a whole
    run takes its place.
    """
    context = get_script_run_ctx()
    asked = getattr(getattr(context, "script_requests", None), "_rerun_data", None)
    if context is None or asked is None or not asked.fragment_id_queue:
        return
    if asked.page_script_hash not in ("", context.page_script_hash):
        st.rerun()
