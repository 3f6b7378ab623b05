"""What no network of torch's can be made of is refused in a sentence."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import rnnviz
from rnnviz import ModelConfig, units
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis.scanning import pushes
from rnnviz.lab.engines.torch_model import CharModel, pick_device
from rnnviz.lab.fit import speed_trial
from rnnviz.scoring.compression import compress
from tests.support.foreign_networks import CHARACTERS, GRU, N, echo, layers_of, long_memory, stepwise
from tests.support.refused import assert_refused
from tests.support.torch_models import LETTERS, random_network
from tests.support.training import CORPUS, SMALL

CUSTOM_MODEL = stepwise(layers_of(nn.GRU, N), readout=lambda h: h[:, :1].expand(-1, N))


def dropping(ids: Any, state: Any) -> Any:
    h = F.dropout(echo(ids, state)[0] + 1)
    return h, {"h": h}


def gated(ids: Any, state: Any, gate: Any) -> Any:
    h, new = echo(ids, state)
    return h, {**new, "g": gate}


LAYERS: list[tuple[str, nn.Module, dict[str, Any]]] = [
    ("bidirectional", nn.GRU(6, 9, bidirectional=True), {}),
    ("received Linear", nn.Linear(6, 9), {}),
    ("received GRUCell", nn.GRUCell(6, 9), {}),
    (rf"nn.Linear\(9, {N}\); received Bilinear", GRU, {"output": nn.Bilinear(9, 9, N)}),
    (rf"nn.Linear\(9, {N}\); received Linear\(in_features=8,", GRU, {"output": nn.Linear(8, N)}),
    (rf"output layer is .* received Linear\(.*out_features={N + 1},", GRU, {"output": nn.Linear(9, N + 1)}),
    (
        rf"reads embedding=nn.Embedding\({N}, 6\) .*received embedding=Embedding\({N + 1}, 6\)",
        GRU,
        {"embedding": nn.Embedding(N + 1, 6)},
    ),
    (
        rf"reads embedding=nn.Embedding\({N}, 6\) .*received embedding=Embedding\({N}, 5\)",
        GRU,
        {"embedding": nn.Embedding(N, 5)},
    ),
    (rf"one-hot vectors of {N}\); received embedding=None", GRU, {"embedding": None}),
    ("without max_norm .*received .*max_norm=1.0", GRU, {"embedding": nn.Embedding(N, 6, max_norm=1.0)}),
    ("2 layers, and no input leaves them all", nn.GRU(6, 9, 2), {}),
    ("received start='é'", GRU, {"start": "é"}),
    (f"name three of the {N} characters.* start={N}", GRU, {"start": N}),
    ("its index, counted from 0; received start=None, end=None and unknown=-1", GRU, {"unknown": -1}),
    ("received start=3, end=None and unknown=3", GRU, {"start": 3, "unknown": 3}),
    *(
        (f"entry 0 of the characters is {entry!r}", GRU, {"characters": [entry, *CHARACTERS[1:]]})
        for entry in ("th", "<unk>", "[UNK]", "eat", 7)
    ),
    ("'e' twice", GRU, {"characters": ["e", "e", *CHARACTERS[2:]]}),
    *(("unknown_gap is a number of nats", GRU, {"unknown_gap": gap}) for gap in (0.0, -1.0, math.inf)),
]
FUNCTIONS: list[tuple[str, dict[str, Any]]] = [
    ("state names the parts .* received no parts", {"state": {}}),
    ("state is a mapping; received Tensor", {"state": torch.zeros(3)}),
    (r"\(units,\) or \(1, units\) each.* received h \(2, 14\)", {"state": {"h": torch.zeros(2, N)}}),
    (r"parts g \(1, 14\) those .* received h \(1, 14\)", {"state": {"g": torch.zeros(N)}}),
    (r"received h \(1, 14\)$", {"state": {"h": torch.zeros(N), "g": torch.zeros(N)}}),
    (r"parts h \(1, 3\) those .* received h \(1, 14\)", {"state": {"h": torch.zeros(3)}}),
    (r"returns \(outputs, state\): .* received Tensor", {"step": lambda ids, state: state["h"]}),
    ("received tuple", {"step": lambda ids, state: (state["h"], state["h"])}),
    (r"received h \(1, 14\), g \(\)$", {"step": lambda ids, state: gated(ids, state, torch.tensor(1.0))}),
    (r"received h \(1, 14\), g \(3,\)$", {"step": lambda ids, state: gated(ids, state, torch.zeros(3))}),
    ("gives NaN: its weights", {"step": lambda ids, state: gated(ids, state, state["h"] * math.nan)}),
    ("gives NaN: its weights", {"readout": lambda h: h * math.nan}),
    ("are not part of its state", {"step": lambda ids, state: (2 * state["h"] + 1, echo(ids, state)[1])}),
    ("are not part of its state", {"step": lambda ids, state: (state["h"][0], echo(ids, state)[1])}),
    ("when it read the same again.* call its eval", {"step": dropping}),
    ("when it read the same again", {"readout": lambda h: F.dropout(h + 1)}),
    ("a row for each of B texts", {"step": lambda ids, state: echo(ids.item() + 0 * ids, state)}),
    ("no row may change another", {"step": lambda ids, state: echo(ids.flip(0), state)}),
    ("two texts side by side", {"readout": lambda h: h * h.sum()}),
    (rf"a number for each of the {N} characters, .* \(1, 3\)", {"readout": lambda h: h[:, :3]}),
    ("readout is a function or None; received 'output'", {"readout": "output"}),
    ("step is a function or a list; received 3", {"step": 3}),
    ("a list of functions, one for each layer.* received step=list", {"step": []}),
    ("unknown_gap is a number", {"unknown_gap": math.nan}),
    (r"differs from check: after '.' its log P of '.'", {"check": lambda ids: np.zeros((len(ids), N))}),
    (
        rf"a row of {N} logits after each of its 40 symbols; .* \(40, 3\)",
        {"check": lambda ids: np.zeros((40, 3))},
    ),
    (r"logits after each of its 40 symbols; received shape \(\)", {"check": lambda ids: None}),
    ("a text or a list of characters; received bytes", {"characters": b"eat"}),
]
WEIGHTLESS: list[tuple[Callable[[Path], Any], str]] = [
    (lambda tmp: rnnviz.save(CUSTOM_MODEL, tmp / "own.safetensors"), "Python function can't be saved"),
    (lambda _: rnnviz.gradients.connectivity(CUSTOM_MODEL, "eat"), "follow from a network's weights"),
    (lambda _: rnnviz.gradients.attribute(CUSTOM_MODEL, "eat"), "follow from a network's weights"),
    (lambda _: units.untrained(CUSTOM_MODEL), "no weights to draw"),
    (lambda _: pushes(CUSTOM_MODEL, 0), "give an nn.Linear"),
    (lambda _: units.gates(rnnviz.trace(CUSTOM_MODEL, "eat")), "this network has custom cells"),
    (lambda _: compress(CUSTOM_MODEL, "eat"), "use another model"),
]
COPIES: list[tuple[Any, str]] = [
    (partial(long_memory, hidden=6), r"of 'adapted': 1 × 8 and 4; received 1 × 6 and 4"),
    (partial(long_memory, letters="abc"), r"received 1 × 8 and 3"),
    (lambda seed: nn.GRU(4, 8), r"a model is what rnnviz.load or rnnviz.adapt gives; received"),
]


def wrapped(rnn: nn.Module, options: dict[str, Any]) -> Any:
    arguments = {"output": nn.Linear(9, N), "characters": CHARACTERS, "embedding": nn.Embedding(N, 6)}
    return rnnviz.adapt(rnn, **{**arguments, **options})


def of_function(options: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    arguments = {
        "step": echo,
        "readout": lambda h: h,
        "state": {"h": torch.zeros(N)},
        "characters": CHARACTERS,
    }
    return rnnviz.adapt_step(**{**arguments, **options})


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    **{
        f"layers {n}: {words}": (
            lambda _, rnn=rnn, options=options: wrapped(rnn, options),
            ConfigError,
            words,
        )
        for n, (words, rnn, options) in enumerate(LAYERS)
    },
    **{
        f"a function: {words}": (lambda _, options=options: of_function(options), ConfigError, words)
        for words, options in FUNCTIONS
    },
    **{
        f"without weights {n}: {words}": (ask, ConfigError, words)
        for n, (ask, words) in enumerate(WEIGHTLESS)
    },
    "another vocabulary": (
        lambda _: CharModel(ModelConfig("gru", 12), LETTERS),
        ConfigError,
        "the configuration says 12 symbols and the vocabulary has 9",
    ),
    **{
        f"inputs {shape}": (
            lambda _, shape=shape: random_network("gru")(torch.zeros(shape, dtype=torch.int64)),
            ConfigError,
            r"inputs must be \(B, T\) integers with T >= 1; received shape",
        )
        for shape in ((3,), (2, 0), (1, 2, 3))
    },
    **{
        f"device {device}": (
            lambda _, device=device: pick_device(device),
            ConfigError,
            f"device '{device}' can't be used here .*; use cpu",
        )
        for device in ("abacus", "cuda:99")
    },
    "a model's device": (lambda _: rnnviz.load("timemachine-gru", device="nonsense"), ConfigError, "use cpu"),
    **{
        f"the device of {name}": (
            lambda _, call=call: call(replace(SMALL, precision="auto"), CORPUS, device="nonsense"),
            ConfigError,
            "use cpu",
        )
        for name, call in {
            "fit": rnnviz.fit,
            "train": lambda *arguments, **named: next(rnnviz.train(*arguments, **named)),
            "a trial": speed_trial.find_fastest_settings,
        }.items()
    },
    **{
        f"an untrained copy: {words}": (
            lambda _, fresh=fresh: units.untrained(long_memory(0), 1, fresh=fresh),
            ConfigError,
            words,
        )
        for fresh, words in COPIES
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_says_what_is_wrong(case: str, tmp_path: Path) -> None:
    assert_refused(*REFUSED[case], tmp_path)
