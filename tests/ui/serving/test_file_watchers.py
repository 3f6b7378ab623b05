"""A session that comes back watches no files."""

from types import SimpleNamespace

import pytest

from rnnviz.ui.serving import streamlit_workarounds


@pytest.mark.parametrize(("kind", "stops"), [("auto", 0), ("none", 1)])  # auto: somebody works on the app
def test_reconnected_session_watches_no_files(monkeypatch: pytest.MonkeyPatch, kind: str, stops: int) -> None:
    stopped: list[str] = []
    session = SimpleNamespace(disconnect_file_watchers=lambda: stopped.append("now"))
    server = SimpleNamespace(get_app_session={"a": session}.get)
    monkeypatch.setattr(streamlit_workarounds, "get_script_run_ctx", lambda: SimpleNamespace(session_id="a"))
    monkeypatch.setattr(streamlit_workarounds.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_workarounds.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(streamlit_workarounds.st, "get_option", lambda _name: kind)
    streamlit_workarounds.stop_file_watchers()
    assert len(stopped) == stops
