"""A wrapped network predicts what it predicted."""

import math
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.lab.engines.torch_model import CharModel
from tests.support.closeness import assert_states
from tests.support.foreign_networks import CHARACTERS, N, adapted, layers_of

TEXT = "The fox\neats 世, no hat on ,,the fence of ten"
ASCII = "".join(c for c in TEXT if c in CHARACTERS)


def run_alone(parts: nn.ModuleDict, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The top layer's H (n, H) after each of `ids`, and log P (n + 1, V'), by the network itself from its
    zero state.
    """
    with torch.no_grad():
        read = torch.tensor(ids)
        one_hot = nn.functional.one_hot(read, len(parts["decoder"].bias)).float()  # type: ignore[arg-type]
        top, _ = parts["rnn"](parts["encoder"](read) if "encoder" in parts else one_hot)
        logits = parts["decoder"](torch.cat([torch.zeros(1, 9), top]))
    return top.numpy(), torch.log_softmax(logits, dim=1).numpy()


def indices(text: str, entries: Sequence[str] = CHARACTERS) -> list[int]:
    """A text in somebody else's vocabulary, whose last entry is the unknown symbol."""
    return [entries.index(c) if c in entries else len(entries) - 1 for c in text]


def same(
    parts: nn.ModuleDict, read: Sequence[int] = (), entries: Sequence[str] = CHARACTERS, **options: Any
) -> CharModel:
    """Adapted, it reads and predicts as alone after `read`, given that one of its symbols comes."""
    model, text = adapted(parts, entries, **options), TEXT if "unknown" in options else ASCII
    states, log_probs = run_alone(parts, [*read, *indices(text, entries)])
    traced = rnnviz.trace(model, text)
    np.testing.assert_allclose(traced.hidden[:, -1], states[len(read) :], rtol=1e-6, atol=1e-6)
    columns = [options.get("unknown", 0), *map(entries.index, model.vocabulary.characters)]
    predicted = slice(0 if "unknown" in options else 1, None)
    theirs = log_probs[len(read) :, columns[predicted]].astype(float)
    theirs -= np.log(np.exp(theirs).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(traced.log_probs[:, predicted], theirs, rtol=2e-6, atol=2e-6)
    return model


@pytest.mark.parametrize("embedding", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("kind", "options"), [
    (nn.RNN, {}), (nn.RNN, {"nonlinearity": "relu"}), (nn.GRU, {}), (nn.LSTM, {}),
], ids=str)  # fmt: skip
def test_a_wrapped_network_is_the_network(
    kind: type[nn.RNNBase], options: dict[str, Any], first: bool, bias: bool, embedding: bool
) -> None:
    same(layers_of(kind, N, embedding=embedding, bias=bias, batch_first=first, **options))


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_start_character_is_read_first(kind: type[nn.RNNBase], layers: int) -> None:
    same(layers_of(kind, N, num_layers=layers), indices("\n"), start="\n")


def test_a_networks_own_symbols_for_start_and_unknown() -> None:
    entries = ["<pad>", *CHARACTERS, "<unk>"]
    same(layers_of(nn.GRU, N + 2, num_layers=2), [0], entries, start=0, unknown=N + 1)


def test_an_unknown_character_is_read_as_the_mean_and_hardly_expected() -> None:
    parts = layers_of(nn.GRU, N)
    traced = rnnviz.trace(adapted(parts), "eat?")
    assert not traced.known[3]
    assert traced.log_probs[:, 0].max() < -20 - math.log(len(CHARACTERS)) + 1e-3
    with torch.no_grad():
        x = parts["encoder"](torch.tensor([indices("eat")]))
        x = torch.cat([x, parts["encoder"].weight.mean(dim=0).view(1, 1, -1)], dim=1)
        out, _ = parts["rnn"](x.transpose(0, 1))
    np.testing.assert_allclose(traced.hidden[-1, 0], out[-1, 0], atol=1e-6)
    distant = rnnviz.trace(adapted(parts, unknown_gap=40.0), "eat?")
    assert distant.nll[3] == pytest.approx(traced.nll[3] + 20, abs=1e-3)


class Own(nn.Module):
    """Somebody's network as it stands after training, its dropout at work."""

    def __init__(self) -> None:
        super().__init__()
        # Without dropout, between the layers too, are both what adapts them and the check.
        self.encoder, self.rnn = nn.Embedding(N, 6), nn.GRU(6, 9, 2, dropout=0.9)
        self.decoder, self.dropout = nn.Linear(9, N), nn.Dropout(0.5)

    def forward(self, ids: torch.Tensor) -> Any:
        return self.decoder(self.dropout(self.rnn(self.encoder(ids))[0]))


def test_module_with_dropout_checks_itself_in_eval() -> None:
    theirs = Own()
    theirs.encoder.eval()
    options: dict[str, Any] = {"embedding": theirs.encoder, "start": "\n"}
    rnnviz.adapt(theirs.rnn, theirs.decoder, CHARACTERS, check=theirs, **options)
    assert (theirs.training, theirs.dropout.training, theirs.encoder.training) == (True, True, False)
    another = Own()
    with pytest.raises(ConfigError, match="the adapted network differs"):
        rnnviz.adapt(theirs.rnn, theirs.decoder, CHARACTERS, check=another, **options)


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_projections_are_multiplied_into_what_reads_them(layers: int) -> None:
    torch.manual_seed(2)
    rnn = nn.LSTM(6, 9, layers, proj_size=4, dropout=0.5 if layers > 1 else 0.0).eval()
    decoder, encoder = nn.Linear(4, N), nn.Embedding(N, 6)
    with torch.no_grad():
        for parameter in rnn.parameters():
            parameter.mul_(4)

    def alone(ids: list[int]) -> torch.Tensor:
        return decoder(rnn(encoder(torch.tensor(ids)))[0])  # type: ignore[no-any-return]

    model = rnnviz.adapt(rnn, decoder, CHARACTERS, embedding=encoder, start="\n", check=alone)
    traced = rnnviz.trace(model, ASCII)
    with torch.no_grad():
        out, _ = rnn(encoder(torch.tensor(indices("\n" + ASCII))))
    projected = traced.hidden[:, -1] @ getattr(rnn, f"weight_hr_l{layers - 1}").detach().numpy().T
    np.testing.assert_allclose(projected, out[1:], atol=1e-5)


def test_padding_is_no_character() -> None:
    """An embedding may have a row for it that the output lacks."""
    parts = layers_of(nn.LSTM, N)
    rows, padding = parts["encoder"].weight.detach(), torch.ones(1, 6)
    wide = nn.Embedding.from_pretrained(torch.cat([rows[:3], padding, rows[3:]]), padding_idx=3)
    adapted_wide = rnnviz.adapt(parts["rnn"], parts["decoder"], CHARACTERS, embedding=wide)  # type: ignore[call-overload]
    assert_states(rnnviz.trace(adapted_wide, ASCII).nll, rnnviz.trace(adapted(parts), ASCII).nll)


def test_a_check_is_of_the_networks_own_predictions() -> None:
    entries = ["<pad>", *CHARACTERS, "<unk>"]
    parts = layers_of(nn.GRU, N + 2, num_layers=2)

    def checked(check: Any) -> CharModel:
        return adapted(parts, entries, check=check, start=0, unknown=N + 1)

    checked(lambda ids: run_alone(parts, ids)[1][None, 1:])
    checked(lambda ids: run_alone(parts, ids)[1][1:] + 3.0)  # logits
    with pytest.raises(ConfigError, match="network differs from check: after '' its log P"):
        checked(lambda ids: 0.99 * run_alone(parts, ids)[1][1:])


def test_refusal_names_first_difference_from_check() -> None:
    parts = layers_of(nn.GRU, N)

    def late(ids: list[int]) -> np.ndarray:
        _, log_probs = run_alone(parts, ids)
        log_probs[8, 3] += 1.0
        return log_probs[1:]

    read = np.random.default_rng(0).integers(0, N, 8)
    text = "".join(sorted(CHARACTERS)[n] for n in read)
    with pytest.raises(ConfigError) as caught:
        adapted(parts, check=late)
    message = str(caught.value)
    assert f"after {text!r} its log P of {CHARACTERS[3]!r} is" in message
    ours, theirs = map(float, re.findall(r"-\d+\.\d+", message))
    assert theirs > ours


def test_adapted_weights_are_copies() -> None:
    parts = layers_of(nn.GRU, N)
    model = adapted(parts)
    before = rnnviz.trace(model, ASCII).nll.copy()
    with torch.no_grad():
        for parameter in parts.parameters():
            parameter.zero_()
    assert_states(rnnviz.trace(model, ASCII).nll, before)


class Batched(nn.Module):
    """Reads (B, T), or (T, B), alone, from a state of its own, and returns what it likes."""

    def __init__(self, parts: nn.ModuleDict, first: bool, returned: Any) -> None:
        super().__init__()
        self.parts, self.first, self.returned = parts, first, returned

    def forward(self, ids: torch.Tensor) -> Any:
        B = ids.shape[0 if self.first else 1]
        if ids.ndim == 1:
            raise IndexError("a batch of texts")
        start = torch.zeros(1, B, 9)
        out, state = self.parts["rnn"](self.parts["encoder"](ids), start)
        return self.returned(self.parts["decoder"](out), state)


@pytest.mark.parametrize("returned", [
    lambda logits, state: logits, lambda logits, state: (logits, state),
    lambda logits, state: (logits.reshape(-1, N), (state, state)),
    lambda logits, state: SimpleNamespace(logits=logits),
], ids=["logits", "logits and state", "rows and state", "named"])  # fmt: skip
@pytest.mark.parametrize("first", [True, False])
def test_a_check_takes_what_a_network_of_torch_takes_and_returns(first: bool, returned: Any) -> None:
    parts = layers_of(nn.GRU, N, batch_first=first)
    alone = Batched(parts, first, returned)
    adapted(parts, check=alone)
    adapted(parts, check=lambda ids: alone(torch.tensor(ids).reshape((1, -1) if first else (-1, 1))))
    another = Batched(nn.ModuleDict({**parts, "decoder": nn.Linear(9, N)}), first, returned)
    with pytest.raises(ConfigError, match="the adapted network differs"):
        adapted(parts, check=another)


def test_check_without_indices_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"check can't read a tensor of indices, .*: .*'input2'; give a function"
    ):
        adapted(layers_of(nn.GRU, N), check=nn.Bilinear(2, 2, N))


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch.compile's own
@pytest.mark.parametrize("wrap", [
    nn.DataParallel, torch.compile, lambda module: nn.DataParallel(torch.compile(module)),
], ids=["DataParallel", "torch.compile", "both"])  # fmt: skip
def test_wrapped_modules_are_unwrapped(wrap: Any) -> None:
    parts = layers_of(nn.GRU, N)
    whole = Batched(parts, False, lambda logits, state: (logits, state))
    plain = rnnviz.trace(adapted(parts), ASCII)
    inside = {name: wrap(part) for name, part in parts.items()}
    model = rnnviz.adapt(
        inside["rnn"], inside["decoder"], CHARACTERS, embedding=inside["encoder"], check=wrap(whole)
    )
    np.testing.assert_array_equal(rnnviz.trace(model, ASCII).hidden, plain.hidden)
    with pytest.raises(ConfigError, match="received Batched; give a network's layers"):
        rnnviz.adapt(wrap(whole), parts["decoder"], CHARACTERS)  # type: ignore[call-overload]


