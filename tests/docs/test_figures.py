"""Figures that the pages print are what the models give."""

import re

import pytest

import rnnviz
from tests.support.written import ROOT

UNITS = {"": 1.0, " million": 1e6, " 万": 1e4}


def printed(figure: str) -> object:
    """Equals what is written so: half of the last digit away, and what another processor's float32 adds."""
    number = re.fullmatch(r"(\d+\.?(\d*))(.*)", figure)
    assert number, figure
    value, digit, unit = float(number[1]), 10.0 ** -len(number[2]), UNITS[number[3]]
    return pytest.approx(unit * value, abs=unit * (digit / 2 + 1e-4 * value))


@pytest.mark.parametrize("name", ["faq.md", "faq.zh.md"])
def test_the_questions_sentence_costs_what_they_say(name: str) -> None:
    page = (ROOT / "docs" / name).read_text("utf-8")
    number = re.search(r"\*(The lamp went out[^*]+)\*", page)
    assert number, "the table says which sentence"
    sentence = " ".join(number[1].split())
    rows = re.findall(r"^\| ([a-z]+-[a-z]+) \| ([^|]+) \| ([\d.]+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for model, perplexity, bits, unknown in rows:
        score = rnnviz.perplexity(rnnviz.load(model), text=sentence)
        now = (score.perplexity, score.bits_per_character, score.unknown)
        assert now == (printed(perplexity), printed(bits), int(unknown)), model
    model = rnnviz.load("timemachine-gru")
    plain, exact = (rnnviz.perplexity(model, text=sentence, precise=p).perplexity for p in (False, True))
    assert plain == pytest.approx(exact, rel=1e-6)  # "within a millionth"
