"""What the answers to the steps' questions rest on, and scene 8's numbers, computed another way."""

import math

import numpy as np

from rnnviz.lecture import scene_8_questions as scene
from rnnviz.lecture.readers import recorded
from rnnviz.lecture.scene_1_counts import written_texts
from tests.support.lecture import STEPS, nodes_of, run_code


def above(value: list[float], other: list[float]) -> bool:
    """Whether a mean is above another by more than three standard errors of the difference."""
    return value[0] - other[0] > 3 * math.hypot(value[1], other[1])


def evidence() -> dict[str, bool]:
    """What makes an option the right one, by it."""
    written, output, moved = recorded("writing"), run_code("outputs"), run_code("all_before")["moved"]
    cold, *_between, hot, book = written["temperatures"]
    *searched, _picture, read = written["beams"][1:]
    heart, ends = (
        run_code("heart"),
        [np.transpose(run_code("dial", rho=r)["sizes"])[0][-1] for r in (0.8, 1.25)],
    )
    return {
        "as many as there are different characters": len(output["P"]) == output["V"] != output["H"],
        "the previous state already depends on them all": moved["lstm"] > 0 == round(moved["mlp"], 6),
        "it soon goes round in circles": all(value["looped"] > 10 for value in written["greedy"]),
        "low: repeats itself; high: makes up words": above(cold["repeated"], book["repeated"])
        and above(hot["made_up"], book["made_up"]),
        "about 10 characters": run_code("far")["reach"]["lstm"] == 10,
        "is likelier, and repeats itself more": all(
            value["likelier"] > value["less_likely"] and above(value["repeated"], read["repeated"])
            for value in searched
        ),
        "the first": written_texts()[0].startswith("The if"),
        "MLP": run_code("prediction")["difference"]["mlp"] == 0 < run_code("prediction")["difference"]["rnn"],
        "exactly as many": len(set(run_code("parameters")["shared"])) == 1,
        "only the likelihood": np.ptp(run_code("books")["mean"][1:]) == 0,
        "the perplexity is infinite": math.isinf(run_code("game")["one_impossible"]),
        "that of text it was not trained on": heart["held_out"][-1] > heart["V"] > heart["train"][-1],
        "if every eigenvalue has a modulus below 1": ends[0] < 1e-3 and ends[1] > 1e3,
    }


def test_the_right_answers_follow_from_what_is_computed() -> None:
    questions = [step.question for _module, step in STEPS if step.question]
    options = evidence()
    assert sorted(options) == sorted(value.options[value.right] for value in questions)
    assert [answer for answer, holds in options.items() if not holds] == []


def test_the_problems_are_measured_where_their_numbers_lead() -> None:
    picture, _notice = scene.problems()
    names = [part["step"] for part in nodes_of(picture, "button")]
    assert (
        {"greedy", "temperature", "free_running", "far"}
        <= set(names)
        <= {step.name for _module, step in STEPS}
    )
    numbers = dict(zip(names, (part["words"] for part in nodes_of(picture, "button")), strict=True))
    assert numbers["path"] == "0"
    assert numbers["far"] == str(run_code("far")["reach"]["lstm"])


def test_right_answers_are_not_always_at_one_place() -> None:
    places = [step.question.right for _module, step in STEPS if step.question]
    assert max(map(places.count, places)) <= len(places) / 2
    assert {0, 1, 2} <= set(places)


def test_a_meaning_is_born_where_the_record_says() -> None:
    run = recorded("birth")
    scores = [moment["score"] for moment in run["moments"]]
    picture, notice = scene.birth(42)
    born = next(i for i, score in enumerate(scores) if score > 0.75)
    assert max(scores[:born]) < 0.6, "chance before"
    assert min(scores[born:]) > 0.75, "kept since"
    assert f"{run['moments'][born]['characters']:,} characters" in notice
    assert f"AUC {scores[born - 1]:.2f}, then {scores[born]:.2f}" in notice
    values, text = np.array(run["moments"][-1]["values"][0]), run["sentences"][0]
    closed = text.rindex('"')
    assert values[:closed].min() > values[closed:].max()
    first, _second = nodes_of(picture, "cells")
    assert first["values"] == run["moments"][-1]["values"][0]
