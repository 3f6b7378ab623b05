"""The states of a whole corpus, written to one array on disk."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError, EmptyTextError, ExportError, TextError
from rnnviz.lab.analysis.states import PIECE
from rnnviz.networks.cells import CELLS
from tests.support import needs
from tests.support.closeness import assert_states
from tests.support.traces import TEXT, spread_network

LONG = (TEXT * 200)[: 2 * PIECE + 77]


@pytest.mark.parametrize("text", [TEXT, LONG[:PIECE], LONG])
@pytest.mark.parametrize("cell", CELLS)
def test_the_states_on_disk_are_those_of_a_trace(cell: str, text: str, tmp_path: Path) -> None:
    model = spread_network(cell)
    traced = rnnviz.trace(model, text)
    found = rnnviz.states(model, text, output=tmp_path / "h.npy")
    assert isinstance(found, np.memmap)
    assert not found.flags.writeable
    assert_states(found, traced.hidden)
    assert_states(np.load(tmp_path / "h.npy"), traced.hidden)


@pytest.mark.parametrize("quantity", ["cell", "forget"])
def test_of_a_layer_and_a_quantity(quantity: str, tmp_path: Path) -> None:
    model = spread_network("lstm", layers=2)
    found = rnnviz.states(model, LONG, output=tmp_path / "c.npy", layer=1, quantity=quantity)
    assert_states(found, rnnviz.trace(model, LONG).values(quantity)[:, 1])


@needs.removal
def test_of_a_file_with_what_normalising_changes(tmp_path: Path) -> None:
    model, book = spread_network("gru"), "a cab\r\nbad\r" * 900
    (tmp_path / "book.txt").write_bytes(book.encode("utf-16"))
    expected, shares = rnnviz.trace(model, book).hidden, list[float]()
    for given in (tmp_path / "book.txt", io.BytesIO(book.encode("utf-16"))):
        found = rnnviz.states(
            model, given, output=tmp_path / "h.npy", progress=lambda now: shares.append(now.fraction)
        )
        assert_states(found, expected)
    assert shares[-1] == 1
    assert all(0 <= share <= 1 for share in shares)
    assert_states(
        rnnviz.states(model, path=str(tmp_path / "book.txt"), output=tmp_path / "again.npy"), expected
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    model = spread_network("gru", hidden_size=256, layers=1)
    book = tmp_path / "book.txt"
    book.write_text("a cab, a bad beef. " * 2_000)
    rnnviz.states(model, "a cab", output=tmp_path / "h.npy")
    tracemalloc.start()
    found = rnnviz.states(model, book, output=tmp_path / "h.npy")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.nbytes > 38_000_000
    assert most < 12_000_000


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ({"text": ""}, EmptyTextError, "has no characters"),
        ({"text": "ab", "layer": 2}, ConfigError, "received layer 2"),
        ({"text": "ab", "quantity": "cell"}, ConfigError, "received 'cell'"),
        ({"text": "ab", "path": "book.txt"}, ConfigError, "received both"),
        ({}, ConfigError, "received neither"),
        ({"text": "ab", "output": "absent/h.npy"}, ExportError, "there is no folder for it"),
        ({"text": Path("absent.txt")}, TextError, "there is no file"),
    ],
)
def test_nothing_is_written_where_something_is_refused(
    asked: dict[str, object],
    kind: type[Exception],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=said):
        rnnviz.states(spread_network("gru"), **{"output": "h.npy", **asked})  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
