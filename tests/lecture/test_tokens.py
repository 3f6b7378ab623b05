"""Characters against words, and windows side by side: counted in another way."""

import re

from rnnviz.lecture import tokens
from rnnviz.text import corpora


def test_the_books_words_and_characters_are_counted() -> None:
    words = re.findall("[a-z]+", corpora.read("timemachine").text.lower())
    plain = " ".join(words)
    of_characters, of_words = tokens.vocabularies()
    assert of_words.tokens == len(words) == 32_775
    assert of_words.distinct == len(set(words)) == 4_579
    assert of_words.once == sum(words.count(word) == 1 for word in set(words)) == 2_397
    assert (of_characters.tokens, of_characters.distinct) == (len(plain), len(set(plain))) == (173_427, 27)
    assert of_characters.once == 0
    assert (of_characters.symbols, of_words.symbols) == (28, 4_580), "with <unk>, as the textbook counts"
    assert of_words.readout == 256 * 4_580


def test_windows_stand_side_by_side_and_dont_overlap() -> None:
    text = "".join(map(chr, range(100, 200)))
    found = tokens.windows(text, n=4, steps=8)
    assert [text.index(window) for window in found] == [0, 25, 50, 75]
    assert [len(window) for window in found] == [9] * 4
    assert tokens.windows(text, n=20, steps=4)[-1] == text[95:]


def test_a_row_is_one_tokens_vector() -> None:
    x = tokens.one_hot("cab", "abcd")
    assert x.shape == (3, 4)
    assert x.argmax(axis=1).tolist() == [2, 0, 1]
    assert x.sum() == 3
