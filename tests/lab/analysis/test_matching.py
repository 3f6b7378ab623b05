"""Patterns and matches: equal to looking at every state of the text, one place after another.
The controls beside them: whose states, which thresholds, and what is counted.
"""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError
from rnnviz.findings import Number
from rnnviz.lab.analysis import matching, places
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.matching import Finder, Match, Matches, Pattern
from rnnviz.lab.analysis.places import SearchedText
from rnnviz.sentences import describe
from tests.support.built import built, quoted
from tests.support.models import TEXT
from tests.support.torch_models import tiny_torch

BOOK = quoted(3000)
HALF = 1e-3  # a float16 of a state in [-1, 1], rounded up here and down there
PASSAGE_TEXT = "ab “cde” f"  # the passage 3 .. 6 is “cde


def halves(model: Any, text: str) -> np.ndarray:
    """(T, L·H): the states as a search compares them, by a way of its own."""
    hidden = rnnviz.trace(model, text).hidden
    return hidden.reshape(len(hidden), -1).astype(np.float16).astype(np.float64)


def on(states: np.ndarray, pattern: Pattern, H: int) -> np.ndarray:
    """(T, U): which of the pattern's units are on where."""
    columns = [unit.layer * H + unit.unit for unit in pattern.units]
    return states[:, columns] * np.array(pattern.signs) >= float(np.float16(pattern.threshold))


def scanned(
    states: np.ndarray, pattern: Pattern, H: int, share: float, least: int
) -> tuple[list[tuple[int, int, int]], int]:
    """All stretches (units, start, stop) that a match may be, best first, and the windows with enough; in
    plain Python, one window after another.
    """
    table = on(states, pattern, H)
    sets = [
        frozenset(np.flatnonzero(table[t : t + least].all(axis=0)).tolist())
        for t in range(len(table) - least + 1)
    ]
    needed = max(1, int(np.ceil(share * len(pattern) - 1e-9)))
    result, start = [], 0
    for kept_items, alike in itertools.groupby(sets):
        stop = start + len(list(alike))
        if len(kept_items) >= needed:
            result.append((len(kept_items), start, stop - 1 + least))
        start = stop
    result.sort(key=lambda item: (-item[0], item[1] - item[2], item[1]))
    return result, sum(len(s) >= needed for s in sets)


def apart(result: list[tuple[int, int, int]], largest: int) -> list[tuple[int, int, int]]:
    chosen: list[tuple[int, int, int]] = []
    for item in result:
        if len(chosen) < largest and all(item[2] <= other[1] or item[1] >= other[2] for other in chosen):
            chosen.append(item)
    return chosen


