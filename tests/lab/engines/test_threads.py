"""Numbers of threads: which are tried, and when. Seconds are made up here."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from rnnviz import ModelConfig
from rnnviz.lab.engines import torch_model, torch_threads
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.lab.engines.torch_threads import TorchThreads, worth_trying
from rnnviz.networks import batched_scoring, threads
from rnnviz.networks.batched_scoring import MIN_SPLIT_CHARS, NumpyEngine
from rnnviz.networks.threads import Threads
from rnnviz.text.vocabulary import Vocabulary

Speed = Callable[[int], float]


def idle(count: int) -> float:
    """Characters a second: every thread helps."""
    return 10_000.0 * count**0.8


def crowded(count: int) -> float:
    """One of four cores is another's, and threads wait for one another."""
    return {1: 10_000.0, 2: 16_000.0}.get(count, 300.0)


def full(count: int) -> float:
    """Others have all cores."""
    return 5_000.0 / count**3


def work(numbers: Threads, speed: Speed, seconds: float) -> list[int]:
    """Pieces of 500 characters for so long; the number of threads of each."""
    used, until = [], seconds
    while until > 0:
        used.append(numbers.now)
        took = 500 / speed(numbers.now)
        until -= took
        numbers.took(500, took)
    return used


@pytest.mark.parametrize(
    ("speed", "best", "tried"),
    [(idle, 7, [1, 2, 4, 7]), (crowded, 2, [1, 2, 4]), (full, 1, [1, 2])],
    ids=["idle", "crowded", "full"],
)
def test_the_fastest_number_is_found_and_hopeless_ones_are_not_tried(
    speed: Speed, best: int, tried: list[int]
) -> None:
    numbers = TorchThreads([1, 2, 4, 7])
    used = work(numbers, speed, 8)
    assert list(dict.fromkeys(used)) == tried
    assert not numbers.trying
    assert (numbers.now, numbers.speed) == (best, pytest.approx(speed(best)))
    assert used.count(best) > 0.7 * len(used)


def test_threads_make_way_and_come_back() -> None:
    numbers = TorchThreads([1, 2, 3], speeds={1: idle(1), 2: idle(2), 3: idle(3)})
    assert set(work(numbers, idle, 5)) == {3}
    work(numbers, crowded, 6)  # of which a piece takes 1.7 on three threads, and one more when they are tried
    assert numbers.now == 2
    work(numbers, full, 6)
    assert numbers.now == 1
    work(numbers, idle, threads.MAX_PAUSE_S + 3)
    assert numbers.now == 3


def test_retrials_cost_under_2_percent() -> None:
    numbers = TorchThreads([1, 2, 3])
    used = work(numbers, idle, 600)
    assert set(used) == {1, 2, 3}
    assert used.count(3) > 0.98 * len(used)


def test_alike_is_as_good_with_fewer() -> None:
    assert TorchThreads([1, 2, 4], speeds={1: 98.0, 2: 100.0, 4: 99.0}).now == 1
    assert TorchThreads([1, 2, 4], speeds={1: 90.0, 2: 98.0, 4: 100.0}).now == 2


def test_single_count_is_never_changed() -> None:
    numbers = TorchThreads([5])
    assert set(work(numbers, idle, 5) + work(numbers, full, 300)) == {5}


def test_a_piece_is_done_on_that_many_and_leaves_torchs_number_alone() -> None:
    numbers = TorchThreads([2, 3])
    torch.set_num_threads(1)
    for size in (None, 10):
        with numbers.piece(size):
            assert torch.get_num_threads() == numbers.now == 2
        assert torch.get_num_threads() == 1
    with pytest.raises(KeyError), numbers.piece(10):
        raise KeyError
    assert torch.get_num_threads() == 1


