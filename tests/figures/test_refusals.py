"""What cannot be drawn or written is refused in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export, live, perplexity
from rnnviz.figures.live import seriate, steady
from rnnviz.reports.record import Record
from tests.conftest import tiny
from tests.refused import one_sentence

READ = rnnviz.trace(tiny("gru"), "He was here and there.\n")


class Empty(Record):
    """A record of nothing: what can't be written is refused all the same."""

    def __init__(self) -> None:
        pass

    def __len__(self) -> int:
        return 0


def taken(folder: Path) -> Path:
    (folder / "out.csv").mkdir()
    return folder / "out.csv"


def written(path: Path) -> Any:
    return export.per_character(Empty(), path)


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "a plane of no such quantity": (
        lambda _: live.plane(READ, "cell", 0, 0, 1),
        ConfigError,
        "received 'cell'",
    ),
    "a plane of no such layer": (lambda _: live.plane(READ, "hidden", 3, 0, 1), ConfigError, "received 3"),
    "a scale of no such quantity": (lambda _: live.scale("soul"), ConfigError, "received 'soul'"),
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
        f"{what} {name}": (
            lambda tmp, act=act, name=name: act(tmp / name),
            ConfigError,
            "is csv or parquet; received '",
        )
        for what, act in (
            ("write", lambda path: export.per_character(Empty(), path)),
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
