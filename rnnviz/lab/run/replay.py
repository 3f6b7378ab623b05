"""Replays: the learning of a shipped model, in a small file beside it, NAME.snapshots.safetensors.

    hidden     (K, T, L, H) int8   states of the sentence to watch at K moments, in units of `unit`
    log_probs  (K, T + 1, V) float16, nats
    nll        (K, T) float32, nats
    named      (K, R, …) float16, the named rows' values, where the run has them (`snapshots.Snapshot`)

The header has, as JSON, the sentence, symbols, steps and characters of the moments, the thinned events of the
curves, and the run's description.

    write("timemachine-gru", path)                    # of a finished run
    replay = read(path); replay.snapshot(replay.steps[0]).hidden

A run on the first 90 % has no validation text, so its replay has no validation curve. Its curve is the
perplexity of the training text being read, with dropout, and its end the held-out perplexity. The baselines
are then on the held-out text, else on the validation text.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rnnviz.arrays import Arrays
from rnnviz.errors import CheckpointError, TrainingError
from rnnviz.lab.run import event_log, runs, snapshots
from rnnviz.lab.run.event_log import Event
from rnnviz.lab.run.finished_model import read_corpus
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.lab.run.snapshots import MIN_LOG_PROB, Snapshot, opened, pack, unpack
from rnnviz.networks import checkpoint, modelfile
from rnnviz.networks.config import TrainConfig

SUFFIX = checkpoint.SNAPSHOTS

CURVE_POINTS = 300
"""Progress events kept, at most: more than a chart has pixels."""

_STORY_FIELDS = {
    "start": (
        "parameters", "vocabulary", "total_steps", "total_characters", "train_characters",
        "validation_characters", "uniform", "unigram", "ngram", "ngram_order",
    ),
    "progress": (
        "step", "characters", "seconds", "train_perplexity", "characters_per_second", "gradient_norm",
        "clipped", "learning_rate", "clip",
    ),
    "report": (
        "step", "characters", "seconds", "train_perplexity", "validation_perplexity", "sample",
    ),
    "passed": ("step", "characters", "seconds"),
    "meaning": ("step", "characters", "rows", "guess", "scores"),
    "finished": ("held_out",),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Replay:
    """A replay read from a file: `events` as `runs.tail_log` gives them, thinned, and the run's
    `description`.
    """

    name: str
    events: list[Event]
    description: dict[str, Any]
    _snapshots: dict[int, Snapshot] = field(repr=False)

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of the snapshots, in order."""
        return tuple(self._snapshots)

    def snapshot(self, step: int | None = None) -> Snapshot:
        """The snapshot at one of `steps`; None: the last. Raises TrainingError for another step."""
        step = self.steps[-1] if step is None else step
        if step not in self._snapshots:
            raise TrainingError(
                "{name} has no snapshot of step {step}; it has {steps}",
                name=self.name,
                step=step,
                steps=self.steps,
            )
        return self._snapshots[step]


def write(run: str | RunFolder, path: str | Path) -> Path:
    """Pack the snapshots and curves of a run, by its id or folder, into one file. Returns its path.

    Raises TrainingError if the run has no snapshots, CheckpointError if the file can't be written. A run on
    the first 90 % needs its text: raises the errors of reading it.
    """
    folder = run if isinstance(run, RunFolder) else RunFolder(runs.find(run).path)
    path, steps = Path(path), folder.kept_steps()
    if not path.name.endswith(SUFFIX):
        raise CheckpointError("a run's replay is a file ending in {suffix}", suffix=SUFFIX)
    if not steps:
        raise TrainingError("the run {id!r} kept no snapshots: it had no sentence to watch", id=folder.id)
    moments = [snapshots.read(folder.snapshot_file(step)) for step in steps]
    hidden = np.stack([snapshot.hidden for snapshot in moments])  # (K, T, L, H)
    # one scale for all states, so that int8 holds the largest; tanh states have the scale 1/127
    unit = max(1.0, float(np.abs(hidden).max())) / 127
    described = folder.description()
    about = {
        "unit": unit,
        "steps": steps,
        "characters": [snapshot.characters for snapshot in moments],
        "events": thin_events(_add_baselines(folder, described, event_log.read(folder.events)[0])),
        "description": {
            k: described.to_json().get(k) for k in ("name", "config", "title", "language", "probe")
        },
    }
    arrays: Arrays = {
        "hidden": np.round(hidden / unit).astype(np.int8),
        "log_probs": np.stack([np.maximum(snapshot.log_probs, MIN_LOG_PROB) for snapshot in moments]).astype(
            np.float16
        ),
        "nll": np.stack([snapshot.nll for snapshot in moments]),
    }
    named = [snapshot.named for snapshot in moments if snapshot.named is not None]
    if len(named) == len(moments):
        arrays["named"] = np.stack(named).astype(np.float16)
    modelfile.write_atomic(path, pack("story", moments[0], about, arrays))
    return path


def _add_baselines(folder: RunFolder, described: Description, events: list[Event]) -> list[Event]:
    """The events, with baselines on the held-out text if there was no validation text."""
    from rnnviz.lab.run import validation_baselines  # which loads torch

    path = next((Path(e["path"]) for e in reversed(events) if e["event"] == "finished"), None)
    if described.config.train_on == "train" or path is None:
        return events
    split = read_corpus(folder, described).split()
    model = checkpoint.load_numpy(path)
    baselines = validation_baselines.measure_baselines(
        split.train + split.validation, split.held_out, model.vocabulary
    )
    card = model.card.get("held_out", {})
    if described.ngram and "ngram" in card:  # the card's own comparison
        baselines["ngram"] = card["ngram"]
        baselines["ngram_order"] = getattr(checkpoint.load_numpy(described.ngram), "order", None)
    return [{**e, **baselines} if e["event"] == "start" else e for e in events]


def thin_events(events: list[Event]) -> list[Event]:
    """The events and fields that a chart needs; at most CURVE_POINTS "progress" events, with the last."""
    progress = [n for n, e in enumerate(events) if e["event"] == "progress"]
    some = {
        progress[i]
        for i in np.linspace(0, len(progress) - 1, min(CURVE_POINTS, len(progress))).round().astype(int)
    }
    reports = [n for n, e in enumerate(events) if e["event"] == "report"]
    thin = []
    for n, event in enumerate(events):
        kind = event["event"]
        if kind not in _STORY_FIELDS or (kind == "progress" and n not in some):
            continue
        fields = [
            k for k in _STORY_FIELDS[kind] if event.get(k) is not None and (k != "sample" or n == reports[-1])
        ]
        thin.append({"event": kind, **{k: _round_number(event[k]) for k in fields}})
    return thin


def _round_number(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read(path: str | Path) -> Replay:
    """The replay in a file. Raises TrainingError if the file is missing or damaged."""
    path = Path(path)
    with opened(path, "story") as (about, arrays):
        moments = list(zip(about["steps"], about["characters"], strict=True))
        if not moments or any(len(values) != len(moments) for values in arrays.values()):
            raise ValueError("its arrays don't belong together")
        events = [e for e in about["events"] if event_log.is_sound(e)]
        description = dict(about["description"])
        TrainConfig(**description["config"])  # raises for an unfit recipe
        return Replay(
            path.name.removesuffix(SUFFIX),
            events,
            description,
            {int(step): unpack(about, arrays, step, n, k) for k, (step, n) in enumerate(moments)},
        )
