"""The header of a model's file: its tensors' descriptions, and what it says of itself. See `modelfile`.

A file is judged by its header before anything else is read, and the header is bounded: any file may lie in a
folder of models.
"""

import json
import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.text import files

FORMAT = 1
MAX_HEADER = 4 * 2**20  # bytes; a Chinese vocabulary takes thirty thousand
MAX_CARD = 2**18  # characters of JSON; training writes two thousand
MAX_FILE = 2 * 2**30
LONGEST_REASON = 600  # characters of an error
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SUFFIX = ".safetensors"
NUMBERS = ("characters", "parameters", "training_seconds")  # of a card
TEXTS = (
    "name", "corpus", "title", "licence", "language", "sha256", "split", "trained_on", "command", "example",
    "ngram",
)  # fmt: skip
NAMES = ("corpus", "title", "licence", "language")
TABLES = ("held_out", "versions", "recipe")
_HALVES = re.compile("[\ud800-\udfff]")


def check_name(name: str) -> str:
    """`name` if a model may be called so, else CheckpointError: a name has no folder in it."""
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
        raw, start, size = _header(path)
        meta = _description(raw.pop("__metadata__", None))
        end = start + _tensor_bytes(raw)
        if end != size:
            raise ConfigError(
                "its header promises {promised:,} bytes and it has {size:,}; copy or download it again",
                promised=end,
                size=size,
            )
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
    return raw, meta, size


def unusable(path: Path, error: Exception) -> CheckpointError:
    """The error for a damaged model file; what the file says is quoted only if it is short."""
    if len(str(error)) > LONGEST_REASON:
        error = ConfigError("its description is damaged; copy or download it again")
    return CheckpointError(
        "{name} is not a usable rnnviz model: {error}", name=files.printable(path.name), error=error
    )


def _header(path: Path) -> tuple[dict[str, Any], int, int]:
    with files.opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE:
            raise ConfigError("it has {size:,} bytes, and the limit is {limit:,}", size=size, limit=MAX_FILE)
        start = file.read(8)
        if len(start) < 8:
            raise ConfigError("it is cut off after {size} bytes; copy or download it again", size=size)
        (length,) = struct.unpack("<Q", start)
        if length > max(size, MAX_HEADER):
            raise ConfigError("it doesn't begin like a safetensors file")
        if 8 + length > size:
            raise ConfigError("it is cut off inside its header; copy or download it again")
        if length > MAX_HEADER:
            raise ConfigError(
                "its header has {length:,} bytes, and the limit is {limit:,}", length=length, limit=MAX_HEADER
            )
        try:
            raw = json.loads(file.read(length))
        except (ValueError, RecursionError):
            raise ConfigError("its header is not JSON, so it is no safetensors file") from None
    if not isinstance(raw, dict):
        raise ConfigError("its header is no safetensors header")
    return raw, 8 + length, size


def _description(metadata: Any) -> dict[str, Any]:
    if not isinstance(metadata, dict) or not isinstance(metadata.get("rnnviz"), str):
        raise ConfigError(
            "it is a safetensors file, but not one written by rnnviz (its header has no 'rnnviz' entry)"
        )
    try:
        meta: dict[str, Any] = json.loads(metadata["rnnviz"])
        version, config, card = meta["format"], meta.get("config"), meta.get("card")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ConfigError("its description is damaged; copy or download it again") from None
    if type(version) is not int or version < 1:
        raise ConfigError("its format is {version!r}, which no version of rnnviz writes", version=version)
    if version > FORMAT:
        raise ConfigError(
            "it has format {version} and this version reads up to {newest}; update rnnviz",
            version=version,
            newest=FORMAT,
        )
    fit = isinstance(config, dict) and isinstance(card, dict) and isinstance(card.get("name", ""), str)
    if not fit:
        raise ConfigError("its description is incomplete")
    return meta


def _tensor_bytes(described: Mapping[str, Any]) -> int:
    ends = [0]
    for entry in described.values():
        offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
        if not (isinstance(offsets, list) and len(offsets) == 2 and all(type(o) is int for o in offsets)):
            raise ConfigError("its header describes no tensors")
        ends.append(offsets[1])
    return max(ends)


def _sound(card: Mapping[str, Any]) -> dict[str, Any]:
    """The card without the entries of a wrong type, all texts but the example as they are shown; � for half
    surrogate pairs, as of a file's odd name.
    """

    def number(value: object) -> bool:
        return value is None or (type(value) in (int, float) and abs(value) < 1e300)  # type: ignore[arg-type]

    def shallow(value: object, levels: int = 20) -> bool:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        fit = isinstance(value, str | bool | dict | list) or number(value)
        return levels > 0 and fit and all(shallow(one, levels - 1) for one in inside)

    def sound(name: str, value: object) -> bool:
        if (name in TABLES and not isinstance(value, dict)) or (
            name in TEXTS and not isinstance(value, str | None)
        ):
            return False
        if name == "held_out" and isinstance(value, dict):
            return all(
                isinstance(v, str | None) if k == "ngram_name" else number(v) for k, v in value.items()
            )
        return shallow(value) and (name not in NUMBERS or number(value))

    written = json.dumps(
        {name: value for name, value in card.items() if sound(name, value)}, ensure_ascii=False
    )
    if len(written) > MAX_CARD:
        raise ConfigError(
            "its card has {length:,} characters, and the limit is {limit:,}",
            length=len(written),
            limit=MAX_CARD,
        )
    found: dict[str, Any] = json.loads(_HALVES.sub("\ufffd", written), object_pairs_hook=_shown)
    return found


def _shown(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a card, its texts as they can be shown, those of NAMES no longer than a name."""

    def shown(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [shown(name, one) for one in value]
        if not isinstance(value, str) or name == "example":
            return value
        if name in NAMES:
            return files.printable(value, files.LONGEST_NAME)
        if name == "command":
            value = files.without_folders(value)
        return "\n".join(map(files.printable, value.split("\n")))

    return {files.printable(name): shown(name, value) for name, value in pairs}
