"""A model's card: its figures are the model's own and the n-gram's."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.lab.fit.card import make_card, score_and_card
from rnnviz.networks import checkpoint, contamination
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.text import corpora
from tests.support.torch_models import tiny_torch

CORPUS = corpora.from_text("a cab, a bad bead, " * 60 + "dab a bee, add a bag. " * 18 + "x", "beads")


def by_hand(model: NgramModel, text: str) -> float:
    """The perplexity of a text: one character after another, each from all before it."""
    ids = model.vocabulary.encode(text)
    nll = [-float(model.log_probs(ids[:t])[ids[t]]) for t in range(len(ids))]
    outside = (
        0x110000 - 0x800 - (model.vocabulary.size - 1)
    )  # the Unicode scalar values that <unk> stands for
    return math.exp((sum(nll) + sum(ids == 0) * math.log(outside)) / len(nll))


def test_the_figures_are_the_models_own_and_the_ngrams(tmp_path: Path) -> None:
    split = CORPUS.split()
    model, ngram = (NgramModel.fit(split.train, order=n, name=f"beads-{n}gram") for n in (3, 1))
    path = tmp_path / "beads-1gram.safetensors"
    checkpoint.save(ngram, path)
    card = make_card(
        model, CORPUS, trained_on="first 85 %", recipe={"order": 3}, seed=None, seconds=1.26,
        command="python -m rnnviz train", parameters=model.parameter_count, ngram=str(path),
    )  # fmt: skip
    expected, expected_ngram = by_hand(model, split.held_out), by_hand(ngram, split.held_out)
    assert abs(expected - expected_ngram) > 1
    expected_figures = {
        "perplexity": expected,
        "bits_per_character": math.log2(expected),
        "ngram": expected_ngram,
        "uniform": len(set(split.train)) + 1,
        "characters": len(split.held_out),
        "unknown": sum(character not in split.train for character in split.held_out),
    }
    assert card["held_out"].pop("ngram_name") == card["ngram"] == "beads-1gram"
    assert card["held_out"] == pytest.approx(expected_figures, rel=1e-6)
    assert expected_figures["unknown"] > 0
    assert card["sha256_trained_on"] == corpora.sha256(split.train)


def test_a_card_says_what_the_text_is_and_how_it_was_read() -> None:
    corpus = corpora.from_text(CORPUS.text, "beads", title="Beads", language="en", licence="public domain")
    model = NgramModel.fit("ab", order=1)
    make = partial(make_card, model, recipe={}, seed=7, seconds=0, command="", parameters=1)
    card = make(corpus, trained_on="first 90 %", choice=[{"order": 3}], example="a cab")
    split = corpus.split()
    assert card.pop("held_out")["uniform"] == 3
    assert card.pop("versions").keys() >= {"python", "rnnviz"}
    assert card == {
        "corpus": "beads",
        "title": "Beads",
        "licence": "public domain",
        "language": "en",
        "characters": len(CORPUS.text),
        "sha256": corpora.sha256(CORPUS.text),
        "sha256_trained_on": corpora.sha256(split.train + split.validation),
        "split": "train 85 %, validation 5 %, held out 10 %, in order",
        "trained_on": "first 90 %",
        "recipe": {},
        "seed": 7,
        "training_seconds": 0,
        "command": "",
        "parameters": 1,
        "example": "a cab",
        "choice": [{"order": 3}],
        "sha256_held_out": corpora.sha256(split.held_out),
    }
    short = make(corpora.from_text("ab", "ab"), trained_on="first 85 %")
    assert (short["split"], short["example"]) == ("not split", "")
    assert not {"held_out", "sha256_held_out", "ngram", "choice"} & short.keys()


@pytest.mark.parametrize(
    ("train_on", "trained_on"), [("train", "first 85 %"), ("train+validation", "first 90 %")]
)
def test_a_networks_card_says_how_it_was_trained_too(train_on: Any, trained_on: str) -> None:
    network, config = tiny_torch("gru"), TrainConfig(seed=3, train_on=train_on)
    corpus = corpora.from_text(" ".join(map(str, range(900))), "numbers")
    score_and_card(
        network, corpus, config, seconds=1.26, threads_fixed=True, command="train", ngram="holmes-6gram",
        choice=[{"seed": 3}], example="a cab",
        compute_facts={"device": "cuda", "bfloat16": train_on == "train", "backward": "torch", "threads": 2},
    )  # fmt: skip
    card, split = network.card, corpus.split()
    assert card["engine"] == {
        "device": "cuda",
        "precision": "bfloat16" if train_on == "train" else "float32",
        "backward": "torch",
        "threads": 2,
        "threads_fixed": True,
    }
    assert [card[key] for key in ("trained_on", "recipe", "seed", "training_seconds", "command")] == [
        trained_on, config.to_json(), 3, 1.3, "train",
    ]  # fmt: skip
    assert [card[key] for key in ("parameters", "ngram", "choice", "example")] == [
        network.parameter_count, "holmes-6gram", [{"seed": 3}], "a cab",
    ]  # fmt: skip
    read = split.train + (split.validation if trained_on == "first 90 %" else "")
    np.testing.assert_array_equal(network.sketch.hashes, contamination.sketch(read).hashes)
