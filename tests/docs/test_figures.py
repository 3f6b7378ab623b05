"""Figures that the pages print are what the models give."""

from __future__ import annotations

import re

import pytest

import rnnviz
from tests.written import ROOT


@pytest.mark.parametrize("name", ["faq.md", "faq.zh.md"])
def test_the_questions_sentence_costs_what_they_say(name: str) -> None:
    page = (ROOT / "docs" / name).read_text("utf-8")
    found = re.search(r"\*(The lamp went out[^*]+)\*", page)
    assert found, "the table says which sentence"
    sentence = " ".join(found[1].split())
    rows = re.findall(r"^\| ([a-z]+-[a-z]+) \| ([\d.,]+) \| ([\d.]+) \| (\d+) \|$", page, re.MULTILINE)
    assert len(rows) == 4
    for model, perplexity, bits, unknown in rows:
        report = rnnviz.perplexity(rnnviz.load(model), text=sentence)
        written = f"{report.perplexity:,.0f}" if report.perplexity > 1000 else f"{report.perplexity:.2f}"
        said = (written, f"{report.bits_per_character:.2f}", str(report.unknown))
        assert (perplexity, bits, unknown) == said, model
    plain, precise = re.findall(r"\b\d\.\d{7}\b", page)
    model = rnnviz.load("timemachine-gru")
    assert rnnviz.perplexity(model, text=sentence).perplexity == pytest.approx(float(plain), abs=1e-6)
    exact = rnnviz.perplexity(model, text=sentence, precise=True).perplexity
    assert exact == pytest.approx(float(precise), abs=6e-8)
