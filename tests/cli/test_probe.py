"""`python -m rnnviz probe`: the table, JSON, and what it refuses."""

import json
from copy import copy
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.units.built import LATCHES, built, quoted

BOOK = quoted(22_000)


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    """The command for the network and text that are known."""
    model = str(save(built(), tmp_path / "built.safetensors"))
    (tmp_path / "book.txt").write_text(BOOK, encoding="utf-8")
    return ["probe", "--model", model, "--file", str(tmp_path / "book.txt"), "--controls", "2"]


def test_the_table_says_how_many_units_hold_each_target(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["--target", "quotes", "--target", "capital", "--target", "digit", "--untrained", "1"]
    assert main([*asked, *names]) == 0
    first, head, quotes, capital, digit = capsys.readouterr().out.splitlines()
    assert first == f"built, hidden, {len(BOOK):,} characters"
    assert head.split()[:2] == ["target", "measure"]
    place = head.index("context") + len("context")  # numbers end where their heading does
    assert 0.7 < float(quotes[:place].split()[-1]) < 0.98
    assert digit[:place].split() == ["digit"]
    assert quotes.split()[:4] == ["quotes", "AUC", "1.000", "1.000"]
    assert quotes.endswith("one unit  remembers")
    assert capital.endswith("the last character may do")
    assert "the same throughout this text" in digit


def test_json_holds_what_the_package_finds(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*asked, "--target", "quotes", "--json", "--weights", "--untrained", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    read = rnnviz.trace(built(), BOOK)
    copies = [rnnviz.trace(copy, BOOK) for copy in units.untrained(built(), 2)]
    wanted = units.probe(read, units.target("quotes", BOOK), untrained=copies, controls=2)
    assert found["score"] == pytest.approx(wanted.score)
    assert found["control"] == pytest.approx(list(wanted.control))
    assert found["selectivity"] == pytest.approx(wanted.selectivity)
    assert found["untrained"] == pytest.approx(list(wanted.untrained))
    assert (found["held"], found["verdict"]) == ("one", "remembers")
    rival = wanted.context
    assert rival is not None
    told = {"characters": rival.number, "p": rival.p, "score": rival.score}
    assert found["context"].pop("lead") == pytest.approx([rival.low, rival.high])
    assert found["context"] == pytest.approx(told)
    assert found["few"][0]["units"] == [[0, LATCHES]]
    assert [len(few["units"]) for few in found["few"]] == [1, 2, 4, 8]
    np.testing.assert_allclose(found["weights"], wanted.weights, rtol=1e-6)


def test_weights_and_copies_may_be_left_out(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*asked, "--pattern", "ab?", "--json", "--untrained", "0", "--controls", "0"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target"], found["untrained"], found["control"]) == ("/ab?/", [], [])
    assert found["selectivity"] is None
    assert "weights" not in found


@pytest.mark.parametrize("command", ["probe", "units"])
def test_how_copies_of_a_network_begin_is_said_where_it_may_have_begun_otherwise(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere, here = built(), copy(built())
    here.card = {"recipe": {"cell": "gru"}}
    (tmp_path / "book.txt").write_text(BOOK[:500], encoding="utf-8")
    for model, more, said in (
        (elsewhere, ["1"], "untrained copies have torch's default initial weights\n"),
        (elsewhere, ["1", "--quiet"], ""),
        (elsewhere, ["0"], ""),
        (here, ["1"], ""),
    ):
        file = save(model, tmp_path / "model.safetensors")
        asked = [command, "--model", str(file), "--file", str(tmp_path / "book.txt"), "--target", "quotes"]
        assert main([*asked, "--untrained", *more]) == 0
        assert capsys.readouterr().err == said
