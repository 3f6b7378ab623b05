"""What a cell's record brings besides its numbers: words, a training, a file; docs/cells.md, carried out."""

import subprocess
import sys
from pathlib import Path
from string import Formatter
from typing import get_args

import numpy as np
import pytest

import rnnviz
from rnnviz.figures import live
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.networks import config
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import Numpy
from rnnviz.networks.settings import settings_of
from rnnviz.page import formatting, initial_data, live_answer
from rnnviz.sentences import catalogue
from rnnviz.text import corpora
from tests.support.models import tiny

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("cell", [name for name, kind in CELLS.items() if kind.gates])
def test_gate_that_keeps_multiplies_previous_state(cell: str) -> None:
    """Pages say of an update or forget gate that near 1 it keeps: so it must be the one that does."""
    kind, generator = CELLS[cell], np.random.default_rng(0)
    x, u = generator.normal(size=(2, len(kind.blocks), 5))
    states = generator.normal(size=(2, 1 + kind.has_cell, 5))

    def carried(before: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        if kind.linear:
            parts = kind.step(Numpy(), x)
            return parts["keep"] * before[0] + parts["write"], parts
        parts = kind.step(
            Numpy(), x, u, *before
        )  # the products with the state stay: the gate's own way alone
        return parts["c" if kind.has_cell else "h"], parts

    (first, parts), (second, _parts) = map(carried, states)
    slope = (first - second) / (states[0][-1] - states[1][-1])
    for name in {"update", "forget"} & set(kind.gates):
        np.testing.assert_allclose(parts[name], slope, rtol=1e-9)
        assert kind.keeps == name


@pytest.mark.parametrize("cell", CELLS)
def test_pages_have_words_for_cell(cell: str) -> None:
    kind, model = CELLS[cell], tiny(cell, layers=2)
    control = settings_of(config.TrainConfig)["cell"].control
    assert control is not None
    assert control.words is not None
    assert kind.label in control.words[cell]
    assert cell in get_args(config.Cell), "the command offers it"
    sentence = initial_data.live_words()[f"step.{cell}"]
    terms = live_answer.unit_step(rnnviz.trace(model, "The time"), 3, 0, 5)
    assert {name for _, name, _, _ in Formatter().parse(sentence) if name} <= {*terms, "rest", "tanh"}
    gates = kind.gates[:-1]  # the last is the candidate
    needed = [
        ("quantity_names, page/formatting.py", kind.quantities, formatting.quantity_names()),
        ("quantity_notices, page/formatting.py", kind.quantities, formatting.quantity_notices()),
        ("SYMBOLS, figures/live.py", kind.quantities, live.SYMBOLS),
        ("locale/findings.toml", [f"gate.{gate}" for gate in gates], catalogue()),
        ("locale/findings.toml", [f"gates.look-{gate}" for gate in gates], catalogue()),
    ]
    lacking = [f"{place}: {name}" for place, names, words in needed for name in names if not words.get(name)]
    assert not lacking, "docs/cells.md says what a part with a new name needs"


@pytest.mark.parametrize("cell", CELLS)
def test_trained_cell_is_saved_loaded_and_traced(cell: str, tmp_path: Path) -> None:
    recipe = rnnviz.TrainConfig(cell, 12, embedding_size=6, batch=4, steps=8, characters=400)
    trainer = Trainer(recipe, corpora.from_text("a machine of brass and quartz, " * 40), device="cpu")
    losses = [float(trainer.step()[0]) for _ in range(12)]
    assert losses[-1] < losses[0]
    model = trainer.model
    loaded = rnnviz.load(rnnviz.save(model, tmp_path / "new.safetensors"))
    ours, theirs = rnnviz.trace(loaded, "brass"), rnnviz.trace(model, "brass")
    np.testing.assert_allclose(ours.log_probs, theirs.log_probs, rtol=1e-5)
    assert ours.gates.keys() == set(CELLS[cell].gates)
    if CELLS[cell].keeps:
        assert rnnviz.units.gates(ours).time_constant.shape == (12,)


def test_document_adds_cell() -> None:
    """A newcomer's two files, then every test of a cell with the new one: nothing else needs an entry."""
    modules = [f"tests/lab/engines/test_{name}.py" for name in ("conformance", "new_cell", "torch_model")]
    rooms = ("networks/test_checkpoint", "scoring/test_trace", "figures/test_live")
    modules += [f"tests/{name}.py" for name in rooms]
    plugin = ("-p", "tests.support.documented_cell", "-p", "no:cacheprovider", "-n", "0", "-q")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, *modules, "-k", "mgu and not float64"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
