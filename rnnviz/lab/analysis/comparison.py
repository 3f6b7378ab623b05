"""Comparison of several networks on one text, character by character, or of one network at two moments of
training.

Costs include unknown characters' (see `rnnviz.scoring.perplexity`), so networks with different vocabularies
compare. Shape letters: M models, T time steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rnnviz.arrays import Doubles, Mask
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.findings import Json, Panel, Reported, report
from rnnviz.networks.numpy_model import Network
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ReprMixin, Pictured, Reported):
    """Traces of one `text` by M models, in their order."""

    REPORT = "rnnviz.lab.reports.comparison"

    text: str
    traces: tuple[Trace, ...]

    @property
    def nll(self) -> Doubles:
        """(M, T) nats, -log P(x_t | x_<t), the whole cost of unknown characters included."""
        return np.stack([t.nll for t in self.traces])

    @property
    def perplexity(self) -> Doubles:
        """(M, T) running perplexity."""
        return np.stack([t.perplexity for t in self.traces])

    @property
    def known(self) -> Mask:
        """(M, T): whether the character is in the model's vocabulary."""
        return np.stack([t.known for t in self.traces])

    def difference(self, a: int = 0, b: int = 1) -> Doubles:
        """(T,) bits by which model `a` expected each character more than model `b`; negative: less."""
        return np.asarray((self.traces[b].nll - self.traces[a].nll) / math.log(2))

    def facts(self) -> Json:
        """The perplexity and the unknown characters of each network."""
        return {
            "characters": len(self.text),
            "networks": [
                {
                    "model": read.model_name,
                    "perplexity": float(read.perplexity[-1]) if self.text else None,
                    "unknown": int((~read.known).sum()),
                }
                for read in self.traces
            ],
        }

    def panels(self, at: int | None = None) -> list[Panel]:
        """Running perplexity, and each network's prediction after character `at`, counted from 0; None: the
        last character.
        """
        pictures: list[Panel] = report(self).panels(self, at)
        return pictures


@checked
def compare(models: Sequence[Network], text: str) -> Comparison:
    """Read `text` with each of `models`, at least one. Returns traces with nll (M, T) in nats. Raises
    ConfigError for no models, or for models with different normalisers, whose characters don't line up;
    TextError for half a surrogate pair.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> models = [rnnviz.load(f"timemachine-{cell}") for cell in ("gru", "lstm")]
    >>> units.compare(models, "machine").nll.shape
    (2, 7)
    """
    if not len(models):
        raise ConfigError("a comparison takes a list of at least one model; received none")
    traces = tuple(Tracer(model).extend(text) for model in models)
    # Checked by the result and not by the normalisers' names: two of them often leave a text alike.
    if any(t.text != traces[0].text for t in traces):
        ways = ", ".join(sorted({m.normaliser for m in models}))
        raise ConfigError(
            "these models want the text prepared in different ways ({ways}), so that their characters "
            "don't line up; compare models with the same normaliser",
            ways=ways,
        )
    return Comparison(traces[0].text, traces)
