"""The part Match of the page Inside: what it finds is what the package finds, and which texts wait."""

from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.lab.analysis import matching, places
from rnnviz.lab.analysis.places import SearchedText
from rnnviz.lab.pages.inside import match, search_texts
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora
from rnnviz.ui.shell import render_finding
from tests.support.apptest import Open, page_words, run_until_settled
from tests.support.lab_pages import ask_dashboard, text_values, write_text
from tests.support.models import TEXT, tiny, tiny_card

GRU = tiny("gru", card=tiny_card())
SPAN = (30, 34)

pytestmark = pytest.mark.usefixtures("short_texts")


def opened(open_app: Open, threshold: float = 0.05) -> AppTest:
    app = write_text(open_app("inside", model="tiny-gru", part="match"), TEXT[:600])
    app.slider(key="inside.match.threshold").set_value(threshold).run()
    return run_until_settled(ask_dashboard(app, "inside.match", kind="span", value=list(SPAN)), "inside")


def choose(app: AppTest, where: str) -> AppTest:
    return next(b for b in app.selectbox if b.label == "On which text").set_value(where).run()


def test_passage_matches_are_those_of_the_package(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = opened(open_app)
    pattern = matching.pattern(trace(GRU, TEXT[:600]), *SPAN, threshold=0.05, layer=0)
    assert 1 < len(pattern) < 12
    assert f"**{len(pattern)} units** are on throughout" in page_words(app)
    dashboard = dashboards["inside.match"]
    assert dashboard["spans"] == [list(SPAN)]
    assert text_values(dashboard)[SPAN[0] : SPAN[1]].tolist() == [1.0] * 4
    matches = matching.find(
        trace(GRU, TEXT[:600]).hidden[:, 0].T.astype("float16"), 12, pattern, most=match.MAX_SHOWN_MATCHES
    )
    rows = dashboards["inside.matches"]["texts"]
    assert len(rows) == len(matches.found) > 1
    for row, place in zip(rows, matches.found, strict=True):
        begin = max(0, place.start - matching.CHARS_BEFORE)
        assert row["marked"] == [place.start - begin, place.stop - begin]


def test_untrained_copies_stand_beside_the_matches(open_app: Open) -> None:
    app = opened(open_app)
    assert "**Control**" not in page_words(app)
    app = run_until_settled(app.button(key="inside.match-copies.start").click().run(), "inside")
    searched, read, max_shown = SearchedText(GRU, TEXT[:600]), trace(GRU, TEXT[:600]), match.MAX_SHOWN_MATCHES
    matches = searched.elsewhere(read, *SPAN, threshold=0.05, layer=0, most=max_shown)
    copies = matching.untrained_copies(GRU, TEXT[:600])
    matches = searched.beside(matches, read, *SPAN, copies, layer=0, most=max_shown)
    assert matches.untrained is not None
    assert render_finding.join_sentences(matches.sentences()) in page_words(app)


def test_click_makes_a_match_the_text_in_view(
    open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "CHARS_BEFORE_MATCH", 20)
    monkeypatch.setattr(match, "MAX_TEXT_CHARS", 100)
    app = opened(open_app)
    row = dashboards["inside.matches"]["texts"][2]
    codes = dashboards["inside.matches"]["arrays"][row["codes"]]
    matched = "".join(map(chr, codes[slice(*row["marked"])]))
    app = run_until_settled(
        ask_dashboard(app, "inside.matches", kind="pick", panel="text", value=2), "inside"
    )
    text = app.text_area(key="inside.text").value
    assert text in TEXT
    assert len(text) == 100
    ((start, stop),) = dashboards["inside.match"]["spans"]
    assert text[start:stop] == matched
    assert start >= 20


@pytest.mark.parametrize("fits", [True, False])
def test_long_text_is_read_on_request_and_kept_if_its_states_fit(
    fits: bool, open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_texts, "list_searchable_corpora", lambda: [corpora.describe("python-docs")])
    monkeypatch.setattr(match, "SEARCHED", replace(match.SEARCHED, max_chars=30_000))
    size = 2 * 12 * 30_000
    monkeypatch.setattr(places, "MAX_KEPT_BYTES", size if fits else size - 1)
    app = run_until_settled(choose(opened(open_app), "python-docs"), "inside")
    sentence = "Their states, 1 MB, stay in memory" if fits else "more than the 1 MB that are kept"
    assert f"Reads 30,000 characters{'.' if fits else ' anew in each search'}" in page_words(app)
    assert sentence in page_words(app)
    dashboards.clear()
    app = run_until_settled(app.button(key="inside.matches.start").click().run(), "inside")
    assert "in 30,000 characters" in page_words(app)
    assert dashboards["inside.matches"]["texts"]
    app = run_until_settled(app.slider(key="inside.match.threshold").set_value(0.1).run(), "inside")
    assert bool([b for b in app.button if b.key == "inside.matches.start"]) != fits
    assert ("in 30,000 characters" in page_words(app)) == fits


def test_uploaded_file_is_searched(open_app: Open) -> None:
    app = choose(opened(open_app), "file")
    app = app.file_uploader(key="inside.match.source.file").upload("a.txt", TEXT.encode(), "text/plain").run()
    assert f"in {len(TEXT):,} characters" in page_words(run_until_settled(app, "inside"))


def test_missing_units_and_places_are_named(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = opened(open_app, 0.95)
    assert "No unit is on throughout the 4 selected characters" in app.info[0].value
    assert "inside.matches" not in dashboards
    assert dashboards["inside.match"]["panels"][0]["title"].startswith("All units along the text")
    app.slider(key="inside.match.threshold").set_value(0.05).run()
    app = run_until_settled(app, "inside").number_input(key="inside.match.least").set_value(500).run()
    assert "Nowhere in the 600 characters" in page_words(app)


def test_repeated_word_is_selected_at_first(open_app: Open, dashboards: dict[str, Any]) -> None:
    write_text(open_app("inside", model="tiny-gru", part="match"), "one two one six")
    assert dashboards["inside.match"]["spans"] == [[8, 11]]
    write_text(open_app("inside", model="tiny-gru", part="match"), "?!")
    assert dashboards["inside.match"]["spans"] == [[1, 2]]
