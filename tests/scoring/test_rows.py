"""The perplexity of rows: each that of its text alone, together that of all characters."""

import math
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import rnnviz
from rnnviz.networks.batched_scoring import CharScorer
from rnnviz.networks.checkpoint import load
from rnnviz.networks.progress import Share
from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.scoring.rows import RowScore, score_rows
from rnnviz.text import row_files
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import TEXT, tiny
from tests.support.rows import row_file, score_file_rows


@pytest.fixture(params=["tiny-gru", "tiny-lstm", "tiny-3gram"])
def model(request: pytest.FixtureRequest, models_folder: Path) -> Any:
    return load(models_folder / f"{request.param}.safetensors")


def pairs(count: int) -> list[dict[str, str]]:
    rng = np.random.default_rng(1)
    begins, lengths = rng.integers(0, len(TEXT) - 300, count), rng.integers(1, 200, count)
    return [
        {"before": TEXT[a : a + n % 30], "text": TEXT[a + n % 30 : a + n % 30 + n] + "ü\r\n" * (n % 2)}
        for a, n in zip(begins.tolist(), lengths.tolist(), strict=True)
    ]


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("context_column", [None, "before"])
def test_a_row_costs_what_its_text_costs(model: Any, context_column: str | None, precise: bool) -> None:
    rows = pairs(70)
    row_scores, score = score_file_rows(model, row_file(rows, context=context_column), precise=precise)
    alone = [
        perplexity(model, text=row["text"], context=row["before"] if context_column else "", precise=precise)
        for row in rows
    ]
    counts = ("characters", "unknown", "words", "given_characters")
    for n, (row_score, expected) in enumerate(zip(row_scores, alone, strict=True)):
        assert row_score.perplexity == pytest.approx(expected.perplexity, rel=1e-8 if precise else 1e-4)
        assert row_score.nll == pytest.approx(expected.nll, rel=1e-3, abs=1e-3)
        assert row_score.word_perplexity == pytest.approx(expected.word_perplexity, rel=1e-3)
        assert row_score.row == n
        assert [getattr(row_score, name) for name in counts] == [getattr(expected, name) for name in counts]
    nats = sum(text_score.characters * math.log(text_score.perplexity) for text_score in alone)
    nats_known = sum((e.characters - e.unknown) * math.log(e.perplexity_known or 1) for e in alone)
    known_characters = score.characters - score.unknown
    assert score.perplexity == pytest.approx(math.exp(nats / score.characters), rel=1e-4)
    assert score.perplexity_known == pytest.approx(math.exp(nats_known / known_characters), rel=1e-4)
    for name in (*counts, "bytes", "normalised"):
        assert getattr(score, name) == sum(getattr(text_score, name) or 0 for text_score in alone), name
    assert (score.precise, score.given, score.normaliser) == (precise, context_column, model.normaliser)


def test_short_rows_are_read_side_by_side_unless_precise() -> None:
    side_by_side = CharScorer.score_texts
    with mock.patch.object(CharScorer, "score_texts", autospec=True, side_effect=side_by_side) as score_texts:
        for precise in (False, True):
            score_file_rows(tiny("gru"), row_file(pairs(9)), precise=precise)
    assert [len(call.args[1]) for call in score_texts.call_args_list] == [9]


def test_row_progress_grows_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    model, rows, steps = tiny("gru"), pairs(40), list[Share]()
    _, at_once = score_file_rows(model, row_file(rows))
    monkeypatch.setattr(row_files, "BATCH_ROWS", 7)
    monkeypatch.setattr(row_files, "BATCH_CHARS", 900)
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0)
    score = score_rows(model, row_file(rows), progress=steps.append)
    assert (score.file, score.model, score.encoding) == ("rows.jsonl", model.name, "utf-8")
    assert len(steps) >= 7
    assert [share.fraction for share in steps] == sorted(share.fraction for share in steps)
    assert steps[0].fraction > 0
    assert steps[-1] == Share(1.0, score.characters, pytest.approx(score.perplexity))
    assert score.perplexity == pytest.approx(at_once.perplexity, rel=1e-6)  # however rows are batched


def test_a_bad_row_is_left_out_and_counted(model: Any) -> None:
    good = pairs(4)
    bad = ['{"text": null}', "{", '{"text": ""}', '{"text": "\\r\\n"}', '{"other": 1}', '{"text": 1}']
    row_scores, score = score_file_rows(model, row_file([good[0], *bad, *good[1:]]))
    for row, row_score in enumerate(row_scores):
        is_bad = row in (1, 2, 3, 5, 6)
        figures = (row_score.fault is not None, row_score.perplexity is None, math.isnan(row_score.nll))
        assert (row_score.row, *figures) == (row, is_bad, is_bad, is_bad)
    assert (score.rows, score.rows_scored) == (10, 5)
    assert score.rows_left_out == {"null": 1, "broken": 1, "empty": 1, "missing": 1, "type": 1}
    assert [(row, str(error)) for row, error in score.examples][::2] == [
        (1, "its text is null"),
        (3, "it has no characters"),
        (6, "its text is a number, not a text"),
    ]
    _, alone = score_file_rows(model, row_file([*good, {"text": "\n"}]))
    assert score.perplexity == pytest.approx(alone.perplexity, rel=1e-6)


def test_perplexity_of_rows_scores_a_csv_file(tmp_path: Path) -> None:
    uniform = UniformModel(Vocabulary((" ", "a", "b")))
    (tmp_path / "a.csv").write_text("id,text\n1,ab ba\n2,\n")
    score = rnnviz.perplexity_of_rows(uniform, tmp_path / "a.csv", precise=True)
    assert score.precise
    assert (score.column, score.rows, score.characters) == ("text", 2, 5)
    assert score.perplexity == pytest.approx(4.0)
    rows: list[RowScore] = []
    rnnviz.perplexity_of_rows(uniform, tmp_path / "a.csv", column="text", on_row=rows.append)
    assert [(row.row, row.characters, row.fault is None) for row in rows] == [(0, 5, True), (1, 0, False)]
    assert rnnviz.perplexity(uniform, tmp_path / "a.csv").characters == 19, "without a column it is one text"
