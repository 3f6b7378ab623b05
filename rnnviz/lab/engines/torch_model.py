"""CharModel: a character-level recurrent language model on torch's fused layers.

    X_t = embedding of character t (or one-hot)          (B, T, X)
    H_t = one of the recurrences of `rnnviz.networks.cells`       (B, T, H), layer upon layer
    O_t = H_t W_hq + b_q                                 (B, T, V)
    P(x_{t+1} | x_1 .. x_t) = softmax(O_t)

Shape letters: T time steps, B batch, L layers, H hidden units, V vocabulary, X first-layer inputs.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from rnnviz.arrays import Array, Floats, Ids
from rnnviz.checks import received
from rnnviz.errors import ConfigError
from rnnviz.lab.engines import compiled, torch_engine
from rnnviz.lab.engines.dropout import Dropout, drop
from rnnviz.lab.engines.torch_engine import State as State
from rnnviz.lab.engines.torch_threads import TorchThreads, worth_trying
from rnnviz.networks.batched_scoring import CharScorer, NumpyEngine
from rnnviz.networks.batched_scoring import Engine as ScoringEngine
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import Engine, ModelConfig
from rnnviz.networks.numpy_engine import Weights, weights_from
from rnnviz.networks.threads import Threads
from rnnviz.reprs import Pictured
from rnnviz.text.vocabulary import Vocabulary, check_vocabulary

if TYPE_CHECKING:
    from rnnviz.networks.modelfile import Sketch


class CharModel(Pictured, nn.Module):
    """A character-level language model: embedding, L recurrent layers, readout; metadata as in `NgramModel`.

    Raises ConfigError if config and vocabulary disagree on V.

    >>> import rnnviz
    >>> import torch
    >>> model = CharModel(rnnviz.ModelConfig("gru", 4, 8), Vocabulary(("a", "b", "c")))
    >>> logits, (h,) = model(torch.tensor([[model.vocabulary.start, 1, 2]]))
    >>> logits.shape, h.shape  # (B, T, V) and (L, B, H)
    (torch.Size([1, 3, 4]), torch.Size([1, 1, 8]))
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        *,
        name: str = "",
        card: dict[str, Any] | None = None,
        normaliser: str = "newlines",
        sketch: Sketch | None = None,
    ) -> None:
        super().__init__()
        if not isinstance(config, ModelConfig):
            raise ConfigError(
                "a CharModel is made of a rnnviz.ModelConfig and a Vocabulary; received {received}",
                received=received(config),
            )
        check_vocabulary(vocabulary)
        if config.vocabulary_size != vocabulary.size:
            raise ConfigError(
                "the configuration says {vocabulary_size} symbols and the vocabulary has "
                "{size}; they must be equal",
                vocabulary_size=config.vocabulary_size,
                size=vocabulary.size,
            )
        self.config, self.vocabulary, self.name, self.normaliser = config, vocabulary, name, normaliser
        self.card: dict[str, Any] = dict(card or {})
        self.sketch = sketch
        self.engine: Engine = "auto"
        """The backward pass to use where it is available: "torch" or "numba"; "auto" is torch's."""
        h, v = config.hidden_size, config.vocabulary_size
        self.embedding = _embedding(v + 1, config.embedding_size) if config.embedding_size else None
        self.recurrence = torch_engine.layers_of(config)
        self.readout = nn.Linear(h, v)
        if config.tied and self.embedding is not None:
            nn.init.uniform_(self.embedding.weight, -0.1, 0.1)
            del self.readout.weight

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.readout.bias.device

    @property
    def device_name(self) -> str:
        """ "CPU", or the GPU's name."""
        kind = self.device.type
        return torch.cuda.get_device_name(self.device) if kind == "cuda" else kind.upper()

    @property
    def parameter_count(self) -> int:
        """See ModelConfig.parameter_count."""
        return self.config.parameter_count

    @property
    def readout_weight(self) -> Tensor:
        """W_hq transposed, (V, H), tied to the embedding or not."""
        if self.config.tied and self.embedding is not None:
            return self.embedding.weight[: self.config.vocabulary_size]
        return self.readout.weight

    @property
    def weights(self) -> Weights:
        """The weights for the numpy engine: copies on the CPU, cached until the model's own change.

        A change, as in training, is found by comparing values: torch's count of changes misses what fused
        optimisers write, and a comparison takes under 1 ms where making a large table takes 20.
        """
        parameters = [p.detach() for p in self.parameters()]
        with _lock:
            cached = _cached_weights.get(self)
            if cached is None or not all(map(_same, cached[0], parameters)):
                cached = _cached_weights[self] = (
                    [p.clone() for p in parameters],
                    weights_from(self.config, self.tensors, end=self.vocabulary.end),
                )
            return cached[1]

    @property
    def tensors(self) -> dict[str, Array]:
        """The weights as they are now, in float32 on the CPU, by their names in a file."""
        return {name: w.detach().float().cpu().numpy() for name, w in self.state_dict().items()}

    def zero_state(self, batch: int = 1) -> State:
        """Zeros, (L, B, H) each."""
        shape = (self.config.layers, batch, self.config.hidden_size)
        parts = 2 if CELLS[self.config.cell].has_cell else 1
        return tuple(
            torch.zeros(shape, device=self.device, dtype=self.readout.bias.dtype) for _ in range(parts)
        )

    def embed(
        self, inputs: Tensor, *, dropout: float = 0.0, generator: torch.Generator | None = None
    ) -> Tensor:
        """X (B, T, X) of integers (B, T) in 0 .. V."""
        if self.embedding is None:
            return F.one_hot(inputs, self.config.vocabulary_size + 1).to(self.readout.bias.dtype)
        weight = self.embedding.weight
        if dropout:
            weight = drop(weight, dropout, cast(torch.Generator, generator), rows=True)
        return F.embedding(inputs, weight)

    def hidden(
        self,
        x: Tensor,
        state: State | None = None,
        *,
        dropout: Dropout | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, State]:
        """The top layer's H (B, T, H) and the state after the last step, for X (B, T, X)."""
        state = self.zero_state(x.shape[0]) if state is None else state
        d = dropout or Dropout()
        weights = self.recurrence.named_parameters() if d.weight else ()
        dropped = {n: d.of_weight(w, generator) for n, w in weights if n.startswith("weight_hh")}
        return torch_engine.states(self.config, self.recurrence, x, state, d.between(generator), **dropped)

    def forward(
        self,
        inputs: Tensor,
        state: State | None = None,
        *,
        dropout: Dropout | None = None,
        generator: torch.Generator | None = None,
    ) -> tuple[Tensor, State]:
        """O (B, T, V), unnormalised log-probabilities, and the state after the last step.

        `inputs` are integers (B, T) in 0 .. V; row t of O is about the character after inputs[:, t].
        `dropout` with its `generator` is for training. Raises ConfigError for other shapes.
        """
        if inputs.dim() != 2 or inputs.shape[1] < 1:
            raise ConfigError(
                "inputs must be (B, T) integers with T >= 1; received shape {shape}",
                shape=tuple(inputs.shape),
            )
        d = dropout or Dropout()
        compiles = torch.is_grad_enabled() and self.backward_pass() == "numba"
        if compiles:
            h, state = self._compiled(inputs, state, d, generator)  # time first: (T, B, H)
        else:
            x = self.embed(inputs, dropout=d.embedding, generator=generator)
            h, state = self.hidden(x, state, dropout=d, generator=generator)
        if d.output:
            h = drop(h, d.output, cast(torch.Generator, generator))
        logits = torch_engine.linear(h, self.readout_weight, self.readout.bias)
        return logits.transpose(0, 1) if compiles else logits, state

    def backward_pass(self) -> Engine:
        """The backward pass in use: "numba" if `engine` asks for it and it is available, else "torch"."""
        return "numba" if self.engine == "numba" and compiled.can(self.config, self.readout.bias) else "torch"

    def _compiled(
        self, inputs: Tensor, state: State | None, dropout: Dropout, generator: torch.Generator | None
    ) -> tuple[Tensor, State]:
        """`embed` and `hidden` in one, through `compiled`, time first."""
        first = self.zero_state(inputs.shape[0]) if state is None else state
        named: dict[str, Tensor] = dict(self.named_parameters())
        between, ends, h = dropout.between(generator), [], torch.empty(0)
        for n in range(self.config.layers):
            tensors = [named[name] for name in self.config.layer_names(n)]
            W_x, b = compiled.from_inputs(self.config, tensors)
            if n == 0:
                rows = self._rows(inputs.T, W_x, b, dropout, generator)
            else:
                read = between(h.transpose(0, 1)).transpose(0, 1) if between else h
                rows = torch_engine.linear(read, W_x, b)
            if dropout.weight:
                tensors[1] = dropout.of_weight(tensors[1], generator)
            h, *last_cell = compiled.layer(self.config, tensors, rows, [part[n] for part in first])
            ends.append((h[-1], *last_cell))
        return h, tuple(torch.stack(part) for part in zip(*ends, strict=True))

    def _rows(
        self, ids: Tensor, W: Tensor, b: Tensor, dropout: Dropout, generator: torch.Generator | None
    ) -> Tensor | compiled.TableRows:
        """X W + b of the first layer, (…, G·H), for inputs (…) and W (G·H, X)."""
        if self.embedding is None:
            return compiled.TableRows(W.T + b, ids)
        table: Tensor = self.embedding.weight
        if dropout.embedding:
            table = drop(table, dropout.embedding, cast(torch.Generator, generator), rows=True)
        if len(table) < ids.numel():  # each symbol goes through W once, however often it comes
            return compiled.TableRows(torch_engine.linear(table, W, b), ids)
        return torch_engine.linear(F.embedding(ids, table), W, b)

    def states(self, inputs: Ids) -> tuple[Floats, ...]:
        """Every state after the first of `inputs` (T + 1, B), the start symbol: H, and an LSTM's C,
        (T, L, B, H) each, computed on the model's device.
        """
        steps = []
        with torch.inference_mode():
            state = self.zero_state(inputs.shape[1])
            # Step by step: for a whole text, torch's own layers give the states of the top layer alone.
            for x in self.embed(torch.from_numpy(inputs.T.copy()).to(self.device)).unbind(1):
                _, state = self.hidden(x[:, None], state)
                steps.append(state)
            return tuple(torch.stack(part)[1:].cpu().numpy() for part in zip(*steps, strict=True))

    def scorer(self) -> CharScorer:
        """A reader at the start of a text."""
        return CharScorer(self._reads(), self.vocabulary.start, wide=CELLS[self.config.cell].mixes)

    def precise_scorer(self) -> CharScorer:
        """A reader in float64 on the CPU, in sequence, from the weights as they are now."""
        stored = {name: w.detach().double().cpu().numpy() for name, w in self.state_dict().items()}
        weights = weights_from(self.config, stored, np.float64, end=self.vocabulary.end)
        return CharScorer(NumpyEngine(weights), self.vocabulary.start, wide=False)

    def _reads(self) -> ScoringEngine:
        """The scoring engine: on a CPU numpy, unless torch is faster."""
        by_numpy = self.device.type == "cpu" and not CELLS[self.config.cell].faster_in_torch
        # Torch's layers can't begin anew inside a text.
        return NumpyEngine(self.weights) if by_numpy or self.vocabulary.ends else TorchEngine(self)


