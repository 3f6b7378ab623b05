"""The jobs of the page, as generators for jobs.py. They run on a thread and draw nothing."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz import corpora
from rnnviz.scoring import LanguageModel, Progress, Report, score
from rnnviz.ui.perplexity.jobs import Check, Step
from rnnviz.ui.perplexity.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from rnnviz.ui.perplexity.texts import Text

LISTED = 500  # different unknown characters that are told apart
BLOCK = 1 << 16


@dataclass(frozen=True)
class Scored:
    """What there is to know of a text under a model.

    `unknown` lists the characters outside the vocabulary with their counts,
    the most frequent first, at most LISTED of the `kinds_unknown` different
    ones. `folder` holds the record of every character.
    """

    report: Report
    unknown: tuple[tuple[str, int], ...] = ()
    kinds_unknown: int = 0
    interval: Any = None
    overlap: Any = None
    folder: Path | None = None

    def called(self, name: str) -> Scored:
        """The same under another file name."""
        return replace(self, report=replace(self.report, file=name))


def full_key(digest: str, text: Text) -> Hashable:
    """Under which a text's record by the model of this file is kept."""
    return "full", digest, text.identity


def plain_key(digest: str, text: Text) -> Hashable:
    """Under which a text's report by the model of this file is kept."""
    return "plain", digest, text.identity


def stepped(steps: Generator[Progress, None, Any]) -> Generator[Step, None, Any]:
    """The steps of scoring as those of a job."""
    while True:
        try:
            now = next(steps)
        except StopIteration as end:
            return end.value
        yield Step(now.fraction, now.characters, now.perplexity)


Steps = Generator[Step, None, Any]


def scoring(store: Store, digest: str, model: LanguageModel, text: Text) -> Generator[Step, None, Scored]:
    """Everything about a text under the chosen model; kept when it is done."""
    key = full_key(digest, text)
    found: Scored | None = store.get(key)
    if found is None:
        report = yield from stepped(score(model, **text.source()))
        found = Scored(report)
        store.put(key, found)
        store.put(plain_key(digest, text), found.report)
    return found


def comparing(
    store: Store, digest: str, load: Callable[[], LanguageModel], text: Text
) -> Generator[Step, None, Report]:
    """The report of a text by another model, loaded here so that the page need not wait for it."""
    key = plain_key(digest, text)
    found = store.get(key)
    if found is None:
        yield Step(0.0)
        found = yield from stepped(score(load(), **text.source()))
        store.put(key, found)
    report: Report = found
    return report


def fetching(name: str, check: Check) -> Generator[Step, None, None]:
    """Download a corpus."""
    yield Step(0.0)
    corpora.fetch(name, progress=lambda received, expected: check())
    yield Step(1.0)


def unknown_characters(codes: Any, known: Any) -> tuple[tuple[tuple[str, int], ...], int]:
    """The characters that are not known, with their counts, the most frequent first, and how many differ.

    `codes` (n,) are code points and `known` (n,) says which the vocabulary has; read in blocks.
    """
    counts: dict[int, int] = {}
    for start in range(0, len(codes), BLOCK):
        block = np.asarray(codes[start : start + BLOCK])
        points, often = np.unique(block[~known(start, start + len(block))], return_counts=True)
        for point, n in zip(points.tolist(), often.tolist(), strict=True):
            counts[point] = counts.get(point, 0) + n
    listed = sorted(counts.items(), key=lambda c: (-c[1], c[0]))[:LISTED]
    return tuple((chr(point), n) for point, n in listed), len(counts)
