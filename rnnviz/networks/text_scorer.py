"""How a network reads one text to score it: in sequence, or long pieces as stretches side by side.

This module knows nothing of files or of what an unknown character costs.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from rnnviz.networks import side_by_side
from rnnviz.networks.numpy_model import prepare
from rnnviz.networks.prediction import Details, entropy, joined, rank
from rnnviz.networks.side_by_side import Done, SideBySide, State
from rnnviz.networks.stepping import Reader

IN_SEQUENCE = 1024
"""Characters that are read at a time in sequence."""


class CharScorer:
    """Feeds one text through a model, the state carried from piece to piece.

    Long pieces of a recurrent network are read as stretches side by side. Short
    ones go step by step: on a CPU in numpy, which is faster than torch's fused
    layers, except an LSTM's, which packs its weights. The weights are those the
    model has when the scorer is made.
    """

    def __init__(self, model: Any) -> None:  # a CharModel; its module imports this one
        self.model = model
        self._last = model.vocabulary.start
        self._state: State = model.zero_state()
        steps = model.device.type == "cpu" and model.config.cell != "lstm"
        self._reader = Reader(prepare(model)) if steps else None
        self._wide = SideBySide(model) if model.config.cell != "mlp" else None
        self.piece = side_by_side.PIECE
        """How many characters are best handed over at a time."""

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P in nats of each symbol of `ids` (n,), given all before it; see `Scorer`."""
        return to_the_end(self.advancing(ids, want=False))[0]

    def advance_details(self, ids: npt.NDArray[np.int64]) -> Details:
        """log P, rank and entropy of each symbol of `ids` (n,); see `Scorer`."""
        return to_the_end(self.advancing(ids, want=True))

    def advancing(self, ids: npt.NDArray[np.int64], *, want: bool) -> Generator[Done, None, Details]:
        """The same, step by step: yields how much is done several times a second.

        Rank and entropy are filled in if `want`. One that isn't run to its end leaves the scorer useless.
        """
        found: list[Details] = []
        done, begin = Done(0, 0.0), 0
        while begin < len(ids):
            now = ids[begin : begin + self.piece]
            if self._wide is not None and len(now) >= side_by_side.LEAST:
                now = now[: len(now) - len(now) % side_by_side.count(len(now))]
                inputs = np.concatenate(([self._last], now[:-1]))
                steps = self._wide.score(inputs, now, self._state, want=want)
                while True:
                    try:
                        part = next(steps)
                    except StopIteration as end:
                        details, self._state = end.value
                        break
                    yield Done(done.characters + part.characters, done.nats + part.nats)
                if self._reader is not None:
                    self._reader.hidden = self._state[0].permute(1, 0, 2).numpy()
            else:
                now = now[:IN_SEQUENCE]
                details = self._in_sequence(np.concatenate(([self._last], now[:-1])), now, want)
            found.append(details)
            self._last = int(now[-1])
            begin += len(now)
            done = Done(begin, done.nats - float(details[0].sum()))
            yield done
        return joined(found)

    def _in_sequence(
        self, inputs: npt.NDArray[np.int64], targets: npt.NDArray[np.int64], want: bool
    ) -> Details:
        logits: npt.NDArray[np.float32]
        log_sum = None
        if self._reader is not None:
            logits, log_sum = self._reader.weights.predict(self._reader.read(inputs))
            log_p = logits[np.arange(len(targets)), targets] - log_sum
            self._state = (torch.from_numpy(self._reader.hidden.copy()).permute(1, 0, 2),)
        else:
            device = self.model.device
            with torch.inference_mode():
                out, self._state = self.model(torch.from_numpy(inputs)[None].to(device), self._state)
                came = torch.from_numpy(np.ascontiguousarray(targets)).to(device)
                nll = F.cross_entropy(out[0].float(), came, reduction="none")
            log_p, logits = -nll.double().cpu().numpy(), out[0].float().cpu().numpy()
        if not want:
            return log_p, np.zeros(len(targets), np.int32), np.zeros(len(targets), np.float32)
        return log_p, rank(logits, targets), entropy(logits, log_sum)


def to_the_end(steps: Generator[Any, None, Details]) -> Details:
    """What a generator returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            details: Details = end.value
            return details
