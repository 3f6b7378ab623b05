"""What a run looks for in its finished network, and keeps in its card."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rnnviz.lab.run import finished_model, unit_search
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.networks import model_card
from rnnviz.networks.checkpoint import read_info, save
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.model_card import responds
from rnnviz.networks.modelfile import read_tensors
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS
from rnnviz.text import corpora
from tests.support.built import COUNTS, LATCHES, built, quoted
from tests.support.torch_models import tiny_torch

PLANTED = corpora.from_text(quoted(150_000), "planted")
UNREAD = PLANTED.split().validation + PLANTED.split().held_out


def search_card(
    text: corpora.Corpus, model: Any = None, *, together: bool = False, seconds: float = 60.0
) -> Any:
    """The card of a network, by default that whose units are known, as a run would leave it."""
    entry = unit_search.search_units(
        model or built(), text, together=together, command="train it", seconds=seconds
    )
    return {model_card.UNITS_KEY: entry}


@pytest.mark.slow
def test_a_finished_run_keeps_the_units_that_were_planted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    save(built(), folder.best)
    description = folder.begin(Description("planted", TrainConfig(), command="train --corpus /home/me/b.txt"))
    before = torch.get_rng_state()
    path, card = finished_model.finish(folder, description, PLANTED, 1.0, naming_seconds=60.0)
    assert torch.equal(torch.get_rng_state(), before)
    weights = read_tensors(path)
    for name, values in built().tensors.items():
        np.testing.assert_array_equal(weights[name], values)
    assert read_info(path).card[model_card.UNITS_KEY] == json.loads(json.dumps(card[model_card.UNITS_KEY]))
    findings = {finding.target: finding for finding in model_card.unit_findings(card)}
    assert {name: (finding.layer, finding.unit) for name, finding in findings.items()} == {
        "quotes": (0, LATCHES),
        "line-position": (0, COUNTS),
    }
    assert all(
        finding.verdict == "remembers" and finding.quantity == "hidden" for finding in findings.values()
    )
    assert {finding.target for finding in model_card.other_searches(card)} == {"word-start"}
    assert model_card.unanswered(card) == {"brackets": "absent"}
    assert model_card.search_command(card) == "train --corpus b.txt"
    # Validation text alone would be too short, so that held-out text stands behind it.
    assert MIN_VERDICT_CHARS < findings["quotes"].characters == len(UNREAD) < len(PLANTED.text) * 0.16
    assert card["units"]["text"]["sha256"] == corpora.sha256(UNREAD)
    assert f"on {len(UNREAD):,} validation and held-out characters" in responds(card)
    assert "No finding: brackets (the text has none)." in responds(card)
    _path, without = finished_model.finish(folder, description, PLANTED, 1.0)
    assert model_card.UNITS_KEY not in without


def test_trained_text_confirms_no_unit() -> None:
    card = search_card(PLANTED, together=True)
    assert card["units"]["text"]["sha256"] == corpora.sha256(PLANTED.split().held_out)
    assert (model_card.searched_part(card), model_card.searched_text(card)) == ("held-out", "")
    assert set(model_card.unanswered(card).values()) == {"absent", "short"}  # 15,000 characters


@pytest.mark.slow
def test_of_an_lstm_the_cell_state_is_looked_at_and_of_a_long_text_the_validation_part_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unit_search, "MAX_CHARS_READ", MIN_VERDICT_CHARS)
    card = search_card(corpora.from_text(quoted(410_000), "long"), tiny_torch("lstm"))
    searches = [*model_card.unit_findings(card), *model_card.other_searches(card)]
    assert {search.quantity for search in searches} == {"cell"}
    assert {search.characters for search in searches} == {MIN_VERDICT_CHARS}
    assert model_card.searched_part(card) == "validation"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("machine", {"quotes": "short", "brackets": "short", "line-position": "short"}),
        ("a wet (coat) and a lamp. " * 40, {"quotes": "absent", "brackets": "short", "word-start": "short"}),
        ("x = [1]\ny = 'b'\n" * 99, {"py-string": "short", "py-brackets": "short", "line-position": "short"}),
    ],
)
def test_too_little_text_is_a_reason_at_once(text: str, expected: dict[str, str]) -> None:
    card = search_card(corpora.from_text(text, "short"), seconds=0.0)
    assert model_card.unit_findings(card) == model_card.other_searches(card) == ()
    assert expected.items() <= model_card.unanswered(card).items()


def test_a_search_that_takes_too_long_is_given_up() -> None:
    card = search_card(PLANTED, seconds=0.0)
    assert model_card.unit_findings(card) == model_card.other_searches(card) == ()
    assert model_card.unanswered(card) == {
        "quotes": "costly", "line-position": "costly", "word-start": "costly", "brackets": "absent",
    }  # fmt: skip
    assert "quotes, word-start, line-position (too much time or memory was needed)" in responds(card)
