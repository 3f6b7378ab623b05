"""The page Inside without a browser: every part, what it asks and answers, and what goes wrong."""

import base64
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rnnviz import units
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.pages.inside import direction, search_texts
from rnnviz.lab.pages.inside import units as page_units
from rnnviz.networks import model_card
from rnnviz.networks.checkpoint import save
from rnnviz.networks.verdicts import MIN_VERDICT_CHARS, Evidence, Report, Rival
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora
from rnnviz.ui.jobs import worker
from rnnviz.ui.shell import dashboard, render_finding
from tests.support.apptest import Open, address_fields, page_words, run_until_settled, switch_page
from tests.support.jobs import SOON, GatedJob
from tests.support.lab_pages import (
    INSIDE_PARTS,
    TINY_GRU,
    ask_dashboard,
    choose_way,
    text_values,
    write_text,
)
from tests.support.models import TEXT, tiny, tiny_card

pytestmark = pytest.mark.usefixtures("short_texts")

VIEWS = (*(("part", part) for part in INSIDE_PARTS), ("inside.way", "patch"), ("inside.way", "compare"))


@pytest.mark.parametrize("model", ["tiny-gru", "tiny-lstm"])
def test_every_panel_has_its_notice_and_limits(
    open_app: Open, dashboards: dict[str, Any], model: str
) -> None:
    app = open_app("inside", part=INSIDE_PARTS[0], model=model)
    assert "tiny-3gram" not in app.selectbox(key="model").options  # counts have no units
    for key, view in VIEWS:
        dashboards.clear()
        run_until_settled(app.segmented_control(key=key).set_value(view).run(), "inside")
        panels = [panel for sent in dashboards.values() for panel in sent["panels"]]
        assert panels, view
        for panel in panels:
            assert panel["notice"].endswith((".", "?"))
            assert panel["limits"].endswith(".")
            assert set(panel["figures"]) == {"light", "dark"}


