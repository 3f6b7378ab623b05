"""The table of networks of the same text: what cards say beside what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.runs import comparison

SPEED = {"training": 20_000.0, "scoring": 80_000.0, "training_memory": 4e7, "scoring_memory": 5e7}


def measured(**networks: dict[str, float]) -> dict[str, Any]:
    named = {name.replace("_", "-"): {**SPEED, **changed} for name, changed in networks.items()}
    layer = {"cell": "gru", "layers": 1, "hidden_size": 256, "parameters": 7, **SPEED}
    layer["ratio"] = {"training": 1.0, "scoring": 1.0}
    return {
        "machine": "a machine",
        "load": 0.5,
        "versions": {"torch": "2"},
        "networks": named,
        "layers": [layer],
    }


@pytest.fixture
def models() -> list[ModelInfo]:
    """The gru and the lstm of one book, and a linear one of the gru's figures but for its perplexity."""
    gru, lstm = (checkpoint.read_info(checkpoint.find(f"timemachine-{cell}")) for cell in ("gru", "lstm"))
    card = {**gru.card, "held_out": {**gru.card["held_out"], "perplexity": 4.1}}
    return [gru, lstm, replace(gru, name="timemachine-mingru", kind="mingru", card=card)]


def test_the_table_has_what_the_cards_say_and_what_was_measured(models: list[ModelInfo]) -> None:
    found = measured(timemachine_gru={}, timemachine_lstm={"scoring": 8e4}, timemachine_mingru={})
    page = comparison.section(models, found)
    rows = [re.split(r" \| ", line.strip("| ")) for line in page.splitlines() if line.startswith("| [")]
    assert [row[0].split("]")[0][1:] for row in rows] == [
        "timemachine-gru", "timemachine-mingru", "timemachine-lstm",
    ]  # fmt: skip
    # 120 passes over 90 % of 178,979 characters at 20,000 a second
    passes = f"{120 * 0.9 * 178_979 / 20_000 / 60:.0f}"
    assert rows[0][1:] == [
        "1 × 256", "323,141", "4.24", "120", passes, "20,000", "80,000", "40 MB", "50 MB",
    ]  # fmt: skip
    assert "| gru 1 × 256 | 7 | 20,000 | 1.00 | 80,000 | 1.00 |" in page


def test_a_linear_recurrence_is_said_to_be_worse_where_it_is(models: list[ModelInfo]) -> None:
    slow = {"training": 5_000.0, "scoring": 120_000.0}
    page = comparison.section(
        models, measured(timemachine_gru={}, timemachine_lstm={}, timemachine_mingru=slow)
    )
    assert (
        "it predicts better than `timemachine-gru` (4.10 against 4.24), "
        "trains at 0.25 and scores at 1.50 times its speed"
    ) in page
    assert "it predicts worse than `timemachine-lstm` (4.10 against 4.05)" in page


def test_without_measurements_there_is_no_table(models: list[ModelInfo], tmp_path: Path) -> None:
    assert comparison.section(models, {}) == ""
    assert comparison.section(models, measured(elsewhere={})) == ""
    here = [replace(one, path=tmp_path / one.path.name) for one in models]
    assert comparison.to_markdown(here) == ""
    (tmp_path / comparison.FILE).write_text(json.dumps(measured(timemachine_lstm={})))
    assert re.findall(r"^\| \[(.*?)\]", comparison.to_markdown(here), re.MULTILINE) == ["timemachine-lstm"]
