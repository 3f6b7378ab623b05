"""`python -m rnnviz match`: what it prints is what the index finds; what it refuses."""

import io
import json
import sys
from pathlib import Path

import pytest

import rnnviz
from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.units.built import LATCHES, built, quoted

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


def test_json_holds_what_the_index_finds(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, *SPAN, "--edges", "1", "--most", "5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    pattern = units.pattern(rnnviz.trace(built(), SAID), 3, 7, threshold=0.9, edges=1)
    assert found["units"] == [
        {"layer": u.layer, "unit": u.unit, "sign": s}
        for u, s in zip(pattern.units, pattern.signs, strict=True)
    ]
    assert {"layer": 0, "unit": LATCHES, "sign": 1} in found["units"]
    index = units.run(units.index(built(), BOOK, tmp_path / "own"))
    wanted = index.match(pattern, most=5)
    assert [(m["start"], m["stop"], m["overlap"]) for m in found["matches"]] == [
        (m.start, m.stop, m.overlap) for m in wanted.found
    ]
    assert (found["needed"], found["least"]) == (wanted.needed, 4)
    assert found["share_of_places"] == pytest.approx(wanted.share)
    for one in found["matches"]:
        assert one["text"] == BOOK[one["start"] : one["stop"]]
        assert one["before"] == BOOK[max(0, one["start"] - 60) : one["start"]]
        assert one["next"] == [list(x) for x in index.next(built(), one["stop"] - 1)]
    assert (found["ending"]["text"], found["passage"]["text"]) == ("e", "“cde")
    control = found["untrained"]
    assert (control["characters"], len(control["units"])) == (len(BOOK), 3)
    assert [one["name"] for one in control["shares"]] == ["“cde", "e"]
    assert [one["own"] for one in control["shares"]] == [found[of]["inside"] for of in ("passage", "ending")]


def test_the_table_shows_each_place_and_then_what_is_said(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked, *SPAN, "--most", "3", "--least", "3"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert f"+{LATCHES}" in out[0].split()
    assert out[1].split()[:3] == ["at", "units", "length"]
    places = [int(line.split()[0].replace(",", "")) for line in out[2:5]]
    assert all(0 <= place < len(BOOK) for place in places)
    assert "“cde”" in out[6]
    assert "untrained copies" in "".join(out[7:])
    assert main([*asked, *SPAN, "--untrained", "0"]) == 0
    assert "untrained" not in capsys.readouterr().out


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
