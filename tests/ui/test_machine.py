"""Places that several processes of the app share."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rnnviz.ui.jobs import slots
from rnnviz.ui.jobs.machine import Machine
from rnnviz.ui.jobs.slots import Slots, Turn

ROOT = Path(__file__).resolve().parents[2]
PLACES = 2

HOLD = f"""
import sys
from pathlib import Path
from rnnviz.ui.jobs.machine import Machine
from rnnviz.ui.jobs.slots import Slots, Turn

machine = Machine(Path(sys.argv[1]), {PLACES}, ("trial",))
with Slots({PLACES}, ("trial",), machine).taking(Turn(0, sys.argv[2]), print):
    print("has one", flush=True)
    sys.stdin.read()
"""


class Wait(Exception):
    """There is no place yet."""


def wait() -> None:
    raise Wait


def places(home: Path) -> Slots:
    """Those of another process."""
    return Slots(PLACES, ("trial",), Machine(home, PLACES, ("trial",)))


def holding(home: Path, kind: str) -> subprocess.Popen[str]:
    """A process that has a place."""
    command = [sys.executable, "-c", HOLD, str(home), kind]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "has one\n"
    return process


def test_a_killed_process_gives_its_place_back(tmp_path: Path) -> None:
    trial = holding(tmp_path, "trial")
    here = places(tmp_path)
    with pytest.raises(Wait), here.taking(Turn("a", "trial"), wait):
        pass
    with (
        here.taking(Turn("a", "work"), wait),
        pytest.raises(Wait),
        places(tmp_path).taking(Turn("b", "work"), wait),
    ):
        pass
    trial.kill()
    trial.communicate()
    with here.taking(Turn("a", "trial"), wait), places(tmp_path).taking(Turn("b", "work"), wait):
        pass


def test_a_place_that_is_given_back_goes_to_who_waits_in_another_process(tmp_path: Path) -> None:
    first, second = places(tmp_path), places(tmp_path)
    waits, has = threading.Event(), threading.Event()

    def take() -> None:
        with second.taking(Turn("b"), waits.set):
            has.set()

    thread = threading.Thread(target=take)
    with first.taking(Turn("a"), wait), first.taking(Turn("a"), wait):
        thread.start()
        assert waits.wait(60)
        assert not has.is_set()
    assert has.wait(60)
    thread.join()


def test_only_a_hosted_app_shares_its_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path))
    with slots.shared.__wrapped__().taking(Turn("a"), wait):
        assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("RNNVIZ_HOSTED", "1")
    with slots.shared.__wrapped__().taking(Turn("a"), wait):
        assert [path.name for path in (tmp_path / ".places").iterdir()] == ["0"]


def test_where_the_folder_cannot_be_written_to_nobody_waits_and_one_sentence_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "file" / "runs"
    home.parent.touch()
    here = places(home)
    for kind in ("trial", "work"):
        with here.taking(Turn("a", kind), wait):
            pass
    (said,) = caplog.records
    assert f"{home} can't be written to: Not a directory" in said.getMessage()
    assert said.exc_info is None


def test_what_fails_in_its_place_is_no_fault_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), places(tmp_path).taking(Turn("a", "work"), wait):
        (tmp_path / "gone").read_text()
