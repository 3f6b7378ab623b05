"""A wrapped network predicts what it predicted, from its own layers and from a state dict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError

CHARACTERS = list("eat ofshn\n,xT世")  # in the order of somebody else's vocabulary
TEXT = "The fox\neats 世, no hat on ,,the fence of ten"
ASCII = "".join(c for c in TEXT if c in CHARACTERS)


def network(kind: type[nn.RNNBase], n: int, *, embedding: bool = True, **options: Any) -> nn.ModuleDict:
    """A network with weights large enough that its states vary, its two biases unequal."""
    torch.manual_seed(5)
    H, X = 9, 6 if embedding else n
    parts: dict[str, nn.Module] = {"rnn": kind(X, H, **options), "decoder": nn.Linear(H, n)}
    if embedding:
        parts["encoder"] = nn.Embedding(n, X)
    made = nn.ModuleDict(parts)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(1 if options.get("nonlinearity") == "relu" else 2)  # a relu's would grow for ever
    return made.eval()


def run_alone(parts: nn.ModuleDict, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """H (n, L, H) after each of `ids`, and log P (n + 1, V'), by the network itself from its zero state."""
    rnn, states, logits = parts["rnn"], [], [parts["decoder"](torch.zeros(1, 9))[0]]
    state = None
    with torch.no_grad():
        for symbol in ids:
            if "encoder" in parts:
                x = parts["encoder"](torch.tensor([[symbol]]))
            else:
                x = nn.functional.one_hot(torch.tensor([[symbol]]), rnn.input_size).float()
            out, state = rnn(x, state)  # one sequence of one character: the same with batch_first and without
            logits.append(parts["decoder"](out[0, 0]))
            states.append((state[0] if isinstance(state, tuple) else state)[:, 0].numpy())
    return np.stack(states), torch.log_softmax(torch.stack(logits), dim=1).detach().numpy()


@pytest.mark.parametrize("embedding", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("kind", "more"), [
    (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu"}), (nn.GRU, {}), (nn.LSTM, {}),
], ids=str)  # fmt: skip
def test_a_wrapped_network_is_the_network(
    kind: type[nn.RNNBase], more: dict[str, Any], first: bool, bias: bool, embedding: bool
) -> None:
    parts = network(kind, len(CHARACTERS), embedding=embedding, bias=bias, batch_first=first, **more)
    encoder = parts["encoder"] if embedding else None
    model = rnnviz.adapt(parts["rnn"], parts["decoder"], CHARACTERS, embedding=encoder)  # type: ignore[arg-type]
    ids = [CHARACTERS.index(c) for c in ASCII]
    states, log_probs = run_alone(parts, ids)
    traced = rnnviz.trace(model, ASCII)
    scale = np.maximum(1, np.abs(states))
    assert (np.abs(traced.hidden - states) / scale).max() < 1e-6
    own = [model.vocabulary.encode(c)[0] for c in CHARACTERS]
    np.testing.assert_allclose(traced.log_probs[:, own], log_probs, rtol=2e-6, atol=2e-6)
    with torch.no_grad():
        logits, _ = model(torch.from_numpy(np.concatenate([[model.vocabulary.start], traced.ids]))[None])
    np.testing.assert_allclose(
        torch.log_softmax(logits[0], dim=1)[:, own].numpy(), log_probs, rtol=2e-6, atol=2e-6
    )


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_with_a_start_it_is_the_network_after_that_character(kind: type[nn.RNNBase], layers: int) -> None:
    parts = network(kind, len(CHARACTERS), num_layers=layers)
    model = rnnviz.adapt(
        parts["rnn"], parts["decoder"], CHARACTERS, embedding=parts["encoder"], start="\n"  # type: ignore[arg-type]
    )  # fmt: skip
    ids = [CHARACTERS.index(c) for c in "\n" + ASCII]
    states, log_probs = run_alone(parts, ids)
    traced = rnnviz.trace(model, ASCII)
    np.testing.assert_allclose(traced._states, states, atol=1e-6)
    own = [model.vocabulary.encode(c)[0] for c in CHARACTERS]
    np.testing.assert_allclose(traced.log_probs[:, own], log_probs[1:], rtol=2e-6, atol=2e-6)
    report = rnnviz.perplexity(model, text=ASCII)
    cost = -log_probs[np.arange(len(ASCII)) + 1, ids[1:]].mean()
    assert report.perplexity == pytest.approx(math.exp(cost), rel=1e-5)


def test_a_networks_own_symbols_for_start_and_unknown() -> None:
    entries = ["<pad>", *CHARACTERS, "<unk>"]
    parts = network(nn.GRU, len(entries), num_layers=2)
    model = rnnviz.adapt(
        parts["rnn"], parts["decoder"], entries, embedding=parts["encoder"], start=0, unknown=len(entries) - 1  # type: ignore[arg-type]
    )  # fmt: skip
    ids = [0, *(entries.index(c) if c in entries else len(entries) - 1 for c in TEXT)]
    states, log_probs = run_alone(parts, ids)
    traced = rnnviz.trace(model, TEXT)
    np.testing.assert_allclose(traced._states, states, atol=1e-6)
    own = [0, *(model.vocabulary.encode(c)[0] for c in CHARACTERS)]
    # Given that something other than <pad> comes.
    theirs = log_probs[1:, [len(entries) - 1, *range(1, len(entries) - 1)]]
    theirs = theirs - np.log(np.exp(theirs.astype(float)).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(traced.log_probs[:, own], theirs, rtol=2e-6, atol=2e-6)


def test_an_unknown_character_is_read_as_the_mean_and_hardly_expected() -> None:
    parts = network(nn.GRU, len(CHARACTERS))
    layers = parts["rnn"], parts["decoder"]
    model = rnnviz.adapt(*layers, CHARACTERS, embedding=parts["encoder"])  # type: ignore[arg-type]
    traced = rnnviz.trace(model, "eat?")
    assert not traced.known[3]
    assert traced.log_probs[:, 0].max() < -20 - math.log(len(CHARACTERS)) + 1e-3
    assert np.isfinite(traced.nll).all()
    with torch.no_grad():
        x = parts["encoder"](torch.tensor([[CHARACTERS.index(c) for c in "eat"]]))
        x = torch.cat([x, parts["encoder"].weight.mean(dim=0).view(1, 1, -1)], dim=1)
        out, _ = parts["rnn"](x.transpose(0, 1))
    np.testing.assert_allclose(traced.hidden[-1, 0], out[-1, 0], atol=1e-6)
    far = rnnviz.adapt(*layers, CHARACTERS, embedding=parts["encoder"], unknown_gap=40.0)  # type: ignore[arg-type]
    assert rnnviz.trace(far, "eat?").nll[3] == pytest.approx(traced.nll[3] + 20, abs=1e-3)


def test_a_state_dict_is_the_module() -> None:
    parts = network(nn.LSTM, len(CHARACTERS))
    keys = {"embedding": "encoder", "recurrence": "rnn", "output": "decoder"}
    state = {**parts.state_dict(), "something.else": torch.zeros(3)}
    one = rnnviz.adapt_state_dict(state, CHARACTERS, keys=keys)
    other = rnnviz.adapt(parts["rnn"], parts["decoder"], CHARACTERS, embedding=parts["encoder"])  # type: ignore[arg-type]
    np.testing.assert_array_equal(rnnviz.trace(one, ASCII).nll, rnnviz.trace(other, ASCII).nll)
    assert one.config == other.config
    relu = network(nn.RNN, len(CHARACTERS), nonlinearity="relu", embedding=False)
    made = rnnviz.adapt_state_dict(
        relu.state_dict(), CHARACTERS, keys={"output": "decoder"}, activation="relu"
    )
    np.testing.assert_allclose(
        rnnviz.trace(made, ASCII).hidden, run_alone(relu, [CHARACTERS.index(c) for c in ASCII])[0], rtol=1e-5
    )


def test_everything_else_works_on_a_wrapped_network(tmp_path: Path) -> None:
    parts = network(nn.GRU, len(CHARACTERS))
    model = rnnviz.adapt(
        parts["rnn"], parts["decoder"], CHARACTERS, embedding=parts["encoder"], name="theirs"
    )  # type: ignore[arg-type]
    text = ASCII * 10
    assert units.search(rnnviz.trace(model, text), units.target("vowel", text)).best
    assert len(units.run(units.ablate(model, ASCII)).loss) == 9
    assert units.run(units.scan(model, text=text))[0, 1].top
    assert units.perturb(model, ASCII, 3, "x").distance[3:].all()
    assert len(rnnviz.sample(model, "The", 30, seed=1)) == 30
    assert "\ufffd" not in rnnviz.sample(model, "The", 30, seed=1)
    rnnviz.save(model, tmp_path / "theirs.safetensors")
    loaded = rnnviz.load(tmp_path / "theirs.safetensors")
    np.testing.assert_array_equal(rnnviz.trace(loaded, text).nll, rnnviz.trace(model, text).nll)  # type: ignore[arg-type]


def test_what_is_wrapped_is_a_copy() -> None:
    parts = network(nn.GRU, len(CHARACTERS))
    model = rnnviz.adapt(parts["rnn"], parts["decoder"], CHARACTERS, embedding=parts["encoder"])  # type: ignore[arg-type]
    before = rnnviz.trace(model, ASCII).nll.copy()
    with torch.no_grad():
        for parameter in parts.parameters():
            parameter.zero_()
    np.testing.assert_array_equal(rnnviz.trace(model, ASCII).nll, before)


def refused(message: str, rnn: nn.Module, **options: Any) -> None:
    n = len(CHARACTERS)
    options = {
        "output": nn.Linear(9, n),
        "characters": CHARACTERS,
        "embedding": nn.Embedding(n, 6),
        **options,
    }
    with pytest.raises(ConfigError, match=message):
        rnnviz.adapt(rnn, **options)


def test_what_no_model_can_be_is_refused() -> None:
    n, gru = len(CHARACTERS), nn.GRU(6, 9)
    refused("bidirectional", nn.GRU(6, 9, bidirectional=True))
    refused("dropout of 0.5 .* set its `dropout` to 0", nn.GRU(6, 9, 2, dropout=0.5))
    refused("proj_size", nn.LSTM(6, 9, proj_size=3))
    refused("received Linear", nn.Linear(6, 9))
    refused("received GRUCell", nn.GRUCell(6, 9))
    refused("the output layer is an nn.Linear; received Bilinear", gru, output=nn.Bilinear(9, 9, n))
    refused(
        rf"output.weight has a row for each of the {n} .* received \({n}, 8\)", gru, output=nn.Linear(8, n)
    )
    refused(rf"a row for each of the {n} .* received \({n + 1}, 9\)", gru, output=nn.Linear(9, n + 1))
    refused("embedding.weight has a row", gru, embedding=nn.Embedding(n + 1, 6))
    refused("reads 6 numbers and has 5 from the embedding", gru, embedding=nn.Embedding(n, 5))
    refused(f"reads 6 numbers and has {n} from one-hot", gru, embedding=None)
    refused("without max_norm", gru, embedding=nn.Embedding(n, 6, max_norm=1.0))
    refused("2 layers, and no input leaves them all", nn.GRU(6, 9, 2))
    refused("'é' is not among the", gru, start="é")
    refused("start is an index from 0", gru, start=n)
    refused("unknown is an index from 0", gru, unknown=-1)
    refused("two symbols; received 3 twice", gru, start=3, unknown=3)
    refused("entry 0 of the characters is '<pad>'", gru, characters=["<pad>", *CHARACTERS[1:]])
    refused("'e' twice", gru, characters=["e", "e", *CHARACTERS[2:]])
    for gap in (0.0, -1.0, math.inf):
        refused("unknown_gap is a number of nats above 0", gru, unknown_gap=gap)


def test_a_state_dict_that_lacks_something_says_what() -> None:
    parts = network(nn.GRU, len(CHARACTERS))
    state = dict(parts.state_dict())
    names = {"embedding": "encoder", "output": "decoder"}
    with pytest.raises(ConfigError, match=r"no lstm\.weight_ih_l0 with lstm\.weight_hh_l0"):
        rnnviz.adapt_state_dict(state, CHARACTERS, keys={**names, "recurrence": "lstm"})
    with pytest.raises(ConfigError, match=r"head\.weight has .* received none"):
        rnnviz.adapt_state_dict(state, CHARACTERS, keys={**names, "output": "head"})
    with pytest.raises(ConfigError, match="keys are embedding, recurrence, output; received 'decoder'"):
        rnnviz.adapt_state_dict(state, CHARACTERS, keys={"decoder": "decoder"})
    for shape in ((20, 9), (18, 9)):
        broken = {**state, "rnn.weight_hh_l0": torch.zeros(shape)}
        with pytest.raises(ConfigError, match="no rnn's, gru's or lstm's"):
            rnnviz.adapt_state_dict(broken, CHARACTERS, keys=names)
    uneven = {**state, "rnn.bias_ih_l0": torch.zeros(5)}
    with pytest.raises(ConfigError, match=r"rnn\.bias_ih_l0 .* \(27,\); received \(5,\)"):
        rnnviz.adapt_state_dict(uneven, CHARACTERS, keys=names)


def test_all_of_it_is_exported() -> None:
    assert rnnviz.units is units
    for name in units.__all__:
        assert (getattr(units, name).__doc__ or "").strip()
