"""The file of a model: safetensors, with configuration, vocabulary and card in its header.

    tensors   the weights (float32 or float16), or an n-gram model's counts; the hashes of a Sketch
    "rnnviz"  in the header's metadata, JSON: format, kind, config, vocabulary, normaliser, card, overlap

Reading never unpickles, so a stranger's file can't run anything. A file is judged by its header before
anything else is read, and the header is bounded: any file may lie in a folder of models. Writing is atomic.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from rnnviz.errors import CheckpointError, ConfigError, ExportError
from rnnviz.text import files

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from rnnviz.networks.config import ModelConfig

FORMAT_VERSION = 1
MAX_HEADER = 4 * 2**20  # bytes; a Chinese vocabulary takes thirty thousand
MAX_CARD = 2**18  # characters of JSON; training writes two thousand
MAX_FILE = 2 * 2**30
MAX_REASON_CHARS = 600  # characters of an error
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SUFFIX = ".safetensors"
NAMES = ("corpus", "title", "licence", "language")  # entries of a card, cut to the length of a name
NUMBER, TEXT, TABLE = (int, float, NoneType), (str, NoneType), (dict,)
CARD: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("characters", "parameters", "training_seconds"), NUMBER),
    **dict.fromkeys(
        (*NAMES, "name", "sha256", "split", "trained_on", "command", "example", "text", "ngram"), TEXT
    ),
    **dict.fromkeys(("held_out", "versions", "recipe"), TABLE),
}
"""The types of the card's entries that rnnviz writes; any other entry may be any JSON."""
HELD_OUT = {"ngram_name": TEXT}  # the others are numbers
_HALVES = re.compile("[\ud800-\udfff]")
DTYPES = {"F32", "F16"}
SKETCH = "overlap.hashes"
MAX_SKETCH = 1 << 20  # bytes


@dataclass(frozen=True, eq=False)
class Sketch:
    """A sketch of a model's training text, made by `rnnviz.networks.contamination`.

    `hashes` (n,) uint32, increasing; about one in `modulus` is kept.
    """

    hashes: npt.NDArray[np.uint32]
    modulus: int


def check_name(name: str) -> str:
    """`name` itself if a model may have it. Raises CheckpointError, also for a name with a folder in it."""
    if not NAME.fullmatch(name) or ".." in name:
        raise CheckpointError(
            "a model's name has letters, digits, '.', '_' and '-' and no folder; received {name!r}. "
            "To load a file, give its path, ending in {suffix}",
            name=name[:100],
            suffix=SUFFIX,
        )
    return name


