"""Weights of other programs, in their own order of gates, predict what those programs' formulas give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.networks import adapter_layouts

CHARACTERS = list("eat ofshn\n,xT世")
N, H, X = len(CHARACTERS), 9, 6
Arrays = dict[str, np.ndarray]
Step = Callable[[int, tuple[Any, ...]], tuple[Any, ...]]


def drawn(**shapes: tuple[int, ...]) -> Arrays:
    generator = np.random.default_rng(1)
    return {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def read(ids: list[int], step: Step, W: Any, b: Any) -> np.ndarray:
    """Logits after each symbol, of states whose first entry the output layer reads."""
    state: tuple[Any, ...] = (np.zeros(H), np.zeros(H))
    out = []
    for symbol in ids:
        state = step(symbol, state)
        out.append(state[0] @ W + b)
    return np.array(out)


def keras(kind: str) -> tuple[Arrays, Callable[[list[int]], np.ndarray]]:
    """A network of keras.layers Embedding, `kind` and Dense, named as Keras 3 names its weights."""
    G = {"lstm": 4, "gru": 3, "simple_rnn": 1}[kind]
    w = drawn(E=(N, X), W=(X, G * H), U=(H, G * H), b=(2, G * H), D=(H, N), d=(N,))
    b, cell = (w["b"] if kind == "gru" else w["b"][0]), f"sequential/{kind}/{kind}_cell"
    named = {
        "sequential/embedding/embeddings": w["E"],
        f"{cell}/kernel": w["W"],
        f"{cell}/recurrent_kernel": w["U"],
        f"{cell}/bias": b,
        "sequential/dense/kernel": w["D"],
        "sequential/dense/bias": w["d"],
    }

    def step(symbol: int, state: tuple[Any, ...]) -> tuple[Any, ...]:
        h, c = state
        x = w["E"][symbol].astype(float) @ w["W"]
        if kind == "simple_rnn":
            return np.tanh(x + h @ w["U"] + b), c
        if kind == "lstm":
            i, f, g, o = np.split(x + h @ w["U"] + b, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            return sigmoid(o) * np.tanh(c), c
        (xz, xr, xh), (hz, hr, hh) = np.split(x + b[0], 3), np.split(h @ w["U"] + b[1], 3)
        z, r = sigmoid(xz + hz), sigmoid(xr + hr)
        return z * h + (1 - z) * np.tanh(xh + r * hh), c

    return named, lambda ids: read(ids, step, w["D"], w["d"])


def char_rnn() -> tuple[Arrays, Callable[[list[int]], np.ndarray]]:
    """Karpathy's LSTM.lua with one layer: gates in the order in, forget, out, in-transform."""
    w = drawn(i=(4 * H, N), ib=(4 * H,), h=(4 * H, H), hb=(4 * H,), d=(N, H), db=(N,))
    names = ("i2h_1.weight", "i2h_1.bias", "h2h_1.weight", "h2h_1.bias", "decoder.weight", "decoder.bias")

    def step(symbol: int, state: tuple[Any, ...]) -> tuple[Any, ...]:
        h, c = state
        i, f, o, g = np.split(w["i"][:, symbol] + w["ib"] + w["h"] @ h + w["hb"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c

    return dict(zip(names, w.values(), strict=True)), lambda ids: read(ids, step, w["d"].T, w["db"])


def min_char_rnn() -> tuple[Arrays, Callable[[list[int]], np.ndarray]]:
    """Karpathy's gist."""
    w = drawn(Wxh=(H, N), Whh=(H, H), Why=(N, H), bh=(H, 1), by=(N, 1))

    def step(symbol: int, state: tuple[Any, ...]) -> tuple[Any, ...]:
        return np.tanh(w["Wxh"][:, symbol] + w["Whh"] @ state[0] + w["bh"][:, 0]), state[1]

    return w, lambda ids: read(ids, step, w["Why"].T, w["by"][:, 0])


MADE: dict[str, tuple[str, Callable[[], tuple[Arrays, Callable[[list[int]], np.ndarray]]]]] = {
    "keras lstm": ("keras", lambda: keras("lstm")),
    "keras gru": ("keras", lambda: keras("gru")),
    "keras rnn": ("keras", lambda: keras("simple_rnn")),
    "char-rnn": ("char-rnn", char_rnn),
    "min-char-rnn": ("min-char-rnn", min_char_rnn),
}


@pytest.mark.parametrize("which", MADE)
def test_another_programs_network_is_the_network(which: str) -> None:
    layout, make = MADE[which]
    named, network = make()
    model = rnnviz.adapt_state_dict(named, CHARACTERS, layout=layout, check=network)
    text = "the toes, a hat\non x"
    text = "".join(c for c in text if c in CHARACTERS)
    logits = network([CHARACTERS.index(c) for c in text])
    expected = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    ours = rnnviz.trace(model, text).log_probs[1:, model.vocabulary.encode("".join(CHARACTERS))]
    np.testing.assert_allclose(ours, expected, atol=2e-5)
    for key in named:  # nothing of it is left out, or taken for something else
        if key in ("h2h_1.weight", "Whh") or key.endswith("recurrent_kernel"):
            less: Any = {k: v for k, v in named.items() if k != key}
            with pytest.raises(ConfigError, match=f"in the layout {layout} is among"):
                rnnviz.adapt_state_dict(less, CHARACTERS, layout=layout)
    with pytest.raises(ConfigError, match=r"no place for: norm/gamma"):
        rnnviz.adapt_state_dict({**named, "norm/gamma": np.ones(H)}, CHARACTERS, layout=layout)


def test_a_networks_layers_are_in_their_order() -> None:
    named, _ = keras("lstm")
    cell = "sequential/lstm/lstm_cell"
    two = {k: v for k, v in named.items() if "dense" not in k}
    upper = drawn(W=(H, 4 * H), U=(H, 4 * H), b=(4 * H,))
    for name, values in zip(("kernel", "recurrent_kernel", "bias"), upper.values(), strict=True):
        two[f"sequential/lstm_1/lstm_cell/{name}:0"] = values
    two |= {k: v for k, v in named.items() if "dense" in k}
    found = rnnviz.adapt_state_dict(two, CHARACTERS, layout="keras", start="\n").state_dict()
    np.testing.assert_array_equal(found["recurrence.weight_hh_l0"].T, named[f"{cell}/recurrent_kernel"])
    np.testing.assert_array_equal(found["recurrence.weight_ih_l1"].T, upper["W"])


@pytest.mark.parametrize("swap", [(0, 1), (2, 3), (0, 3)])
def test_check_finds_gates_in_another_order(swap: tuple[int, int]) -> None:
    named, network = keras("lstm")
    order = list(range(4))
    order[swap[0]], order[swap[1]] = order[swap[1]], order[swap[0]]
    wrong = {
        k: np.concatenate([np.split(v, 4, axis=-1)[n] for n in order], axis=-1) if "lstm" in k else v
        for k, v in named.items()
    }
    with pytest.raises(ConfigError, match="the adapted network is another one: after"):
        rnnviz.adapt_state_dict(wrong, CHARACTERS, layout="keras", check=network)


def test_a_gru_that_resets_before_the_product_is_refused() -> None:
    named, _ = keras("gru")
    before = {k: v[0] if v.shape == (2, 3 * H) else v for k, v in named.items()}
    lua = {f"{k}_1.{kind}": torch.zeros(3 * H, *([H] if kind == "weight" else []))
           for k in ("i2h", "h2h") for kind in ("weight", "bias")}  # fmt: skip
    for state, layout in ((before, "keras"), (lua, "char-rnn")):
        with pytest.raises(ConfigError, match=r"give its step to adapt\(step=…\)"):
            rnnviz.adapt_state_dict(state, CHARACTERS, layout=layout)


def test_layouts_are_named() -> None:
    with pytest.raises(ConfigError, match="one of torch, char-rnn, min-char-rnn, keras; received 'jax'"):
        rnnviz.adapt_state_dict({}, CHARACTERS, layout="jax")
    with pytest.raises(ConfigError, match="in the layout keras leave it out"):
        rnnviz.adapt_state_dict({}, CHARACTERS, layout="keras", keys={"output": "dense"})
    assert all(name in (adapter_layouts.__doc__ or "") for name in adapter_layouts.LAYOUTS)
