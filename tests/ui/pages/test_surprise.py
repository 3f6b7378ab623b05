"""The section "Where the surprise is" without a browser: its data for the browser, and its tables."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from rnnviz.networks.ngram import NgramModel
from rnnviz.page.formatting import rounded
from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.record import Record
from rnnviz.ui.pages.perplexity.surprise import MAX_OPEN_TEXTS, TextView, one_line
from tests.support.apptest import component_data
from tests.support.models import TEXT, tiny
from tests.support.recorded import make_record

GRU = tiny("gru", name="tiny-gru")
NGRAM = NgramModel.fit(TEXT, order=3, name="tiny-3gram")
LINES = TEXT + "\n\nA second paragraph: 42 \U0001f600 中文 <b>\t</b>\n"

OpenView = Callable[..., AppTest]


def script() -> None:
    """What AppTest runs: the section alone."""
    import streamlit as st

    from rnnviz.ui.pages.perplexity import surprise

    surprise.draw(*st.session_state["arguments"])


@pytest.fixture
def open_view(tmp_path: Path) -> OpenView:
    """Open the section for a text, with a second model if `compared`."""

    def open_text(text: str = LINES, *, compared: bool = False, other_text: str | None = None) -> AppTest:
        app = AppTest.from_function(script, default_timeout=60)
        other = (make_record(tmp_path, NGRAM, other_text or text), NGRAM) if compared else None
        app.session_state["arguments"] = (make_record(tmp_path, GRU, text), GRU, other)
        app.run()
        return app

    return open_text


def turn_to(app: AppTest, name: str) -> Any:
    (choice,) = app.get("button_group")
    choice.set_value(name).run()
    return app.dataframe[0].value


def test_curve_ends_at_the_texts_perplexity(open_view: OpenView) -> None:
    _header, arrays = component_data(open_view())
    assert arrays["curveAt"][-1] == len(LINES)
    assert arrays["curveRunning0"][-1] == pytest.approx(perplexity(GRU, text=LINES).perplexity, rel=1e-6)
    assert len(arrays["curveAt"]) <= 2000
    assert "versus" not in arrays


def test_passages_are_the_records(open_view: OpenView) -> None:
    app = open_view()
    passages = app.session_state["arguments"][0].surprising_passages(20, 80)
    table = app.dataframe[0].value
    assert table["Perplexity"].tolist() == [p.perplexity for p in passages]
    assert table["Character no."].tolist() == [p.start + 1 for p in passages]
    assert not table["Passage"].str.contains("\n").any()
    easiest = turn_to(app, "least")
    assert easiest["Perplexity"].max() < table["Perplexity"].max()


def test_lines_add_up_to_the_text(open_view: OpenView) -> None:
    lines = turn_to(open_view(), "lines")
    assert lines["Characters"].sum() == len(LINES)
    assert lines["Bits"].sum() == pytest.approx(np.log2(perplexity(GRU, text=LINES).perplexity) * len(LINES))
    assert lines["Beginning"].iloc[-1] == "A second paragraph: 42 \U0001f600 中文 <b>⇥</b>"


def test_two_models_are_compared(open_view: OpenView) -> None:
    app = open_view(compared=True)
    header, arrays = component_data(app)
    assert header["fixed"]["names"] == ["tiny-gru", "tiny-3gram"]
    assert len(arrays["versus"]) == len(LINES)
    assert arrays["curveRunning1"][-1] == pytest.approx(perplexity(NGRAM, text=LINES).perplexity, rel=1e-6)
    table = turn_to(app, "versus")
    differences = table["Bits per character"].abs().tolist()
    assert differences == sorted(differences, reverse=True)


def test_record_of_another_text_is_not_compared(open_view: OpenView) -> None:
    app = open_view(compared=True, other_text=LINES + "x")
    assert len(app.warning) == 1
    assert component_data(app)[0]["fixed"]["names"] == ["tiny-gru"]
    assert len(app.dataframe) == 1


def test_single_character_has_its_tables(open_view: OpenView) -> None:
    app = open_view("x")
    assert component_data(app)[1]["curveAt"].tolist() == [1]
    assert [len(turn_to(app, name)) for name in ("least", "lines")] == [1, 1]


def test_passage_is_one_line() -> None:
    assert one_line("a b\nc\td\x00\u202e中\U0001f600<") == "a b⏎c⇥d␀U+202E中\U0001f600<"


def test_session_keeps_a_few_views_open(open_view: OpenView, tmp_path: Path) -> None:
    app = open_view()
    for _ in range(MAX_OPEN_TEXTS + 3):
        app.session_state["arguments"] = (make_record(tmp_path, GRU, TEXT), GRU, None)
        app.run()
    state = app.session_state._state.filtered_state
    views = [value for value in state.values() if isinstance(value, TextView)]
    assert len(views) == MAX_OPEN_TEXTS + 1
    assert component_data(app)[0]["length"] == len(TEXT)


@pytest.mark.parametrize(
    ("largest", "words"),
    [(9e5, ""), (1.54e8, "154 million"), (2e9, "2 billion"), (math.inf, "")],
)
def test_huge_perplexities_in_a_table_are_words_as_on_the_page(
    open_view: OpenView, monkeypatch: pytest.MonkeyPatch, largest: float, words: str
) -> None:
    """Not as the browser's language has it, whose "compact" 154 million is 154m in Britain, 15Cr in India."""
    listed = [Mock(perplexity=value, bits=1.0, characters=2, start=0, stop=1) for value in (2.5, largest)]
    monkeypatch.setattr(Record, "lines", lambda record, max_lines: (listed, 2))
    app = open_view()
    assert turn_to(app, "lines")["Perplexity"].tolist() == [2.5, largest]
    table = app.dataframe[0].proto
    kind = json.loads(table.columns)["Perplexity"]["type_config"].get("format")
    assert kind == ("accounting" if largest < 1e6 else None)
    if kind is None:
        values = convert_arrow_bytes_to_pandas_df(table.arrow_data.styler.display_values)
        assert values["Perplexity"].tolist() == ["2.50", words or rounded(largest)]
