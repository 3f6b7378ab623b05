"""`python -m rnnviz patch`: what it prints is what `units.patch` finds."""

import json
from pathlib import Path

import pytest

from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from rnnviz.reading.trace import trace
from tests.conftest import TEXT, tiny


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(save(tiny("lstm", layers=2), tmp_path / "lstm.safetensors"))


ASKED = ["--source", "The Time", "--target", "a machine", "--to", "4"]


def test_json_holds_what_the_function_finds(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--layer", "1", "--units", "3,5", "--at", "5", "--length", "12", "--unrelated", "us. His"]
    assert main(["patch", "-m", model, *ASKED, *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    network = tiny("lstm", layers=2)
    done = units.patch(network, "The Time", 5, "a machine", 4, layer=1, units=[3, 5])
    assert [row["after"] for row in found["predictions"]] == list(range(4, 10))
    assert [row["kl"] for row in found["predictions"]] == pytest.approx(done.divergence[4:], abs=1e-6)
    assert [row["loss"] for row in found["predictions"][:-1]] == pytest.approx(done.loss[4:], abs=1e-6)
    assert found["predictions"][-1]["loss"] is None
    assert found["loss"] == pytest.approx(done.remainder, abs=1e-6)
    assert found["continuation_patched"] == done.continuation(12, seed=0)
    assert (found["layers"], found["units"], found["quantities"]) == ([1], [3, 5], ["hidden", "cell"])
    assert len(found["controls"]["random"]) == len(found["controls"]["elsewhere"]) == 40


def test_the_table_has_a_row_a_prediction(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patch", "-m", model, *ASKED]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[:2] == ["after", "character"]
    assert [line.split()[0] for line in out[1:7]] == ["4", "5", "6", "7", "8", "9"]
    assert any("random moves as long: median" in line for line in out)
    assert not any("elsewhere" in line for line in out)


@pytest.mark.parametrize(
    ("named", "quantity"),
    [
        ("random:3", "state"),
        ("difference:vowel", "cell"),
        ("probe:vowel", "hidden"),
    ],
)
def test_a_direction_is_the_functions(
    named: str, quantity: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network, (kind, _, of) = tiny("lstm", layers=2), named.partition(":")
    text = tmp_path / "text.txt"
    text.write_text(TEXT, "utf-8")
    read = trace(network, TEXT[:500])
    where = {"layer": 1, "quantity": "cell" if quantity == "cell" else "hidden"}
    target = units.target("vowel", read.text)
    expected = {
        "random": lambda: units.directions.random(12, int(of), **where),
        "difference": lambda: units.directions.mean_difference(read, target, **where),
        "probe": lambda: units.probe(read, target, **where).direction(),
    }[kind]()
    given = [] if kind == "random" else ["--file", str(text), "--characters", "500"]
    more = ["--layer", "1", "--quantity", quantity, "--direction", named, *given]
    assert main(["patch", "-m", model, *ASKED, *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    done = units.patch(network, "The Time", 8, "a machine", 4, units=expected)
    assert found["moved"] == pytest.approx(done.moved, abs=1e-6)
    assert [row["kl"] for row in found["predictions"]] == pytest.approx(done.divergence[4:], abs=1e-6)
    assert found["direction"]["name"] == expected.name
    assert (found["layers"], found["quantities"], found["units"]) == ([1], [expected.quantity], None)
    assert main(["patch", "-m", model, *ASKED, *more]) == 0
    assert capsys.readouterr().out.startswith(f"patched along {expected.name} (")
