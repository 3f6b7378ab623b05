"""The text viewer without a browser: the characters it sends, and the characters it says were expected."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.networks.cells import CELLS
from rnnviz.networks.ngram import NgramModel
from rnnviz.page.payload import unpack
from rnnviz.scoring.breakdown import compare_records
from rnnviz.scoring.record import Record
from rnnviz.ui.pages.perplexity import expected_characters
from rnnviz.ui.pages.perplexity.expected_characters import Expected
from rnnviz.ui.pages.perplexity.viewer import CHUNK_CHARS, MAX_CHUNKS, ViewerAsk, ViewerSession
from tests.support.closeness import assert_states
from tests.support.models import TEXT, tiny
from tests.support.recorded import make_record

GRU = tiny("gru", name="gru")
NGRAM = NgramModel.fit(TEXT, order=3, name="3gram")

Keep = Callable[..., Record]


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    """Score a text and keep its record."""
    return lambda text, model=GRU: make_record(tmp_path, model, text)


class CutText:
    """A text without its costs, to be cut into chunks; it counts the characters read."""

    def __init__(self, codes: np.ndarray) -> None:
        self.codes, self.read_chars = codes, 0

    def __len__(self) -> int:
        return len(self.codes)

    def read(self, column: str, start: int, stop: int) -> Any:
        assert column == "codes"
        assert 0 <= start <= stop <= len(self)
        self.read_chars += stop - start
        return self.codes[start:stop]


def ask_viewer(session: ViewerSession, **fields: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    ask = ViewerAsk.from_json({"client": "b", "seq": 3, "digest": "d", **fields})
    return unpack(session.answer(ask, {"words": {}}, "d", {"curveAt": np.zeros(1, "<u4")}))


@given(
    parts=st.lists(
        st.tuples(st.sampled_from(["x", "x ", "x\n", "天。", "\n"]), st.integers(1, 4000)), max_size=8
    )
)
def test_chunks_adjoin_and_break_at_line_ends(parts: list[tuple[str, int]]) -> None:
    text = "".join(part * count for part, count in parts) or "x"
    session = ViewerSession(CutText(np.array([ord(c) for c in text], np.uint32)), {})
    borders = [session.border(i) for i in range(session.count + 1)]
    assert borders[0] == 0
    assert borders[-1] == len(text)
    for i, (start, stop) in enumerate(pairwise(borders)):
        assert start < stop or i == session.count - 1
        assert stop - start <= CHUNK_CHARS * 3 // 2
        near = text[i * CHUNK_CHARS : i * CHUNK_CHARS + CHUNK_CHARS // 2]
        if i and start < len(text) and "\n" in near:
            assert text[start - 1] == "\n"
        for position in {start, (start + stop) // 2, stop - 1} if start < stop else ():
            assert session.chunk_of(position) == i


def test_far_chunk_is_found_without_reading_the_text_before() -> None:
    text = CutText(np.broadcast_to(np.uint32(ord("x")), 50_000_000))
    session = ViewerSession(text, {})
    assert session.chunk_of(49_999_999) == session.count - 1
    assert text.read_chars <= 2 * CHUNK_CHARS


def test_answer_holds_the_records_columns(keep: Keep) -> None:
    text = "The \U0001f600é中\t" + TEXT * 10
    record, second_record = keep(text), keep(text, NGRAM)
    session = ViewerSession(record, {}, second_record, compare_records(record, second_record))
    header, arrays = ask_viewer(session, chunks=[1, 0, 99])
    assert "fixed" not in header
    assert "curveAt" not in arrays
    assert (header["client"], header["seq"], header["length"]) == ("b", 3, len(text))
    (first, second) = header["spans"]
    assert first == [0, 0, second[1]]
    stop = second[2]
    assert "".join(map(chr, arrays["codes"])) == text[:stop]
    trace = rnnviz.trace(GRU, text)
    np.testing.assert_allclose(arrays["nll"], trace.nll[:stop], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(arrays["entropy"], trace.entropy[:stop], rtol=1e-4, atol=1e-4)
    signed = arrays["rank"].view(np.int32)
    assert np.array_equal(signed > 0, trace.known[:stop])  # below 0: unknown
    assert not trace.known[:stop].all()
    np.testing.assert_allclose(
        arrays["versus"], second_record.read("nll", 0, stop) - record.read("nll", 0, stop), atol=1e-4
    )
    assert len(arrays["otherRank"]) == stop


def test_fresh_browser_gets_everything_at_the_last_place(keep: Keep) -> None:
    session = ViewerSession(keep(TEXT * 30), {})
    ask_viewer(session, chunks=[4], place=17_000)
    header, arrays = unpack(
        session.answer(ViewerAsk(fresh=True), {"words": {}}, "d", {"curveAt": np.ones(1, "<u4")})
    )
    assert header["fixed"] == {"words": {}}
    assert header["place"] == 17_000
    assert arrays["curveAt"].tolist() == [1]
    (middle,) = (index for index, start, stop in header["spans"] if start <= 17_000 < stop)
    assert {middle, middle + 1, middle - 1} >= {span[0] for span in header["spans"]}


def test_jump_is_repeated_until_another_one(keep: Keep) -> None:
    session = ViewerSession(keep(TEXT), {})
    assert "jump" not in ask_viewer(session)[0]
    for number in (1, 2):
        session.go(5, 9)
        assert [ask_viewer(session)[0]["jump"] for _ in range(2)] == [[number, 5, 9]] * 2


@pytest.mark.parametrize(
    "value",
    [None, [], "x", {"chunks": "all", "at": -1, "place": 1.5, "digest": 3}, {"chunks": [True, None, -1, 2.0]},
     {"at": "7", "seq": 2**60, "client": None}],
)  # fmt: skip
def test_request_of_any_json_is_valid(value: object) -> None:
    assert ViewerAsk.from_json(value) == ViewerAsk()


def test_request_is_bounded_and_may_be_beyond_the_text(keep: Keep) -> None:
    assert len(ViewerAsk.from_json({"chunks": list(range(999))}).chunks) == MAX_CHUNKS
    header, arrays = ask_viewer(ViewerSession(keep("time"), {}), chunks=[7], at=10**9, place=10**9)
    assert {"spans": [], "place": 3}.items() <= header.items()
    assert "expected" not in header
    assert len(arrays["codes"]) == 0


@pytest.mark.parametrize("cell", CELLS)
def test_expected_characters_equal_the_traces(keep: Keep, cell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_characters, "STRETCH_CHARS", 64)
    model = tiny(cell, name=cell, layers=2)
    text = TEXT[:700]
    trace, expected = rnnviz.trace(model, text), Expected(model, keep(text, model))
    for t in (0, 1, 63, 64, 500, 499, 129, 699):
        prediction, traced = expected.at(t, 5), trace.top(t, 5)
        assert not prediction.approximate
        assert [symbol for symbol, _ in prediction.top] == [symbol for symbol, _ in traced]
        np.testing.assert_allclose([p for _, p in prediction.top], [p for _, p in traced], rtol=1e-4)


def test_prediction_far_from_the_beginning_is_close_and_marked_approximate(
    keep: Keep, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"STRETCH_CHARS": 64, "EXACT_CHARS": 128, "CONTEXT_CHARS": 100}.items():
        monkeypatch.setattr(expected_characters, name, value)
    text = TEXT[:700]
    expected = Expected(GRU, keep(text))
    assert not expected.at(191).approximate
    prediction, traced = expected.at(600), rnnviz.trace(GRU, text).top(600, 5)
    assert prediction.approximate
    np.testing.assert_allclose([p for _, p in prediction.top], [p for _, p in traced], atol=1e-3)


def test_ngram_is_exact_everywhere(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_characters, "EXACT_CHARS", -1)  # far for a network
    expected = Expected(NGRAM, keep(TEXT, NGRAM))
    for t in (0, 1, 2, len(TEXT) - 1):
        prediction = expected.at(t, 3)
        row = NGRAM.log_probs(NGRAM.vocabulary.encode(TEXT[:t]))
        best = np.argsort(-row, kind="stable")[:3]
        assert not prediction.approximate
        assert [symbol for symbol, _ in prediction.top] == [NGRAM.vocabulary.symbol(int(i)) for i in best]
        assert_states([share for _, share in prediction.top], np.exp(row[best]))


def test_models_list_their_predictions_at_a_place(keep: Keep) -> None:
    record = keep(TEXT)
    session = ViewerSession(record, {"a": Expected(GRU, record), "b": Expected(NGRAM, record)})
    predictions = ask_viewer(session, at=30)[0]["expected"]
    assert (predictions["at"], [part["model"] for part in predictions["lists"]]) == (30, ["a", "b"])
    for part in predictions["lists"]:
        shares = [p for _, p in part["top"]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-6


def test_passage_costs_as_much_as_given_the_text_before(keep: Keep) -> None:
    record, second_record = keep(TEXT), keep(TEXT, NGRAM)
    session = ViewerSession(record, {}, second_record, compare_records(record, second_record))
    for start, stop in ((0, 1), (30, 77), (500, len(TEXT))):
        cost = ask_viewer(session, passage=[start, stop])[0]["passage"]
        assert cost["at"] == [start, stop]
        for model, nats in zip((GRU, NGRAM), cost["nats"], strict=True):
            conditional = rnnviz.perplexity(model, text=TEXT[start:stop], context=TEXT[:start])
            assert np.exp(nats) == pytest.approx(conditional.perplexity, rel=1e-5)
    assert "passage" not in ask_viewer(session)[0]
    nonsense = ([3, 3], [5, 2], [0, len(TEXT) + 1], [0], [-1, 4], "passage", [0.0, 4], None)
    assert [passage for passage in nonsense if "passage" in ask_viewer(session, passage=passage)[0]] == []
