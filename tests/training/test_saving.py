"""A network of one's own is saved with a card, and opens in the app with what the card says."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import rnnviz
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.torch_model import CharModel
from rnnviz.scoring import contamination

CORPUS = "the machine that remembers what it has read, and forgets. " * 5
UNSEEN = "it reads that the machine forgets"


@pytest.fixture(scope="module")
def own() -> CharModel:
    torch.manual_seed(0)
    characters = sorted(set(CORPUS))
    rnn, output = nn.GRU(len(characters), 12), nn.Linear(12, len(characters))
    return rnnviz.adapt(rnn, output, characters, name="own")


def test_the_card_has_what_was_given(own: CharModel, tmp_path: Path) -> None:
    given = {"title": "Remembering", "example": "the machine", "corpus": CORPUS, "held_out": UNSEEN}
    path = rnnviz.save(own, tmp_path / "own.safetensors", **given)  # type: ignore[arg-type]
    loaded = rnnviz.load(path)
    card = loaded.card
    assert (card["title"], card["example"], card["name"]) == ("Remembering", "the machine", "own")
    expected = rnnviz.perplexity(own, text=UNSEEN)
    assert card["held_out"]["perplexity"] == pytest.approx(expected.perplexity, rel=1e-6)
    assert card["held_out"]["characters"] == len(UNSEEN)
    assert loaded.sketch is not None
    assert contamination.share(CORPUS, loaded.sketch).share == 1
    assert contamination.share(UNSEEN, loaded.sketch).share == 0
    assert own.card == {}  # the model in memory is as it was
    assert not rnnviz.load(rnnviz.save(own, tmp_path / "bare.safetensors")).card.get("held_out")


def test_a_copy_keeps_what_its_card_said(own: CharModel, tmp_path: Path) -> None:
    first = rnnviz.load(rnnviz.save(own, tmp_path / "one.safetensors", title="One", held_out=UNSEEN))
    again = rnnviz.load(rnnviz.save(first, tmp_path / "two.safetensors", example="the"))
    assert again.card["held_out"] == first.card["held_out"]
    assert (again.card["title"], again.card["example"], again.card["name"]) == ("One", "the", "two")


@pytest.mark.parametrize("load", [rnnviz.load, load_numpy])
def test_figures_are_of_the_model_as_it_is_stored(own: CharModel, load: Any, tmp_path: Path) -> None:
    whole = load(rnnviz.save(own, tmp_path / "whole.safetensors"))
    loaded = load(rnnviz.save(whole, tmp_path / "half.safetensors", half=True, held_out=UNSEEN))
    stored = rnnviz.perplexity(loaded, text=UNSEEN).perplexity
    assert loaded.card["held_out"]["perplexity"] == pytest.approx(stored, rel=1e-5)
    assert abs(stored / rnnviz.perplexity(whole, text=UNSEEN).perplexity - 1) > 1e-6
