"""The formats between server and browser.

To the browser: one block of bytes. Arrays stay binary, so 120 × 256 colours cost 30 KB and no parsing.

4 bytes   length of the header, little-endian
header    JSON in UTF-8, padded with spaces to a multiple of 8; its key "arrays" gives for each name
          the numpy type, the shape and the offset after the header
arrays    one after another, each at a multiple of 8

From the browser: a JSON object, the ask. `valid` makes an ask that the page can answer from any JSON value.
"""

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from rnnviz.arrays import Array

ARRAY_TYPES = ("<f4", "<u4", "<u2", "|u1")
# JavaScript makes a typed array over a buffer, without a copy, only at a multiple of its items' size; 8 suits
# all of them.
ALIGNMENT_BYTES = 8

T = TypeVar("T")
Accepts = Callable[[Any], bool]


def pack(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
    """One block of bytes, in the format above.

    Raises ValueError for NaN or infinity in the header, and for an array whose type is not among ARRAY_TYPES.
    """
    directory: dict[str, list[Any]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, array in arrays.items():
        if array.dtype.str not in ARRAY_TYPES:
            raise ValueError(f"{name} has type {array.dtype.str}; the browser reads {', '.join(ARRAY_TYPES)}")
        data = np.ascontiguousarray(array).tobytes()
        directory[name] = [array.dtype.str[1:], list(array.shape), offset]
        padding = -len(data) % ALIGNMENT_BYTES
        parts += [data, b" " * padding]
        offset += len(data) + padding
    text = json.dumps(
        {**header, "arrays": directory}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    encoded = text.encode(errors="replace")  # a file's JSON may hold half a surrogate pair, which becomes "?"
    # With the 4 bytes of its length, so that the arrays begin at a multiple too.
    encoded += b" " * (-(len(encoded) + 4) % ALIGNMENT_BYTES)
    return b"".join([struct.pack("<I", len(encoded)), encoded, *parts])


def unpack(block: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """The header and the arrays that `pack` put into `block`; arrays are read-only views into it."""
    (length,) = struct.unpack_from("<I", block)
    header: dict[str, Any] = json.loads(block[4 : 4 + length])
    arrays = {}
    for name, (kind, shape, offset) in header.pop("arrays").items():
        count = int(np.prod(shape))
        flat = np.frombuffer(block, np.dtype(f"<{kind}"), count, 4 + length + offset)
        arrays[name] = flat.reshape(shape)
    return header, arrays


def valid(kind: type[T], value: object, /, **accepted: Accepts) -> T:
    """The dataclass `kind` from any JSON value; missing or unaccepted fields keep their defaults.

    `accepted` has a predicate for each field that a browser may set.
    """
    fields = value if isinstance(value, Mapping) else {}
    good = {name for name, accepts in accepted.items() if name in fields and accepts(fields[name])}
    return kind(**{name: fields[name] for name in good})


def text(max_chars: int) -> Accepts:
    """Accepts a string of at most `max_chars` characters."""
    return lambda value: isinstance(value, str) and len(value) <= max_chars


def whole(low: int = 0, high: int = 2**53 - 1) -> Accepts:
    """Accepts an integer from `low` to `high`, no bool; 2**53 − 1 is JavaScript's largest safe integer."""
    return lambda value: type(value) is int and low <= value <= high


def number(low: float, high: float) -> Accepts:
    """Accepts a number from `low` to `high`, no bool and no NaN."""
    return lambda value: type(value) in (int, float) and low <= value <= high


def true(value: Any) -> bool:
    """Accepts True alone: 1 == True in Python, and JSON has both."""
    return value is True
