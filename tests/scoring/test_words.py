"""Words: each character counts for one, so their costs add up to the text's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.figures import export
from rnnviz.scoring import words
from rnnviz.scoring.words import words_of_text
from tests.support.models import TEXT, tiny
from tests.support.recorded import make_record, record_costs

SPACED = " It is\t late.\n\n“Half past ten,”  she said. "


def costs(text: str) -> Any:
    return np.arange(1.0, len(text) + 1)


@pytest.mark.parametrize(
    "text", ["", " \n ", "word", SPACED, "a " * 500, TEXT, "水 and 茶, twice and once more"]
)
@pytest.mark.parametrize("blanks", ["next", "previous"])
def test_words_are_the_texts_and_add_up_to_it(text: str, blanks: Any) -> None:
    found = words_of_text(text, blanks)
    columns = found.columns(costs(text))
    places = list(zip(columns["start"], columns["end"], strict=True))
    assert columns["word"] == [text[a:b] for a, b in places] == (text.split() or [""] * bool(text))
    assert columns["nats"].sum() == pytest.approx(costs(text).sum(), rel=1e-12)
    np.testing.assert_allclose(columns["bits"] * np.log(2), columns["nats"])


def test_white_space_counts_for_the_next_word_or_the_previous() -> None:
    text = " I  am. "
    next_word, previous = (words_of_text(text, b).columns(costs(text))["nats"] for b in ("next", "previous"))
    assert next_word.tolist() == [1 + 2, 3 + 4 + 5 + 6 + 7 + 8]  # what stands at the end has no next word
    assert previous.tolist() == [1 + 2 + 3 + 4, 5 + 6 + 7 + 8]


def test_chinese_characters_are_words() -> None:
    text = "行者笑道：“好 OK了。”"
    found = words_of_text(text).columns(costs(text))
    assert found["word"] == ["行", "者", "笑", "道", "：“", "好", "OK", "了", "。”"]
    assert found["nats"].sum() == costs(text).sum()
    assert words_of_text("a few words, and 茶").columns(costs("a few words, and 茶"))["word"][-1] == "茶"


def test_frame_has_a_row_per_word() -> None:
    read = rnnviz.trace(tiny("gru"), SPACED)
    frame = read.frame(by="word")
    assert list(frame.columns) == ["word", "start", "end", "nats", "bits"]
    assert frame.word.tolist() == SPACED.split()
    assert frame.nats.sum() == pytest.approx(read.nll.sum(), rel=1e-6)
    assert len(read[:0].frame(by="word")) == 0
    with pytest.raises(ConfigError, match="a row is a 'character' or a 'word'; received 'line'"):
        read.frame(by="line")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the 'next' word or the 'previous' one; received 'both'"):
        read.frame(by="word", blanks="both")  # type: ignore[arg-type]


@pytest.mark.parametrize("blanks", ["next", "previous"])
def test_long_texts_words_come_in_stretches(
    blanks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "STRETCH_CHARS", 7)
    record = make_record(tmp_path, tiny("lstm"), SPACED * 9)
    export.per_word(record, tmp_path / "words.csv", blanks=blanks)
    table = pd.read_csv(tmp_path / "words.csv")
    assert table.word.tolist() == (SPACED * 9).split()
    expected = words_of_text(SPACED * 9, blanks).columns(record.read("nll"))
    np.testing.assert_allclose(table.nats, expected["nats"])
    assert table.nats.sum() == pytest.approx(record.score.nll, rel=1e-6)


def test_costliest_words_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "STRETCH_CHARS", 2)
    text = "one two three four five"
    parts = zip(re.findall(r"\s*\S+", text), [1, 5, 2, 4, 3], strict=True)
    nats = np.concatenate([np.full(len(part), cost) for part, cost in parts])
    found = words.costliest_words(record_costs(tmp_path, text, nats), 3)
    assert [word.text for word in found] == ["two", "four", "five"]
    assert [text[word.start : word.stop] for word in found] == ["two", "four", "five"]
    assert found[0].bits == pytest.approx(4 * 5 / np.log(2))


def test_words_that_are_formulas_are_text_in_a_spreadsheet(tmp_path: Path) -> None:
    record = record_costs(tmp_path, "=1+1 and -", np.ones(10))
    export.per_word(record, tmp_path / "words.csv")
    rows = (tmp_path / "words.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["word", "'=1+1", "and", "-"]
