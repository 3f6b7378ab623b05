"""Work in the background: order, cancelling, leaving; and what is kept of it."""

import logging
import threading
import time
from pathlib import Path

import pytest

from rnnviz.errors import TextError
from rnnviz.networks.progress import Progress, Share
from rnnviz.ui.jobs import pending
from rnnviz.ui.jobs.store import Key, Store
from rnnviz.ui.jobs.worker import END_STATES, Job, Jobs, Work
from tests.support.jobs import SOON, GatedJob, job_of


def test_jobs_are_done_in_order_and_the_worker_then_ends() -> None:
    jobs, done = Jobs(), list[object]()
    for n in range(5):
        jobs.ask(n, str(n), job_of(n, done))
    assert jobs.wait(range(5), SOON)
    assert done == [0, 1, 2, 3, 4]
    assert jobs.stopped(SOON)
    job = jobs.get(3)
    assert (job.state, job.result) == ("done", 3)
    jobs.ask(9, "later", job_of(9, done))  # and starts again
    assert jobs.wait([9], SOON)
    assert done[-1] == 9


def test_asking_twice_is_asking_once_at_work_and_when_it_is_done() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    first = jobs.ask("a", "a", gated)
    assert gated.started.wait(SOON)
    assert jobs.ask("a", "a", gated) is first
    jobs.cancel(["a"])
    finished = jobs.ask("b", "b", job_of("once", done))
    assert jobs.wait(["b"], SOON)
    assert jobs.ask("b", "b", job_of("twice", done)) is finished
    assert jobs.stopped(SOON)
    assert (finished.state, done) == ("done", ["once"])
    again = jobs.ask("b", "b", job_of("twice", done), again=("done",))
    assert jobs.wait(["b"], SOON)
    assert (again.result, done) == ("twice", ["once", "twice"])


def test_cancelling_is_seen_at_once_and_the_work_stops() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    jobs.ask("long", "long", gated)
    jobs.ask("next", "next", job_of(1, done))
    assert gated.started.wait(SOON)
    jobs.cancel(["long"])
    assert not jobs.busy(["long"])
    assert gated.closed.wait(SOON)
    assert jobs.wait(["next"], SOON)  # the others go on
    assert done == [1]
    jobs.forget(["long"])
    assert jobs.ask("long", "long", job_of(2, done)).state != "cancelled"
    assert jobs.wait(["long"], SOON)


def test_a_job_cancelled_while_it_waits_never_starts_and_lets_go_of_what_it_was_to_read() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    jobs.ask("a", "a", gated)
    assert gated.started.wait(SOON)
    waiting = jobs.ask("b", "b", job_of("b", done))
    jobs.cancel(["a", "b"])
    assert jobs.stopped(SOON)
    assert (waiting.work, done) == (None, [])
    # A rerun of the page does not start it again.
    assert jobs.ask("b", "b", job_of("b", done)).state == "cancelled"
    again = jobs.ask("b", "b", job_of("b", done), again=END_STATES)
    assert jobs.wait(["b"], SOON)
    assert (again.state, again.work, done) == ("done", None, ["b"])


def test_jobs_end_once_the_reader_has_left() -> None:
    there = threading.Event()
    there.set()
    jobs, gated, done = Jobs(there.is_set), GatedJob(), list[object]()
    job = jobs.ask("a", "a", gated)
    waiting = jobs.ask("b", "b", job_of(1, done))
    assert gated.started.wait(SOON)
    there.clear()
    assert gated.closed.wait(SOON)
    assert jobs.stopped(SOON)
    assert (job.state, waiting.state, done) == ("left", "left", [])
    there.set()  # back again: the page asks anew
    jobs.ask("b", "b", job_of(1, done))
    assert jobs.wait(["b"], SOON)
    assert done == [1]


def test_unwatched_job_is_dropped() -> None:
    jobs, gated = Jobs(), GatedJob()
    jobs.ask("a", "a", gated)
    assert gated.started.wait(SOON)
    jobs.retain(["b"])
    assert gated.closed.wait(SOON)
    assert jobs.get("a") is None


