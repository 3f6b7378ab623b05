"""A browser that was cut off asks for its page anew once it is back: what it asked meanwhile is lost, and the
process that answers now may have been restarted, and know nothing of its session.

Streamlit's browser side does so if the last run was that of a fragment, or if one is due (`run_every`).
Otherwise a reader who had done nothing yet would go on asking for fragments that the new session has never
heard of: unanswered, for ever. So one is due, though not soon.
"""

from datetime import timedelta

import streamlit as st

DUE = timedelta(days=14)  # browsers' timers end at 24


@st.fragment(run_every=DUE)
def ask_again() -> None:
    """Called by each whole run of the script."""
