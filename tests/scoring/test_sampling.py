"""Sampling: the right distribution, repeatable, never <unk>."""

import math
from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import ConfigError
from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.scoring.sampling import (
    PLAIN,
    Branch,
    SamplingSettings,
    branches,
    sample,
    sampling_distribution,
    stream,
)
from rnnviz.scoring.tracer import trace
from tests.support.models import tiny, with_tensors
from tests.support.traces import VOCABULARY, spread_network

TEXT = "a cab,\na bad bead 世界 "


NETWORKS = {cell: spread_network(cell) for cell in CELLS}
MODELS: dict[str, NumpyModel | NgramModel] = {
    **NETWORKS,
    **{f"{n}-gram": NgramModel.fit(TEXT * 3, order=n, vocabulary=VOCABULARY) for n in (1, 2, 4)},
}
every_model = pytest.mark.parametrize("name", list(MODELS))


def next_probabilities(name: str, prompt: str) -> np.ndarray:
    """P (V,) after `prompt`, from the parts of the package that don't sample."""
    model = MODELS[name]
    if isinstance(model, NgramModel):
        return np.exp(model.log_probs(VOCABULARY.encode(prompt)))
    return np.exp(trace(model, prompt).log_probs[-1].astype(float))


def by_hand(p: np.ndarray, temperature: float, top_k: int | None, top_p: float | None) -> np.ndarray:
    """The definition, one symbol after another: P without <unk>, tempered, cut to k, cut to its nucleus."""
    remaining = {i: float(p[i]) ** (1 / temperature) for i in range(1, len(p))}
    for _ in range(len(remaining) - (top_k or len(remaining))):
        del remaining[
            max(remaining, key=lambda i: (-remaining[i], i))
        ]  # the least probable; of equals, the last
    share, nucleus = 0.0, []
    for i in sorted(remaining, key=lambda i: (-remaining[i], i)):
        if share < (top_p or 1) * sum(remaining.values()):
            nucleus.append(i)
            share += remaining[i]
    total = sum(remaining[i] for i in nucleus)
    return np.array([remaining[i] / total if i in nucleus else 0.0 for i in range(len(p))])


