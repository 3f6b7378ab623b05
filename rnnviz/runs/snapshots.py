"""The probe: a short text whose trace is kept while a model learns, and the file it is kept in.

    hidden     (T, L, H)   H_t after reading character t
    log_probs  (T + 1, V)  row t: log P(x_{t+1} | x_1 .. x_t), nats; row 0 before anything was read

These are the values of `rnnviz.trace`, computed without what is of no use for
one short text: the table of all inputs, which for thousands of characters
takes longer than everything else. A file is safetensors, with the text and
the symbols in its header; reading one needs no torch.

This module knows nothing of runs, or of when a trace is taken.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from rnnviz.errors import TrainingError
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.numpy_model import weights_from
from rnnviz.reading.scoring import costs, running
from rnnviz.text.normalising import normalise
from rnnviz.text.vocabulary import UNKNOWN_SYMBOL, Ids, Vocabulary

if TYPE_CHECKING:
    from rnnviz.networks.torch_model import CharModel

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ProbeTrace:
    """What a model did with the probe text at one moment of its training.

    text        the probe, T characters
    hidden      (T, L, H) float32, H_t after reading character t
    cell        (T, L, H) float32, C_t of an LSTM; None for other cells
    log_probs   (T + 1, V) float32, nats: row t is log P(x_{t+1} | x_1 .. x_t)
    nll         (T,) float32, nats: what each character cost, an unknown one's whole cost
    step        steps trained
    characters  characters trained on
    symbols     V names, that of column i of log_probs at place i: "<unk>", then the characters
    """

    text: str
    hidden: Floats
    cell: Floats | None
    log_probs: Floats
    nll: Floats
    step: int
    characters: int
    symbols: tuple[str, ...]

    @property
    def perplexity(self) -> Floats:
        """(T,): of the characters up to and including t."""
        with np.errstate(over="ignore"):
            return running(self.nll).astype(np.float32)


def trace_probe(model: CharModel, text: str, *, step: int, characters: int) -> ProbeTrace:
    """The trace of `text` by `model` as it is now; `step` and `characters` say when that is.

    Takes time steps, not the vocabulary: a few milliseconds. It draws no random number and changes nothing.
    Raises TextError for half a surrogate pair.
    """
    vocabulary: Vocabulary = model.vocabulary
    text = normalise(text, model.normaliser)
    ids = vocabulary.encode(text)
    inputs = np.concatenate(([vocabulary.start], ids))
    used, places = np.unique(inputs, return_inverse=True)
    config = model.config
    tensors = {name: w.detach().float().cpu().numpy() for name, w in model.state_dict().items()}
    if config.embedding_size:
        table = tensors["embedding.weight"]
        if config.tied:
            tensors["readout.weight"] = table[: config.vocabulary_size]
        tensors["embedding.weight"] = table[used]
    else:  # one-hot inputs pick columns
        first = "recurrence.0.weight" if config.cell == "mlp" else "recurrence.weight_ih_l0"
        tensors[first] = tensors[first][:, used]
    ready = weights_from(_untied(config), tensors)
    hidden, cell = ready.states(len(inputs) + 1)
    ready.run(places.astype(np.int64), hidden, cell)
    log_probs = ready.log_probs(hidden[1:, -1])
    return ProbeTrace(
        text=text,
        hidden=hidden[2:],
        cell=None if cell is None else cell[2:],
        log_probs=log_probs,
        nll=_costs(log_probs, ids, vocabulary),
        step=step,
        characters=characters,
        symbols=(UNKNOWN_SYMBOL, *vocabulary.characters),
    )


def _untied(config: ModelConfig) -> ModelConfig:
    return ModelConfig(**{**config.to_json(), "tied": False})


def _costs(log_probs: Floats, ids: Ids, vocabulary: Vocabulary) -> Floats:
    return costs(log_probs[np.arange(len(ids)), ids], ids, vocabulary).astype(np.float32)


def to_bytes(trace: ProbeTrace, *, half: bool = False) -> bytes:
    """The file of a trace; `half` stores states and log-probabilities as float16, half the size."""
    from safetensors.numpy import save

    kind = np.float16 if half else np.float32
    tensors = {
        "hidden": trace.hidden.astype(kind),
        "log_probs": np.maximum(trace.log_probs, -60_000).astype(kind),
        "nll": trace.nll.astype(np.float32),
    }
    if trace.cell is not None:
        tensors["cell"] = trace.cell.astype(kind)
    about = {
        "text": trace.text,
        "step": trace.step,
        "characters": trace.characters,
        "symbols": list(trace.symbols),
    }
    contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    return bytes(save(contiguous, metadata={"probe": json.dumps(about)}))


def read_probe(path: Path) -> ProbeTrace:
    """The trace in a file. Raises TrainingError if there is none, or the file is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})["probe"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        found = ProbeTrace(
            text=str(about["text"]),
            hidden=tensors["hidden"].astype(np.float32),
            cell=tensors["cell"].astype(np.float32) if "cell" in tensors else None,
            log_probs=tensors["log_probs"].astype(np.float32),
            nll=tensors["nll"].astype(np.float32),
            step=int(about["step"]),
            characters=int(about["characters"]),
            symbols=tuple(map(str, about["symbols"])),
        )
        T, V = len(found.text), len(found.symbols)
        fits = found.hidden.ndim == 3 and len(found.hidden) == T and found.nll.shape == (T,)
        if not fits or found.log_probs.shape != (T + 1, V):
            raise ValueError("its arrays don't belong together")
    except FileNotFoundError:
        raise TrainingError(
            "there is no trace of the probe at {path}; the run has none yet, or has no probe text", path=path
        ) from None
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise TrainingError(
            "{path} is damaged ({error}); go on training to renew it", path=path, error=error
        ) from None
    return found
