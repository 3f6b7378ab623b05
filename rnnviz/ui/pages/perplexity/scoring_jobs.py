"""The page's jobs: generators that run in a thread. A job calls its last argument, `check`, where it can't
yield.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from rnnviz.networks import contamination
from rnnviz.networks.modelfile import read_sketch
from rnnviz.networks.progress import mapped
from rnnviz.scoring import baselines, compression
from rnnviz.scoring.interval import interval
from rnnviz.scoring.perplexity import score
from rnnviz.scoring.record import Record, record
from rnnviz.scoring.score import Compared, Score
from rnnviz.scoring.totals import Progress
from rnnviz.text.decoding import SourceText
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.pending import Pending, ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check, Step, Steps
from rnnviz.ui.shell import model_cache

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.text.vocabulary import Vocabulary
    from rnnviz.ui.pages.perplexity.text_sources import Text

PATIENCE = 0.6  # seconds that the page waits for short texts before it shows a progress bar
PIECE = 1 << 16  # characters between two places where a reader can stop: a second or two of work
LISTED = 500  # unknown characters listed with their counts
BLOCK = 1 << 16  # characters that the contamination's sketch reads at a time


@dataclass(frozen=True, eq=False)
class Scored:
    """A text's score under a model, and its record.

    unknown        the LISTED most frequent characters outside the vocabulary, with their counts
    kinds_unknown  how many different characters are outside it
    folder         the record: the value of every character
    key            its key in the store
    most           characters after which the reader stopped; None: all were read
    """

    score: Score
    unknown: tuple[tuple[str, int], ...]
    kinds_unknown: int
    folder: Path
    key: Key
    most: int | None

    @property
    def complete(self) -> bool:
        """Whether the record is still on disk; it may have made room for other results."""
        return self.folder.is_dir()

    @property
    def record(self) -> Record:
        """The record, with the value of every character; only while `complete`."""
        return Record(self.folder, self.score)

    def called(self, name: str) -> Scored:
        return replace(self, score=replace(self.score, file=name))


def full_key(info: ModelInfo, text: Text) -> Key:
    """The key of a text's `Scored` by the model of this file."""
    return text.key("full", model_cache.digest(info))


def plain_key(info: ModelInfo, text: Text) -> Key:
    """The key of a text's score alone by the model of this file."""
    return text.key("plain", model_cache.digest(info))


def step_of(progress: Progress) -> Step:
    """A scoring's progress as a job's. Each step also makes room on disk for the record being written."""
    store.shared().make_room()
    return Step(progress.fraction, progress.characters, progress.perplexity)


def _reading(info: ModelInfo, text: Text, check: Check, stop: Event | None = None) -> dict[str, Any]:
    """The arguments of `score` and `record` for a text, read up to `text.most` or until `stop` is set."""

    def enough(read: int) -> bool:
        return read == text.most or (stop is not None and stop.is_set())

    # An n-gram model's default pieces are smaller: it needs memory for each symbol at each place.
    return {**text.source(check), "piece": None if info.kind == "ngram" else PIECE, "enough": enough}


def scoring(info: ModelInfo, text: Text, stop: Event, check: Check) -> Steps[Scored]:
    """The steps of scoring a text by a model. After `stop`, the result is that of the shorter text read."""
    folder, source = store.shared().folder(), _reading(info, text, check, stop)
    try:
        steps = record(model_cache.load_scorer(info), source.pop("path"), folder, **source)
        with closing((yield from mapped(steps, step_of))) as made:  # Windows removes no file that is open
            yield Step(1.0, len(made), made.score.perplexity)
            if stop.is_set():
                text = replace(text, most=len(made))
            unknown = made.unknown_counts(check) if made.score.unknown else []
            found = Scored(
                replace(made.score, interval=interval(made), overlap=_contamination(made, info.path, check)),
                unknown=tuple(unknown[:LISTED]),
                kinds_unknown=len(unknown),
                folder=folder,
                key=full_key(info, text),
                most=text.most,
            )
    except BaseException:  # also GeneratorExit, of a job cancelled after its record was written
        shutil.rmtree(folder, ignore_errors=True)
        raise
    store.shared().put(plain_key(info, text), found.score)
    return found


def _contamination(made: Record, path: Path, check: Check) -> contamination.Contamination | None:
    sketch = read_sketch(path)
    if sketch is None:
        return None

    def pieces() -> Iterator[str]:
        for at in range(0, len(made), BLOCK):
            check()
            yield made.text(at, min(at + BLOCK, len(made)))

    return contamination.share(pieces(), sketch)


def scored(
    info: ModelInfo, text: Text, title: str, stop: Event | None = None, **options: Any
) -> Pending[Scored]:
    """A text's result by a model, or its job; `options` are those of `pending.ask`."""
    size = len(text.data or text.text or "")
    make, options = partial(scoring, info, text, stop or Event()), {"patience": PATIENCE, **options}
    return ask(full_key(info, text), title, make, shared=True, stop=stop, size=size, **options)


def comparing(info: ModelInfo, text: Text, check: Check) -> Steps[Score]:
    """The steps of a text's score by another model, which is loaded here: the page doesn't wait for that."""
    yield Step(0.0)
    found = yield from mapped(score(model_cache.load_scorer(info), **_reading(info, text, check)), step_of)
    return found


def measuring(text: Text, score: Score, vocabulary: Vocabulary, check: Check) -> Steps[dict[str, Compared]]:
    """The steps of measuring the baselines on a scored text; the result is by baseline's name."""
    yield Step(0.0)
    source = SourceText(**text.source(check), normaliser=score.normaliser)
    steps = baselines.measuring(score, source, vocabulary)
    measured = yield from mapped(steps, lambda done: Step(done / score.characters, done))
    return {one.name: one for one in measured}


def compressing(model: Any, scored: Scored, check: Check) -> Steps[bytes]:
    """The steps of compressing a text. The file is decompressed too, which checks its digest of the text."""
    made = scored.record
    n = len(made)
    steps = compression.compressing(model, made.text(0, n))
    data = yield from mapped(steps, lambda share: Step(share / 2, round(share * n)))
    steps_back = compression.decompressing(model, data)
    yield from mapped(steps_back, lambda share: Step((1 + share) / 2, round(share * n)))
    return data
