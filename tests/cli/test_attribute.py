"""`python -m rnnviz attribute`: what it prints is what `gradients.attribute` finds."""

import json
from pathlib import Path

import pytest

from rnnviz import gradients
from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.conftest import tiny

TEXT = "The Time Trav"


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(save(tiny("gru"), tmp_path / "gru.safetensors"))


def test_json_holds_what_the_function_finds(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--at", "11", "--target", "e", "--against", "a", "--instead", "out"]
    assert main(["attribute", "-m", model, TEXT, *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    own = gradients.attribute(tiny("gru"), TEXT, at=11, target="e", against="a")
    out = gradients.attribute(
        tiny("gru"), TEXT, at=11, target="e", against="a", instead="out", method="occlusion"
    )
    row = gradients.connectivity_row(tiny("gru"), TEXT, at=11, target="e")
    assert (found["text"], found["target"], found["against"]) == (TEXT[:11], "e", "a")
    assert found["integrated"]["values"] == pytest.approx(own.values.tolist(), abs=1e-6)
    assert found["integrated"]["error"] == pytest.approx(own.error, abs=1e-4)
    assert found["integrated"]["adds_up"] is True
    assert found["integrated"]["size"] == pytest.approx(sum(map(abs, own.values)), abs=1e-5)
    assert found["occlusion"]["values"] == pytest.approx(out.values.tolist(), abs=1e-6)
    assert found["gradient"] == pytest.approx(row.norms.tolist(), rel=1e-4)


def test_the_table_has_a_row_a_character(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attribute", "-m", model, TEXT, "--last", "4"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].split() == ["position", "character", "integrated", "occlusion", "gradient"]
    rows = [line.split() for line in out[2 : 2 + len(TEXT)]]
    assert [row[0] for row in rows] == [str(s) for s in range(len(TEXT))]
    assert len(rows[0]) == 3  # not asked about: the gradient alone
    assert len(rows[-1]) == 5
