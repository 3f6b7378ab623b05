"""Workarounds for the asks of timers (`run_every`), which may cross the answer on its way."""

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx


def keep_fields() -> None:
    """Let timers' asks change no field, in all sessions that begin from now on.

    With each ask the browser sends the values of all fields. A timer's may be older than those that the
    script has just set, and would set them back, as if the reader had.
    """
    run = AppSession.request_rerun

    def request_rerun(session: AppSession, asked: ClientState | None) -> None:
        if asked is not None and asked.is_auto_rerun and asked.fragment_id:
            asked.ClearField("widget_states")
        run(session, asked)

    AppSession.request_rerun = request_rerun  # type: ignore[assignment,method-assign]


def run_again_for_timers_left() -> None:
    """Rerun the script if a timer of the last page has fired during this run. Each whole run calls this last.

    The timer's fragment is gone, but Streamlit's browser side would clear the new page for it.
    """
    context = get_script_run_ctx()
    asked = getattr(getattr(context, "script_requests", None), "_rerun_data", None)
    if context is None or asked is None or not asked.fragment_id_queue:
        return
    if asked.page_script_hash not in ("", context.page_script_hash):
        st.rerun()
