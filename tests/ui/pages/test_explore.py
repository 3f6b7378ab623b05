"""The Explore page without a browser: what it is sent, and that an answer is always the whole truth."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz import units
from rnnviz.figures import live
from rnnviz.networks import checkpoint, model_card
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import initial_data, shown_units
from rnnviz.page.live_session import BRANCH_CHARS, MAX_COLUMNS, MAX_TEXT_CHARS, LiveAsk, LiveSession
from rnnviz.page.payload import pack, unpack
from rnnviz.scoring.occlusion import left_out
from rnnviz.ui.pages.explore.page import KEY
from rnnviz.ui.shell import example_text
from tests.support.apptest import Open, component_data
from tests.support.models import TEXT, tiny
from tests.support.serving import ROOT

GRU = tiny("gru", layers=2)
LSTM = tiny("lstm")
FOUND = replace(
    model_card.unit_findings(checkpoint.read_info(checkpoint.find("chinese-gru")).card)[0], quantity="cell"
)
YARDSTICK = NgramModel.fit(TEXT, order=3)
MLP = tiny("mlp")


def test_on_opening_an_example_is_read_already_in_the_readers_language(open_app: Open) -> None:
    app = open_app("explore")
    assert app.sidebar.selectbox(key="model").value == "tiny-gru"
    header, arrays = component_data(app)
    assert (header["text"], header["numbers"]["characters"]) == ("The Time Traveller", 18)
    assert arrays["states"].shape == (18, 12)
    assert header["static"]["ngram"] == "3-gram"
    english = header["static"]["words"]
    chinese = component_data(open_app("explore", locale="zh-CN"))[0]["static"]["words"]
    assert chinese.keys() == english.keys()
    assert english["text"] == "Your text" != chinese["text"]


def test_two_readers_do_not_see_each_other(open_app: Open) -> None:
    readers = {text: open_app("explore") for text in ("flushed", "animated, and his")}
    for text, app in readers.items():
        app.session_state[f"{KEY}.ask"] = {"client": "b", "seq": 1, "text": text}
        app.run()
    assert [component_data(app.run())[0]["text"] for app in readers.values()] == [*readers]


def answered(session: LiveSession, **fields: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return unpack(session.answer(LiveAsk(**fields)))


class Browser:
    """What the browser's store does with an answer."""

    def __init__(self) -> None:
        self.revision, self.window, self.arrays = 0, (0, 0), {}

    def take(self, header: dict[str, Any], new: dict[str, np.ndarray]) -> None:
        known, old = header["known"], self.arrays
        arrays = {name: new[name] for name in ("reshaped", "beside") if name in new}
        for name in ("ids", "nll", "ngram", "memoryless"):
            if name in new:
                arrays[name] = np.concatenate([old[name][:known], new[name]]) if known else new[name]
        if "unit" in new:
            begin = header["unitFrom"]
            arrays["unit"] = np.concatenate([old["unit"][:begin], new["unit"]]) if begin else new["unit"]
        (low, high), start, origin = header["held"], header["start"], self.window[0]
        for name, extra in (("states", 0), ("next", 1), ("chances", 1), ("entropy", 1)):
            arrays[name] = new[name]
            if high > low:
                held = old[name][low - origin : high + extra - origin]
                fresh = [new[name][: low - start], held, new[name][low - start :]]
                arrays[name] = np.concatenate(fresh)
        self.arrays, self.window, self.revision = arrays, (start, header["stop"]), header["revision"]


TEXTS = st.text(alphabet="Time shone\n\té😀", max_size=40)
ASKS = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "columns": st.integers(1, 30),
        "start": st.none() | st.integers(0, 50),
        "quantity": st.sampled_from(["hidden", "cell", "update", "forget"]),
        "layer": st.integers(0, 3),
        "unit": st.none() | st.integers(0, 12),
        "memoryless": st.booleans(),
    }
)
SHAPES = st.fixed_dictionaries(
    {
        "temperature": st.sampled_from([0.0, 0.4, 1.0, 1.7]),
        "top_k": st.none() | st.integers(1, 40),
        "top_p": st.none() | st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    }
)


