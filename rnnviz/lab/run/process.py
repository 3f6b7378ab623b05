"""The process of a run: waits for its turn, trains, logs events, and explains a failure.

A process that the app started (`--queued`) inherits the run's lock, waits in the queue and lowers its
priority. torch is imported at its turn, so a waiting run costs next to nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from rnnviz.errors import DivergedError, RnnvizError, TrainingError
from rnnviz.lab.fit.process_settings import tune_process
from rnnviz.lab.run import event_log, queue
from rnnviz.lab.run.folder import Description, RunFolder, home
from rnnviz.networks import checkpoint

# Causes of a failure. torch's errors are recognised by their messages, without importing torch.


Cause = Literal["disk", "memory", "gpu", "diverged", ""]

DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Error numbers of a full disk or quota."""

_MEMORY_MESSAGE = re.compile(
    r"out of memory|not enough memory|can.t allocate memory|cannot allocate memory|bad_alloc"
    r"|unable to allocate",
    re.I,
)
_GPU_MESSAGE = re.compile(
    r"CUDA error|CUDA driver|device-side assert|device.* unavailable|GPU is lost|fallen off the bus"
    r"|CUBLAS_STATUS|CUDNN_STATUS|no CUDA GPUs",
    re.I,
)


def explain_failure(error: BaseException) -> tuple[Cause, RnnvizError | None]:
    """The cause of a failure, which a page may word itself, and an error that says what to do; None for an
    unforeseen error, a bug in the program.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in DISK_FULL_ERRNOS:
            return "disk", TrainingError(
                "The disk is full: {strerror}. What was saved last is kept; free some space and resume the "
                "run to go on from there",
                strerror=cause.strerror,
            )
        if (
            isinstance(cause, MemoryError)
            or type(cause).__name__ == "OutOfMemoryError"
            or (isinstance(cause, OSError) and cause.errno == errno.ENOMEM)
            or (isinstance(cause, RuntimeError) and _MEMORY_MESSAGE.search(str(cause)))
        ):
            return "memory", TrainingError(
                "Memory ran out. What was saved last is kept; resume the run when other programs have "
                "ended, or start a new one with a smaller batch, fewer steps or a smaller hidden size"
            )
        if isinstance(cause, RuntimeError) and _GPU_MESSAGE.search(str(cause)):
            return "gpu", TrainingError(
                "The GPU was lost ({error}). What was saved last is kept; resume the run when the GPU works "
                "again",
                error=str(cause).splitlines()[0][:200],
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, RnnvizError):
        return "diverged" if isinstance(error, DivergedError) else "", error
    if isinstance(error, OSError):
        return "", TrainingError(
            "The system refused: {error}. What was saved last is kept; remove the cause of this error, then "
            "resume the run",
            error=error,
        )
    return "", None


if TYPE_CHECKING:
    from rnnviz.lab.engines.torch_threads import TorchThreads
    from rnnviz.lab.fit.trainer import StepReport, Trainer
    from rnnviz.text.corpora import Corpus

POLL_QUEUE_S = 0.2  # seconds between two polls of the queue
QUEUED_NICENESS = 10
"""The niceness of a queued run, which gives way to others, the page among them; RNNVIZ_NICE in the
environment, 0 to 19, replaces it.
"""

OpenView = Callable[
    ["Trainer"], AbstractContextManager[tuple[Callable[["Trainer"], None], Callable[["StepReport"], None]]]
]
"""Opens a view of a run; yields its callbacks after every step, and after every report."""


def run(
    folder: RunFolder,
    open_view: OpenView,
    *,
    queued: bool,
    lock: int | None = None,
    corpus: Corpus | None = None,
    measuring: Callable[[], None] = lambda: None,
) -> tuple[Path, dict[str, Any]] | None:
    """Train the run in `folder` to its end. Returns the model's path and card; None if stopped and saved.

    queued     wait for a turn, and end within two seconds of a stop request
    lock       the descriptor of the parent's lock
    corpus     the text, if already read
    measuring  called after training, before the model is scored

    Logs a failure, then raises it, as a TrainingError with advice where the cause is known.
    """
    with _open_lock(folder, lock):
        request = StopRequest(folder, before_exit=(lambda: _log_end(folder, "stopped")) if queued else None)
        if lock is None:  # else the app has done this
            folder.stop.unlink(missing_ok=True)
        try:
            with request.listening():
                folder.sweep()
                folder.keep_reserve()
                # The app has taken its run's ticket. A terminal's run in `home()` takes one so that queued
                # runs wait for it, though it waits for none. Elsewhere only `--queued` runs have a queue.
                if lock is None and (queued or folder.path.parent == home()):
                    queue.take_ticket(folder)
                # No scheduler: each waiting process counts the living runs ahead of it.
                while queued and queue.runs_ahead(folder) >= queue.limit(folder.path.parent):
                    time.sleep(POLL_QUEUE_S)
                event_log.append(folder.events, {"event": "starting", "time": time.time()})
                return _train_and_finish(folder, request, open_view, corpus, measuring, queued=queued)
        except (Stopped, KeyboardInterrupt) as stop:
            _log_end(folder, "stopped")
            if isinstance(stop, KeyboardInterrupt):
                raise
            return None
        except Exception as error:
            cause, advice = explain_failure(error)
            shown_error = advice or TrainingError(
                "A mistake in rnnviz: {kind}: {error}; please report it",
                kind=type(error).__name__,
                error=error,
            )
            _log_end(folder, "failed", str(shown_error), error=shown_error.to_json(), cause=cause)
            if advice is None or advice is error:
                raise
            raise advice from error
        finally:
            queue.leave_queue(folder)


def _train_and_finish(
    folder: RunFolder,
    request: StopRequest,
    open_view: OpenView,
    corpus: Corpus | None,
    measuring: Callable[[], None],
    *,
    queued: bool,
) -> tuple[Path, dict[str, Any]]:
    from rnnviz.lab.run import finished_model, unit_search

    description = folder.description()
    if description.ngram:
        checkpoint.find(description.ngram)  # fail now rather than after training
    tune_process()
    corpus = finished_model.read_corpus(folder, description) if corpus is None else corpus
    description, threads = _decide_settings(folder, description, corpus)
    trainer = _train_network(folder, description, request, open_view, corpus, threads, queued=queued)
    event_log.append(folder.events, {"event": "measuring", "time": time.time()})
    measuring()
    naming_seconds = unit_search.SEARCH_S if description.units else 0.0
    path, card = finished_model.finish(
        folder, description, corpus, trainer.seconds, naming_seconds=naming_seconds
    )
    held_out = card.get("held_out", {}).get("perplexity")
    _log_end(folder, "finished", path=str(path), held_out=held_out, step=trainer.step_index)
    return path, card


def _train_network(
    folder: RunFolder,
    description: Description,
    request: StopRequest,
    open_view: OpenView,
    corpus: Corpus,
    threads: TorchThreads,
    *,
    queued: bool,
) -> Trainer:
    """Train to the end. Raises Stopped, with everything saved, on a request."""
    from rnnviz.lab.fit.trainer import Trainer
    from rnnviz.lab.run import training_state, validation_baselines
    from rnnviz.lab.run.journal import Journal

    trainer = Trainer(description.config, corpus, device=description.device, name=description.name)
    trainer.threads, trainer.model.engine = threads, description.engine
    training_state.restore(folder, trainer)
    baselines = validation_baselines.read_baselines(folder) or validation_baselines.measure_baselines(
        trainer.text, trainer.validation, trainer.model.vocabulary
    )
    journal = Journal(folder, trainer, description.watch_text, baselines)
    if queued:
        lower_priority()  # not earlier: the user waits for the first step
    journal.begin(_start_facts(trainer))
    # From here a request ends the loop after its step, and all is saved. Before, there was nothing to save,
    # and it raised Stopped at once.
    request.on_stop = trainer.stop
    with open_view(trainer) as (on_step, on_report):

        def step(trainer: Trainer) -> None:
            journal.step(trainer)
            on_step(trainer)

        try:
            for report in trainer.run(prompt=description.watch_text, on_step=step, early_reports=True):
                journal.report(report)
                on_report(report)
        except DivergedError:
            journal.diverged()
            raise
        request.on_stop = None
        if stopped := request.received:
            journal.save()
            if not folder.best.exists():  # no report has come yet
                checkpoint.save(trainer.model, folder.best)
    if stopped:
        raise Stopped
    return trainer


def _decide_settings(
    folder: RunFolder, description: Description, corpus: Corpus
) -> tuple[Description, TorchThreads]:
    """Decide the settings that depend on the machine, and record those that a resumed run must keep, and the
    text's checksum. The number of threads isn't recorded, unless given: the fastest changes with other
    programs' load.
    """
    from rnnviz.lab.engines import compiled, torch_threads
    from rnnviz.lab.engines.torch_model import pick_device
    from rnnviz.lab.fit import optimiser, speed_trial

    if description.threads is not None:
        torch_threads.fix(description.threads)
    config, engine = description.config, description.engine
    resumed = folder.state.exists()  # a resumed run keeps its precision and engine
    # The folder may come from a machine with numba: the run then goes on with torch's backward pass.
    numba_missing = resumed and engine == "numba" and not compiled.prepared(config.cell)
    fastest = speed_trial.find_fastest_settings(
        config,
        corpus,
        threads=description.threads,
        device=description.device,
        engine="torch" if numba_missing else engine,
    )
    if not resumed:
        config = replace(config, precision=optimiser.precision_on(pick_device(description.device), config))
        engine = fastest.engine
    if description.minutes is not None and not config.characters:
        n = speed_trial.characters_in(description.minutes, config, corpus, fastest, device=description.device)
        config = replace(config, characters=n)
    settled = replace(description, config=config, engine=engine, sha256=corpus.sha256)
    if settled != description:
        folder.write_description(settled)
    return settled, fastest.threads


def _start_facts(trainer: Trainer) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        **trainer.compute_facts(),
        "parameters": trainer.model.parameter_count,
        "vocabulary": trainer.model.vocabulary.size,
        "total_steps": trainer.total_steps,
        "total_characters": trainer.total_characters,
        "train_characters": len(trainer.text),
        "validation_characters": len(trainer.validation),
    }


def _log_end(folder: RunFolder, event: str, reason: str = "", **values: Any) -> None:
    """Log the end of the run, if at all possible."""
    if "path" not in values and folder.best.exists():
        values["path"] = str(folder.best)
    end = {"event": event, "time": time.time(), "reason": reason, **values}
    try:
        event_log.append(folder.events, end)
    except OSError:
        folder.reserve.unlink(missing_ok=True)  # frees room for one line on a full disk
        with contextlib.suppress(OSError):
            event_log.append(folder.events, end)


def _open_lock(folder: RunFolder, lock: int | None) -> IO[bytes]:
    """The run's lock: taken here, or inherited from the app."""
    if lock is None:
        return folder.take_lock()
    try:
        # A child that inherited the descriptor would hold the lock after this process's end.
        os.set_inheritable(lock, False)
        return os.fdopen(lock, "r+b", buffering=0)
    except OSError:
        raise TrainingError("--lock {lock} is for the app's own use; leave it out", lock=lock) from None


