"""How a network reads one text to score it: in sequence, or long pieces as stretches side by side."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from rnnviz.networks import side_by_side
from rnnviz.networks.config import CELLS
from rnnviz.networks.numpy_model import weights_of
from rnnviz.networks.prediction import Scores, entropy, rank
from rnnviz.networks.progress import mapped, run
from rnnviz.networks.side_by_side import Done, SideBySide
from rnnviz.networks.stepping import NetworkReader
from rnnviz.networks.threads import Threads, worth_trying
from rnnviz.networks.torch_network import State, TorchNetwork

IN_SEQUENCE = 1024
"""Characters that are read at a time in sequence."""


class CharScorer:
    """Feeds one text through a model, with the weights it has now, the state carried from piece to piece.

    Long pieces are read as stretches side by side, unless the recurrence is linear, which takes all steps at
    once (`rnnviz.networks.scan`). Short ones go step by step: on a CPU in numpy, which is
    faster than torch's fused layers except an LSTM's. Where more than one thread may compute, the number that
    proves fastest does; with 1,024 units or so it shows in a figure's last digits. The ways agree to 1e-4
    nats a character, unless the text makes the network magnify rounding; see `rnnviz.networks.side_by_side`.
    """

    def __init__(self, model: TorchNetwork) -> None:
        self.model = model
        self._last = model.vocabulary.start
        self._state: State = model.zero_state()
        kind = CELLS[model.config.cell]
        steps = model.device.type == "cpu" and model.config.cell != "lstm" and not kind.linear
        self._reader = NetworkReader(weights_of(model)) if steps else None
        self._threads = Threads(worth_trying(model.device.type))
        self._wide = SideBySide(model) if kind.mixes else None
        self.piece = side_by_side.PIECE
        """Characters best handed over at a time."""

    @property
    def unsettled(self) -> int:
        """Characters of stretches side by side whose seam was never mended: rounding grew all along them."""
        return self._wide.unsettled if self._wide is not None else 0

    @property
    def memory(self) -> tuple[npt.NDArray[np.float32], ...]:
        """The state that is carried on, (L, 1, H) each; for `remember`."""
        return tuple(part.cpu().numpy() for part in self._state)

    def remember(self, last: int, memory: tuple[npt.NDArray[np.float32], ...]) -> None:
        """Go on from a state, after the symbol `last`, which it has not read yet."""
        self._last = last
        self._state = tuple(torch.tensor(part, device=self.model.device) for part in memory)
        self._hand_over()

    def _hand_over(self) -> None:
        if self._reader is not None:
            self._reader.hidden = self._state[0].permute(1, 0, 2).cpu().numpy()  # (1, L, H)

    def advance(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return run(self.advancing(ids, want=False)).log_p

    def advance_details(self, ids: npt.NDArray[np.int64]) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        return run(self.advancing(ids, want=True))

    def advancing(self, ids: npt.NDArray[np.int64], *, want: bool) -> Generator[Done, None, Scores]:
        """`advance_details` step by step: yields its progress several times a second.

        Rank and entropy are filled in if `want`. If it isn't run to its end, the scorer is of no more use.
        """
        found: list[Scores] = []
        done, begin = Done(0, 0.0), 0
        while begin < len(ids):
            now = ids[begin : begin + self.piece]
            wide = self._wide is not None and len(now) >= side_by_side.LEAST
            now = now[: len(now) - len(now) % side_by_side.count(len(now))] if wide else now[:IN_SEQUENCE]
            inputs = np.concatenate(([self._last], now[:-1]))
            if self._wide is not None and wide:
                steps = self._wide.score(inputs, now, self._state, want=want)
                scores, self._state = yield from mapped(steps, done.plus)
                self._hand_over()
            else:
                scores = self._in_sequence(inputs, now, want)
            found.append(scores)
            self._last = int(now[-1])
            begin += len(now)
            done = Done(begin, done.nats - float(scores.log_p.sum()))
            yield done
        return Scores.joined(found)

    def _in_sequence(
        self, inputs: npt.NDArray[np.int64], targets: npt.NDArray[np.int64], want: bool
    ) -> Scores:
        logits: npt.NDArray[np.float32]
        log_sum = None
        if self._reader is not None:
            logits, log_sum = self._reader.weights.predict(self._reader.read(inputs))
            log_p = logits[np.arange(len(targets)), targets] - log_sum
            self._state = (torch.from_numpy(self._reader.hidden.copy()).permute(1, 0, 2),)
        else:
            device = self.model.device
            with torch.inference_mode(), self._threads.piece(len(inputs)):
                out, self._state = self.model(torch.from_numpy(inputs)[None].to(device), self._state)
                came = torch.from_numpy(np.ascontiguousarray(targets)).to(device)
                nll = F.cross_entropy(out[0].float(), came, reduction="none")
            log_p, logits = -nll.double().cpu().numpy(), out[0].float().cpu().numpy()
        if not want:
            return Scores.unranked(log_p)
        return Scores(log_p, rank(logits, targets), entropy(logits, log_sum))
