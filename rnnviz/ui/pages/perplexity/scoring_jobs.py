"""The page's jobs, functions that run in a thread: each calls its last argument, `progress`, which raises
Cancelled once the reader no longer wants the result. `check`, where one is passed on, reports the last share
again, so that Cancelled can be raised.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from rnnviz.networks import contamination
from rnnviz.networks.modelfile import read_sketch
from rnnviz.networks.progress import Progress, Share, part
from rnnviz.scoring import baselines, compression
from rnnviz.scoring.interval import interval
from rnnviz.scoring.perplexity import score
from rnnviz.scoring.record import Record, record
from rnnviz.scoring.score import CostRow, Score
from rnnviz.text.decoding import SourceText
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.pending import Pending, ask
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.shell import model_cache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rnnviz.networks.checkpoint import ModelInfo
    from rnnviz.text.vocabulary import Vocabulary
    from rnnviz.ui.pages.perplexity.text_sources import ReaderText

# Seconds that the page waits for short texts before it shows a progress bar.
SCORE_PATIENCE_S = 0.6
# Characters between two places where a reader can stop: a second or two of work.
STOPPABLE_PIECE_CHARS = 1 << 16
MAX_LISTED_UNKNOWN = 500  # unknown characters listed with their counts
SKETCH_CHARS = 1 << 16  # characters that the contamination's sketch reads at a time


@dataclass(frozen=True, eq=False)
class TextScore:
    """A text's score under a model, and its record.

    unknown_characters  the MAX_LISTED_UNKNOWN most frequent characters outside the vocabulary, with counts
    kinds_unknown       how many different characters are outside it
    folder              the record: the value of every character
    key                 its key in the store
    stopped_at          characters after which the reader stopped; None: all were read
    """

    score: Score
    unknown_characters: tuple[tuple[str, int], ...]
    kinds_unknown: int
    folder: Path
    key: Key
    stopped_at: int | None

    @property
    def has_record(self) -> bool:
        """Whether the record is still on disk; it may have made room for other results."""
        return self.folder.is_dir()

    @property
    def record(self) -> Record:
        """The record, with the value of every character; only while `has_record`."""
        return Record(self.folder, self.score)

    def with_name(self, name: str) -> TextScore:
        return replace(self, score=replace(self.score, file=name))


def record_key(info: ModelInfo, text: ReaderText) -> Key:
    """The key of a text's `TextScore` by the model of this file."""
    return text.key("full", model_cache.digest(info))


def score_key(info: ModelInfo, text: ReaderText) -> Key:
    """The key of a text's score alone by the model of this file."""
    return text.key("plain", model_cache.digest(info))


@dataclass
class ScoringProgress:
    """A job's progress, while it scores a text. Each report also makes room on disk for the record being
    written.
    """

    progress: Progress
    share: Share = field(default=Share(0.0), init=False)

    def __call__(self, share: Share) -> None:
        self.share = share
        store.shared().make_room()
        self.progress(self.share)

    def repeat(self) -> None:
        """Report the last share again: for work that has no share to tell, but should end when cancelled."""
        self.progress(self.share)


def _reading_options(info: ModelInfo, text: ReaderText, check: Callable[[], None]) -> dict[str, Any]:
    """The arguments of `score` and `record` for a text, read up to `text.stopped_at`."""
    # An n-gram model's default pieces are smaller: it needs memory for each symbol at each place.
    return {
        **text.source(check),
        "piece_chars": None if info.kind == "ngram" else STOPPABLE_PIECE_CHARS,
        "max_characters": text.stopped_at,
    }


def score_text(info: ModelInfo, text: ReaderText, stop: Event, progress: Progress) -> TextScore:
    """Score a text by a model. After `stop`, the result is that of the shorter text read."""
    report, was_stopped = ScoringProgress(progress), False

    def must_stop() -> bool:
        nonlocal was_stopped
        was_stopped = stop.is_set()
        return was_stopped

    # The record is written as the text is read: memory holds one piece of it, however long it is.
    folder, options = store.shared().folder(), _reading_options(info, text, report.repeat)
    try:
        scorer, path = model_cache.load_scorer(info), options.pop("path")
        # Closed before a failure removes the folder: Windows removes no file that is open.
        with closing(
            record(scorer, path, folder, must_stop=must_stop, progress=report, **options)
        ) as text_record:
            report(Share(1.0, len(text_record), text_record.score.perplexity))
            # The result of a stopped text is that of a shorter text: it goes under that text's key. Not that
            # of a text stopped during its last piece: it was read whole.
            if was_stopped:
                text = replace(text, stopped_at=len(text_record))
            unknown = text_record.unknown_counts(report.repeat) if text_record.score.unknown else []
            overlap = _contamination(text_record, info.path, report.repeat)
            result = TextScore(
                replace(text_record.score, interval=interval(text_record), overlap=overlap),
                unknown_characters=tuple(unknown[:MAX_LISTED_UNKNOWN]),
                kinds_unknown=len(unknown),
                folder=folder,
                key=record_key(info, text),
                stopped_at=text.stopped_at,
            )
    except BaseException:  # also Cancelled, after the record was written
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # The comparison asks for this key: it needn't read the text again under the chosen model.
    store.shared().put(score_key(info, text), result.score)
    return result


def _contamination(
    text_record: Record, path: Path, check: Callable[[], None]
) -> contamination.Contamination | None:
    sketch = read_sketch(path)
    if sketch is None:
        return None

    def pieces() -> Iterator[str]:
        for at in range(0, len(text_record), SKETCH_CHARS):
            check()
            yield text_record.text(at, min(at + SKETCH_CHARS, len(text_record)))

    return contamination.share(pieces(), sketch)


def ask_score(
    info: ModelInfo, text: ReaderText, title: str, stop: Event | None = None, **options: Any
) -> Pending[TextScore]:
    """A text's result by a model, or its job; `options` are those of `pending.ask`."""
    # The queue takes the smallest text first.
    size = len(text.data or text.text or "")
    work = partial(score_text, info, text, stop or Event())
    options = {"patience": SCORE_PATIENCE_S, **options}
    return ask(record_key(info, text), title, work, shared=True, stop=stop, size=size, **options)


def score_by_other(info: ModelInfo, text: ReaderText, progress: Progress) -> Score:
    """A text's score by another model, which is loaded here: the page doesn't wait for that."""
    report = ScoringProgress(progress)
    scorer, options = model_cache.load_scorer(info), _reading_options(info, text, report.repeat)
    return score(scorer, **options, progress=report)


def measure_baselines(
    text: ReaderText, score: Score, vocabulary: Vocabulary, progress: Progress
) -> dict[str, CostRow]:
    """The costs of a scored text under the baselines, by baseline's name."""
    report = ScoringProgress(progress)
    source = SourceText(**text.source(report.repeat), normaliser=score.normaliser)
    measured = baselines.measure(score, source, vocabulary, report)
    return {baseline.name: baseline for baseline in measured}


def compress_text(model: Any, text_score: TextScore, progress: Progress) -> bytes:
    """A text as compressed bytes. They are decompressed too, which checks their digest of the text."""
    text_record = text_score.record
    data = compression.compress(
        model, text_record.text(0, len(text_record)), progress=part(progress, 0.0, 0.5)
    )
    compression.decompress(model, data, progress=part(progress, 0.5, 1.0))
    return data
