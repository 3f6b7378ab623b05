"""The number of words of a text, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.scoring.totals import WordCount


def counted(*pieces: str) -> int | None:
    words = WordCount()
    for piece in pieces:
        words.add(piece)
    return words.count


@given(st.lists(st.text("ab \n\t\u00a0\u2003é", max_size=6)))
def test_pieces_hold_as_many_words_as_the_whole(pieces: list[str]) -> None:
    assert counted(*pieces) == len("".join(pieces).split())


def test_another_text_begins_another_word() -> None:
    words = WordCount()
    words.add("one")
    words.end()
    words.add("two")
    assert words.count == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n", 0),
        ("don't stop – now", 4),
        ("도시의 밤은 깊었다", 3),  # Korean parts its words
        ("第一回 灵根育孕源流出", None),
        ("ภาษาไทยไม่เว้นวรรค", None),
        ("The word 道 is Chinese, and one in ten characters is not too many.", 14),
        ("道道 is more than a t", None),  # two of twenty are a tenth, three are more
        ("道 is less than a ten", 6),
    ],
)
def test_languages_without_spaces_have_no_number_of_words(text: str, words: int | None) -> None:
    assert counted(text) == words