def read_header(path: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The tensors' descriptions, the "rnnviz" metadata and the file's size. Raises CheckpointError."""
    try:
        described, start, size = _header(path)
        meta = _description(described.pop("__metadata__", None))
        # Headers are JSON of anybody's: a missing key or a wrong type is a damaged file, no error of ours.
        try:
            end = start + max([0, *(entry["data_offsets"][1] for entry in described.values())])
        except (TypeError, LookupError):
            raise ConfigError("its header describes no tensors") from None
        if end != size:
            raise ConfigError(
                "its header says {promised:,} bytes, but it has {size:,}; copy or download it again",
                promised=end,
                size=size,
            )
        # Addresses and commands take the name: one with a folder in it must not get that far.
        if meta["card"].get("name"):
            check_name(meta["card"]["name"])
        meta["card"] = _sound(meta["card"])
    except OSError as error:
        raise CheckpointError(
            "{path} can't be read: {strerror}",
            path=files.printable(path),
            strerror=error.strerror,
        ) from None
    except (ConfigError, CheckpointError) as error:
        raise unusable(path, error) from None
    return described, meta, size


def unusable(path: Path, error: Exception) -> CheckpointError:
    """The error for a damaged model file; a long reason, which may quote the file, is left out."""
    if len(str(error)) > MAX_REASON_CHARS:
        error = ConfigError("its description is damaged; copy or download it again")
    return CheckpointError(
        "{name} is not a usable rnnviz model: {error}", name=files.printable(path.name), error=error
    )


def _header(path: Path) -> tuple[dict[str, Any], int, int]:
    """The header's JSON, the byte at which the tensors begin, and the file's size.

    At most MAX_HEADER bytes are read: the safetensors library would take a header of 100 MB, and the memory
    for lists nested as deep.
    """
    # In order of what a hostile file could cost: its size is known without reading, then 8 bytes tell the
    # header's length, and only a header of sane length is read and parsed.
    with files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE:
            raise ConfigError("it has {size:,} bytes, and the limit is {limit:,}", size=size, limit=MAX_FILE)
        first = file.read(8)
        length = int.from_bytes(first, "little")
        if length > MAX_HEADER:
            raise ConfigError(
                "its header would have {length:,} bytes, and the limit is {limit:,}: it is not a safetensors "
                "file, or its description is too long",
                length=length,
                limit=MAX_HEADER,
            )
        header = file.read(length)
    if len(first) < 8 or len(header) < length:
        raise ConfigError("it is cut off after {size} bytes; copy or download it again", size=size)
    try:
        raw = json.loads(header)
    # Brackets nested a million deep are valid JSON, and end Python's parser.
    except (ValueError, RecursionError):
        raw = None
    if not isinstance(raw, dict):
        raise ConfigError("its header is not JSON, so it is not a safetensors file")
    return raw, 8 + length, size


def _description(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("rnnviz"), str):
        raise ConfigError(
            "it is a safetensors file, but not one written by rnnviz (its header has no 'rnnviz' entry); "
            "rnnviz.adapt takes a network of torch, and rnnviz.save writes its file"
        )
    meta: Any
    try:
        meta = json.loads(metadata["rnnviz"])
    except (ValueError, RecursionError):
        meta = None
    match meta:
        # Told first: a newer format may lack everything that is asked for below.
        case {"format": int(version)} if version > FORMAT_VERSION:
            raise ConfigError(
                "it has format {version} and this version reads up to {newest}; update rnnviz",
                version=version,
                newest=FORMAT_VERSION,
            )
        case {"format": 1, "config": {}, "card": {**card}} if isinstance(card.get("name", ""), str):
            return dict(meta)
    raise ConfigError("its description is damaged or incomplete; copy or download it again")


def _is_plain(value: object, levels: int = 20) -> bool:
    """Whether a JSON value has at most `levels` levels and finite numbers."""
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return levels > 0 and all(_is_plain(item, levels - 1) for item in inside)
    # Python reads Infinity, NaN and numbers of any length as JSON; a browser doesn't.
    return not isinstance(value, int | float) or abs(value) < 1e300


def _sound(card: Mapping[str, Any]) -> dict[str, Any]:
    """The card without entries of a wrong type, and with all texts but the example safe to show.

    � replaces half surrogate pairs, which come from the odd name of a file.
    """
    entries = {
        key: value
        for key, value in card.items()
        if _is_plain(value) and type(value) in CARD.get(key, (type(value),))
    }
    if any(type(v) not in HELD_OUT.get(k, NUMBER) for k, v in entries.get("held_out", {}).items()):
        del entries["held_out"]
    encoded = json.dumps(entries, ensure_ascii=False)
    # `checkpoint` keeps the cards of up to a thousand files.
    if len(encoded) > MAX_CARD:
        raise ConfigError(
            "its card has {length:,} characters, and the limit is {limit:,}",
            length=len(encoded),
            limit=MAX_CARD,
        )
    displayed: dict[str, Any] = json.loads(_HALVES.sub("\ufffd", encoded), object_pairs_hook=_displayable)
    return displayed


def _displayable(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a card with texts that are safe to show; those of NAMES are cut to a name's length."""

    def display(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [display(name, item) for item in value]
        if not isinstance(value, str) or name == "example":
            return value
        if name in NAMES:
            return files.printable(value, files.MAX_NAME_CHARS)
        if name == "command":
            value = files.without_folders(value)
        return "\n".join(map(files.printable, value.split("\n")))

    return {files.printable(name): display(name, value) for name, value in pairs}


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
            error=files.printable(str(error), MAX_REASON_CHARS),  # it may quote the header
        ) from None


def read_weights(
    path: Path, described: dict[str, Any], config: ModelConfig
) -> dict[str, npt.NDArray[np.float32]]:
    """A network's tensors in float32, their shapes checked before anything is allocated.

    Raises ConfigError for other tensors than `config` has, CheckpointError for a damaged file.
    """
    import numpy as np

    shapes = {k: list(shape) for k, shape in config.shapes().items()}
    stored = {k: e.get("shape") for k, e in described.items()}
    # By the header alone: a file may promise a tensor of terabytes, for which nothing is allocated yet.
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
    # The header and the tensors are two readings of the file, and another program may have written between.
    if {k: list(w.shape) for k, w in weights.items()} != shapes:
        raise ConfigError("it was replaced while it was read; try again")
    # A NaN would pass through every product; the message would come from a perplexity that is none.
    if broken := [k for k, w in weights.items() if not np.isfinite(w).all()]:
        raise ConfigError("tensor {name!r} has values that are not finite", name=broken[0])
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
    """Write a copy of a model file with the entries of `card` in its card, or with another sketch.

    All else is the same, bit by bit. Raises CheckpointError.
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
        "{name} is damaged: its entry on the training text can't be read; copy or download it again",
        name=files.printable(path.name),
    )
