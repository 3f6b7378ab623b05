"""The jobs of the Perplexity page, without a page: they can be ended at any time, and leave nothing then."""

import tempfile
from pathlib import Path
from threading import Event

import pytest

from rnnviz.networks import contamination
from rnnviz.networks.checkpoint import ModelInfo, read_info, save
from rnnviz.networks.modelfile import rewrite
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import score
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.worker import Cancelled, Step
from rnnviz.ui.pages.perplexity import scoring_jobs
from rnnviz.ui.pages.perplexity.text_sources import Text
from tests.support.models import TEXT

# Not UTF-8, with characters that the model doesn't know, and in stretches that the columns below are read in.
WORDS = "".join(f"Größe und Ärger, {'The Time Traveller. '[: 3 * (n % 7)]}\n" for n in range(60))
LATIN = Text("a.txt", "digest", data=WORDS.encode("cp1252"))


@pytest.fixture
def info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelInfo:
    """A model that knows its training text. Texts are read as if they were a thousand times as long."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr("rnnviz.text.decoding.CHUNK_BYTES", 200)
    for stretch in (
        "rnnviz.scoring.column_files.STRETCH",
        "rnnviz.ui.pages.perplexity.scoring_jobs.BLOCK",
    ):
        monkeypatch.setattr(stretch, 200)
    path = save(NgramModel.fit(TEXT, order=3), tmp_path / "m.safetensors")
    rewrite(path, path, sketch=contamination.sketch(TEXT))
    return read_info(path)


def left() -> list[str]:
    """What lies in the store's folder."""
    return [path.name for path in store.shared().folder().parent.iterdir()]


def test_a_job_that_ends_early_leaves_nothing(info: ModelInfo) -> None:
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1
        if looks == last:
            raise Cancelled

    last = ended = 0
    while ended == last:
        last, looks = last + 1, 0
        try:
            for _ in scoring_jobs.scoring(info, LATIN, Event(), check):
                pass
        except Cancelled:
            ended += 1
            assert left() == [".lock"]
            assert store.shared().get(scoring_jobs.full_key(info, LATIN)) is None
    assert ended == looks > 40, "while the encoding is found, what is unknown is counted, the overlap is"


def test_a_job_that_is_closed_at_its_last_step_leaves_nothing(info: ModelInfo) -> None:
    steps = scoring_jobs.scoring(info, LATIN, Event(), lambda: None)
    while next(steps).fraction < 1:
        pass
    steps.close()
    assert left() == [".lock"]


def test_comparing_looks_while_the_encoding_is_found(info: ModelInfo) -> None:
    def check() -> None:
        raise Cancelled

    steps = scoring_jobs.comparing(info, LATIN, check)
    assert next(steps) == Step(0.0)
    with pytest.raises(Cancelled):
        next(steps)


def test_every_step_makes_room_for_what_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[store.Store]()
    monkeypatch.setattr(store.Store, "make_room", lambda self: made.append(self))
    assert scoring_jobs.step_of(next(score(NgramModel.fit(TEXT, order=2), text="machine"))).fraction == 1.0
    assert made == [store.shared()]
