"""What a run of the script does about fragments that were asked for meanwhile."""

from types import SimpleNamespace

import pytest

from rnnviz.ui.serving import streamlit_workarounds


@pytest.mark.parametrize(
    ("page", "fragments", "reruns_page"),
    [("train", ["listing"], True), ("explore", ["live"], False), ("train", [], False), ("", ["live"], False)],
)
def test_old_page_timer_reruns_new_page(
    monkeypatch: pytest.MonkeyPatch, page: str, fragments: list[str], reruns_page: bool
) -> None:
    """Streamlit would run the fragment as one of the old page, and the browser empty the new one for it."""
    rerun_data = SimpleNamespace(page_script_hash=page, fragment_id_queue=fragments)
    context = SimpleNamespace(
        page_script_hash="explore", script_requests=SimpleNamespace(_rerun_data=rerun_data)
    )
    monkeypatch.setattr(streamlit_workarounds, "get_script_run_ctx", lambda: context)
    reruns: list[None] = []
    monkeypatch.setattr(streamlit_workarounds.st, "rerun", lambda: reruns.append(None))
    streamlit_workarounds.rerun_for_old_timers()
    assert len(reruns) == reruns_page


def test_streamlit_has_rerun_data_attributes() -> None:
    """A whole run would no longer notice it otherwise."""
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

    requests = ScriptRequests()
    assert requests._rerun_data.fragment_id_queue == []
    assert requests._rerun_data.page_script_hash == ""
