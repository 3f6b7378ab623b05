"""A network with changed units equals a plain loop that changes them; a batch equals texts read alone."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import units
from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.lab.analysis.ablation import ablate
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.scanning import pushes, scan
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import combined
from rnnviz.scoring import sampling
from tests.support import textbook
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

SHORT = TEXT[:40]


def plain(model: CharModel, text: str, changes: list[Intervention]) -> tuple[np.ndarray, np.ndarray]:
    """H (T + 1, L, H) and log P (T + 1, V), by the textbook's loop, one layer and one unit at a time."""

    def changed(t: int, layer: int, quantity: str, state: torch.Tensor) -> torch.Tensor:
        state = state.clone()
        for intervention in changes:
            going = intervention.start <= t and (intervention.stop is None or t < intervention.stop)
            if intervention.layer == layer and intervention.quantity == quantity and going:
                for unit in intervention.units:
                    was = float(state[0, unit])
                    state[0, unit] = {
                        "clamp": intervention.value,
                        "zero": 0.0,
                        "scale": intervention.value * was,
                    }[intervention.action]
        return state

    read = textbook.read_text(model, text, change=changed)
    return read.part("hidden")[:, :, 0].numpy(), read.part("log_probs")[:, 0].numpy()


CHANGES = [
    [],
    [Intervention((3,), "clamp", 0.7)],
    [Intervention((0, 5), "zero", layer=1)],
    [Intervention((2, 7, 11), "scale", 1.5, start=4, stop=20)],
    [Intervention((1,), "clamp", -1.0, start=10), Intervention((1,), "scale", 0.5, layer=1)],
    [Intervention((4,), "clamp", 0.3), Intervention((4,), "scale", -2.0)],
]


NETWORKS: list[tuple[str, dict[str, Any]]] = [
    *((cell, {"activation": "relu"} if cell == "rnn" else {}) for cell in CELLS),
    ("gru", {"embedding_size": 0}),
]
HELD_UNITS = [
    Intervention((3, 4), "clamp", 1.5, quantity="cell", start=5),
    Intervention((0,), "zero", layer=1),
]


