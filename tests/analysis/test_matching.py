"""Patterns, matches and the index: equal to looking at every state of the text, one place after another.
The controls beside them: whose states, which thresholds, and what is counted.
"""

import gc
import itertools
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.analysis import indexing, matching
from rnnviz.analysis.activations import Unit
from rnnviz.analysis.indexing import Index, fingerprint, open_index
from rnnviz.analysis.matching import Match, Matches, Pattern
from rnnviz.errors import ConfigError
from rnnviz.findings import Heat, Number
from rnnviz.networks.progress import run
from rnnviz.sentences import tell
from tests import needs
from tests.analysis.built import built, quoted
from tests.conftest import TEXT, tiny

BOOK = quoted(3000)
HALF = 1e-3  # a float16 of a state in [-1, 1], rounded up here and down there
SAID = "ab “cde” f"  # the passage 3 .. 6 is “cde


def halves(model: Any, text: str) -> np.ndarray:
    """(T, L·H): the states as an index keeps them, by a way of its own."""
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
    found, start = [], 0
    for held, alike in itertools.groupby(sets):
        stop = start + len(list(alike))
        if len(held) >= needed:
            found.append((len(held), start, stop - 1 + least))
        start = stop
    found.sort(key=lambda one: (-one[0], one[1] - one[2], one[1]))
    return found, sum(len(s) >= needed for s in sets)


def apart(found: list[tuple[int, int, int]], most: int) -> list[tuple[int, int, int]]:
    chosen: list[tuple[int, int, int]] = []
    for one in found:
        if len(chosen) < most and all(one[2] <= other[1] or one[1] >= other[2] for other in chosen):
            chosen.append(one)
    return chosen


@pytest.fixture(scope="module")
def two_layers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str, Index]:
    model, text = tiny("lstm", layers=2), TEXT * 3
    return model, text, run(indexing.index(model, text, tmp_path_factory.mktemp("index") / "lstm"))


def test_the_index_holds_every_state_and_the_text(two_layers: tuple[Any, str, Index]) -> None:
    model, text, index = two_layers
    states = halves(model, text)
    assert (len(index), index.layers, index.units) == (len(text), 2, 12)
    assert index.text() == text
    assert index.text(-5, 4) == text[:4]
    np.testing.assert_allclose(index.values(0, len(text)), states, atol=HALF)
    np.testing.assert_allclose(index.values(7, 9, [3, 20]), states[7:9, [3, 20]], atol=HALF)
    assert (index.path / "values.npy").stat().st_size <= 2 * states.size + 128
    wanted = [n for n in range(len(text)) if text[: n + 1].endswith("was")]
    assert index.ends_with("was").tolist() == wanted
    assert not len(index.ends_with(""))
    assert not len(index.ends_with(text + "x"))
    too_long = index.match(Pattern((Unit(0, 0),), (1,), 0.01, len(text) + 1))
    assert (too_long.found, too_long.windows, too_long.of, too_long.share) == ((), 0, 0, 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_matches_are_those_of_a_plain_scan(seed: int) -> None:
    """Rare and frequent ones, side by side and far apart, exactly at the threshold and on both sides."""
    random = np.random.default_rng(seed)
    states = np.repeat(random.choice([-0.5, 0.0, 0.5], (200, 6)), random.integers(1, 7, 200), axis=0)
    states[random.random(len(states)) < random.choice([0.05, 0.6])] = 0.0
    pattern = Pattern(
        tuple(Unit(*unit) for unit in ((0, 0), (0, 2), (1, 0), (1, 1))),
        tuple(random.choice([-1, 1], 4).tolist()),
        0.5,
        length=2,
    )
    table = on(states, pattern, 3)
    for least, share in itertools.product((1, 2, 5), (0.25, 0.5, 0.75)):
        found = matching.find(states.T.astype(np.float16), 3, pattern, share=share, least=least, most=50)
        expected, windows = scanned(states, pattern, 3, share, least)
        assert [(m.overlap, m.start, m.stop) for m in found.found] == apart(expected, 50)
        assert (found.windows, found.of) == (windows, len(states) - least + 1)
        for match in found.found:
            held = table[match.start : match.stop].all(axis=0)
            assert match.units == tuple(itertools.compress(pattern.units, held))


def test_a_long_text_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "WRITTEN", 100)
    monkeypatch.setattr(indexing, "PIECE", 30)
    index = run(indexing.index(tiny("gru"), TEXT, tmp_path / "index"))
    np.testing.assert_allclose(index.values(0, len(TEXT)), halves(tiny("gru"), TEXT), atol=HALF)


