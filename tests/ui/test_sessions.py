"""What a reader who has left leaves behind: nothing, after a while."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import requests
from tests.ui.visitor import Visitor

from rnnviz.ui.server import sessions
from rnnviz.ui.server.sessions import Sessions, close
from tests.browser.driving import ROOT, serve
from tests.training.processes import until


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_session_that_comes_back_watches_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []
    found = SimpleNamespace(disconnect_file_watchers=lambda: stopped.append("now"))
    server = SimpleNamespace(get_app_session={"a": found}.get)
    monkeypatch.setattr(sessions, "get_script_run_ctx", lambda: SimpleNamespace(session_id="a"))
    monkeypatch.setattr(sessions.runtime, "exists", lambda: True)
    monkeypatch.setattr(sessions.runtime, "get_instance", lambda: server)
    kind = "auto"
    monkeypatch.setattr(sessions.st, "get_option", lambda _name: kind)
    sessions.seen()
    assert not stopped  # somebody works on the app
    kind = "none"
    sessions.seen()
    assert stopped == ["now"]


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


def uploaded(url: str) -> float:
    """The bytes of uploaded files that Streamlit holds."""
    with requests.Session() as asker:
        asker.trust_env = False
        said = asker.get(f"{url}/_stcore/metrics?families=cache_memory_bytes", timeout=30).text
    return sum(float(line.split()[-1]) for line in said.splitlines() if "UploadedFileManager" in line)


def test_a_session_that_cannot_be_closed_keeps_no_other(caplog: pytest.LogCaptureFixture) -> None:
    closed = []

    def one(session: str) -> None:
        if session == "a":
            raise RuntimeError("its release failed")
        closed.append(session)

    close(["a", "b"], one)
    assert closed == ["b"]
    assert "its release failed" in caplog.text


@pytest.mark.slow
def test_what_a_reader_held_goes_although_nobody_else_leaves(models_folder: Path) -> None:
    environment = {**os.environ, "RNNVIZ_MODELS": str(models_folder)}
    options = ("--server.address", "127.0.0.1", "--server.disconnectedSessionTTL", "4")
    with serve(ROOT / "app.py", environment=environment, options=options) as url:
        stays = Visitor(url, "perplexity", "model=tiny-gru")
        leaves = Visitor(url, "perplexity", "model=tiny-gru")
        for visitor, name in ((stays, "theirs"), (leaves, "mine")):
            visitor.upload(f"{name}.txt", f"{name}: the time machine. ".encode() * 50)
            visitor.wait(
                lambda visitor=visitor, name=name: visitor.find("metric", f"Perplexity of {name}"), 25
            )
        sizes = [len(f"{name}: the time machine. ") * 50 for name in ("theirs", "mine")]
        assert uploaded(url) == sum(sizes)
        leaves.leave()
        until(lambda: uploaded(url) == sizes[0])
        assert stays.find("metric", "Perplexity of theirs")
        stays.leave()
        until(lambda: uploaded(url) == 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_limit_of_open_files_is_raised_for_many_visitors() -> None:
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
