"""The programs of the lecture's recorded measurements: what they write has the shape of what is shipped, and
a part of it comes out again.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import rnnviz
from docs.tools import birth, long_gap, memorising, writing
from rnnviz.lecture.readers import recorded


def shape(value: Any) -> Any:
    """The keys and kinds in a JSON value; of a list those of its first entry."""
    if isinstance(value, dict):
        return {key: shape(run) for key, run in value.items()}
    if isinstance(value, list | tuple):
        return [shape(run) for run in value[:1]]
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def written(output: Any) -> Any:
    return json.loads(json.dumps(output, allow_nan=False))


def test_a_network_learns_a_short_text_by_heart() -> None:
    output, shipped = memorising.record(characters=300, passes=20, hidden_size=32), recorded("memorising")
    now = {**shipped["recipe"], **output["recipe"]}  # a setting may be new
    assert shape(written(output)) == shape({**shipped, "recipe": now})
    assert output["train"][-1] < output["train"][0]
    same = {"epochs": 500, "hidden_size": 512}
    assert shipped["recipe"].items() <= (now | same).items()


def test_long_gap_program_reproduces_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = recorded("long_gap")
    monkeypatch.setattr(long_gap, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    output = long_gap.record(["mlp"], [1], steps=2)
    assert shape(written(output)) == shape({**shipped, "parameters": {"mlp": 1}})
    assert {cell: long_gap.parameters(cell) for cell in long_gap.UNITS} == shipped["parameters"]
    run = next(entry for entry in shipped["runs"] if (entry["cell"], entry["gap"]) == ("lstm.open", 2))
    rates = [run["rate"]] * len(long_gap.SEEDS)
    accuracy, gradient = long_gap.train("lstm.open", 2, long_gap.SEEDS, rates, long_gap.THETA, 50)
    assert accuracy == [pytest.approx(second[:2], abs=0.02) for second in run["accuracy"]]
    assert [now[0] for now in gradient] == pytest.approx([second[0] for second in run["gradient"]], rel=0.02)


def test_writing_program_reproduces_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "WRITTEN": 200, "TEMPERATURES": (0.5,), "WIDTHS": (1, 2), "SEARCHED": 12, "WINDOWS": (16, 64)
    }.items():  # fmt: skip
        monkeypatch.setattr(writing, name, value)
    shipped = recorded("writing")
    output = writing.record(prompts=2, beginning=2, places=3, shakespeare="To be, or not to be? " * 30)
    assert shape(written(output)) == shape(shipped)
    assert [(run["example"], run["period"]) for run in output["greedy"]] == [
        (run["example"], run["period"]) for run in shipped["greedy"]
    ]
    assert output["temperatures"][0]["example"] == shipped["temperatures"][1]["example"]
    assert [run["width"] for run in output["beams"]] == [1, 2, 0, None]


def test_a_search_as_wide_as_all_texts_finds_the_likeliest() -> None:
    model, prompt = writing.load("timemachine-rnn"), "The Time Travel"
    symbols = model.vocabulary.characters
    texts = [a + b for a in sorted(symbols) for b in "lertn, "]
    likeliest = min(texts, key=lambda text: writing.costs(model, prompt, text).sum())
    assert writing.beam(model, prompt, 2, width=model.vocabulary.size) == likeliest == "le"


def test_of_a_cut_text_only_its_end_is_read() -> None:
    model = writing.load("timemachine-gru")
    text = rnnviz.corpora.open_corpus("timemachine").split().held_out[:300]
    places = [90, 200, 299]
    alone = [float(rnnviz.trace(model, text[at - 7 : at + 1]).nll[-1]) for at in places]
    assert writing.cut(model, text, places, 7, rows_at_once=2).tolist() == pytest.approx(alone, rel=1e-4)


def test_birth_program_reads_a_replay_that_followed_its_row() -> None:
    assert written(birth.record()) == recorded("birth")