@pytest.mark.parametrize(
    ("cell", "options", "changes"),
    [("lstm", {}, HELD_UNITS), *((*cell, changes) for cell, changes in itertools.product(NETWORKS, CHANGES))],
    ids=str,
)
@pytest.mark.parametrize("text", [SHORT, ""])
def test_an_intervention_is_what_a_plain_loop_does(
    text: str, cell: str, options: dict[str, Any], changes: list[Intervention]
) -> None:
    model = tiny_torch(cell, layers=2, **options)
    trace = rnnviz.trace(model, text, change=changes)
    states, log_probs = plain(model, text, changes)
    np.testing.assert_allclose(trace._states, states, atol=2e-6)
    np.testing.assert_allclose(trace.log_probs, log_probs, atol=5e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_a_changed_text_is_continued_without_being_read_again(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    options: dict[str, Any] = {"temperature": 0.8, "seed": 4}
    changes = [Intervention((3, 5), "clamp", 0.9, layer=1), Intervention((2,), "scale", 0.3, start=25)]
    if cell == "lstm":
        changes.append(Intervention((7,), "scale", 0.5, quantity="cell"))
    read = rnnviz.trace(model, SHORT, change=changes)
    for t in (0, 11, 40):
        combined_changes = combined(read.weights, changes)
        assert sampling.resume(read, t, 40, changes=combined_changes, **options) == rnnviz.sample(
            model, SHORT[:t], 40, change=changes, **options
        )


@pytest.mark.parametrize("units", [Unit(1, 5), (Unit(1, 5),), [Unit(1, 5)]], ids=repr)
def test_a_unit_brings_its_layer_with_it(units: Any) -> None:
    change = Intervention(units, "clamp", 1.0)
    assert (change.units, change.layer) == ((5,), 1)
    assert change == Intervention((5,), "clamp", 1.0, layer=1) == Intervention(units, "clamp", 1.0, layer=1)


def test_a_pair_that_is_surely_two_units_is_taken() -> None:
    model, single = tiny_torch("gru", layers=2), tiny_torch("gru")
    for clear in (Intervention((1, 5), layer=0), Intervention([1, 5]), Intervention((2, 5))):  # type: ignore[arg-type]
        assert (rnnviz.trace(model, SHORT, change=clear).hidden[:, 0, list(clear.units)] == 0).all()
    assert (rnnviz.trace(single, SHORT, change=Intervention((1, 5))).hidden[:, 0, [1, 5]] == 0).all()


def test_units_bring_their_layer_to_every_function() -> None:
    model = tiny_torch("gru", layers=2)
    ablation = ablate(model, SHORT, units=Unit(1, 5))
    assert (ablation.layer, ablation.units.tolist()) == (1, [5])
    assert_states(ablation.loss, ablate(model, SHORT, layer=1, units=[5]).loss)
    assert scan(model, text=SHORT, units=[Unit(1, 5), Unit(1, 2)]).units == [Unit(1, 5), Unit(1, 2)]
    assert pushes(model, Unit(1, 5)) == pushes(model, 5)


@pytest.mark.parametrize("cell", CELLS)
def test_change_is_taken_by_trace_perplexity_and_sample_alike(cell: str) -> None:
    model = tiny_torch(cell, layers=2)
    change = [units.Clamp(Unit(1, 3), 0.5), units.Zero([2, 5], layer=0, start=3), units.Scale(7, 0.5, stop=9)]
    read = rnnviz.trace(model, SHORT, change=change)
    assert (read.hidden[:, 1, 3] == 0.5).all()
    score = rnnviz.perplexity(model, text=SHORT, change=change)
    assert score.perplexity == pytest.approx(read.perplexity[-1], rel=1e-5)
    assert score.perplexity != pytest.approx(rnnviz.perplexity(model, text=SHORT).perplexity, rel=1e-4)
    after_context = rnnviz.perplexity(model, text=SHORT[20:], context=SHORT[:20], change=change)
    assert after_context.perplexity == pytest.approx(np.exp(read.nll[20:].mean()), rel=1e-5)
    late = [rnnviz.sample(model, SHORT, 30, seed=1, change=units.Clamp(3, 1.0, start=n)) for n in (0, 55, 99)]
    assert late[1][:15] == rnnviz.sample(model, SHORT, 30, seed=1)[:15] != late[0][:15]
    assert late[2] == rnnviz.sample(model, SHORT, 30, seed=1)


def test_an_edit_is_a_function_of_the_state() -> None:
    model = tiny_torch("lstm", layers=2)
    changed = rnnviz.trace(model, SHORT, change=units.Clamp(3, 0.5, layer=1, start=4, quantity="cell"))

    def set_one(c: Any) -> Any:
        c[3] = 0.5
        return c

    edit = units.Edit(set_one, layer=1, quantity="cell", start=4)
    assert_states(rnnviz.trace(model, SHORT, change=edit).hidden, changed.hidden)
    twice = [units.Edit(lambda h: h * 2), units.Edit(lambda h: h + 1)]  # in this order
    states = rnnviz.trace(model, SHORT[:1], change=[units.Edit(lambda h: 2 * h + 1)]).hidden
    np.testing.assert_allclose(rnnviz.trace(model, SHORT[:1], change=twice).hidden, states)


READINGS = {
    "trace": lambda model, change: rnnviz.trace(model, SHORT, change=change),
    "perplexity": lambda model, change: rnnviz.perplexity(model, text=SHORT, change=change),
    "sample": lambda model, change: rnnviz.sample(model, SHORT, 5, change=change),
    "effect": lambda model, change: units.effect(model, SHORT, change, controls=2),
}
TOO_MUCH: dict[str, tuple[Any, str]] = {
    "scale": (units.Scale(3, 1e30), r"Scale\(3, 1e\+30\)"),
    "scale that grows": (units.Scale([1, 2, 3], 1e4), r"Scale\(3 units, 10000\)"),
    "clamp": (units.Clamp(3, 1e39), r"Clamp\(3, 1e\+39\)"),
    "clamp within float32": (units.Clamp(3, -3e38), r"Clamp\(3, -3e\+38\)"),
    "direction": (units.Scale(units.Direction("up", np.ones(12)), 1e30), r"Scale\(<Direction 'up'"),
    "late": (units.Clamp(3, 1e39, start=7), r"the state after 7 characters"),
    "edit": (units.Edit(lambda h: h * 1e30), "Edit makes"),
    "NaN": (units.Edit(lambda h: h * np.nan), "Edit makes the state after 0 characters NaN"),
    "as pages make it": (Intervention((3,), "scale", 1e30), r"Scale\(3, 1e\+30\)"),
    "one of two": ([units.Zero(1), units.Scale(3, 1e30)], r"Scale\(3, 1e\+30\)"),
}


CELL_STATES = {
    "cell state scaled": (units.Scale(3, 1e30, quantity="cell"), "Scale.* too large for float32"),
    "cell state clamped": (units.Clamp(3, 1e39, quantity="cell"), "Clamp.* too large for float32"),
}


@pytest.mark.parametrize(
    ("case", "cell"),
    [
        *itertools.product(TOO_MUCH, [cell for cell in CELLS if cell != "mlp"]),
        *itertools.product(CELL_STATES, ["lstm"]),
    ],
)
def test_a_change_beyond_float32_is_named(case: str, cell: str) -> None:
    change, named = (TOO_MUCH | CELL_STATES)[case]
    if case == "scale that grows" and cell != "gru":
        change = [units.Scale([1, 2, 3], 1e30)]
        named = r"Scale\(3 units, 1e\+30\)"
    model = tiny_torch(cell)
    for name, read in READINGS.items():
        if name == "effect" and not isinstance(change, Intervention):
            continue
        with pytest.raises(ConfigError, match=named):
            read(model, change)


@pytest.mark.parametrize("cell", CELLS)
def test_the_largest_change_that_is_taken_gives_numbers(cell: str) -> None:
    model, change = tiny_torch(cell, layers=2), units.Clamp(list(range(12)), 2e17)
    assert np.isfinite(rnnviz.trace(model, SHORT, change=change).nll).all()
    assert np.isfinite(rnnviz.perplexity(model, text=SHORT, change=change).bits_per_character)
    assert len(rnnviz.sample(model, SHORT, 5, change=change)) == 5


def test_damaged_weights_are_no_changes_doing() -> None:
    model = tiny_torch("gru")
    with torch.no_grad():
        model.readout.weight[3, 3] = model.recurrence.weight_hh_l0[3, 3] = torch.nan
    for change in (units.Zero(3), units.Scale(3, 0.5)):
        with pytest.raises(CheckpointError, match="its weights are damaged"):
            rnnviz.perplexity(model, text=SHORT, change=change)
