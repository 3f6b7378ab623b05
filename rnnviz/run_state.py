"""A run's state on disk: everything from which a Trainer goes on to the same numbers.

This module knows nothing of when a state is saved.
"""

from __future__ import annotations

import json

from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes

from rnnviz import checkpoint
from rnnviz.errors import TrainingError
from rnnviz.run_folder import RunFolder
from rnnviz.training import Trainer


def save(folder: RunFolder, trainer: Trainer) -> None:
    """Write the state from which `restore` goes on. Raises CheckpointError if it can't be written."""
    tensors, meta = trainer.state()
    checkpoint.write_atomic(folder.state, to_bytes(tensors, metadata={"run": json.dumps(meta)}))


def restore(folder: RunFolder, trainer: Trainer) -> bool:
    """Put `trainer` where the run stopped; False if nothing was saved.

    Raises TrainingError if the state is damaged or of another run.
    """
    if not folder.state.exists():
        return False
    try:
        with safe_open(folder.state, framework="pt") as file:
            meta = json.loads((file.metadata() or {})["run"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise TrainingError(f"{folder.state} is damaged ({error}); start a new run") from None
    trainer.restore(tensors, meta)
    return True
