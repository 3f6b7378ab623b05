"""Many files scored: each has the figures of one alone; what is wrong with one takes nothing from others."""

from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.errors import RnnvizError
from rnnviz.scoring.interval import interval
from rnnviz.scoring.many_files import Scoring
from rnnviz.scoring.score import RowsScore, Score
from tests.closeness import close
from tests.conftest import TEXT, tiny
from tests.scoring.pieces import costs

LONG = TEXT * 8


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "a.txt").write_text(LONG, encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"text": "the machine"}\n{"text": "and"}\n', encoding="utf-8")
    return [str(tmp_path / name) for name in ("a.txt", "empty.txt", "no.txt", "rows.jsonl")]


def test_each_file_has_its_figures_or_what_is_wrong_with_it(files: list[str]) -> None:
    rows: list[tuple[str, int]] = []
    kept: list[Any] = []
    scoring = Scoring(tiny("gru"))
    found = dict(
        scoring.each(
            files,
            add=lambda scored, file: rows.append((file, len(scored.scores))),
            keep={files[0]: lambda record: kept.append(record.score)},
        )
    )
    assert list(found) == files
    text, empty, missing, table = found.values()
    assert type(text) is Score
    assert text.perplexity == pytest.approx(rnnviz.perplexity(tiny("gru"), text=LONG).perplexity)
    ((_file, bare),) = scoring.each(files[:1])  # without a record of every character
    expected = interval(costs(tiny("gru"), LONG))
    for one in (text, bare):
        assert (one.interval.low, one.interval.high) == pytest.approx((expected.low, expected.high), rel=1e-5)
    assert close([one.to_json() for one in kept], [text.to_json()])
    assert isinstance(empty, RnnvizError)
    assert isinstance(missing, RnnvizError)
    assert isinstance(table, RowsScore)
    assert table.rows_scored == 2
    assert [n for _file, n in rows] == [1, 2]


def test_a_file_of_rows_may_be_read_as_one_text(files: list[str]) -> None:
    ((_file, found),) = Scoring(tiny("gru"), read_as="text", compare=True).each(files[3:])
    assert type(found) is Score
    assert {one.kind for one in found.compared} >= {"model", "uniform", "unigram", "compressor"}
    assert [one.best for one in found.compared].count(True) == 1


def test_characters_are_kept_of_texts_alone(files: list[str]) -> None:
    ((_file, found),) = Scoring(tiny("gru")).each(files[3:], keep={files[3]: print})
    assert isinstance(found, RnnvizError)
    assert "a text a row" in str(found)
