"""Patterns, matches and the index: equal to looking at every state of the text, one place after another."""

import gc
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError
from rnnviz.units import Pattern, Unit, match_controls, matching
from rnnviz.units.indexing import fingerprint
from tests.conftest import TEXT, tiny
from tests.units.built import COUNTS, LATCHES, built, quoted

BOOK = quoted(3000)


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
    for t in range(1, len(sets) + 1):
        if t == len(sets) or sets[t] != sets[start]:
            if len(sets[start]) >= needed:
                found.append((len(sets[start]), start, t - 1 + least))
            start = t
    found.sort(key=lambda one: (-one[0], one[1] - one[2], one[1]))
    return found, sum(len(s) >= needed for s in sets)


def apart(found: list[tuple[int, int, int]], most: int) -> list[tuple[int, int, int]]:
    chosen: list[tuple[int, int, int]] = []
    for one in found:
        if len(chosen) < most and all(one[2] <= other[1] or one[1] >= other[2] for other in chosen):
            chosen.append(one)
    return chosen


@pytest.fixture(scope="module")
def two_layers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str, units.Index]:
    model, text = tiny("lstm", layers=2), TEXT * 3
    return model, text, units.run(units.index(model, text, tmp_path_factory.mktemp("index") / "lstm"))


def test_the_index_holds_every_state_and_the_text(two_layers: tuple[Any, str, units.Index]) -> None:
    model, text, index = two_layers
    states = halves(model, text)
    assert (len(index), index.layers, index.units) == (len(text), 2, 12)
    assert index.text() == text
    assert index.text(-5, 4) == text[:4]
    np.testing.assert_array_equal(index.values(0, len(text)), states)
    np.testing.assert_array_equal(index.values(7, 9, [3, 20]), states[7:9, [3, 20]])
    assert (index.path / "values.npy").stat().st_size <= 2 * states.size + 128


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_matches_are_those_of_a_plain_scan(
    two_layers: tuple[Any, str, units.Index], seed: int, share: float
) -> None:
    model, text, index = two_layers
    states, random = halves(model, text), np.random.default_rng(seed)
    columns = random.choice(24, int(random.integers(1, 9)), replace=False).tolist()
    pattern = Pattern(
        tuple(Unit(c // 12, c % 12) for c in columns),
        tuple(random.choice([-1, 1], len(columns)).tolist()),
        threshold=float(random.choice([0.01, 0.05, 0.1])),
        length=int(random.integers(1, 6)),
    )
    least = int(random.integers(1, 9))
    found = index.match(pattern, share=share, least=least, most=7)
    expected, windows = scanned(states, pattern, 12, share, least)
    assert [(m.overlap, m.start, m.stop) for m in found.found] == apart(expected, 7)
    assert (found.windows, found.of) == (windows, len(text) - least + 1)
    table = on(states, pattern, 12)
    for match in found.found:
        held = table[match.start : match.stop].all(axis=0)
        assert match.units == tuple(u for u, is_on in zip(pattern.units, held, strict=True) if is_on)


@pytest.mark.parametrize("seed", range(10))
def test_matches_in_states_of_any_kind_are_those_of_a_plain_scan(seed: int) -> None:
    """Rare and frequent ones, side by side and far apart, exactly at the threshold and on both sides."""
    random = np.random.default_rng(seed)
    states = np.repeat(random.choice([-0.5, 0.0, 0.5], (200, 5)), random.integers(1, 7, 200), axis=0)
    states[random.random(len(states)) < random.choice([0.05, 0.6])] = 0.0
    pattern = Pattern(
        tuple(Unit(0, u) for u in range(4)), tuple(random.choice([-1, 1], 4).tolist()), 0.5, length=2
    )
    for least in (1, 2, 5):
        for share in (0.25, 0.5, 0.75):
            found = matching.find(states.T.astype(np.float16), 5, pattern, share=share, least=least, most=50)
            expected, windows = scanned(states, pattern, 5, share, least)
            assert [(m.overlap, m.start, m.stop) for m in found.found] == apart(expected, 50)
            assert found.windows == windows


def test_a_long_text_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units.index_file, "WRITTEN", 100)
    monkeypatch.setattr(units.index_file, "PIECE", 30)
    index = units.run(units.index(tiny("gru"), TEXT, tmp_path / "index"))
    np.testing.assert_array_equal(index.values(0, len(TEXT)), halves(tiny("gru"), TEXT))


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
        found = units.pattern(trace, start, stop, threshold=0.1, edges=edges, layer=layer)
        assert dict(zip(found.units, found.signs, strict=True)) == expected
        assert found.length == stop - start


def test_the_latch_that_was_built_finds_every_quotation(tmp_path: Path) -> None:
    index = units.run(units.index(built(), BOOK, tmp_path / "built"))
    spans = units.target("quotes", BOOK).spans()
    longest = sorted((stop - start for start, stop in spans), reverse=True)
    found = index.match(Pattern((Unit(0, LATCHES),), (1,), 0.9, 3), most=1000)
    assert [len(m) for m in found.found] == [n for n in longest if n >= 3]
    assert {(m.start, m.stop) for m in found.found} == {s for s in spans if s[1] - s[0] >= 3}
    elsewhere = index.match(Pattern((Unit(0, LATCHES),), (-1,), 0.9, 1), most=10_000)
    assert sum(map(len, elsewhere.found)) == len(BOOK) - sum(longest)
    start, stop = next(s for s in spans if s[1] - s[0] >= 3)
    shape = units.pattern(rnnviz.trace(built(), BOOK), start, stop, threshold=0.9, edges=1)
    assert Unit(0, LATCHES) in shape.units
    assert Unit(0, COUNTS) not in shape.units


def test_predictions_from_the_index_are_those_of_the_network(
    two_layers: tuple[Any, str, units.Index],
) -> None:
    model, text, index = two_layers
    probabilities = np.exp(rnnviz.trace(model, text[:60]).log_probs)
    for position in (0, 30, 59):
        found = index.next(model, position, k=3)
        best = np.argsort(-probabilities[position + 1], kind="stable")[:3]
        assert [symbol for symbol, _ in found] == [model.vocabulary.symbol(int(s)) for s in best]
        np.testing.assert_allclose([p for _, p in found], probabilities[position + 1, best], atol=0.01)


def test_where_the_text_has_just_read_something(two_layers: tuple[Any, str, units.Index]) -> None:
    _, text, index = two_layers
    wanted = [n for n in range(len(text)) if text[: n + 1].endswith("was")]
    assert index.ends_with("was").tolist() == wanted
    assert not len(index.ends_with(""))
    assert not len(index.ends_with(text + "x"))


def test_an_index_is_whole_or_not_there_and_its_users_alone(tmp_path: Path) -> None:
    path, model = tmp_path / "new" / "index", tiny("gru")
    steps = units.index(model, TEXT * 40, path)
    next(steps)
    assert [p.name[:9] for p in path.parent.iterdir()] == [".partial-"]
    steps.close()  # cancelled
    assert not list(path.parent.iterdir())
    seen: list[float] = []
    made = units.run(units.index(model, TEXT, path), lambda now: seen.append(now.fraction))
    assert seen[-1] == 1.0
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o600}
    assert [p.name for p in path.parent.iterdir()] == ["index"]
    again = units.index(model, TEXT, path)
    assert units.run(again).text() == made.text()


