"""The Explore page without a browser: what it is sent, and that an answer is always the whole truth."""

import base64
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz import units
from rnnviz.networks import checkpoint, model_card
from rnnviz.networks.model_card import Recorded
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.page import initial_data, shown_units
from rnnviz.page.live_session import (
    CONTINUATION_CHARS,
    MAX_COLUMNS,
    MAX_TEXT_CHARS,
    LiveAsk,
    LiveSession,
)
from rnnviz.page.payload import pack, unpack
from rnnviz.scoring.occlusion import occlusion_bits
from rnnviz.scoring.sampling import SamplingSettings, branches
from rnnviz.ui.pages.explore.page import KEY
from rnnviz.ui.shell import example_text
from rnnviz.ui.shell.bookmark import read_bookmark
from tests.support.apptest import Open, component_data
from tests.support.models import TEXT, tiny
from tests.support.serving import ROOT

GRU = tiny("gru", layers=2)
LSTM = tiny("lstm")
YARDSTICK = NgramModel.fit(TEXT, order=3)
MLP = tiny("mlp")


def test_page_opens_with_an_example_in_the_readers_language(open_app: Open) -> None:
    app = open_app("explore")
    assert app.sidebar.selectbox(key="model").value == "tiny-gru"
    header, arrays = component_data(app)
    assert (header["text"], header["numbers"]["characters"]) == ("The Time Traveller", 18)
    assert arrays["states"].shape == (18, 12)
    assert header["fixed"]["ngram"] == "3-gram"
    english = header["fixed"]["words"]
    chinese = component_data(open_app("explore", locale="zh-CN"))[0]["fixed"]["words"]
    assert chinese.keys() == english.keys()
    assert english["text"] == "Your text" != chinese["text"]


def test_two_sessions_keep_two_texts(open_app: Open) -> None:
    readers = {text: open_app("explore") for text in ("flushed", "animated, and his")}
    for text, app in readers.items():
        app.session_state[f"{KEY}.ask"] = {"client": "b", "seq": 1, "text": text}
        app.run()
    assert [component_data(app.run())[0]["text"] for app in readers.values()] == [*readers]


