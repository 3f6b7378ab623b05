"""The long gap: networks side by side against torch's own, the task, the recording, part of it run again."""

import json
import math
from typing import Any

import pytest
import torch

from rnnviz.lecture import long_gap
from rnnviz.lecture.many_networks import (
    CUE,
    FILLERS,
    LETTERS,
    PARTS,
    SYMBOLS,
    UNITS,
    Adam,
    Networks,
    parameters,
)

TORCH: dict[str, Any] = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}
RUN = long_gap.recorded()
LAST = long_gap.STEPS // long_gap.EVERY


def torchs(networks: Networks, s: int) -> tuple[torch.nn.Module, torch.nn.Linear]:
    """torch's own network with the weights of network s."""
    kind = networks.kind if networks.kind in TORCH else "rnn"
    layer = TORCH[kind](len(SYMBOLS), networks.H, batch_first=True)
    out = torch.nn.Linear(networks.H, len(LETTERS))
    w = {name: weights[s].detach() for name, weights in networks.weights.items()}
    with torch.no_grad():
        order = [0, 1, 3, 2] if kind == "lstm" else range(PARTS.get(networks.cell, 1))  # torch: i, f, c, o
        columns = torch.cat([torch.arange(n * networks.H, (n + 1) * networks.H) for n in order])
        layer.weight_ih_l0.copy_(w["W_x"][:, columns].T)
        layer.weight_hh_l0.copy_(w["W_h"][:, columns].T)
        layer.bias_ih_l0.copy_(w["b"][0, columns])
        layer.bias_hh_l0.zero_()
        out.weight.copy_(w["W_q"].T)
        out.bias.copy_(w["b_q"][0])
    return layer, out


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm", "gru.open", "lstm.open", "orthogonal"])
def test_networks_side_by_side_are_torchs_own(cell: str) -> None:
    networks = Networks(cell, seeds=[3, 4], gap=6)
    ids, letters = long_gap.draw(6, 5, networks.generators)
    scores = networks.read(ids)
    right, arrived = long_gap.measured(networks, ids, letters)
    for s in range(2):
        layer, out = torchs(networks, s)
        one_hot = torch.nn.functional.one_hot(ids[s], len(SYMBOLS)).float()
        _, state = layer(one_hot[:, :1])
        parts = state if isinstance(state, tuple) else (state,)
        for part in parts:
            part.retain_grad()
        _, later = layer(one_hot[:, 1:-1], state)
        ends = later if isinstance(later, tuple) else (later,)
        for end in ends:
            end.retain_grad()
        plain = out(layer(one_hot[:, -1:], later)[0][:, 0])
        torch.testing.assert_close(scores[s], plain, rtol=1e-4, atol=1e-5)
        assert right[s] == (plain.argmax(-1) == letters[s]).float().mean()
        torch.nn.functional.cross_entropy(plain, letters[s], reduction="sum").backward()

        def norm(states: tuple[torch.Tensor, ...]) -> float:
            grads = [state.grad[0] for state in states if state.grad is not None]
            return float(torch.cat(grads, -1).norm(dim=-1).mean())

        assert arrived[s] == pytest.approx(norm(parts) / norm(ends), rel=1e-3)


@pytest.mark.parametrize("theta", [None, 0.05])
def test_a_step_down_is_torchs_adam_with_each_network_clipped_by_itself(theta: float | None) -> None:
    weights = {"a": torch.randn(2, 3, 4), "b": torch.randn(2, 1, 4)}
    each = [[w[s].clone().requires_grad_() for w in weights.values()] for s in range(2)]
    optimisers = [torch.optim.Adam(ws, lr=lr) for ws, lr in zip(each, (0.1, 0.01), strict=True)]
    ours = Adam(weights, (0.1, 0.01))
    for _ in range(5):
        grads = [torch.randn_like(w) for w in weights.values()]
        for s, optimiser in enumerate(optimisers):
            for w, g in zip(each[s], grads, strict=True):
                w.grad = g[s].clone()
            if theta is not None:
                torch.nn.utils.clip_grad_norm_(each[s], theta)
            optimiser.step()
        ours.step(grads, theta)
    for s in range(2):
        for w, mine in zip(each[s], weights.values(), strict=True):
            torch.testing.assert_close(w.detach(), mine[s], rtol=1e-3, atol=1e-5)


