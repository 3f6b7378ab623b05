"""Python read by its own tokeniser: snippets labelled by hand, texts cut anywhere, and what is no Python."""

import io
import sysconfig
import tokenize
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.lab.analysis import python_text
from rnnviz.lab.analysis.targets import KINDS, PYTHON_KINDS, bracket_depth, inside_quotes, kinds, target
from rnnviz.text import corpora
from tests.support.models import TEXT
from tests.support.targets import target_signs


@pytest.fixture(scope="module")
def program() -> str:
    """A module of the standard library."""
    return Path(sysconfig.get_path("stdlib"), "textwrap.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("py-string", "x = 'it' + y", "....xxx....."),
        ("py-string", "rb'a' ''", "..xx..x."),
        ("py-string", "x = 'a\\'b'", "....xxxxx."),
        ("py-string", "# it's\nx = 1", "............"),
        ("py-string", '"""a\n"b\n"""\nc', "xxxxxxxx....."),
        ("py-string", "f'{a}'", ".xxxx."),
        ("py-string", "x = 'a' 'b'", "....xx..xx."),
        ("py-comment", "x  # '(\ny", "...xxxx.."),
        ("py-comment", "x = '#'", "......."),
        ("py-brackets", "f('(')\n# (\ny", ".xxxx......."),
        ("py-brackets", "f(a,\n\n  b)\nc", ".xxxxxxxx..."),
        ("py-bracket-depth", "a[(1), {2}]", "01221112210"),
        ("py-indentation", "if a:\n  f(b,\n    c)\n  # d", "......xx............xx..."),
        ("py-indentation", '"""\n  a\n"""', "..........."),
        ("py-blocks", "if a:\n  if b:\n    c\nd", "000000011111100112200"),
        ("py-blocks", "    a\n  b\nc", "00011001100"),
    ],
)
def test_snippets_labelled_by_hand(name: str, text: str, expected: str) -> None:
    found_target = target(name, text)
    assert found_target.parsed == 1
    assert target_signs(found_target) == expected


@pytest.mark.parametrize(
    ("text", "strings", "parsed"),
    [
        ("still prose, isn't it?\n'''\nx = 'a'\n", "x" * 23 + "........xx..", 1),  # within a string
        ("x = '''a\n it", "....xxxxxxxx", 1),  # it ends within one
        ("x = 'a\ny = 'b'\n", None, 8 / 15),  # a mark that is never closed costs its line
        ("a = (1\nb = 'c'\nd e\n", None, 8 / 19),  # so do a bracket, and two names side by side
        ("f(\ndef g():\n    'a'\n", None, 17 / 20),
        ("f(1]\nx = 'a'\n", None, 8 / 13),
        ("  1)\nx = 'a'\n", None, 8 / 13),
        (" " * 200 + "x\n", None, 1),
        (">>> f(1)\nx = 'a'\n", None, 8 / 17),
        ("f(1,\n  'a',\n", "." * 7 + "xx...", 1),
        ("match x:\n  case 'a':\n    b\n", None, 1),
        ("", "", 1),
    ],
)
def test_texts_that_begin_or_end_within_something_or_are_broken(
    text: str, strings: str | None, parsed: float
) -> None:
    found_target = target("py-string", text)
    assert found_target.parsed == pytest.approx(parsed)
    assert strings is None or target_signs(found_target) == strings


def test_strings_and_comments_of_a_module_are_the_tokenisers(program: str) -> None:
    begins = np.concatenate([[0], np.cumsum([len(line) for line in program.splitlines(keepends=True)])])
    strings, comments = np.zeros((2, len(program)), bool)
    for token in tokenize.generate_tokens(io.StringIO(program).readline):
        start, stop = (int(begins[row - 1]) + column for row, column in (token.start, token.end))
        if token.type == tokenize.STRING:
            strings[start:stop] = True
        comments[start:stop] |= token.type == tokenize.COMMENT
    python = python_text.read_python(program)
    assert python.parsed.all()
    assert (python.comment == comments).all()
    assert not (python.string & ~strings).any()
    assert 0.9 < python.string.sum() / strings.sum() < 1  # but for a string's marks and prefix


def test_a_module_cut_anywhere_is_read_as_the_whole(program: str) -> None:
    whole, rng, differ = python_text.read_python(program), np.random.default_rng(0), []
    for start in rng.integers(0, len(program) - 3000, 60).tolist():
        piece = python_text.read_python(program[start : start + 3000])
        differ.append(float(np.mean(piece.string != whole.string[start : start + 3000])))
        assert piece.parsed.mean() > 0.7
    assert np.mean(np.array(differ) < 0.05) > 0.9


def test_rules_of_thumb_stand_in_where_there_is_no_python() -> None:
    text = "x = 'a'\nhe said 'no (' to b\nf(1)\n"
    found_target = target("py-string", text)
    assert target_signs(found_target) == "....xx.." + "........xxxxx......." + "....."
    prose = slice(text.index("he"), text.index("f(1"))
    assert (found_target.values[prose] == inside_quotes(text[prose], "line")).all()
    assert found_target.parsed == pytest.approx(1 - len(text[prose]) / len(text))
    depth = target("py-bracket-depth", text).values
    assert (depth[prose] == bracket_depth(text[prose], "line")).all()
    assert depth[-4:].tolist() == [1, 1, 0, 0]


def test_python_targets_are_offered_for_programs_alone(program: str) -> None:
    of_python = kinds(program)
    assert set(PYTHON_KINDS) < set(of_python)
    rules = {"quotes", "brackets", "bracket-depth", "indentation", "indent-depth", "speaker"}
    assert not rules & set(of_python)
    assert {"capital", "line-start"} < set(of_python)
    docs = corpora.read("python-docs").text
    for prose in (
        TEXT,
        "他说：“走！”就走。\n" * 20,
        docs[:20_000],
        "yes\nno\n",
        "",
        "1895\n1896\n",
        '"""' + TEXT,
        "My dear Holmes:\nIt is as you say.\n\n" + 9 * TEXT,
    ):
        assert kinds(prose) == tuple(name for name in KINDS if name != "speaker")
    assert kinds("ALL:\nSpeak, speak.\n\n" * 9) == tuple(KINDS), "a play's text"
    for start in (1000, 5000, 9000):
        assert kinds(program[start:]) == of_python


PIECES = (
    "'",
    '"',
    "'''",
    '"""',
    "f'",
    "(",
    "]",
    "{",
    "}",
    "\n",
    "    ",
    "\t",
    " ",
    "#",
    "\\",
    "x",
    "if",
    "def",
    ":",
    "=",
    "1",
    "国",
    "\r",
    "\f",
    "\0",
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
    | st.text(max_size=40).filter(lambda t: t.isprintable())
)
def test_no_text_is_too_broken(text: str) -> None:
    read = python_text.read_python(text)
    unread = ~read.parsed
    for row in vars(read).values():
        assert row.shape == (len(text),)
    for row in (read.string, read.comment, read.depth, read.indent, read.level):
        assert not row[unread].any()
    assert (read.depth >= 0).all()
    assert not (read.string & read.comment).any()
    assert not (read.indent & (read.string | read.comment)).any()
    python_text.is_python(text)
    for name in PYTHON_KINDS:
        found_target = target(name, text)
        assert found_target.values.shape == (len(text),)
        assert found_target.parsed == pytest.approx(read.parsed.mean() if text else 1)
