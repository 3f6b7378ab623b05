"""Many files scored: each has the figures of one alone; what is wrong with one takes nothing from others."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz.errors import ConfigError, EmptyTextError, TextError
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
    record_scores: list[Any] = []
    scoring = Scoring(tiny("gru"))
    results = dict(
        scoring.score_files(
            files,
            on_rows=lambda scored, file: rows.append((file, len(scored.scores))),
            on_record={files[0]: lambda record: record_scores.append(record.score)},
        )
    )
    assert list(results) == files
    assert list(map(type, results.values())) == [Score, EmptyTextError, TextError, RowsScore]
    text, _empty, _missing, table = results.values()
    assert text.perplexity == pytest.approx(rnnviz.perplexity(tiny("gru"), text=LONG).perplexity)
    ((_file, bare),) = scoring.score_files(files[:1])  # without a record of every character
    expected = interval(costs(tiny("gru"), LONG))
    for score in (text, bare):
        assert (score.interval.low, score.interval.high) == pytest.approx(
            (expected.low, expected.high), rel=1e-5
        )
    assert close([score.to_json() for score in record_scores], [text.to_json()])
    assert table.rows_scored == 2
    assert [n for _file, n in rows] == [1, 2]


def test_text_that_the_model_was_trained_on_is_known(files: list[str], tmp_path: Path) -> None:
    model = rnnviz.load(rnnviz.save(tiny("gru"), tmp_path / "trained.safetensors", corpus=LONG))
    other = tmp_path / "other.txt"
    other.write_text("".join(chr(97 + n * n % 23) for n in range(400)), encoding="utf-8")
    for scoring in (Scoring(model), Scoring(model, compare=True)):
        for file, share in ((files[0], 1.0), (str(other), 0.0)):
            ((_file, score),) = scoring.score_files([file])
            assert isinstance(score, Score)
            assert score.facts()["overlap"] == share
            assert ("score.trained-on" in {s.code for s in score.sentences()}) == (share == 1)
    ((_file, score),) = Scoring(tiny("gru")).score_files(files[:1])
    assert "overlap" not in score.facts(), "a model without a sketch"  # type: ignore[union-attr]


def test_file_of_rows_is_read_as_one_text(files: list[str]) -> None:
    ((_file, score),) = Scoring(tiny("gru"), read_as="text", compare=True).score_files(files[3:])
    assert type(score) is Score
    assert {row.kind for row in score.compared} >= {"model", "uniform", "unigram", "compressor"}
    assert [row.best for row in score.compared].count(True) == 1


def test_models_with_differing_readings_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("“Wait…” – he said.\r\n".encode() * 40)
    plain, folding = tiny("gru"), replace(tiny("lstm", name="folding"), normaliser="typography")
    for model, rival in ((plain, folding), (folding, plain)):
        scoring = Scoring(model, [ComparisonModel("model", "", rival)], compare=True)
        ((_file, score),) = scoring.score_files([str(tmp_path / "a.txt")])
        assert isinstance(score, Score)
        (caution,) = [sentence for sentence in score.sentences() if sentence.code == "score.read-apart"]
        assert caution.values["names"] == (["folding"] if model is plain else ["folding", "uniform"])
    ((_file, score),) = Scoring(plain, [ComparisonModel("model", "", tiny("rnn"))], compare=True).score_files(
        [str(tmp_path / "a.txt")]
    )
    assert "score.read-apart" not in [sentence.code for sentence in score.sentences()]  # type: ignore[union-attr]


def test_rows_have_no_record_of_characters(files: list[str]) -> None:
    ((_file, error),) = Scoring(tiny("gru")).score_files(files[3:], on_record={files[3]: print})
    assert isinstance(error, ConfigError)
    assert "one text per row" in str(error)
