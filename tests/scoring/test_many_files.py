"""Many files scored: each has the figures of one alone; what is wrong with one takes nothing from others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.errors import RnnvizError
from rnnviz.scoring.interval import interval
from rnnviz.scoring.many_files import ComparisonModel, Scoring
from rnnviz.scoring.score import RowsScore, Score
from tests.support.closeness import close
from tests.support.models import TEXT, tiny
from tests.support.pieces import costs

LONG = TEXT * 8


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "a.txt").write_text(LONG, encoding="utf-8")
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text('{"text": "the machine"}\n{"text": "and"}\n', encoding="utf-8")
    return [str(tmp_path / name) for name in ("a.txt", "empty.txt", "no.txt", "rows.jsonl")]


def test_file_has_its_figures_or_its_error(files: list[str]) -> None:
    rows: list[tuple[str, int]] = []
    kept: list[Any] = []
    scoring = Scoring(tiny("gru"))
    found = dict(
        scoring.score_files(
            files,
            add=lambda scored, file: rows.append((file, len(scored.scores))),
            keep={files[0]: lambda record: kept.append(record.score)},
        )
    )
    assert list(found) == files
    text, empty, missing, table = found.values()
    assert type(text) is Score
    assert text.perplexity == pytest.approx(rnnviz.perplexity(tiny("gru"), text=LONG).perplexity)
    ((_file, bare),) = scoring.score_files(files[:1])  # without a record of every character
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
    ((_file, found),) = Scoring(tiny("gru"), read_as="text", compare=True).score_files(files[3:])
    assert type(found) is Score
    assert {one.kind for one in found.compared} >= {"model", "uniform", "unigram", "compressor"}
    assert [one.best for one in found.compared].count(True) == 1


def test_models_that_read_a_text_differently_are_named_and_the_files_own_rows_stay(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("“Wait…” – he said.\r\n".encode() * 40)
    plain, folding = tiny("gru"), replace(tiny("lstm", name="folding"), normaliser="typography")
    found = []
    for model, other in ((plain, folding), (folding, plain)):
        scoring = Scoring(model, [ComparisonModel("model", "", other)], compare=True)
        ((_file, score),) = scoring.score_files([str(tmp_path / "a.txt")])
        assert isinstance(score, Score)
        (said,) = [one for one in score.sentences() if one.code == "score.read-apart"]
        assert said.values["names"] == (["folding"] if model is plain else ["folding", "uniform"])
        rows = {one.name: one for one in score.compared}
        found.append((score.bytes, *(rows[name].bits_per_character for name in ("unigram", "gzip", "xz"))))
    assert found[0] == found[1]
    ((_file, score),) = Scoring(plain, [ComparisonModel("model", "", tiny("rnn"))], compare=True).score_files(
        [str(tmp_path / "a.txt")]
    )
    assert "score.read-apart" not in [one.code for one in score.sentences()]  # type: ignore[union-attr]


def test_characters_are_kept_of_texts_alone(files: list[str]) -> None:
    ((_file, found),) = Scoring(tiny("gru")).score_files(files[3:], keep={files[3]: print})
    assert isinstance(found, RnnvizError)
    assert "a text a row" in str(found)
