"""Which other model reads a text best: all read a short beginning, the two best of them a longer one."""

import math
from contextlib import suppress
from dataclasses import dataclass

from rnnviz.errors import CheckpointError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.scoring.perplexity import perplexity
from rnnviz.ui import model_cache
from rnnviz.ui.jobs.store import Key, checksum
from rnnviz.ui.jobs.worker import Job, Step, Steps, of_session

FIRST, READ = 500, 2_000  # characters of a text that all other models read, and that the best of them do
AGAIN = 2  # models that read on
LEAD = 0.5  # bits per character that another model must be ahead by, to be offered
MOST = 12  # models that are tried


@dataclass(frozen=True)
class Better:
    """What a look for a better model found: bits per character of a text's first FIRST or READ characters,
    under the chosen model and under the best of the others. `name` is None where none is ahead by LEAD.
    """

    own: float
    name: str | None = None
    bits: float | None = None


def others(info: ModelInfo) -> list[ModelInfo]:
    """The networks to try instead: of other texts than this one's, at most MOST; those in memory come first,
    since they answer at once, and the shipped ones.
    """
    shipped = checkpoint.folders()[-1]
    corpus = info.card.get("corpus")
    found = [
        one
        for one in model_cache.listed()[0]
        if one.kind != "ngram" and one.path != info.path and (not corpus or one.card.get("corpus") != corpus)
    ]
    return sorted(found, key=lambda one: (not model_cache.in_memory(one), one.path.parent != shipped))[:MOST]


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
    own, found = _bits(info, text[:FIRST]), []
    for n, one in enumerate(tried):
        yield Step((n + 1) / (len(tried) + AGAIN + 1))
        with suppress(CheckpointError):  # it is not there any more
            found.append((_bits(one, text[:FIRST]), n))
    ahead = [(bits, n) for bits, n in sorted(found)[:AGAIN] if bits < own - LEAD]
    if ahead and len(text) > FIRST:
        own = _bits(info, text)
        ahead = sorted((_bits(tried[n], text), n) for _bits_before, n in ahead)
    bits, n = min(ahead, default=(math.inf, 0))
    return Better(own, tried[n].path.stem, bits) if bits < own - LEAD else Better(own)


def _bits(info: ModelInfo, text: str) -> float:
    return perplexity(model_cache.reader(info), text=text).bits_per_character
