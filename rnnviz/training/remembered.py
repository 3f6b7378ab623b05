"""What proved fastest is remembered on this machine: speeds.json in the cache folder (RNNVIZ_CACHE), so that
only the first run of a shape is preceded by a trial, and one a week: a trial in a busy hour may have been
wrong. Whoever deletes the file has all tried anew. Importing this loads no torch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import platform
import time
from pathlib import Path
from typing import Any

import rnnviz
from rnnviz.errors import CheckpointError
from rnnviz.networks import modelfile
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.threads import cores
from rnnviz.text.downloads import cache_folder

MOST = 500
"""Choices kept; the oldest go first."""

WEEK = 7 * 24 * 3600
"""Seconds for which a choice holds."""


def key(config: TrainConfig, V: int, counts: list[int], given: list[object]) -> str:
    """Identifies a choice: all that decides which candidate is fastest, `counts` of threads and `given`
    options among it.
    """
    import torch

    from rnnviz.networks import compiled

    decides = [
        rnnviz.__version__, torch.__version__, processor(), cores(), compiled.ready(), counts, given, V,
        config.cell, config.hidden_size, config.layers, config.embedding_size, config.activation, config.tied,
        config.batch, config.steps, config.precision,
        [p > 0 for p in (config.dropout_embedding, config.dropout_weight, config.dropout_output)],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]


def processor(information: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name and what it can do; where the system doesn't say, the computer's name too, as
    several may share a home folder.
    """
    try:
        first = information.read_text().split("\n\n")[0].splitlines()
    except (OSError, UnicodeDecodeError):
        first = []
    kept = ("model name", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
    said = "\n".join(line for line in first if line.split(":")[0].strip() in kept)
    return said or f"{platform.machine()} {platform.processor()} {platform.node()}"


def recall(key: str) -> dict[str, Any] | None:
    """What was remembered under `key`; None if nothing was within a week, or if it can't be read."""
    found = _all().get(key)
    if not isinstance(found, dict) or not isinstance(since := found.get("since"), int | float):
        return None
    now = time.time()
    return found if now - WEEK < since <= now else None  # a clock that was set back proves nothing


def remember(key: str, value: dict[str, Any]) -> None:
    """Keep `value` under `key`, if the folder can be written to."""
    known = _all()
    known.pop(key, None)
    newest = dict([*known.items(), (key, {**value, "since": int(time.time())})][-MOST:])
    if (file := _file()) is None:
        return
    try:
        modelfile.write_atomic(file, json.dumps(newest, indent=1).encode(), mode=0o600)
    except (OSError, CheckpointError):
        return


def forget() -> None:
    """Have everything tried anew, as before a measurement."""
    if file := _file():
        with contextlib.suppress(OSError):
            file.unlink()


def _file() -> Path | None:
    """None for somebody without a home folder: `~` would be a folder of that name in the current one."""
    try:
        folder = cache_folder()
    except RuntimeError:
        return None
    return None if folder.parts[:1] == ("~",) else folder / "speeds.json"


def _all() -> dict[str, Any]:
    if (file := _file()) is None:
        return {}
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
