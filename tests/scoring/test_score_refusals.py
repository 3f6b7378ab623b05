"""What no score can be made of is refused in a sentence."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.errors import CheckpointError, ConfigError, DecodingError, EmptyTextError, TextError
from rnnviz.scoring.breakdown import compare_records
from rnnviz.scoring.column_files import ColumnFiles, filename
from rnnviz.scoring.record import Record, record
from rnnviz.scoring.score import averages
from tests.support.paper import ConstantModel
from tests.support.recorded import NGRAM, CostsModel, record_costs
from tests.support.refused import assert_refused


def abc(folder: Path) -> Record:
    return record_costs(folder, "abc", [1, 2, 3])


def closed(folder: Path) -> Record:
    text_record = abc(folder)
    text_record.close()
    return text_record


def record_of(folder: Path, model: Any = NGRAM, source: Any = None, **options: Any) -> Any:
    return record(model, source, folder / "r", **options)


def cut(folder: Path, column: str) -> None:
    text_record = abc(folder)
    os.truncate(text_record.folder / filename(column), 0)
    text_record.read(column)


READERS: dict[str, Callable[[Record, int, int], Any]] = {
    "text": Record.text,
    "is_known": Record.is_known,
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
        lambda tmp: compare_records(abc(tmp), record_costs(tmp, "ab", [1, 2])),
        ConfigError,
        "texts of 3 and 2 characters",
    ),
    "two texts": (
        lambda tmp: compare_records(abc(tmp), record_costs(tmp, "abb", [1, 2, 3])),
        ConfigError,
        "differ at character 3: score the same text",
    ),
    "more of a difference": (
        lambda tmp: compare_records(abc(tmp), abc(tmp)).values(0, 4),
        ConfigError,
        "this text has 3",
    ),
    # records
    "no record": (lambda tmp: ColumnFiles(tmp / "absent"), TextError, r"codes\.u4 can't be opened"),
    "costs cut off": (
        lambda tmp: cut(tmp, "nll"),
        TextError,
        "not the record of a scored text: nll.f4 became shorter; score the text again",
    ),
    "an average of nothing": (lambda _: averages([]), ConfigError, "received none"),
}

UNSCORED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "no characters": (lambda tmp: record_of(tmp, text=""), EmptyTextError, "no characters"),
    "half a character": (
        lambda tmp: record_of(tmp, text="half \ud83c"),
        TextError,
        "half of a surrogate pair",
    ),
    "no probabilities": (
        lambda tmp: record_of(tmp, CostsModel(np.full(9000, np.nan)), text="a" * 9000),
        CheckpointError,
        "gave no probability",
    ),
    "no ASCII": (
        lambda tmp: record_of(tmp, source=io.BytesIO("é".encode()), encoding="ascii"),
        DecodingError,
        "is not ascii",
    ),
    "no details": (
        lambda tmp: record_of(tmp, ConstantModel(-1.0), text="ab"),
        ConfigError,
        r"'own', ConstantModel, has no method advance_details\(ids\)",
    ),
    "no text": (lambda tmp: record_of(tmp), ConfigError, "received neither"),
}


@pytest.mark.parametrize("case", [*REFUSED, *UNSCORED])
def test_bad_score_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    assert_refused(*{**REFUSED, **UNSCORED}[case], tmp_path)
    assert case in REFUSED or not list(tmp_path.iterdir()), "what can't be scored leaves nothing"