@pytest.mark.parametrize("edges", [0, 1, 3])
@pytest.mark.parametrize(("start", "stop"), [(0, 3), (20, 27), (190, 197)])
def test_a_pattern_is_what_is_on_throughout_and_off_around(edges: int, start: int, stop: int) -> None:
    trace = rnnviz.trace(tiny("gru", layers=2), TEXT[:197])
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
        found = matching.pattern(trace, start, stop, threshold=0.1, edges=edges, layer=layer)
        assert dict(zip(found.units, found.signs, strict=True)) == expected
        assert found.length == stop - start


def test_predictions_from_the_index_are_those_of_the_network(
    two_layers: tuple[Any, str, Index],
) -> None:
    model, text, index = two_layers
    probabilities = np.exp(rnnviz.trace(model, text[:60]).log_probs)
    for position in (0, 30, 59):
        found = index.next(model, position, k=3)
        best = np.argsort(-probabilities[position + 1], kind="stable")[:3]
        assert [symbol for symbol, _ in found] == [model.vocabulary.symbol(int(s)) for s in best]
        np.testing.assert_allclose([p for _, p in found], probabilities[position + 1, best], atol=0.01)


def test_an_index_is_whole_or_not_there_and_its_users_alone(tmp_path: Path) -> None:
    path, model = tmp_path / "new" / "index", tiny("gru")
    steps = indexing.index(model, TEXT * 40, path)
    next(steps)
    assert [p.name[:9] for p in path.parent.iterdir()] == [".partial-"]
    steps.close()  # cancelled
    assert not list(path.parent.iterdir())
    seen: list[float] = []
    made = run(indexing.index(model, TEXT, path), lambda now: seen.append(now.fraction))
    assert seen[-1] == 1.0
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert [p.name for p in path.parent.iterdir()] == ["index"]
    again = indexing.index(model, TEXT, path)
    assert run(again).text() == made.text()


@needs.removal
def test_an_index_without_a_path_goes_with_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    steps = indexing.index(tiny("gru"), TEXT * 40)
    next(steps)
    assert list(tmp_path.iterdir())
    steps.close()  # cancelled
    assert not list(tmp_path.iterdir())
    made = run(indexing.index(tiny("gru"), TEXT))
    assert made.path.is_relative_to(tmp_path)
    assert made.text() == TEXT
    del made
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_no_room_is_said_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("usage", (), {"free": 100})
    monkeypatch.setattr("rnnviz.analysis.indexing.shutil.disk_usage", lambda path: usage)
    with pytest.raises(ConfigError, match="can't be written to"):
        run(indexing.index(tiny("gru"), TEXT, tmp_path / "index"))
    assert not list(tmp_path.iterdir())


def test_two_networks_are_never_taken_for_each_other() -> None:
    one = fingerprint(tiny("gru"))
    assert one == fingerprint(tiny("gru", name="another name"))
    others = [tiny("gru", layers=2), tiny("rnn"), tiny("rnn", activation="relu"), built()]
    assert len({one, *map(fingerprint, others)}) == 5


