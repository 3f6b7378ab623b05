"""A workaround: a browser that reconnects reruns its page, as its asks meanwhile are lost and the process may
have been restarted without its session.

Streamlit's browser side reruns the page only if the last run was a fragment's, or if a fragment is due
(`run_every`). Otherwise a browser would ask a new session for fragments that it doesn't know, without an
answer. So one fragment is always due, though not soon.
"""

from datetime import timedelta

import streamlit as st

DUE = timedelta(days=14)  # browsers' timers hold at most 2**31 ms, 24 days


@st.fragment(run_every=DUE)
def ask_again() -> None:
    """The fragment that is always due. Each whole run of the script calls this."""
