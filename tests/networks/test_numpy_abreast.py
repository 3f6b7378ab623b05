"""What numpy alone reads costs what it costs read by torch."""

import os
import subprocess
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.networks import numpy_abreast, side_by_side, threads
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_abreast import NumpyAbreast
from rnnviz.networks.progress import run
from rnnviz.networks.numpy_engine import Hooks, Weights
from rnnviz.training.tuning import own_python
from tests.conftest import TEXT, in_numpy, tiny
from tests.networks.test_side_by_side import never_forgets, symbols

LENGTH = side_by_side.LEAST + 777
SHAPES: list[tuple[str, dict[str, Any]]] = [
    *((cell, {}) for cell in CELLS),
    ("lstm", {"layers": 2}),
    ("gru", {"layers": 2, "embedding_size": 0}),
    ("rnn", {"activation": "relu", "layers": 2}),
    ("gru", {"tied": True, "embedding_size": 12}),
]


@pytest.mark.parametrize(("cell", "options"), SHAPES)
def test_costs_ranks_entropies_and_predictions_are_torchs(cell: str, options: dict[str, Any]) -> None:
    model = tiny(cell, **options)
    alone = in_numpy(model)
    ids = np.random.default_rng(0).integers(0, model.vocabulary.size, LENGTH)
    ours, theirs = alone.scorer().advance_details(ids), model.scorer().advance_details(ids)
    np.testing.assert_allclose(ours.log_p, theirs.log_p, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours.entropy, theirs.entropy, rtol=0, atol=1e-4)
    assert np.mean(ours.rank != theirs.rank) < 1e-3  # equals to rounding may change places
    np.testing.assert_allclose(
        alone.scorer().advance_predictions(ids[:300]),
        model.scorer().advance_predictions(ids[:300]),
        atol=1e-4,
    )
    assert alone.precise_scorer().advance(ids[:99]) == pytest.approx(model.precise_scorer().advance(ids[:99]))


@pytest.mark.parametrize(("cell", "options"), SHAPES)
def test_many_short_texts_cost_what_they_cost_torch(cell: str, options: dict[str, Any]) -> None:
    model = tiny(cell, **options)
    rng = np.random.default_rng(1)
    texts = [rng.integers(0, model.vocabulary.size, n) for n in rng.integers(0, 150, 70)]
    for ours, theirs in zip(
        in_numpy(model).short_texts().advance(texts), model.short_texts().advance(texts), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_seams_are_mended_where_a_network_never_forgets(cell: str) -> None:
    model, ids = never_forgets(cell), symbols(LENGTH, 1)
    alone = in_numpy(model)
    np.testing.assert_allclose(alone.scorer().advance(ids), model.scorer().advance(ids), rtol=0, atol=1e-4)
    reading = side_by_side.SideBySide(abreast := NumpyAbreast(alone.weights))
    whole = ids[: len(ids) - len(ids) % side_by_side.count(len(ids))]
    run(reading.score(whole, whole, abreast.zeros(1), want=False))
    assert reading.read_again > LENGTH // 2


@pytest.mark.parametrize("cell", ["gru", "lstm", "mingru"])
def test_a_reading_goes_on_from_a_state_that_was_kept(cell: str) -> None:
    alone, ids = in_numpy(tiny(cell)), symbols(200)
    whole, first = alone.scorer().advance(ids), alone.scorer()
    first.advance(ids[:120])
    memory, other = first.memory, alone.scorer()
    other.remember(int(ids[119]), memory)
    np.testing.assert_allclose(other.advance(ids[120:]), whole[120:], rtol=0, atol=1e-6)
    first.advance(ids[120:])  # what was kept is a copy
    again = alone.scorer()
    again.remember(int(ids[119]), memory)
    np.testing.assert_array_equal(again.advance(ids[120:150]), other_costs(alone, ids, memory))


def other_costs(alone: Any, ids: Any, memory: Any) -> Any:
    scorer = alone.scorer()
    scorer.remember(int(ids[119]), memory)
    return scorer.advance(ids[120:150])


def test_rows_are_shared_among_threads_and_cost_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, ids = in_numpy(tiny("gru")), symbols(2 * LENGTH)
    with_one = alone.scorer().advance(ids)
    seen: list[int] = []
    batch = numpy_abreast.Batch

    def noted(weights: Weights, texts: int, *more: Hooks) -> Any:
        seen.append(texts)
        return batch(weights, texts, *more)

    monkeypatch.setattr(numpy_abreast, "Batch", noted)
    monkeypatch.setattr(numpy_abreast, "worth_trying_alone", lambda: [2])
    monkeypatch.setattr(numpy_abreast, "FEWEST", 4)
    np.testing.assert_allclose(alone.scorer().advance(ids), with_one, rtol=0, atol=1e-5)
    assert max(seen) == side_by_side.count(len(ids)) // 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that are copies")
def test_a_copy_of_the_process_has_threads_of_its_own() -> None:
    """It would wait for its parent's for ever."""
    code = (
        "import os\nfrom rnnviz.networks.numpy_abreast import _pool\n"
        "_pool().submit(int).result()\nif child := os.fork(): raise SystemExit(os.waitpid(child, 0)[1])\n"
        "_pool().submit(int).result(timeout=30)\nos._exit(0)"
    )
    subprocess.run(**own_python("-W", "ignore", "-c", code), check=True)


@pytest.mark.parametrize(("said", "most"), [("1", 1), ("2", 2), ("2,1", 2), ("many", 4), ("0", 4), ("", 4)])
def test_no_more_threads_than_the_environment_says(
    said: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", said)
    assert threads.worth_trying_alone()[-1] == most


def test_a_report_and_rows_are_torchs() -> None:
    model = tiny("lstm")
    ours, theirs = (rnnviz.perplexity(each, text=TEXT + "ß") for each in (in_numpy(model), model))
    assert ours.perplexity == pytest.approx(theirs.perplexity, rel=1e-5)
    assert (ours.characters, ours.unknown) == (theirs.characters, theirs.unknown)
    exact = [rnnviz.perplexity(each, text=TEXT, precise=True).perplexity for each in (in_numpy(model), model)]
    assert exact[0] == pytest.approx(exact[1], rel=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_states_differ_where_any_part_does(kind: Any) -> None:
    h, c = np.zeros((2, 4, 3), np.float32), np.full((2, 4, 3), 100, np.float32)
    other, cell = h.copy(), c.copy()
    other[1, 1, 2] = 2 * side_by_side.TOLERANCE  # a row's H
    cell[0, 3, 0] += 200 * side_by_side.TOLERANCE  # another's C, in relative terms
    cell[0, 2, 0] += 50 * side_by_side.TOLERANCE  # too little
    found = side_by_side._differ(tuple(map(kind, (other, cell))), tuple(map(kind, (h, c))))
    assert found.tolist() == [1, 3]
