"""Jobs of many sessions: how many are at work at a time, who is next, and what they leave."""

import os
import subprocess
import sys
import threading
from functools import partial

import numpy as np
import psutil
import pytest

from rnnviz.networks import threads
from rnnviz.networks.progress import Progress, Share
from rnnviz.ui.jobs import store, worker
from rnnviz.ui.jobs.worker import Job, Jobs, Slots, Work
from tests.support.app import Open
from tests.support.apptest import page_words
from tests.support.jobs import SOON, Endless, job_of
from tests.support.waiting import until


class Held:
    """A job that begins, and ends when it is let go."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log
        self.began, self.go = threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> None:
        self.log.append(self.name)
        self.began.set()
        while not self.go.wait(0.01):
            progress(Share(0.5))


def asked(jobs: Jobs, name: str, log: list[str], size: int = 0) -> tuple[Held, Job]:
    held = Held(name, log)
    return held, jobs.ask(name, name, held, size=size)


@pytest.mark.parametrize("pages", [1, 3])
def test_the_smallest_job_is_next_and_of_equal_ones_the_oldest(pages: int) -> None:
    slots, log = Slots(1), list[str]()
    each = [Jobs(slots=slots) for _ in range(pages)]
    sizes = {"first": 9, "long": 9, "short": 1, "middle": 5, "short too": 1}
    helds = {}
    for n, (name, size) in enumerate(sizes.items()):
        helds[name], _job = asked(each[n % pages], name, log, size)
        assert helds["first"].began.wait(SOON)
    for held in helds.values():
        held.go.set()
    until(lambda: len(log) == len(sizes))
    assert all(jobs.stopped(SOON) for jobs in each)
    assert log == ["first", "short", "short too", "middle", "long"]


def test_no_more_jobs_are_at_work_than_there_are_places_and_the_others_know_theirs() -> None:
    slots, log = Slots(2), list[str]()
    sessions = [Jobs(slots=slots) for n in range(5)]
    all_asked = []
    for n, jobs in enumerate(sessions):
        all_asked.append(asked(jobs, f"job {n}", log))
        until(lambda n=n: len(log) == min(n + 1, 2))  # type: ignore[misc]
    assert [job.state for _held, job in all_asked] == ["running"] * 2 + ["waiting"] * 3
    assert [slots.jobs_ahead(job) for _held, job in all_asked] == [None, None, 0, 1, 2]
    all_asked[1][0].go.set()
    assert all_asked[2][0].began.wait(SOON)
    until(lambda: slots.jobs_ahead(all_asked[4][1]) == 1)
    assert all_asked[3][1].seconds == 0.0  # what waits takes no time
    for held, _job in all_asked:
        held.go.set()
    for n, jobs in enumerate(sessions):
        assert jobs.wait([f"job {n}"], SOON)
    assert log == [f"job {n}" for n in range(5)]


def test_job_behind_a_cancelled_one_begins_if_it_needs_no_slot() -> None:
    slots, log = Slots(1), list[str]()
    others, mine = Jobs(slots=slots), Jobs(slots=slots)
    first, _ = asked(others, "first", log)
    asked(mine, "waits", log)
    download = Held("download", log)
    mine.ask("download", "", download, kind="download")
    assert not download.began.is_set()
    mine.cancel(["waits"])
    assert download.began.wait(SOON)
    first.go.set()
    download.go.set()
    assert mine.stopped(SOON)


@pytest.mark.parametrize(
    ("what", "end"),
    [
        ("it fails", ValueError("boom")),
        ("a library panics", SystemExit("no memory")),
        ("the system has no thread", None),
        ("it is cancelled", None),
    ],
)
def test_a_place_is_given_back_whatever_ends_its_job(
    what: str, end: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(progress: Progress) -> None:
        progress(Share(0.1))
        while end is None:
            progress(Share(0.2))
        raise end

    def starts(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    slots = Slots(1)
    with monkeypatch.context() as patch:
        if what == "the system has no thread":
            patch.setattr(threading.Thread, "start", starts)
        job = (jobs := Jobs(slots=slots)).ask("job", "", ends)
    if what == "it is cancelled":
        jobs.cancel(["job"])
    until(lambda: job.state == ("cancelled" if what == "it is cancelled" else "failed"))
    held, _ = asked(Jobs(slots=slots), "next", [])
    assert held.began.wait(SOON)
    held.go.set()


def test_jobs_hear_how_many_compute_beside_them() -> None:
    heard, log = list[int](), list[str]()
    slots = Slots(2, on_change=heard.append)
    helds = [asked(Jobs(slots=slots), f"job {n}", log) for n in range(3)]
    until(lambda: heard == [1, 2])
    for held, _job in helds:
        held.go.set()
    until(lambda: heard[-1] == 0)
    assert max(heard) == 2
    assert worker.shared()._on_change is threads.share


@pytest.mark.parametrize("how", ["cancel", "forget", "leave"])
def test_cancelled_waiter_frees_its_queue_slot(how: str) -> None:
    there = threading.Event()
    there.set()
    slots, log = Slots(1), list[str]()
    busy, fickle = Jobs(slots=slots), Jobs(there.is_set, slots=slots)
    patient = Jobs(slots=slots)
    first = asked(busy, "first", log)[0]
    assert first.began.wait(SOON)
    _, unwanted = asked(fickle, "unwanted", log)
    _last, job = asked(patient, "last", log)
    assert [slots.jobs_ahead(unwanted), slots.jobs_ahead(job)] == [0, 1]
    if how == "leave":
        there.clear()
    else:
        getattr(fickle, how)(["unwanted"])
        assert not fickle.busy()
    assert slots.jobs_ahead(job) == 0
    assert unwanted.state == ("left" if how == "leave" else "cancelled")
    first.go.set()
    _last.go.set()
    assert patient.wait(["last"], SOON)
    assert log == ["first", "last"]


def test_a_trial_waits_for_another_trial_but_keeps_nobody_else_waiting_and_a_download_waits_for_none() -> (
    None
):
    slots, log = Slots(3, exclusive=("trial",)), list[str]()
    sessions = [Jobs(slots=slots) for n in range(6)]
    helds = [Held(name, log) for name in ("trial 1", "trial 2", "work 1", "work 2", "work 3", "download")]
    for jobs, held in zip(sessions, helds, strict=True):
        jobs.ask(held.name, held.name, held, kind=held.name.split()[0])  # type: ignore[arg-type]
        if held.name not in ("trial 2", "work 3"):
            assert held.began.wait(SOON)
    assert log == ["trial 1", "work 1", "work 2", "download"]
    for held in helds:
        held.go.set()
    for jobs, held in zip(sessions, helds, strict=True):
        assert jobs.wait([held.name], SOON)
    assert sorted(log) == sorted(held.name for held in helds)


def test_the_page_says_how_many_come_first_and_can_be_told_to_give_up(open_app: Open) -> None:
    others = []
    for _ in range(worker.shared().count):  # each taken by a job of another session
        endless = Endless()
        others.append(Jobs(slots=worker.shared()))
        others[-1].ask("theirs", "theirs", endless)
        assert endless.started.wait(SOON)
    newcomer = Jobs(slots=worker.shared())
    job = newcomer.ask("another", "another", job_of(1, []))
    assert worker.shared().jobs_ahead(job) == 0
    app = open_app("perplexity", model="tiny-gru")
    [bar] = app.get("progress")
    assert "waiting for its turn" in bar.proto.text
    assert "1 before yours" in bar.proto.text
    newcomer.cancel(["another"])
    until(lambda: "yours is next" in app.run().get("progress")[0].proto.text)
    next(b for b in app.button if b.label == "Cancel").click().run()
    app.run()
    assert "cancelled" in page_words(app)
    for jobs in others:
        jobs.cancel(["theirs"])
        assert jobs.stopped(SOON)
    next(b for b in app.button if b.label == "Start again").click().run()
    until(lambda: bool(app.run().metric))


def grown(job: Work) -> float:
    """How much larger this process is after a job than before, in MB."""
    process, jobs = psutil.Process(), Jobs()
    before = process.memory_info().rss
    jobs.ask("job", "job", job)
    assert jobs.wait(["job"], 60)
    assert jobs.stopped(SOON)
    return (process.memory_info().rss - before) / 1e6


@pytest.mark.skipif(store._glibc("malloc_trim") is None, reason="this C library keeps what was freed")
def test_memory_freed_by_a_job_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def job(progress: Progress) -> None:
        progress(Share(0.0))
        many = [np.ones(5_000) for _ in range(5_000)]  # 200 MB in pieces too small to be mapped one by one
        kept.append(np.ones(5_000))  # which would keep all below it
        del many
        progress(Share(1.0))

    assert grown(job) < 60
    with monkeypatch.context() as patched:
        patched.setattr("rnnviz.ui.jobs.worker.store.give_back_memory", lambda: None)
        assert grown(partial(job)) > 120  # so it is this that gives it back
    store.give_back_memory()


@pytest.mark.skipif(store._glibc("mallopt") is None, reason="this C library has its own way")
def test_a_large_array_goes_back_to_the_system_when_it_is_freed() -> None:
    code = """if True:
        import sys, numpy, psutil
        from rnnviz.ui.jobs import store
        if sys.argv[1:]:
            store.keep_little_memory()
        for _ in range(3):  # glibc learns from what it frees
            numpy.ones(2 << 20)
        kept = []
        many = []
        for _ in range(20):
            many.append(numpy.ones(1 << 19))
            kept.append(numpy.ones(1 << 15))  # which would keep all below it
        del many
        print(psutil.Process().memory_info().rss)
    """
    little, much = (
        int(
            subprocess.run(
                [sys.executable, "-c", code, *word], capture_output=True, encoding="utf-8", check=True
            ).stdout
        )
        for word in (["little"], [])
    )
    assert little < much - 60e6


def test_slots_are_fewer_than_cores() -> None:
    assert 1 <= worker.shared().count <= max(1, (os.cpu_count() or 1) // 2)
