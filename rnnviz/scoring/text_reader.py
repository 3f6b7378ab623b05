"""TextReader: a text read while it is typed, by a network and by those that are shown beside it.

Each of them reads only what has changed since the last reading.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rnnviz.arrays import Doubles
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Network, NumpyModel
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer
from rnnviz.text.characters import normalise


@dataclass(frozen=True)
class TextRead:
    """A text, read for one answer.

    It lives no longer than the answer takes: while a Trace lives, its Tracer may not overwrite its rows and
    goes on in a copy.

    text        as it was typed, with line ends made alike; not `trace.text`, where the network's own
                normaliser may replace characters
    unchanged   characters at the beginning that are as in the text read before
    ngram       (T,) nats, the n-gram model's costs; None without such a model
    memoryless  the Trace by the network without memory, None unless it is shown
    memoryless_unchanged  characters at the beginning that are as when this network read before
    """

    model: Network
    text: str
    trace: Trace
    unchanged: int
    ngram: Doubles | None = None
    memoryless: Trace | None = None
    memoryless_unchanged: int = 0


class TextReader:
    """A network, an n-gram model or None, and a network without memory or None, that read the same text."""

    def __init__(self, model: Network, ngram_model: NgramModel | None, memoryless: NumpyModel | None) -> None:
        self.model, self.ngram_model, self.memoryless = model, ngram_model, memoryless
        self._tracer = Tracer(model)
        self._memoryless_tracer: Tracer | None = None  # made when it is first shown
        self._ngram_nll: Doubles = np.empty(0)

    def read(self, text: str, *, with_memoryless: bool) -> TextRead:
        """Read the text, from the first character that differs from the last text's."""
        trace = self._tracer.extend(text)
        unchanged, _stop = self._tracer.changed  # what changed begins after it
        ngram = None
        if self.ngram_model is not None:
            ngram = self._ngram_nll = self._extended_ngram_nll(self.ngram_model, trace.text, unchanged)
        read = TextRead(self.model, normalise(text), trace, unchanged, ngram)
        if not with_memoryless or self.memoryless is None:
            return read
        # While it is hidden, its tracer doesn't follow the text, so it counts its own unchanged characters.
        tracer = self._memoryless_tracer = self._memoryless_tracer or Tracer(self.memoryless)
        memoryless = tracer.extend(trace.text)
        return replace(read, memoryless=memoryless, memoryless_unchanged=tracer.changed[0])

    def _extended_ngram_nll(self, ngram_model: NgramModel, text: str, unchanged: int) -> Doubles:
        """The n-gram model's surprisal of the text (nats), computed from the character `unchanged` on."""
        # A count of order n sees n − 1 characters back, so only these are read again.
        begin = max(0, unchanged - (ngram_model.order - 1))
        ids = ngram_model.vocabulary.encode(text[begin:])
        changed = ids[unchanged - begin :]
        costs = -ngram_model.score(changed, ids[: unchanged - begin])
        costs[changed == 0] += ngram_model.vocabulary.unknown_cost
        return np.concatenate([self._ngram_nll[:unchanged], costs])
