"""The queue: in the order of the starts, whoever is killed, however many may train."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import TrainingError
from rnnviz.networks.config import TrainConfig
from rnnviz.runs import api as runs
from rnnviz.runs import queue
from rnnviz.runs.folder import Description, RunFolder
from tests.runs.processes import pid_of, until

TOY = TrainConfig(cell="rnn", hidden_size=4, embedding_size=0, epochs=10, batch=1, steps=8)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("RNNVIZ_NICE", "0")
    yield tmp_path / "runs"
    for run in runs.listed():
        runs.stop(run.id)
    until(lambda: not any(RunFolder(run.path).locked() for run in runs.listed()))


@pytest.fixture
def busy(home: Path) -> Iterator[threading.Event]:
    """A run that trains for as long as the event isn't set: the test itself holds its lock."""
    folder = RunFolder(home / "busy")
    folder.path.mkdir(parents=True)
    done = threading.Event()
    lock = folder.take_lock()
    queue.take_ticket(folder)

    def hold() -> None:
        done.wait()
        lock.close()  # as when a process is killed: it tidies nothing up

    thread = threading.Thread(target=hold)
    thread.start()
    yield done
    done.set()
    thread.join()


def start(name: str = "toy") -> str:
    return runs.start(Description(name, TOY, corpus="machine"))


def state(id: str) -> str:
    return runs.find(id).state


def test_runs_wait_and_take_turns_in_the_order_of_their_starts_past_a_killed_one(
    busy: threading.Event,
) -> None:
    first, killed, third = (start() for _ in range(3))
    assert [state(id) for id in (first, killed, third)] == ["waiting"] * 3
    assert [queue.ahead(RunFolder(runs.find(id).path)) for id in (first, killed, third)] == [1, 2, 3]
    os.kill(pid_of(RunFolder(runs.find(killed).path)), signal.SIGKILL)
    until(lambda: state(killed) == "died")
    assert "without a word" in runs.find(killed).reason
    assert queue.ahead(RunFolder(runs.find(third).path)) == 2  # and the dead one's ticket is gone
    busy.set()
    until(lambda: state(first) != "waiting")
    assert state(third) == "waiting"
    runs.stop(first)
    until(lambda: state(first) == "stopped")
    until(lambda: state(third) != "waiting")
    runs.stop(third)
    until(lambda: state(third) == "stopped")


def test_as_many_train_as_the_limit_says(busy: threading.Event) -> None:
    assert runs.limit() == 1
    first, second = start(), start()
    runs.set_limit(2)
    until(lambda: state(first) != "waiting")
    assert state(second) == "waiting"
    runs.set_limit(1)
    assert runs.limit() == 1
    assert state(second) == "waiting"


def test_a_waiting_run_leaves_the_queue_at_once_and_can_be_resumed(busy: threading.Event) -> None:
    id = start()
    runs.stop(id)  # perhaps before it can take a signal
    until(lambda: not runs.find(id).alive, within=60)
    assert state(id) == "stopped"
    assert runs.find(id).reason == ""
    runs.resume(id)
    assert state(id) == "waiting"
    with pytest.raises(TrainingError, match="going on already"):
        runs.resume(id)
    with pytest.raises(TrainingError, match="is alive; stop it"):
        runs.delete(id)
    runs.stop(id)
    until(lambda: state(id) == "stopped")
    runs.delete(id)
    assert id not in [run.id for run in runs.listed()]
    with pytest.raises(TrainingError, match="there is no run"):
        runs.follow(id)


STARTER = """
import sys
from rnnviz.runs import api as runs
from rnnviz.networks import threads
from rnnviz.networks.config import TrainConfig
toy = TrainConfig(cell="rnn", hidden_size=4, embedding_size=0, epochs=10, batch=1, steps=8)
sys.stdin.readline()
print(runs.start(runs.Description("toy", toy, corpus="machine")))
"""


def test_starts_at_the_same_instant_are_different_runs_with_different_places(
    busy: threading.Event, home: Path
) -> None:
    root = Path(__file__).resolve().parents[2]
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for starter in starters:
        assert starter.stdin is not None
        starter.stdin.write("go\n")
        starter.stdin.flush()
    ids = [starter.communicate()[0].strip() for starter in starters]
    assert sorted(ids) == ["toy", "toy-2", "toy-3", "toy-4"]
    assert {state(id) for id in ids} == {"waiting"}  # the process that started them has ended meanwhile
    places = [queue.ahead(RunFolder(home / id)) for id in ids]
    assert sorted(places) == [1, 2, 3, 4]


def test_a_waiting_run_loads_no_torch(busy: threading.Event) -> None:
    folder = RunFolder(runs.find(start()).path)
    pid = pid_of(folder)
    maps = Path(f"/proc/{pid}/maps")
    if not maps.exists():
        pytest.skip("no /proc to look into")
    until(lambda: "numpy" in maps.read_text())
    assert "libtorch" not in maps.read_text()
    assert os.getpriority(os.PRIO_PROCESS, pid) >= 0


OTHER = """
import json, sys
from rnnviz.errors import RnnvizError
from rnnviz.networks.config import TrainConfig
from rnnviz.runs import api as runs
toy = TrainConfig(cell="rnn", hidden_size=4, embedding_size=0, epochs=10, batch=1, steps=8)
for line in sys.stdin:
    try:
        said = eval(line)
    except RnnvizError as error:
        said = str(error)
    print(json.dumps(said), flush=True)
"""


class Other:
    """Another process of the app, that shares the folder of runs."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parents[2]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER], cwd=root, stdin=pipe, stdout=pipe, text=True
        )

    def __call__(self, expression: str) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(expression + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def state(self, id: str) -> str:
        return str(self(f"runs.find({id!r}).state"))


@pytest.fixture
def other(home: Path) -> Iterator[Other]:
    found = Other()
    yield found
    found.process.kill()
    found.process.communicate()


def test_two_processes_of_the_app_share_their_runs(busy: threading.Event, other: Other) -> None:
    runs.set_limit(2)
    assert other("runs.limit()") == 2
    assert other("runs.set_limit(1)") is None
    assert runs.limit() == 1
    id = other("runs.start(runs.Description('toy', toy, corpus='machine'))")
    assert (state(id), start()) == ("waiting", "toy-2")
    assert other.state("toy-2") == "waiting"
    assert "going on already" in other("runs.resume('toy-2')")
    assert "stop it before you delete" in other("runs.delete('toy-2')")
    assert other("runs.stop('toy-2')") is None  # whose process is this one's child
    until(lambda: state("toy-2") == "stopped")
    other.process.kill()  # the run that it started goes on
    other.process.communicate()
    assert state(id) == "waiting"
    runs.stop(id)
    until(lambda: state(id) == "stopped")
