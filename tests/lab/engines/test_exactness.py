"""The perplexity of shipped models, against a loop in float64 that reads one character after another."""

import math
import random
from itertools import product

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks import batched_scoring
from tests.support import textbook
from tests.support.models import tiny

SHORTEST = 320  # characters of a stretch; as it is, the loop would take a quarter of a minute
_random = random.Random(5)
STORY = (
    "It was past midnight when the machine came back. Nobody had touched the lamp, and the clock on the "
    "shelf said a quarter to three. 'Well?' said the doctor. The traveller drank, and drank again.\n"
)
TEXTS = {
    "one character": "T",
    "prose": STORY * 3,
    "Chinese": "那日天色将晚。师徒四人走到山前，忽见一座古庙。" * 20,
    "Arabic": "كان يا ما كان في قديم الزمان " * 20,
    "emoji": "a 👩‍👩‍👧 family, 🇨🇳 a flag, 👍🏽 a thumb\n" * 12,
    "combining": "re\u0301sume\u0301 and nai\u0308ve " * 30,
    "spaces": " \t  \n" * 100,
    "one letter": "e" * 600,
    "noise": "".join(chr(_random.randrange(32, 127)) for _ in range(600)),
    "any code point": "".join(chr(_random.randrange(0x20, 0xD7FF)) for _ in range(300)),
    "line ends": "one\r\ntwo\rthree\n\r\n" * 30,
    "one long line": STORY.replace("\n", " ") * 6,
    "a long text": "".join(
        " ".join(_random.sample(STORY.split(), 12)) + "\n" for _ in range(8 * SHORTEST // 55)
    ),
}


@torch.inference_mode()
def plain_loop(model: CharModel, text: str) -> float:
    """The perplexity by its definition, one character after another, by the textbook's loop in float64."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    symbols = torch.from_numpy(model.vocabulary.encode(text)).long()
    logits = textbook.read_text(model, text).logits[:-1, 0]
    total = float(torch.nn.functional.cross_entropy(logits, symbols, reduction="sum"))
    total += int((symbols == 0).sum()) * math.log(0x110000 - 0x800 - (model.vocabulary.size - 1))
    return math.exp(total / len(text))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("timemachine-lstm", kind) for kind in TEXTS),
        *product(("timemachine-gru", "timemachine-rnn"), ("prose", "Chinese", "one letter")),
    ],
)
def test_a_plain_loop_in_float64_agrees_to_ten_digits_where_a_score_is_precise(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batched_scoring, "MIN_STRETCH_CHARS", SHORTEST)
    monkeypatch.setattr(batched_scoring, "MIN_SPLIT_CHARS", 8 * SHORTEST)
    model, text = rnnviz.load(name), TEXTS[kind]
    expected = plain_loop(model, text)
    assert rnnviz.perplexity(model, text=text).perplexity == pytest.approx(expected, rel=1e-4)
    precise = rnnviz.perplexity(model, text=text, precise=True)
    assert (precise.perplexity, precise.precise) == (pytest.approx(expected, rel=1e-10), True)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_texts_that_end_cost_what_a_plain_loop_says(cell: str) -> None:
    model = tiny(cell, ends=True)
    tensors = {name: torch.from_numpy(w).double() for name, w in model.tensors.items()}
    loop, lines = [], ["The machine", "", "of brass\t", "x", "half of us jumped."]
    for line in lines:
        ids = torch.tensor([[model.vocabulary.start, *model.vocabulary.encode(line), model.vocabulary.end]])
        read = textbook.read(model.config, tensors, textbook.embedded(model.config, tensors, ids[:, :-1]))
        costs = -read.part("log_probs")[:, 0].gather(1, ids.T[1:])
        loop += (costs + model.vocabulary.unknown_cost * (ids.T[1:] == 0)).flatten().tolist()
    np.testing.assert_allclose(
        rnnviz.trace(model, "".join(f"{line}\n" for line in lines)).nll, loop, rtol=1e-4
    )