def test_page_speaks_chinese(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = run_until_settled(open_app("inside", locale="zh-CN", part="memory", model="tiny-gru"), "inside")
    assert app.title[0].value == "网络内部"
    assert any("一" <= c <= "鿿" for c in dashboards["inside.memory"]["panels"][0]["notice"])


def test_best_unit_of_the_search_or_a_direction_colours_the_text(
    open_app: Open, dashboards: dict[str, Any]
) -> None:
    app = run_until_settled(write_text(open_app("inside", model="tiny-gru"), TEXT[:600]), "inside")
    assert app.selectbox(key="inside.finding.what").value == "unit"
    (ranking,) = dashboards["inside.found"]["panels"]
    read, target = trace(TINY_GRU, TEXT[:600]), units.target("word-start", TEXT[:600])
    result = search(read, target, layer=0)
    assert ranking["picks"][0] == result.best.unit.unit
    assert app.number_input(key="inside.unit").value == result.best.unit.unit
    values = text_values(dashboards["inside.finding"])
    assert values.tolist() == read.hidden[:, 0, result.best.unit.unit].tolist()
    app.selectbox(key="inside.finding.what").set_value("means").run()
    expected = directions.mean_difference(read, target).along(read)
    np.testing.assert_allclose(
        text_values(dashboards["inside.finding"]), expected - expected.mean(), atol=1e-5
    )
    pushes = next(p for p in dashboards["inside.finding"]["panels"] if p["name"] == "pushes")
    assert pushes["title"].endswith("difference of means: the first letter of a word")


def test_strict_toggle_searches_with_edges(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = []

    def note_edges(model: Any, text: str, *, questions: Any, **arguments: Any) -> Any:
        edges.append(questions[0].edges)
        return page_units._search_text(model, text, questions=questions, **arguments)

    monkeypatch.setattr(page_units, "SEARCH", replace(page_units.SEARCH, run=note_edges, shared=False))
    app = run_until_settled(open_app("inside", model="tiny-gru"), "inside")
    run_until_settled(app.toggle(key="inside.strict").set_value(True).run(), "inside")
    assert edges == [0, page_units.STRICT_EDGE_CHARS]


def test_strict_search_of_a_short_text_answers_graded_targets_too() -> None:
    names = ("word-start", "line-position")
    word_start, line_position = page_units._search_text(
        TINY_GRU,
        TEXT[:600],
        layer=0,
        quantity="hidden",
        questions=tuple(page_units.UnitQuestion(name, edges=5) for name in names),
        unclosed="paragraph",
        progress=lambda share: None,
    )
    read = trace(TINY_GRU, TEXT[:600])
    expected = search(read, units.target("word-start", read.text), layer=0, edges=5)
    assert word_start.finding.found == expected.found
    expected = search(read, units.target("line-position", read.text), layer=0)
    assert line_position.finding.found == expected.found


def test_selection_becomes_the_question_until_cleared(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = open_app("inside", model="tiny-gru")
    ask_dashboard(app, "inside.finding", kind="span", value=[2, 6])
    ask_dashboard(app, "inside.finding", kind="span", value=[5, 9])
    assert dashboards["inside.finding"]["spans"] == [[2, 9]]
    assert "**Too little text to tell**: in another text of 18 characters" in page_words(app)
    next(b for b in app.button if "Clear" in b.label).click().run()
    assert dashboards["inside.finding"]["spans"] == []
    assert "Drag over the text" in page_words(app)


def test_unit_has_its_card_before_any_click(
    open_app: Open, dashboards: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny("gru", card=tiny_card(text=TEXT[:900]))
    save(model, tmp_path / "carded.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = run_until_settled(open_app("inside", model="carded", unit="5"), "inside")
    assert app.number_input(key="inside.unit").value == 5
    panels = [panel["name"] for panel in dashboards["inside.finding"]["panels"]]
    assert panels == ["histogram", "moves", "pushes", "clustered"]
    report = units.scan(model, text=TEXT[:900], contexts=4, before=40, after=20)[0, 5]
    for name, places in (("highest", report.top), ("lowest", report.bottom)):
        labels = [float(text["label"].replace("−", "-")) for text in dashboards[f"inside.{name}"]["texts"]]
        assert labels == pytest.approx([place.value for place in places], abs=0.005)
    assert "In the 900 characters read for this card" in page_words(app)


def test_comparison_needs_two_networks(open_app: Open, dashboards: dict[str, Any]) -> None:
    app = choose_way(open_app("inside", model="tiny-gru", part="cause"), "compare")
    assert len(dashboards["inside.compare"]["texts"]) == 3  # two networks and their difference
    heats = [panel for panel in dashboards["inside.compare"]["panels"] if panel["name"].startswith("heat-")]
    assert len(heats) == 2
    run_until_settled(
        app.multiselect[0].set_value(["tiny-gru, untrained"]).run(), "inside"
    )  # the same one, before its training
    assert dashboards["inside.compare"]["texts"][1]["label"].startswith("tiny-gru, untrained")
    app.multiselect[0].set_value([]).run()
    assert "Choose one or two networks" in page_words(app)


@pytest.mark.slow
@pytest.mark.usefixtures("dashboards")
def test_every_part_takes_one_character_and_shows_markup_as_text(open_app: Open) -> None:
    app = write_text(open_app("inside", model="tiny-gru"), "  ")
    assert "There is no text" in page_words(app)
    for text in ("a", "<script>alert(1)</script> **b** " * 3):
        write_text(app, text)
        for key, view in VIEWS:
            run_until_settled(app.segmented_control(key=key).set_value(view).run(), "inside")
            assert "<script>" not in page_words(app)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        3,
        {},
        {"kind": "at", "value": "x"},
        {"kind": "at", "value": 99},
        {"kind": "span", "value": [3, 1]},
        {"kind": "pick", "value": -1},
        {"kind": "pick", "value": 10},
    ],
)
def test_malformed_ask_asks_nothing(wrong: Any) -> None:
    ask = dashboard.DashboardRequest.from_json(wrong)
    assert ask.position(10) is None
    assert ask.span(10) is None
    assert ask.pick(10) is None


def test_source_names_how_much_text_is_new_to_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held_out = corpora.read("timemachine").split().held_out
    card = {"corpus": "timemachine", "sha256_held_out": corpora.sha256(held_out)}
    sentence = f"The first {len(held_out):,} characters are new to the network. It has seen the rest."
    assert search_texts.seen_text_sentence(card, "timemachine") == sentence
    assert search_texts.seen_text_sentence({**card, "corpus": "tinyshakespeare"}, "timemachine") is None
    for other in ({"sha256_held_out": "of another text"}, {}):  # of the same name, or trained on all of it
        assert search_texts.seen_text_sentence({"corpus": "timemachine", **other}, "timemachine") is None
    monkeypatch.setattr(search_texts, "MAX_SEARCH_CHARS", len(held_out))
    assert search_texts.seen_text_sentence(card, "timemachine") is None


@pytest.mark.slow
def test_another_part_cancels_the_jobs_of_the_last(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    gated = GatedJob()
    monkeypatch.setattr(search_texts, "list_searchable_corpora", lambda: [corpora.describe("python-docs")])
    reading = replace(page_units.SEARCH, run=lambda model, text, progress, **arguments: gated(progress))
    monkeypatch.setattr(page_units, "SEARCH", reading)
    app = open_app("inside", model="tiny-gru")
    where = next(box for box in app.selectbox if box.label == "On which text")
    run_until_settled(where.set_value("python-docs").run(), "inside")
    assert not app.session_state["inside.jobs"].busy()  # it costs time: a button starts it
    app.button(key="inside.search.start").click().run()
    assert gated.started.wait(SOON)
    jobs = app.session_state["inside.jobs"]
    app.run()
    assert len(jobs.busy()) == 1  # it is still asked for
    app.segmented_control(key="part").set_value("match").run()
    assert not [job for job in jobs.busy() if job.key.kind == "search"]
    assert gated.closed.wait(SOON)


BEATEN = tuple(Rival(kind, 8, 0.5, 0.2, 0.4, 0.001) for kind in ("context", "untrained"))
EVIDENCE = Evidence(BEATEN, (0.8, 0.9), 1.0, 50, Report(0.84, (0.8, 0.88), BEATEN))


def recorded(quantity: str, *, layer: int) -> model_card.Recorded:
    """A finding that stands, of unit 9."""
    return model_card.Recorded(
        "vowel", quantity, "AUC", layer, 9, 0.85, 0.6, 0.5, (0.5,), MIN_VERDICT_CHARS, EVIDENCE
    )


def test_page_opens_on_the_finding_of_the_card(
    open_app: Open, dashboards: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands = recorded("cell", layer=0)
    falls = replace(stands, target="capital", score=0.99, evidence=replace(EVIDENCE, interval=None))
    second = replace(stands, target="digit", unit=4, score=0.95)  # a larger lead
    findings = [falls.to_json(), stands.to_json(), second.to_json()]
    entry = {"command": "units", "findings": findings, "others": []}
    model = tiny("lstm", card=tiny_card(**{model_card.UNITS_KEY: entry}))
    save(model, tmp_path / "known.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = open_app("inside", model="known")
    assert app.selectbox(key="inside.target").value == "vowel"
    assert app.selectbox(key="inside.quantity").value == "cell"
    assert "**Unit 9 follows this: a vowel.**" in page_words(app)
    assert "One of 12 numbers in this network." in page_words(app)
    assert app.number_input(key="inside.unit").value == 9  # the search beside it is on less text
    assert "AUC 0.840 (95 % interval 0.800 to 0.880)" in page_words(app)
    app.selectbox(key="inside.quantity").set_value("hidden").run()
    assert "follows this" not in page_words(app)
    app = open_app("inside", model="known", unit="4")  # as Explore's link to a named unit
    assert app.selectbox(key="inside.target").value == "digit"
    assert "**Unit 4 follows this: a digit.**" in page_words(app)


def test_named_unit_brings_its_layer(open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"command": "units", "findings": [recorded("hidden", layer=1).to_json()], "others": []}
    save(tiny("gru", layers=2, card=tiny_card(units=entry)), tmp_path / "deep.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = run_until_settled(open_app("inside", model="deep"), "inside")
    assert app.selectbox(key="inside.layer").options == ["layer 0", "layer 1"]
    assert (app.selectbox(key="inside.layer").value, app.number_input(key="inside.unit").value) == (1, 9)
    app = run_until_settled(app.selectbox(key="inside.layer").set_value(0).run(), "inside")
    app.number_input(key="inside.unit").set_value(2).run()
    app = run_until_settled(app.button(key="inside.named.9.vowel").click().run(), "inside")
    assert (app.selectbox(key="inside.layer").value, app.number_input(key="inside.unit").value) == (1, 9)
    assert "**Unit 9 follows this: a vowel.**" in page_words(app)


def weighted_sum(target: str, *, of_unit: float) -> model_card.Recorded:
    """A finding that stands: a weighted sum of the cell states of 12 units, mostly of the last."""
    weights = np.linspace(0.1, of_unit, 12).astype("<f2")
    packed = base64.b64encode(weights.tobytes()).decode()
    return replace(
        recorded("cell", layer=0), target=target, unit=12, weights=packed, bias=-0.25, typed=(0.914, 0.6)
    )


@pytest.mark.parametrize("address", [{}, {"direction": "card:digit"}])
def test_direction_of_the_card_has_its_card_at_its_address(
    open_app: Open,
    dashboards: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: dict[str, str],
) -> None:
    named = {target: weighted_sum(target, of_unit=w) for target, w in (("vowel", 0.9), ("digit", -0.7))}
    entry = {"command": "units", "findings": [row.to_json() for row in named.values()], "others": []}
    model = tiny("lstm", card=tiny_card(text=TEXT[:900], **{model_card.UNITS_KEY: entry}))
    save(model, tmp_path / "known.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = run_until_settled(write_text(open_app("inside", model="known", **address), TEXT[:200]), "inside")
    target = "digit" if address else "vowel"
    assert app.selectbox(key="inside.finding.what").value == f"card:{target}"
    assert app.selectbox(key="inside.quantity").value == "cell"
    assert address_fields(app)["direction"] == f"card:{target}"
    said = page_words(app)
    assert "**A weighted sum of 12 numbers follows this:" in said
    assert "right for 91\xa0% of the characters. Always guessing the same colour is right for 60\xa0%" in said
    weighted = named[target].weighted
    assert weighted is not None
    values = [weighted.along(trace(model, text).cell[:, 0]) for text in (TEXT[:200], TEXT[:900])]
    sent = dashboards["inside.finding"]
    np.testing.assert_allclose(text_values(sent), values[0], atol=0.01)
    for name, extreme in (("highest", values[1].max()), ("lowest", values[1].min())):
        labels = [float(text["label"].replace("−", "-")) for text in dashboards[f"inside.{name}"]["texts"]]
        assert labels[0] == pytest.approx(extreme, abs=0.005)
    app.selectbox(key="inside.finding.what").set_value("unit").run()
    said = page_words(run_until_settled(app, "inside"))
    assert "weighted" not in said.split("Which units follow what?")[0]


def test_unit_of_the_address_is_shown_though_the_card_names_a_direction(
    open_app: Open, dashboards: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"command": "units", "findings": [weighted_sum("vowel", of_unit=0.9).to_json()], "others": []}
    model = tiny("lstm", card=tiny_card(**{model_card.UNITS_KEY: entry}))
    save(model, tmp_path / "known.safetensors")
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    app = run_until_settled(open_app("inside", model="known", unit="4", quantity="cell"), "inside")
    assert app.selectbox(key="inside.finding.what").value == "unit"
    assert app.number_input(key="inside.unit").value == 4
    written = {name: value for name, value in address_fields(app).items() if value}
    assert (written["unit"], written["direction"]) == ("4", "unit")
    again = run_until_settled(open_app("inside", **written), "inside")
    assert address_fields(again) == address_fields(app)


SEARCHED_KINDS = ["word-start", "vowel"]


@pytest.mark.slow
def test_long_text_has_untrained_copies_and_a_probe(
    open_app: Open, dashboards: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_texts, "list_searchable_corpora", lambda: [corpora.describe("python-docs")])
    for part in ("SEARCH", "PROBE"):
        monkeypatch.setattr(page_units, part, replace(getattr(page_units, part), max_chars=MIN_VERDICT_CHARS))
    monkeypatch.setattr(page_units, "KINDS", SEARCHED_KINDS)  # each takes a second
    monkeypatch.setattr(worker, "ABSENCE_GRACE_S", 600.0)  # the work takes longer, and no browser is there
    split = corpora.read("python-docs").split()
    text = (split.held_out + split.validation + split.train)[:MIN_VERDICT_CHARS]
    app = run_until_settled(open_app("inside", model="tiny-gru"), "inside")
    assert "**Too little text to tell**" in page_words(app)
    assert not [b for b in app.button if b.key == "inside.probe.start"]  # the page's own text is too short
    where = next(box for box in app.selectbox if box.label == "On which text")
    app = where.set_value("python-docs").run()
    app = run_until_settled(app.button(key="inside.search.start").click().run(), "inside")
    target = units.target("word-start", text)
    read, copies = trace(TINY_GRU, text), [trace(copy, text) for copy in units.untrained(TINY_GRU)]
    result, _vowel = units.find(TINY_GRU, text, SEARCHED_KINDS, layer=0)
    assert render_finding.join_sentences(result.sentences()) in page_words(app)
    # Whether it is one unit or many is asked by a button.
    app = run_until_settled(app.button(key="inside.probe.start").click().run(), "inside")
    app = run_until_settled(app, "inside")
    probe = units.probe(read, target, layer=0, untrained=copies)
    assert render_finding.join_sentences(probe.sentences()) in page_words(app)
    assert "probe" in [panel["name"] for panel in dashboards["inside.found"]["panels"]]
    app = app.selectbox(key="inside.finding.what").set_value("probe").run()
    values = probe.direction().along(trace(TINY_GRU, app.text_area(key="inside.text").value))
    np.testing.assert_allclose(text_values(dashboards["inside.finding"]), values - values.mean(), atol=1e-4)
    # Whatever else is looked for in the text was measured at the same reading.
    run_until_settled(app.selectbox(key="inside.target").set_value("vowel").run(), "inside")
    assert "not been compared with all simpler explanations" not in page_words(app)


@pytest.mark.parametrize(
    ("states", "centred", "bound"),
    [
        ([1.234, -1.234], [1.234, -1.234], 1.3),
        ([9.0567, 8.9433], [0.0567, -0.0567], 0.057),
        ([-91.5, 91.5], [-91.5, 91.5], 92),
        ([3.15, -1.05, -1.05, -1.05], [3.15, -1.05, -1.05, -1.05], 3.2),
        ([-3.15, 1.05, 1.05, 1.05], [-3.15, 1.05, 1.05, 1.05], 3.2),
        ([0.7, 0.7], [0, 0], 1),
        ([], [], 1),
        ([np.nan, 1.0], [np.nan, np.nan], 1),
    ],
)
def test_direction_scale_ends_at_largest_value_rounded_up(
    states: list[float], centred: list[float], bound: float
) -> None:
    read = SimpleNamespace(trace=np.reshape(states, (-1, 1)))  # of a view that is all it looks at
    values, scale = direction.centred_values(read, directions.Direction("up", [1.0]))  # type: ignore[arg-type]
    np.testing.assert_allclose(values, centred, atol=1e-12)
    assert (scale.kind, scale.low, scale.high) == ("diverging", -scale.high, pytest.approx(bound))


def test_proposed_text_is_searched_by_one_click(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_texts, "list_searchable_corpora", lambda: [corpora.describe("python-docs")])
    monkeypatch.setattr(search_texts, "SAMPLE_CHARS", 700)
    app = run_until_settled(open_app("inside", model="tiny-gru"), "inside")
    assert "**Too little text to tell**" in page_words(app)
    app = run_until_settled(app.button(key="inside.source.propose.sampled").click().run(), "inside")
    assert "**Too little text to tell**: in another text of 700 characters" in page_words(app)


def test_choices_outlive_another_part_and_page(open_app: Open) -> None:
    app = run_until_settled(open_app("inside", model="tiny-gru"), "inside")
    other = (app.number_input(key="inside.unit").value + 1) % 8
    app.number_input(key="inside.unit").set_value(other).run()
    for part in INSIDE_PARTS[1:]:
        app.segmented_control(key="part").set_value(part).run()
    run_until_settled(app.segmented_control(key="part").set_value("memory").run(), "inside")
    app.segmented_control(key="inside.gate").set_value("reset").run()
    switch_page(switch_page(app, "learn"), "inside")
    assert app.segmented_control(key="part").value == "memory"
    assert app.segmented_control(key="inside.gate").value == "reset"
    assert address_fields(app)["part"] == "memory"
    app.segmented_control(key="part").set_value("units").run()
    assert app.number_input(key="inside.unit").value == other