def test_several_jobs_take_one_thread_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timed = list[int]()
    monkeypatch.setattr(Threads, "took", lambda self, size, seconds: timed.append(self.now))
    numbers, fixed = TorchThreads([1, 2, 3], speeds={3: idle(3)}), TorchThreads([2])

    def used(threads: Threads) -> int:
        with threads.piece(10):
            return torch.get_num_threads()

    try:
        threads.share(2)
        assert [used(numbers), used(fixed)] == [1, 2]
        assert timed == [2]  # what one thread reads says nothing of three
        with numbers.piece(10):
            threads.share(1)  # the other has ended
        assert timed == [2]
        assert used(numbers) == 3
        assert timed == [2, 3]
    finally:
        threads.share(1)


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process where nobody has said how many threads there are to be."""
    monkeypatch.setattr(threads, "fixed", 0)
    monkeypatch.setattr(torch_threads, "_thread_count", 0)


@pytest.mark.usefixtures("untold")
def test_a_piece_in_one_thread_does_not_bind_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 4)

    def elsewhere() -> tuple[list[int], int]:
        tried = worth_trying()
        with TorchThreads([1]).piece():
            pass
        return tried, torch.get_num_threads()

    torch.set_num_threads(3)
    with (
        TorchThreads([1]).piece(),
        ThreadPoolExecutor(1) as pool,
    ):  # a new thread would take 1
        assert pool.submit(elsewhere).result() == ([1, 2, 3], 3)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == ([1, 2, 3], 3)
    assert torch.get_num_threads() == 3


@pytest.mark.usefixtures("untold")
def test_all_cores_are_tried_and_what_torch_was_told_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 8
    monkeypatch.setattr(torch, "get_num_threads", lambda: count)
    for cores, expected in (
        (1, [1]),
        (2, [1, 2]),
        (4, [1, 2, 3, 4]),
        (8, [1, 2, 4, 7, 8]),
        (64, [1, 2, 4, 7, 8]),  # torch was told to use 8
    ):
        monkeypatch.setattr(threads, "cores", lambda cores=cores: cores)
        assert worth_trying() == expected
    assert worth_trying("cuda") == [8]
    count = 1
    assert worth_trying() == [1]


@pytest.mark.slow
def test_the_app_and_what_it_starts_leave_a_core_to_others() -> None:
    query = (
        "from rnnviz.networks.threads import cores; "
        "from rnnviz.lab.engines.torch_threads import worth_trying; print(cores(), worth_trying()[-1])"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    for package, spared in (("rnnviz.ui.serving.process_threads", 1), ("rnnviz.ui", 0)):
        code = f"import {package}; {query}"
        out = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=True
        ).stdout
        available, highest = map(int, out.split())
        assert highest == max(1, available - spared)


@pytest.mark.usefixtures("untold")
def test_a_fixed_number_holds_for_everything() -> None:
    torch_threads.fix(3)
    assert worth_trying() == threads.worth_trying_alone() == [torch.get_num_threads()] == [3]


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_a_long_text_costs_the_same_on_any_number_of_threads(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary(tuple("abcdefgh"))
    model = CharModel(ModelConfig(cell, vocabulary.size, 64), vocabulary).requires_grad_(False)  # type: ignore[arg-type]
    ids = np.random.default_rng(0).integers(1, 8, MIN_SPLIT_CHARS + 3000)
    torch.set_num_threads(1)
    expected = model.scorer().advance(ids)
    monkeypatch.setattr(threads, "TRY_S", 0.0)
    monkeypatch.setattr(threads, "HOPELESS_SHARE", 0.0)
    used, rows, states = [], [], NumpyEngine.states
    monkeypatch.setattr(batched_scoring, "MIN_THREAD_ROWS", 2)
    monkeypatch.setattr(NumpyEngine, "states", lambda *a: rows.append(len(a[1])) or states(*a))
    took = Threads.took
    monkeypatch.setattr(Threads, "took", lambda self, *a: used.append(self.now) or took(self, *a))
    monkeypatch.setattr(batched_scoring, "worth_trying_alone", lambda: [1, 2, 3])
    monkeypatch.setattr(torch_model, "worth_trying", lambda device: [1, 2, 3])
    np.testing.assert_allclose(model.scorer().advance(ids), expected, rtol=1e-5, atol=1e-6)
    assert set(used) == {1, 2, 3}
    assert cell == "lstm" or {3, 4, 8} <= set(rows)  # they share the rows of a batch
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("start", ["rnnviz.ui.serving.process_threads", "rnnviz.__main__"])
@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, "30000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "PASSIVE"}, None)],
)
def test_waiting_threads_make_way_unless_told_otherwise(
    start: str, environment: dict[str, str], expected: str | None
) -> None:
    program = (
        "import atexit, os, sys; sys.argv = ['rnnviz', '--help']; "
        "atexit.register(lambda: print('spin', os.environ.get('GOMP_SPINCOUNT'), 'torch' in sys.modules)); "
        f"import {start}"
    )
    plain = {k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**plain, **environment},
    )
    assert f"spin {expected} False" in done.stdout, done.stderr
