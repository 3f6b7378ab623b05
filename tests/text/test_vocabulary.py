"""The characters a model knows, and their integers."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.text.vocabulary import LONG_TEXT_CHARS, UNKNOWN_ID, Vocabulary


def test_the_layout_of_the_integers() -> None:
    vocabulary = Vocabulary.from_text("machine", min_count=1)
    assert vocabulary.characters == ("a", "c", "e", "h", "i", "m", "n")
    assert (vocabulary.size, vocabulary.start) == (8, 8)
    np.testing.assert_array_equal(vocabulary.encode("cab"), np.array([2, 1, UNKNOWN_ID]), strict=True)
    assert vocabulary.decode([2, 1, 0]) == "ca\ufffd"
    assert [vocabulary.symbol(i) for i in (0, 1, 8)] == ["<unk>", "a", "<s>"]


def test_rare_characters_are_left_to_unknown() -> None:
    assert Vocabulary.from_text("abracadabra", min_count=2).characters == ("a", "b", "r")
    assert Vocabulary.from_text("abracadabra", min_count=1).characters == ("a", "b", "c", "d", "r")
    assert Vocabulary.from_text("abracadabra", min_count=1, size=3).characters == ("a", "b")
    whole = Vocabulary.from_text("abc", min_count=2)
    assert whole.characters == ("a", "b", "c"), "nothing repeats: everything is kept"


def test_minimum_count_follows_text_size() -> None:
    assert Vocabulary.from_text("hello").characters == ("e", "h", "l", "o")
    book = "a lamp " * (LONG_TEXT_CHARS // 7) + "!"
    for text, rarest in ((book[-LONG_TEXT_CHARS + 1 :], 1), (book.rjust(LONG_TEXT_CHARS), 2)):
        assert Vocabulary.from_text(text) == Vocabulary.from_text(text, min_count=rarest)
        assert ("!" in Vocabulary.from_text(text)) == (rarest == 1)


def test_dropped_characters_are_named() -> None:
    text = "abcdefghijkl" + "mm"
    sentence, share = Vocabulary.from_text(text, min_count=2).dropped(text)
    assert "12 of the text's 13 different characters" in sentence
    assert sentence.endswith("'i', 'j', …"), "ten of them are named"
    assert share == pytest.approx(12 / 14)
    assert Vocabulary.from_text(text).dropped(text) == ("", 0.0)


@given(st.text(min_size=1), st.text())
def test_encoding_and_decoding_are_inverse_on_known_characters(text: str, foreign: str) -> None:
    vocabulary = Vocabulary.from_text(text, min_count=1)
    assert vocabulary.decode(vocabulary.encode(text)) == text
    assert [i != UNKNOWN_ID for i in vocabulary.encode(foreign)] == [c in text for c in foreign]
    assert [c in vocabulary for c in foreign] == [c in text for c in foreign]


@given(st.text(min_size=1))
def test_a_vocabulary_survives_json(text: str) -> None:
    vocabulary = Vocabulary.from_text(text)
    assert Vocabulary.from_json(json.loads(json.dumps(vocabulary.to_json()))) == vocabulary


def test_unknown_cost_counts_other_characters() -> None:
    vocabulary = Vocabulary.from_text("abc", min_count=1)
    assert vocabulary.unknown_cost == pytest.approx(math.log(1_112_061))


def test_contains_takes_single_characters_alone() -> None:
    vocabulary = Vocabulary(("a", "b"))
    assert [item for item in ("a", "ab", "", 1) if item in vocabulary] == ["a"]
