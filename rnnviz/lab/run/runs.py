"""Training runs: start, follow, stop, resume, list, keep and delete them.

A run is a process, `python -m rnnviz train`, and a folder in `home()` (see rnnviz.lab.run.folder). The
process outlives its starter, and waits for its turn by itself (rnnviz.lab.run.queue).

    id = start(Description("my-gru", TrainConfig(), corpus="python-docs", watch_text="def main("))
    events, read = tail_log(id)        # and later: new, read = tail_log(id, read); merge(events, new)
    snapshot(id).hidden                # the newest states of the sentence to watch
    stop(id); resume(id)

Only `keep` of an unfinished run imports torch.
"""

import contextlib
import itertools
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from rnnviz.errors import RnnvizError, TrainingError
from rnnviz.lab.fit.process_settings import own_python
from rnnviz.lab.run import event_log, queue
from rnnviz.lab.run.folder import Description as Description
from rnnviz.lab.run.folder import RunFolder, damage_reason, folders, run_folder, writing
from rnnviz.lab.run.folder import home as home
from rnnviz.lab.run.snapshots import Snapshot
from rnnviz.lab.run.snapshots import read as read_snapshot
from rnnviz.networks import engines

State = Literal["waiting", "starting", "running", "stopped", "finished", "diverged", "failed", "died"]

ALIVE: tuple[State, ...] = ("waiting", "starting", "running")
"""States of a run whose process lives."""

DEATH_ERROR = TrainingError(
    "The process ended without a word, as when the system runs out of memory or someone kills it. What was "
    "saved last is kept; resume the run to go on from there."
)


@dataclass(frozen=True)
class Run:
    """A run as it is now.

    state         "stopped" by a request, "diverged" from numbers, "failed" with another error, "died" without
    created       Unix time
    description   run.json: name, config, corpus, title, language, probe (the sentence to watch), minutes, …
    progress      the newest "progress" event
    report        the newest "report" event
    error         the reason for failure or death, else None
    total         characters to read in all, or steps where the run counts those; None if unknown, and while
                  it doesn't train
    """

    id: str
    name: str
    state: State
    created: float
    description: dict[str, Any] = field(repr=False)
    progress: dict[str, Any] | None = field(repr=False)
    report: dict[str, Any] | None = field(repr=False)
    error: RnnvizError | None
    path: Path
    total: int | None

    @property
    def reason(self) -> str:
        """The message of `error`, or ""."""
        return str(self.error or "")

    @property
    def logged(self) -> bool:
        """Whether another program trains the run and logs here."""
        return self.description.get("logged") is True

    @property
    def alive(self) -> bool:
        """Whether the run waits, starts or trains."""
        return self.state in ALIVE


def limit() -> int:
    """The number of runs that train at a time; 1 by default."""
    return queue.limit(home())


def set_limit(n: int) -> None:
    """Let `n` runs train at a time, 1 to 64. Raises ConfigError."""
    queue.set_limit(home(), n)


def start(description: Description) -> str:
    """Queue a new run and start its process. Returns its id: the name, with -2, -3 … if taken.

    Raises TrainingError for no text or a process that can't start, CheckpointError for an unwritable
    folder, TorchMissingError.
    """
    engines.require_torch()
    if not description.corpus and not description.text:
        raise TrainingError("a run needs a text: name a corpus, or give the text itself")
    folder = new_folder(description.name)
    try:
        # Locked before the description makes it a run, and until the process has inherited the lock: no
        # list shows the run as dead in between.
        with folder.take_lock() as lock, writing(home()):
            folder.begin(description)
            _launch(folder, lock)
    except BaseException:
        # After Ctrl-C, too: else a run without a process would be listed.
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    return folder.id


def resume(id: str) -> None:
    """Queue a stopped, failed or dead run again. Raises TrainingError if it is alive, finished or missing,
    TorchMissingError without torch.
    """
    engines.require_torch()
    run = find(id)
    if run.state == "finished":
        raise TrainingError("the run {id!r} is finished; start a new one to train longer", id=id)
    if run.logged:
        raise TrainingError(
            "the run {id!r} was trained by another program, which logged it here; start that program again",
            id=id,
        )
    folder = RunFolder(run.path)
    # Not the usual five seconds: the lock is probably a living run's, and the page waits for the answer.
    with folder.take_lock(wait=1.0) as lock, writing(home()):
        # Under the lock: the new process would take the old request for its own.
        folder.stop.unlink(missing_ok=True)
        _launch(folder, lock)


def stop(id: str) -> None:
    """Ask a run to save and end within 2 seconds; a waiting one leaves the queue. Another program's loop sees
    the request in `stopping` (rnnviz.lab.run.external_run). Returns at once. Raises TrainingError if
    there is no such run, or its folder belongs to another user.
    """
    folder = RunFolder(find(id).path)
    if folder.locked():
        try:
            folder.stop.touch()
        except OSError as error:
            raise TrainingError(
                "the run {id!r} can't be told to stop: {reason}", id=id, reason=damage_reason(error)
            ) from None


def delete(id: str, *, created: float | None = None) -> None:
    """Delete a run and all its files. Raises TrainingError if it is alive or doesn't exist. With `created`,
    also raises it for another run of the same id, which started at another time.
    """
    run = find(id)
    if created is not None and run.created != created:
        raise TrainingError("the run {id!r} is not there any more; another has its name", id=id)
    folder = RunFolder(run.path)
    if folder.locked():
        raise TrainingError("the run {id!r} is training or waiting; stop it before you delete it", id=id)
    hidden = folder.path.with_name(f".{folder.id}.{time.time_ns()}")
    with writing(home()):
        queue.leave_queue(folder)
        folder.path.rename(hidden)  # hidden from every list at once, however long the removal takes
        shutil.rmtree(hidden)


