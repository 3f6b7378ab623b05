"""The jobs of the Perplexity page, without a page: cancelled at any time, they leave nothing."""

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from rnnviz.networks import contamination
from rnnviz.networks.checkpoint import ModelInfo, read_info, save
from rnnviz.networks.modelfile import rewrite
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.progress import Cancelled, Share
from rnnviz.scoring.language_model import PIECE_CHARS
from rnnviz.scoring.perplexity import perplexity
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.perplexity import scoring_jobs, text_sources
from rnnviz.ui.pages.perplexity.text_sources import ReaderText, plain_text
from rnnviz.ui.shell import model_cache
from tests.support.models import TEXT

# Not UTF-8, with characters that the model doesn't know, and in stretches that the columns below are read in.
WORDS = "".join(f"Größe und Ärger, {'The Time Traveller. '[: 3 * (n % 7)]}\n" for n in range(60))
LATIN = ReaderText("a.txt", "digest", data=WORDS.encode("cp1252"))


@pytest.fixture
def info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelInfo:
    """A model that knows its training text. Texts are read as if they were a thousand times as long."""
    monkeypatch.setattr("rnnviz.text.decoding.CHUNK_BYTES", 200)
    for stretch in (
        "rnnviz.scoring.column_files.STRETCH_CHARS",
        "rnnviz.ui.pages.perplexity.scoring_jobs.SKETCH_CHARS",
    ):
        monkeypatch.setattr(stretch, 200)
    path = save(NgramModel.fit(TEXT, order=3), tmp_path / "m.safetensors")
    rewrite(path, path, sketch=contamination.sketch(TEXT))
    return read_info(path)


def test_cancelled_job_leaves_nothing(info: ModelInfo) -> None:
    reports = 0

    def progress(share: Share) -> None:
        nonlocal reports
        reports += 1
        if reports == last:
            raise Cancelled

    last = ended = 0
    while ended == last:
        last, reports = last + 1, 0
        try:
            scoring_jobs.score_text(info, LATIN, Event(), progress)
        except Cancelled:
            ended += 1
            assert [path.name for path in store.shared().folder().parent.iterdir()] == [".lock"]
            assert store.shared().get(scoring_jobs.record_key(info, LATIN)) is None
    assert ended == reports > 40, "while the encoding is found, what is unknown is counted, the overlap is"


def test_comparison_is_cancelled_while_encoding_is_detected(info: ModelInfo) -> None:
    shares = list[Share]()

    def progress(share: Share) -> None:
        shares.append(share)
        raise Cancelled

    with pytest.raises(Cancelled):
        scoring_jobs.score_by_other(info, LATIN, progress)
    assert shares == [Share(0.0)]


def test_every_report_makes_room_for_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    stores, shares = list[store.Store](), list[Share]()
    monkeypatch.setattr(store.Store, "make_room", lambda self: stores.append(self))
    scoring_jobs.ScoringProgress(shares.append)(Share(0.5, 10, 4.0))
    assert stores == [store.shared()]
    assert shares == [Share(0.5, 10, 4.0)]


def test_stopped_text_ends_at_the_same_character_under_every_model(info: ModelInfo) -> None:
    # The comparison sets their scores side by side: pieces of other lengths must not read further.
    stopped = replace(LATIN, stopped_at=700)
    expected = perplexity(model_cache.load_scorer(info), WORDS[:700])
    scored = scoring_jobs.score_text(info, stopped, Event(), lambda share: None)
    other = scoring_jobs.score_by_other(info, stopped, lambda share: None)
    for score in (scored.score, other):
        assert (score.characters, score.unknown) == (700, expected.unknown)
        assert score.perplexity == pytest.approx(expected.perplexity)
    assert len(scored.record) == scored.stopped_at == 700


def test_text_stopped_during_its_last_piece_was_read_whole(info: ModelInfo) -> None:
    stop = Event()
    stop.set()
    assert len(WORDS) < PIECE_CHARS
    scored = scoring_jobs.score_text(info, LATIN, stop, lambda share: None)
    assert scored.score.characters == len(WORDS)
    assert (scored.stopped_at, scored.key) == (None, scoring_jobs.record_key(info, LATIN))


def test_text_stopped_before_another_piece_is_that_of_the_pieces_read(info: ModelInfo) -> None:
    text = plain_text("a.txt", WORDS.replace("\n", "\r\n") * 4)
    stop = Event()
    stop.set()
    scored = scoring_jobs.score_text(info, text, stop, lambda share: None)
    assert scored.stopped_at == scored.score.characters == PIECE_CHARS
    assert scored.key == scoring_jobs.record_key(info, replace(text, stopped_at=PIECE_CHARS))
    # What was read ahead of the model counts nowhere.
    read = (WORDS * 4)[:PIECE_CHARS]
    assert scored.score.normalised == read.count("\n")
    assert scored.score.bytes == len(read.encode()) + read.count("\n")


def test_second_quick_click_finds_the_text_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    state = {"perplexity.rewritten": {"digest": ("straight",)}}
    monkeypatch.setattr("streamlit.session_state", state)
    text_sources.undo_rewriting("digest")
    text_sources.undo_rewriting("digest")
    assert state == {"perplexity.rewritten": {}}
