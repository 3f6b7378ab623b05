"""What a model writes when it reads itself: measures by hand, the recording, and part of it made again."""

import itertools
import json
import math
from functools import cache

import numpy as np
import pytest

from rnnviz.lecture import writing
from rnnviz.networks import checkpoint
from rnnviz.reading import sampling
from rnnviz.reading.trace import trace
from rnnviz.text import corpora

load = cache(checkpoint.load_numpy)
HELD_OUT = corpora.read("timemachine").split().held_out


@pytest.mark.parametrize(
    ("text", "n", "share"), [("abcdef", 2, 0.0), ("aaaa", 2, 2 / 3), ("abab", 2, 1 / 3), ("ab", 3, 0.0)]
)
def test_repeated_ngrams_are_counted(text: str, n: int, share: float) -> None:
    assert writing.repeated(text, n) == pytest.approx(share)


def test_made_up_words_are_those_that_are_not_known_without_the_cut_ones() -> None:
    known = frozenset({"the", "time"})
    assert writing.made_up("xx the tmie, THE Time yy", known) == pytest.approx(1 / 4)
    assert writing.made_up("one two", known) == 0.0


def test_a_search_as_wide_as_all_texts_finds_the_likeliest() -> None:
    """Against every text of two characters, each scored by itself."""
    model = load("timemachine-rnn")
    characters = model.vocabulary.characters
    prompt = "The Time Travel"
    before = trace(model, prompt).log_probs[-1]

    def score(text: str) -> float:
        log_probs = trace(model, prompt + text[0]).log_probs[-1]
        first, second = (model.vocabulary.encode(c)[0] for c in text)
        return float(before[first] + log_probs[second])

    best = max(
        map("".join, itertools.product([*sorted(characters)[:30], "l", "e", "r"], repeat=2)), key=score
    )
    assert writing.beam(model, prompt, 2, width=model.vocabulary.size) == best == "le"


def test_one_beam_is_greedy_and_more_find_likelier_texts() -> None:
    model = load("timemachine-lstm")
    prompt, _ = writing.beginnings(HELD_OUT)[3]
    greedy = sampling.sample(model, prompt, 40, temperature=0)
    assert writing.beam(model, prompt, 40, width=1) == greedy
    wide = writing.beam(model, prompt, 40, width=4)
    scores = [float(trace(model, prompt + text).nll[len(prompt) :].sum()) for text in (wide, greedy)]
    assert scores[0] < scores[1]


def test_guesses_are_the_likeliest_characters_after_each_beginning() -> None:
    model = load("timemachine-gru")
    prompt, book = HELD_OUT[:50], HELD_OUT[50:58]
    plain = "".join(sampling.sample(model, prompt + book[:i], 1, temperature=0) for i in range(len(book)))
    assert writing.guesses(model, prompt, book) == plain


def test_beginnings_stand_in_the_text_with_what_follows() -> None:
    texts = writing.beginnings(HELD_OUT)
    assert len(texts) == writing.PROMPTS
    assert all(prompt + book in HELD_OUT for prompt, book in texts)
    assert {len(book) for _, book in texts} == {writing.WRITTEN}


def test_part_of_the_recording_comes_out_again() -> None:
    found = writing.recorded()
    texts = writing.beginnings(HELD_OUT)
    written = [
        sampling.sample(load(writing.WRITER), prompt, writing.WRITTEN, temperature=0.2, seed=i)
        for i, (prompt, _) in enumerate(texts)
    ]
    gru = found["greedy"][1]
    texts_of_its_own = [
        sampling.sample(load("timemachine-gru"), prompt, writing.WRITTEN, temperature=0)
        for prompt, _ in texts
    ]
    assert sum(text[-60:] in text[:-1] for text in texts_of_its_own) == gru["looped"]
    own = [
        float(trace(load("timemachine-gru"), p + text).nll[len(p) + 100 :].mean())
        for (p, _), text in zip(texts, texts_of_its_own, strict=True)
    ]
    assert np.mean(own) == pytest.approx(gru["own"][0], rel=1e-3)
    cold = found["temperatures"][0]
    assert written[0].startswith(cold["example"])
    assert np.mean([writing.repeated(text) for text in written]) == pytest.approx(
        cold["repeated"][0], rel=1e-3
    )
    places = np.linspace(1000, len(HELD_OUT) - 1, writing.PLACES).astype(int)
    costs = [float(trace(load("timemachine-rnn"), HELD_OUT[t - 3 : t + 1]).nll[-1]) for t in places]
    rnn = found["contexts"][0]
    assert np.mean(costs) == pytest.approx(rnn["nats"][writing.CONTEXTS.index(3)][0], rel=1e-3)


def test_the_recording_shows_what_the_page_says() -> None:
    found = writing.recorded()
    for row in found["greedy"]:
        assert row["looped"] > 0.9 * writing.PROMPTS
        assert row["own"][0] + 3 * row["own"][1] < row["book"][0], "less perplexing than the book"
        assert writing.repeats(row["example"]) == row["period"]
    *by_temperature, book = found["temperatures"]
    repeated = [row["repeated"][0] for row in by_temperature]
    made_up = [row["made_up"][0] for row in by_temperature]
    assert repeated == sorted(repeated, reverse=True)
    assert made_up == sorted(made_up)
    assert repeated[0] > 10 * book["repeated"][0]
    assert made_up[-1] > 3 * book["made_up"][0]
    greedy, *wider, drawn, book = found["beams"]
    assert all((row["likelier"], row["less_likely"]) == (writing.PROMPTS, 0) for row in wider)
    nats = [row["nats"][0] for row in (greedy, *wider)]
    assert nats == sorted(nats)
    assert min(nats) > max(drawn["nats"][0], book["nats"][0]), "likelier than the book"
    assert min(row["repeated"][0] for row in (greedy, *wider)) > 0.4
    for row in found["own_input"]:
        far = {name: row[name][4:] for name in ("forced", "free", "by_accident")}
        for forced, free, accident in zip(*far.values(), strict=True):
            assert forced[0] > 0.5
            assert abs(free[0] - accident[0]) < 3 * math.hypot(free[1], accident[1])
        early, late = row["own"][2], row["own"][-1]
        assert late[0] - early[0] < 2 * math.hypot(early[1], late[1]), "it doesn't get worse with length"
    for row in found["contexts"]:
        lost = dict(zip(writing.CONTEXTS, row["lost"], strict=True))
        assert lost[5][0] > 0.05
        assert all(lost[k][0] < 0.02 for k in writing.CONTEXTS if k >= 10)


def test_the_recording_is_small() -> None:
    assert writing.RECORDING.stat().st_size < 10_000
    json.loads(writing.RECORDING.read_text("utf-8"), parse_constant=pytest.fail)


@pytest.mark.parametrize(("text", "period"), [("abcabcabcabc", 3), ("aaaa", 1), ("abcdefg", 0), ("", 0)])
def test_repeating_is_found(text: str, period: int) -> None:
    assert writing.repeats(text) == period