# `CharModel.weights`, and the values that they were made of, as long as the model lives. Both stay outside
# the model, whose copies and pickles would carry them along.
_cached_weights: WeakKeyDictionary[CharModel, tuple[list[Tensor], Weights]] = WeakKeyDictionary()
_lock = threading.Lock()


def _same(cached: Tensor, current: Tensor) -> bool:
    return cached.device == current.device and cached.dtype == current.dtype and cached.equal(current)


class TorchEngine:
    """The Engine of torch, on the model's device; see `rnnviz.networks.batched_scoring.Engine`."""

    shares = False  # torch's own threads share each product

    def __init__(self, model: CharModel) -> None:
        self._model, self.size = model, model.config.vocabulary_size
        self.threads: Threads = TorchThreads(worth_trying(model.device.type))
        self.row_threads: Threads = self.threads

    def zeros(self, rows: int) -> tuple[Floats, ...]:
        """The state before a text, `rows` times."""
        return tuple(part.cpu().numpy() for part in self._model.zero_state(rows))

    def states(self, inputs: Ids, state: tuple[Floats, ...]) -> tuple[Tensor, tuple[Floats, ...]]:
        """The top layer's H (T, B, H) after each of the inputs (B, T), and the state after the last."""
        device = self._model.device
        with torch.inference_mode():
            before = tuple(torch.from_numpy(np.ascontiguousarray(part)).to(device) for part in state)
            x = self._model.embed(torch.from_numpy(np.ascontiguousarray(inputs)).to(device))
            top, after = self._model.hidden(x, before)
        return top.transpose(0, 1), tuple(part.cpu().numpy() for part in after)

    def logits(self, top: Tensor) -> Floats:
        """O (n, V) of rows (n, H) of the top layer."""
        with torch.inference_mode():
            rows = torch_engine.linear(top, self._model.readout_weight, self._model.readout.bias)
        return np.asarray(rows.float().cpu().numpy())


