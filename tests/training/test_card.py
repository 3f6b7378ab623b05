"""A model's card: its figures are the model's own and the yardstick's."""

import math
from pathlib import Path

import pytest

from rnnviz.networks import checkpoint
from rnnviz.networks.ngram import NgramModel
from rnnviz.text import corpora
from rnnviz.training.card import make_card

CORPUS = corpora.from_text("a cab, a bad bead, " * 60 + "dab a bee, add a bag. " * 18 + "x", "beads")


def by_hand(model: NgramModel, text: str) -> float:
    """The perplexity of a text: one character after another, each from all before it."""
    ids = model.vocabulary.encode(text)
    nll = [-float(model.log_probs(ids[:t])[ids[t]]) for t in range(len(ids))]
    outside = (
        0x110000 - 0x800 - (model.vocabulary.size - 1)
    )  # the Unicode scalar values that <unk> stands for
    return math.exp((sum(nll) + sum(ids == 0) * math.log(outside)) / len(nll))


def test_the_figures_are_the_models_own_and_the_yardsticks(tmp_path: Path) -> None:
    split = CORPUS.split()
    model, yardstick = (NgramModel.fit(split.train, order=n, name=f"beads-{n}gram") for n in (3, 1))
    path = tmp_path / "beads-1gram.safetensors"
    checkpoint.save(yardstick, path)
    card = make_card(
        model, CORPUS, trained_on="first 85 %", recipe={"order": 3}, seed=None, seconds=1.26,
        command="python -m rnnviz train", parameters=model.parameter_count, yardstick=str(path),
    )  # fmt: skip
    held_out = card["held_out"]
    own, other = by_hand(model, split.held_out), by_hand(yardstick, split.held_out)
    assert abs(own - other) > 1
    assert held_out["perplexity"] == pytest.approx(own, rel=1e-6)
    assert held_out["bits_per_character"] == pytest.approx(math.log2(own), rel=1e-6)
    assert held_out["ngram"] == pytest.approx(other, rel=1e-6)
    assert held_out["uniform"] == len(set(split.train)) + 1
    assert held_out["characters"] == len(split.held_out)
    assert held_out["unknown"] == sum(character not in split.train for character in split.held_out) > 0
