"""A trace in a file: an npz archive of named arrays, which numpy reads as well.

    about         JSON: format, model_name, the vocabulary's code points, the cells of the layers
    text          code points (T,) uint32
    hidden, ...   (T, ...) as in `rnnviz.Trace`; hidden_before and the like: after the start symbol
    weights.…     the weights, from which derived quantities are computed

No array is pickled, so a stranger's file can't run anything.
"""

import io
import json
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import gone
from rnnviz.networks.numpy_engine import Layer, Weights
from rnnviz.text import files
from rnnviz.text.vocabulary import Vocabulary, code_points

Arrays = Mapping[str, npt.NDArray[Any]]

FORMAT = 2

MOST = 4 << 30
"""Bytes of a file at most."""

LONGEST_REASON = 300

DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, SyntaxError, EOFError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError),
    *(MemoryError, RuntimeError, AssertionError),  # of encrypted archives and nested JSON, too
)
"""Errors of a damaged or hostile archive when it is read, and of its arrays when they are used."""

ARRAYS = ("known", "nll", "perplexity", "rank", "entropy", "_inputs", "_states", "_cells")
"""Fields that are stored as they are; those with an underscore have the start symbol's step in row 0."""

_KINDS = dict(zip(ARRAYS, ("b", "f", "f", "i", "f", "iu", "f", "f"), strict=True))

_SPLIT = {"_inputs": "ids", "_states": "hidden", "_cells": "cell"}
_LAYER = ("table", "W_x", "b", "W_h", "b_u")
_OTHER = ("embedding", "readout", "bias")


def pack(trace: Any, beside: Arrays) -> bytes:
    """The bytes of a Trace's file, with further arrays `beside`.

    Raises ConfigError for a network of Python functions, which no file can hold.
    """
    weights = trace.weights
    if type(weights) is not Weights:
        raise ConfigError(
            "a trace of {name!r} can't be saved: its step is a Python function; save trace.hidden and the "
            "like by numpy.savez",
            name=trace.model_name,
        )
    out: dict[str, npt.NDArray[Any]] = {"text": code_points(trace.text), **beside}
    for name in ARRAYS:
        plain, values = _SPLIT.get(name), getattr(trace, name)
        if values is not None:
            out |= {name: values} if plain is None else {plain: values[1:], f"{plain}_before": values[:1]}
    kept = {f"weights.{name}": getattr(weights, name) for name in _OTHER}
    for n, layer in enumerate(weights.layers):
        kept |= {f"weights.{n}.{name}": getattr(layer, name) for name in _LAYER}
    out |= {name: values for name, values in kept.items() if values is not None}
    about = {
        "format": FORMAT,
        "model_name": trace.model_name,
        "vocabulary": trace.vocabulary.to_json(),
        "layers": [[layer.cell, layer.units, layer.activation] for layer in weights.layers],
    }
    out["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, **out)  # type: ignore[arg-type]
    return file.getvalue()


def read(source: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """The fields of the Trace that `pack` was given. Raises CheckpointError for missing and other files."""
    named = isinstance(source, str | os.PathLike)
    name = Path(source).name if named else "the file"  # type: ignore[arg-type]
    try:
        content = files.read(source, MOST) if named else source.read()  # type: ignore[arg-type,union-attr]
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files.check(name, sum(entry.file_size for entry in archive.infolist()), len(content))
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            return _stored({key: file[key] for key in file.files})
    except OSError as error:
        raise unreadable(name, error.strerror or str(error)) from None
    except DAMAGE as error:
        raise unreadable(name, str(error)) from None


def unreadable(name: str, reason: str) -> CheckpointError:
    """The error for a file that is no trace."""
    return CheckpointError(
        "{name} is no trace that can be read ({reason}); write it again by Trace.save",
        name=files.printable(name),
        reason=files.printable(reason[:LONGEST_REASON]),
    )


def _stored(there: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    about = json.loads(there["about"].tobytes())
    if about["format"] not in (1, FORMAT):
        raise ValueError(f"format {about['format']}")
    kinds = [tuple(kind) for kind in about["layers"]]
    if (error := gone(kinds[0][0])) is not None:
        raise CheckpointError(error.message, **error.values)
    wanted_kinds = {name: "f" for name in there if name.startswith("weights.")} | {"text": "u"}
    for name, kind in wanted_kinds.items():
        if there[name].dtype.kind != kind:
            raise ValueError(f"{name} has type {there[name].dtype}")
    if about["format"] == 1:
        there = _of_format_1(there, [cell for cell, _units, _activation in kinds])
    layers = tuple(
        Layer(cell, units, activation, **{part: there.get(f"weights.{n}.{part}") for part in _LAYER})  # type: ignore[arg-type]
        for n, (cell, units, activation) in enumerate(kinds)
    )
    weights = Weights(layers, **{part: there.get(f"weights.{part}") for part in _OTHER})  # type: ignore[arg-type]
    text = there["text"].astype("<u4").tobytes().decode("utf-32-le")
    arrays = {name: there[name] for name in ARRAYS if name not in _SPLIT}
    for name, plain in _SPLIT.items():
        if plain in there or name != "_cells":
            arrays[name] = np.concatenate([there[f"{plain}_before"], there[plain]])
    T, H = len(text), layers[0].units
    wanted: dict[str, tuple[int, ...]] = {"entropy": (T + 1,), "_inputs": (T + 1,)}
    wanted |= dict.fromkeys(ARRAYS[:4], (T,))
    wanted |= dict.fromkeys(("_states", "_cells"), (T + 1, len(layers), H))
    for name, values in arrays.items():
        if values.shape != wanted[name] or values.dtype.kind not in _KINDS[name]:
            raise ValueError(f"{name} has shape {values.shape} and type {values.dtype}")
    vocabulary, inputs = Vocabulary.from_json(about["vocabulary"]), arrays["_inputs"]
    if not 0 <= inputs.min() <= inputs.max() <= vocabulary.start or not isinstance(about["model_name"], str):
        raise ValueError("it is of another model")
    for values in arrays.values():
        values.setflags(write=False)
    plain_of = {plain: arrays[name][1:] for name, plain in _SPLIT.items() if name in arrays}
    named = {"text": text, "model_name": about["model_name"], "vocabulary": vocabulary, "_weights": weights}
    return {"cell": None, "_cells": None, **arrays, **plain_of, **named}


def _of_format_1(there: dict[str, npt.NDArray[Any]], cells: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file by rnnviz 1.0.0 under today's names; gates' weights, halved there, are doubled."""
    found = dict(there)
    for n, cell in enumerate(cells):
        own = {name: there.get(f"weights.{n}.{name}") for name in ("table", "W_in", "b", "W_h", "b_n")}
        W_x, b_u = own.pop("W_in"), own.pop("b_n")
        twice = np.ones(len(CELLS[cell].blocks), np.float32)
        twice[:-1] += CELLS[cell].mixes  # all but the candidate
        rows = np.repeat(twice, len(own["b"]) // len(twice))  # type: ignore[arg-type]
        to_state = np.full_like(rows, 2) if cell == "gru" else rows  # a GRU's candidate was halved here, too
        made = {
            name: None if values is None else values * rows for name, values in own.items() if name != "W_h"
        }
        made |= {"W_x": W_x * rows[:, None], "b_u": None if b_u is None else b_u * 2}  # type: ignore[operator]
        made["W_h"] = None if own["W_h"] is None else own["W_h"] * to_state[:, None]
        found |= {f"weights.{n}.{name}": values for name, values in made.items() if values is not None}
    return found
