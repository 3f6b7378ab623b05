"""Training: what a card says of a choice of settings, odd names of files, options of a run that goes on."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rnnviz import cli
from rnnviz.networks import checkpoint, model_card
from tests.support import needs
from tests.support.choices import CANDIDATES, TABLE
from tests.support.commands import Run
from tests.support.texts import TRAVELLER

COMMAND = """
train --corpus smiles.txt --name smiles --cell gru --hidden-size 8 --embedding-size 4 --batch 2 --steps 10
--epochs 1 --seed 1 --train-on train+validation --precision float32 --threads 1 --output smiles.safetensors
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smiles.txt").write_text(TRAVELLER, "utf-8")
    Path("choices.json").write_text(json.dumps(CANDIDATES), "utf-8")


def card(path: str = "smiles.safetensors") -> dict[str, Any]:
    return checkpoint.read_info(Path(path)).card


def test_the_card_has_the_candidates() -> None:
    assert cli.main([*COMMAND.split(), "--choice", "choices.json"]) == 0
    assert card()["choice"] == TABLE
    page = model_card.candidates_table(card()["choice"])
    assert "| **epochs 1** | **9.2500** | **400** |\n| epochs 2 | 9.5000 | 800 |" in page


def test_the_textbooks_dials_are_options() -> None:
    dials = (
        "--cell rnn --clip none --optimiser momentum --partition random --initialisation normal --sigma 0.1"
    )
    assert cli.main([*COMMAND.split(), *dials.split()]) == 0
    recipe = card()["recipe"]
    assert (recipe["clip"], recipe["optimiser"], recipe["partition"]) == (None, "momentum", "random")
    assert (recipe["initialisation"], recipe["sigma"]) == ("normal", 0.1)


@pytest.mark.exact
def test_a_finished_run_gets_its_choice_afterwards_and_nothing_else_changes() -> None:
    """A run that is resumed has the figures, to the bit, that it had."""
    assert cli.main(COMMAND.split()) == 0
    before, weights = card(), checkpoint.load("smiles.safetensors").state_dict()
    assert "choice" not in before
    options = ["--choice", "choices.json", "--licence", "public domain"]
    for _ in range(2):
        assert cli.main(["train", "--resume", "runs/smiles", *options]) == 0
    after = card()
    assert after["choice"] == TABLE
    assert after["licence"] == "public domain"
    assert after["command"] == before["command"] + " --choice choices.json --licence 'public domain'"
    for altered in (before, after):
        altered["units"].pop("command")
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


SMALL = ["--cell", "rnn", "--hidden-size", "4", "--epochs", "1", "--batch", "2", "--steps", "16"]


def test_a_file_whose_name_is_no_text_is_trained_on(run_beside_text: Run, tmp_path: Path) -> None:
    name = "caf\udce9.txt"
    needs.named(tmp_path, name)
    shutil.copy("tiny.txt", name)
    assert run_beside_text("train", "--corpus", name, "--name", "x", *SMALL)[0] == 0
    assert checkpoint.load("./x.safetensors").card["corpus"]
    code, _, err = run_beside_text("train", "--corpus", name, "--name", "y", "--title", "\udcff", *SMALL)
    assert code == 1
    assert "surrogate" in err


def test_a_resumed_run_heeds_an_option_or_refuses_it(run_beside_text: Run) -> None:
    assert run_beside_text("train", "--corpus", "tiny.txt", "--name", "x", "--run-dir", "run", *SMALL)[0] == 0
    for option in (["--epochs", "5"], ["--half"], ["--name", "y"], ["--tied"], ["--cell", "rnn"]):
        code, _, err = run_beside_text("train", "--resume", "run", *option)
        assert code == 1
        assert f"leave out {option[0]}" in err
    assert run_beside_text("train", "--resume", "run", "--output", "again.safetensors")[0] == 0
    assert checkpoint.load("./again.safetensors").vocabulary == checkpoint.load("./x.safetensors").vocabulary