@pytest.mark.parametrize("model", [GRU, LSTM], ids=["gru", "lstm"])
@given(
    asks=st.lists(st.tuples(ASKS, st.booleans()), min_size=1, max_size=6),
    joined=st.booleans(),
    shapes=st.lists(SHAPES, min_size=1, max_size=2),
)
def test_after_any_asks_the_browser_holds_what_a_fresh_trace_says(
    model: NumpyModel,
    asks: list[tuple[dict[str, Any], bool]],
    joined: bool,
    shapes: list[dict[str, Any]],
) -> None:
    session, browser = LiveSession(model, YARDSTICK, MLP), Browser()
    text = ""
    for n, (ask, lost) in enumerate(asks):
        shape = shapes[n * len(shapes) // len(asks)]
        text = (text + ask["text"])[:60] if joined else ask["text"]
        header, arrays = answered(session, **{**ask, **shape, "text": text}, base=browser.revision)
        if lost:  # an answer that never arrives must not do harm
            continue
        browser.take(header, arrays)
        fresh = rnnviz.trace(model, text)
        (start, stop), got = browser.window, browser.arrays
        assert 0 <= start <= stop <= len(text)
        assert stop - start == min(len(text), ask["columns"])
        quantity, layer = header["quantity"], header["layer"]
        levels = coloured(model, live.plane(fresh, quantity, layer, start, stop), quantity, layer)
        assert np.abs(got["states"].astype(int) - levels).max(initial=0) <= 1
        np.testing.assert_allclose(got["nll"], fresh.nll, rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(got["ids"], fresh.ids)
        np.testing.assert_allclose(got["entropy"], fresh.entropy[start : stop + 1], rtol=1e-4)
        _, chances = fresh.top_at(start, stop + 1, live.LISTED_NEXT)
        np.testing.assert_allclose(got["chances"], chances, rtol=1e-3, atol=1e-6)
        same_as_reshaped(got, fresh, start, stop, shape)
        same_as_without_memory(got, text, start, stop, shape, shown=ask["memoryless"])
        costs = -YARDSTICK.score(YARDSTICK.vocabulary.encode(text))
        costs[YARDSTICK.vocabulary.encode(text) == 0] += YARDSTICK.vocabulary.unknown_cost
        np.testing.assert_allclose(got["ngram"], costs, rtol=1e-4)
        if header["unit"] is not None:
            values = live.plane(fresh, quantity, layer, 0, len(text))[:, header["unit"]]
            levels = coloured(model, values, quantity, layer, header["unit"])
            assert np.abs(got["unit"].astype(int) - levels).max(initial=0) <= 1


def coloured(
    model: NumpyModel, values: np.ndarray, quantity: str, layer: int, unit: int | None = None
) -> np.ndarray:
    """The colours of values: of a cell state, and of one unit's state, as far as the unit goes."""
    scale = live.scale(quantity)
    if quantity == "cell" or (quantity == "hidden" and unit is not None):
        below, above = (
            side[layer] if unit is None else side[layer, unit]
            for side in shown_units.unit_reach(model)[quantity]
        )
        values = np.where(values < 0, values / below, values / above) * scale.high
    return scale.levels(values).astype(int)


def test_the_colours_of_a_unit_go_as_far_as_it_does_on_each_side() -> None:
    read = shown_units.reference_trace(LSTM)
    for quantity, values in (("cell", read.cell), ("hidden", read.hidden)):
        below, above = shown_units.unit_reach(LSTM)[quantity]
        beyond = ((values < -below) | (values > above)).mean(axis=0)
        assert (beyond < 0.05).all()
        far = np.maximum(below, above)
        assert (abs(values).max(axis=0) >= 0.99 * far).all()
        assert (np.minimum(below, above) >= 0.19 * far).all()


def test_a_pinned_unit_tells_its_step() -> None:
    for model in (GRU, LSTM):
        trace, layer = rnnviz.trace(model, "Time"), model.config.layers - 1
        for t in (0, 3):
            said = answered(LiveSession(model), text="Time", pin=t, unit=5, layer=layer)[0]["step"]
            parts = {name: values[0, layer, 5] for name, values in trace.gates_at(t, t + 1).items()}
            states = {"": trace.hidden} | ({} if trace.cell is None else {"cell": trace.cell})
            for name, values in states.items():
                parts[name or "hidden"] = values[t, layer, 5]
                if t:
                    parts[f"{name}_before".lstrip("_")] = values[t - 1, layer, 5]
            assert {name: said[name] for name in parts} == pytest.approx(parts)
    assert "step" not in answered(LiveSession(GRU), text="Time", pin=9, unit=5)[0]
    assert "step" not in answered(LiveSession(GRU), text="Time", pin=2)[0]


def test_a_pinned_character_is_told_what_it_rests_on() -> None:
    session, trace = LiveSession(LSTM), rnnviz.trace(LSTM, TEXT[:120])
    for t in (119, 50, 0):
        header, arrays = answered(session, text=TEXT[:120], pin=t, why=True)
        assert header["why"] == t
        np.testing.assert_allclose(arrays["why"], left_out(trace, t), atol=1e-5)
    for asked in ({"pin": 119}, {"pin": 120, "why": True}, {"why": True}):
        header, arrays = answered(session, text=TEXT[:120], **asked)
        assert "why" not in {*header, *arrays}


@pytest.mark.parametrize("text", [TEXT[:121], "X" + TEXT[1:120], TEXT[:119] + "X"])
def test_what_it_rests_on_is_that_of_the_text_that_is_asked_about(text: str) -> None:
    session = LiveSession(LSTM)
    answered(session, text=TEXT[:120], pin=119, why=True)
    found = answered(session, text=text, pin=119, why=True)[1]["why"]
    np.testing.assert_allclose(found, left_out(rnnviz.trace(LSTM, text), 119), atol=1e-5)


def test_no_other_waits_while_it_is_found_out() -> None:
    session = LiveSession(LSTM)
    asked = LiveAsk(text=TEXT[:120], pin=50, why=True)
    session.answer(asked)
    assert not session.is_quick(asked)


def same_as_reshaped(
    got: dict[str, np.ndarray], fresh: rnnviz.Trace, start: int, stop: int, shape: dict[str, Any]
) -> None:
    """What the browser draws is what `sample` would draw from."""
    if shape in ({"temperature": 1.0, "top_k": None, "top_p": p} for p in (None, 1.0)):
        assert shape["top_p"] or "reshaped" not in got
        return
    P = rnnviz.sampling_distribution(fresh.log_probs[start : stop + 1], **shape)
    *listed, came, left = got["reshaped"].T
    for n, row in enumerate(P):
        np.testing.assert_allclose(
            [p[n] for p in listed], row[got["next"][n].astype(int)], rtol=1e-3, atol=1e-6
        )
        symbol = None if start + n == len(fresh) else fresh.ids[start + n]
        assert came[n] == pytest.approx(0 if symbol is None else row[symbol], rel=1e-3, abs=1e-6)
        assert left[n] == np.count_nonzero(row)


def same_as_without_memory(
    got: dict[str, np.ndarray], text: str, start: int, stop: int, shape: dict[str, Any], *, shown: bool
) -> None:
    """Beside it stands what the MLP says of the same text, and of the same symbols; or nothing."""
    assert ("memoryless" in got, "beside" in got) == (shown, shown)
    if not shown:
        return
    fresh = rnnviz.trace(MLP, text)
    np.testing.assert_allclose(got["memoryless"], fresh.nll, rtol=1e-4, atol=1e-4)
    P = rnnviz.sampling_distribution(fresh.log_probs[start : stop + 1], **shape)
    listed = got["beside"][:, : live.LISTED_NEXT]
    np.testing.assert_allclose(listed, np.take_along_axis(P, got["next"], axis=1), rtol=1e-3, atol=1e-6)
    came = P[np.arange(stop - start), fresh.ids[start:stop]]
    np.testing.assert_allclose(got["beside"][: stop - start, live.LISTED_NEXT], came, rtol=1e-3, atol=1e-6)


def test_the_network_without_memory_reads_on_where_there_is_one() -> None:
    session = LiveSession(GRU, None, MLP)
    header, _ = answered(session, text=TEXT, memoryless=True)
    _, arrays = answered(session, text=TEXT + "e", base=header["revision"], memoryless=True)
    assert len(arrays["memoryless"]) == 1
    _, arrays = answered(LiveSession(GRU), text=TEXT, memoryless=True)
    assert not {"memoryless", "beside"} & arrays.keys(), "there is no other network"


def test_a_keystroke_sends_the_same_little_at_any_length() -> None:
    sizes = []
    for length in (200, 5000):
        session, text = LiveSession(GRU, YARDSTICK), (TEXT * 6)[:length]
        header, _ = answered(session, text=text)
        again = LiveAsk(text=text + "e", base=header["revision"])
        sizes.append(len(session.answer(again)))
    assert max(sizes) < 2000
    assert abs(sizes[0] - sizes[1]) < 100


def test_a_continuation_keeps_to_the_limit() -> None:
    session, text = LiveSession(GRU), "e" * (MAX_TEXT_CHARS - 3)
    (written,) = answered(session, text=text, at=5, write=1)[0]["continuations"]
    assert len(written) == 3
    assert answered(session, text=text + "abc", at=5, write=3)[0]["continuations"] == []


def test_continuations_follow_the_caret_as_they_are_drawn() -> None:
    session, text = LiveSession(GRU), "The Time shone"
    (best,) = answered(session, text=text, at=4, write=3, temperature=0)[0]["continuations"]  # no two alike
    assert best == rnnviz.sample(GRU, "The ", BRANCH_CHARS, temperature=0)
    assert answered(session, text=text, at=99, write=1, temperature=0)[0]["continuations"][0].startswith(
        rnnviz.sample(GRU, text, BRANCH_CHARS, temperature=0)
    )
    three = answered(session, text=text, at=4, write=3, top_k=3, top_p=0.9)[0]["continuations"]
    assert len(set(three)) == 3
    for written in three:
        read = rnnviz.trace(GRU, "The " + written)
        drawn = rnnviz.sampling_distribution(read.log_probs[4:-1], top_k=3, top_p=0.9)
        assert drawn[np.arange(len(written)), read.ids[4:]].all()


@pytest.mark.parametrize(
    "value",
    [None, 3, [], {"seq": "x", "text": 7, "columns": 10**9, "layer": -1, "unit": True}]
    + [{"temperature": t, "top_k": 0, "top_p": p, "write": 4} for t, p in ((-1, 0), (11, 2), (True, "1"))]
    + [{"temperature": float("nan"), "top_p": float("nan"), "write": True, "at": -1}],
)
def test_whatever_arrives_is_a_valid_ask(value: object) -> None:
    assert LiveAsk.from_json(value) == LiveAsk()


def test_half_a_surrogate_pair_and_a_text_too_long_do_no_harm() -> None:
    ask = LiveAsk.from_json({"text": "a\ud83d" + "b" * MAX_TEXT_CHARS})
    assert ask.text.startswith("a?b")
    assert len(ask.text) == MAX_TEXT_CHARS
    answered(LiveSession(GRU), text=ask.text[:50])


def test_a_block_comes_back_as_it_was_packed() -> None:
    arrays = {
        "one": np.arange(5, dtype="<u2"),
        "two": np.ones((3, 2), "<f4"),
        "three": np.arange(7, dtype=np.uint8),
        "none": np.empty((0, 4), "<u4"),
    }
    block = pack({"text": "⏎é", "list": [1, None]}, arrays)
    header, found = unpack(block)
    assert header == {"text": "⏎é", "list": [1, None]}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    with pytest.raises(ValueError, match="<f8"):
        pack({}, {"x": np.zeros(2)})
    with pytest.raises(ValueError, match="JSON"):
        pack({"x": float("inf")}, {})


@pytest.mark.parametrize(
    ("order", "quantity"), [("alike", "hidden"), *(("steady", name) for name in ("hidden", "cell", "forget"))]
)
def test_units_stay_where_they_are_while_typing_and_for_another_reader(order: str, quantity: str) -> None:
    first, other = LiveSession(LSTM), LiveSession(LSTM)
    asks = ((first, "T"), (first, "Time"), (first, "x"), (other, "T"))
    rows = [
        answered(one, text=text, order=order, quantity=quantity)[1]["rows"].tolist() for one, text in asks
    ]
    assert rows == [rows[0]] * 4
    assert sorted(rows[0]) == list(range(12))


def test_a_new_reader_does_not_wait_for_what_is_known_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_units.unit_order(GRU, "steady", 1)
    monkeypatch.setattr(shown_units, "sample", None)
    assert sorted(shown_units.unit_order(GRU, "alike", 0)) == list(range(12))


def test_the_steady_units_hold_their_colour_longer_on_a_text_that_did_not_choose_them() -> None:
    model = rnnviz.load("timemachine-gru")
    few = shown_units.unit_order(model, "steady", 0)[: shown_units.STEADY_UNITS]
    hidden = rnnviz.trace(model, example_text.TEXTS["timemachine"]).hidden[:, 0]
    flicker = (np.diff(hidden, axis=0) ** 2).mean(axis=0) / hidden.var(axis=0)
    assert flicker[few].mean() < 0.7 * flicker.mean()


@pytest.mark.parametrize("name", ["holmes-lstm", "python-gru", "chinese-gru"])
def test_an_example_shows_what_its_model_s_caption_names(name: str) -> None:
    named = shown_units.named_units(checkpoint.load_numpy(name))[0].findings[0].target
    texts = [example.text for example in initial_data.examples() if example.model == name]
    assert any(len(set(units.target(named, text).values)) > 1 for text in texts)


LSTM_SHIPPED = checkpoint.load_numpy("shakespeare-lstm")


@pytest.mark.parametrize(
    ("name", "corpus", "target", "colour", "typed"),
    [
        (
            "holmes-lstm",
            "holmes",
            "quotes",
            "blue",
            'right for 98\xa0% of the characters.* 57\xa0%.*fool it.* Type " and',
        ),
        (
            "chinese-gru",
            "journey",
            "quotes",
            "blue",
            "right for 87\xa0% of the characters.* 63\xa0%.*fool it.* Type “ and",
        ),
        # Its states are never negative.
        ("shakespeare-mingru", "tinyshakespeare", "line-position", "green", "told it to. Press Enter"),
    ],
)
def test_a_model_s_view_begins_with_the_unit_that_its_card_names(
    name: str, corpus: str, target: str, colour: str, typed: str
) -> None:
    model = checkpoint.load_numpy(name)
    one = shown_units.named_units(model)[0]
    assert one.findings[0].target == target
    text = example_text.TEXTS[corpus]
    made = initial_data.fixed_part(model, None, 0.8)[0]
    first, said = made["first"], made["named"][0]
    assert first == {name: said[name] for name in ("quantity", "layer", "unit")}
    _, arrays = answered(LiveSession(model), text=text, **first)
    holds = units.target(target, text).values.astype(float)
    assert np.corrcoef(arrays["unit"] * float(one.findings[0].direction), holds)[0, 1] > 0.4
    assert arrays["rows"][0] == one.unit
    assert f"{one.findings[0].reported:.2f}" in said["about"]
    assert colour in said["caption"]
    assert re.search(typed, said["caption"])  # for how much of what people type that is right
    assert f"{model.config.layers * model.config.hidden_size:,} numbers" in said["caption"]


def test_a_unit_that_was_found_twice_has_one_name() -> None:
    twice = [FOUND.to_json(), replace(FOUND, target="word-start").to_json()]
    model = replace(LSTM_SHIPPED, card={**LSTM_SHIPPED.card, model_card.UNITS_KEY: {"findings": twice}})
    assert [len(one.findings) for one in shown_units.named_units(model)] == [2]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, 1),
        ({"unit": 512}, 0),
        ({"layer": 1}, 0),
        ({"quantity": "reset"}, 0),
        ({"quantity": "output"}, 0),
        ({"characters": 300}, 0),
        ({"score": "high"}, 0),
    ],
)
def test_what_the_model_has_not_or_its_card_does_not_confirm_has_no_name(
    changes: dict[str, Any], named: int
) -> None:
    entry = {"findings": [{**FOUND.to_json(), **changes}]}
    model = replace(LSTM_SHIPPED, card={**LSTM_SHIPPED.card, model_card.UNITS_KEY: entry})
    assert len(shown_units.named_units(model)) == named


