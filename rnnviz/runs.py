"""A training run as a folder: what it is doing, where it stands, and the best model so far.

    run.json            recipe, corpus and name, written once
    events.jsonl        one JSON line a report
    state.safetensors   everything needed to go on (rnnviz.training.Trainer.state)
    best.safetensors    the best model so far, a file like any shipped model

Every file but the events is replaced as a whole, so a kill at any moment
leaves a folder that can be resumed.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from rnnviz import checkpoint
from rnnviz.config import TrainConfig
from rnnviz.errors import ConfigError, TrainingError
from rnnviz.training import StepReport, Trainer


class RunFolder:
    """The files of one run. Creating the object touches nothing."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self.best = self.path / "best.safetensors"
        self._state = self.path / "state.safetensors"
        self._description = self.path / "run.json"
        self._events = self.path / "events.jsonl"

    def begin(self, config: TrainConfig, description: dict[str, Any]) -> None:
        """Write what the run is. Raises TrainingError if the folder already holds a run."""
        if self._description.exists():
            raise TrainingError(
                f"{self.path} already holds a run; go on with --resume {self.path} or choose another"
            )
        text = json.dumps({**description, "config": config.to_json()}, ensure_ascii=False, indent=1)
        checkpoint.write_atomic(self._description, text.encode())

    def description(self) -> tuple[TrainConfig, dict[str, Any]]:
        """The recipe and the rest of what `begin` wrote. Raises TrainingError if there is no run here."""
        try:
            raw = json.loads(self._description.read_text("utf-8"))
            config = TrainConfig(**raw.pop("config"))
        except OSError:
            raise TrainingError(
                f"there is no run in {self.path}; start one with --run-dir {self.path}"
            ) from None
        except (ValueError, TypeError, KeyError, ConfigError) as error:
            raise TrainingError(f"{self._description} is damaged ({error}); start a new run") from None
        return config, raw

    def save(self, trainer: Trainer) -> None:
        """Write the state from which `restore` goes on."""
        tensors, meta = trainer.state()
        checkpoint.write_atomic(self._state, to_bytes(tensors, metadata={"run": json.dumps(meta)}))

    def restore(self, trainer: Trainer) -> bool:
        """Put `trainer` where the run stopped; False if nothing was saved.

        Raises TrainingError if the state is damaged or of another run.
        """
        if not self._state.exists():
            return False
        try:
            with safe_open(self._state, framework="pt") as file:
                meta = json.loads((file.metadata() or {})["run"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        except (SafetensorError, OSError, KeyError, ValueError) as error:
            raise TrainingError(f"{self._state} is damaged ({error}); start a new run") from None
        trainer.restore(tensors, meta)
        return True

    def record(self, report: StepReport) -> None:
        """Append one report to the events, without the model."""
        event = {f.name: getattr(report, f.name) for f in fields(report) if f.name != "model"}
        with self._events.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")
