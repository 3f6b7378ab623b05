"""Jobs of many sessions: how many are at work at a time, which is next, and what they leave."""

import os
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest

from rnnviz.networks import threads
from rnnviz.networks.progress import Progress, Share
from rnnviz.ui.jobs import store, worker
from rnnviz.ui.jobs.worker import Job, Jobs, Kind, Slots, Work
from tests.support.app import Open
from tests.support.jobs import SOON, GatedJob, job_of
from tests.support.waiting import until


def ask_gated(
    jobs: Jobs,
    name: str,
    log: list[str],
    gate: threading.Event | None = None,
    *,
    size: int = 0,
    kind: Kind = "work",
) -> tuple[GatedJob, Job]:
    work = GatedJob(name, log, gate)
    return work, jobs.ask(name, name, work, size=size, kind=kind)


@pytest.mark.parametrize("pages", [1, 3])
def test_smallest_job_is_next_then_the_oldest(pages: int) -> None:
    slots, log, gate = Slots(1), list[str](), threading.Event()
    sessions = [Jobs(slots=slots) for _ in range(pages)]
    sizes = {"first": 9, "long": 9, "short": 1, "middle": 5, "short too": 1}
    for n, (name, size) in enumerate(sizes.items()):
        ask_gated(sessions[n % pages], name, log, gate, size=size)
        until(lambda: log == ["first"])
    gate.set()
    until(lambda: len(log) == len(sizes))
    assert log == ["first", "short", "short too", "middle", "long"]


def test_slots_bound_jobs_at_work_and_waiting_jobs_know_their_place() -> None:
    counts, log, gate = list[int](), list[str](), threading.Event()
    slots = Slots(2, on_change=counts.append)
    works, jobs = list[GatedJob](), list[Job]()
    for n in range(5):
        work, job = ask_gated(Jobs(slots=slots), f"job {n}", log, None if n == 1 else gate)
        works.append(work)
        jobs.append(job)
        until(lambda n=n: len(log) == min(n + 1, 2))  # type: ignore[misc]
    assert [job.state for job in jobs] == ["running"] * 2 + ["waiting"] * 3
    assert [slots.jobs_ahead(job) for job in jobs] == [None, None, 0, 1, 2]
    assert counts == [1, 2]
    works[1].gate.set()
    assert works[2].started.wait(SOON)
    until(lambda: slots.jobs_ahead(jobs[4]) == 1)
    assert jobs[3].seconds == 0.0  # waiting takes no time
    gate.set()
    assert all(job.page_jobs.wait([job.key], SOON) for job in jobs)
    assert log == [f"job {n}" for n in range(5)]
    until(lambda: counts[-1] == 0)
    assert max(counts) == 2


def test_download_behind_a_cancelled_job_begins_without_a_slot() -> None:
    slots, log, gate = Slots(1), list[str](), threading.Event()
    jobs = Jobs(slots=slots)
    ask_gated(Jobs(slots=slots), "first", log, gate)
    ask_gated(jobs, "waits", log, gate)
    download, _job = ask_gated(jobs, "download", log, gate, kind="download")
    assert not download.started.is_set()
    jobs.cancel(["waits"])
    assert download.started.wait(SOON)
    gate.set()
    assert jobs.wait_until_idle(SOON)