@pytest.fixture(scope="module")
def quotations(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return run(indexing.index(built(), BOOK, tmp_path_factory.mktemp("index") / "built"))


def elsewhere(index: Index, start: int, stop: int, text: str = SAID, **asked: Any) -> Matches:
    """The matches of a passage in the network that was built."""
    asked = {"threshold": 0.9, **asked}
    return index.elsewhere(built(), rnnviz.trace(built(), text), start, stop, **asked)


def test_what_matches_have_in_common_stands_beside_what_the_same_characters_have(
    quotations: Index,
) -> None:
    found = elsewhere(quotations, 1, 3, "x“ab", most=1000)
    ends = [match.stop - 1 for match in found.found]
    same = [n for n in range(1, len(BOOK)) if BOOK[n - 1 : n + 1] == "“a"]
    assert len(same) < matching.ENOUGH  # so fewer characters must do
    assert found.passage == matching.Ending("“a", len({*same} & {*ends}), len(ends), len(same) / len(BOOK))
    inside = sum(BOOK[n] == "a" for n in ends)
    assert found.ending == matching.Ending("a", inside, len(ends), BOOK.count("a") / len(BOOK))


def test_an_ending_is_as_long_as_many_places_have_it(two_layers: tuple[Any, str, Index]) -> None:
    model, text, index = two_layers
    for passage in ("q", "a machine"):
        read = rnnviz.trace(model, passage)
        found = index.elsewhere(model, read, 0, len(passage), threshold=0.01, share=0.1)
        assert passage.endswith(found.ending.text)
        assert found.ending.everywhere == len(index.ends_with(found.ending.text)) / len(text)
        often = found.ending.everywhere * len(text) >= matching.ENOUGH
        assert often or len(found.ending.text) == 1  # rare as it is


def test_what_stands_at_a_match_and_what_is_expected_there(quotations: Index) -> None:
    found = elsewhere(quotations, 3, 7, most=5)
    for match in found.found:
        start, stop = max(0, match.start - matching.BEFORE), match.stop + matching.AFTER
        assert match.before + match.text + match.after == BOOK[start:stop]
        assert (len(match.before), match.text) == (match.start - start, BOOK[match.start : match.stop])
        assert list(match.next) == quotations.next(built(), match.stop - 1)
        states = halves(built(), BOOK)[start:stop]
        np.testing.assert_allclose(match.on, on(states, found.pattern, 8).mean(axis=1))


@pytest.mark.parametrize("layer", [None, 1])
def test_all_that_is_counted_of_untrained_copies(
    layer: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "BEGINNING", 400)
    model = tiny("gru", layers=2)
    asked: dict[str, Any] = {"share": 0.6, "most": 7}
    index = run(indexing.index(model, TEXT, tmp_path / "tiny"))
    read = rnnviz.trace(model, TEXT[3:60])
    copies = run(matching.copies(model, TEXT, 2))
    found = index.elsewhere(model, read, 20, 23, threshold=0.05, layer=layer, copies=copies, **asked)
    control = found.untrained

    networks = [model, *units.untrained(model, 2)]
    share = np.mean(abs(units.activations(read, layer=layer)) >= 0.05)
    ends: list[list[int]] = []
    for number, network in enumerate(networks):
        here = rnnviz.trace(network, read.text)
        values = abs(units.activations(here, layer=layer))
        threshold = 0.05 if number == 0 else float(np.quantile(values, 1 - share))
        pattern = matching.pattern(here, 20, 23, threshold=threshold, layer=layer)
        if number:
            assert np.mean(values >= threshold) == pytest.approx(share, abs=2 / values.size)
            assert control.thresholds[number - 1] == pytest.approx(threshold)
            assert control.units[number - 1] == len(pattern)
        states = rnnviz.trace(network, TEXT[:400]).hidden.reshape(400, -1).T.astype(np.float16)
        ends.append([m.stop - 1 for m in matching.find(states, 12, pattern, least=3, **asked).found])
    own, theirs = ends[0], [*ends[1], *ends[2]]
    assert (control.characters, control.own, control.matches) == (400, len(own), len(theirs))
    assert min(len(own), len(ends[1]), len(ends[2])) > 2
    assert [one.name for one in control.shares] == [TEXT[23:26], found.ending.text]
    for shares in control.shares:
        assert shares.own == sum(TEXT[: n + 1].endswith(shares.name) for n in own)
        assert shares.untrained == sum(TEXT[: n + 1].endswith(shares.name) for n in theirs)


def test_copies_may_have_no_unit_that_is_on_throughout(quotations: Index) -> None:
    """A unit set by hand is on inside quotes and off beside them; no unit of random weights is."""
    copies = run(matching.copies(built(), BOOK))
    found = elsewhere(quotations, 3, 7, edges=1, copies=copies)
    assert found.untrained.own > 5
    assert (found.untrained.units, found.untrained.matches) == ((0, 0, 0), 0)
    assert found.untrained.shares[1].untrained == 0
    assert "match.no-copy" in [said.code for said in found.sentences()]


def test_one_call_indexes_matches_and_controls(quotations: Index, tmp_path: Path) -> None:
    copies = run(matching.copies(built(), BOOK, 1))
    shares: list[float] = []
    found = units.match(
        *(built(), SAID, 3, 7, BOOK),
        threshold=0.9,
        copies=1,
        progress=lambda now: shares.append(now.fraction),
    )
    assert found.facts() == elsewhere(quotations, 3, 7, copies=copies).facts()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    alone = units.match(built(), SAID, 3, 7, BOOK, threshold=0.9, copies=0, folder=tmp_path / "kept")
    assert alone.facts() == elsewhere(quotations, 3, 7).facts()
    assert open_index(tmp_path / "kept").text() == BOOK
    with pytest.raises(ConfigError, match="no unit is on throughout"):
        units.match(built(), SAID, 3, 7, BOOK, threshold=1.5, folder=tmp_path / "not")
    assert not (tmp_path / "not").exists()


def test_copies_read_no_more_than_the_beginning_and_progress_runs_to_the_end() -> None:
    steps: list[float] = []
    made = run(matching.copies(built(), BOOK * 11), lambda now: steps.append(now.fraction))
    assert [copy.states.shape for copy in made] == [(8, matching.BEGINNING)] * 3
    assert made[0].states.dtype == np.float16
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    first = rnnviz.trace(made[0].model, BOOK).hidden[:, 0].T
    np.testing.assert_allclose(made[0].states[:, : len(BOOK)], first, atol=1e-3)


PLACE = Match(70, 74, (Unit(0, 3), Unit(0, 9)), "a" * 60, "b\n c", "d" * 30, next=(("\n", 0.61),))
COMPARED = matching.Compared("b\n c", 1, 4), matching.Compared(" c", 1, 5)
CONTROL = matching.Untrained(300, (2, 0), (0.1, 0.2), 1, 9, COMPARED)
FOUND = Matches(
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
    ("changed", "said"),
    [
        ({"found": ()}, "nowhere"),
        ({}, "places passage ending few rows"),
        ({"ending": FOUND.passage}, "places passage few rows"),
        ({"untrained": CONTROL}, "places passage ending control both both-ending alike few rows"),
        ({"untrained": CONTROL, "ending": FOUND.passage}, "places passage control both alike few rows"),
        (
            {"untrained": replace(CONTROL, own=0), "ending": FOUND.passage},
            "places passage control copies-alone few rows",
        ),
        (
            {"untrained": replace(CONTROL, matches=0), "ending": FOUND.passage},
            "places passage control no-copy few rows",
        ),
        ({"passage": None, "ending": None}, "places"),  # as `Index.match` returns it
    ],
)
def test_what_is_said_of_matches(changed: dict[str, Any], said: str) -> None:
    codes = [one.code.partition(".")[2] for one in replace(FOUND, **changed).sentences()]
    assert codes == said.split()


def test_with_which_values_matches_are_said() -> None:
    values = replace(FOUND, untrained=CONTROL).sentences()[0].values
    shown = {name: one.value if isinstance(one, Number) else one for name, one in values.items()}
    assert (shown["needed"], shown["all"], shown["least"], shown["shown"]) == (2, 2, 4, 1)
    assert (shown["share"], shown["everywhere"], shown["anywhere"]) == pytest.approx((0.03, 0.02, 1.0))
    assert (shown["passage"], shown["ending"]) == ("b⏎·c", "·c")
    assert (shown["inside"], shown["ends"], shown["first"], shown["copies"]) == (1, 1, 300, 2)
    assert [shown[name] for name in ("own", "theirs", "a", "b", "c", "d")] == [1, 9, 1, 4, 1, 5]
    assert tell(values["units"], "en") == "0 to 2"
    (row,) = FOUND.table().rows
    assert [one.value for one in row[:3] if isinstance(one, Number)] == [70, 2, 4]
    assert row[3:] == ["a" * 30, "b⏎ c", "d" * 15, "⏎ 61%"]


def test_which_units_are_on_is_said_in_their_order() -> None:
    said = FOUND.pattern.said()
    assert (said.code, said.values["units"]) == ("match.units", "+3, −9")
    deeper = Pattern((Unit(1, 2), Unit(0, 7)), (1, 1)).said()
    assert deeper.values["units"] == "+0:7, +1:2"
    none = Pattern((), ())
    assert [none.said(edges).code for edges in (0, 2)] == ["match.none", "match.margin"]


def test_the_units_that_are_on_above_0_come_first_in_the_picture() -> None:
    states = np.arange(20, dtype=np.float32).reshape(2, 10)
    panel = FOUND.pattern.along(states, ("diverging", -1.0, 1.0))
    assert isinstance(panel.picture, Heat)
    assert panel.picture.names is not None
    assert list(panel.picture.names) == [3, 9]
    np.testing.assert_array_equal(panel.picture.values, states[:, [3, 9]].T)
    everything = Pattern((), ()).along(states, ("diverging", -1.0, 1.0))
    assert isinstance(everything.picture, Heat)
    assert everything.title.code == "match.title-none"
    np.testing.assert_array_equal(everything.picture.values, states.T)