def test_an_index_without_a_path_goes_with_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    steps = units.index(tiny("gru"), TEXT * 40)
    next(steps)
    assert list(tmp_path.iterdir())
    steps.close()  # cancelled
    assert not list(tmp_path.iterdir())
    made = units.run(units.index(tiny("gru"), TEXT))
    assert made.path.is_relative_to(tmp_path)
    assert made.text() == TEXT
    del made
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_no_room_is_said_before_anything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("usage", (), {"free": 100})
    monkeypatch.setattr("rnnviz.units.index_file.shutil.disk_usage", lambda path: usage)
    with pytest.raises(ConfigError, match="can't be written to"):
        units.run(units.index(tiny("gru"), TEXT, tmp_path / "index"))
    assert not list(tmp_path.iterdir())


def test_two_networks_are_never_taken_for_each_other() -> None:
    one = fingerprint(tiny("gru"))
    assert one == fingerprint(tiny("gru", name="another name"))
    others = [tiny("gru", layers=2), tiny("rnn"), tiny("rnn", activation="relu"), built()]
    assert len({one, *map(fingerprint, others)}) == 5


def test_a_text_shorter_than_the_passage_has_no_match(two_layers: tuple[Any, str, units.Index]) -> None:
    _, text, index = two_layers
    found = index.match(Pattern((Unit(0, 0),), (1,), 0.01, len(text) + 1))
    assert (found.found, found.windows, found.of, found.share) == ((), 0, 0, 0.0)


def test_the_share_that_is_on_at_each_character(two_layers: tuple[Any, str, units.Index]) -> None:
    model, text, index = two_layers
    pattern = Pattern((Unit(0, 3), Unit(1, 8)), (1, -1), 0.05)
    columns = [matching.column(unit, 12) for unit in pattern.units]
    found = matching.shares(index.values(10, 40, columns), pattern)
    np.testing.assert_array_equal(found, on(halves(model, text), pattern, 12)[10:40].mean(axis=1))


def test_what_matches_have_in_common_stands_beside_what_the_same_characters_have(tmp_path: Path) -> None:
    index = units.run(units.index(built(), BOOK, tmp_path / "built"))
    found = index.match(Pattern((Unit(0, LATCHES),), (1,), 0.9, 3), most=1000)
    controls = match_controls.beside(index, found, "“a")
    ends = [match.stop - 1 for match in found.found]
    same = [n for n in range(1, len(BOOK)) if BOOK[n - 1 : n + 1] == "“a"]
    assert len(same) < match_controls.ENOUGH  # so fewer characters must do
    same = [n for n in range(len(BOOK)) if BOOK[n] == "a"]
    assert controls.ending == "a"
    assert controls.same.tolist() == same
    assert (controls.ends.inside, controls.ends.matches) == (sum(BOOK[n] == "a" for n in ends), len(ends))
    assert controls.ends.everywhere == pytest.approx(len(same) / len(BOOK))
    whole = [n for n in range(1, len(BOOK)) if BOOK[n - 1 : n + 1] == "“a"]
    assert controls.whole.inside == len({*whole} & {*ends})
    assert (controls.whole.name, controls.whole.everywhere) == ("“a", len(whole) / len(BOOK))


def test_an_ending_is_as_long_as_many_places_have_it(two_layers: tuple[Any, str, units.Index]) -> None:
    _, _text, index = two_layers
    found = index.match(Pattern((Unit(0, 0),), (1,), 0.01, 2))
    assert match_controls.beside(index, found, "q").ending == "q"  # rare as it is
    often = match_controls.beside(index, found, "a machine")
    assert len(often.same) >= match_controls.ENOUGH
    assert often.same.tolist() == index.ends_with(often.ending).tolist()
    assert "a machine".endswith(often.ending)
