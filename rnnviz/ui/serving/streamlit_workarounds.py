"""A workaround: Streamlit watches files for a session that reconnects, even if it was told not to."""

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def stop() -> None:
    """Stop this session's file watchers where `server.fileWatcherType` is "none". Each run of the script
    calls this.

    They look up the files of 2,400 modules, and nobody is answered for 150 ms. See docs/streamlit.md.
    """
    context = get_script_run_ctx()
    if context is not None and runtime.exists() and st.get_option("server.fileWatcherType") == "none":
        session = runtime.get_instance().get_app_session(context.session_id)
        if session is not None:
            session.disconnect_file_watchers()
