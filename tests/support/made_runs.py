"""Folders of runs as the training process leaves them, made in a moment."""

import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rnnviz.lab.run import event_log, queue
from rnnviz.lab.run.folder import Description, RunFolder, home
from rnnviz.lab.run.snapshots import take_snapshot, to_bytes
from rnnviz.networks.checkpoint import save
from rnnviz.networks.config import TrainConfig
from rnnviz.scoring.tracer import trace
from rnnviz.text import files
from tests.support.models import network, tiny, tiny_card

WATCHED = "The Time Traveller"

START = {
    "total_steps": 30, "total_characters": 3000, "train_characters": 900, "validation_characters": 50,
    "uniform": 30, "unigram": 18.0, "ngram": 4.5, "ngram_order": 6, "resumed_at": 0, "parameters": 1000,
    "vocabulary": 30,
}  # fmt: skip


def make_run(
    name: str,
    end: str | None = "finished",
    *,
    created: float = 0.0,
    watch_text: str = WATCHED,
    text: str = "",
    **end_fields: Any,
) -> Path:
    """A run of the tiny LSTM that has had 30 steps, on a corpus or a `text`, and ended so; None: it died."""
    path = home() / name
    path.mkdir(parents=True)
    folder = RunFolder(path)
    config = TrainConfig(cell="lstm", hidden_size=12, embedding_size=6, characters=3000)
    folder.begin(
        Description(
            name,
            config,
            corpus="" if text else "python-docs",
            text=text or None,
            title="Tiny <text>",
            watch_text=watch_text,
            created=created or time.time(),
        )
    )
    model = tiny("lstm", card=tiny_card())

    def append_event(event: str, **fields: Any) -> None:
        event_log.append(folder.events, {"event": event, **fields})

    append_event("queued", time=1.0)
    append_event("start", **START)
    folder.snapshots.mkdir()
    for step in (0, 1, 3, 10, 30):
        shot = take_snapshot(trace(model, watch_text), step=step, characters=100 * step)
        (folder.snapshots / f"{step:09d}.safetensors").write_bytes(to_bytes(shot, half=True))
    folder.newest_snapshot.write_bytes(to_bytes(shot))
    for step in (5, 15, 30):
        append_event(
            "progress", step=step, characters=100 * step, seconds=step / 2, train_perplexity=40 / step + 3,
            characters_per_second=2e2, gradient_norm=2.0, clipped=0.5, learning_rate=1e-3, clip=1.0, eta=1.0,
        )  # fmt: skip
    append_event(
        "report",
        step=30,
        characters=3000,
        seconds=15.0,
        train_perplexity=4.5,
        validation_perplexity=4.2,
        sample="<b>time",
    )
    append_event("passed", step=30, characters=3000, seconds=15.0)
    save(model, folder.best)
    if end == "finished":
        folder.finished.mkdir()
        end_fields["path"] = str(save(model, folder.finished / f"{name}.safetensors"))
    if end is not None:
        append_event(end, time=2.0, reason="", **end_fields)
    return path


@contextlib.contextmanager
def training(name: str) -> Iterator[RunFolder]:
    """A run that looks alive: it holds its lock, says ten times a second where it is, and can be stopped."""
    path = make_run(name, None)
    folder = RunFolder(path)
    lock = folder.take_lock()
    queue.take_ticket(folder)
    over = threading.Event()
    event_log.append(folder.events, {"event": "queued"})
    event_log.append(folder.events, {"event": "start", **START, "total_characters": 10**6})
    first = tiny("lstm")
    later = {name: 1.5 * weights for name, weights in first.tensors.items()}
    models = [first, network(first.config, first.vocabulary, later)]

    def go_on() -> None:
        step = 31
        while not over.wait(0.1) and not folder.stop.exists():
            fields = {
                "step": step,
                "characters": 100 * step,
                "seconds": step / 2,
                "train_perplexity": 40 / step + 3,
            }
            event_log.append(folder.events, {"event": "progress", **fields, "gradient_norm": 1.0})
            shot = take_snapshot(trace(models[step % 2], WATCHED), step=step, characters=100 * step)
            with files.replacing(folder.newest_snapshot, durable=False) as file:
                file.write(to_bytes(shot))
            step += 1
        if folder.stop.exists():
            event_log.append(folder.events, {"event": "stopped"})
            lock.close()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield folder
    finally:
        over.set()
        thread.join()
        lock.close()
        queue.leave_queue(folder)
        shutil.rmtree(path, ignore_errors=True)
