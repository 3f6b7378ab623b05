"""The perplexity of a part, given what came before it; and of words."""

import math
from pathlib import Path
from typing import Any

import pytest

from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import TEXT

CONTEXT, PART = TEXT[:301], TEXT[301:400]


@pytest.fixture(params=["tiny-gru", "tiny-lstm", "tiny-3gram"])
def model(request: pytest.FixtureRequest, models_folder: Path) -> Any:
    return load(models_folder / f"{request.param}.safetensors")


def nats(model: Any, text: str, **options: Any) -> float:
    score = perplexity(model, text=text, **options)
    return score.characters * math.log(score.perplexity)


@pytest.mark.parametrize("precise", [False, True])
def test_a_context_and_its_part_cost_what_the_whole_costs(model: Any, precise: bool) -> None:
    whole, before = nats(model, CONTEXT + PART, precise=precise), nats(model, CONTEXT, precise=precise)
    part = nats(model, PART, given=CONTEXT, precise=precise)
    assert part == pytest.approx(whole - before, rel=1e-6)
    assert abs(part - nats(model, PART, precise=precise)) > 1e-3, "the context tells"


def test_the_context_is_counted_apart(model: Any) -> None:
    score = perplexity(model, text="part\r\n", given="con\r\ntext")
    assert (score.characters, score.given_characters) == (5, 8)
    assert perplexity(model, text="part").given_characters == 0


def test_a_long_context_is_read_too(models_folder: Path) -> None:
    gru = load(models_folder / "tiny-gru.safetensors")
    context = TEXT * 20  # so long that it is read as stretches side by side
    assert nats(gru, PART, given=context) == pytest.approx(
        nats(gru, context + PART) - nats(gru, context), rel=1e-4
    )


def test_words_share_what_all_characters_cost() -> None:
    model = UniformModel(Vocabulary(("\n", " ", "a", "b")))
    score = perplexity(model, text="ab ba\nab\n")
    assert score.words == 3
    assert score.word_perplexity == pytest.approx(5 ** (9 / 3))
    nothing = perplexity(model, text=" \n")
    assert (nothing.words, nothing.word_perplexity) == (0, None)
