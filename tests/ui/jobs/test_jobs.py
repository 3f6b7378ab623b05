"""Work in the background: order, cancelling, leaving; and the store of its results."""

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


def test_jobs_are_done_in_order_and_leave_no_thread() -> None:
    jobs, done = Jobs(), list[object]()
    for n in range(5):
        jobs.ask(n, str(n), job_of(n, done))
    assert jobs.wait(range(5), SOON)
    assert done == [0, 1, 2, 3, 4]
    assert jobs.wait_until_idle(SOON)
    job = jobs.get(3)
    assert (job.state, job.result) == ("done", 3)


def test_second_ask_returns_the_first_job_at_work_and_done() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    first = jobs.ask("a", "a", gated)
    assert gated.started.wait(SOON)
    assert jobs.ask("a", "a", gated) is first
    jobs.cancel(["a"])
    finished = jobs.ask("b", "b", job_of("once", done))
    assert jobs.wait(["b"], SOON)
    assert jobs.ask("b", "b", job_of("twice", done)) is finished
    assert jobs.wait_until_idle(SOON)
    assert (finished.state, done) == ("done", ["once"])
    again = jobs.ask("b", "b", job_of("twice", done), restart_states=("done",))
    assert jobs.wait(["b"], SOON)
    assert (again.result, done) == ("twice", ["once", "twice"])


def test_cancelled_job_ends_at_once_and_its_work_stops() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    jobs.ask("long", "long", gated)
    jobs.ask("next", "next", job_of(1, done))
    assert gated.started.wait(SOON)
    jobs.cancel(["long"])
    assert not jobs.busy(["long"])
    assert gated.closed.wait(SOON)
    assert jobs.wait(["next"], SOON)  # the others go on
    assert done == [1]


def test_job_cancelled_while_it_waits_never_starts_and_drops_its_work() -> None:
    jobs, gated, done = Jobs(), GatedJob(), list[object]()
    jobs.ask("a", "a", gated)
    assert gated.started.wait(SOON)
    waiting = jobs.ask("b", "b", job_of("b", done))
    jobs.cancel(["a", "b"])
    assert jobs.wait_until_idle(SOON)
    assert (waiting.work, done) == (None, [])
    # A rerun of the page does not start it again.
    assert jobs.ask("b", "b", job_of("b", done)).state == "cancelled"
    again = jobs.ask("b", "b", job_of("b", done), restart_states=END_STATES)
    assert jobs.wait(["b"], SOON)
    assert (again.state, again.work, done) == ("done", None, ["b"])


def test_jobs_end_once_the_reader_has_left() -> None:
    present = threading.Event()
    present.set()
    jobs, gated, done = Jobs(present.is_set), GatedJob(), list[object]()
    job = jobs.ask("a", "a", gated)
    waiting = jobs.ask("b", "b", job_of(1, done))
    assert gated.started.wait(SOON)
    present.clear()
    assert gated.closed.wait(SOON)
    assert jobs.wait_until_idle(SOON)
    assert (job.state, waiting.state, done) == ("reader_gone", "reader_gone", [])
    present.set()  # back again: the page asks anew
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


def test_failed_job_keeps_its_error_and_only_unexpected_errors_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failing(error: Exception) -> Work:
        def work(progress: Progress) -> None:
            raise error

        return work

    jobs = Jobs()
    with caplog.at_level(logging.ERROR, "rnnviz"):
        jobs.ask("expected", "x", failing(TextError("it is empty")))
        jobs.ask("unexpected", "y", failing(RuntimeError("boom")))
        assert jobs.wait(["expected", "unexpected"], SOON)
    failed = [jobs.get(key) for key in ("expected", "unexpected")]
    assert [(job.state, str(job.error)) for job in failed if job] == [
        ("failed", "it is empty"),
        ("failed", "boom"),
    ]
    assert "boom" in caplog.text
    assert "it is empty" not in caplog.text


def make_folder(store: Store, size: int) -> Path:
    folder = store.folder()
    folder.mkdir()
    (folder / "x").write_bytes(bytes(size))
    return folder


def test_full_store_evicts_the_least_recently_used() -> None:
    store = Store(max_results=3)
    for n in range(3):
        store.put(Key(str(n)), f"r{n}")
    assert store.get(Key("0")) == "r0"
    store.put(Key("3"), "r3")
    assert [store.get(Key(str(n))) for n in range(4)] == ["r0", None, "r2", "r3"]


def test_full_disk_evicts_folders_and_results_outlast_them() -> None:
    store = Store(max_disk_bytes=250)
    folders = [make_folder(store, 100) for _ in range(4)]
    for n, folder in enumerate(folders):
        store.put(Key(str(n)), n, folder)
    assert store.bytes == 200
    assert [f.is_dir() for f in folders] == [False, False, True, True]
    huge = make_folder(store, 1000)
    store.put(Key("huge"), 4, huge)  # larger than all of it: the newest stays, alone
    assert [huge.is_dir(), *(f.is_dir() for f in folders)] == [True, False, False, False, False]
    assert [store.get(Key(key)) for key in ("0", "1", "2", "3", "huge")] == [0, 1, 2, 3, 4]
    store.forget(Key("huge"))
    assert store.get(Key("huge")) is None
    assert not huge.exists()


def test_unfinished_folder_counts_and_the_oldest_make_room_for_it() -> None:
    store = Store(max_disk_bytes=250)
    folders = [make_folder(store, 100) for _ in range(2)]
    for n, folder in enumerate(folders):
        store.put(Key(str(n)), n, folder)
    store.make_room()
    assert [f.is_dir() for f in folders] == [True, True]
    growing = make_folder(store, 120)
    assert (store.bytes, store.unfinished_bytes) == (200, 120)
    store.make_room()
    assert [f.is_dir() for f in (*folders, growing)] == [False, True, True]
    store.put(Key("grown"), 2, growing)
    assert (store.unfinished_bytes, store.bytes, [store.get(Key(str(n))) for n in (0, 1)]) == (0, 220, [0, 1])


def test_first_result_of_a_key_stays_while_it_has_its_folder() -> None:
    store = Store(max_disk_bytes=25)
    first, second, other, third = (make_folder(store, size) for size in (10, 20, 20, 5))
    assert store.put(Key("a"), 1, first) == 1
    assert store.put(Key("a"), 2, second) == 1
    assert (store.get(Key("a")), store.bytes, first.exists(), second.exists()) == (1, 10, True, False)
    store.put(Key("b"), 3, other)  # takes the room of the first
    assert not first.exists()
    assert store.put(Key("a"), 4, third) == 4
    assert (store.get(Key("a")), store.bytes) == (4, 25)


@pytest.mark.parametrize(("seconds", "has_time"), [(1.0, False), (4.0, True)])
def test_time_left_of_a_long_job_appears_soon(seconds: float, has_time: bool) -> None:
    """Of an hour's job a hundredth would be half a minute."""
    job = Job("k", "a", None, Jobs(), share=Share(0.004, 4000), began=time.monotonic() - seconds)
    assert ("left" in pending.progress_words(job, 0)) is has_time