def test_a_sequence_is_a_letter_its_gap_and_the_cue() -> None:
    ids, letters = long_gap.draw(7, 200, [torch.Generator().manual_seed(n) for n in (0, 1)])
    assert ids.shape == (2, 200, 9)
    assert {SYMBOLS[i] for i in ids[..., 0].flatten()} == set(LETTERS)
    assert {SYMBOLS[i] for i in ids[..., 1:-1].flatten()} == set(FILLERS)
    assert {SYMBOLS[i] for i in ids[..., -1].flatten()} == {CUE}
    assert torch.equal(ids[..., 0], letters)
    assert not torch.equal(ids[0], ids[1]), "every seed has sequences of its own"


def test_all_cells_have_about_as_many_parameters() -> None:
    for cell in UNITS:
        counted = sum(w[0].numel() for w in Networks(cell, [0], gap=1).weights.values())
        assert counted == parameters(cell) == RUN.parameters[cell] == pytest.approx(3350, rel=0.01)


def test_gates_begin_where_it_is_said() -> None:
    for cell, low, high in [("gru", 0.731, 0.7311), ("lstm", 0.731, 0.7311), ("gru.open", 0.5, 81 / 82)]:
        networks = Networks(cell, [0], gap=80)
        keep = torch.sigmoid(networks.weights["b"][0, 0, networks.H : 2 * networks.H])
        assert low <= keep.min() <= keep.max() <= high
    turned = Networks("orthogonal", [0], gap=1).weights["W_h"][0].detach()
    torch.testing.assert_close(turned @ turned.T, torch.eye(len(turned)), atol=1e-5, rtol=0)


def accuracies(cell: str, gap: int, clipped: bool = True) -> list[float]:
    return [seed[LAST] for seed in RUN.at(cell, gap, clipped).accuracy]


def test_what_the_page_shows_is_in_the_recording() -> None:
    """The claims, with the spread of the seeds."""
    assert RUN.steps[-1] == long_gap.STEPS
    assert len(long_gap.SEEDS) >= 5
    assert not set(long_gap.SEEDS) & set(long_gap.CHOOSING)
    for gap in long_gap.GAPS:
        for cell in ("gru.open", "lstm.open", "orthogonal"):
            assert min(accuracies(cell, gap)) == 1.0
        assert max(accuracies("mlp", gap)) < 0.25, "without a state it is chance"
        for cell in UNITS:
            untrained = [seed[0] for seed in RUN.at(cell, gap).accuracy]
            assert max(untrained) < 0.25
    assert sum(a > 0.95 for a in accuracies("rnn", 80)) <= 1
    assert max(accuracies("gru", 80) + accuracies("lstm", 80)) < 0.25, "gates begun at 0.73 fail as well"
    assert min(accuracies("rnn", 5)) == 1.0
    assert not RUN.at("rnn", long_gap.UNCLIPPED, clipped=False).clipped


def test_the_gradient_that_arrives_shrinks_as_the_gap_grows() -> None:
    for cell in ("rnn", "gru", "lstm"):
        means = [
            math.fsum(math.log(before) for before, _ in RUN.at(cell, gap).gradient) for gap in long_gap.GAPS
        ]
        assert means == sorted(means, reverse=True)
    assert max(before for before, _ in RUN.at("rnn", 80).gradient) < 1e-10
    assert min(before for before, _ in RUN.at("gru.open", 80).gradient) > 0.1


def test_a_short_gap_is_learned_again_as_recorded() -> None:
    for cell in ("rnn", "gru.open"):
        recorded = RUN.at(cell, 2)
        accuracy, gradient = long_gap.train(cell, 2, long_gap.SEEDS, [recorded.rate] * 5, steps=100)
        for mine, shipped in zip(accuracy, recorded.accuracy, strict=True):
            assert mine == pytest.approx(shipped[:3], abs=0.1)
        for before, shipped_gradient in zip(gradient, recorded.gradient, strict=True):
            assert before[0] == pytest.approx(shipped_gradient[0], rel=0.02)


def test_a_study_chooses_on_other_seeds_and_is_written(tmp_path: Any) -> None:
    recording = long_gap.record(["rnn", "mlp"], [1], steps=4, processes=1)
    assert [(run.cell, run.gap) for run in recording.runs] == [("rnn", 1), ("mlp", 1)]
    assert all(run.rate in long_gap.RATES for run in recording.runs)
    long_gap.write(recording, tmp_path / "run.json")
    fields = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert fields["runs"][0]["accuracy"] == [list(seed) for seed in recording.runs[0].accuracy]


def test_the_recording_is_small() -> None:
    assert long_gap.RECORDING.stat().st_size < 30_000
