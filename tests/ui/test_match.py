"""The part Match of the page Inside: what it finds is what the package finds, and whose text it keeps."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.analysis import indexing, matching
from rnnviz.analysis.indexing import open_index
from rnnviz.networks.progress import run
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora
from rnnviz.ui import render_finding
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.inside import match, search_texts
from tests import needs
from tests.conftest import TEXT, tiny, tiny_card
from tests.ui.apptest import settled
from tests.ui.conftest import Open, everything
from tests.ui.test_inside import ask, write
from tests.ui.test_inside import boards as boards  # a fixture

GRU = tiny("gru", card=tiny_card())
SPAN = (30, 34)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(search_texts, "here", list)


def opened(open_app: Open, threshold: float = 0.05) -> AppTest:
    app = write(open_app("inside", model="tiny-gru", part="match"), TEXT[:600])
    app.slider(key="inside.match.threshold").set_value(threshold).run()
    return settled(ask(app, "inside.match", what="span", value=list(SPAN)), "inside")


def on_corpus(monkeypatch: pytest.MonkeyPatch, **limits: int) -> str:
    """The help of Python is the one corpus here; returns as much of it as is indexed."""
    monkeypatch.setattr(search_texts, "here", lambda: [corpora.describe("python-docs")])
    monkeypatch.setattr(match, "INDEX", replace(match.INDEX, most=30_000))
    return corpora.read("python-docs").text[:30_000]


def choose(app: AppTest, where: str) -> AppTest:
    return next(b for b in app.selectbox if b.label == "On which text").set_value(where).run()


def test_a_passages_units_are_found_elsewhere(open_app: Open, boards: dict[str, Any]) -> None:
    app = opened(open_app)
    pattern = matching.pattern(trace(GRU, TEXT[:600]), *SPAN, threshold=0.05, layer=0)
    assert 1 < len(pattern) < 12
    assert f"**{len(pattern)} units** are on throughout" in everything(app)
    board = boards["inside.match"]
    assert board["spans"] == [list(SPAN)]
    on = board["arrays"][board["texts"][0]["values"]]
    assert on[SPAN[0] : SPAN[1]].tolist() == [1.0] * 4
    found = matching.find(
        trace(GRU, TEXT[:600]).hidden[:, 0].T.astype("float16"), 12, pattern, most=match.SHOWN
    )
    rows = boards["inside.matches"]["texts"]
    assert len(rows) == len(found.found) > 1
    for row, one in zip(rows, found.found, strict=True):
        assert row["label"].startswith(f"{one.overlap} of {len(pattern)} units over {len(one)} characters")
        begin = max(0, one.start - matching.BEFORE)
        assert row["marked"] == [one.start - begin, one.stop - begin]
        codes = boards["inside.matches"]["arrays"][row["codes"]]
        assert "".join(map(chr, codes)) == TEXT[begin : min(600, one.stop + matching.AFTER)]
        assert len(row["bars"]) == 4
    assert "of the places in 600 characters" in everything(app)


def test_untrained_copies_stand_beside_the_matches(open_app: Open) -> None:
    app = opened(open_app)
    assert "**Control**" not in everything(app)
    app = settled(app.button(key="inside.match-copies.start").click().run(), "inside")
    asked = {
        "threshold": 0.05,
        "layer": 0,
        "most": match.SHOWN,
        "copies": run(matching.copies(GRU, TEXT[:600])),
    }
    found = run(indexing.index(GRU, TEXT[:600])).elsewhere(GRU, trace(GRU, TEXT[:600]), *SPAN, **asked)
    assert found.untrained is not None
    assert render_finding.told(found.sentences()) in everything(app)


def test_a_click_makes_a_match_the_text_in_view(
    open_app: Open, boards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "VIEWED", 20)
    monkeypatch.setattr(match, "LONGEST", 100)
    app = opened(open_app)
    row = boards["inside.matches"]["texts"][2]
    codes = boards["inside.matches"]["arrays"][row["codes"]]
    matched = "".join(map(chr, codes[slice(*row["marked"])]))
    app = settled(ask(app, "inside.matches", what="pick", panel="text", value=2), "inside")
    text = app.text_area(key="inside.text").value
    assert text in TEXT
    assert len(text) == 100
    ((start, stop),) = boards["inside.match"]["spans"]
    assert text[start:stop] == matched
    assert start >= 20
    for wrong in (99, -1, "x", None):
        ask(app, "inside.matches", what="pick", panel="text", value=wrong)


def test_a_corpus_is_indexed_on_request_and_kept(
    open_app: Open, boards: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = on_corpus(monkeypatch)
    app = choose(opened(open_app), "python-docs")
    assert "states of up to 30,000 characters on this machine" in everything(app)
    app = settled(app.button(key="inside.index.start").click().run(), "inside")
    (kept,) = [
        found.path for found, _folder, _size in store.shared()._results.values() if len(found) == len(text)
    ]
    assert open_index(kept).text() == text
    assert not (tmp_path / "cache").exists()
    assert "in 30,000 characters" in everything(app)
    again = settled(choose(opened(open_app), "python-docs"), "inside")  # another session finds it
    assert not [b for b in again.button if b.key == "inside.index.start"]
    assert boards["inside.matches"]["texts"]


@needs.removal
def test_a_readers_own_file_goes_with_the_session(open_app: Open, tmp_path: Path) -> None:
    app = choose(opened(open_app), "file")
    app = app.file_uploader(key="inside.match.source.file").upload("a.txt", TEXT.encode(), "text/plain").run()
    app = settled(app, "inside")
    assert f"in {len(TEXT):,} characters" in everything(app)
    assert not (tmp_path / "cache").exists()
    kept = store.shared()
    folders = [found.path for found, _folder, _size in kept._results.values()]
    assert len(folders) == 2  # the page's own text, and the file
    assert all(folder.is_dir() for folder in folders)
    for holder in list(kept._held):
        kept.release(holder)
    assert not any(folder.exists() for folder in folders)


def test_no_unit_and_no_place_are_said(open_app: Open, boards: dict[str, Any]) -> None:
    app = opened(open_app, 0.95)
    assert "No unit is on throughout the 4 selected characters" in app.info[0].value
    assert "inside.matches" not in boards
    assert boards["inside.match"]["panels"][0]["title"].startswith("All units along the text")
    app.slider(key="inside.match.threshold").set_value(0.05).run()
    app = settled(app, "inside").number_input(key="inside.match.least").set_value(500).run()
    assert "At no place of the 600 characters" in everything(app)


def test_before_a_selection_a_word_that_comes_again_is_taken(open_app: Open, boards: dict[str, Any]) -> None:
    write(open_app("inside", model="tiny-gru", part="match"), "one two one six")
    assert boards["inside.match"]["spans"] == [[8, 11]]
    write(open_app("inside", model="tiny-gru", part="match"), "?!")
    assert boards["inside.match"]["spans"] == [[1, 2]]
