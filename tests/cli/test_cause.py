"""`connectivity`, `ablate` and `perturb`: what they print is what the functions find."""

import json
from pathlib import Path

import numpy as np
import pytest

from rnnviz import gradients, units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from rnnviz.units import ablated
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
    said = capsys.readouterr().out
    assert "11 predictions" in said
    assert "give a longer text" in said


def test_connectivity_of_one_prediction(model: str, capsys: Out) -> None:
    assert main(["connectivity", "-m", model, "machine", "--at", "4", "--target", "q", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    row = gradients.connectivity_row(tiny("lstm", layers=2), "machine", at=4, target="q")
    assert [one["norm"] for one in found["characters"]] == pytest.approx(row.norms.tolist(), rel=1e-4)
    assert sum(one["share"] for one in found["characters"]) == pytest.approx(1)
    assert "".join(one["character"] for one in found["characters"]) == "mach"
    assert main(["connectivity", "-m", model, "machine", "--at", "4"]) == 0
    assert "log P(i) after 4 characters" in capsys.readouterr().out


def test_ablate_shows_no_ranking_where_two_halves_disagree(model: str, book: str, capsys: Out) -> None:
    assert main(["ablate", "-m", model, "-f", book, "--until", "2"]) == 0
    said = capsys.readouterr().out
    expected = units.run(units.ablate(tiny("lstm", layers=2), Path(book).read_text("utf-8"), to="mean"))
    assert f"a correlation of {expected.replication:.2f}" in said
    assert ("too little for a ranking" in said) == (not expected.replicates)


def test_ablate_ranks_units_that_two_halves_agree_on(
    tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, book = save(built(), tmp_path / "built.safetensors"), tmp_path / "quoted.txt"
    book.write_text(quoted(2000), encoding="utf-8")
    asked = ["ablate", "-m", str(path), "-f", str(book), "--controls", "3"]
    assert main(asked) == 0
    rows = capsys.readouterr().out.splitlines()
    expected = units.run(units.ablate(built(), quoted(2000), to="mean", controls=3))
    assert expected.replicates
    assert [int(row.split()[0]) for row in rows[3:11]] == expected.order.tolist()
    assert rows[-2].startswith("3 random directions")
    assert rows[-1].startswith(f"{expected.beyond} of 8 units cost more than all of these")
    monkeypatch.setattr(ablated, "REPLICATES", 2.0)
    assert main(asked) == 0
    assert "too little for a ranking" in capsys.readouterr().out


def test_ablate_tells_losses_apart_by_a_target(tmp_path: Path, capsys: Out) -> None:
    path, book = save(built(), tmp_path / "built.safetensors"), tmp_path / "quoted.txt"
    book.write_text(quoted(2000), encoding="utf-8")
    asked = [
        "ablate",
        "-m",
        str(path),
        "-f",
        str(book),
        "--units",
        "4,3",
        "--target",
        "quotes",
        "--to",
        "0.5",
    ]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    target = units.target("quotes", quoted(2000))
    expected = units.run(units.ablate(built(), quoted(2000), units=[4, 3], to=0.5, target=target))
    assert expected.within is not None
    assert [row["unit"] for row in found["units"]] == [4, 3]
    assert [row["loss"] for row in found["units"]] == pytest.approx(expected.loss.tolist(), abs=1e-6)
    apart = expected.within.difference.estimate.tolist()
    assert [row["difference"] for row in found["units"]] == pytest.approx(apart, abs=1e-6)
    assert found["inside"] == expected.within.characters
    assert len(found["random_directions"]) == 16
    assert main(asked) == 0
    assert "difference" in capsys.readouterr().out.splitlines()[1]


def test_perturb_follows_a_changed_character(model: str, capsys: Out) -> None:
    asked = ["perturb", "-m", model, "The machine", "--position", "4", "--character", "x"]
    assert main([*asked, "--threshold", "0.2", "--json"]) == 0
    found = units.perturb(tiny("lstm", layers=2), "The machine", 4, "x", threshold=0.2)
    assert json.loads(capsys.readouterr().out) == {"model": model, **found.facts()}
    assert main(asked) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:9]] == [
        str(t) for t in range(4, 11)
    ]
