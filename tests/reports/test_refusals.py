"""What no report can be made of is refused in a sentence."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.errors import CheckpointError, ConfigError, DecodingError, EmptyTextError, TextError
from rnnviz.networks.ngram import NgramModel
from rnnviz.reports.analysis import difference
from rnnviz.reports.column_files import COLUMNS, filename
from rnnviz.reports.interval import averages
from rnnviz.reports.record import Record, record
from tests.conftest import TEXT
from tests.refused import one_sentence
from tests.reports.recorded import Told, told

NGRAM = NgramModel.fit(TEXT, order=3, name="3gram")


def abc(folder: Path) -> Record:
    return told(folder, "abc", [1, 2, 3])


def closed(folder: Path) -> Record:
    made = abc(folder)
    made.close()
    return made


def kept(folder: Path, model: Any = NGRAM, source: Any = None, **options: Any) -> Any:
    return list(record(model, source, folder / "r", **options))


def cut(folder: Path, column: str, length: int) -> Record:
    whole = told(folder, "abc" * 700, np.ones(2100)).folder
    file = whole / filename(column)
    file.write_bytes(file.read_bytes()[:length])
    return Record.open(whole)


def described(folder: Path, change: Callable[[dict[str, Any]], str]) -> Record:
    file = abc(folder).folder / "report.json"
    file.write_text(change(json.loads(file.read_text())))
    return Record.open(file.parent)


DAMAGE: dict[str, Callable[[dict[str, Any]], str]] = {
    "empty": lambda report: "",
    "a list": lambda report: "[]",
    "of nothing": lambda report: "{}",
    "of another format": lambda report: json.dumps({**report, "format": 2}),
    "of another length": lambda report: json.dumps({**report, "characters": 7}),
}
READERS: dict[str, Callable[[Record, int, int], Any]] = {
    "text": Record.text,
    "known": Record.known,
    "ranks": Record.ranks,
}

REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    **{
        f"{name} {start} to {stop}": (
            lambda tmp, read=read, start=start, stop=stop: read(abc(tmp), start, stop),
            ConfigError,
            f"{start} to {stop} were asked for; this text has 3",
        )
        for name, read in READERS.items()
        for start, stop in ((-1, 2), (2, 1), (0, 4), (4, 4))
    },
    "sums to 4": (
        lambda tmp: abc(tmp).sums([0, 4]),
        ConfigError,
        r"positions lie in 0 \.\. 3; received 0 to 4",
    ),
    "of what was closed": (
        lambda tmp: closed(tmp).text(0, 1),
        ConfigError,
        "was closed; open it again",
    ),
    "texts of two lengths": (
        lambda tmp: difference(abc(tmp), told(tmp, "ab", [1, 2])),
        ConfigError,
        "texts of 3 and 2 characters",
    ),
    "two texts": (
        lambda tmp: difference(abc(tmp), told(tmp, "abb", [1, 2, 3])),
        ConfigError,
        "differ at character 3: score the same text",
    ),
    "more of a difference": (
        lambda tmp: difference(abc(tmp), abc(tmp)).values(0, 4),
        ConfigError,
        "this text has 3",
    ),
    # records
    "no record": (lambda tmp: Record.open(tmp / "absent"), TextError, r"codes\.u4 can't be opened"),
    **{
        f"{column} cut off after {length}": (
            lambda tmp, column=column, length=length: cut(tmp, column, length),
            TextError,
            "not the record of a scored text: .*score the text again",
        )
        for column in COLUMNS
        for length in (0, 8)
    },
    **{
        f"a report that is {name}": (
            lambda tmp, change=change: described(tmp, change),
            TextError,
            r"report\.json can't be read",
        )
        for name, change in DAMAGE.items()
    },
    "an average of nothing": (lambda _: averages([]), ConfigError, "received none"),
}

UNSCORED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "no characters": (lambda tmp: kept(tmp, text=""), EmptyTextError, "no characters"),
    "half a character": (lambda tmp: kept(tmp, text="half \ud83c"), TextError, "half of a surrogate pair"),
    "no probabilities": (
        lambda tmp: kept(tmp, Told(np.full(9000, np.nan)), text="a" * 9000),
        CheckpointError,
        "gave no probability",
    ),
    "no ASCII": (
        lambda tmp: kept(tmp, source=io.BytesIO("é".encode()), encoding="ascii"),
        DecodingError,
        "is not ascii",
    ),
    "no text": (lambda tmp: kept(tmp), ConfigError, "received neither"),
}


@pytest.mark.parametrize("what", [*REFUSED, *UNSCORED])
def test_it_is_refused_in_a_sentence(what: str, tmp_path: Path) -> None:
    call, error, words = {**REFUSED, **UNSCORED}[what]
    with pytest.raises(error, match=words) as caught:
        call(tmp_path)
    one_sentence(str(caught.value))
    assert what in REFUSED or not list(tmp_path.iterdir()), "what can't be scored leaves nothing"