@every_model
def test_a_seed_repeats_and_another_does_not(name: str) -> None:
    texts = [sample(MODELS[name], "a c", 60, seed=seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


@every_model
def test_temperature_zero_takes_the_most_probable_every_time(name: str) -> None:
    prompt = "a"
    for character in sample(MODELS[name], prompt, 15, temperature=0):
        p = next_probabilities(name, prompt)
        p[0] = 0
        assert VOCABULARY.symbol(int(p.argmax())) == character
        prompt += character
    assert sample(MODELS[name], "a", 15, top_k=1, temperature=2.0) == prompt[1:]
    if name != "1-gram":  # there two characters are equally frequent, and both are right
        assert sample(MODELS[name], "a", 15, temperature=1e-300, seed=3) == prompt[1:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "temperature", "top_k", "top_p"),
    [
        ("mlp", 1.0, None, None),
        ("rnn", 0.5, None, None),
        ("gru", 2.0, 4, None),
        ("lstm", 1.0, None, 0.6),
        ("mingru", 1.5, 5, 0.7),
        ("1-gram", 0.5, None, None),
        ("2-gram", 1.0, None, 0.6),
        ("4-gram", 1.5, 5, 0.7),
    ],
)
def test_draws_follow_the_distribution(
    name: str, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    before = next_probabilities(name, "a b")
    p = by_hand(before, temperature, top_k, top_p)
    draws = 1000
    settings_ = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    np.testing.assert_allclose(sampling_distribution(np.log(before), **settings_), p, atol=1e-12)
    counts = Counter(sample(MODELS[name], "a b", 1, seed=seed, **settings_) for seed in range(draws))
    for symbol in range(1, VOCABULARY.size):
        deviation = math.sqrt(draws * p[symbol] * (1 - p[symbol]))
        assert abs(counts[VOCABULARY.symbol(symbol)] - draws * p[symbol]) <= 5 * deviation + 1e-9


PREDICTIONS = st.lists(st.floats(-30, 0), min_size=2, max_size=12)


@given(
    log_probs=PREDICTIONS,
    temperature=st.floats(0, 50),
    top_k=st.none() | st.integers(1, 14),
    top_p=st.none() | st.floats(0, 1, exclude_min=True),
)
def test_a_reshaped_prediction_keeps_its_order_and_sums_to_one(
    log_probs: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> None:
    rows = np.array([log_probs, log_probs[::-1]])
    reshaped = sampling_distribution(rows, temperature=temperature, top_k=top_k, top_p=top_p)
    assert reshaped.shape == rows.shape
    assert not reshaped[:, 0].any()
    np.testing.assert_allclose(reshaped.sum(-1), 1)
    for before, after in zip(rows[:, 1:], reshaped[:, 1:], strict=True):
        assert (np.diff(after[np.argsort(-before, kind="stable")]) <= 1e-12).all()
        assert 1 <= np.count_nonzero(after) <= (top_k or len(after))
    assert rows[0].tolist() == log_probs  # what was given stays as it was


def test_top_p_draws_from_the_fewest_in_float64() -> None:
    even = np.zeros(3, np.float32)  # half of the probability each, without <unk>
    distribution = sampling_distribution(even, top_p=0.5)
    assert (distribution.tolist(), distribution.dtype) == ([0.0, 1.0, 0.0], np.float64)


@pytest.mark.parametrize(
    "row", [[-np.inf] * 3, [0.0, -np.inf, -np.inf], [-1.0, np.nan, -1.0], [-1.0, np.inf, -1.0]]
)
def test_a_row_without_a_probability_is_refused(row: list[float]) -> None:
    for rows in (row, [[-1.0, -1.0, -1.0], row]):
        with pytest.raises(ConfigError, match="a row with NaN, or of -inf alone"):
            sampling_distribution(rows)


def test_the_unknown_symbol_is_never_drawn_however_probable() -> None:
    model = with_tensors(spread_network(), readout_bias=50.0 * (np.arange(VOCABULARY.size) == 0))
    assert trace(model, "a").top(1, 1)[0][0] == "<unk>"
    text = sample(model, "", 200, seed=0, temperature=3.0)
    assert set(text + sample(model, "", 20, temperature=0)) <= set(VOCABULARY.characters)


@every_model
@pytest.mark.parametrize("length", [0, 2500])
def test_prompt_is_read_whole_however_long_or_empty(name: str, length: int) -> None:
    """The continuation is that of one call per character."""
    prompt = (TEXT * 200)[:length]
    p = next_probabilities(name, prompt)
    p[0] = 0
    assert sample(MODELS[name], prompt, 1, temperature=0) == VOCABULARY.symbol(int(p.argmax()))


@every_model
def test_a_prompt_is_normalised_and_may_hold_unknown_characters(name: str) -> None:
    for prompt, equal_prompt in (("a\r\nb\rc", "a\nb\nc"), ("a行b", "a龍b")):
        assert sample(MODELS[name], prompt, 30, seed=1) == sample(MODELS[name], equal_prompt, 30, seed=1)


@given(
    prompt=st.text(st.sampled_from("abc \r\n世龍😀"), max_size=8),
    length=st.integers(0, 12),
    temperature=st.floats(0, 1e6),
    top_k=st.none() | st.integers(1, 100),
    top_p=st.none() | st.floats(0, 1, exclude_min=True),
    seed=st.integers(0, 2**63),
    name=st.sampled_from(list(MODELS)),
)
def test_sample_has_its_length_in_known_characters(
    prompt: str,
    length: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    seed: int,
    name: str,
) -> None:
    options: dict[str, Any] = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    text = sample(MODELS[name], prompt, length, seed=seed, **options)
    assert len(text) == length
    assert all(character in VOCABULARY for character in text)


def test_stream_yields_characters_as_they_are_drawn() -> None:
    characters = stream(MODELS["gru"], "a", 10**9, seed=5)
    begin = "".join(next(characters) for _ in range(12))
    assert begin == sample(MODELS["gru"], "a", 12, seed=5)
    assert list(stream(MODELS["gru"], "a", 0)) == []


def texts_of(tree: list[Branch]) -> list[str]:
    """The text that leads to each branch; "" for the root, which comes first."""
    texts = [""]
    for branch in tree:
        texts.append(texts[branch.parent] + VOCABULARY.symbol(branch.symbol))
    return texts


def steps_of(tree: list[Branch]) -> int:
    steps = [0]
    for branch in tree:
        steps.append(steps[branch.parent] + 1)
    return max(steps)


@pytest.mark.parametrize("cell", NETWORKS)
@pytest.mark.parametrize("past", [0, 2])
@pytest.mark.parametrize(
    "settings",
    [PLAIN, SamplingSettings(0), SamplingSettings(0.7, top_p=0.5), SamplingSettings(1.5, top_k=3)],
    ids=str,
)
def test_tree_has_probabilities_of_trace_and_of_draw(
    cell: str, past: int, settings: SamplingSettings
) -> None:
    """Each branch, and which go on, from the parts of the package that know no tree."""
    tree = branches(trace(NETWORKS[cell], "a cab"), 4, past, settings)
    texts, reach = texts_of(tree), [1.0]
    for branch, text in zip(tree, texts[1:], strict=True):
        log_probs = trace(NETWORKS[cell], "a ca"[: 4 - past] + texts[branch.parent]).log_probs[-1]
        drawn = sampling_distribution(log_probs, **asdict(settings))
        assert branch.p == pytest.approx(np.exp(log_probs[branch.symbol]), rel=1e-4)
        assert branch.share == pytest.approx(drawn[branch.symbol], rel=1e-4)
        assert (branch.share == 0) == (drawn[branch.symbol] == 0)
        reach.append(1.0 if "a ca"[4 - past :].startswith(text) else reach[branch.parent] * branch.share)
    for step in range(6):
        column = [n for n, text in enumerate(texts) if len(text) == step and n in {b.parent for b in tree}]
        if step >= past + 1:  # those that sampling is likeliest to reach
            reached = sorted((reach[n] for n, text in enumerate(texts) if len(text) == step), reverse=True)
            assert sorted((reach[n] for n in column), reverse=True) == [p for p in reached[:3] if p > 0]
        elif step:
            assert [texts[n] for n in column] == ["a ca"[4 - past :][:step]]
        for parent in column:
            shown = [branch for branch in tree if branch.parent == parent]
            P = np.exp(trace(NETWORKS[cell], "a ca"[: 4 - past] + texts[parent]).log_probs[-1])
            likeliest = 1 + np.argsort(-P[1:], kind="stable")[: len(shown)]
            most = 4 if reach[parent] == max(reach[n] for n in column) else 2
            wanted = [*likeliest[:2], *(s for s in likeliest[2:most] if P[s] >= 0.01)]
            if step < past and (stands := VOCABULARY.encode("a ca"[4 - past + step])[0]) not in wanted:
                wanted.append(stands)
            assert [branch.symbol for branch in shown] == wanted
    assert max(map(len, texts)) == 6
    assert len(tree) <= 60


def test_tree_at_temperature_0_is_the_sample_and_what_it_left() -> None:
    tree = branches(trace(NETWORKS["gru"], "a c"), 3, 0, SamplingSettings(0))
    taken = [text for branch, text in zip(tree, texts_of(tree)[1:], strict=True) if branch.share]
    written = sample(NETWORKS["gru"], "a c", 6, temperature=0)
    assert taken == [written[:n] for n in range(1, 7)]


def test_tree_goes_on_after_unknown_character_of_text() -> None:
    tree = branches(trace(NETWORKS["gru"], "a 🐒"), 3, 1, PLAIN)
    stands = [n for n, branch in enumerate(tree, 1) if branch.symbol == 0]
    assert [tree[n - 1].share for n in stands] == [0]
    assert {branch.parent for branch in tree[stands[0] :][:1]} == set(stands)


def test_tree_ends_where_a_text_ends() -> None:
    model = tiny("gru", ends=True)
    end = model.vocabulary.end
    assert end is not None

    def tree_of(bias: float) -> list[Branch]:  # every text may end, the more surely the larger it is
        biases = np.where(np.arange(model.vocabulary.size) == end, bias, 0)
        return branches(trace(with_tensors(model, readout_bias=biases), "The\nTime"), 5, 2, PLAIN)

    tree = tree_of(2)
    ends = [n for n, branch in enumerate(tree, 1) if branch.symbol == end]
    after = {branch.parent for branch in tree}
    assert len(ends) > 3
    # Of all ends the one that stands in the text alone goes on: another text follows there.
    assert [n for n in ends if n in after] == ends[:1]
    assert {branch.parent for branch in tree} - {0, ends[0]}
    # Where it surely ends, no path goes on from the rest.
    assert steps_of(tree_of(9)) == 3 < steps_of(tree)


def test_tree_of_network_without_probabilities_is_empty() -> None:
    broken = with_tensors(NETWORKS["gru"], readout_bias=np.nan)
    assert branches(trace(broken, "ab"), 2, 1, PLAIN) == []
