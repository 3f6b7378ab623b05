"""The states of a whole corpus, written to one array on disk."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError, EmptyTextError, ExportError, TextError
from rnnviz.lab.analysis.states import PIECE_CHARS
from rnnviz.networks.cells import CELLS
from tests.support import needs
from tests.support.closeness import assert_states
from tests.support.traces import TEXT, spread_network

LONG = (TEXT * 200)[: 2 * PIECE_CHARS + 77]


@pytest.mark.parametrize("text", [TEXT, LONG[:PIECE_CHARS], LONG])
@pytest.mark.parametrize("cell", CELLS)
def test_the_states_on_disk_are_those_of_a_trace(cell: str, text: str, tmp_path: Path) -> None:
    model = spread_network(cell)
    traced = rnnviz.trace(model, text)
    states = rnnviz.states(model, text, output=tmp_path / "h.npy")
    assert isinstance(states, np.memmap)
    assert not states.flags.writeable
    assert_states(states, traced.hidden)
    assert_states(np.load(tmp_path / "h.npy"), traced.hidden)


@pytest.mark.parametrize("quantity", ["cell", "forget"])
def test_states_are_those_of_the_layer_and_quantity(quantity: str, tmp_path: Path) -> None:
    model = spread_network("lstm", layers=2)
    states = rnnviz.states(model, LONG, output=tmp_path / "c.npy", layer=1, quantity=quantity)
    assert_states(states, rnnviz.trace(model, LONG).values(quantity)[:, 1])


@needs.removal
def test_states_of_a_file_are_those_of_its_normalised_text(tmp_path: Path) -> None:
    model, book = spread_network("gru"), "a cab\r\nbad\r" * 900
    (tmp_path / "book.txt").write_bytes(book.encode("utf-16"))
    expected, shares = rnnviz.trace(model, book).hidden, list[float]()
    for source in (tmp_path / "book.txt", io.BytesIO(book.encode("utf-16"))):
        states = rnnviz.states(
            model, source, output=tmp_path / "h.npy", progress=lambda now: shares.append(now.fraction)
        )
        assert_states(states, expected)
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
    states = rnnviz.states(model, book, output=tmp_path / "h.npy")
    _, largest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert states.nbytes > 38_000_000
    assert largest < 12_000_000


@pytest.mark.parametrize(
    ("options", "kind", "message"),
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
def test_refused_states_leave_no_file(
    options: dict[str, object],
    kind: type[Exception],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=message):
        rnnviz.states(spread_network("gru"), **{"output": "h.npy", **options})  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