Device = Literal["auto"] | str


def load(
    config: ModelConfig, tensors: Mapping[str, Array], about: Mapping[str, Any], device: Device
) -> CharModel:
    """The network of a file's tensors, to read with; `about` are the other arguments of CharModel."""
    chosen = pick_device(device)
    with torch.device("meta"):  # no memory for weights that are replaced at once
        model = CharModel(config, **about)
    model.load_state_dict({k: torch.from_numpy(w) for k, w in tensors.items()}, assign=True)
    return model.requires_grad_(False).eval().to(chosen)


def _embedding(rows: int, columns: int) -> nn.Embedding:
    """`nn.Embedding`; on the meta device without drawing weights, for which torch would load its compiler."""
    embedding = nn.Embedding(rows, columns, _weight=torch.empty(rows, columns))
    if not embedding.weight.is_meta:
        nn.init.normal_(embedding.weight)
    return embedding


def untrained(
    config: ModelConfig, vocabulary: Vocabulary, *, seed: int, name: str = "", normaliser: str = "newlines"
) -> CharModel:
    """The network that a training with this seed begins with, on the CPU; torch's random state stays."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CharModel(config, vocabulary, name=name, normaliser=normaliser)


def pick_device(device: Device = "auto") -> torch.device:
    """The named device; "auto" is CUDA where that computes, else the CPU.

    Warns with a RuntimeWarning of a GPU that is there and can't compute. Raises ConfigError for a device that
    this machine or this torch doesn't have, or that can't compute.
    """
    if device == "auto":
        if not torch.cuda.is_available():
            return torch.device("cpu")
        if not (reason := _trouble("cuda")):
            return torch.device("cuda")
        warnings.warn(
            f"there is a GPU, but it can't compute ({reason}); the CPU does instead",
            RuntimeWarning,
            stacklevel=1,  # this line for every caller, so that Python shows the warning once
        )
        return torch.device("cpu")
    if not isinstance(device, str | torch.device):
        raise ConfigError(
            'a device is "cpu", "cuda" or "auto"; received {received}', received=received(device)
        )
    if reason := _trouble(device):
        raise ConfigError(
            "device {device!r} can't be used here ({reason}); use cpu", device=device, reason=reason
        )
    return torch.device(device)


def _trouble(device: str | torch.device) -> str:
    """The reason why a device can't compute; "" if it can.

    A GPU too old for this torch is there, and takes memory, but has no kernels: only a product shows that.
    """
    try:
        matrix = torch.ones(1, 1, device=torch.device(device))
        _ = matrix @ matrix
    except (RuntimeError, AssertionError) as error:
        return str(error).splitlines()[0]
    return ""
