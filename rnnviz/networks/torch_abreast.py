"""Texts read abreast by torch, on any device: see `rnnviz.networks.abreast`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.networks import bptt, prediction
from rnnviz.networks.abreast import LOGITS
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_model import weights_of
from rnnviz.networks.prediction import Scores
from rnnviz.networks.short_texts import ShortTexts
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.text_scorer import CharScorer
from rnnviz.networks.threads import Threads, worth_trying
from rnnviz.networks.torch_network import State, TorchNetwork


def char_scorer(model: TorchNetwork) -> CharScorer:
    """A reader at the start of a text. Short pieces go step by step: on a CPU in numpy, which is faster than
    torch's fused layers except an LSTM's; a linear recurrence takes all steps at once (`scan`).
    """
    kind = CELLS[model.config.cell]
    steps = model.device.type == "cpu" and model.config.cell != "lstm" and not kind.linear
    abreast = TorchAbreast(model)
    with abreast.threads.piece():  # see `_unrolled`
        reader = NetworkReader(weights_of(model)) if steps else None
    return CharScorer(abreast, model.vocabulary.start, reader, wide=kind.mixes)


def short_texts(model: TorchNetwork) -> ShortTexts:
    """A reader of many short texts side by side."""
    return ShortTexts(TorchAbreast(model), model.vocabulary.start, lambda: char_scorer(model))


class TorchAbreast:
    """See `Abreast`; a state is of tensors where the model is."""

    def __init__(self, model: TorchNetwork) -> None:
        self.model, self.size = model, model.config.vocabulary_size
        self.threads = Threads(worth_trying(model.device.type))
        self._alone = Threads(self.threads.counts)  # of one text in sequence, which has another pace
        quick = bptt.suits(model.config, model.readout.bias)
        with self.threads.piece():  # so little work that others would take longer to come
            self._read = self._unrolled() if quick else self._through_layers

    @contextmanager
    def piece(self, size: int | None = None) -> Iterator[None]:
        """Compute inside, `size` characters; None: don't time it."""
        with torch.inference_mode(), self.threads.piece(size):
            yield

    def zeros(self, rows: int) -> State:
        """The state before a text, `rows` times."""
        return self.model.zero_state(rows)

    def ids(self, ids: Ids) -> Tensor:
        """`ids` where the model is."""
        return torch.from_numpy(np.ascontiguousarray(ids)).to(self.model.device)

    def read(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """The top layer's H (B, T, H) after each of the inputs (B, T), and the state after the last."""
        return self._read(inputs, state)

    def scores(self, top: Tensor, targets: Tensor, *, want: bool) -> Scores:
        """The Scores of `targets` (B, T), (B·T,), given H (B, T, H); `want` fills in rank and entropy."""
        h, came = top.flatten(0, 1), targets.flatten()  # (B·T, H), (B·T,)
        step = max(1, LOGITS // self.size)
        return Scores.joined(
            [self._block(h[n : n + step], came[n : n + step], want) for n in range(0, len(h), step)]
        )

    def predictions(self, top: Tensor) -> Doubles:
        """log P (B, T, V) of every symbol, given H (B, T, H)."""
        out = np.empty((*top.shape[:2], self.size))
        step = max(1, LOGITS // out[:, 0].size)
        for begin in range(0, out.shape[1], step):
            here = slice(begin, begin + step)
            logits = F.linear(top[:, here], self.model.readout_weight, self.model.readout.bias).float()
            out[:, here] = F.log_softmax(logits, dim=-1).cpu().numpy()
        return out

    def in_sequence(self, inputs: Ids, state: State) -> tuple[Floats, Doubles, State]:
        """Log-probabilities and the logs of their sums, after each of `inputs` (n,), and the last state."""
        with torch.inference_mode(), self._alone.piece(len(inputs)):
            out, state = self.model(self.ids(inputs)[None], state)
            logits = out[0].float()
            logits -= logits.amax(dim=1, keepdim=True)
            log_sum = logits.exp().sum(dim=1, dtype=torch.float64).log()
        return logits.cpu().numpy(), log_sum.cpu().numpy(), state

    def joined(self, parts: Sequence[Tensor]) -> Tensor:
        """Parts of states (L, B, H) with their rows one after another: a copy."""
        return torch.cat(list(parts), dim=1)

    def arrays(self, state: State) -> tuple[Floats, ...]:
        """A state as arrays."""
        return tuple(part.cpu().numpy() for part in state)

    def state(self, arrays: tuple[Floats, ...]) -> State:
        """The other way round."""
        return tuple(torch.tensor(part, device=self.model.device) for part in arrays)

    def _block(self, h: Tensor, targets: Tensor, want: bool) -> Scores:
        logits = F.linear(h, self.model.readout_weight, self.model.readout.bias).float()
        log_p = -F.cross_entropy(logits, targets, reduction="none").double().cpu().numpy()
        if not want:
            return Scores.unranked(log_p)
        table, came = logits.cpu().numpy(), targets.cpu().numpy()
        return Scores(log_p, prediction.rank(table, came), prediction.entropy(table))

    def _through_layers(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        return self.model.hidden(self.model.embed(inputs), state)

    def _unrolled(self) -> Callable[[Tensor, State], tuple[Tensor, State]]:
        """Step by step on a CPU, with each symbol's part of the first layer looked up."""
        with torch.inference_mode():
            layers = bptt.layers(self.model.config, self.model)
            first = layers[0]
            if self.model.embedding is None:
                table = first.w_x.T + first.b
            else:
                table = F.linear(self.model.embedding.weight, first.w_x, first.b)

        def read(inputs: Tensor, state: State) -> tuple[Tensor, State]:
            h, last = bptt.states(layers, bptt.Rows(table, inputs.T), state)
            return h.transpose(0, 1), last

        return read
