"""What a reader who has left leaves behind: nothing, after a while."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from rnnviz.ui.server import sessions
from rnnviz.ui.server.sessions import Sessions, close
from tests.browser.driving import ROOT


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("kind", "stops"), [("auto", 0), ("none", 1)])  # auto: somebody works on the app
def test_a_session_that_comes_back_watches_no_files(
    monkeypatch: pytest.MonkeyPatch, kind: str, stops: int
) -> None:
    stopped: list[str] = []
    found = SimpleNamespace(disconnect_file_watchers=lambda: stopped.append("now"))
    server = SimpleNamespace(get_app_session={"a": found}.get)
    monkeypatch.setattr(sessions, "get_script_run_ctx", lambda: SimpleNamespace(session_id="a"))
    monkeypatch.setattr(sessions.runtime, "exists", lambda: True)
    monkeypatch.setattr(sessions.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(sessions.st, "get_option", lambda _name: kind)
    sessions.seen()
    assert len(stopped) == stops


def test_a_session_is_gone_when_it_was_away_long_enough_and_only_once() -> None:
    clock, there = Clock(), {"a", "b"}
    sessions = Sessions(clock)
    sessions.seen("a")
    sessions.seen("b")
    clock.now = 50
    assert sessions.gone(there.__contains__, 10) == []  # they read, and ask for nothing
    there.clear()
    clock.now = 59
    assert sessions.gone(there.__contains__, 10) == []
    there.add("b")  # its network faltered
    clock.now = 60
    assert sessions.gone(there.__contains__, 10) == ["a"]
    assert sessions.gone(there.__contains__, 10) == []
    there.clear()
    clock.now = 69
    sessions.seen("b")
    clock.now = 78
    assert sessions.gone(there.__contains__, 10) == []
    clock.now = 79
    assert sessions.gone(there.__contains__, 10) == ["b"]


def test_a_session_that_cannot_be_closed_keeps_no_other(caplog: pytest.LogCaptureFixture) -> None:
    closed = []

    def one(session: str) -> None:
        if session == "a":
            raise RuntimeError("its release failed")
        closed.append(session)

    close(["a", "b"], one)
    assert closed == ["b"]
    assert "its release failed" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_limit_of_open_files_is_raised_for_many_phones() -> None:
    import resource

    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= 256:
        pytest.skip("more are not allowed here")
    script = (
        "import resource\n"
        "from rnnviz.ui.server.descriptors import raise_limit\n"
        "raise_limit()\n"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )

    def limits(soft: int, most: int) -> list[int]:
        made = subprocess.run(
            [sys.executable, "-c", script],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most)),
            capture_output=True,
            encoding="utf-8",
            check=True,
            cwd=ROOT,
        )
        return [int(word) for word in made.stdout.split()]

    assert limits(256, hard) == [10_240 if hard == resource.RLIM_INFINITY else min(hard, 10_240), hard]
    assert limits(256, 256) == [256, 256]  # it can't be raised: nothing breaks
    if hard == resource.RLIM_INFINITY or hard > 10_240:
        assert limits(11_000, hard) == [11_000, hard]  # not lowered