@pytest.fixture(scope="module")
def two_layers() -> tuple[Any, str, SearchedText]:
    model, text = tiny_torch("lstm", layers=2), TEXT * 3
    return model, text, SearchedText(model, text)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_text_is_read_in_pieces_and_kept_if_its_states_fit(
    is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PIECE_CHARS", 30)
    model = tiny_torch("lstm", layers=2)
    states = halves(model, TEXT)
    monkeypatch.setattr(places, "MAX_KEPT_BYTES", 2 * states.size - (not is_kept))
    searched = SearchedText(model, TEXT)
    assert (searched.text, searched.bytes, searched.in_memory) == (TEXT, 2 * states.size, False)
    for start, stop in ((65, 130), (0, len(TEXT)), (29, 30), (30, 31)):  # the first out of turn
        pieces = list(searched.between(start, stop))
        assert max(piece.shape[1] for piece in pieces) <= 30
        np.testing.assert_allclose(np.concatenate(pieces, axis=1).T, states[start:stop], atol=HALF)
    assert searched.in_memory == is_kept
    once = searched.states(1)
    assert (searched.states(1) is once) == is_kept
    np.testing.assert_array_equal(searched.states(1), once)


def test_a_text_is_found_where_it_has_just_been_read(two_layers: tuple[Any, str, SearchedText]) -> None:
    _, text, searched = two_layers
    assert searched.ends_with("was") == [n for n in range(len(text)) if text[: n + 1].endswith("was")]
    assert not searched.ends_with(text + "x")
    assert SearchedText(tiny_torch("gru"), "aaaa.a").ends_with("aa") == [1, 2, 3]
    assert SearchedText(tiny_torch("gru"), "a.a").ends_with(".") == [1]


@pytest.mark.parametrize("seed", range(20))
def test_pieces_give_the_matches_of_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which are those of a plain scan: rare and frequent ones, side by side and far apart, exactly at the
    threshold and on both sides; however a text is cut, and with next to no room for places that may turn out
    to be among the best.
    """
    monkeypatch.setattr(matching, "MIN_HELD_PLACES", 3)
    random = np.random.default_rng(seed)
    states = np.repeat(random.choice([-0.5, 0.0, 0.5], (60, 6)), random.integers(1, 7, 60), axis=0)
    states[random.random(len(states)) < random.choice([0.05, 0.6])] = 0.0
    kept_items = tuple(Unit(*unit) for unit in ((0, 0), (0, 2), (1, 0), (1, 1)))
    pattern = Pattern(kept_items, tuple(random.choice([-1, 1], 4).tolist()), 0.5)
    values, table = states.T.astype(np.float16), on(states, pattern, 3)
    for share, least, largest in itertools.product((0.25, 0.5, 0.75), (1, 3, 17, 400), (1, 4, 50)):
        finder = Finder(3, pattern, share=share, least=least, most=largest)
        for piece in np.split(values, np.unique(random.integers(1, len(states), 20)), axis=1):
            finder.add(piece)
        result, (expected, windows) = finder.matches(), scanned(states, pattern, 3, share, least)
        assert result == matching.find(values, 3, pattern, share=share, least=least, most=largest)
        assert [(m.overlap, m.start, m.stop) for m in result.found] == apart(expected, largest)
        assert (result.windows, result.of) == (windows, max(0, len(states) - least + 1))
        for match in result.found:
            inside = table[match.start : match.stop].all(axis=0)
            assert match.units == tuple(itertools.compress(pattern.units, inside))
    assert result.share == 0.0  # no window is so long


def test_a_search_holds_no_more_places_the_longer_the_text_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "MIN_HELD_PLACES", 10)
    finder = Finder(1, Pattern((Unit(0, 0),), (1,)), most=5)
    for _ in range(200):
        finder.add(np.tile(np.array([0.0, 1.0], np.float16), (1, 20)))
        assert len(finder._places.starts) <= 10 + 2 * 5 + 20
    assert [m.start for m in finder.matches().found] == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("edges", [0, 1, 3])
@pytest.mark.parametrize(("start", "stop"), [(0, 3), (20, 27), (190, 197)])
def test_a_pattern_is_what_is_on_throughout_and_off_around(edges: int, start: int, stop: int) -> None:
    trace = rnnviz.trace(tiny_torch("gru", layers=2), TEXT[:197])
    states = trace.hidden.astype(np.float16).astype(float)
    for layer in (None, 1):
        expected = {}
        for n in (0, 1) if layer is None else (layer,):
            for u in range(12):
                for sign in (1, -1):
                    is_on = sign * states[:, n, u] >= float(np.float16(0.1))
                    before, after = (
                        range(max(0, start - edges), start),
                        range(stop, min(len(trace), stop + edges)),
                    )
                    if is_on[start:stop].all() and not is_on[[*before, *after]].any():
                        expected[Unit(n, u)] = sign
        pattern = matching.pattern(trace, start, stop, threshold=0.1, edges=edges, layer=layer)
        assert dict(zip(pattern.units, pattern.signs, strict=True)) == expected
        assert pattern.length == stop - start


def test_predictions_from_kept_states_are_those_of_the_network(
    two_layers: tuple[Any, str, SearchedText],
) -> None:
    model, text, searched = two_layers
    probabilities = np.exp(rnnviz.trace(model, text[:60]).log_probs)
    for position in (0, 30, 59):
        predictions = searched.next(position, k=3)
        best = np.argsort(-probabilities[position + 1], kind="stable")[:3]
        assert [symbol for symbol, _ in predictions] == [model.vocabulary.symbol(int(s)) for s in best]
        np.testing.assert_allclose([p for _, p in predictions], probabilities[position + 1, best], atol=0.01)


@pytest.fixture(scope="module")
def quotations() -> SearchedText:
    return SearchedText(built(), BOOK)


def elsewhere(
    searched: SearchedText, start: int, stop: int, text: str = PASSAGE_TEXT, **options: Any
) -> Matches:
    """The matches of a passage in the network that was built."""
    options = {"threshold": 0.9, **options}
    return searched.elsewhere(rnnviz.trace(built(), text), start, stop, **options)


def test_endings_of_matches_are_counted_beside_those_of_all_places(
    quotations: SearchedText,
) -> None:
    matches = elsewhere(quotations, 1, 3, "x“ab", most=1000)
    ends = [match.stop - 1 for match in matches.found]
    same = [n for n in range(1, len(BOOK)) if BOOK[n - 1 : n + 1] == "“a"]
    assert len(same) < matching.MIN_OCCURRENCES  # so fewer characters must do
    assert matches.passage == matching.Ending("“a", len({*same} & {*ends}), len(ends), len(same) / len(BOOK))
    inside = sum(BOOK[n] == "a" for n in ends)
    assert matches.ending == matching.Ending("a", inside, len(ends), BOOK.count("a") / len(BOOK))


def test_an_ending_is_as_long_as_many_places_have_it(two_layers: tuple[Any, str, SearchedText]) -> None:
    model, text, searched = two_layers
    for passage in ("q", "a machine"):
        read = rnnviz.trace(model, passage)
        matches = searched.elsewhere(read, 0, len(passage), threshold=0.01, share=0.1)
        assert passage.endswith(matches.ending.text)
        assert matches.ending.everywhere == len(searched.ends_with(matches.ending.text)) / len(text)
        often = matches.ending.everywhere * len(text) >= matching.MIN_OCCURRENCES
        assert often or len(matches.ending.text) == 1  # rare as it is


def test_match_has_its_context_and_the_next_characters(quotations: SearchedText) -> None:
    matches = elsewhere(quotations, 3, 7, most=5)
    for match in matches.found:
        start, stop = max(0, match.start - matching.CHARS_BEFORE), match.stop + matching.CHARS_AFTER
        assert match.before + match.text + match.after == BOOK[start:stop]
        assert (len(match.before), match.text) == (match.start - start, BOOK[match.start : match.stop])
        assert list(match.next) == quotations.next(match.stop - 1)
        states = halves(built(), BOOK)[start:stop]
        np.testing.assert_allclose(match.on, on(states, matches.pattern, 8).mean(axis=1))


@pytest.mark.parametrize("layer", [None, 1])
def test_untrained_copies_matches_are_counted(layer: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "CONTROL_CHARS", 400)
    model = tiny_torch("gru", layers=2)
    options: dict[str, Any] = {"share": 0.6, "most": 7}
    searched = SearchedText(model, TEXT)
    read = rnnviz.trace(model, TEXT[3:60])
    copies = matching.untrained_copies(model, TEXT, 2)
    matches = searched.elsewhere(read, 20, 23, threshold=0.05, layer=layer, **options)
    matches = searched.beside(matches, read, 20, 23, copies, layer=layer, **options)
    control = matches.untrained

    networks = [model, *units.untrained(model, 2)]
    share = np.mean(abs(units.activations(read, layer=layer)) >= 0.05)
    ends: list[list[int]] = []
    for number, network in enumerate(networks):
        places_here = rnnviz.trace(network, read.text)
        values = abs(units.activations(places_here, layer=layer))
        threshold = 0.05 if number == 0 else float(np.quantile(values, 1 - share))
        pattern = matching.pattern(places_here, 20, 23, threshold=threshold, layer=layer)
        if number:
            assert np.mean(values >= threshold) == pytest.approx(share, abs=2 / values.size)
            assert control.thresholds[number - 1] == pytest.approx(threshold)
            assert control.units[number - 1] == len(pattern)
        states = rnnviz.trace(network, TEXT[:400]).hidden.reshape(400, -1).T.astype(np.float16)
        ends.append([m.stop - 1 for m in matching.find(states, 12, pattern, least=3, **options).found])
    network_ends, theirs = ends[0], [*ends[1], *ends[2]]
    assert (control.characters, control.own, control.matches) == (400, len(network_ends), len(theirs))
    assert min(len(network_ends), len(ends[1]), len(ends[2])) > 2
    assert [compared.name for compared in control.shares] == [TEXT[23:26], matches.ending.text]
    for shares in control.shares:
        assert shares.own == sum(TEXT[: n + 1].endswith(shares.name) for n in network_ends)
        assert shares.untrained == sum(TEXT[: n + 1].endswith(shares.name) for n in theirs)


def test_copies_may_have_no_unit_that_is_on_throughout(quotations: SearchedText) -> None:
    """A unit set by hand is on inside quotes and off beside them; no unit of random weights is."""
    copies, read = matching.untrained_copies(built(), BOOK), rnnviz.trace(built(), PASSAGE_TEXT)
    matches = quotations.beside(elsewhere(quotations, 3, 7, edges=1), read, 3, 7, copies)
    assert matches.untrained.own > 5
    assert (matches.untrained.units, matches.untrained.matches) == ((0, 0, 0), 0)
    assert matches.untrained.shares[1].untrained == 0
    assert "match.no-copy" in [sentence.code for sentence in matches.sentences()]


@pytest.mark.parametrize("copies", [0, 1])
def test_match_equals_its_steps(quotations: SearchedText, copies: int) -> None:
    matches = units.match(built(), PASSAGE_TEXT, 3, 7, BOOK, threshold=0.9, copies=copies)
    expected = elsewhere(quotations, 3, 7)
    if copies:
        beside = matching.untrained_copies(built(), BOOK, 1)
        expected = quotations.beside(expected, rnnviz.trace(built(), PASSAGE_TEXT), 3, 7, beside)
    assert matches.facts() == expected.facts()


def test_empty_pattern_is_refused_before_the_text_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchedText, "states", None)
    with pytest.raises(ConfigError, match="no unit is on throughout"):
        units.match(built(), PASSAGE_TEXT, 3, 7, BOOK, threshold=1.5)


PLACE = Match(70, 74, (Unit(0, 3), Unit(0, 9)), "a" * 60, "b\n c", "d" * 30, next=(("\n", 0.61),))
COMPARED = matching.Compared("b\n c", 1, 4), matching.Compared(" c", 1, 5)
CONTROL = matching.Untrained(300, (2, 0), (0.1, 0.2), 1, 9, COMPARED)
MATCHES = Matches(
    pattern=Pattern((Unit(0, 9), Unit(0, 3)), (-1, 1), 0.5, 4),
    found=(PLACE,),
    needed=2,
    least=4,
    windows=3,
    of=10_000,
    characters=10_003,
    passage=matching.Ending("b\n c", 1, 1, 0.0002),
    ending=matching.Ending(" c", 1, 1, 0.01),
)


@pytest.mark.parametrize(
    ("changed", "expected_codes"),
    [
        ({"found": ()}, "nowhere"),
        ({}, "places passage ending few rows"),
        ({"ending": MATCHES.passage}, "places passage few rows"),
        ({"untrained": CONTROL}, "places passage ending control both both-ending alike few rows"),
        ({"untrained": CONTROL, "ending": MATCHES.passage}, "places passage control both alike few rows"),
        (
            {"untrained": replace(CONTROL, own=0), "ending": MATCHES.passage},
            "places passage control copies-alone few rows",
        ),
        (
            {"untrained": replace(CONTROL, matches=0), "ending": MATCHES.passage},
            "places passage control no-copy few rows",
        ),
        ({"passage": None, "ending": None}, "places"),  # as `SearchedText.search` returns it
    ],
)
def test_matches_have_the_true_sentences(changed: dict[str, Any], expected_codes: str) -> None:
    codes = [sentence.code.partition(".")[2] for sentence in replace(MATCHES, **changed).sentences()]
    assert codes == expected_codes.split()


def test_matches_sentences_have_the_counts() -> None:
    values = replace(MATCHES, untrained=CONTROL).sentences()[0].values
    shown_values = {
        name: value.value if isinstance(value, Number) else value for name, value in values.items()
    }
    expected = {
        "share": 0.03, "everywhere": 0.02, "anywhere": 1.0, "passage": "b⏎·c", "ending": "·c", "inside": 1,
        "ends": 1, "first": 300, "copies": 2, "own": 1, "theirs": 9, "a": 1, "b": 4, "c": 1, "d": 5,
    }  # fmt: skip
    assert {name: shown_values[name] for name in expected} == pytest.approx(expected)
    assert describe(values["units"], "en") == "0 to 2"
    (row,) = MATCHES.table().rows
    assert [value.value for value in row[:3] if isinstance(value, Number)] == [70, 2, 4]
    assert row[3:] == ["a" * 30, "b⏎ c", "d" * 15, "⏎ 61%"]


def test_pattern_names_its_units_in_order() -> None:
    sentence = MATCHES.pattern.said()
    assert (sentence.code, sentence.values["units"]) == ("match.units", "+3, −9")
    deeper = Pattern((Unit(1, 2), Unit(0, 7)), (1, 1)).said()
    assert deeper.values["units"] == "+0:7, +1:2"
    none = Pattern((), ())
    assert [none.said(edges).code for edges in (0, 2)] == ["match.none", "match.margin"]


def test_the_units_that_are_on_above_0_come_first_in_the_picture() -> None:
    states = np.arange(20, dtype=np.float32).reshape(2, 10)
    panel = MATCHES.pattern.along(states, ("diverging", -1.0, 1.0))
    assert list(panel.picture.names) == [3, 9]
    np.testing.assert_array_equal(panel.picture.values, states[:, [3, 9]].T)
    all_units = Pattern((), ()).along(states, ("diverging", -1.0, 1.0))
    assert all_units.title.code == "match.title-none"
    np.testing.assert_array_equal(all_units.picture.values, states.T)
