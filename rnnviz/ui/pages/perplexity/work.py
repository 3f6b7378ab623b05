"""The jobs of the page, as generators for jobs.py. They run on a thread and draw nothing."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Hashable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnviz.reading import compression
from rnnviz.reading.scoring import LanguageModel, Progress, Report, score
from rnnviz.reports import baselines, contamination
from rnnviz.reports.interval import Interval, interval
from rnnviz.reports.record import Record, record
from rnnviz.text import corpora
from rnnviz.ui.jobs.store import Store
from rnnviz.ui.jobs.worker import Check, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rnnviz.text.vocabulary import Vocabulary
    from rnnviz.ui.pages.perplexity.texts import Text

LISTED = 500  # different unknown characters that are told apart
BLOCK = 1 << 16


@dataclass(frozen=True)
class Scored:
    """What there is to know of a text under a model.

    `unknown` lists the characters outside the vocabulary with their counts,
    the most frequent first, at most LISTED of the `kinds_unknown` different
    ones. `folder` holds the record of every character; None once it had to make room for others.
    """

    report: Report
    unknown: tuple[tuple[str, int], ...] = ()
    kinds_unknown: int = 0
    interval: Interval | None = None
    met: contamination.Overlap | None = None
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


def scoring(
    store: Store, digest: str, load: Callable[[], LanguageModel], path: Path, text: Text, check: Check
) -> Generator[Step, None, Scored]:
    """Everything about a text under the model in the file `path`; kept when it is done.

    `check` is called several times a second where there is nothing to yield: while the encoding is looked
    for, and after the last character.
    """
    key = full_key(digest, text)
    found: Scored | None = store.get(key)
    if found is None:
        folder = store.folder()
        source = text.source(check)
        try:
            kept = yield from stepped(record(load(), source.pop("path"), folder, **source))
            yield Step(1.0, len(kept), kept.report.perplexity)
            unknown = kept.unknown_counts(check) if kept.report.unknown else []
            found = Scored(
                kept.report,
                tuple(unknown[:LISTED]),
                len(unknown),
                interval(kept, check=check),
                overlapping(kept, path, check),
                folder,
            )
        except BaseException:  # cancelled, say, when the record was there already
            shutil.rmtree(folder, ignore_errors=True)
            raise
        store.put(key, found, folder, replace(found, folder=None))
        store.put(plain_key(digest, text), found.report)
    return found


def overlapping(kept: Record, path: Path, check: Check) -> contamination.Overlap | None:
    """How much of the text the model had read when it was trained, where its file can tell."""
    sketch = contamination.of(path)
    if sketch is None:
        return None

    def pieces() -> Iterator[str]:
        for at in range(0, len(kept), BLOCK):
            check()
            yield kept.text(at, min(at + BLOCK, len(kept)))

    return contamination.share(pieces(), sketch)


def measuring(
    store: Store, key: Hashable, scored: Scored, vocabulary: Vocabulary
) -> Generator[Step, None, dict[str, baselines.Baseline]]:
    """What a text costs without a model of language, by name."""
    found: dict[str, baselines.Baseline] | None = store.get(key)
    if found is None:
        assert scored.folder is not None
        kept = Record.open(scored.folder)
        yield Step(0.0)
        found = {"uniform": baselines.uniform(vocabulary, kept), "unigram": baselines.unigram(kept)}
        steps = baselines.compressing(kept)
        while True:
            try:
                done = next(steps)
            except StopIteration as end:
                compressed = end.value
                break
            yield Step(done / len(kept), done)
        found |= {one.name: one for one in compressed}
        store.put(key, found)
    return found


def squeezing(store: Store, key: Hashable, model: Any, scored: Scored) -> Generator[Step, None, None]:
    """The text as a compressed file, kept under `key`."""
    assert scored.folder is not None
    kept = Record.open(scored.folder)
    data = yield from shares(compression.compressing(model, kept.text(0, len(kept))), len(kept))
    store.put(key, data)


def restoring(
    store: Store, key: Hashable, model: Any, data: bytes, scored: Scored
) -> Generator[Step, None, None]:
    """Whether the compressed file gives the text back, character for character; kept under `key`."""
    assert scored.folder is not None
    kept = Record.open(scored.folder)
    restored = yield from shares(compression.decompressing(model, data), len(kept))
    store.put(key, bool(restored == kept.text(0, len(kept))))


def shares(steps: Generator[float, None, Any], characters: int) -> Generator[Step, None, Any]:
    """Steps that are shares of so many characters, as those of a job."""
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            return end.value
        yield Step(done, round(done * characters))


def comparing(
    store: Store, digest: str, load: Callable[[], LanguageModel], text: Text, check: Check
) -> Generator[Step, None, Report]:
    """The report of a text by another model, loaded here so that the page need not wait for it."""
    key = plain_key(digest, text)
    found = store.get(key)
    if found is None:
        yield Step(0.0)
        found = yield from stepped(score(load(), **text.source(check)))
        store.put(key, found)
    report: Report = found
    return report


def fetching(name: str, check: Check) -> Generator[Step, None, None]:
    """Download a corpus."""
    yield Step(0.0)
    corpora.fetch(name, progress=lambda received, expected: check())
    yield Step(1.0)