def test_a_failure_is_kept_and_only_the_unexpected_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def failing(error: Exception) -> Work:
        def work(progress: Progress) -> None:
            progress(Share(0.1))
            raise error

        return work

    jobs = Jobs()
    with caplog.at_level(logging.ERROR, "rnnviz"):
        jobs.ask("expected", "x", failing(TextError("it is empty")))
        jobs.ask("unexpected", "y", failing(RuntimeError("boom")))
        assert jobs.wait(["expected", "unexpected"], SOON)
    states = [jobs.get(k) for k in ("expected", "unexpected")]
    assert [s.state for s in states if s] == ["failed", "failed"]
    assert [str(s.error) for s in states if s] == ["it is empty", "boom"]
    assert "boom" in caplog.text
    assert "it is empty" not in caplog.text


def filled(store: Store, size: int) -> Path:
    folder = store.folder()
    folder.mkdir()
    (folder / "x").write_bytes(bytes(size))
    return folder


def test_the_store_is_bounded_in_number_and_the_latest_seen_stay() -> None:
    store = Store(max_results=3)
    for n in range(3):
        store.put(Key(str(n)), f"r{n}")
    assert store.get(Key("0")) == "r0"
    store.put(Key("3"), "r3")
    assert [store.get(Key(str(n))) for n in range(4)] == ["r0", None, "r2", "r3"]


def test_the_store_is_bounded_on_disk_and_a_result_outlasts_its_folder() -> None:
    store = Store(max_disk_bytes=250)
    folders = [filled(store, 100) for _ in range(4)]
    for n, folder in enumerate(folders):
        store.put(Key(str(n)), n, folder)
    assert store.bytes == 200
    assert [f.is_dir() for f in folders] == [False, False, True, True]
    huge = filled(store, 1000)
    store.put(Key("huge"), 4, huge)  # larger than all of it: the newest stays, alone
    assert [huge.is_dir(), *(f.is_dir() for f in folders)] == [True, False, False, False, False]
    assert [store.get(Key(key)) for key in ("0", "1", "2", "3", "huge")] == [0, 1, 2, 3, 4]
    store.forget(Key("huge"))
    assert store.get(Key("huge")) is None
    assert not huge.exists()


def test_unfinished_result_counts_and_the_oldest_make_room_for_it() -> None:
    store = Store(max_disk_bytes=250)
    folders = [filled(store, 100) for _ in range(2)]
    for n, folder in enumerate(folders):
        store.put(Key(str(n)), n, folder)
    store.make_room()
    assert [f.is_dir() for f in folders] == [True, True]
    growing = filled(store, 120)
    assert (store.bytes, store.unfinished_bytes) == (200, 120)
    store.make_room()
    assert [f.is_dir() for f in (*folders, growing)] == [False, True, True]
    (growing / "y").write_bytes(bytes(200))
    store.make_room()
    assert [f.is_dir() for f in (*folders, growing)] == [False, True, True]  # the newest stays
    store.put(Key("grown"), 2, growing)
    assert not folders[1].is_dir()
    assert (store.unfinished_bytes, store.bytes, [store.get(Key(str(n))) for n in (0, 1)]) == (0, 320, [0, 1])


def test_a_result_that_another_has_put_stays_as_others_may_be_reading_its_folder() -> None:
    store = Store(max_disk_bytes=25)
    first, second, other, third = (filled(store, size) for size in (10, 20, 20, 5))
    assert store.put(Key("a"), 1, first) == 1
    assert store.put(Key("a"), 2, second) == 1
    assert (store.get(Key("a")), store.bytes, first.exists(), second.exists()) == (1, 10, True, False)
    store.put(Key("b"), 3, other)  # takes the room of the first
    assert not first.exists()
    assert store.put(Key("a"), 4, third) == 4
    assert (store.get(Key("a")), store.bytes) == (4, 25)


@pytest.mark.parametrize(("seconds", "left"), [(1.0, False), (4.0, True)])
def test_a_long_jobs_time_left_is_said_soon(seconds: float, left: bool) -> None:
    """Of an hour's job a hundredth would be half a minute."""
    job = Job("k", "a", None, Jobs(), share=Share(0.004, 4000), began=time.monotonic() - seconds)
    assert ("left" in pending.progress_words(job, 0)) is left
