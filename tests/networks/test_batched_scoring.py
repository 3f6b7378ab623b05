"""Long texts as stretches, short ones side by side: the same costs as in sequence."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from rnnviz.arrays import Ids
from rnnviz.networks import batched_scoring, threads
from rnnviz.networks.batched_scoring import (
    CHUNK_STEPS,
    MAX_ROWS,
    MIN_SPLIT_CHARS,
    MIN_STRETCH_CHARS,
    NumpyEngine,
)
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.networks.progress import Share
from rnnviz.scoring import perplexity as scoring
from tests.support.long_texts import (
    LENGTH,
    STRETCHED,
    VOCABULARY,
    assert_as_in_sequence,
    in_sequence,
    reader,
    symbols,
)
from tests.support.models import tiny, with_tensors


def never_forgets(cell: str) -> NumpyModel:
    """A network whose gates are shut: what it read once stays for tens of thousands of characters."""
    model = reader(cell=cell, scale=4.0)
    bias = model.tensors["recurrence.bias_ih_l0"].copy()
    bias[24:48] += 9.0  # a gru's update gate, an lstm's forget gate
    if cell == "lstm":
        bias[:24] -= 6.0
    return with_tensors(model, recurrence_bias_ih_l0=bias)


def almost_forgets(bias: float = 3.48) -> NumpyModel:
    """A gru whose states keep 97 % at each step: after the warm-up 4e-4 of a difference is left."""
    model = reader(cell="gru", scale=15.0)
    W_x, b = (model.tensors[f"recurrence.{name}_ih_l0"].copy() for name in ("weight", "bias"))
    W_x[24:48], b[24:48] = 0.0, bias  # σ(3.48) ** 256 = 4e-4
    input_weights = {"recurrence_weight_ih_l0": W_x, "recurrence_bias_ih_l0": b}
    return with_tensors(model, **input_weights, recurrence_weight_hh_l0=0.0, recurrence_bias_hh_l0=0.0)


def never_settles() -> NumpyModel:
    """An rnn whose weights are so large that any two states, however near, part again: chaos."""
    W_h = np.random.default_rng(0).normal(scale=4 / 64**0.5, size=(64, 64))
    return with_tensors(reader(cell="rnn", hidden_size=64, scale=4.0), recurrence_weight_hh_l0=W_h)


def text(n: int, seed: int = 0) -> str:
    return "".join(np.random.default_rng(seed).choice(list(VOCABULARY.characters), n)) if n else ""


def read_again(network: NumpyModel, ids: Ids) -> int:
    """How many characters the seams made it read twice, in stretches."""
    scorer = network.scorer()
    scorer.advance(ids[: len(ids) - len(ids) % (len(ids) // MIN_STRETCH_CHARS)])
    return scorer.read_again


@pytest.mark.parametrize("settings", STRETCHED, ids=lambda s: "-".join(map(str, s.values())))
def test_costs_ranks_and_entropies_are_those_of_a_reading_in_sequence(settings: dict[str, Any]) -> None:
    network = reader(scale=8.0, **settings)
    assert_as_in_sequence(network, NumpyEngine(network.weights))


@pytest.mark.parametrize(
    ("network", "ids", "lowest", "highest"),
    [
        (never_forgets("gru"), symbols(LENGTH, 1), LENGTH // 2, 2 * LENGTH),
        (never_forgets("lstm"), symbols(LENGTH, 1), LENGTH // 2, 2 * LENGTH),
        (almost_forgets(), np.full(LENGTH, 3), 1, LENGTH // 2),  # a small difference is mended too
        (reader(cell="gru"), np.ones(LENGTH, np.int64), 0, 0),  # of equal stretches
        (reader(cell="gru"), symbols(LENGTH), 0, 0),  # and of all kinds
    ],
    ids=["gru that never forgets", "lstm that never forgets", "almost forgets", "forgets", "forgets all"],
)
def test_differing_seam_makes_stretch_read_again(
    network: NumpyModel, ids: Ids, lowest: int, highest: int
) -> None:
    ours, theirs = network.scorer().advance(ids), in_sequence(network, ids).log_p
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4)
    assert lowest <= read_again(network, ids) <= highest


@pytest.mark.parametrize("network", [never_settles(), never_forgets("gru")], ids=["chaos", "memory"])
def test_no_text_is_read_again_more_than_twice(network: NumpyModel) -> None:
    for n in (LENGTH, 2 * LENGTH):
        assert n // 2 < read_again(network, symbols(n, 1)) <= 2 * n


def test_a_slowly_fading_difference_is_no_growing_one() -> None:
    network, ids = (
        almost_forgets(6.2),
        symbols(LENGTH, 1),
    )  # keeps 99.8 %, so 2 % of a difference is left
    scorer = network.scorer()
    np.testing.assert_allclose(scorer.advance(ids), in_sequence(network, ids).log_p, rtol=0, atol=1e-4)
    assert scorer.read_again > LENGTH // 2, "it was read to its end"
    assert scorer.unsettled == 0


def test_unsettled_counts_stretches_whose_rounding_grows() -> None:
    ids = np.full(LENGTH, 3)
    wild, calm, slow = never_settles().scorer(), reader(cell="gru").scorer(), almost_forgets().scorer()
    ours = wild.advance(ids)
    assert np.abs(ours - in_sequence(never_settles(), ids).log_p).max() > 1e-2  # that is why
    rows = LENGTH // MIN_STRETCH_CHARS
    assert wild.unsettled == (rows - 1) * (LENGTH // rows)  # all but the first stretch
    calm.advance(ids)
    slow.advance(ids)
    assert (calm.unsettled, slow.unsettled) == (0, 0)  # `slow` was read again, and met the first reading
    score = scoring.perplexity(never_settles(), text=text(LENGTH))
    assert score.unsettled == wild.unsettled == score.to_json()["unsettled"]
    assert scoring.perplexity(never_settles(), text=text(LENGTH), precise=True).unsettled == 0


@pytest.mark.parametrize("cell", [name for name, kind in CELLS.items() if kind.mixes])
def test_cuts_leave_costs_unchanged(cell: str) -> None:
    network = reader(cell=cell, scale=8.0)
    ids = np.random.default_rng(2).integers(0, VOCABULARY.size, 2 * LENGTH)
    whole = network.scorer().advance(ids)
    for cuts in ([0, 100], [MIN_SPLIT_CHARS + 5], [7, LENGTH, LENGTH + 1]):  # a piece of nothing among them
        scorer = network.scorer()
        parts = [scorer.advance(part) for part in np.split(ids, cuts)]
        np.testing.assert_allclose(np.concatenate(parts), whole, rtol=0, atol=1e-4)


def test_progress_comes_while_a_long_piece_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.progress.REPORT_INTERVAL_S", 0.0)
    # Unknown characters cost more than others, in what was read so far too.
    network, long = reader(cell="gru"), text(LENGTH).replace("a", "ß")
    steps: list[Share] = []
    score = scoring.perplexity(network, text=long, progress=steps.append)
    assert len(steps) > 20
    assert [s.characters for s in steps] == sorted(s.characters for s in steps)
    assert steps[-1] == Share(1.0, LENGTH, pytest.approx(score.perplexity, rel=1e-5))
    assert steps[len(steps) // 2].perplexity == pytest.approx(score.perplexity, rel=0.1)


@pytest.mark.parametrize("cell", CELLS)
def test_scorer_goes_on_from_a_remembered_state(cell: str) -> None:
    ids, first, second = symbols(200), tiny(cell).scorer(), tiny(cell).scorer()
    first.advance(ids[:120])
    memory = first.state
    expected = first.advance(ids[120:])  # what was kept is a copy
    second.resume_from(int(ids[119]), memory)
    np.testing.assert_allclose(second.advance(ids[120:]), expected, rtol=0, atol=1e-6)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that are copies")
def test_forked_process_starts_its_own_threads() -> None:
    """It would wait for its parent's for ever."""
    code = (
        "import os\nfrom rnnviz.networks.batched_scoring import _pool\n"
        "_pool().submit(int).result()\nif child := os.fork(): raise SystemExit(os.waitpid(child, 0)[1])\n"
        "_pool().submit(int).result(timeout=30)\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


@pytest.mark.parametrize(
    ("setting", "highest"), [("1", 1), ("2", 2), ("2,1", 2), ("many", 4), ("0", 4), ("", 4)]
)
def test_environment_limits_threads(setting: str, highest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 4)
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert threads.worth_trying_alone()[-1] == highest


def test_states_differ_where_any_part_does() -> None:
    h, c = np.zeros((2, 4, 3), np.float32), np.full((2, 4, 3), 100, np.float32)
    changed_h, cell = h.copy(), c.copy()
    changed_h[1, 1, 2] = 2 * batched_scoring.STATE_TOLERANCE  # a row's H
    cell[0, 3, 0] += 200 * batched_scoring.STATE_TOLERANCE  # another's C, in relative terms
    cell[0, 2, 0] += 50 * batched_scoring.STATE_TOLERANCE  # too little
    differs = batched_scoring._distance((changed_h, cell), (h, c)) > batched_scoring.STATE_TOLERANCE
    assert differs.tolist() == [False, True, False, True]


SHORT: list[tuple[str, dict[str, Any]]] = [
    *((cell, {"layers": 2}) for cell in CELLS),
    ("rnn", {"activation": "relu"}),
    ("gru", {"embedding_size": 0}),
    ("gru", {"tied": True, "embedding_size": 12}),
]


@pytest.mark.parametrize(("cell", "options"), SHORT)
def test_texts_side_by_side_cost_as_alone(cell: str, options: dict[str, Any]) -> None:
    network, rng = tiny(cell, **options), np.random.default_rng(0)
    lengths = rng.integers(0, 3 * CHUNK_STEPS, 2 * MAX_ROWS + 3)
    texts = [rng.integers(0, network.vocabulary.size, length) for length in lengths]
    texts[:2] = np.empty(0, np.int64), np.ones(MIN_SPLIT_CHARS, np.int64)
    scored = list(zip(texts, network.scorer().score_texts(texts), strict=True))
    for ids, log_p in (scored[1], *scored[::5]):
        np.testing.assert_allclose(log_p, network.scorer().advance(ids), rtol=1e-4, atol=1e-4)
    assert network.scorer().score_texts([]) == []
