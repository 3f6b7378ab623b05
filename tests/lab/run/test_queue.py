"""The queue: in the order of the starts, whoever is killed, however many may train."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import psutil
import pytest

from rnnviz.errors import TrainingError
from rnnviz.lab.run import queue, runs
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.networks.config import TrainConfig
from tests.support.processes import kill, pid_of
from tests.support.waiting import until

TOY = TrainConfig(cell="rnn", hidden_size=4, embedding_size=0, epochs=10, batch=1, steps=8)


def start(name: str = "toy") -> str:
    return runs.start(Description(name, TOY, corpus="machine"))


def state(id: str) -> str:
    return runs.find(id).state


def test_runs_wait_and_take_turns_in_the_order_of_their_starts_past_a_killed_one(
    busy: IO[bytes],
) -> None:
    first, killed, third = (start() for _ in range(3))
    assert [state(id) for id in (first, killed, third)] == ["waiting"] * 3
    assert [queue.runs_ahead(RunFolder(runs.find(id).path)) for id in (first, killed, third)] == [1, 2, 3]
    kill(RunFolder(runs.find(killed).path))
    until(lambda: state(killed) == "died")
    assert "without a word" in runs.find(killed).reason
    folder = RunFolder(runs.find(third).path)
    assert queue.runs_ahead(folder) == 2  # and the dead one's ticket is gone
    queue.take_ticket(folder)
    assert queue.runs_ahead(folder) == 2  # a run that was killed and resumed doesn't wait for itself
    busy.close()
    until(lambda: state(first) != "waiting")
    assert state(third) == "waiting"
    runs.stop(first)
    until(lambda: state(first) == "stopped")
    until(lambda: state(third) != "waiting")
    runs.stop(third)
    until(lambda: state(third) == "stopped")


def test_as_many_train_as_the_limit_says(busy: IO[bytes]) -> None:
    assert runs.limit() == 1
    first, second = start(), start()
    runs.set_limit(2)
    until(lambda: state(first) != "waiting")
    assert state(second) == "waiting"


def test_a_waiting_run_leaves_the_queue_at_once_and_can_be_resumed(busy: IO[bytes]) -> None:
    id = start()
    runs.stop(id)  # perhaps before it can take a signal
    until(lambda: not runs.find(id).alive, within=60)
    assert state(id) == "stopped"
    runs.resume(id)
    assert state(id) == "waiting"
    with pytest.raises(TrainingError, match="already under way"):
        runs.resume(id)
    runs.stop(id)
    until(lambda: state(id) == "stopped")
    runs.delete(id)
    assert id not in [run.id for run in runs.listed()]


def test_starts_at_the_same_instant_are_different_runs_with_different_places(
    busy: IO[bytes], home: Path
) -> None:
    together = threading.Barrier(4)

    def starter(_: int) -> str:
        together.wait()
        return start()

    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(starter, range(4)))
    assert sorted(ids) == ["toy", "toy-2", "toy-3", "toy-4"]
    assert {state(id) for id in ids} == {"waiting"}
    assert sorted(queue.runs_ahead(RunFolder(home / id)) for id in ids) == [1, 2, 3, 4]


@pytest.mark.skipif(not hasattr(psutil.Process, "memory_maps"), reason="a Mac lists no process's libraries")
def test_a_waiting_run_loads_no_torch(busy: IO[bytes]) -> None:
    process = psutil.Process(pid_of(RunFolder(runs.find(start()).path)))

    def loaded(name: str) -> bool:
        return any(name in region.path for region in process.memory_maps())

    until(lambda: loaded("numpy"))
    assert not loaded("torch_cpu")


def test_a_clock_that_is_set_back_lets_nobody_past(
    busy: IO[bytes], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = 3600 * 10**9
    monkeypatch.setattr(queue.time, "time_ns", lambda: 10**18 - hour)
    first = start()
    assert (state(first), queue.runs_ahead(RunFolder(home / first))) == ("waiting", 1)
    monkeypatch.setattr(queue.time, "time_ns", lambda: 0)
    second = start()
    places = [queue.runs_ahead(RunFolder(home / name)) for name in ("busy", first, second)]
    assert places == [0, 1, 2], "in the order of their starts"
