"""Runs in processes of their own, for tests: started at once where a parent can load torch for them."""

import multiprocessing
import os
import sys
import time
from contextlib import nullcontext, suppress
from functools import cache
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import other_processor
import psutil

from rnnviz.lab.run import event_log
from rnnviz.lab.run.folder import RunFolder
from tests.support.waiting import until


def events(folder: RunFolder, kind: str | None = None) -> list[dict[str, Any]]:
    """What a run told, all of it or of one kind."""
    return [e for e in event_log.read(folder.events)[0] if kind in (None, e["event"])]


def progressed(folder: RunFolder, after: int = 0) -> bool:
    """Whether a run told where it is, after so many bytes of its events."""
    return any(e["event"] == "progress" for e in event_log.read(folder.events, after)[0])


def pid_of(folder: RunFolder) -> int:
    """The process of a run that this one started, as soon as it has a command line of its own."""

    def child_pids() -> list[int]:
        pids = []
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):  # another that has just ended
                if str(folder.path) in child.cmdline():
                    pids.append(child.pid)
        return pids

    return until(child_pids)[-1]  # on Windows the Python of a virtual environment starts the real one


def kill(folder: RunFolder) -> None:
    """End the process of a run that this one started, without a word."""
    psutil.Process(pid_of(folder)).kill()


@cache
def _parent() -> BaseContext:
    can_fork = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if can_fork else "spawn")
    context.set_forkserver_preload(
        ["tests.support.processes", "torch", "rnnviz.lab.fit.trainer", "rnnviz.lab.run.journal"]
    )
    return context


def train(folder: Path, *, queued: bool = False, **settings: Any) -> BaseProcess:
    """Train the run in `folder` in a new process. See `_train` for the settings."""
    process = _parent().Process(target=_train, args=(folder, queued, settings, other_processor.active))
    process.start()
    return process


def train_to_its_end(folder: RunFolder, *, status: int = 0, **settings: Any) -> None:
    """Train a run in a new process, which ends with this exit status."""
    process = train(folder.path, **settings)
    process.join()
    assert process.exitcode == status, folder.log.read_text("utf-8")


def _train(folder: Path, queued: bool, settings: dict[str, Any], other: bool) -> None:
    """`file_limit`: bytes of the largest file; `step_seconds`: how long a step takes; else constants of
    rnnviz.lab.run.journal, such as SAVE_S, or MAX_TIME_SHARE of snapshots.

    other  whether products are another processor's: the environment is that of the fork server's start, in an
           earlier test
    """
    import torch

    from rnnviz.lab.fit import trainer
    from rnnviz.lab.run import journal, snapshots
    from rnnviz.lab.run import process as run_process

    other_processor.active = other
    torch.set_num_threads(1)
    sys.stderr = sys.stdout = open(folder / "log.txt", "a", encoding="utf-8")  # noqa: SIM115 - the process ends with it
    if limit := settings.pop("file_limit", None):
        import resource  # Windows has none

        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if seconds := settings.pop("step_seconds", None):
        step = trainer.Trainer._paced_step

        def slow(self: trainer.Trainer) -> Any:  # not those of the speed trial
            if self.step_index > 3:
                time.sleep(seconds)
            return step(self)

        trainer.Trainer._paced_step = slow  # type: ignore[method-assign]
    for name, value in settings.items():
        module = snapshots if name == "MAX_TIME_SHARE" else journal
        assert hasattr(module, name), f"a constant of another name: {name}"
        setattr(module, name, value)
    run_process.lower_priority = lambda: None
    try:
        no_report = nullcontext((lambda _: None, lambda _: None))
        finished = run_process.run(RunFolder(folder), lambda _: no_report, queued=queued)
    except Exception as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0 if finished else 130)
