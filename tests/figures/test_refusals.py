"""What cannot be drawn or written is refused in a sentence."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import charts, export, live, perplexity
from rnnviz.figures.live import seriate, steady
from rnnviz.figures.themes import TANH
from rnnviz.reading.scoring import Piece
from tests.conftest import tiny
from tests.figures.test_export import many
from tests.refused import one_sentence

READ = rnnviz.trace(tiny("gru"), "He was here and there.\n")


def never() -> Iterator[Piece]:
    raise AssertionError("nothing may be scored")
    yield


def taken(folder: Path) -> Path:
    (folder / "out.csv").mkdir()
    return folder / "out.csv"


def written(path: Path) -> Any:
    return export.per_character(many(1), path)


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    **{
        f"live with {asked}": (lambda _, asked=asked: live.figure(READ, **asked), ConfigError, words)
        for asked, words in (
            ({"quantity": "cell"}, "received 'cell'"),
            ({"quantity": "soul"}, "received 'soul'"),
            ({"layer": 3}, "received 3"),
            ({"start": 4, "stop": 2}, "no window 4 to 2"),
            ({"at": 99}, "position 99"),
        )
    },
    "an order of a cube": (lambda _: seriate(np.zeros((2, 3, 4))), ConfigError, r"\(2, 3, 4\)"),
    "no steady unit": (lambda _: steady(np.zeros((3, 4)), 0), ConfigError, "received 0"),
    "steady units of a row": (lambda _: steady(np.zeros(3)), ConfigError, r"\(3,\)"),
    **{
        f"curves of {len(names)} models": (
            lambda _, names=names: perplexity.skeleton(names, length=1, ends=(0, 1)),
            ConfigError,
            f"received {len(names)}",
        )
        for names in ((), ("a", "b", "c"))
    },
    "a table of a row": (lambda _: charts.table(np.zeros(3), TANH), ConfigError, r"\(rows, T\)"),
    "a square that is none": (
        lambda _: charts.square(np.zeros((2, 3)), words=("a", "b", "c")),
        ConfigError,
        r"\(T, T\)",
    ),
    **{
        f"{count} lines": (
            lambda _, count=count: charts.lines({str(i): np.ones(2) for i in range(count)}),
            ConfigError,
            "lines apart",
        )
        for count in (0, charts.MOST + 1)
    },
    "a bar without a name": (lambda _: charts.ranking(["a"], [1.0, 2.0]), ConfigError, "a name for each bar"),
    "a histogram's edges": (lambda _: charts.histogram(np.ones(4), np.ones(4)), ConfigError, "5 edges"),
    "a path of one component": (
        lambda _: charts.path(np.zeros((6, 1)), np.zeros(6, int), charts.KINDS, explained=(1, 0)),
        ConfigError,
        r"\(T, 2\)",
    ),
    **{
        f"{what} {name}": (
            lambda tmp, act=act, name=name: act(tmp / name),
            ConfigError,
            "is csv or parquet; received '",
        )
        for what, act in (
            ("write", lambda path: export.per_character(never(), path)),
            ("check", export.check),
        )
        for name in ("out", "out.xlsx", "out.csv.gz")
    },
    **{
        f"{act.__name__} in no folder": (
            lambda tmp, act=act: act(tmp / "absent" / "out.csv"),
            ExportError,
            "can't be written",
        )
        for act in (written, export.check)
    },
    **{
        f"{act.__name__} over a folder": (
            lambda tmp, act=act: act(taken(tmp)),
            ExportError,
            "can't be written",
        )
        for act in (written, export.check)
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_in_a_sentence(what: str, tmp_path: Path) -> None:
    call, error, words = REFUSED[what]
    with pytest.raises(error, match=words) as caught:
        call(tmp_path)
    one_sentence(str(caught.value))
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