def answered(session: LiveSession, **fields: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return unpack(session.answer(LiveAsk(**fields)))


class BrowserStore:
    """What the browser's store.js does with an answer."""

    def __init__(self) -> None:
        self.revision, self.start, self.arrays = 0, 0, dict[str, np.ndarray]()

    def apply(self, header: dict[str, Any], sent: dict[str, np.ndarray]) -> None:
        old, arrays, start, (low, high) = self.arrays, dict(sent), header["start"], header["heldColumns"]
        rows = dict.fromkeys(("ids", "nll", "ngram", "memoryless"), header["heldRows"])
        for name, count in (rows | {"unit": header["heldUnitRows"]}).items():
            if name in sent and count:
                arrays[name] = np.concatenate([old[name][:count], sent[name]])
        for name, extra in (("states", 0), ("next", 1), ("chances", 1), ("entropy", 1)):
            if high > low:
                middle = old[name][low - self.start : high + extra - self.start]
                first, last = np.split(sent[name], [low - start])
                arrays[name] = np.concatenate([first, middle, last])
        self.arrays, self.start, self.revision = arrays, start, header["revision"]


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
def test_browser_holds_a_fresh_answer_after_any_asks(
    model: NumpyModel,
    asks: list[tuple[dict[str, Any], bool]],
    joined: bool,
    shapes: list[dict[str, Any]],
) -> None:
    session, browser = LiveSession(model, YARDSTICK, MLP), BrowserStore()
    text = ""
    for n, (ask, lost) in enumerate(asks):
        text = (text + ask["text"])[:60] if joined else ask["text"]
        ask = {**ask, **shapes[n * len(shapes) // len(asks)], "text": text}
        header, arrays = answered(session, **ask, base=browser.revision)
        if lost:  # an answer that never arrives must not do harm
            continue
        browser.apply(header, arrays)
        fresh, expected = answered(LiveSession(model, YARDSTICK, MLP), **ask)
        assert (header["numbers"].keys(), header["stop"]) == (fresh["numbers"].keys(), fresh["stop"])
        assert browser.arrays.keys() == expected.keys()
        # Of two symbols that are as probable, rounding chooses which is listed first.
        listed_alike = (browser.arrays["next"] == expected["next"]).all(axis=1)
        for name in expected.keys() - {"next"}:
            rows = listed_alike if name in ("memorylessNext", "reshaped") else slice(None)
            atol = 1 if name in ("states", "unit") else 1e-4  # colours may round to the next
            values = browser.arrays[name][rows].astype(float)
            np.testing.assert_allclose(values, expected[name][rows], rtol=1e-3, atol=atol, err_msg=name)


def test_unit_reach_covers_95_percent_of_its_values() -> None:
    read = shown_units.reference_trace(LSTM)
    for quantity, values in (("cell", read.cell), ("hidden", read.hidden)):
        below, above = shown_units.unit_reach(LSTM)[quantity]
        beyond = ((values < -below) | (values > above)).mean(axis=0)
        assert (beyond < 0.05).all()
        larger = np.maximum(below, above)
        assert (abs(values).max(axis=0) >= 0.99 * larger).all()
        assert (np.minimum(below, above) >= 0.19 * larger).all()


@pytest.mark.parametrize("model", [GRU, LSTM], ids=["gru", "lstm"])
@pytest.mark.parametrize("t", [0, 3])
def test_pinned_unit_sends_its_step(model: NumpyModel, t: int) -> None:
    trace, layer = rnnviz.trace(model, "Time"), model.config.layers - 1
    step = answered(LiveSession(model), text="Time", pin=t, unit=5, layer=layer)[0]["step"]
    expected = {name: values[0, layer, 5] for name, values in trace.gates_at(t, t + 1).items()}
    expected |= {"at": t, "hidden": trace.hidden[t, layer, 5]}
    expected |= {"before": trace.hidden[t - 1, layer, 5]} if t else {}
    if trace.cell is not None:
        expected |= {"cell": trace.cell[t, layer, 5]} | (
            {"cell_before": trace.cell[t - 1, layer, 5]} if t else {}
        )
    assert {name: step[name] for name in expected} == pytest.approx(expected)


def with_weighted_sum(model: NumpyModel, quantity: str) -> NumpyModel:
    """The model, whose card names a weighted sum of its last layer."""
    named = model_card.unit_findings(checkpoint.read_info(checkpoint.find("chinese-gru")).card)[0]
    weights = np.linspace(-1, 2, model.config.hidden_size).astype("<f2")
    packed = base64.b64encode(weights.tobytes()).decode()
    layer, H = model.config.layers - 1, model.config.hidden_size
    row = replace(named, quantity=quantity, layer=layer, unit=H, weights=packed, bias=0.5, target="capital")
    return replace(model, card={model_card.UNITS_KEY: {"findings": [row.to_json()]}})


@pytest.mark.parametrize(("model", "quantity"), [(GRU, "hidden"), (LSTM, "cell")], ids=["hidden", "cell"])
@pytest.mark.parametrize("t", [0, 3])
def test_pinned_direction_sends_its_value_before_and_after_and_what_moved_it(
    model: NumpyModel, quantity: str, t: int
) -> None:
    model = with_weighted_sum(model, quantity)
    H, weights = model.config.hidden_size, np.linspace(-1, 2, model.config.hidden_size).astype(np.float16)
    bookmark = read_bookmark(model, {"unit": str(H), "quantity": quantity, "pin": str(t)})
    assert (bookmark.ask.unit, bookmark.view["pin"]) == (H, t)
    session = LiveSession(model)
    header, arrays = unpack(session.answer(replace(bookmark.ask, text="Time")))
    trace = rnnviz.trace(model, "Time")
    states = trace.hidden if quantity == "hidden" else trace.cell
    assert states is not None
    first = trace.state_after(0)[quantity == "cell"]
    assert first is not None
    before, after = np.concatenate([[first], states])[t : t + 2, -1]
    values = {"at": t, "before": before @ weights + 0.5, quantity: after @ weights + 0.5}
    assert header["step"] == pytest.approx(values, abs=1e-5)
    added = weights * (after - before)
    most = np.argsort(-abs(added))[:3]
    assert [unit for unit, _added in header["moves"]] == most.tolist()
    assert [value for _unit, value in header["moves"]] == pytest.approx(added[most], abs=1e-5)
    assert (header["unit"], arrays["unitOfRow"][0]) == (H, H), "it colours the text, and is the first row"
    assert "moves" not in answered(session, text="Time", pin=t, unit=5, quantity=quantity)[0]
    assert "step" not in answered(session, text="Time", pin=9, unit=H, quantity=quantity)[0]


@pytest.mark.parametrize("ask", [{"pin": 9, "unit": 5}, {"pin": 2}])
def test_pin_beyond_text_or_without_unit_sends_no_step(ask: dict[str, int]) -> None:
    assert "step" not in answered(LiveSession(GRU), text="Time", **ask)[0]


def test_why_sends_left_out_of_the_pinned_character() -> None:
    session, trace = LiveSession(LSTM), rnnviz.trace(LSTM, TEXT[:120])
    for t in (119, 50, 0):
        header, arrays = answered(session, text=TEXT[:120], pin=t, why=True)
        assert header["occlusionAt"] == t
        np.testing.assert_allclose(arrays["occlusion"], occlusion_bits(trace, t), atol=1e-5)
    for ask in ({"pin": 119}, {"pin": 120, "why": True}, {"why": True}):
        header, arrays = answered(session, text=TEXT[:120], **ask)
        assert not {"occlusionAt", "occlusion"} & {*header, *arrays}


@pytest.mark.parametrize("text", [TEXT[:121], "X" + TEXT[1:120], TEXT[:119] + "X"])
def test_why_follows_a_changed_text(text: str) -> None:
    session = LiveSession(LSTM)
    answered(session, text=TEXT[:120], pin=119, why=True)
    bits = answered(session, text=text, pin=119, why=True)[1]["occlusion"]
    np.testing.assert_allclose(bits, occlusion_bits(rnnviz.trace(LSTM, text), 119), atol=1e-5)


def test_memoryless_network_follows_text_typed_while_hidden() -> None:
    session, ask = LiveSession(GRU, None, MLP), {"text": "The Time T", "memoryless": True}
    answered(session, text="The", memoryless=True)
    answered(session, text="The Time")
    beside = answered(session, **ask)[1]["memorylessNext"]
    expected = answered(LiveSession(GRU, None, MLP), **ask)[1]["memorylessNext"]
    np.testing.assert_allclose(beside, expected, rtol=1e-3, atol=1e-6)


def test_session_without_memoryless_network_sends_none() -> None:
    _, arrays = answered(LiveSession(GRU), text=TEXT, memoryless=True)
    assert not {"memoryless", "memorylessNext"} & arrays.keys()


def test_continuation_ends_at_the_text_limit() -> None:
    session, text = LiveSession(GRU), "e" * (MAX_TEXT_CHARS - 3)
    assert len(answered(session, text=text, at=5, write=True)[0]["continuation"]) == 3
    assert answered(session, text=text + "abc", at=5, write=True)[0]["continuation"] == ""


def test_continuation_is_a_sample_from_the_caret_on() -> None:
    session, text = LiveSession(GRU), "The Time shone"
    for at, prompt in ((4, "The "), (99, text)):
        header, _ = answered(session, text=text, at=at, write=True, temperature=0)
        assert header["continuation"] == rnnviz.sample(GRU, prompt, CONTINUATION_CHARS, temperature=0)
    continuation = answered(session, text=text, at=4, write=True, top_k=3, top_p=0.9)[0]["continuation"]
    read = rnnviz.trace(GRU, "The " + continuation)
    probabilities = rnnviz.sampling_distribution(read.log_probs[4:-1], top_k=3, top_p=0.9)
    assert probabilities[np.arange(len(continuation)), read.ids[4:]].all()


@pytest.mark.parametrize(("at", "past", "place"), [(4, 2, (4, 2)), (1, 3, (1, 1)), (99, 0, (8, 0))])
def test_tree_begins_before_the_caret(at: int, past: int, place: tuple[int, int]) -> None:
    session, settings = LiveSession(GRU), SamplingSettings(0.8, top_k=3)
    header, arrays = answered(session, text="The Time", at=at, tree=past, temperature=0.8, top_k=3)
    assert header["tree"] == {"at": place[0], "past": place[1]}
    tree = branches(rnnviz.trace(GRU, "The Time"), *place, settings)
    assert arrays["treeParents"].tolist() == [branch.parent for branch in tree]
    assert arrays["treeIds"].tolist() == [branch.symbol for branch in tree]
    np.testing.assert_allclose(arrays["treeChances"], [branch[2:] for branch in tree], rtol=1e-5)
    assert "tree" not in answered(session, text="The Time", at=at)[0]


@pytest.mark.parametrize(
    "value",
    [None, 3, [], {"seq": "x", "text": 7, "columns": 10**9, "layer": -1, "unit": True}]
    + [{"temperature": t, "top_k": 0, "top_p": p, "write": 4} for t, p in ((-1, 0), (11, 2), (True, "1"))]
    + [{"temperature": float("nan"), "top_p": float("nan"), "write": 1, "at": -1, "tree": 4}],
)
def test_ask_of_nonsense_is_the_default_ask(value: object) -> None:
    assert LiveAsk.from_json(value) == LiveAsk()


def test_ask_replaces_half_a_surrogate_and_cuts_long_text() -> None:
    text = LiveAsk.from_json({"text": "a\ud83d" + "b" * MAX_TEXT_CHARS}).text
    assert (text[:3], len(text)) == ("a?b", MAX_TEXT_CHARS)


def test_unpack_returns_what_was_packed() -> None:
    arrays = {
        "one": np.arange(5, dtype="<u2"),
        "two": np.ones((3, 2), "<f4"),
        "three": np.arange(7, dtype=np.uint8),
        "none": np.empty((0, 4), "<u4"),
    }
    header, unpacked = unpack(pack({"text": "⏎é", "list": [1, None]}, arrays))
    assert header == {"text": "⏎é", "list": [1, None]}
    assert {name: (array.dtype, array.tolist()) for name, array in unpacked.items()} == {
        name: (array.dtype, array.tolist()) for name, array in arrays.items()
    }


@pytest.mark.parametrize(("header", "arrays"), [({}, {"x": np.zeros(2)}), ({"x": float("inf")}, {})])
def test_pack_refuses_types_a_browser_cannot_read(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"<f8|JSON"):
        pack(header, arrays)


@pytest.mark.parametrize(
    ("order", "quantity"), [("alike", "hidden"), *(("steady", name) for name in ("hidden", "cell", "forget"))]
)
def test_unit_order_depends_on_no_text(order: str, quantity: str) -> None:
    first, second = LiveSession(LSTM), LiveSession(LSTM)
    asks = ((first, "T"), (first, "Time"), (first, "x"), (second, "T"))
    rows = [
        answered(session, text=text, order=order, quantity=quantity)[1]["unitOfRow"].tolist()
        for session, text in asks
    ]
    assert rows == [rows[0]] * 4
    assert sorted(rows[0]) == list(range(12))


def test_unit_orders_are_computed_once_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    shown_units.unit_order(GRU, "steady", 1)
    monkeypatch.setattr(shown_units, "sample_texts", None)
    assert sorted(shown_units.unit_order(GRU, "alike", 0)) == list(range(12))


def test_steady_units_change_less_on_held_out_text() -> None:
    model = rnnviz.load("timemachine-gru")
    steady_units = shown_units.unit_order(model, "steady", 0)[: shown_units.STEADY_UNITS]
    hidden = rnnviz.trace(model, example_text.TEXTS["timemachine"]).hidden[:, 0]
    flicker = (np.diff(hidden, axis=0) ** 2).mean(axis=0) / hidden.var(axis=0)
    assert flicker[steady_units].mean() < 0.7 * flicker.mean()


@pytest.mark.parametrize("name", ["holmes-lstm", "python-lstm", "chinese-gru"])
def test_examples_contain_the_target_of_the_models_caption(name: str) -> None:
    named = shown_units.named_units(checkpoint.load_numpy(name))[0].findings[0].target
    texts = [example.text for example in initial_data.examples() if example.model == name]
    assert any(len(set(units.target(named, text).values)) > 1 for text in texts)


@pytest.fixture(scope="module")
def shipped_lstm() -> NumpyModel:
    return checkpoint.load_numpy("shakespeare-lstm")


@pytest.fixture(scope="module")
def finding() -> Recorded:
    """A confirmed finding, which a card of an LSTM may hold."""
    card = checkpoint.read_info(checkpoint.find("holmes-lstm")).card
    return model_card.unit_findings(card)[0]


@pytest.mark.parametrize(
    ("name", "corpus", "target", "colour", "typed"),
    [
        (
            "holmes-lstm",
            "holmes",
            "quotes",
            "blue",
            'right for 100\xa0% of the characters.* 57\xa0%.*can miss.* Type " and',
        ),
        (
            "chinese-gru",
            "journey",
            "quotes",
            "orange",
            "A fit chose the weights.* right for 89\xa0% of the characters.* 64\xa0%.*can miss.* Type “ and",
        ),
        # Its states are never negative.
        ("shakespeare-mingru", "tinyshakespeare", "line-position", "green", "told it to. Press Enter"),
    ],
)
def test_view_begins_with_the_named_unit(
    name: str, corpus: str, target: str, colour: str, typed: str
) -> None:
    model = checkpoint.load_numpy(name)
    named_unit = shown_units.named_units(model)[0]
    assert named_unit.findings[0].target == target
    text = example_text.TEXTS[corpus]
    fixed = initial_data.fixed_part(model, None, 0.8)[0]
    first, sent_unit = fixed["first"], fixed["named"][0]
    assert first == {name: sent_unit[name] for name in ("quantity", "layer", "unit")}
    _, arrays = answered(LiveSession(model), text=text, **first)
    holds = units.target(target, text).values.astype(float)
    assert np.corrcoef(arrays["unit"] * float(named_unit.findings[0].direction), holds)[0, 1] > 0.4
    assert arrays["unitOfRow"][0] == named_unit.unit
    assert f"{named_unit.findings[0].reported:.2f}" in sent_unit["about"]
    assert colour in sent_unit["caption"]
    assert re.search(typed, sent_unit["caption"])  # for how much of what people type that is right
    assert f"{model.config.layers * model.config.hidden_size:,} numbers" in sent_unit["caption"]


def test_unit_with_two_findings_is_named_once(shipped_lstm: NumpyModel, finding: Recorded) -> None:
    twice = [finding.to_json(), replace(finding, target="word-start").to_json()]
    model = replace(shipped_lstm, card={**shipped_lstm.card, model_card.UNITS_KEY: {"findings": twice}})
    assert [len(unit.findings) for unit in shown_units.named_units(model)] == [2]


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
def test_absent_or_unconfirmed_units_have_no_name(
    changes: dict[str, Any], named: int, shipped_lstm: NumpyModel, finding: Recorded
) -> None:
    entry = {"findings": [{**finding.to_json(), **changes}]}
    model = replace(shipped_lstm, card={**shipped_lstm.card, model_card.UNITS_KEY: entry})
    assert len(shown_units.named_units(model)) == named


def test_linear_cell_has_scales_from_zero() -> None:
    scales = initial_data.fixed_part(tiny("mingru"), None, 0.8)[0]["quantities"]
    ends = {name: (scale["low"], scale["high"]) for name, scale in scales.items()}
    assert ends == {"hidden": (0, 4), "update": (0, 1), "candidate": (0, 4)}


@pytest.mark.parametrize(
    "load", [partial(checkpoint.load_numpy, "timemachine-gru"), lambda: GRU], ids=["searched", "unsearched"]
)
def test_model_without_named_unit_begins_with_surprisal(load: Callable[[], NumpyModel]) -> None:
    fixed = initial_data.fixed_part(load(), None, 0.8)[0]
    assert (fixed["named"], fixed["first"]["unit"]) == ([], None)


def test_network_without_named_unit_gives_the_reasons(shipped_lstm: NumpyModel, finding: Recorded) -> None:
    """Of a card that was never searched nothing is said."""
    weak = replace(finding, target="line-position", score=0.4).to_json()
    entry = {"others": [weak], "unanswered": {"quotes": "short", "brackets": "absent", "word-start": "short"}}
    whole = (
        "No unit could be named from text it never read: inside quotation marks, the first letter of a word "
        "(the text is too short); inside brackets (the text has none); the position in the line (no unit "
        "follows it)."
    )
    for card, sentence in (
        ({}, ""),
        ({model_card.UNITS_KEY: entry}, whole),
        ({model_card.UNITS_KEY: {**entry, "findings": [finding.to_json()]}}, ""),
        ({model_card.UNITS_KEY: {"unanswered": {"quotes": "<b>", "brackets": 3}}}, ""),
    ):
        assert initial_data.fixed_part(replace(shipped_lstm, card=card), None, 0.8)[0]["unnamed"] == sentence


def test_browser_and_server_agree_on_the_widest_window() -> None:
    """It would ask again and again for what it never gets."""
    figure = ROOT / "rnnviz/ui/pages/explore/static/figure.js"
    assert f"const MAX_COLUMNS = {MAX_COLUMNS};" in figure.read_text("utf-8")
