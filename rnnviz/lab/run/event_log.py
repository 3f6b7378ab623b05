"""events.jsonl: the events of a run, one JSON object a line, append-only.

A kill can cut a line short: the next writer ends that line first, and readers skip it. A resumed run starts
again at its last saved step, `resumed_at` of its "start"; `merge_events` drops the events reported beyond
that step.
"""

import json
import math
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rnnviz.text import files

Event = dict[str, Any]

STEP_EVENTS = ("progress", "report", "passed", "diverged")
"""Events that a resumed run repeats."""

STATE_EVENTS = ("queued", "starting", "start", "stopped", "finished", "failed")
"""Events that set a run's state."""

PROGRESS_S = 0.5
"""Seconds between two progress events."""

FIRST_BLOCK_BYTES = 16 * 1024
"""Bytes read first from the end of a log; each further try reads four times as many."""

MAX_LOG_BYTES = 256 * 2**20
"""Bytes read of a log, at most: 300 a second for ten days. A file may claim any length."""

MAX_LINE_BYTES = 2**20
"""Bytes of a line, at most; a line with a long sample has some thousand."""

MAX_LINES_KIND, NEWEST_LINES = 1200, 60
"""Of more than MAX_LINES_KIND lines of a kind, evenly spaced ones are read, at most as many, and the newest
NEWEST_LINES, half a minute's. A night has 60,000, a chart 600 points, and a line takes 50 µs to parse.
"""

MAX_LINES = 10**6
"""Lines taken by one call of `read`, at most: ten days of progress."""

NAMES_0_1_0 = {"held_out_perplexity": "validation_perplexity"}
"""Names in reports of version 0.1.0, which called the validation text held out."""

NUMBERS = {
    *("time", "step", "characters", "seconds", "eta", "resumed_at", "parameters", "vocabulary", "held_out"),
    *("train_perplexity", "validation_perplexity", "characters_per_second"),
    *("gradient_norm", "clipped", "clip", "learning_rate", "uniform", "unigram", "ngram", "ngram_order"),
    *("guess", "total_steps", "total_characters", "train_characters", "validation_characters"),
}
"""Fields that are finite numbers or null in a sound event."""


