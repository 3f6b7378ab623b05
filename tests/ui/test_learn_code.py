"""The code beside the picture: there where a step has some, with the picture's numbers, and it runs."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.lecture import shannon
from rnnviz.ui.pages.learn import scenes, snippets
from rnnviz.ui.pages.learn.session import Lecture
from tests.lecture.test_snippets import printed
from tests.ui.test_learn import ALL, answered


def opened(module: str, name: str, **ask: Any) -> dict[str, Any]:
    """What is sent for a step, with its code."""
    number = scenes.MODULES.index(module) + 1
    step = scenes.scene(number).NAMES.index(name)
    lecture = Lecture({"scene": str(number)})
    answered(lecture, {"step": step})
    return answered(lecture, {"step": step, "code": True, "ask": ask})


def test_code_belongs_to_steps_that_there_are() -> None:
    names = {(scenes.MODULES[n - 1], name) for n in ALL for name in scenes.scene(n).NAMES}
    assert snippets.steps() - names == set()
    for number in range(1, 8):
        module = scenes.MODULES[number - 1]
        assert any(snippets.has(module, name) for name in scenes.scene(number).NAMES), module


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("number", range(1, 8))
def test_every_cell_runs_and_prints_what_is_shown_beneath(
    number: int, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(i18n, "_asks", lambda: language)
    for name in scenes.scene(number).NAMES:
        found = opened(scenes.MODULES[number - 1], name)["code"]
        if found:
            assert printed(found["code"]) == found["printed"], name


def test_nobody_looks_so_no_code_is_made() -> None:
    lecture = Lecture({"scene": "4"})
    assert answered(lecture)["code"] == {}
    sent = answered(lecture, {"code": True})
    assert "torch.tensor" in sent["code"]["code"]
    assert sent["query"]["code"] == "1"
    assert answered(Lecture(sent["query"]))["code"] == sent["code"]
    assert answered(lecture, {"code": "no"})["code"] == sent["code"]
    assert answered(lecture, {"code": False})["code"] == {}
    assert answered(Lecture({"scene": "8"}), {"code": True})["code"] is None


CHANGES: list[tuple[str, str, dict[str, Any]]] = [
    ("scene_1_counts", "grows", {"n": 5, "text": "a 'quoted' text, \"twice\" \\"}),
    ("scene_1_counts", "book", {"n": 7}),
    ("scene_1_counts", "state", {"t": 5}),
    ("scene_1_counts", "any", {"first": "a 'b'", "t": 4}),
    ("scene_1_counts", "surprise", {"n": 9}),
    ("scene_1_counts", "memory", {"n": 2, "text": "时间 and space"}),
    ("scene_2_memoryless", "state", {"left": "tea", "right": "sea", "model": "gru"}),
    ("scene_2_memoryless", "hidden", {"pairs": 3}),
    ("scene_2_memoryless", "output", {"pairs": 4}),
    ("scene_3_recurrence", "first", {"word": "ice", "seed": 9}),
    ("scene_3_recurrence", "adjacent", {"word": "ice"}),
    ("scene_3_recurrence", "minibatch", {"word": "ice", "seed": 9}),
    ("scene_3_recurrence", "unit", {"text": "grey eyes", "unit": 200, "t": 1}),
    ("scene_4_product", "try", {"X": [[9.5], [-1.25], [0.0]]}),
    ("scene_4_product", "one", {"seed": 77}),
    ("scene_4_product", "word", {"t": 6}),
    ("scene_5_word", "softmax", {"at": 20}),
    ("scene_5_word", "path", {"letters": "machcne"}),
    ("scene_5_word", "batch", {"n": 5, "t": 7}),
    ("scene_5_word", "train", {"word": "tea", "seed": 3, "at": 30}),
    ("scene_5_word", "writes", {"word": "ab'", "at": 60}),
    ("scene_6_perplexity", "game", {"case": "zero"}),
    ("scene_6_perplexity", "game", {"case": "certain"}),
    ("scene_6_perplexity", "rain", {"kind": "6gram", "endings": [" cats", " dogs", " 猫"]}),
    ("scene_6_perplexity", "rain", {"endings": ["\\", "$x", "'"]}),
    ("scene_6_perplexity", "length", {"long": "时间🙂"}),
    ("scene_6_perplexity", "books", {"read": [5, 50]}),
    ("scene_6_perplexity", "bits", {"stored": "a 时 in it", "kind": "6gram"}),
    ("scene_6_perplexity", "length", {"cuts": [40, 3], "kind": "mlp"}),
    ("scene_6_perplexity", "shannon", {"history": "x" + shannon.SENTENCES[0][1][:24]}),
    ("scene_7_backwards", "linear", {"cued": "banana", "place": 4, "learned": "untrained"}),
    ("scene_7_backwards", "flow", {"text": "Time"}),
    ("scene_7_backwards", "dial", {"radius": 1.2, "power": 33, "seed": 5}),
    ("scene_7_backwards", "word", {"steps": 6}),
    ("scene_7_backwards", "word", {"steps": 2}),  # a 0 that is -0 on the way
    ("scene_7_backwards", "word", {"net": "memoryless"}),
    ("scene_7_backwards", "clip", {"threshold": 0.3, "steps": 5}),
    ("scene_7_backwards", "cut", {"tau": 4, "length": 5}),
    ("scene_7_backwards", "random", {"keep": 0.5, "draw": 8, "cut": 6}),
]


@pytest.mark.parametrize(("module", "name", "ask"), CHANGES)
def test_a_control_changes_the_code_and_it_still_prints_what_is_shown(
    module: str, name: str, ask: dict[str, Any]
) -> None:
    usual, found = opened(module, name)["code"], opened(module, name, **ask)["code"]
    assert found != usual
    assert printed(found["code"]) == found["printed"]


def numbers(text: str) -> list[float]:
    """The numbers that were printed."""
    words = text.replace("tensor(", " ").replace(",", "")
    for mark in "[]()":
        words = words.replace(mark, " ")
    return [float(word) for word in words.split() if word.strip("-.").replace(".", "").isdigit()]


PRINTED: dict[tuple[str, str], tuple[dict[str, Any], Callable[[dict[str, Any]], list[str]]]] = {
    ("scene_1_counts", "memory"): (
        {"n": 4},
        lambda data: [
            f"{name}: {row['mean']:.2f} bits"
            for kind, name in (("ngram", "4-gram"), ("gru", "gru"))
            for row in data["rows"]
            if row["kind"] == kind
        ],
    ),
    ("scene_1_counts", "state"): (
        {"t": 2}, lambda data: [f", {row['times']} times" for row in data["rows"][:2]]),
    ("scene_1_counts", "any"): ({"t": 6}, lambda data: [f"{100 * data['rows'][2]['apart'][5]:.1f} %"]),
    ("scene_2_memoryless", "state"): ({}, lambda data: [f"probability: {data['prediction']:.2f}"]),
    ("scene_3_recurrence", "unit"): (
        {"unit": 3}, lambda data: [f"sum {data['sum']:.2f}", f"tanh {data['h']:.2f}"]),
    ("scene_5_word", "train"): ({"at": 55}, lambda data: [f"perplexity {data['perplexity']:.2f}"]),
    ("scene_6_perplexity", "game"): ({}, lambda data: [f"perplexity {data['perplexity']:.2f}"]),
    ("scene_6_perplexity", "rain"): (
        {"kind": "gru"},
        lambda data: [f"{row['perplexity']:.4g} {row['ending'].strip()}" for row in data["rows"]],
    ),
    ("scene_6_perplexity", "bits"): (
        {"kind": "gru"},
        lambda data: [f"{data['mean']:.2f} a character", f"perplexity {data['perplexity']:.4g}"],
    ),
    ("scene_7_backwards", "random"): (
        {}, lambda data: [f"  {data['full']:.3f}", f"   {data['regular']:.3f}", f"  {data['last']:.3f}"]),
}  # fmt: skip
"""What the code of a step prints of its picture, after an ask: in this order, up to what follows."""


@pytest.mark.parametrize(("module", "name"), PRINTED)
def test_what_is_printed_is_what_the_picture_shows(module: str, name: str) -> None:
    ask, wanted = PRINTED[module, name]
    sent = opened(module, name, **ask)
    words = wanted(sent["data"])
    assert words
    pattern = r".*?(?<![\d.])".join(re.escape(word) + r"(?![\d.])" for word in words)
    assert re.search(rf"(?<![\d.]){pattern}", sent["code"]["printed"], re.DOTALL), words


def test_the_matrices_that_are_printed_are_the_pictures() -> None:
    sent = opened("scene_4_product", "two", seed=5)
    found = np.reshape(numbers(sent["code"]["printed"]), (3, 4))
    np.testing.assert_allclose(found, sent["data"]["sum"], atol=1e-9)
    sent = opened("scene_3_recurrence", "third")
    last = numbers(sent["code"]["printed"].splitlines()[-1])
    np.testing.assert_allclose(last, sent["data"]["states"][-1][0], atol=0.0051)
    sent = opened("scene_5_word", "path", letters="machcne")
    losses = numbers(sent["code"]["printed"].splitlines()[1])
    assert losses[sent["data"]["at"] - 1] == pytest.approx(sent["data"]["losses"][1], abs=0.0051)
    sent = opened("scene_7_backwards", "clip", threshold=0.5)
    assert sent["code"]["printed"].startswith(f"norm {sent['data']['norm']:.2f}\n")
    found = numbers(sent["code"]["printed"])[1:]
    assert np.linalg.norm(found) == pytest.approx(sent["data"]["sizes"]["W_hh"][1], abs=0.01)


def written(values: object) -> list[float]:
    """Numbers with two decimals, as the browser rounds what it was sent: halves away from zero."""
    flat = np.ravel(np.asarray(values, float)).tolist()
    return [float(Decimal(repr(value)).quantize(Decimal("0.01"), ROUND_HALF_UP)) for value in flat]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_what_is_printed_is_what_the_picture_writes_to_the_last_digit(seed: int) -> None:
    sent = opened("scene_5_word", "softmax", seed=seed)
    chances, losses = (numbers(line) for line in sent["code"]["printed"].splitlines()[:2])
    shown = sent["data"]
    assert chances == written([row[target] for row, target in zip(shown["p"], shown["targets"], strict=True)])
    assert losses == written(shown["losses"])
    sent = opened("scene_3_recurrence", "minibatch", seed=seed)
    assert numbers(sent["code"]["printed"].split("\n", 1)[1]) == written(sent["data"]["states"][-1])
    sent = opened("scene_2_memoryless", "hidden", pairs=seed)
    assert numbers(sent["code"]["printed"].split("\n", 1)[1]) == written(sent["data"]["H"])
    for steps in (3, 6):
        sent = opened("scene_7_backwards", "word", steps=steps)
        assert numbers(sent["code"]["printed"])[:-1] == written(sent["data"]["added"][0])
    for tau in (1, 2, 4):
        sent = opened("scene_7_backwards", "cut", tau=tau)
        assert numbers(sent["code"]["printed"]) == written(sent["data"]["left"])
