"""`connectivity`, `ablate` and `perturb`: what they print is what the functions find."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz import gradients, units
from rnnviz.cli import main
from rnnviz.cli.output import as_json
from rnnviz.networks.checkpoint import save
from rnnviz.units import ablation
from tests.conftest import TEXT, tiny
from tests.units.built import built, quoted

Out = pytest.CaptureFixture[str]


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(save(tiny("lstm", layers=2), tmp_path / "lstm.safetensors"))


@pytest.fixture
def book(tmp_path: Path) -> str:
    path = tmp_path / "book.txt"
    path.write_text("".join(np.random.default_rng(0).choice(list(TEXT), 900).tolist()), encoding="utf-8")
    return str(path)


def test_connectivity_says_how_far_back_predictions_reach(model: str, book: str, capsys: Out) -> None:
    asked = ["connectivity", "-m", model, "-f", book, "--lags", "30"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    text = Path(book).read_text(encoding="utf-8")
    expected = units.run(gradients.reach(tiny("lstm", layers=2), text, lags=30))
    assert found["predictions"] == expected.predictions == 871
    assert found["half_within"] == pytest.approx(float(expected.half.estimate), rel=1e-4)
    assert found["half_within_interval"][0] < found["half_within"] < found["half_within_interval"][1]
    assert found["beyond"] == pytest.approx(expected.beyond.estimate.tolist(), rel=1e-3)
    assert main([*asked, "--characters", "40"]) == 0
    assert "11 predictions are too few" in capsys.readouterr().out


def test_connectivity_of_one_prediction(model: str, capsys: Out) -> None:
    assert main(["connectivity", "-m", model, "machine", "--at", "4", "--target", "q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    row = gradients.connectivity_row(tiny("lstm", layers=2), "machine", at=4, target="q")
    assert [one["norm"] for one in found["characters"]] == pytest.approx(row.norms.tolist(), rel=1e-4)
    assert sum(one["share"] for one in found["characters"]) == pytest.approx(1)
    assert "".join(one["character"] for one in found["characters"]) == "mach"
    assert main(["connectivity", "-m", model, "machine", "--at", "4"]) == 0
    assert "log P(i) after 4 characters" in capsys.readouterr().out


@pytest.mark.parametrize("asked", [[], ["--units", "4,3", "--target", "quotes", "--to", "0.5"]])
def test_ablate_prints_what_it_finds(
    asked: list[str], tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "quoted.txt"
    book.write_text(quoted(2000), encoding="utf-8")
    path = str(save(built(), tmp_path / "built.safetensors"))
    command = ["ablate", "-m", path, "-f", str(book), "--controls", "3", *asked]
    which: dict[str, Any] = {"to": "mean"}
    if asked:
        which = {"units": [4, 3], "to": 0.5, "target": units.target("quotes", quoted(2000))}
    expected = units.run(units.ablate(built(), quoted(2000), controls=3, **which))
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(as_json({"model": path, **expected.facts()}))
    assert main(command) == 0
    rows = capsys.readouterr().out.splitlines()
    order = [4, 3] if asked else expected.order.tolist()
    assert [int(row.split()[0]) for row in rows[2 : 2 + len(order)]] == order
    monkeypatch.setattr(ablation, "REPLICATES", 2.0)
    assert main(command) == 0
    assert (len(capsys.readouterr().out.splitlines()) == len(rows)) == bool(asked)


def test_perturb_follows_a_changed_character(model: str, capsys: Out) -> None:
    asked = ["perturb", "-m", model, "The machine", "--position", "4", "--character", "x"]
    assert main([*asked, "--threshold", "0.2", "--json"]) == 0
    found = units.perturb(tiny("lstm", layers=2), "The machine", 4, "x", threshold=0.2)
    assert json.loads(capsys.readouterr().out) == {"model": model, **found.facts()}
    assert main(asked) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:9]] == [
        str(t) for t in range(4, 11)
    ]
