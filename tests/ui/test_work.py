"""The jobs of the Perplexity page, without a page: they can be ended at any time, and leave nothing then."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import add_sketch, load_numpy, save
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.scoring import perplexity
from rnnviz.reports import contamination
from rnnviz.ui.jobs.store import Store
from rnnviz.ui.jobs.worker import Cancelled, Step
from rnnviz.ui.pages.perplexity import work
from rnnviz.ui.pages.perplexity.texts import Text
from tests.conftest import TEXT

# Not UTF-8, with characters that the model doesn't know, and in stretches that the columns below are read in.
WORDS = "".join(f"Größe und Ärger, {'The Time Traveller. '[: 3 * (n % 7)]}\n" for n in range(60))
LATIN = Text("a.txt", "digest", data=WORDS.encode("cp1252"))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # As if the text were a thousand times as long.
    monkeypatch.setattr("rnnviz.text.decoding.CHUNK", 200)
    for stretch in (
        "rnnviz.reports.column_files.STRETCH",
        "rnnviz.reports.interval.STRETCH",
        "rnnviz.ui.pages.perplexity.work.BLOCK",
    ):
        monkeypatch.setattr(stretch, 200)
    store = Store()
    yield store
    store.clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = save(NgramModel.fit(TEXT, order=3), tmp_path / "m.safetensors")
    add_sketch(path, contamination.sketch(TEXT))
    return path


def test_a_job_looks_whether_it_is_wanted_before_it_scores_and_after(store: Store, file: Path) -> None:
    looks: list[str] = []
    stage = "finding the encoding"
    steps = work.scoring(store, "m", lambda: load_numpy(file), file, LATIN, lambda: looks.append(stage))
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            scored = end.value
            break
        stage = "the end" if step.fraction == 1 else "scoring"
    assert scored.unknown
    assert scored.interval.low is not None
    assert scored.met is not None
    assert scored.report.perplexity == perplexity(load_numpy(file), text=WORDS).perplexity
    pieces = len(WORDS) // 200
    assert looks.count("finding the encoding") > 2 * pieces  # is it UTF-8, is it Windows-1252
    assert looks.count("the end") > 3 * pieces  # what is unknown, the interval, the overlap
    assert store.get(work.full_key("m", LATIN)) is scored


def test_a_job_that_ends_early_leaves_nothing(store: Store, file: Path) -> None:
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == last:
            raise Cancelled

    model = load_numpy(file)
    root = store.folder().parent
    last = ended = 0
    while ended == last:
        last, looks = last + 1, 0
        try:
            for _ in work.scoring(store, "m", lambda: model, file, LATIN, check):
                pass
        except Cancelled:
            ended += 1
            assert [p.name for p in root.iterdir()] == [".lock"]
            assert store.get(work.full_key("m", LATIN)) is None
    assert ended == looks > 30


def test_a_job_that_is_closed_at_its_last_step_leaves_nothing(store: Store, file: Path) -> None:
    steps = work.scoring(store, "m", lambda: load_numpy(file), file, LATIN, lambda: None)
    while next(steps).fraction < 1:
        pass
    steps.close()
    assert [p.name for p in store.folder().parent.iterdir()] == [".lock"]


def test_comparing_looks_while_the_encoding_is_found(store: Store, file: Path) -> None:
    def check() -> None:
        raise Cancelled

    steps = work.comparing(store, "m", lambda: load_numpy(file), LATIN, check)
    assert next(steps) == Step(0.0)
    with pytest.raises(Cancelled):
        next(steps)
