"""Which other model reads a text best, where the chosen one wasn't made for it (`reports.contamination`)."""

import math
from dataclasses import dataclass
from typing import Any

from rnnviz.errors import CheckpointError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.reading.trace import trace
from rnnviz.text.characters import normalise
from rnnviz.ui import model_cache
from rnnviz.ui.jobs.store import Key, checksum
from rnnviz.ui.jobs.worker import Job, Step, Steps, of_session

READ = 300  # characters of a text that other models read
LEAD = 0.5  # bits per character that another model must be ahead by, to be offered
MOST = 12  # models that are tried


@dataclass(frozen=True)
class Better:
    """What a look for a better model found: bits per character of a text's first READ characters, under the
    chosen model and under the best of the others. `name` is None where none is ahead by LEAD.
    """

    own: float
    name: str | None = None
    bits: float | None = None


def others(info: ModelInfo) -> list[ModelInfo]:
    """The networks to try instead: of other texts than this one's, the shipped ones first, at most MOST."""
    shipped = checkpoint.folders()[-1]
    corpus = info.card.get("corpus")
    found = [
        one
        for one in model_cache.listed()[0]
        if one.kind != "ngram" and one.path != info.path and (not corpus or one.card.get("corpus") != corpus)
    ]
    return sorted(found, key=lambda one: one.path.parent != shipped)[:MOST]


def glance(info: ModelInfo, text: str, patience: float = 0.0) -> Job:
    """The job that looks for a better model for the beginning of a text; waits so many seconds for it."""
    beginning, jobs = text[:READ], of_session("better")
    key = Key("better", checksum(beginning), model_cache.digest(info))
    jobs.retain([key])
    job = jobs.ask(key, info.name, lambda check: look(info, beginning), kind="glance")
    jobs.wait([key], patience)
    return job


def look(info: ModelInfo, text: str) -> Steps[Better]:
    """A job: the other model that reads the beginning of a text best."""
    tried = others(info)
    own = _bits(info, text)
    best, bits = None, math.inf
    for n, one in enumerate(tried):
        yield Step((n + 1) / (len(tried) + 1))
        try:
            now = _bits(one, text)
        except CheckpointError:
            continue  # it is not there any more
        if now < bits:
            best, bits = one.path.stem, now
    return Better(own, best, bits) if bits < own - LEAD else Better(own)


def _bits(info: ModelInfo, text: str) -> float:
    model: Any = model_cache.reader(info)
    read = trace(model, normalise(text, model.normaliser)[:READ])
    return float(read.nll.mean()) / math.log(2)
