"""The errors a user of rnnviz can meet.

Every message says what was received and what to do about it. A message is a template and its values, so that
a page can say the sentence in another language.

    RnnvizError
    ├── ConfigError              a setting outside its range, or settings that contradict each other
    ├── TextError                a text that can't be read, decoded or scored
    │   ├── DecodingError        bytes that are no text in the encoding asked for, or in any known one
    │   └── EmptyTextError       nothing to score: zero characters have no perplexity
    ├── CheckpointError          a model file that is damaged, foreign, too large or from a newer version
    │   └── ModelNotFoundError   no model of that name, no file at that path
    ├── CorpusError              an unknown corpus, or one too short to split
    │   └── DownloadError        offline, slow, cut off, too large, or the wrong checksum
    ├── TrainingError            a run that can't start or go on
    │   └── DivergedError        a run whose loss or gradient is no longer a number
    ├── ClusterError             a cluster that doesn't answer, or lost the work it was given
    ├── TorchMissingError        something that computes with torch, which is not installed
    └── ExportError              a table or a page that can't be written
"""

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# The places a message from a file may have: a name with a short format. `{x.attribute}` and `{x[item]}` would
# let a stranger's file read whatever a value leads to, and a width of many digits fill the memory.
_PLACES = re.compile(r"\{\{|\}\}|\{\w+(![rs])?(:[,.\dA-Za-z]{0,4})?\}")

MAX_PATH_CHARS = 400
"""Characters of a path in a message, at most."""


class Phrase(str):
    """A message's value that is an English phrase, such as "a PNG image": a template and values, too."""

    message: str
    values: Mapping[str, object]

    def __new__(cls, message: str, /, **values: object) -> "Phrase":
        phrase = super().__new__(cls, message.format(**values) if values else message)
        phrase.message, phrase.values = message, values
        return phrase


class RnnvizError(Exception):
    """Base of every error that rnnviz raises on purpose.

    message   the sentence in English, with {names} where values go; the key of its translations
    values    the values for those places, by name

    >>> str(ConfigError("hidden_size is at least 1; received {size}", size=0))
    'hidden_size is at least 1; received 0'
    """

    def __init__(self, message: str, /, **values: object) -> None:
        values = {name: _readable(value) for name, value in values.items()}
        super().__init__(message.format(**values) if values else message)
        self.message = message
        self.values = values

    def to_json(self) -> dict[str, Any]:
        """The template and its values as JSON data; `from_json` reads them back."""
        data: dict[str, Any] = _to_json(self)
        return data

    @classmethod
    def from_json(cls, value: object) -> "RnnvizError | None":
        """The error that `to_json` wrote, as an RnnvizError; None for any other value."""
        if not isinstance(value, Mapping) or not isinstance(value.get("values"), Mapping):
            return None
        message, values = value.get("message"), value["values"]
        if not isinstance(message, str) or set("{}") & set(_PLACES.sub("", message)):
            return None
        try:
            return cls(message, **{name: cls.from_json(v) or v for name, v in values.items()})
        except (LookupError, TypeError, ValueError, OverflowError, RecursionError):
            return None


def _readable(value: object) -> object:
    """The value; its type's name where it would be written as an address, or on several lines; a very long
    path without its middle.
    """
    if isinstance(value, os.PathLike) and len(text := os.fspath(value)) > MAX_PATH_CHARS:
        return f"{text[:80]}…{text[-40:]}"
    if isinstance(value, str | os.PathLike | Exception):
        return value
    text = repr(value)
    return type(value).__name__ if " at 0x" in text or "\n" in text else value


def _to_json(value: object) -> Any:
    if isinstance(value, RnnvizError | Phrase):
        return {"message": value.message, "values": {k: _to_json(v) for k, v in value.values.items()}}
    return value if isinstance(value, str | int | float) else str(value)


class ConfigError(RnnvizError, ValueError):
    """A setting is outside its range, or two settings contradict each other."""


class TextError(RnnvizError, ValueError):
    """A text can't be read or scored."""


class DecodingError(TextError):
    """Bytes are not text in the encoding asked for, nor in any that was recognised."""


class EmptyTextError(TextError):
    """There is nothing to score: the perplexity of zero characters is undefined."""


class CheckpointError(RnnvizError):
    """A model file is damaged, not one of ours, too large, or newer than this version."""


class ModelNotFoundError(CheckpointError, LookupError):
    """No shipped or local model has this name, and no file is at this path."""


class CorpusError(RnnvizError):
    """A corpus is unknown, or too short to be split into training and held-out parts."""


class DownloadError(CorpusError):
    """A corpus could not be fetched: offline, slow, cut off, too large or altered."""


class TrainingError(RnnvizError):
    """A training run can't start or can't go on."""


class DivergedError(TrainingError):
    """A training run's loss or gradient is no longer a number."""


class ClusterError(RnnvizError):
    """A Dask cluster doesn't answer, or could not finish its work."""


def install(extra: str) -> str:
    """The pip command for an extra. rnnviz is on no package index, so the command names this copy's source.

    >>> install("lab").endswith('[lab]"')
    True
    """
    from importlib.metadata import PackageNotFoundError, distribution  # costs 20 ms, and few need it

    checkout = Path(__file__).resolve().parents[1]
    if (checkout / "pyproject.toml").is_file():
        return f'pip install "{"." if checkout == Path.cwd() else checkout}[{extra}]"'
    origin: dict[str, Any] = {}
    with contextlib.suppress(PackageNotFoundError):
        origin = json.loads(distribution("rnnviz").read_text("direct_url.json") or "{}")
    if "url" not in origin:
        return f'pip install "rnnviz[{extra}]"'
    vcs = origin.get("vcs_info", {}).get("vcs")
    return f'pip install "rnnviz[{extra}] @ {vcs + "+" if vcs else ""}{origin["url"]}"'


NO_TORCH = Phrase(
    "this needs torch, which is not installed; all else works without it. Install it with {command}"
)


class TorchMissingError(RnnvizError, ModuleNotFoundError):
    """A call computes with torch, such as training, and torch is not installed.

    >>> str(TorchMissingError())
    'this needs torch, which is not installed; ... Install it with pip install ...[lab]"'
    """

    def __init__(self, message: str = NO_TORCH, /, **values: object) -> None:
        super().__init__(message, **{"command": install("lab"), **values})
        self.name = "torch"


class ExportError(RnnvizError):
    """A table or a page can't be written where it was asked for."""
