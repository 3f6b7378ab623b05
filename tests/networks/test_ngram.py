"""The n-gram model: against a slow reference, as a distribution and as a scorer."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.networks import ngram
from rnnviz.networks.kneser_ney import discounts
from rnnviz.networks.ngram import NgramModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.ngrams import ABRACADABRA, ORDERS, SEA_SHELLS, fitted


class Reference:
    """The formulae of Chen and Goodman with dictionaries, one n-gram at a time."""

    def __init__(self, ids: Sequence[int], size: int, order: int) -> None:
        self.size, self.order = size, order
        text = (size, *ids)
        raw: Counter[tuple[int, ...]] = Counter()
        for end in range(1, len(text)):
            for length in range(1, min(order, end + 1) + 1):
                raw[text[end - length + 1 : end + 1]] += 1
        predecessors: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
        for gram in raw:
            predecessors[gram[1:]].add(gram[0])
        self.count = {
            g: n if len(g) == order or g[0] == size else len(predecessors[g]) for g, n in raw.items()
        }
        self.discounts = {k: self._discounts(k) for k in range(1, order + 1)}

    def _discounts(self, length: int) -> dict[int, float]:
        t = Counter(n for g, n in self.count.items() if len(g) == length)
        by_count = {1: 0.5, 2: 1.0, 3: 1.5}
        for j in by_count:
            if t[1] and t[2] and t[j] and t[j + 1]:
                value = j - (j + 1) * t[1] / (t[1] + 2 * t[2]) * t[j + 1] / t[j]
                if 0 < value <= j:
                    by_count[j] = value
        return by_count

    def probability(self, symbol: int, context: tuple[int, ...]) -> float:
        lower = self.probability(symbol, context[1:]) if context else 1 / self.size
        followers = [self.count.get((*context, w), 0) for w in range(self.size)]
        if not sum(followers):
            return lower
        discount = self.discounts[len(context) + 1]
        kept_back = sum(discount[min(n, 3)] for n in followers if n)
        share = followers[symbol] - discount[min(followers[symbol], 3)] if followers[symbol] else 0.0
        return (share + kept_back * lower) / sum(followers)

    def score(self, ids: Sequence[int]) -> list[float]:
        text = (self.size, *ids)
        contexts = [text[max(0, i - self.order + 1) : i] for i in range(1, len(text))]
        return [math.log(self.probability(w, context)) for w, context in zip(ids, contexts, strict=True)]


def test_a_bigram_model_worked_out_by_hand() -> None:
    model = NgramModel.fit("abab", order=2, vocabulary=Vocabulary(("a", "b")))
    # V = 3. Bigrams: <s>a 1, ab 2, ba 1. Different predecessors: a 2 (<s>, b), b 1 (a).
    # Order 2: t_1 = 2, t_2 = 1, so Y = 1/2 and D_1 = 1 - 2 · 1/2 · 1/2 = 1/2; no t_3: D_2 is the fallback 1.
    # Order 1: t_1 = t_2 = 1, Y = 1/3, D_1 = 1 - 2 · 1/3 · 1 = 1/3; D_2 is the fallback 1.
    gamma = (1 / 3 + 1) / 3
    p_a, p_b, p_unknown = (2 - 1) / 3 + gamma / 3, (1 - 1 / 3) / 3 + gamma / 3, gamma / 3
    at_start, after_a, after_unknown = (np.exp(model.log_probs(context)) for context in ([], [1], [0]))
    np.testing.assert_allclose(at_start, [0.5 * p_unknown, 0.5 + 0.5 * p_a, 0.5 * p_b], atol=1e-12)
    # After a: b came twice, C = 2, γ = 1/2.
    np.testing.assert_allclose(after_a, [0.5 * p_unknown, 0.5 * p_a, 0.5 + 0.5 * p_b], atol=1e-12)
    # <unk> was never a context: order 1 alone.
    np.testing.assert_allclose(after_unknown, [p_unknown, p_a, p_b], atol=1e-12)


def assert_scores(model: NgramModel, training: Sequence[int], ids: Sequence[int]) -> None:
    """The model of `training` scores `ids`, at once and row by row, as the reference does."""
    expected = Reference(training, model.vocabulary.size, model.order).score(ids)
    np.testing.assert_allclose(model.score(ids), expected, rtol=0, atol=1e-9)
    rows = [model.log_probs(ids[:t])[symbol] for t, symbol in enumerate(ids)]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "text", [SEA_SHELLS, "The shore is sure; she?  Ωsea", "zzz", SEA_SHELLS[40:70][::-1]]
)
def test_equals_the_reference_on_text_seen_and_unseen(order: int, text: str) -> None:
    model = fitted(order)
    assert_scores(model, model.vocabulary.encode(SEA_SHELLS).tolist(), model.vocabulary.encode(text).tolist())


@given(
    text=st.text("abcdr", min_size=1, max_size=60),
    scored=st.text("abcdrz", max_size=12),
    order=st.integers(1, 6),
)
def test_equals_the_reference_on_any_small_text(text: str, scored: str, order: int) -> None:
    model = NgramModel.fit(text, order=order, vocabulary=ABRACADABRA)
    assert_scores(model, ABRACADABRA.encode(text).tolist(), ABRACADABRA.encode(scored).tolist())


@given(
    text=st.one_of(st.just(SEA_SHELLS), st.text(min_size=1, max_size=40)),
    context=st.lists(st.integers(0, 2000), max_size=8),
    order=st.integers(1, 6),
)
def test_probabilities_sum_to_one_for_every_context(text: str, context: list[int], order: int) -> None:
    model = fitted(order, text)
    row = model.log_probs([i % model.vocabulary.size for i in context])
    assert row.shape == (model.vocabulary.size,)
    assert np.isfinite(row).all()
    assert abs(np.exp(row).sum() - 1) < 1e-9


def test_a_vocabulary_too_large_to_pack_six_symbols_in_64_bits() -> None:
    characters = [chr(0x4E00 + i) for i in range(4500)]
    text = "".join(characters[(i * i) % 4500] for i in range(20_000))
    model = NgramModel.fit(text, order=6, vocabulary=Vocabulary(tuple(characters)))
    ids = model.vocabulary.encode(text)
    for context in (ids[:0], ids[:100], ids[:5][::-1]):
        assert abs(np.exp(model.log_probs(context)).sum() - 1) < 1e-9
    part = NgramModel.fit(text[:500], order=6, vocabulary=model.vocabulary)
    assert_scores(part, ids[:500].tolist(), ids[480:500].tolist())


@given(cuts=st.lists(st.integers(0, len(SEA_SHELLS)), max_size=6), order=st.integers(1, 6))
def test_chunks_leave_scores_unchanged(cuts: list[int], order: int) -> None:
    model = fitted(order)
    ids = model.vocabulary.encode(SEA_SHELLS)
    scorer = model.scorer()
    pieces = [scorer.advance(piece) for piece in np.split(ids, sorted(cuts))]
    np.testing.assert_array_equal(np.concatenate(pieces), model.score(ids))


def test_blocks_leave_scores_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(5)
    ids = np.tile(model.vocabulary.encode(SEA_SHELLS), 400)
    scorer = model.scorer()
    pieces = [scorer.advance(piece) for piece in np.array_split(ids, 7)]
    np.testing.assert_array_equal(model.score(ids), np.concatenate(pieces))
    ids = ids[:50]
    whole, (_, ranks, entropies) = model.predictions(ids), model.ranked(ids)
    np.testing.assert_array_equal(model.predictions(ids[3:], ids[:3]), whole[3:])
    monkeypatch.setattr(ngram, "_DENSE_ENTRIES", 7 * model.vocabulary.size)
    np.testing.assert_array_equal(model.predictions(ids), whole)
    np.testing.assert_array_equal(model.ranked(ids)[1], ranks)
    np.testing.assert_array_equal(model.ranked(ids)[2], entropies)
    assert (ranks.dtype, entropies.dtype) == (np.int32, np.float32)
    np.testing.assert_allclose(entropies, -(np.exp(whole) * whole).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("edit", [0, 1, 3, 30])
def test_edited_text_is_scored_from_the_edit(order: int, edit: int) -> None:
    model = fitted(order)
    ids = model.vocabulary.encode(SEA_SHELLS[:edit] + "shore is sure")
    rest = model.score(ids[edit:], ids[max(0, edit - order + 1) : edit])
    np.testing.assert_array_equal(rest, model.score(ids)[edit:])


def test_the_start_symbol_is_read_but_never_predicted() -> None:
    model = fitted(6)
    ids = model.vocabulary.encode("She")
    after_e = model.log_probs(model.vocabulary.encode("e"))
    assert model.log_probs()[ids[0]] > after_e[ids[0]] + math.log(10)
    np.testing.assert_array_equal(model.log_probs([model.vocabulary.start]), model.log_probs())
    np.testing.assert_array_equal(model.score(ids, [model.vocabulary.start]), model.score(ids))


def test_a_shortened_model_is_that_of_the_same_text() -> None:
    text = f"{SEA_SHELLS} shells"  # which a longer n-gram doesn't go on from at the end
    vocabulary = Vocabulary.from_text(text, min_count=1)
    model = NgramModel.fit(text, order=5, vocabulary=vocabulary, name="shells", normaliser="typography")
    model.card = {"title": "Shells"}
    for order in range(1, 6):
        short = model.shortened(order)
        same = NgramModel.fit(text, order=order, vocabulary=vocabulary)
        np.testing.assert_array_equal(short.log_probs([3, 7, 5]), same.log_probs([3, 7, 5]))
        np.testing.assert_array_equal(short.to_tensors()["counts"], same.to_tensors()["counts"])
        assert (short.order, short.seen) == (order, same.seen)
        assert (short.name, short.card, short.normaliser) == ("shells", model.card, "typography")
    assert np.exp(NgramModel.fit("a", order=3).shortened(1).log_probs()).sum() == pytest.approx(1)


def test_rare_characters_teach_the_unknown_symbol() -> None:
    text = "aabbaabbXaabbYaabb"
    model = NgramModel.fit(text, order=3, vocabulary=Vocabulary.from_text(text, min_count=2))
    assert model.vocabulary.characters == ("a", "b")
    never = NgramModel.fit("aabbaabbaabbaabb", order=3)
    after_b = model.vocabulary.encode("aabb")
    assert model.log_probs(after_b)[0] > never.log_probs(after_b)[0] + 1
    assert np.isfinite(never.log_probs(after_b)[0])
    # Whatever the unknown character is, it is the same symbol.
    np.testing.assert_array_equal(
        model.score(model.vocabulary.encode("aZb")), model.score(model.vocabulary.encode("a😀b"))
    )


def test_line_ends_are_normalised_before_counting() -> None:
    windows = rnnviz.ngram(SEA_SHELLS.replace("\n", "\r\n"), order=3, name="windows")
    assert (windows.name, windows.normaliser, fitted(3).name) == ("windows", "newlines", "")
    assert rnnviz.ngram("ab").order == 6
    assert "\r" not in windows.vocabulary
    np.testing.assert_array_equal(windows.log_probs([1, 2]), fitted(3).log_probs([1, 2]))


@given(st.lists(st.integers(1, 6), max_size=40))
def test_discounts_leave_every_count_positive_or_zero(counts: list[int]) -> None:
    estimates = discounts(np.array(counts, np.int64))
    assert all(0 < d <= j for j, d in enumerate(estimates, start=1))


def test_an_empty_text_teaches_nothing_but_scores_as_nothing() -> None:
    assert fitted(3).score([]).shape == (0,)
    assert fitted(3).scorer().advance(np.empty(0, np.int64)).shape == (0,)


def test_parameters_are_the_ngrams_of_all_orders() -> None:
    # <unk> a b, <s>a ab ba, <s>ab aba bab
    assert NgramModel.fit("abab", order=3, vocabulary=Vocabulary(("a", "b"))).parameter_count == 9


@given(st.text("abc", min_size=1, max_size=30), st.text("abc", min_size=1, max_size=4))
def test_occurs_finds_substrings(text: str, part: str) -> None:
    model = NgramModel.fit(text, order=4, vocabulary=Vocabulary.from_text("abc"))
    assert model.occurs(model.vocabulary.encode(part)) == (part in text or len(part) == 1)
