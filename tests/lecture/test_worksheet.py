"""The worksheet and its key, in both languages: what is given is the network's, all answers are computed."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from rnnviz.lecture.machine import SYMBOLS, Machine
from rnnviz.lecture.scenes import find_step
from rnnviz.lecture.small_rnn import deltas
from rnnviz.ui.pages.learn.lecture import Lecture
from tests.support.worksheet import answers, fixed, norm, vector

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHEETS, KEYS = (
    {language: (DOCS / f"{name}{language}.md").read_text("utf-8") for language in ("", ".zh")}
    for name in ("worksheet", "worksheet-key")
)
TASKS = 15
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")


def tasks(text: str) -> dict[int, str]:
    """What stands under each task's heading, the heading included."""
    parts = re.split(r"^### (\d+)\. ", re.sub(r"^## .*\n", "", text, flags=re.M), flags=re.M)
    return dict(zip(map(int, parts[1::2]), parts[2::2], strict=True))


def numbers(text: str) -> list[str]:
    """All numbers of a text, without those that count its questions."""
    text = re.sub(r"^\d+\. |`[^`]*`", "", text, flags=re.M)
    return [number.replace("-", "−").rstrip(",") for number in NUMBER.findall(text)]


# ---- what is given -----------------------------------------------------------------------------------


@pytest.mark.parametrize("language", SHEETS)
def test_the_given_weights_are_the_network_s(language: str) -> None:
    net, sheet = Machine().net, SHEETS[language]
    tables = re.findall(r"^\| (W_\w+) \|.*\n\|[-|]+\n((?:\|.*\n)+)", sheet, re.M)
    weights = {name: [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows.splitlines()]
             for name, rows in tables}  # fmt: skip
    assert [row[0] for row in weights["W_xh"]] == list(SYMBOLS[:3])
    for name, rows in weights.items():
        values = [[float(cell.replace("−", "-")) for cell in row[1:]] for row in rows]
        np.testing.assert_array_equal(values, getattr(net, name)[: len(rows)])
    assert f"b_h = {vector(net.b_h, 1)}" in sheet


def task_vector(text: str, name: str) -> list[float]:
    """The vector that a task calls `name`."""
    (vector_text,) = re.findall(rf"{name} = \(([^)]*)\)", text)
    return [float(value) for value in vector_text.replace("−", "-").split(", ")]


@pytest.mark.parametrize("language", SHEETS)
def test_the_given_vectors_are_the_network_s(language: str) -> None:
    sheet_tasks, mac = tasks(SHEETS[language]), Machine(steps=3)
    assert f"O₃ = {vector(mac.forward.output[2])}" in sheet_tasks[4]
    delta = deltas(mac.net, mac.forward)
    state = mac.forward.state
    for name, values in (("H₁", state[0]), ("H₂", state[1]), ("δ₂", delta[1]), ("δ₃", delta[2])):
        assert f"{name} = {vector(values, 3)}" in sheet_tasks[7]
    assert fixed(norm(mac)) in numbers(sheet_tasks[8])
    assert str(sum(array.shape[1] for array in mac.cached().values())) in numbers(sheet_tasks[9])
    # What is given is exact enough: it leads to the answers' digits.
    o, h1, h2 = (
        task_vector(sheet_tasks[4], "O₃"),
        task_vector(sheet_tasks[7], "H₁"),
        task_vector(sheet_tasks[7], "H₂"),
    )
    h2, d2, d3 = (task_vector(sheet_tasks[7], name) for name in ("H₂", "δ₂", "δ₃"))
    p = np.exp(o)[SYMBOLS.index("h")] / np.exp(o).sum()
    assert [fixed(p), fixed(-math.log(p))] == answers()[4][1:3]
    assert [fixed(h[3] * d[2]) for h, d in ((h1, d2), (h2, d3))] == answers()[7][1:3]


@pytest.mark.parametrize("language", KEYS)
@pytest.mark.parametrize("task", range(1, TASKS + 1))
def test_every_number_of_the_key_is_computed(task: int, language: str) -> None:
    key = tasks(KEYS[language])[task]
    assert re.findall(r"\*\*(.+?)\*\*", key) == answers()[task]
    # What is not in bold was given, or is the answer in other words.
    rest = numbers(re.sub(r"\*\*.+?\*\*", "", key))
    weights = numbers(tasks(SHEETS[language])[task]) + numbers(" ".join(answers()[task]))
    allowed = {*weights, *map(str, range(10)), *EXPLAINED.get(task, ())}
    assert set(rest) <= allowed


EXPLAINED = {
    1: ("28", "16"),  # of 7 · 4 + 4 · 4 + 4 + 4 · 7 + 7
    3: ("1.6", "0.30", "−0.30"),  # the product's two parts
    6: ("30", "10"),  # 3,000,000 : 100,000, and the base
    14: ("80",),
    15: ("20", "40", "0.8", "1.2", "16"),  # the settings
}


def test_explanations_of_answers_are_computed() -> None:
    net, forward = Machine().net, Machine().forward
    from_input, from_state = forward.x[1] @ net.W_xh, forward.state[0] @ net.W_hh
    assert (fixed(from_input[0], 1), fixed(from_state[0])) == ("1.6", "−0.30")


# ---- the two languages, and the ways into the app --------------------------------------------------------


@pytest.mark.parametrize("texts", [SHEETS, KEYS], ids=["worksheet", "key"])
def test_both_languages_have_the_same_tasks_and_numbers(texts: dict[str, str]) -> None:
    english, chinese = (tasks(texts[language]) for language in ("", ".zh"))
    assert list(english) == list(chinese) == list(range(1, TASKS + 1))
    for n in english:
        assert sorted(numbers(english[n])) == sorted(numbers(chinese[n])), n
        assert len(re.findall(r"^\d+\. ", english[n], re.M)) == len(re.findall(r"^\d+\. ", chinese[n], re.M))


def addresses(text: str) -> list[str]:
    return re.findall(r"`/learn\?([^`]*)`", text)


def test_every_task_has_a_step_of_the_lecture() -> None:
    english, chinese = (tasks(SHEETS[language]) for language in ("", ".zh"))
    for n in english:
        assert addresses(english[n])
        assert addresses(chinese[n]) == [f"{address}&lang=zh" for address in addresses(english[n])]
        for address in addresses(english[n]):
            query = dict(part.split("=") for part in address.split("&"))
            assert find_step(query["step"]), address
            # What the address sets is taken; a default is not written again.
            assert query.items() <= {"step": query["step"], **Lecture(query).query()}.items()
