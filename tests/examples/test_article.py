"""The article in examples/ is what its script writes, and its numbers are those of the shipped models."""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz import units

HERE = Path(__file__).resolve().parents[2] / "examples" / "article"
MODULES = ("what_a_network_remembers", "measuring", "pictures", "drawing")


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    """The script as a module, and those beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        yield importlib.import_module(MODULES[0])
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def numbers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((HERE / "numbers.json").read_text("utf-8"))
    return found


def test_the_article_and_its_figures_are_what_the_numbers_give(script: Any, numbers: dict[str, Any]) -> None:
    made = script.write(numbers)
    assert set(made) == {*HERE.glob("*.md"), *HERE.glob("figures/*")}
    for path, text in made.items():
        assert path.read_text("utf-8") == text, f"{path.name}: run examples/article/{MODULES[0]}.py --again"
    article = made[script.ARTICLE]
    assert not re.search(r"[{}]|\bnan\b|\bNone\b", article)
    assert 1_300 < len(re.sub(r"^\|.*", "", article, flags=re.MULTILINE).split()) < 2_000
    assert {HERE / one for one in re.findall(r"\]\((figures/[^)]+)\)", article)} < set(made)
    for path in HERE.glob("figures/*.svg"):
        assert "nan" not in path.read_text("utf-8")
        assert ET.parse(path).getroot().get("aria-label")


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("told", "quotes", "lstm", "score"), 0.9),
        (("told", "line-position", "gru", "least lead"), 0.1),
        (("told", "quotes", "mingru", "probe lead"), 0.01),
        (("chosen", "unit"), [2, 95]),
        (("told", "line-position", "gru", "probe untrained"), 0.1),
        (("told", "line-position", "mingru", "unit"), [2, 95]),
        (("counter", "40", "interval"), [-0.7, -0.2]),
        (("held", "read", "held"), 0.1),
        (("held", "written", "plain"), 0.3),
        (("kept", "lstm 0 untrained", "longest"), [60.0, 60.0, 60.0]),
        (("context", "gru", "whole"), [1.0] * 20),
        (("letter", "rnn", "trained"), [[1.0] * 13] * 20),
    ],
)
def test_a_sentence_that_the_numbers_contradict_is_not_written(
    script: Any, numbers: dict[str, Any], where: tuple[str, ...], value: Any
) -> None:
    changed = copy.deepcopy(numbers)
    *path, last = where
    place = changed
    for name in path:
        place = place[name]
    place[last] = value
    with pytest.raises(AssertionError):
        script.write(changed)


@pytest.mark.parametrize("cell", ["mlp", "rnn", "gru", "lstm", "mingru"])
def test_a_letter_and_a_context_matter_as_the_numbers_say(
    script: Any, numbers: dict[str, Any], cell: str
) -> None:
    """One passage of each, measured again."""
    measuring = sys.modules["measuring"]
    for name in ("trained", "untrained"):
        (row,) = measuring.changed_letter(cell, trained=name == "trained", only=[3])
        np.testing.assert_allclose(row, numbers["letter"][cell][name][3], rtol=5e-3, atol=1e-5)
    (cost,) = measuring.short_contexts(cell, 4, only=[5])
    assert cost == pytest.approx(numbers["context"][cell]["4"][5], rel=1e-3)


def test_the_counter_is_what_the_numbers_say(script: Any, numbers: dict[str, Any]) -> None:
    measuring = sys.modules["measuring"]
    found = measuring.counter(measuring.wrapped(measuring.BOOK[measuring.UNREAD :], 40))
    stored = numbers["counter"]["40"]
    assert found["text"] == stored["text"]
    np.testing.assert_allclose(found["value"], stored["value"], rtol=5e-3, atol=1e-3)
    for name in ("correlation", "untrained", "set"):
        assert float(found[name]) == pytest.approx(stored[name], rel=2e-3)
    change = measuring.held(measuring.COUNTER)
    assert isinstance(change, units.Intervention)
    assert change.value == pytest.approx(numbers["held"]["value"], rel=1e-3)
    stored = numbers["held"]["read"]
    plain, with_it = measuring.line_end()[0], measuring.line_end(change)[0]
    assert (plain, with_it) == pytest.approx((stored["plain"], stored["held"]), rel=5e-3)


def test_what_a_unit_tells_is_what_the_numbers_say(script: Any, numbers: dict[str, Any]) -> None:
    found = sys.modules["measuring"].told("rnn", "line-position", weighed=False)
    stored = numbers["told"]["line-position"]["rnn"]
    assert found["unit"] == stored["unit"]
    assert (found["score"], found["chance"]) == pytest.approx((stored["score"], stored["chance"]), rel=2e-3)


def test_no_network_was_trained_on_the_text_that_is_measured(script: Any) -> None:
    measuring = sys.modules["measuring"]
    before = hashlib.sha256(measuring.BOOK[: measuring.UNREAD].encode()).hexdigest()
    for cell in (*measuring.CELLS, "6gram"):
        assert measuring.model(cell).card["sha256_trained_on"] == before
    assert measuring.passage(0)[0] == measuring.UNREAD
    assert measuring._lines_read()[0] == measuring.BOOK[measuring.UNREAD :]


def test_the_same_words_are_broken_anew(script: Any) -> None:
    measuring = sys.modules["measuring"]
    text = "one two three\nfour five\n\nsix seven"
    assert measuring.wrapped(text, 9) == "one two\nthree\nfour five\n\nsix seven"
