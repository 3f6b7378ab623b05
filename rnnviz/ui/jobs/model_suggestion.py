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

# Characters that every other model reads; and characters that the best of them and the chosen model read, as
# 500 may be a heading and a list of names.
FIRST_CHARS, READ_CHARS = 500, 2_000
MAX_FINALISTS = 2  # models that read READ_CHARS
# Bits per character that another model must save to be offered: its perplexity is then at most 0.71 of the
# chosen one's.
MIN_LEAD_BITS = 0.5
# Models that are tried, at most: as many as `model_cache` keeps loaded.
MAX_MODELS = 12


@dataclass(frozen=True)
class Suggestion:
    """The result of the search, on a text's first FIRST_CHARS or READ_CHARS characters.

    own_bits  the chosen model's bits per character
    name      the best other model, None if none saves MIN_LEAD_BITS
    bits      the best other model's bits per character
    read_as   the two models' `Score.reading`
    """

    own_bits: float
    name: str | None = None
    bits: float | None = None
    read_as: tuple[str, str] = ("", "")


def candidates(info: ModelInfo) -> list[ModelInfo]:
    """The networks to try, at most MAX_MODELS, all of other corpora than this model's.

    Those in memory come first, because they answer at once; then the shipped ones.
    """
    shipped = checkpoint.folders()[-1]
    corpus = info.card.get("corpus")
    networks = [
        network
        for network in model_cache.list_models()[0]
        if network.kind != "ngram"
        and network.path != info.path
        and (not corpus or network.card.get("corpus") != corpus)
    ]
    return sorted(
        networks, key=lambda network: (not model_cache.in_memory(network), network.path.parent != shipped)
    )[:MAX_MODELS]


def unknown_share(info: ModelInfo, text: str) -> float:
    """The share of a text's characters that are not in the model's vocabulary; 0 for an empty text."""
    vocabulary = model_cache.code_points(info)
    return sum(ord(character) not in vocabulary for character in text) / max(len(text), 1)


def ask_suggestion(info: ModelInfo, text: str, patience: float = 0.0) -> Job:
    """The job that searches a better model for a text's beginning, after at most `patience` seconds."""
    beginning, jobs = text[:READ_CHARS], of_session("suggestion")
    key = Key("suggestion", checksum(beginning), model_cache.digest(info))
    jobs.retain([key])
    job = jobs.ask(key, info.name, partial(find_suggestion, info, beginning), kind="glance")
    jobs.wait([key], patience)
    return job


def find_suggestion(info: ModelInfo, text: str, progress: Progress) -> Suggestion:
    """The search on `text`, a text's beginning."""
    networks = candidates(info)
    # MAX_FINALISTS + 1 readings may follow the first ones, so the share done ends below 1.
    chosen, measured = _measure(info, text[:FIRST_CHARS]), []
    for n, network in enumerate(networks):
        progress(Share((n + 1) / (len(networks) + MAX_FINALISTS + 1)))
        with suppress(CheckpointError):  # the file may have been deleted since it was listed
            measured.append((*_measure(network, text[:FIRST_CHARS]), n))
    finalists = [
        measurement
        for measurement in sorted(measured)[:MAX_FINALISTS]
        if measurement[0] < chosen[0] - MIN_LEAD_BITS
    ]
    if finalists and len(text) > FIRST_CHARS:
        chosen = _measure(info, text)
        finalists = sorted((*_measure(networks[n], text), n) for _bits, _reading, n in finalists)
    bits, reading, n = min(finalists, default=(math.inf, "", 0))
    if bits >= chosen[0] - MIN_LEAD_BITS:
        return Suggestion(chosen[0])
    return Suggestion(chosen[0], networks[n].path.stem, bits, (chosen[1], reading))


def _measure(info: ModelInfo, text: str) -> tuple[float, str]:
    """The bits per character of a text, and how it was read."""
    score = perplexity(model_cache.load_reader(info), text=text)
    return score.bits_per_character, score.reading
