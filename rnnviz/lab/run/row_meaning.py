"""The birth of a meaning: what a finished network's named rows told at the kept moments of its training.

Only the finished network shows which rows mean something. So a run keeps its weights at the kept moments
(`rnnviz.lab.run.journal`), and when the rows have names, each moment's network reads

    the text on which rows were searched    a score a row: the event "meaning" of the log
    the sentence to watch, and six more     a value a character: `named` of the moment's snapshot

A unit is followed by its number, a weighted sum by its final weights. A run that is resumed measures anew.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from rnnviz.arrays import Floats
from rnnviz.errors import TrainingError
from rnnviz.lab.analysis import ranking
from rnnviz.lab.analysis.activations import activations
from rnnviz.lab.analysis.targets import named_target
from rnnviz.lab.run import event_log, snapshots
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Snapshot
from rnnviz.networks import checkpoint, model_card
from rnnviz.networks.model_card import Recorded
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Network
from rnnviz.page.shown_units import MAX_NAMED_UNITS, REACH_PERCENTILE
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace, trace_long_text
from rnnviz.text import files

MEASURED_CHARS = 8_000
"""Characters of the searched text that each moment's network reads."""

SENTENCES, SENTENCE_CHARS = 6, (20, 90)
"""Lines of the searched text that are read as typed text is, from the zero state; their fewest and most
characters. Those come first in which the first row's target changes most: where none does, nothing is seen.
"""


def follow_rows(folder: RunFolder, card: Mapping[str, Any], text: str) -> None:
    """Measure the rows that `card` names at a run's kept moments, on `text`, which training never read; then
    delete the moments' weights. Without named rows only this.
    """
    rows = model_card.remembering(card)[:MAX_NAMED_UNITS]
    steps = [step for step in folder.kept_steps() if folder.moment_file(step).exists()]
    low, high = SENTENCE_CHARS
    lines = [line for line in text[:MEASURED_CHARS].splitlines() if low <= len(line.strip()) <= high]
    if rows:
        lines.sort(key=lambda line: -float(np.std(named_target(rows[0].target, line).values)))
    reach = None
    for step in reversed(steps) if rows else ():  # the last first: its reach scales all
        network, snapshot = checkpoint.load_numpy(folder.moment_file(step)), _read(folder, step)
        if isinstance(network, NgramModel) or snapshot is None:  # damaged, or replaced
            continue
        read = [trace(network, line) for line in (snapshot.text, *lines[:SENTENCES])]
        named = np.stack([np.concatenate([row_values(row, part) for part in read]) for row in rows])
        if reach is None:
            reach = np.maximum(np.percentile(abs(named), REACH_PERCENTILE, axis=1, keepdims=True), 1e-9)
        targets, sentences = tuple(row.target for row in rows), tuple(part.text for part in read[1:])
        snapshot = replace(snapshot, named=named / reach, rows=targets, sentences=sentences)
        paths = [folder.snapshot_file(step), *([folder.newest_snapshot] if step == steps[-1] else [])]
        for path in paths:
            with files.replacing(path, durable=False) as file:
                file.write(snapshots.to_bytes(snapshot, half=path != folder.newest_snapshot))
        guess = 0.5 if rows[0].measure == "AUC" else 0.0
        about = {"step": step, "characters": snapshot.characters, "rows": targets, "guess": guess}
        scores = score_rows(network, rows, text[:MEASURED_CHARS])
        event_log.append(folder.events, {"event": "meaning", **about, "scores": scores})
    for step in steps:
        folder.moment_file(step).unlink()


def _read(folder: RunFolder, step: int) -> Snapshot | None:
    with suppress(TrainingError):
        return snapshots.read(folder.snapshot_file(step))
    return None


def row_values(row: Recorded, read: Trace) -> Floats:
    """A row's values (T,), higher where its target holds."""
    plane = activations(read, layer=row.layer, quantity=row.quantity)
    return np.asarray(row.along(plane) * row.direction, np.float32)


def score_rows(network: Network, rows: Sequence[Recorded], text: str) -> list[float | None]:
    """How well each row tells its target in `text`: AUC, or correlation; None for a target that is constant
    there.
    """
    read = trace_long_text(network, text)
    scores: list[float | None] = []
    for row in rows:
        target = named_target(row.target, read.text)
        values = np.nan_to_num(row_values(row, read))
        scores.append(float(ranking.score(values, target.values)) if target.varies else None)
    return scores
