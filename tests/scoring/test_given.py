"""The perplexity of a part, given what came before it; and of words."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import EmptyTextError
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.scoring.rows import perplexity_of_rows
from rnnviz.text.characters import NORMALISERS
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import TEXT


@pytest.fixture(params=["tiny-gru", "tiny-lstm", "tiny-3gram"])
def model(request: pytest.FixtureRequest, models_folder: Path) -> Any:
    return load(models_folder / f"{request.param}.safetensors")


WINDOWS = "\ufeff“One”\r\n\r\nt\u0301wo\rthree\r\r\n道…\n\r\nend.\n"


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("precise", [False, True])
def test_a_text_may_be_cut_anywhere_even_inside_a_line_end(
    model: Any, precise: bool, normaliser: str
) -> None:
    object.__setattr__(model, "normaliser", normaliser)  # a network in numpy is frozen
    whole = perplexity(model, text=WINDOWS, precise=precise)
    for cut in range(1, len(WINDOWS)):
        x, y = WINDOWS[:cut], WINDOWS[cut:]
        before = perplexity(model, text=x, precise=precise)
        part = perplexity(model, text=y, context=x, precise=precise)
        assert before.nll + part.nll == pytest.approx(whole.nll, rel=1e-6)
        assert (before.given_characters, part.given_characters) == (0, before.characters)
        row = in_a_file(model, x, y)
        assert row.nll == pytest.approx(part.nll, rel=1e-6)
        for name in ("characters", "bytes", "normalised"):
            assert getattr(before, name) + getattr(part, name) == getattr(whole, name), name
            assert getattr(row, name) == getattr(part, name), name


def in_a_file(model: Any, context: str, text: str) -> Any:
    """The score of a text in a file of rows after its context."""
    row = json.dumps({"before": context, "text": text}).encode()
    return perplexity_of_rows(model, io.BytesIO(row), name="a.jsonl", column="text", context="before")


def test_half_a_line_end_alone_has_no_perplexity(model: Any) -> None:
    with pytest.raises(EmptyTextError, match="second half of its context's last line end"):
        perplexity(model, text="\n", context="one\r")
    assert perplexity(model, text="\n", context="one\n").characters == 1


def test_a_long_context_is_read_too(models_folder: Path) -> None:
    gru = load(models_folder / "tiny-gru.safetensors")
    context = TEXT * 20  # so long that it is read as stretches side by side
    whole, before = perplexity(gru, text=context + TEXT), perplexity(gru, text=context)
    assert perplexity(gru, text=TEXT, context=context).nll == pytest.approx(whole.nll - before.nll, rel=1e-4)


def test_words_share_the_cost_of_all_characters() -> None:
    model = UniformModel(Vocabulary(("\n", " ", "a", "b")))
    score = perplexity(model, text="ab ba\nab\n")
    assert score.words == 3
    assert score.word_perplexity == pytest.approx(5 ** (9 / 3))
    blank = perplexity(model, text=" \n")
    assert (blank.words, blank.word_perplexity) == (0, None)
