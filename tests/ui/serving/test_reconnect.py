"""What a run of the script does about fragments that were asked for meanwhile."""

from types import SimpleNamespace

import pytest

from rnnviz.ui.serving import streamlit_workarounds


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
    monkeypatch.setattr(streamlit_workarounds, "get_script_run_ctx", lambda: context)
    monkeypatch.setattr(streamlit_workarounds.st, "rerun", rerun)
    if again:
        with pytest.raises(Again):
            streamlit_workarounds.rerun_for_old_timers()
    else:
        streamlit_workarounds.rerun_for_old_timers()


def test_streamlit_keeps_what_was_asked_for_where_it_is_looked_for() -> None:
    """A whole run would no longer notice it otherwise."""
    from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests

    requests = ScriptRequests()
    assert requests._rerun_data.fragment_id_queue == []
    assert requests._rerun_data.page_script_hash == ""
