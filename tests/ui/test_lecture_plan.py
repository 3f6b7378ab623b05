"""docs/lecture.md: its plan and its table are those of the lecture, and its numbers are today's."""

import re
from pathlib import Path

import numpy as np
import pytest

from rnnviz.lecture import counts, linear, long_gap, memorising, summary, tokens, word, writing
from rnnviz.lecture.questions import BY_KEY, TEXT
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.ui.pages.learn import models, scene_7_powers, scenes, snippets
from tests.lecture.test_questions import RIGHT

DOCS = Path(__file__).resolve().parents[2] / "docs"
PLAN = (DOCS / "lecture.md").read_text("utf-8")
ITEMS = 29
"""Items of the textbook's section."""

LONGEST = 25
STEP = re.compile(r"(\d)\.(\d+) `(\w+)`")
EVERY = {(n, step) for n in range(1, 10) for step in range(scenes.scene(n).STEPS)}


def part(heading: str) -> str:
    """What stands under a heading, up to the next one of its kind."""
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{2,{heading.count('#')}}} |\Z)", PLAN, re.M | re.S)
    assert found, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The rows of a part's tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rules = [n for n, row in enumerate(cells) if row[0].startswith("---")]
    return [row for n, row in enumerate(cells) if n not in rules and n + 1 not in rules]


def named(text: str) -> list[tuple[int, int]]:
    """The steps that a text names, each under its number and its name."""
    found = [(int(scene), int(step) - 1, name) for scene, step, name in STEP.findall(text)]
    for scene, step, name in found:
        assert scenes.scene(scene).NAMES[step : step + 1] == (name,), f"{scene}.{step + 1} {name}"
    return [(scene, step) for scene, step, _name in found]


def section() -> str:
    return part("## The section's items, and where they are shown")


def test_every_item_of_the_section_has_its_steps() -> None:
    covered = rows(section().split("What the lecture adds:")[0])
    assert sorted({int(row[0]) for row in covered}) == list(range(1, ITEMS + 1))
    assert [int(row[0]) for row in covered] == sorted(int(row[0]) for row in covered)
    assert all(named(row[2]) for row in covered)
    assert len({row[1] for row in covered}) == len(covered)


def test_every_step_of_the_lecture_is_one_of_the_section_or_an_addition() -> None:
    covered, added = (set(named(text)) for text in section().split("What the lecture adds:"))
    assert covered | added == EVERY
    assert not covered & added


def test_what_has_code_to_be_shown_has_it() -> None:
    (row,) = (row for row in rows(section()) if "`c`" in row[-1])
    for scene, step in named(row[2]):
        assert snippets.has(scenes.MODULES[scene - 1], scenes.scene(scene).NAMES[step])


def test_the_plan_has_every_scene_and_every_minute() -> None:
    plan = rows(part("## The plan"))
    titles = [f"{n} {title}" for n, title in enumerate(scenes.titles(), start=1)]
    assert [row[0] for row in plan] == titles
    for column, minutes in ((1, 45), (3, 90)):
        ends = [tuple(map(int, row[column].split("–"))) for row in plan]
        assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]
        assert ends[-1][1] == minutes
        assert all(start < end for start, end in ends)
    for n, row in enumerate(plan, start=1):
        every = list(range(1, scenes.scene(n).STEPS + 1))
        short, long = (every if cell == "all" else [int(k) for k in cell.split(", ")] for cell in row[2:5:2])
        assert short == sorted(set(short))
        assert long == sorted(set(long))
        assert set(short) <= set(long) <= set(every)


def test_every_step_says_what_to_do_and_what_stays() -> None:
    for n, title in enumerate(scenes.titles(), start=1):
        steps = rows(part(f"### {n} {title}"))
        names = [f"{k} `{name}`" for k, name in enumerate(scenes.scene(n).NAMES, start=1)]
        assert [row[0] for row in steps] == names
        assert all(len(row) == 3 and all(row) for row in steps)


@pytest.mark.parametrize("name", ["lecture.md", "worksheet.md", "worksheet-key.md"])
def test_no_sentence_is_long(name: str) -> None:
    prose = re.sub(r"```.*?```", "", (DOCS / name).read_text("utf-8"), flags=re.S)
    parts = re.split(r"(?<!\\)\||\n\n|\n(?=[#|-]|\d+\.)|(?<=[.!?:])[\s*”)]+", prose)
    long = [one for one in parts if len(re.findall(r"\S*\w\S*", one)) > LONGEST]
    assert long == []