def append(path: Path, event: Event) -> None:
    """Append one event; NaN and infinities become null. Raises OSError."""
    line = json.dumps(_finite_json(event), allow_nan=False).encode() + b"\n"
    with path.open("a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line  # the last writer was killed mid-line
        file.write(line)


def read(path: Path, after: int = 0, max_bytes: int | None = None) -> tuple[list[Event], int]:
    """The events after the first `after` bytes, and the byte to go on from. No file, or a place beyond
    `max_bytes` (None: MAX_LOG_BYTES), gives no events. An unfinished last line is left for the next call; a
    damaged line before it is skipped, and so are most of very many of a kind.
    """
    end = MAX_LOG_BYTES if max_bytes is None else max_bytes
    lines = list[bytes]()
    try:
        with files.opened(path) as file:
            file.seek(after)
            while after < end and len(lines) < MAX_LINES and (line := file.readline(MAX_LINE_BYTES)):
                if line.endswith(b"\n"):
                    lines.append(line)
                # An unfinished last line waits for the next call. A piece of a line that is too long is
                # passed over.
                elif len(line) < MAX_LINE_BYTES:
                    break
                after += len(line)
    except OSError:
        pass
    return merge_events([], _parse_lines(_thin_lines(lines))), after


def _thin_lines(lines: list[bytes]) -> Iterable[bytes]:
    """Of more than MAX_LINES_KIND lines of progress, reports or the rest: every second, fourth, eighth …
    and the newest NEWEST_LINES. The kinds are told apart without parsing a line.
    """
    kinds = defaultdict[tuple[bool, bool], list[int]](list)
    for n, line in enumerate(lines):
        kinds[b'"progress"' in line[:60], b'"report"' in line[:60]].append(n)
    chosen = {
        n
        for numbers in kinds.values()
        for n in numbers[:: 1 << ((len(numbers) - 1) // MAX_LINES_KIND).bit_length()]
    }
    chosen.update(n for numbers in kinds.values() for n in numbers[-NEWEST_LINES:])
    return [lines[n] for n in sorted(chosen)]


# A worked example: a run logs start, progress 1, 2, 3, saves its state at step 2, and is killed at 3. The
# resumed run logs start (resumed_at 2), progress 3, 4. `merge_events` keeps start, 1, 2, start, 3, 4: the
# first progress 3 is gone, as its step was made again.
def merge_events(events: list[Event], new: Iterable[Event]) -> list[Event]:
    """Add `new` to `events` in place, dropping the events that a resumed run repeats."""
    remaining, step = list[Event](), math.inf  # from the newest back, as only later starts drop an event
    for event in reversed([*events, *new]):
        if event["event"] not in STEP_EVENTS or (event.get("step") or 0) <= step:
            remaining.append(event)
        if event["event"] == "start" and isinstance(resumed := event.get("resumed_at"), int):
            step = min(step, resumed)
    events[:] = reversed(remaining)
    return events


@dataclass(frozen=True)
class NewestEvents:
    """The newest event of each kind that a list of runs shows."""

    state_event: Event | None = None
    progress: Event | None = None
    report: Event | None = None
    read_bytes: int = field(default=0, repr=False)  # so far
    inode: int = field(default=0, repr=False)  # another one means a new log


_newest_by_path: dict[Path, NewestEvents] = {}
_newest_lock = threading.Lock()  # the app's sessions list runs in several threads


def newest_events(path: Path) -> NewestEvents:
    """The newest events of a log, reading only the bytes added since this process's last call."""
    try:
        about = path.stat()
    except OSError:
        return NewestEvents()
    with _newest_lock:
        entry = _newest_by_path.get(path)
        # A file that was replaced, cut, or has grown very much is read from its end again.
        if (
            entry is None
            or entry.inode != about.st_ino
            or not 0 <= about.st_size - entry.read_bytes <= MAX_LOG_BYTES
        ):
            entry = _read_from_end(path, about)
        elif entry.read_bytes < about.st_size:
            entry = _read_new_events(entry, path)
        # Bounds the memory where very many runs come and go; each entry is quick to make again.
        if len(_newest_by_path) > 2000:
            _newest_by_path.clear()
        _newest_by_path[path] = entry
        return entry


def _read_from_end(path: Path, about: os.stat_result) -> NewestEvents:
    """Read backwards in growing blocks until each kind was met, which for most runs is soon."""
    length = FIRST_BLOCK_BYTES
    while True:
        begin = max(0, about.st_size - length)  # perhaps mid-line: a partial line is skipped
        entry = _read_new_events(NewestEvents(inode=about.st_ino, read_bytes=begin), path)
        if begin == 0 or length >= MAX_LOG_BYTES or (entry.state_event and entry.progress and entry.report):
            return entry
        length *= 4


def _read_new_events(entry: NewestEvents, path: Path) -> NewestEvents:
    new, read_bytes = read(path, entry.read_bytes, sys.maxsize)
    entry_events = [event for event in (entry.state_event, entry.progress, entry.report) if event is not None]
    kinds = dict.fromkeys(STATE_EVENTS, "state")
    last = {kinds.get(event["event"], event["event"]): event for event in merge_events(entry_events, new)}
    return NewestEvents(last.get("state"), last.get("progress"), last.get("report"), read_bytes, entry.inode)


def _parse_lines(lines: Iterable[bytes]) -> Iterable[Event]:
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            event = {NAMES_0_1_0.get(name, name): value for name, value in event.items()}
            if is_sound(event):
                yield event


def is_sound(event: object) -> bool:
    """Whether `event` is an event whose fields have their types."""
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return False
    # The bound also refuses NaN and infinity, which json reads, and integers too large for a float.
    numbers = all(
        value is None or (type(value) in (int, float) and abs(value) < 1e300)
        for value in (event[name] for name in NUMBERS & event.keys())
    )
    return numbers and all(isinstance(event.get(name, ""), str) for name in ("path", "sample", "reason"))


def _finite_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite_json(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
