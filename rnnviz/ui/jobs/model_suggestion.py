"""The search for another model that reads a text better: all read its beginning, the best two read on."""

import math
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from rnnviz.errors import CheckpointError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.networks.progress import Progress, Share
from rnnviz.scoring.perplexity import perplexity
from rnnviz.ui.jobs.store import Key, checksum
from rnnviz.ui.jobs.worker import Job, of_session
from rnnviz.ui.shell import model_cache

FIRST, READ = 500, 2_000  # characters that every other model reads, and characters that the best read
AGAIN = 2  # models that read READ characters
LEAD = 0.5  # bits per character that another model must save to be offered
MOST = 12  # models that are tried, at most


@dataclass(frozen=True)
class Better:
    """The result of the search, on a text's first FIRST or READ characters.

    own      the chosen model's bits per character
    name     the best other model, None if none saves LEAD
    bits     the best other model's bits per character
    read_as  the two models' `Score.reading`
    """

    own: float
    name: str | None = None
    bits: float | None = None
    read_as: tuple[str, str] = ("", "")


def others(info: ModelInfo) -> list[ModelInfo]:
    """The networks to try, at most MOST, all of other corpora than this model's.

    Those in memory come first, because they answer at once; then the shipped ones.
    """
    shipped = checkpoint.folders()[-1]
    corpus = info.card.get("corpus")
    found = [
        one
        for one in model_cache.list_models()[0]
        if one.kind != "ngram" and one.path != info.path and (not corpus or one.card.get("corpus") != corpus)
    ]
    return sorted(found, key=lambda one: (not model_cache.in_memory(one), one.path.parent != shipped))[:MOST]


def unknown(info: ModelInfo, text: str) -> float:
    """The share of a text's characters that are not in the model's vocabulary; 0 for an empty text."""
    known = model_cache.code_points(info)
    return sum(ord(character) not in known for character in text) / max(len(text), 1)


def glance(info: ModelInfo, text: str, patience: float = 0.0) -> Job:
    """The job that searches a better model for a text's beginning, after at most `patience` seconds."""
    beginning, jobs = text[:READ], of_session("better")
    key = Key("better", checksum(beginning), model_cache.digest(info))
    jobs.retain([key])
    job = jobs.ask(key, info.name, partial(look, info, beginning), kind="glance")
    jobs.wait([key], patience)
    return job


def look(info: ModelInfo, text: str, progress: Progress) -> Better:
    """The search on `text`, a text's beginning."""
    tried = others(info)
    own, found = _read(info, text[:FIRST]), []
    for n, one in enumerate(tried):
        progress(Share((n + 1) / (len(tried) + AGAIN + 1)))
        with suppress(CheckpointError):  # the file may have been deleted since it was listed
            found.append((*_read(one, text[:FIRST]), n))
    ahead = [one for one in sorted(found)[:AGAIN] if one[0] < own[0] - LEAD]
    if ahead and len(text) > FIRST:
        own = _read(info, text)
        ahead = sorted((*_read(tried[n], text), n) for _bits, _reading, n in ahead)
    bits, reading, n = min(ahead, default=(math.inf, "", 0))
    if bits >= own[0] - LEAD:
        return Better(own[0])
    return Better(own[0], tried[n].path.stem, bits, (own[1], reading))


def _read(info: ModelInfo, text: str) -> tuple[float, str]:
    """The bits per character of a text, and how it was read."""
    score = perplexity(model_cache.load_reader(info), text=text)
    return score.bits_per_character, score.reading
