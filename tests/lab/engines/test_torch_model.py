"""CharModel's dropout between layers, its size, its devices and its scorer; its cells are in the table."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch

from rnnviz.errors import ConfigError
from rnnviz.lab.engines.dropout import Dropout, drop
from rnnviz.lab.engines.torch_model import pick_device
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import weights_of
from tests.support import textbook
from tests.support.torch_models import V, random_network

KINDS = [("mlp", "relu"), ("rnn", "relu"), *((cell, "tanh") for cell in CELLS)]


@pytest.mark.parametrize("learning", [True, False])
@pytest.mark.parametrize(("cell", "activation"), KINDS)
def test_dropout_between_layers_is_of_what_the_next_layer_reads(
    cell: str, activation: str, learning: bool
) -> None:
    model = random_network(cell, activation, layers=3)
    ids = torch.randint(0, V + 1, (4, 20), generator=torch.Generator().manual_seed(4))
    tensors, single = textbook.tensors_of(model), replace(model.config, layers=1)
    generator, x, states = torch.Generator().manual_seed(5), textbook.embedded(single, tensors, ids), []
    for n in range(3):
        names = zip(single.layer_names(0), model.config.layer_names(n), strict=True)
        layer = {**tensors, **{first: tensors[name] for first, name in names}}
        read = textbook.read(single, layer, drop(x.float(), 0.4, generator).double() if n else x)
        x = read.part("hidden")[:, 0].transpose(0, 1)
        states.append(x[:, -1])
    with torch.set_grad_enabled(learning):
        logits, state = model(ids, dropout=Dropout(layer=0.4), generator=torch.Generator().manual_seed(5))
    assert torch.allclose(logits.double(), read.logits.transpose(0, 1), rtol=0, atol=1e-5)
    assert torch.allclose(state[0].double(), torch.stack(states), rtol=0, atol=1e-5)  # carried on as it is
    assert drop(torch.ones(64), 0.75, generator).unique().tolist() == [0, 4], "the mean stays"


def test_a_scorer_sees_new_weights_and_not_the_old_ones() -> None:
    model, ids = random_network("gru"), np.array([1, 2, 3])
    before = model.scorer().advance(ids)
    cached = weights_of(model)
    assert weights_of(model) is cached
    # What torch's count of changes misses must be noticed too: fused optimisers and `.data` write silently.
    model.readout.bias.data[2] += 1.0
    assert weights_of(model) is not cached
    after = model.scorer().advance(ids)
    assert after[1] > before[1] + 0.1


def test_weights_are_freed_with_their_model() -> None:
    model = random_network("gru")
    weights = weakref.ref(weights_of(model))
    del model
    gc.collect()
    assert weights() is None


def test_a_gpu_that_is_there_and_can_not_compute_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As an old one is, which this torch has no kernels for."""

    def fail() -> None:
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device\nMore")

    if torch.cuda.is_available():
        pytest.skip("the GPU here has been used already")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "_lazy_init", fail)
    with pytest.warns(RuntimeWarning, match=r"it can't compute \(CUDA error: no kernel image .* device\); "):
        assert pick_device("auto").type == "cpu"
    with pytest.raises(ConfigError, match=r"device 'cuda' can't be used here .*no kernel image"):
        pick_device("cuda")
