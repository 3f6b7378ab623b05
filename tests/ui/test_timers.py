"""What becomes of timers' asks: none changes a field, or clears the page that was opened meanwhile."""

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession

from rnnviz.ui.server import timers


class Again(Exception):
    pass


def rerun() -> None:
    raise Again


@pytest.mark.parametrize(
    ("page", "fragments", "again"),
    [("train", ["listing"], True), ("explore", ["live"], False), ("train", [], False), ("", ["live"], False)],
)
def test_a_timer_of_the_page_before_does_not_clear_the_new_one(
    monkeypatch: pytest.MonkeyPatch, page: str, fragments: list[str], again: bool
) -> None:
    """Streamlit would run the fragment as one of the old page, and the browser empty the new one for it."""
    asked = SimpleNamespace(page_script_hash=page, fragment_id_queue=fragments)
    context = SimpleNamespace(page_script_hash="explore", script_requests=SimpleNamespace(_rerun_data=asked))
    monkeypatch.setattr(timers, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(timers.st, "rerun", rerun)
    if again:
        with pytest.raises(Again):
            timers.run_again_for_timers_left()
    else:
        timers.run_again_for_timers_left()


def test_streamlit_keeps_what_was_asked_for_where_it_is_looked_for() -> None:
    """A whole run would no longer notice it otherwise."""
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

    requests = ScriptRequests()
    assert requests._rerun_data.fragment_id_queue == []
    assert requests._rerun_data.page_script_hash == ""


@pytest.mark.parametrize(
    ("asked", "fields"),
    [
        ({"fragment_id": "progress", "is_auto_rerun": True}, 0),
        ({"fragment_id": "progress"}, 1),  # a field of the fragment has changed
        ({"is_auto_rerun": True}, 1),  # a browser that reconnects
        ({}, 1),
    ],
)
def test_a_timer_changes_no_field(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], fields: int
) -> None:
    """Its values may be older than those that the script has just set."""
    heard: list[ClientState] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda session, asked: heard.append(asked))
    timers.keep_fields()
    states = WidgetStates(widgets=[WidgetState(id="tab", string_value="Paste a text")])
    AppSession.request_rerun(None, ClientState(widget_states=states, query_string="model=a", **asked))  # type: ignore[arg-type]
    AppSession.request_rerun(None, None)  # type: ignore[arg-type]
    assert len(heard[0].widget_states.widgets) == fields
    assert heard[0].query_string == "model=a"
    assert heard[1] is None
