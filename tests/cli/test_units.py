"""`python -m rnnviz units`: the table, JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.units.built import built, quoted


@pytest.fixture
def model(tmp_path: Path) -> str:
    """The file of the network whose units are known."""
    return str(save(built(), tmp_path / "built.safetensors"))


@pytest.fixture
def book(tmp_path: Path) -> str:
    path = tmp_path / "book.txt"
    path.write_text(quoted(4000), encoding="utf-8")
    return str(path)


def test_the_table_names_the_units_that_were_built_for_it(
    model: str, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--file", book]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("built, hidden, 3,9") or out[0].startswith("built, hidden, 4,0")
    assert out[1].split() == [
        "target",
        "share",
        "measure",
        "unit",
        "ranked",
        "by",
        "held",
        "out",
        "chance",
        "above",
        "character",
    ]
    rows = {line.split()[0]: line for line in out[2:]}
    assert rows.keys() == units.KINDS.keys()
    assert "AUC" in rows["quotes"]
    assert "+0:1" in rows["quotes"]
    assert "1.000     1.000" in rows["quotes"]
    assert "+0:0" in rows["line-position"]
    assert "the same throughout this text" in rows["digit"]


def test_json_has_a_line_for_each_target(model: str, book: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--target", "quotes", "--target", "digit", "--pattern", "[aA]", "--edges", "2", "--json"]
    assert main(["units", "--model", model, "--file", book, "--characters", "2000", *arguments]) == 0
    quotes, digit, pattern = map(json.loads, capsys.readouterr().out.splitlines())
    assert quotes["units"][0]["unit"] == 1
    assert quotes["units"][0]["score"] == 1.0
    assert quotes["characters"] == 2000
    assert quotes["held_out"] is True
    assert 0.5 < quotes["chance"] < 1
    assert digit["why_not"] == "the same throughout this text"
    assert pattern["target"] == "/[aA]/"
    assert len(pattern["units"]) == 8


def test_a_corpus_is_read_where_it_was_held_out(
    model: str, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--corpus", book, "--target", "capital"]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    length = len(Path(book).read_text(encoding="utf-8"))
    assert said == f"built, hidden, {length - int(length * 0.9):,} characters"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "verbs"], "there is no target 'verbs'"),
        (["--pattern", "("], "is no regular expression"),
        (["--quantity", "update"], "rnn cells has hidden"),
        (["--layer", "3"], "received layer 3"),
        (["--characters", "0"], "characters is at least 1"),
    ],
)
def test_what_it_refuses(
    model: str, book: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--file", book, *arguments]) == 1
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out


def test_an_ngram_model_has_no_units(
    only_tiny_models: Path, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", "tiny-3gram", "--file", book]) == 1
    assert "counts n-grams" in capsys.readouterr().err
