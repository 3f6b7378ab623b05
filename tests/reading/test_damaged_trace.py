"""Trace files as accidents and strangers may leave them: a sentence comes out, and little is unpacked."""

import io
import json
import os
import tracemalloc
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import CheckpointError
from rnnviz.reading.trace import Trace, trace
from tests.networks.test_damaged_files import JSON, places, put
from tests.reading.test_trace import TEXT, make


@cache
def whole() -> bytes:
    """A sound file."""
    return trace(make("lstm", layers=2), TEXT).to_bytes("forget")


def used(content: bytes) -> None:
    """Load it, and look at all there is."""
    said, found = "", None
    try:
        found = Trace.load(io.BytesIO(content))
    except CheckpointError as error:
        said = str(error)
    assert len(said.encode()) < 1500
    if found is None:
        return
    with np.errstate(all="ignore"):
        assert found.log_probs.shape == (len(found) + 1, found.vocabulary.size)
        assert repr(found)
        _ = found.gates, found.cell, found.perplexity, found[1:3].entropy


def arrays_of(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return dict(file)


def packed(arrays: dict[str, Any]) -> bytes:
    np.savez_compressed(out := io.BytesIO(), **arrays)
    return out.getvalue()


@given(data=st.data())
def test_whatever_it_says_of_itself_only_words_come_out(data: st.DataObject) -> None:
    arrays = arrays_of(whole())
    about = json.loads(arrays["about"].tobytes())
    for _ in range(data.draw(st.integers(1, 2))):
        put(about, data.draw(st.sampled_from(places(about))), data.draw(JSON))
    used(packed({**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)}))


@given(
    name=st.integers(0, 100),
    shape=st.lists(st.integers(0, 40), max_size=3),
    kind=st.sampled_from(["f4", "f8", "i8", "u4", "U3", "?", "c16", "M8[s]", "S2"]),
    how=st.sampled_from(["shape", "type", "drop", "largest", "not a number"]),
)
def test_whatever_its_arrays_are_only_words_come_out(
    name: int, shape: list[int], kind: str, how: str
) -> None:
    arrays = arrays_of(whole())
    key = sorted(arrays)[name % len(arrays)]
    old = arrays.pop(key)
    if how == "shape":
        arrays[key] = np.zeros(shape, old.dtype)
    elif how == "type":
        arrays[key] = np.zeros(old.shape, kind)
    elif how != "drop":
        with np.errstate(all="ignore"):
            arrays[key] = np.full(old.shape, 2.0**31 if how == "largest" else np.nan).astype(old.dtype)
    used(packed(arrays))


def test_a_trace_of_a_cell_that_is_gone_says_which_version_reads_it() -> None:
    arrays = arrays_of(whole())
    about = json.loads(arrays["about"].tobytes())
    about["layers"] = [["minlstm", *layer[1:]] for layer in about["layers"]]
    file = packed({**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)})
    with pytest.raises(CheckpointError, match=r"cell minlstm; rnnviz 1\.0\.0 does: pip install "):
        Trace.load(io.BytesIO(file))


def test_an_array_less_is_no_trace_or_the_same_one() -> None:
    arrays = arrays_of(whole())
    for key in arrays:
        used(packed({name: values for name, values in arrays.items() if name != key}))


@given(
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=4),
    cut=st.integers(0, 2**20) | st.none(),
)
def test_whatever_bytes_are_changed_only_words_come_out(
    changes: list[tuple[int, int]], cut: int | None
) -> None:
    content = bytearray(whole())
    for at, value in changes:
        content[-1 - at % len(content)] = value  # the archive's list stands at its end
    used(bytes(content) if cut is None else bytes(content[: cut % len(content)]))


def entry(header: bytes, data: bytes = b"") -> bytes:
    """An npz archive whose array "about" begins with this header."""
    with zipfile.ZipFile(out := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "about.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data
        )
    return out.getvalue()


def bomb() -> bytes:
    """A hundred megabytes of zeros."""
    header = {"descr": "|u1", "fortran_order": False, "shape": (100 << 20,)}
    with (
        zipfile.ZipFile(out := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("about.npy", "w") as file,
    ):
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(100):
            file.write(bytes(1 << 20))
    return out.getvalue()


SIZES = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"


@pytest.mark.parametrize(
    "header",
    [
        SIZES % b"1000000000000000",
        SIZES % b"-5",
        SIZES % (b"9" * 30),
        b"(",
        b"[" * 5000,
        b"{'descr': '|O'}",
        b"\xff",
    ],
)
def test_no_promise_of_a_header_is_believed(header: bytes) -> None:
    with pytest.raises(CheckpointError, match="is no trace"):
        Trace.load(io.BytesIO(entry(header)))


def test_a_bomb_is_not_unpacked() -> None:
    content = bomb()
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="more than 300 times its size"):
            Trace.load(io.BytesIO(content))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "endless.npz").symlink_to("/dev/zero")
    with (tmp_path / "sparse.npz").open("wb") as file:
        file.truncate(1 << 40)
    for name in ("pipe.npz", "endless.npz", "sparse.npz"):
        with pytest.raises(CheckpointError, match="is no trace"):
            Trace.load(tmp_path / name)
