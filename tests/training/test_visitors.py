"""Runs of a hosted app's visitors: apart from others, ended by themselves, gone with their owner."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from rnnviz.errors import TrainingError
from rnnviz.networks.config import TrainConfig
from rnnviz.training import queue, runs, visitors
from rnnviz.training.folder import VISITOR, Description, RunFolder, home
from tests.conftest import TEXT
from tests.training.made_runs import made
from tests.training.processes import events, train, until

TOY = Description("toy", TrainConfig(cell="rnn", hidden_size=8), corpus="machine", owner="ann")


@pytest.fixture
def unstarted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs have no processes."""
    monkeypatch.setattr(runs, "_launch", lambda folder, lock: None)


@pytest.mark.usefixtures("unstarted")
def test_each_has_one_and_nobody_lists_it_among_the_others() -> None:
    id = visitors.start(TOY, most=2)
    run = runs.find(id)
    assert id == f"{VISITOR}toy{visitors.tag('ann')}"
    assert (run.id, run.owner, run.path.parent) == (id, "ann", visitors.place())
    assert not runs.listed()
    assert [one.id for one in visitors.listed()] == [id]
    mine = visitors.of("ann")
    assert mine.id == id
    assert visitors.of("bob") is None
    other = visitors.start(replace(TOY, owner="bob"), most=2)
    assert other == f"{VISITOR}toy{visitors.tag('bob')}"
    runs.delete(id)
    assert visitors.start(TOY, most=2)


@pytest.mark.usefixtures("unstarted")
def test_so_many_wait_and_so_many_more_are_there() -> None:
    one = RunFolder(made("one", None, owner="ann"))
    with one.take_lock():
        with pytest.raises(TrainingError, match="1 runs"):
            visitors.start(replace(TOY, owner="bob"), most=1)
        assert visitors.start(replace(TOY, owner="bob"), most=2)
    for n in range(visitors.OVER - 3):
        made("over", owner=f"cat {n}")
    assert visitors.start(replace(TOY, owner="dan"), most=1)
    with pytest.raises(TrainingError, match=f"{visitors.OVER} runs"):
        visitors.start(replace(TOY, owner="eve"), most=1)


@pytest.mark.usefixtures("unstarted")
def test_their_queue_is_their_own() -> None:
    visitors.start(TOY, most=9, at_a_time=2)
    assert (queue.limit(visitors.place()), runs.limit()) == (2, 1)
    hers, others = RunFolder(made("hers", None, owner="bob")), RunFolder(made("one", None))
    with hers.take_lock(), others.take_lock():
        queue.take_ticket(hers)
        queue.take_ticket(others)
        assert queue.ahead(hers) == queue.ahead(others) == 0


def test_a_run_goes_with_its_owner_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0  # whole seconds are added to it, and compared: no rounding
    monkeypatch.setattr(visitors, "time", SimpleNamespace(monotonic=lambda: now))
    hers, his = made("hers", owner="ann"), made("his", owner="bob")
    made("class")
    (visitors.place() / "broken").mkdir()  # its process was killed before it was written
    visitors.sweep()
    now += visitors.GONE - 1
    visitors.sweep({"ann", "bob"})
    now += visitors.GONE - 1
    assert {run.path for run in visitors.listed()} == {hers, his}
    visitors.sweep({"bob"})
    assert {run.path for run in visitors.listed()} == {hers, his}
    assert not (visitors.place() / "broken").exists()
    now += 1
    visitors.sweep()
    assert [run.path for run in visitors.listed()] == [his]
    assert runs.find("class")
    runs.delete(visitors.listed()[0].id)
    visitors.sweep()
    now += visitors.GONE
    made("his", owner="bob")  # another of this name
    visitors.sweep()
    assert visitors.of("bob")


def test_one_that_still_lives_is_stopped_first() -> None:
    path = made("hers", None, owner="ann")
    with RunFolder(path).take_lock():
        visitors.sweep(gone=0.0)
        assert (path / "stop").exists()
    visitors.sweep(gone=0.0)
    assert not path.exists()


def test_all_go_with_the_process_that_serves_visitors_and_no_others() -> None:
    """Another process, held by its lock alone, is a second opening of the same file."""
    made("class")
    made("left", owner="ann")  # by a process that was killed
    with visitors.served():
        assert not visitors.listed()
        hers = made("hers", owner="bob")
        with visitors.served():
            visitors.clear()  # as at the start of somebody's own app in the same folder
        assert [run.path for run in visitors.listed()] == [hers]
    assert not hers.exists()
    assert [run.id for run in runs.listed()] == ["class"]


def test_one_that_trains_is_stopped_before_it_goes() -> None:
    with visitors.served():
        folder = RunFolder(visitors.place() / "hers")
        folder.path.mkdir(parents=True)
        endless = replace(TOY.config, characters=10**9)
        folder.begin(replace(TOY, config=endless, corpus="", text=TEXT, threads=1, owner=""))
        process = train(folder.path, queued=True, step_seconds=0.05, PROGRESS=0.0)
        until(lambda: events(folder, "progress"))
    assert not folder.path.exists()
    until(lambda: not process.is_alive())


def test_nothing_is_made_where_there_are_none() -> None:
    visitors.sweep({"ann"})
    visitors.clear()
    assert not visitors.listed()
    assert not home().exists()


def test_its_own_process_ends_it() -> None:
    folder = RunFolder(home() / "run")
    folder.path.mkdir(parents=True)
    endless = replace(TOY.config, characters=10**9)
    folder.begin(replace(TOY, config=endless, corpus="", text=TEXT, threads=1, owner="", longest=0.5))
    process = train(folder.path, queued=True, step_seconds=0.05, SAVE=0.05, PROGRESS=0.0)
    until(lambda: not process.is_alive())
    (end,) = events(folder, "stopped")
    assert end["cause"] == "time"
    assert process.exitcode == 130
    assert not events(folder, "finished")