def listed() -> list[Run]:
    """Every run in `home()`, newest first. Reads only the events since the last call."""
    runs = [_run(folder) for folder in folders(home())]
    return sorted(runs, key=lambda run: (-run.created, run.id))


def find(id: str) -> Run:
    """The run with this id. Raises TrainingError if there is none."""
    folder = run_folder(id)
    if folder is None or not os.path.exists(folder.description_file):  # False for too long a name, too
        raise TrainingError("there is no run {id!r} in {home}", id=id[:100], home=home())
    return _run(folder)


def tail_log(id: str, after: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The events from byte `after` on, oldest first, and the byte to go on from; `merge` drops the events
    that a resumed run repeats. Of more than 1,200 of a kind, evenly spaced ones and the newest: events.jsonl
    has every one. Raises TrainingError if there is no such run.
    """
    return event_log.read(RunFolder(find(id).path).events, after)


def merge(events: list[dict[str, Any]], new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the `new` events of a later `tail_log` to `events`, in place, without repeated steps."""
    return event_log.merge_events(events, new)


def snapshots(id: str) -> list[int]:
    """The steps whose snapshots were kept, in order. Raises TrainingError if there is no such run."""
    return RunFolder(find(id).path).kept_steps()


def snapshot(id: str, step: int | None = None) -> Snapshot:
    """The snapshot at a step of `snapshots`, or the newest. Raises TrainingError if missing or damaged."""
    folder = RunFolder(find(id).path)
    return read_snapshot(folder.newest_snapshot if step is None else folder.snapshot_file(step))


def keep(id: str, name: str, folder: str | Path | None = None) -> Path:
    """Copy the run's finished or best model, with its card, into a folder of models. Returns the copy's path.

    An unfinished run's model is scored first, which takes seconds. `folder` None: the first of
    `checkpoint.folders()`. Raises TrainingError for no model or a taken name, CheckpointError for a bad name.
    """
    from rnnviz.lab.run import finished_model

    return finished_model.keep_model(RunFolder(find(id).path), name, folder)


def new_folder(name: str) -> RunFolder:
    """An empty folder for a new run in `home()`: the name, with -2, -3 … if taken. Raises TrainingError where
    it can't be written.
    """
    place = home()
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
        for n in itertools.count(1):
            folder = RunFolder(place / (name if n == 1 else f"{name}-{n}"))
            # mkdir itself decides, so that two starters at one moment get two folders
            with contextlib.suppress(FileExistsError):
                folder.path.mkdir()
                break
    return folder


def _launch(folder: RunFolder, lock: IO[bytes]) -> None:
    """Queue the run and start its process, which inherits the lock, so that the lock is never free."""
    arguments = ["-m", "rnnviz", "train", "--queued", "--run-dir", str(folder.path)]
    session_options: dict[str, Any] = {}
    if os.name == "posix":
        arguments += ["--lock", str(lock.fileno())]
        # A new session: Ctrl-C in the app's terminal doesn't reach the run.
        session_options = {"pass_fds": (lock.fileno(),), "start_new_session": True}
    else:
        session_options["creationflags"] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        lock.close()  # Windows locks aren't inherited: the process takes it anew
    popen_options = own_python(*arguments)
    popen_options["env"]["PYTHONUNBUFFERED"] = "1"
    queue.take_ticket(folder)
    try:
        event_log.append(folder.events, {"event": "queued", "time": time.time()})
        with folder.log.open("ab") as log:
            process = subprocess.Popen(
                **popen_options, **session_options, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
    except OSError as error:
        queue.leave_queue(folder)
        raise TrainingError(
            "the run's process can't be started: {strerror}", strerror=error.strerror or error
        ) from None
    threading.Thread(target=process.wait, daemon=True).start()  # reaps the process, which would stay a zombie


def _run(folder: RunFolder) -> Run:
    failure, values = None, {}
    try:
        values = folder.description().to_json()
    except RnnvizError as error:
        failure = error
    alive = folder.locked()
    newest = event_log.newest_events(folder.events)
    state = _state(newest.state_event, alive, folder.stop.exists())
    if state == "died":
        failure = failure or DEATH_ERROR
    elif state in ("diverged", "failed") and newest.state_event is not None:  # 0.1.0 wrote only the sentence
        logged_error = RnnvizError.from_json(newest.state_event.get("error"))
        failure = failure or logged_error or RnnvizError(str(newest.state_event.get("reason", "")))
    return Run(
        folder.id,
        str(values.get("name", folder.id)),
        state,
        float(values.get("created", 0.0)),
        values,
        newest.progress,
        newest.report,
        failure,
        folder.path,
        (newest.state_event or {}).get("total_characters"),
    )


def _state(state_event: dict[str, Any] | None, alive: bool, asked_to_stop: bool) -> State:
    kind = state_event["event"] if state_event else None
    if kind == "failed" and state_event is not None and state_event.get("cause") == "diverged":
        return "diverged"
    if kind in ("stopped", "finished", "failed"):
        return kind  # type: ignore[no-any-return]
    if not alive:
        # Without a last word: a process that was asked to stop left the file `stop`, one that died did not.
        return "stopped" if asked_to_stop else "died"
    if kind == "queued":
        return "waiting"
    return "running" if kind == "start" else "starting"
