"""`python -m rnnviz patch`: what it prints is what `units.patch` finds."""

import json
from pathlib import Path
from typing import Any

import pytest

from rnnviz import units
from rnnviz.cli import main
from rnnviz.cli.output import as_json
from rnnviz.cli.patch import AHEAD
from rnnviz.networks.checkpoint import save
from rnnviz.reading.trace import trace
from tests.conftest import TEXT, tiny

ASKED = ["--source", "The Time", "--target", "a machine", "--to", "4"]


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(save(tiny("lstm", layers=2), tmp_path / "lstm.safetensors"))


def expected(unrelated: str | None = None, at: int = 8, **part: Any) -> dict[str, Any]:
    """The facts of a patch as JSON."""
    network = tiny("lstm", layers=2)
    done = units.patch(network, "The Time", at, "a machine", 4, **part)
    facts = units.patch_controls(network, done, unrelated, ahead=AHEAD).facts()
    return dict(json.loads(as_json(facts)))


def test_it_prints_what_the_function_finds(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--layer", "1", "--units", "3,5", "--at", "5", "--length", "12", "--unrelated", "us. His"]
    assert main(["patch", "-m", model, *ASKED, *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    done = units.patch(tiny("lstm", layers=2), "The Time", 5, "a machine", 4, layer=1, units=[3, 5])
    assert found.pop("model") == model
    goes_on = found.pop("continuation"), found.pop("continuation_patched")
    assert goes_on == (trace_on(12), done.continuation(12, seed=0))
    assert found == expected("us. His", 5, layer=1, units=[3, 5])
    assert main(["patch", "-m", model, *ASKED, *more]) == 0
    said, _heads, *rows = capsys.readouterr().out.splitlines()
    assert all(repr(text) in said for text in goes_on)
    assert [row.split()[0] for row in rows[:6]] == ["4", "5", "6", "7", "8", "9"]


def trace_on(length: int) -> str:
    return units.resume(trace(tiny("lstm", layers=2), "a machine"), 4, length, seed=0)


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
    along = {
        "random": lambda: units.directions.random(12, int(of), **where),
        "difference": lambda: units.directions.mean_difference(read, target, **where),
        "probe": lambda: units.probe(read, target, **where).direction(),
    }[kind]()
    given = [] if kind == "random" else ["--file", str(text), "--characters", "500"]
    more = ["--layer", "1", "--quantity", quantity, "--direction", named, *given]
    assert main(["patch", "-m", model, *ASKED, *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {**found, **expected(units=along)} == found
    assert found["direction"]["name"] == along.name
    assert (found["layers"], found["quantities"], found["units"]) == ([1], [along.quantity], None)
