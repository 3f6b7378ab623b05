"""`python -m rnnviz match`: where its index is kept, and its passage comes from."""

import io
import sys
from pathlib import Path

import pytest

from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.units.built import built, quoted

BOOK = quoted(4000)
SAID = "ab “cde” f"
SPAN = ["--text", SAID, "--span", "3:7", "--threshold", "0.9"]


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command for the network and text that are known; the cache is a folder of the test."""
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    model = str(save(built(), tmp_path / "built.safetensors"))
    (tmp_path / "book.txt").write_text(BOOK, encoding="utf-8")
    return ["match", "--model", model, "--file", str(tmp_path / "book.txt")]


def test_the_index_is_kept_where_it_was_asked_for_and_found_again(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, *SPAN]) == 0
    first = capsys.readouterr().out
    assert not (tmp_path / "cache").exists()
    assert main([*asked, *SPAN, "--index", str(tmp_path / "kept")]) == 0
    monkeypatch.setattr(units.indexing, "_write", None)
    assert main([*asked, *SPAN, "--index", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out == 2 * first
    monkeypatch.undo()
    (tmp_path / "cache" / "indexes").mkdir(parents=True)  # as 1.0.0 left it
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    assert main([*asked, *SPAN]) == 0
    assert "remove the folder" in capsys.readouterr().err


def test_the_passage_can_come_through_a_pipe(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, *SPAN]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SAID.encode()), "utf-8"))
    assert main([*asked, "--text", "-", *SPAN[2:]]) == 0
    assert capsys.readouterr().out == first
