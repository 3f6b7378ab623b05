"""A network of one's own is saved with a card, and opens in the app with what the card says."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import rnnviz
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks import contamination
from rnnviz.networks.checkpoint import load_numpy

CORPUS = "the machine that remembers what it has read, and forgets. " * 5
UNSEEN = "it reads that the machine forgets"


@pytest.fixture(scope="module")
def model() -> CharModel:
    torch.manual_seed(0)
    characters = sorted(set(CORPUS))
    rnn, output = nn.GRU(len(characters), 12), nn.Linear(12, len(characters))
    return rnnviz.adapt(rnn, output, characters, name="own")


def test_the_card_has_what_was_given(model: CharModel, tmp_path: Path) -> None:
    arguments = {"title": "Remembering", "example": "the machine", "corpus": CORPUS, "held_out": UNSEEN}
    path = rnnviz.save(model, tmp_path / "own.safetensors", **arguments)  # type: ignore[arg-type]
    loaded = rnnviz.load(path)
    card = loaded.card
    assert (card["title"], card["example"], card["name"]) == ("Remembering", "the machine", "own")
    expected = rnnviz.perplexity(model, text=UNSEEN)
    assert card["held_out"]["perplexity"] == pytest.approx(expected.perplexity, rel=1e-6)
    assert card["held_out"]["characters"] == len(UNSEEN)
    assert loaded.sketch is not None
    assert contamination.share(CORPUS, loaded.sketch).share == 1
    assert contamination.share(UNSEEN, loaded.sketch).share == 0
    assert model.card == {}  # the model in memory is as it was
    assert not rnnviz.load(rnnviz.save(model, tmp_path / "bare.safetensors")).card.get("held_out")


def test_a_copy_keeps_what_its_card_said(model: CharModel, tmp_path: Path) -> None:
    first = rnnviz.load(rnnviz.save(model, tmp_path / "one.safetensors", title="One", held_out=UNSEEN))
    again = rnnviz.load(rnnviz.save(first, tmp_path / "two.safetensors", example="the"))
    assert again.card["held_out"] == first.card["held_out"]
    assert (again.card["title"], again.card["example"], again.card["name"]) == ("One", "the", "two")


@pytest.mark.parametrize("load", [rnnviz.load, load_numpy])
def test_figures_are_of_the_model_as_it_is_stored(model: CharModel, load: Any, tmp_path: Path) -> None:
    whole = load(rnnviz.save(model, tmp_path / "whole.safetensors"))
    loaded = load(rnnviz.save(whole, tmp_path / "half.safetensors", half=True, held_out=UNSEEN))
    stored = rnnviz.perplexity(loaded, text=UNSEEN).perplexity
    assert loaded.card["held_out"]["perplexity"] == pytest.approx(stored, rel=1e-5)
    assert abs(stored / rnnviz.perplexity(whole, text=UNSEEN).perplexity - 1) > 1e-6


def train_model(kind: str, text: str) -> Any:
    """A model that was trained on `text`, in each way that tells of its text."""
    if kind == "ngram":
        return rnnviz.ngram(text, order=3)
    config = rnnviz.TrainConfig("rnn", hidden_size=4, epochs=0.2, batch=2, steps=8)
    if kind == "fit":
        return rnnviz.fit(config, text, sample_length=0)
    *_, last = rnnviz.train(config, text, sample_length=0)
    return last.model


WORDS = random.Random(0)
TRAINED, NEW = (" ".join(f"{WORDS.randrange(10**6)}" for _ in range(400)) for _ in range(2))


@pytest.mark.parametrize("kind", ["ngram", "fit", "train"])
@pytest.mark.parametrize(
    "held_out",
    [
        TRAINED,
        TRAINED[:1500],
        TRAINED[500:2000] + NEW[:900],
        TRAINED.replace(" ", "\n"),
        "".join(c + "!" * (n % 300 == 0) for n, c in enumerate(TRAINED)),
    ],
    ids=["all of it", "a part", "more than half", "with other white space", "with a few edits"],
)
def test_trained_text_is_never_held_out(kind: str, held_out: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    model = train_model(kind, TRAINED)
    for candidate in (model, rnnviz.load(rnnviz.save(model, tmp_path / "again.safetensors"))):
        with pytest.raises(rnnviz.ConfigError, match=r"was trained on \d+% of the held-out text"):
            rnnviz.save(candidate, path, held_out=held_out)
    assert not path.exists()


def test_a_short_text_is_known_by_its_checksum(tmp_path: Path) -> None:
    with pytest.raises(rnnviz.ConfigError, match="trained on 100%"):
        rnnviz.save(
            rnnviz.ngram("abra cadabra", order=2), tmp_path / "x.safetensors", held_out="abra cadabra"
        )


def test_a_held_out_text_that_is_partly_known_is_said_to_be(tmp_path: Path) -> None:
    model = train_model("ngram", TRAINED)
    with pytest.warns(UserWarning, match=r"trained on (19|20|21)% of the held-out text; the card says so"):
        path = rnnviz.save(model, tmp_path / "x.safetensors", held_out=NEW[:2000] + TRAINED[:500])
    assert rnnviz.load(path).card["held_out"]["trained_on"] == pytest.approx(0.2, abs=0.02)
    assert "trained_on" not in rnnviz.load(rnnviz.save(model, path, held_out=NEW)).card["held_out"]