def test_states_and_gate_of_a_linear_cell_have_scales_of_their_own() -> None:
    found = initial_data.fixed_part(tiny("mingru"), None, 0.8)[0]["quantities"]
    ends = {name: (scale["low"], scale["high"]) for name, scale in found.items()}
    assert ends == {"hidden": (0, 4), "update": (0, 1), "candidate": (0, 4)}


def test_a_model_whose_card_confirms_nothing_begins_with_surprise() -> None:
    for model in (rnnviz.load("timemachine-gru"), GRU):
        made = initial_data.fixed_part(model, None, 0.8)[0]
        assert (made["named"], made["first"]["unit"]) == ([], None)


def test_a_network_without_a_named_unit_says_what_was_looked_for_and_why_there_is_none() -> None:
    """Of a card that was never searched nothing is said."""
    weak = replace(FOUND, target="line-position", score=0.4).to_json()
    entry = {"others": [weak], "unanswered": {"quotes": "short", "brackets": "absent", "word-start": "short"}}
    whole = (
        "No unit could be named from text it never read: inside quotation marks, the first letter of a word "
        "(the text is too short); inside brackets (the text has none); the position in the line (no unit "
        "follows it)."
    )
    for card, said in (
        ({}, ""),
        ({model_card.UNITS_KEY: entry}, whole),
        ({model_card.UNITS_KEY: {**entry, "findings": [FOUND.to_json()]}}, ""),
        ({model_card.UNITS_KEY: {"unanswered": {"quotes": "<b>", "brackets": 3}}}, ""),
    ):
        assert initial_data.fixed_part(replace(LSTM_SHIPPED, card=card), None, 0.8)[0]["unnamed"] == said


def test_the_browser_asks_for_no_more_columns_than_there_are() -> None:
    """It would ask again and again for what it never gets."""
    figure = ROOT / "rnnviz/ui/pages/explore/static/figure.js"
    assert f"const WIDEST = {MAX_COLUMNS};" in figure.read_text("utf-8")
