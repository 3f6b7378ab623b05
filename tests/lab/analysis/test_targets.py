"""What holds at which character, and patterns that would never end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS, pattern_target, target
from tests.support.targets import target_signs

LINES = "  ab\n    c d\n\n \n\te"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("quotes", 'He said "yes" and', "........xxxx....."),
        ("quotes", "don't 'go, don't' x", "......xxxxxxxxxx..."),
        ("quotes", "“A ‘b’ c’s” d", "xxxxxxxxxx..."),
        ("quotes", "‘isn’t it’ e", "xxxxxxxxx..."),
        ("quotes", "他说：“走！”就走", "...xxx..."),
        ("quotes", "«a» ‹b› „c“ 「d」", "xx..xx..xx..xx."),
        ("quotes", '"it\'s" x', "xxxxx..."),
        ("quotes", '"one\n\nother" y', "xxxx.......xxx"),
        ("quotes", '"one\nother" y', "xxxxxxxxxx..."),
        ("quotes", "\"a 'b' c\" d", "xxxxxxxx..."),
        ("quotes", '"a \'b" d', "xxxxx..."),
        ("quotes", '""', "x."),
        ("quotes", "", ""),
        ("brackets", "f(a[1]) ) (x\n\ny)", ".xxxxx....xx...."),
        ("bracket-depth", "f(a[1]) ) (x\n\ny)", "0112210000110000"),
        ("brackets", "（甲）[乙》]", "xx.xxx."),
        ("line-position", LINES, "123401234567001012"),
        ("indent-depth", LINES, "122201234444001011"),
        ("indentation", LINES, "xx...xxxx.....x.x."),
        ("line-start", LINES, "x....x........x.x."),
        (
            "speaker",
            "KING RICHARD:\nNo: go.\n\nFirst Lord:\nAy:\nAm I:",
            "x" * 13 + "." * 10 + "x" * 11 + "." * 10,
        ),
        ("speaker", "\n \nÉ of York, 2:\n-\n\n\nAll: \nno:", "..." + "x" * 13 + "....." + "xxxx" + "....."),
        ("speaker", "so:\na\n\nHe ran. Then:\na\n\n2 Men:\na\n\nLo:no\n\nAs:\n\n", "." * 46),
        ("speaker", f"{'A' * 40}:\na\n\n{'B' * 41}:\na\n\nC:", "x" * 41 + "." * 50 + "xx"),
        ("word-start", "Don't go, 3rd", "x...x.x...x.."),
        ("capital", "Ab ÄÖ 3 国", "x..xx...."),
        ("vowel", "Élan über y", "x.x..x.x..."),
        ("digit", "a1²b9", ".xx.x"),
    ],
)
def test_target_holds_at_the_marked_characters(name: str, text: str, expected: str) -> None:
    assert target_signs(target(name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("quotes", 'a "b\nc', "..xx.."),
        ("quotes", "x = 'it\\'s'", "....xxxxxx."),
        ("quotes", '"""doc\n\n"in" x""" y', "x" * 14 + "....."),
        ("brackets", "f(a\nb)", ".xx..."),
    ],
)
def test_unclosed_mark_ends_with_its_line_in_a_program(name: str, text: str, expected: str) -> None:
    assert target_signs(target(name, text, unclosed="line")) == expected


@given(st.text(alphabet="a B\n\"'“”‘’()[]1.\\", max_size=40), st.sampled_from(sorted(KINDS)))
def test_every_kind_covers_every_text_and_does_not_look_ahead_of_it(text: str, name: str) -> None:
    found_target = target(name, text)
    assert found_target.values.shape == (len(text),)
    assert found_target.values.dtype in (np.bool_, np.float64)
    if not found_target.graded:
        joined = np.zeros(len(text), bool)
        for start, stop in found_target.spans():
            joined[start:stop] = True
        assert (joined == found_target.values).all()


def test_help_names_every_target() -> None:
    assert {*KINDS, *PYTHON_KINDS} <= set(str(target.__doc__).split())


def test_target_takes_a_pattern_a_mask_or_a_target() -> None:
    text = "in 1895, or 802701"
    found_target = target("[0-9]+", text)
    assert found_target.values.tolist() == pattern_target("[0-9]+", text).values.tolist()
    assert target(found_target, text) is found_target
    assert target(found_target.values, text).values is found_target.values


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"\b\w+ing\b", "a thing sings going", "..xxxxx.......xxxxx"),
        (r"^\w|$|x*", "ab\ncd", "x..x."),
        ("国+", "中国国", ".xx"),
        # What is searched for can't get onto the command line, nor into the code that searches.
        ('"""+__import__', "x", "."),
    ],
)
def test_patterns(pattern: str, text: str, expected: str) -> None:
    assert target_signs(pattern_target(pattern, text)) == expected
