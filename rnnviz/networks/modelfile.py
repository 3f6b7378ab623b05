"""The file of a model: safetensors, with configuration, vocabulary and card in its header.

    tensors   the weights (float32 or float16), or an n-gram model's counts; the hashes of a Sketch
    "rnnviz"  in the header's metadata, JSON: format, kind, config, vocabulary, normaliser, card, overlap

Reading never unpickles, so a stranger's file can't run anything. Writing is atomic.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.errors import CheckpointError, ConfigError, ExportError
from rnnviz.networks.header import FORMAT as FORMAT
from rnnviz.networks.header import MAX_FILE as MAX_FILE
from rnnviz.networks.header import SUFFIX as SUFFIX
from rnnviz.networks.header import check_name as check_name
from rnnviz.networks.header import read_header as read_header
from rnnviz.networks.header import unusable as unusable
from rnnviz.text import files

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rnnviz.networks.config import ModelConfig

DTYPES = {"F32", "F16"}
SKETCH = "overlap.hashes"
MAX_SKETCH = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class Sketch:
    """A sketch of a model's training text, made by `rnnviz.reports.contamination`.

    `hashes` (n,) uint32, increasing; about one in `modulus` is kept.
    """

    hashes: npt.NDArray[np.uint32]
    modulus: int


def read_tensors(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """All tensors of a file by name, a sketch's included. Raises CheckpointError."""
    from safetensors.numpy import load

    with _damage_told(path):
        # Not mapped: a file that another program cuts off meanwhile would end this one.
        return load(files.read(path, MAX_FILE))


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (SafetensorError, ValueError, KeyError, OSError) as error:
        raise CheckpointError(
            "{name} is damaged ({error}); copy or download it again",
            name=files.printable(path.name),
            error=error,
        ) from None


def read_weights(
    path: Path, described: dict[str, Any], config: ModelConfig
) -> dict[str, npt.NDArray[np.float32]]:
    """A network's tensors in float32, their shapes checked before anything is allocated.

    Raises ConfigError where they are not those of `config`, CheckpointError for a damaged file.
    """
    import numpy as np

    shapes = {k: list(shape) for k, shape in config.shapes().items()}
    stored = {k: e.get("shape") for k, e in described.items()}
    if stored != shapes:
        wrong = sorted(k for k in shapes.keys() | stored.keys() if shapes.get(k) != stored.get(k))
        raise ConfigError(
            "tensor {name!r} should have shape {expected} and has {received}",
            name=wrong[0],
            expected=shapes.get(wrong[0]),
            received=stored.get(wrong[0]),
        )
    if strange := {str(e.get("dtype")) for e in described.values()} - DTYPES:
        raise ConfigError(
            "weights are float32 or float16; received {types}", types=", ".join(sorted(strange))
        )
    weights = {k: w.astype(np.float32) for k, w in read_tensors(path).items() if k != SKETCH}
    if {k: list(w.shape) for k, w in weights.items()} != shapes:
        raise ConfigError("it was replaced while it was read; try again")
    if broken := [k for k, w in weights.items() if not np.isfinite(w).all()]:
        raise ConfigError("tensor {name!r} holds values that are not finite", name=broken[0])
    return weights


def write_model(
    path: Path, tensors: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any], sketch: Sketch | None
) -> None:
    """Write a model file. Raises CheckpointError if it can't be written."""
    from safetensors.numpy import save

    stored = {key: array for key, array in tensors.items() if key != SKETCH}
    meta = {key: value for key, value in meta.items() if key != "overlap"}
    if sketch is not None:
        stored[SKETCH], meta["overlap"] = sketch.hashes, {"modulus": sketch.modulus}
    write_atomic(path, save(stored, metadata={"rnnviz": json.dumps(meta, ensure_ascii=True)}))


def write_atomic(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write `data` to `path`, all or nothing. Raises CheckpointError if it can't be written."""
    try:
        with files.replacing(path, mode=mode, parents=True) as file:
            file.write(data)
    except ExportError as error:
        raise CheckpointError(error.message, **error.values) from None


def rewrite(
    source: Path, target: Path, *, card: Mapping[str, Any] | None = None, sketch: Sketch | None = None
) -> None:
    """Write a model file with the entries of `card` in its card, or another sketch; all else is the same, bit
    by bit. Raises CheckpointError.
    """
    described, meta, _ = read_header(source)
    meta["card"] = {**meta["card"], **(card or {})}
    write_model(target, read_tensors(source), meta, sketch or sketch_in(source, described, meta))


def copy(source: Path, target: Path) -> Path:
    """Copy a model file under another name. Raises CheckpointError."""
    rewrite(source, target, card={"name": check_name(target.stem)})
    return target


def read_sketch(path: Path) -> Sketch | None:
    """The sketch in a model file, if any, without its weights. Raises CheckpointError."""
    described, meta, _ = read_header(path)
    return sketch_in(path, described, meta)


def sketch_in(path: Path, described: Mapping[str, Any], meta: Mapping[str, Any]) -> Sketch | None:
    """`read_sketch` of a file whose header has been read."""
    from safetensors import safe_open

    about, entry = meta.get("overlap"), described.get(SKETCH)
    if about is None and entry is None:
        return None
    match about, entry:
        case {"modulus": int(modulus)}, {"dtype": "U32", "shape": [int(n)]} if (
            type(modulus) is int and 0 < modulus < 1 << 63 and 4 * n <= MAX_SKETCH
        ):
            with _damage_told(path), safe_open(path, framework="numpy") as file:
                return Sketch(file.get_tensor(SKETCH), modulus)
    raise CheckpointError(
        "{name} is damaged: what it says of its training text can't be read; copy or download it again",
        name=files.printable(path.name),
    )
