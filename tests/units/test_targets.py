"""What holds at which character, and patterns that would never end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import ConfigError, TextError
from rnnviz.units import KINDS, pattern_target, span_target, target
from rnnviz.units.patterns import find_all


def marks(name: str, text: str, **options: str) -> str:
    """One sign a character: a digit where it is graded, x and . elsewhere."""
    found = target(name, text, **options)  # type: ignore[arg-type]
    assert len(found) == len(text)
    if found.graded:
        assert found.values.dtype == np.float64
        return "".join(f"{value:.0f}" for value in found.values)
    return "".join("x" if value else "." for value in found.values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "yes" and', "........xxxx....."),
        ("don't 'go, don't' x", "......xxxxxxxxxx..."),
        ("“A ‘b’ c’s” d", "xxxxxxxxxx..."),
        ("‘isn’t it’ e", "xxxxxxxxx..."),
        ("他说：“走！”就走", "...xxx..."),
        ("«a» ‹b› „c“ 「d」", "xx..xx..xx..xx."),
        ('"it\'s" x', "xxxxx..."),
        ('"one\n\nother" y', "xxxx.......xxx"),
        ('"one\nother" y', "xxxxxxxxxx..."),
        ('""', "x."),
        ("", ""),
    ],
)
def test_quotes(text: str, expected: str) -> None:
    assert marks("quotes", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a "b\nc', "..xx.."),
        ("x = 'it\\'s'", "....xxxxxx."),
        ('"""doc\n\n"in" x""" y', "x" * 14 + "....."),
        ("f(a\nb)", ".xx..."),
    ],
)
def test_what_is_left_open_ends_with_its_line_in_a_program(text: str, expected: str) -> None:
    name = "brackets" if "(" in text else "quotes"
    assert marks(name, text, unclosed="line") == expected


def test_brackets() -> None:
    assert marks("brackets", "f(a[1]) ) (x\n\ny)") == ".xxxxx....xx...."
    assert marks("bracket-depth", "f(a[1]) ) (x\n\ny)") == "0112210000110000"
    assert marks("brackets", "（甲）[乙》]") == "xx.xxx."


def test_places_in_a_line() -> None:
    text = "  ab\n    c d\n\n \n\te"
    assert marks("line-position", text) == "123401234567001012"
    assert marks("indent-depth", text) == "122201234444001011"
    assert marks("indentation", text) == "xx...xxxx.....x.x."
    assert marks("line-start", text) == "x....x........x.x."


def test_kinds_of_characters() -> None:
    assert marks("word-start", "Don't go, 3rd") == "x...x.x...x.."
    assert marks("capital", "Ab ÄÖ 3 国") == "x..xx..." + "."
    assert marks("vowel", "Élan über y") == "x.x..x.x..."
    assert marks("digit", "a1²b9") == ".xx.x"


@given(st.text(alphabet="a B\n\"'“”‘’()[]1.\\", max_size=40), st.sampled_from(sorted(KINDS)))
def test_every_kind_covers_every_text_and_does_not_look_ahead_of_it(text: str, name: str) -> None:
    found = target(name, text)
    assert found.values.shape == (len(text),)
    if not found.graded:
        joined = np.zeros(len(text), bool)
        for start, stop in found.spans():
            joined[start:stop] = True
        assert (joined == found.values).all()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"no target 'verbs'; choose one of quotes, brackets"):
        target("verbs", "a")
    with pytest.raises(ConfigError, match="'paragraph' or 'line'"):
        target("quotes", "a", unclosed="page")  # type: ignore[arg-type]
    with pytest.raises(TextError, match="surrogate"):
        target("vowel", "a\ud800")
    with pytest.raises(ConfigError, match="no spans"):
        target("line-position", "ab").spans()


def test_spans() -> None:
    found = span_target([(1, 3), (2, 4)], "abcdef")
    assert found.values.tolist() == [False, True, True, True, False, False]
    assert found.spans() == [(1, 4)]
    for wrong in [(3, 3), (-1, 2), (2, 7)]:
        with pytest.raises(ConfigError, match="6 characters"):
            span_target([wrong], "abcdef")


def test_patterns() -> None:
    assert marks_of(r"\b\w+ing\b", "a thing sings going") == "..xxxxx.......xxxxx"
    assert marks_of(r"^\w|$|x*", "ab\ncd") == "x..x."
    assert marks_of("国+", "中国国") == ".xx"


def marks_of(pattern: str, text: str) -> str:
    return "".join("x" if value else "." for value in pattern_target(pattern, text).values)


@pytest.mark.parametrize("pattern", ["(", "[z-a]", "(?P<n>a)(?P<n>b)", "*"])
def test_a_misspelt_pattern_says_what_is_wrong(pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"is no regular expression: .*position"):
        pattern_target(pattern, "abc")


def test_a_pattern_that_would_never_end_is_stopped() -> None:
    with pytest.raises(ConfigError, match=r"still searching after 0\.3 seconds"):
        pattern_target("(a+)+b", "a" * 60, timeout=0.3)


@pytest.mark.parametrize("pattern", ["", "a" * 1001])
def test_a_pattern_has_a_length(pattern: str) -> None:
    with pytest.raises(ConfigError, match="1 to 1,000"):
        find_all(pattern, "abc")


def test_a_pattern_sees_text_and_nothing_else() -> None:
    # What is searched for can't get onto the command line, nor into the code that searches.
    assert find_all('"""+__import__', "x") == []
