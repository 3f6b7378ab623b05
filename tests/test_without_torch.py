"""torch is needed to train, not to look."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz import gradients, units
from rnnviz.errors import TorchMissingError
from rnnviz.networks import engines
from rnnviz.networks.checkpoint import load_numpy
from tests.support.closeness import close
from tests.support.written import ROOT

NEEDS_TORCH = {
    *(
        f"lab.engines.{name}"
        for name in (
            "adapter", "adapter_weights",
            "compiled", "custom", "dropout", "torch_engine", "torch_model", "torch_threads",
        )
    ),
    *(f"lab.fit.{name}" for name in ("batches", "fitting", "optimiser", "speed_trial", "trainer")),
    *(f"lab.run.{name}" for name in ("journal", "training_state")),
}  # fmt: skip
"""What may import torch as soon as it is imported; all others where they compute with it."""

HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Hidden())
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDDEN + code, *arguments],
        cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


IMPORTS = """
import importlib, json, pkgutil, rnnviz

found, walk = [], pkgutil.walk_packages(rnnviz.__path__, "rnnviz.")
for module in walk:
    if ".script" in module.name or module.name.endswith("__main__"):
        continue  # they run something
    try:
        importlib.import_module(module.name)
    except rnnviz.TorchMissingError:
        found.append(module.name)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        found.append(module.name)
print(json.dumps(found))
"""


def test_the_rooms_that_import_torch_at_once_are_known() -> None:
    done = python(IMPORTS)
    assert done.returncode == 0, done.stderr
    rooms = {name.removeprefix("rnnviz.") for name in json.loads(done.stdout)}
    assert rooms == NEEDS_TORCH


def test_models_are_read_looked_into_and_kept_and_the_rest_says_what_it_needs(tmp_path: Path) -> None:
    code = """
import json, rnnviz
from rnnviz import gradients, units

text, out, said = "The Time Traveller smiled. " * 20, {}, []
for info in rnnviz.available()[0]:
    model = rnnviz.load(info.name, device="auto")
    if "chinese" not in info.name:
        out[info.name] = rnnviz.perplexity(model, text=text).perplexity
model = rnnviz.load("timemachine-gru")
out["precise"] = rnnviz.perplexity(model, text=text, precise=True).perplexity
out["sample"] = rnnviz.sample(model, "The", 20, seed=1)
out["trace"] = float(rnnviz.trace(model, text).perplexity[-1])
out["gradient"] = rnnviz.gradients.connectivity(model, "The Time").norms.sum().item()
along = {"at": 7, "method": "occlusion", "instead": "out"}
out["left out"] = gradients.attribute(model, "The Time", **along).values.tolist()
out["integrated"] = gradients.attribute(model, "The Time").values.tolist()
out["apart"] = units.perturb(model, text, 3, "x").distance.sum().item()
again = rnnviz.load(rnnviz.save(model, sys.argv[1]))
out["again"] = rnnviz.perplexity(again, text=text).perplexity
for what in (
    lambda: rnnviz.fit, lambda: rnnviz.train, lambda: rnnviz.adapt,
    lambda: rnnviz.load("timemachine-gru", device="cuda"),
):
    try:
        what()
    except rnnviz.TorchMissingError as error:
        said.append(str(error))
from rnnviz.cli import main
failed = main(["train", "--corpus", sys.argv[1], "--name", "x"])
print(json.dumps([out, said, failed, "torch" in sys.modules]))
"""
    done = python(code, str(tmp_path / "copy.safetensors"))
    assert done.returncode == 0, done.stderr
    out, output, failed, loaded = json.loads(done.stdout)
    assert not loaded
    no_torch = str(TorchMissingError())
    assert [call for call in output if call == no_torch] == output[:-1]
    assert len(output) == 4
    assert "'cuda'" in output[-1]
    assert failed == 1
    assert done.stderr == f"rnnviz: {no_torch}\n"
    text, model = "The Time Traveller smiled. " * 20, rnnviz.load("timemachine-gru")
    named = (
        "timemachine-gru",
        "timemachine-lstm",
        "shakespeare-mingru",
        "timemachine-mlp",
        "timemachine-6gram",
    )
    along: dict[str, Any] = {"at": 7, "method": "occlusion", "instead": "out"}
    right = {
        **{name: rnnviz.perplexity(rnnviz.load(name), text=text).perplexity for name in named},
        "precise": rnnviz.perplexity(model, text=text, precise=True).perplexity,
        "sample": rnnviz.sample(model, "The", 20, seed=1),
        "trace": float(rnnviz.trace(model, text).perplexity[-1]),
        "gradient": gradients.connectivity(model, "The Time").norms.sum().item(),
        "left out": gradients.attribute(model, "The Time", **along).values.tolist(),
        "integrated": gradients.attribute(model, "The Time").values.tolist(),
        "apart": units.perturb(model, text, 3, "x").distance.sum().item(),
        "again": out["timemachine-gru"],
    }
    assert close({name: out[name] for name in right}, right)


def test_without_torch_a_network_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(rnnviz.load("timemachine-gru")).__name__ == "CharModel"
    monkeypatch.setattr(engines, "has_torch", lambda: False)
    assert isinstance(rnnviz.load("timemachine-gru"), type(load_numpy("timemachine-gru")))
    with pytest.raises(rnnviz.TorchMissingError, match="use cpu"):
        rnnviz.load("timemachine-gru", device="cuda:0")
    assert rnnviz.load("timemachine-6gram", device="cuda").order == 6  # as with torch: it needs no device