def lower_priority() -> None:
    """Give other programs priority on the processor, by QUEUED_NICENESS or RNNVIZ_NICE."""
    setting = os.environ.get("RNNVIZ_NICE", "")
    nice = min(19, int(setting)) if setting.isdecimal() else QUEUED_NICENESS
    if nice and hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(nice)
        # Linux divides the processor among sessions first, and niceness counts only within one. This process
        # leads a session, so the session needs the niceness, too.
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(nice), "ascii")


POLL_STOP_S = 0.1
"""Seconds between two polls of the file."""

STOP_PATIENCE_S = 1.6
"""Seconds from the request until a queued run's process exits, saved or not."""

EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""


class Stopped(BaseException):
    """A request to end the run: SIGTERM, Ctrl-C, or the file `stop` in its folder.

    During training the step finishes and the state is saved first. A process that the app started exits after
    STOP_PATIENCE_S seconds in any case: a step or a disk may be slow, and a user is waiting.

    A BaseException, so that no handler on the way takes it for an error.
    """


class StopRequest:
    """Requests to end one run, heeded inside `listening`. Main thread only. `before_exit` is called from
    another thread when STOP_PATIENCE_S is over, just before a queued run's process exits.

    received  whether a request came
    on_stop   called by a request instead of raising Stopped, if set; it must end the work soon
    """

    def __init__(self, folder: RunFolder, *, before_exit: Callable[[], None] | None = None) -> None:
        self._folder, self._before_exit = folder, before_exit
        self.on_stop: Callable[[], None] | None = None
        self.received = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Heed requests inside."""
        before = {s: signal.signal(s, self._handle) for s in (signal.SIGINT, signal.SIGTERM)}
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self.received = True  # later requests come too late
            # The watcher ends before the old handlers return: its SIGTERM would kill the process then.
            over.set()
            watcher.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _watch(self, over: threading.Event) -> None:
        # In a second thread, because the main thread handles no signal during a long matrix product.
        while not (self.received or self._folder.stop.exists()):
            if over.wait(POLL_STOP_S):
                return
        signal.raise_signal(signal.SIGTERM)  # one path for all requests, in the main thread
        if self._before_exit is not None and not over.wait(STOP_PATIENCE_S):
            with contextlib.suppress(OSError):
                self._before_exit()
            os._exit(EXIT_INTERRUPTED)  # at once: a hung step or disk would delay an orderly exit

    def _handle(self, number: int, frame: object) -> None:
        if self.received:
            if number == signal.SIGINT:  # a second Ctrl-C
                raise KeyboardInterrupt
            return
        self.received = True
        if self.on_stop is None:
            raise Stopped
        self.on_stop()
