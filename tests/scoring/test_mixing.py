"""Two models mixed: against a plain loop, on paper, for every way of cutting a text."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring import mixing
from rnnviz.scoring.mixing import mix
from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.text.vocabulary import UNICODE_SCALAR_VALUES, Vocabulary
from tests.conftest import TEXT, tiny
from tests.scoring.paper import AB, BC, Paper
from tests.scoring.pieces import costs
from tests.scoring.recorded import recorded
from tests.scoring.test_compression import make

OTHER = "A traveller! He is 道 quiet; zzz Time. Every lever was pulled, and he jumped for quartz.\n" * 2


MIXED = {
    "ab bc": mix(AB, BC),
    "uniform mlp": mix(UniformModel(Vocabulary.from_text(TEXT)), tiny("mlp")),
    **{name: make(name) for name in ("gru + 3-gram", "3-gram + 2-gram of others", "gru + 3-gram + 1-gram")},
}


def by_hand(one: Paper, other: Paper, text: str) -> list[float]:
    """What every character costs, one after another."""
    known = sorted({*one.characters, *other.characters})
    left = UNICODE_SCALAR_VALUES - len(known)  # characters that neither knows
    parts, read = {}, "    "  # the start symbol, four times
    steps: list[tuple[str, list[float]]] = []
    costs = []
    for character in text:
        before = "" if read[-1] == " " else read[-1]
        contexts = [(k, read[len(read) - k :]) for k in range(5)]
        own = [sum(parts.get((*c, i), 0.5 if c[0] == 0 else 0) for c in contexts) for i in (0, 1)]
        w = [min(max(x, 0), 2) for x in own]
        # Each symbol's log P under both; the last is all that neither knows, together.
        logs = {c: [math.log(m.of(before, c)) for m in (one, other)] for c in known}
        logs["?"] = [math.log(m.of(before, "?") * left) for m in (one, other)]
        weighed = {c: math.exp(w[0] * a + w[1] * b) for c, (a, b) in logs.items()}
        total = sum(weighed.values())
        came = character if character in known else "?"
        costs.append(-math.log(weighed[came] / total) + (math.log(left) if came == "?" else 0))
        mean = [sum(weighed[c] / total * logs[c][i] for c in logs) for i in (0, 1)]
        steps.append((contexts, [logs[came][i] - mean[i] for i in (0, 1)]))
        if len(costs) % mixing.BLOCK == 0:
            for here, up in steps:
                for (k, context), i in itertools.product(here, (0, 1)):
                    part = (k, context, i)
                    parts[part] = parts.get(part, 0.5 if k == 0 else 0) + mixing.RATES[k] * up[i]
            steps.clear()
        read += came
    return costs


@given(st.text(alphabet="abc道", min_size=1, max_size=30), st.integers(1, 160))
def test_it_equals_a_plain_loop_however_the_text_is_cut(text: str, piece: int) -> None:
    text = text * (150 // len(text))  # the weights change four times
    expected = by_hand(AB, BC, text)
    found = costs(mix(AB, BC), text, piece=piece)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", MIXED)
@given(cuts=st.lists(st.integers(0, len(OTHER)), max_size=4))
def test_cutting_a_text_changes_nothing_and_all_ways_of_reading_agree(kind: str, cuts: list[int]) -> None:
    model = MIXED[kind]
    ids = model.vocabulary.encode(OTHER)
    whole = model.scorer().advance_predictions(ids)
    np.testing.assert_allclose(np.exp(whole).sum(axis=1), 1, rtol=1e-12)
    scorer, parts = model.scorer(), []
    for n, part in enumerate(np.split(ids, sorted(cuts))):
        if n % 3 == 0:
            rows = scorer.advance_predictions(part)
            here = len(np.concatenate([[], *parts]))
            np.testing.assert_allclose(rows, whole[here : here + len(rows)], atol=1e-6)
            parts.append(rows[np.arange(len(part)), part])
        else:
            parts.append(scorer.advance_details(part).log_p if n % 3 == 1 else scorer.advance(part))
    np.testing.assert_allclose(np.concatenate(parts), whole[np.arange(len(ids)), ids], atol=1e-6)


def test_it_learns_which_of_them_to_trust() -> None:
    """With a network that knows nothing it comes to cost what the counts cost alone."""
    text, counts, untrained = TEXT * 4, NgramModel.fit(TEXT, order=3), tiny("gru")
    mixed, alone, never = (perplexity(m, text=text) for m in (mix(untrained, counts), counts, untrained))
    assert mixed.bits_per_character < 1.1 * alone.bits_per_character < 0.5 * never.bits_per_character


def test_a_mixture_goes_wherever_a_model_goes(tmp_path: Path) -> None:
    model = MIXED["gru + 3-gram"]
    score = perplexity(model, text=OTHER)
    assert (score.model, score.unknown) == ("gru + 3-gram", len([c for c in OTHER if c not in TEXT]))
    precise = perplexity(model, text=OTHER, precise=True)
    assert precise.perplexity == pytest.approx(score.perplexity, rel=1e-5)
    assert perplexity(model, text="he", given="A traveller! ").given_characters == 13
    kept = recorded(tmp_path, model, OTHER)
    assert kept.score.perplexity == pytest.approx(score.perplexity, rel=1e-5)


def test_a_model_that_is_sure_of_the_wrong_thing() -> None:
    """P = 0 counts as e^-100, so that the other may be right; the weights stay within their bounds."""
    sure = Paper("ab", [[0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]])
    mixed, alone = costs(mix(sure, AB), "b" * 4000), costs(AB, "b" * 4000)
    assert np.isfinite(mixed).all()
    assert mixed[2000:].mean() < alone[2000:].mean() + 0.1
