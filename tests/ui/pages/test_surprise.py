"""The section "Where the surprise is" without a browser: what it sends, and its tables."""

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


def script() -> None:
    """What AppTest runs: the section alone."""
    import streamlit as st

    from rnnviz.ui.pages.perplexity import surprise

    surprise.draw(*st.session_state["shown"])


@pytest.fixture
def shown(tmp_path: Path) -> Callable[..., AppTest]:
    """The section for a text, with a second model where `compared`."""

    def opened(text: str = LINES, *, compared: bool = False, other_text: str | None = None) -> AppTest:
        app = AppTest.from_function(script, default_timeout=60)
        other = (make_record(tmp_path, NGRAM, other_text or text), NGRAM) if compared else None
        app.session_state["shown"] = (make_record(tmp_path, GRU, text), GRU, other)
        app.run()
        return app

    return opened


def turn_to(app: AppTest, name: str) -> Any:
    (choice,) = app.get("button_group")
    choice.set_value(name).run()
    return app.dataframe[0].value


def test_the_curve_ends_at_the_reports_perplexity(shown: Callable[..., AppTest]) -> None:
    header, arrays = component_data(shown())
    assert arrays["curveAt"][-1] == len(LINES)
    assert arrays["curveRunning0"][-1] == pytest.approx(perplexity(GRU, text=LINES).perplexity, rel=1e-6)
    assert len(arrays["curveAt"]) <= 2000
    assert header["length"] == len(LINES)
    assert header["static"]["names"] == ["tiny-gru"]
    assert "".join(map(chr, arrays["codes"])) == LINES
    assert "versus" not in arrays


def test_the_passages_are_the_records(shown: Callable[..., AppTest]) -> None:
    app = shown()
    wanted = app.session_state["shown"][0].surprising_passages(20, 80)
    table = app.dataframe[0].value
    assert table["Perplexity"].tolist() == [p.perplexity for p in wanted]
    assert table["Character no."].tolist() == [p.start + 1 for p in wanted]
    assert not table["Passage"].str.contains("\n").any()
    easiest = turn_to(app, "least")
    assert easiest["Perplexity"].max() < table["Perplexity"].max()


def test_lines(shown: Callable[..., AppTest]) -> None:
    lines = turn_to(shown(), "lines")
    assert lines["Characters"].sum() == len(LINES)
    assert lines["Bits"].sum() == pytest.approx(np.log2(perplexity(GRU, text=LINES).perplexity) * len(LINES))
    assert lines["Beginning"].iloc[-1] == "A second paragraph: 42 \U0001f600 中文 <b>⇥</b>"


def test_two_models_are_compared(shown: Callable[..., AppTest]) -> None:
    app = shown(compared=True)
    header, arrays = component_data(app)
    assert header["static"]["names"] == ["tiny-gru", "tiny-3gram"]
    first, _model, (other, _counts) = app.session_state["shown"]
    np.testing.assert_allclose(
        arrays["versus"], other.read("nll", 0, len(other)) - first.read("nll", 0, len(first)), atol=1e-4
    )
    assert arrays["curveRunning1"][-1] == pytest.approx(perplexity(NGRAM, text=LINES).perplexity, rel=1e-6)
    table = turn_to(app, "versus")
    differences = table["Bits per character"].abs().tolist()
    assert differences == sorted(differences, reverse=True)


def test_another_text_can_not_be_compared_and_the_rest_stays(shown: Callable[..., AppTest]) -> None:
    app = shown(compared=True, other_text=LINES + "x")
    assert len(app.warning) == 1
    assert component_data(app)[0]["static"]["names"] == ["tiny-gru"]
    assert len(app.dataframe) == 1


def test_single_character_has_a_section_too(shown: Callable[..., AppTest]) -> None:
    app = shown("x")
    assert component_data(app)[1]["curveAt"].tolist() == [1]
    assert [len(turn_to(app, name)) for name in ("least", "lines")] == [1, 1]


def test_a_passage_is_one_line() -> None:
    assert one_line("a b\nc\td\x00\u202e中\U0001f600<") == "a b⏎c⇥d␀U+202E中\U0001f600<"


def test_a_session_keeps_a_few_sections_only(shown: Callable[..., AppTest], tmp_path: Path) -> None:
    app = shown()
    for _ in range(MAX_OPEN_TEXTS + 3):
        app.session_state["shown"] = (make_record(tmp_path, GRU, TEXT), GRU, None)
        app.run()
    state = app.session_state._state.filtered_state
    sections = [value for value in state.values() if isinstance(value, TextView)]
    assert len(sections) == MAX_OPEN_TEXTS + 1
    assert component_data(app)[0]["length"] == len(TEXT)


@pytest.mark.parametrize(
    ("largest", "written"),
    [(9e5, ""), (1.54e8, "154 million"), (2e9, "2 billion"), (math.inf, "")],
)
def test_huge_perplexities_in_a_table_are_written_as_on_the_page(
    shown: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch, largest: float, written: str
) -> None:
    """Not as the browser's language has it, whose "compact" 154 million is 154m in Britain, 15Cr in India."""
    listed = [Mock(perplexity=one, bits=1.0, characters=2, start=0, stop=1) for one in (2.5, largest)]
    monkeypatch.setattr(Record, "lines", lambda record, most: (listed, 2))
    app = shown()
    assert turn_to(app, "lines")["Perplexity"].tolist() == [2.5, largest]
    table = app.dataframe[0].proto
    kind = json.loads(table.columns)["Perplexity"]["type_config"].get("format")
    assert kind == ("accounting" if largest < 1e6 else None)
    if kind is None:
        values = convert_arrow_bytes_to_pandas_df(table.arrow_data.styler.display_values)
        assert values["Perplexity"].tolist() == ["2.50", written or rounded(largest)]
