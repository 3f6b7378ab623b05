"""A run's story in one small file beside the model it made: NAME.snapshots.safetensors.

    hidden     (K, T, L, H) int8   K snapshots of the probe's states, in units of `unit`
    log_probs  (K, T + 1, V) float16, nats
    nll        (K, T) float32, nats

and, as JSON in the header: the probe text, the symbols, the steps and characters of
the snapshots, the events that make the curves, thinned, and the run's description.

    write("timemachine-gru", "models/timemachine-gru.snapshots.safetensors")   # from a run's folder
    story = read(path); story.snapshot(story.steps[0]).hidden

Reading one needs no torch. This module knows nothing of how a model is trained.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import RnnvizError, TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs.snapshots import ProbeTrace

SUFFIX = checkpoint.SNAPSHOTS

CURVE = 300
"""Progress events that are kept: more than a chart has pixels for."""

_KEPT = {
    "start": (
        "parameters", "vocabulary", "total_steps", "total_characters", "train_characters",
        "validation_characters", "uniform", "unigram", "ngram", "ngram_order",
    ),
    "progress": (
        "step", "characters", "seconds", "train_perplexity", "characters_per_second", "gradient_norm",
        "clipped", "learning_rate", "clip",
    ),
    "report": ("step", "characters", "seconds", "train_perplexity", "held_out_perplexity", "sample"),
    "passed": ("step", "characters", "seconds"),
    "finished": ("held_out",),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Story:
    """What `read` found.

    steps       of the snapshots, in order
    events      as rnnviz.runs.follow gives them, thinned
    description of the run: name, config, title, language, probe
    """

    name: str
    steps: tuple[int, ...]
    events: list[dict[str, Any]]
    description: dict[str, Any]
    _about: dict[str, Any] = field(repr=False)
    _tensors: dict[str, npt.NDArray[Any]] = field(repr=False)

    def snapshot(self, step: int | None = None) -> ProbeTrace:
        """The probe's trace at one of `steps`, or the last. Raises TrainingError for another step."""
        if step is not None and step not in self.steps:
            raise TrainingError(
                "{name} has no snapshot of step {step}; it has {steps}",
                name=self.name,
                step=step,
                steps=self.steps,
            )
        k = len(self.steps) - 1 if step is None else self.steps.index(step)
        unit = float(self._about["unit"])
        return ProbeTrace(
            text=str(self._about["text"]),
            hidden=self._tensors["hidden"][k].astype(np.float32) * np.float32(unit),
            cell=None,
            log_probs=self._tensors["log_probs"][k].astype(np.float32),
            nll=self._tensors["nll"][k].astype(np.float32),
            step=self.steps[k],
            characters=int(self._about["characters"][k]),
            symbols=tuple(map(str, self._about["symbols"])),
        )


def beside(model: Path) -> Path:
    """Where the story of a model file stands."""
    return model.with_name(model.name.removesuffix(checkpoint.SUFFIX) + SUFFIX)


def write(id: str, path: str | Path) -> Path:
    """Pack the snapshots and curves of a run into one file. Returns its path.

    Raises TrainingError if the run has no snapshots, CheckpointError if the file can't be written.
    """
    from safetensors.numpy import save

    steps = runs.snapshots(id)
    if not steps:
        raise TrainingError("the run {id!r} kept no snapshots: it had no probe text", id=id)
    frames = [runs.snapshot(id, step) for step in steps]
    hidden = np.stack([f.hidden for f in frames])
    unit = max(1.0, float(np.abs(hidden).max())) / 127
    events, _ = runs.follow(id)
    description = runs.find(id).description
    about = {
        "unit": unit,
        "text": frames[0].text,
        "symbols": list(frames[0].symbols),
        "steps": steps,
        "characters": [f.characters for f in frames],
        "events": thinned(events),
        "description": {k: description.get(k) for k in ("name", "config", "title", "language", "probe")},
    }
    tensors: dict[str, npt.NDArray[Any]] = {
        "hidden": np.round(hidden / unit).astype(np.int8),
        "log_probs": np.stack([np.maximum(f.log_probs, -60_000) for f in frames]).astype(np.float16),
        "nll": np.stack([f.nll for f in frames]).astype(np.float32),
    }
    path = Path(path)
    checkpoint.write_atomic(path, save(tensors, metadata={"story": json.dumps(about)}))
    return path


def thinned(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events and fields that a chart needs; of "progress" at most CURVE, the last among them."""
    progress = [n for n, e in enumerate(events) if e["event"] == "progress"]
    some = {
        progress[i] for i in np.linspace(0, len(progress) - 1, min(CURVE, len(progress))).round().astype(int)
    }
    reports = [n for n, e in enumerate(events) if e["event"] == "report"]
    found = []
    for n, event in enumerate(events):
        kind = event["event"]
        if kind not in _KEPT or (kind == "progress" and n not in some):
            continue
        fields = [k for k in _KEPT[kind] if k in event and (k != "sample" or n == reports[-1])]
        found.append({"event": kind, **{k: _short(event[k]) for k in fields}})
    return found


def _short(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read(path: str | Path) -> Story:
    """The story in a file. Raises TrainingError if there is none, or the file is damaged."""
    from safetensors import SafetensorError, safe_open

    path = Path(path)
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})["story"])
            tensors = {name: file.get_tensor(name) for name in ("hidden", "log_probs", "nll")}
        K, T, V = len(about["steps"]), len(about["text"]), len(about["symbols"])
        hidden, log_probs, nll = (tensors[k].shape for k in ("hidden", "log_probs", "nll"))
        if len(hidden) != 4 or hidden[:2] != (K, T) or log_probs != (K, T + 1, V) or nll != (K, T) or not K:
            raise ValueError("its arrays don't belong together")
        events = [e for e in about["events"] if isinstance(e, dict) and isinstance(e.get("event"), str)]
        return Story(
            name=path.name.removesuffix(SUFFIX),
            steps=tuple(map(int, about["steps"])),
            events=events,
            description=dict(about["description"]),
            _about=about,
            _tensors=tensors,
        )
    except FileNotFoundError:
        raise TrainingError("there are no snapshots at {path}", path=path) from None
    except (SafetensorError, RnnvizError, OSError, KeyError, ValueError, TypeError) as error:
        raise TrainingError(
            "{path} is damaged ({error}); copy or download it again", path=path, error=error
        ) from None
