"""A card says how its settings were chosen; so does one made again."""

import json
from pathlib import Path
from typing import Any

import pytest

from rnnviz import cli
from rnnviz.errors import ConfigError
from rnnviz.networks import checkpoint, model_card
from tests.lab.fit.test_trainer import TEXT

RECIPE = {
    "corpus": "smiles.txt",
    "cell": "gru",
    "hidden_size": 8,
    "embedding_size": 4,
    "batch": 2,
    "steps": 10,
}


def candidate(perplexity: float, epochs: int) -> dict[str, Any]:
    settings = {**RECIPE, "epochs": epochs, "seed": 1}
    return {
        "settings": settings,
        "validation_perplexity": perplexity,
        "characters": 400 * epochs,
        "seconds": 1,
    }


CANDIDATES = [candidate(9.5, 2), candidate(9.25, 1), candidate(float("nan"), 4)]
TABLE = [
    {"settings": {"epochs": 1}, "validation_perplexity": 9.25, "characters": 400, "chosen": True},
    {"settings": {"epochs": 2}, "validation_perplexity": 9.5, "characters": 800},
]
COMMAND = """
train --corpus smiles.txt --name smiles --cell gru --hidden-size 8 --embedding-size 4 --batch 2 --steps 10
--epochs 1 --seed 1 --train-on train+validation --precision float32 --threads 1 --output smiles.safetensors
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smiles.txt").write_text(TEXT, "utf-8")
    Path("choices.json").write_text(json.dumps(CANDIDATES), "utf-8")


def card(path: str = "smiles.safetensors") -> dict[str, Any]:
    return checkpoint.read_info(Path(path)).card


def test_the_card_has_the_candidates() -> None:
    assert cli.main([*COMMAND.split(), "--choice", "choices.json"]) == 0
    assert card()["choice"] == TABLE
    page = model_card.candidates_table(card()["choice"])
    assert "| **epochs 1** | **9.2500** | **400** |\n| epochs 2 | 9.5000 | 800 |" in page


@pytest.mark.exact
def test_a_finished_run_gets_its_choice_afterwards_and_nothing_else_changes() -> None:
    """A run that is resumed has the figures, to the bit, that it had."""
    assert cli.main(COMMAND.split()) == 0
    before, weights = card(), checkpoint.load("smiles.safetensors").state_dict()
    assert "choice" not in before
    more = ["--choice", "choices.json", "--licence", "public domain"]
    for _ in range(2):
        assert cli.main(["train", "--resume", "runs/smiles", *more]) == 0
    after = card()
    assert after["choice"] == TABLE
    assert after["licence"] == "public domain"
    assert after["command"] == before["command"] + " --choice choices.json --licence 'public domain'"
    for one in (before, after):
        one["units"].pop("command")
    added = {"choice": 0, "command": 0, "licence": 0}
    assert {**after, **added} == {**before, **added}
    again = checkpoint.load("smiles.safetensors").state_dict()
    assert all(weight.equal(weights[name]) for name, weight in again.items())


def test_an_ngram_models_order_is_chosen_too() -> None:
    settings = {"corpus": "x", "cell": "ngram", "min_count": 1}
    orders = [
        {"settings": {**settings, "order": order}, "validation_perplexity": 10 - order, "characters": 3}
        for order in (3, 2)
    ]
    Path("orders.json").write_text(json.dumps(orders), "utf-8")
    words = "train --corpus smiles.txt --name s --cell ngram --order 3 --choice orders.json"
    assert cli.main([*words.split(), "--licence", "our own"]) == 0
    assert card("s.safetensors")["licence"] == "our own"
    assert [row["settings"] for row in card("s.safetensors")["choice"]] == [{"order": 3}, {"order": 2}]
    assert card("s.safetensors")["choice"][0]["chosen"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (json.dumps(CANDIDATES[:1]), "which has .*epochs 2"),
        (json.dumps([*CANDIDATES, candidate(9.0, 3)]), "which has .*epochs 3"),
        ("[]", "which has none"),
        ("{}", "which has none"),
        ('[{"settings": {}}]', "no list of candidates"),
        ('{"settings": 3}', "no list of candidates"),
        ("nonsense", "no list of candidates"),
        ("[" * 10**5, "no list of candidates"),
        ('[{"settings": {}, "validation_perplexity": [], "characters": 1}]', "no list of candidates"),
        ('[{"settings": {}, "validation_perplexity": 1, "characters": 1e999}]', "no list of candidates"),
        (None, "can't be read"),
    ],
)
def test_settings_that_were_not_chosen_there_are_refused(written: str | None, message: str) -> None:
    path = Path("other.json")
    if written is not None:
        path.write_text(written, "utf-8")
    with pytest.raises(ConfigError, match=message):
        model_card.read_candidates(path, {**RECIPE, "epochs": 1.0, "seed": 1})


def test_a_strangers_table_is_read_with_care() -> None:
    odd: list[Any] = [
        None,
        [],
        "x",
        7,
        [None, {"settings": 3}, {"settings": {}, "validation_perplexity": "4"}],
    ]
    assert [model_card.sound_candidates(one) for one in odd] == [[]] * len(odd)
    assert model_card.candidates_table(odd) == ""
    assert model_card.sound_candidates(TABLE) == TABLE
