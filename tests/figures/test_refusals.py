"""What cannot be drawn or written is refused in a sentence."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export
from rnnviz.scoring.record import Record
from rnnviz.text.files import check_output
from tests.refused import refused


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


def asked(path: Path) -> Any:
    return check_output(path, ".csv")


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    **{
        f"{what} {name}": (
            lambda tmp, act=act, name=name: act(tmp / name),
            ConfigError,
            "is csv or parquet; received '",
        )
        for what, act in (
            ("write", lambda path: export.per_character(Empty(), path)),
            ("format", export.format_of),
        )
        for name in ("out", "out.xlsx", "out.csv.gz")
    },
    **{
        f"{act.__name__} in no folder": (
            lambda tmp, act=act: act(tmp / "absent" / "out.csv"),
            ExportError,
            "can't be written",
        )
        for act in (written, asked)
    },
    **{
        f"{act.__name__} over a folder": (
            lambda tmp, act=act: act(taken(tmp)),
            ExportError,
            "can't be written",
        )
        for act in (written, asked)
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_in_a_sentence(what: str, tmp_path: Path) -> None:
    refused(*REFUSED[what], tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
