"""What cannot be drawn or written is refused in a sentence."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export, live, perplexity, pictures
from rnnviz.figures.live import seriate, steady
from rnnviz.findings import Bars, Heat, Histogram, Lines, Square
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
    **{
        what: (lambda _, picture=picture: pictures.draw(picture), ConfigError, said)
        for what, picture, said in (
            ("a table of a row", Heat(np.zeros(3), ("diverging", -1.0, 1.0), "", ""), r"\(rows, T\)"),
            ("a square that is none", Square(np.zeros((2, 3)), "", ""), r"\(T, T\)"),
            ("no lines", Lines([], "", ""), "lines apart"),
            ("too many lines", Lines([("a", np.ones(2))] * (pictures.MOST + 1), "", ""), "lines apart"),
            ("a bar without a name", Bars(["a"], [1.0, 2.0], ""), "a name for each bar"),
            ("a histogram's edges", Histogram(np.ones(4), np.ones(4), "", ""), "5 edges"),
        )
    },
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