@pytest.mark.parametrize("end", [ValueError("it fails"), SystemExit("a library panics"), None])
def test_slot_is_freed_whatever_ends_its_job(
    end: BaseException | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(progress: Progress) -> None:
        assert end is not None
        raise end

    def refuse_start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    counts = list[int]()
    slots = Slots(1, on_change=counts.append)
    with monkeypatch.context() as patch:
        if end is None:
            patch.setattr(threading.Thread, "start", refuse_start)
        job = Jobs(slots=slots).ask("job", "", work)
    until(lambda: job.state == "failed")
    until(lambda: counts == [1, 0])
    following, _job = ask_gated(Jobs(slots=slots), "next", [])
    assert following.started.wait(SOON)
    following.gate.set()


@pytest.mark.parametrize("end", ["cancel", "forget", "leave"])
def test_cancelled_waiter_frees_its_queue_slot(end: str) -> None:
    present, gate = threading.Event(), threading.Event()
    present.set()
    slots, log = Slots(1), list[str]()
    fickle, patient = Jobs(present.is_set, slots=slots), Jobs(slots=slots)
    first, _job = ask_gated(Jobs(slots=slots), "first", log, gate)
    assert first.started.wait(SOON)
    _work, unwanted = ask_gated(fickle, "unwanted", log, gate)
    _work, last = ask_gated(patient, "last", log, gate)
    assert [slots.jobs_ahead(unwanted), slots.jobs_ahead(last)] == [0, 1]
    if end == "leave":
        present.clear()
    else:
        getattr(fickle, end)(["unwanted"])
    assert slots.jobs_ahead(last) == 0
    assert unwanted.state == ("reader_gone" if end == "leave" else "cancelled")
    gate.set()
    assert patient.wait(["last"], SOON)
    assert log == ["first", "last"]


def test_trials_run_one_at_a_time_and_downloads_need_no_slot() -> None:
    slots, log, gate = Slots(3, exclusive=("trial",)), list[str](), threading.Event()
    kinds: dict[str, Kind] = {
        "trial 1": "trial",
        "trial 2": "trial",
        "work 1": "work",
        "work 2": "work",
        "work 3": "work",
        "download": "download",
    }
    jobs = []
    for name, kind in kinds.items():
        work, job = ask_gated(Jobs(slots=slots), name, log, gate, kind=kind)
        jobs.append(job)
        assert name in ("trial 2", "work 3") or work.started.wait(SOON)
    assert log == ["trial 1", "work 1", "work 2", "download"]
    gate.set()
    assert all(job.page_jobs.wait([job.key], SOON) for job in jobs)


def test_page_says_how_many_jobs_come_first(open_app: Open) -> None:
    slots, gate = worker.shared(), threading.Event()
    neighbours = [Jobs(slots=slots) for _ in range(slots.count)]
    for jobs in neighbours:  # each takes a slot for a job of another session
        work, _job = ask_gated(jobs, "another's", [], gate)
        assert work.started.wait(SOON)
    newcomer = Jobs(slots=slots)
    newcomer.ask("another", "another", job_of(1, []))
    app = open_app("perplexity", model="tiny-gru")
    [bar] = app.get("progress")
    assert "waiting for its turn" in bar.proto.text
    assert "1 before yours" in bar.proto.text
    newcomer.cancel(["another"])
    until(lambda: "yours is next" in app.run().get("progress")[0].proto.text)
    gate.set()
    until(lambda: bool(app.run().metric))


def test_server_has_half_its_cores_as_slots_and_shares_threads() -> None:
    assert 1 <= worker.shared().count <= max(1, (os.cpu_count() or 1) // 2)
    assert worker.shared()._on_change is threads.share


def grown_mb(job: Work) -> float:
    """How much larger this process is after a job than before."""
    process, jobs = psutil.Process(), Jobs()
    before = process.memory_info().rss
    jobs.ask("job", "job", job)
    assert jobs.wait(["job"], 60)
    assert jobs.wait_until_idle(SOON)
    return (process.memory_info().rss - before) / 1e6


@pytest.mark.skipif(store._glibc("malloc_trim") is None, reason="this C library keeps what was freed")
def test_memory_freed_by_a_job_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    barriers = []

    def job(progress: Progress) -> None:
        progress(Share(0.0))
        arrays = [np.ones(5_000) for _ in range(5_000)]  # 200 MB in pieces too small to be mapped one by one
        barriers.append(np.ones(5_000))  # which would keep all below it
        del arrays
        progress(Share(1.0))

    assert grown_mb(job) < 60
    with monkeypatch.context() as patch:
        patch.setattr("rnnviz.ui.jobs.worker.store.give_back_memory", lambda: None)
        assert grown_mb(job) > 120  # so that call gives it back
    store.give_back_memory()


@pytest.mark.skipif(store._glibc("mallopt") is None, reason="this C library has its own way")
def test_large_array_goes_back_to_the_system_when_it_is_freed() -> None:
    code = """if True:
        import sys, numpy, psutil
        from rnnviz.ui.jobs import store
        if sys.argv[1:]:
            store.keep_little_memory()
        for _ in range(3):  # glibc learns from what it frees
            numpy.ones(2 << 20)
        barriers, arrays = [], []
        for _ in range(20):
            arrays.append(numpy.ones(1 << 19))
            barriers.append(numpy.ones(1 << 15))  # which would keep all below it
        del arrays
        print(psutil.Process().memory_info().rss)
    """
    limited, default = (
        int(
            subprocess.run(
                [sys.executable, "-c", code, *options], capture_output=True, encoding="utf-8", check=True
            ).stdout
        )
        for options in (["little"], [])
    )
    assert limited < default - 60e6