@pytest.mark.parametrize("entry", [
    "<pad>", "</s>", "<s>", "<eos>", "[SEP]", "<|endoftext|>", "__go__", "<mask>", "EOS", "pad", "", None,
])  # fmt: skip
def test_an_entry_that_no_text_has_is_left_out_and_the_others_add_up_to_1(entry: Any) -> None:
    entries = [*CHARACTERS[:4], entry, *CHARACTERS[4:]]
    parts = layers_of(nn.LSTM, N + 1)
    model = same(parts, entries=entries)
    assert set(model.vocabulary.characters) == set(CHARACTERS)
    adapted(parts, entries, check=lambda ids: run_alone(parts, ids)[1][1:])


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("part", ["rnn", "decoder", "encoder"])
def test_weights_not_finite_are_refused(part: str, value: float) -> None:
    parts = layers_of(nn.GRU, N)
    with torch.no_grad():
        next(parts[part].parameters())[1, 2] = value
    with pytest.raises(ConfigError, match=r"tensor '.*weight.*' has values that are not finite"):
        adapted(parts)


@pytest.mark.parametrize(("start", "end"), [(".", "."), (None, "."), ("a", "</s>"), (0, 4)])
@pytest.mark.parametrize("by_step", [False, True])
def test_an_adapted_network_ends_its_texts(start: str | int | None, end: str | int, by_step: bool) -> None:
    entries = [".", "a", "b", "c", "</s>"]
    torch.manual_seed(3)
    layer, output = torch.nn.GRU(5, 8), torch.nn.Linear(8, 5)

    def step(ids: torch.Tensor, state: dict[str, torch.Tensor]) -> Any:
        _, h = layer(torch.nn.functional.one_hot(ids, 5).float()[None], state["h"][None])
        return h[0], {"h": h[0]}

    if by_step:
        model: Any = rnnviz.adapt_step(
            step, readout=output, state={"h": torch.zeros(8)}, characters=entries, start=start, end=end
        )
    else:
        model = rnnviz.adapt(layer, output, entries, start=start, end=end)
    assert model.vocabulary.by_line
    last = entries.index(end) if isinstance(end, str) else end
    first = entries.index(start) if isinstance(start, str) else start
    costs = []
    for text in ("bcb", "c"):  # the second from the beginning again
        read = [] if first is None else [first]
        for index in [*map(entries.index, text), last]:
            h = torch.zeros(8)
            if read:
                h = layer(torch.nn.functional.one_hot(torch.tensor(read), 5).float()[:, None])[1][0, 0]
            logits = output(h).detach().double()
            if last != 4:
                logits[4] = -torch.inf  # no text has it
            costs.append(-float(torch.log_softmax(logits, 0)[index]))
            read.append(index)
    np.testing.assert_allclose(rnnviz.trace(model, "bcb\nc\n").nll, costs, rtol=1e-3)
    with pytest.raises(ConfigError, match="start, end and unknown"):
        rnnviz.adapt(layer, output, entries, start=start, end=9)