def test_the_numbers_are_today_s() -> None:
    def bits(cell: str) -> float:
        return float(models.network(f"timemachine-{cell}").card["held_out"]["bits_per_character"])

    characters, words = tokens.vocabularies()
    run, heart = word.run(), memorising.recorded()
    kept, every = summary.left()
    for said in (
        f"it is {100 * counts.NEVER[5] / counts.HELD_OUT:.0f} %.",
        f"RNN pays {bits('rnn'):.2f} bits, the 6-gram {counts.COSTS[5]:.2f}, the GRU {bits('gru'):.2f}.",
        f"five matrices: {summary.parameters()}.",
        f"from {run.at(0).perplexity:.2f} to {run.at(run.steps).perplexity:.2f} on",
        f"After {heart.passes[-1]:.0f} passes: {heart.train[-1]:.2f} on its own text",
        f"{heart.held_out[-1]:.0f} on new text.",
        f"{kept} of {every} terms are left at τ = {summary.CUT}",
        f"real network of {models.network('timemachine-rnn').config.hidden_size} units",
    ):
        assert said in PLAN
    assert round(characters.tokens / words.tokens) == 5
    assert memorising.PASSES == 500


def test_what_is_gained_and_lost_without_a_look_at_the_state_is_today_s() -> None:
    blind, gru = (linear.read(*linear.network(cell, "remember")) for cell in linear.CELLS)
    rounds, T = len(linear.rounds(blind.keep, blind.write)) - 1, len(blind.keep)
    joins = sum(T - 2**n for n in range(rounds))
    for said in (
        f": {rounds} rounds in place of {T} steps,",
        f"a GRU's gates differ by {np.abs(gru.keep[2] - gru.keep[4]).max():.2f}.",
        f"Are {joins} sums in {rounds} rounds better than {T - 1} in a row?",
    ):
        assert said in PLAN


def test_gates_help_a_gradient_back_far_back_most() -> None:
    curves = scene_7_powers.flow({"text": TEXT})["curves"]
    rnn, gru, lstm = (np.array(curve["points"]) / curve["points"][0] for curve in curves)
    assert (
        f"{rnn[10]:.2f} of it is left in the RNN, {lstm[10]:.2f} in the LSTM, {gru[10]:.2f} in the GRU"
        in PLAN
    )
    assert min(gru[-1], lstm[-1]) / rnn[-1] > 1e6 > max(gru[10], lstm[10]) / rnn[10]


def test_the_answers_about_the_long_gap_are_the_recording_s() -> None:
    def right(cell: str, gap: int, *, clipped: bool = True) -> list[float]:
        return [runs[-1] for runs in long_gap.recorded().at(cell, gap, clipped=clipped).accuracy]

    assert sum(accuracy > 0.99 for accuracy in right("rnn", 80)) == 1
    assert min(right("orthogonal", 80)) > 0.99
    assert all(max(right(cell, 80)) < 0.2 for cell in ("gru", "lstm"))
    assert all(min(right(f"{cell}.open", 80)) > 0.99 for cell in ("gru", "lstm"))
    clipped, free = (right("rnn", 20, clipped=on) for on in (True, False))
    said = re.sub(r"\s+", " ", PLAN)
    assert f"got {100 * min(clipped):.0f}–100 % right with it and {100 * min(free) + 1e-9:.0f}–100 %" in said
    assert f"within {long_gap.STEPS} steps" in said
    assert 1e-11 < 0.73**80 < 2e-11


def test_the_answers_about_its_own_text_are_the_recording_s() -> None:
    (lstm,) = (row for row in writing.recorded()["own_input"] if row["cell"] == "lstm")
    stages = dict(zip(writing.STAGES[1:], range(99), strict=False))
    free, accident = lstm["free"][stages[20]], lstm["by_accident"][stages[20]]
    assert abs(free[0] - accident[0]) < 3 * (free[1] ** 2 + accident[1] ** 2) ** 0.5
    first, last = lstm["own"][0], lstm["own"][stages[200]]
    assert abs(first[0] - last[0]) < 3 * (first[1] ** 2 + last[1] ** 2) ** 0.5


@pytest.mark.parametrize("row", rows(part("### 8 Check yourself")), ids=lambda row: row[0])
def test_a_question_s_answer_is_what_its_evidence_says(row: list[str]) -> None:
    key = row[0].split("`")[1]
    question = BY_KEY[key]
    found = question.evidence(question.first, lambda name: load_numpy(name)).answer
    # The network without a state is the one that expects the same.
    assert found == RIGHT[key]
