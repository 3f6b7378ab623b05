"""What cannot be done with units is refused in one plain sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnnviz
from rnnviz import units
from rnnviz.errors import ConfigError, DecodingError, EmptyTextError, TextError
from rnnviz.lab.analysis import directions, evidence, matching
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.bootstrap import resample
from rnnviz.lab.analysis.directions import Direction, random_direction
from rnnviz.lab.analysis.effects import effect
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.matching import Pattern
from rnnviz.lab.analysis.places import SearchedText
from rnnviz.lab.analysis.scanning import pushes
from rnnviz.lab.analysis.targets import Target, named_target, pattern_target, span_target, target
from tests.support.built import built
from tests.support.models import TEXT
from tests.support.refused import Refusals, assert_refused
from tests.support.torch_models import tiny_torch

H = 12  # of `tiny`
GRU, DEEP = tiny_torch("gru"), tiny_torch("gru", layers=2)
READ = rnnviz.trace(DEEP, TEXT[:20])
ALONG = random_direction(H, 1)
TABLE = np.random.default_rng(1).normal(size=(200, 3))
PAIR = "(1, 5) may be unit 5 of layer 1, or units 1 and 5 of layer 0: give 5 and layer=1, or say layer=0"


def trace_with(*arguments: Any, **options: Any) -> Any:
    """A text read under an intervention."""
    return rnnviz.trace(GRU, "The machine", change=Intervention(*arguments, **options))


def edited(function: Any, **where: Any) -> Any:
    return rnnviz.trace(GRU, "ab", change=units.Edit(function, **where))


def worth(text: str = "a", **options: Any) -> Any:
    return units.ablate(GRU, text, **options)


def costs(text: str = "a", units: Any = (1,), quantity: Any = "hidden", **options: Any) -> Any:
    return effect(GRU, text, Intervention(units, quantity=quantity), **options)


def patched(at: Any = 20, to: Any = 30, **options: Any) -> Any:
    return units.patch(GRU, TEXT[:50], at, TEXT[60:130], to, **options)


def searched(name: Any, text: str = "abc abc", **options: Any) -> Any:
    return search(rnnviz.trace(built(), text), target(name, text), **options)


def probed(where: Any = None, **options: Any) -> Any:
    return units.probe(TABLE, Target("half", np.arange(200) % 61 < 25) if where is None else where, **options)


def matched(pattern: Pattern, **options: Any) -> Any:
    return SearchedText(DEEP, TEXT[:60]).search(pattern, **options)


def a_picture() -> Any:
    Path("b.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    return units.scan(GRU, path="b.txt")


ONE_UNIT = Pattern((Unit(0, 0),), (1,))

REFUSED: Refusals = {
    "ablate: a direction": (lambda: worth(units=[ALONG]), ConfigError, "for a direction use rnnviz.units"),
    "ablate: no text": (lambda: worth(""), EmptyTextError, "an empty text"),
    "ablate: a unit": (lambda: worth(units=[12]), ConfigError, "units 0 to 11"),
    "ablate: a layer": (lambda: worth(layer=2), ConfigError, "received layer 2"),
    "ablate: to": (lambda: worth(to="median"), ConfigError, "to is 'zero' or 'mean' or a number"),
    "ablate: batch": (lambda: worth(batch=0), ConfigError, "at least 1 unit"),
    "ablate: a pair": (lambda: units.ablate(DEEP, "a", units=(1, 5)), ConfigError, PAIR),
    "change: no intervention": (lambda: rnnviz.trace(GRU, "ab", change=3), ConfigError, "Clamp"),  # type: ignore[arg-type]
    "edit: a shape": (lambda: edited(lambda h: h[:2]), ConfigError, "shape"),
    "edit: no function": (lambda: edited(3), ConfigError, "function"),
    "edit: a layer": (lambda: edited(abs, layer=7), ConfigError, "layer"),
    "edit: a quantity": (lambda: edited(abs, quantity="cell"), ConfigError, "LSTM"),
    "change: a unit": (lambda: rnnviz.trace(GRU, "ab", change=units.Zero(99)), ConfigError, "99"),
    "change: precise": (
        lambda: rnnviz.perplexity(GRU, text="ab", change=units.Zero(1), precise=True), ConfigError, "precise",
    ),
    "change: no state": (
        lambda: rnnviz.sample(rnnviz.load("timemachine-6gram"), "a", 2, change=units.Zero(1)),
        ConfigError,
        "state",
    ),
    "directions: one follows": (
        lambda: Intervention([Direction(str(n), np.eye(3)[n]) for n in (0, 1, 1)]),
        ConfigError,
        "one of these 3 directions is a weighted sum of the others",
    ),
    "mean_difference: everywhere": (
        lambda: directions.mean_difference(READ, Target("all", np.ones(20, np.bool_))),
        ConfigError,
        "is true at every character",
    ),
    "mean_difference: short": (
        lambda: directions.mean_difference(READ, Target("short", np.ones(3, np.bool_))),
        ConfigError,
        "covers 3 characters, the activations 20",
    ),
    "Direction: zeros": (lambda: Direction("wrong", [0.0, 0.0]), ConfigError, "not all 0"),
    "Direction: nan": (lambda: Direction("wrong", [np.nan, 1.0]), ConfigError, "a vector of numbers"),
    "Direction: a table": (lambda: Direction("wrong", [[1.0]]), ConfigError, "a vector of numbers"),  # type: ignore[list-item]
    "Direction: a layer": (lambda: Direction("wrong", [1.0], layer=-1), ConfigError, "received layer -1"),
    "directions: and units": (lambda: trace_with((ALONG, 3)), ConfigError, "units or directions, not both"),
    "directions: two layers": (
        lambda: trace_with((ALONG, random_direction(H, 1, layer=1))),
        ConfigError, "several layers or quantities",
    ),
    "directions: another layer": (
        lambda: trace_with(ALONG, layer=1), ConfigError, "1 was asked for, but the direction is in 0",
    ),
    "directions: another quantity": (
        lambda: trace_with(ALONG, quantity="cell"),
        ConfigError, "'cell' was asked for, but the direction is in 'h",
    ),
    "directions: a gate": (
        lambda: trace_with(random_direction(H, quantity="update")),
        ConfigError, "'cell' for an LSTM's cell state",
    ),
    "directions: another size": (
        lambda: trace_with(random_direction(9)), ConfigError, "9 units; these have 12",
    ),
    "directions: no such layer": (
        lambda: trace_with(random_direction(H, layer=1)), ConfigError, "received layer 1",
    ),
    "directions: no cell": (
        lambda: trace_with(random_direction(H, quantity="cell")), ConfigError, "gru cells",
    ),
    "random direction": (lambda: random_direction(0), ConfigError, "H is at least 1"),
    "Direction.along": (
        lambda: ALONG.along(np.zeros((3, 9))), ConfigError, "states of 12 units; these have 9",
    ),
    "effect: no text": (lambda: costs(""), EmptyTextError, "an empty text"),
    "effect: too many": (lambda: costs(units=range(7)), ConfigError, "7 of 12 units leave too few"),
    "effect: controls": (lambda: costs(controls=0), ConfigError, "at least 1 control"),
    "effect: a unit": (lambda: costs(units=(12,)), ConfigError, "units 0 to 11"),
    "effect: a cell": (lambda: costs(quantity="cell"), ConfigError, "only an LSTM has a cell"),
    "effect: graded": (
        lambda: costs("abcd", target=target("line-position", "abcd")),
        ConfigError,
        "received line-position, for 4",
    ),
    "effect: short": (
        lambda: costs("abcd", target=target("quotes", "abc")), ConfigError, "received quotes, for 3",
    ),
    "Intervention: none": (lambda: Intervention(()), ConfigError, "at least one"),
    "Intervention: half": (lambda: Intervention((1.5,)), ConfigError, "whole numbers"),  # type: ignore[arg-type]
    "Intervention: below 0": (lambda: Intervention((-1,)), ConfigError, "counted from 0; received -1"),
    "Intervention: action": (lambda: Intervention((1,), "drop"), ConfigError, "clamp, zero or scale"),  # type: ignore[arg-type]
    "Intervention: nan": (lambda: Intervention((1,), value=float("nan")), ConfigError, "received nan"),
    "Intervention: zero to 1": (
        lambda: Intervention((1,), value=1.0), ConfigError, "zero takes no value; received 1.0: write ",
    ),
    "Intervention: ends first": (
        lambda: Intervention((1,), start=5, stop=2), ConfigError, "received 5 to 2",
    ),
    "Intervention: start": (lambda: Intervention((1,), start=-1), ConfigError, "received -1"),
    "Intervention: a gate": (
        lambda: Intervention((1,), quantity="update"), ConfigError, "'cell' for an LSTM's cell state",
    ),
    "Units: of two layers": (
        lambda: Intervention((Unit(0, 1), Unit(1, 5))),
        ConfigError,
        "to layers 0, 1; give those of one layer at a time",
    ),
    "Units: and numbers": (
        lambda: Intervention((Unit(1, 5), 3)), ConfigError, "Units or numbers of one layer, not both",
    ),
    "Units: another layer": (
        lambda: Intervention(Unit(1, 5), layer=0),
        ConfigError,
        "layer 0 was asked for, but the Units belong to layer 1",
    ),
    "intervene: a pair": (
        lambda: rnnviz.trace(DEEP, "a", change=Intervention((1, 5), "clamp", 1.0)), ConfigError, PAIR,
    ),
    "intervene: numpy's pair": (
        lambda: rnnviz.trace(DEEP, "a", change=Intervention((np.int64(1), np.int64(5)), "clamp", 1.0)),
        ConfigError,
        PAIR,
    ),
    "intervene: a unit": (lambda: trace_with((12,)), ConfigError, "units 0 to 11; received 12"),
    "intervene: a layer": (
        lambda: trace_with((0,), layer=1), ConfigError, "1 layers, counted from 0; received layer 1",
    ),
    "intervene: a cell": (
        lambda: trace_with((0,), quantity="cell"), ConfigError, "this network has gru cells",
    ),
    "intervene: a text": (lambda: rnnviz.trace(GRU, "\ud800", change=[]), TextError, "surrogate"),
    "project: none": (lambda: units.project([]), ConfigError, "or a list of them"),
    "project: a text": (
        lambda: units.project([READ, "ab"]),  # type: ignore[list-item]
        ConfigError,
        "or a list of them",
    ),
    "project: two sizes": (
        lambda: units.project([rnnviz.trace(tiny_torch("gru", hidden_size=n), "ab") for n in (12, 13)]),
        ConfigError,
        "networks of one size",
    ),
    "find: no target": (lambda: units.find(GRU, TEXT, []), ConfigError, "no target was given"),
    "project": (lambda: units.project(rnnviz.trace(GRU, "ab"), 13), ConfigError, "1 to 12 axes"),
    "gates: a cell": (
        lambda: units.gates(rnnviz.trace(tiny_torch("rnn"), "a")), ConfigError, "has rnn cells",
    ),
    "gates: no text": (lambda: units.gates(rnnviz.trace(GRU, "")), EmptyTextError, "no characters"),
    "gates: a layer": (lambda: units.gates(READ, layer=2), ConfigError, "received layer 2"),
    "compare": (lambda: units.compare([], "a"), ConfigError, "at least one model"),
    "match: no text": (lambda: SearchedText(GRU, ""), EmptyTextError, "no characters"),
    "match: a surrogate": (lambda: SearchedText(GRU, "a\ud800"), TextError, "surrogate"),
    "match: counts": (
        lambda: SearchedText(rnnviz.load("timemachine-6gram"), "a"), ConfigError, "no hidden state",
    ),
    "pattern: empty": (
        lambda: matching.pattern(READ, 3, 3), ConfigError, "a span begins and ends within the text of 20",
    ),
    "pattern: too long": (lambda: matching.pattern(READ, 3, 21), ConfigError, "received 3 to 21"),
    "pattern: threshold": (
        lambda: matching.pattern(READ, 3, 5, threshold=0.0), ConfigError, "a threshold is how far from 0",
    ),
    "pattern: nan": (
        lambda: matching.pattern(READ, 3, 5, threshold=float("nan")), ConfigError, "a threshold is how far",
    ),
    "pattern: edges": (
        lambda: matching.pattern(READ, 3, 5, edges=-1), ConfigError, "edges is at least 0; received -1",
    ),
    "pattern: a layer": (
        lambda: matching.pattern(READ, 3, 5, layer=4), ConfigError, "this network has 2 layers",
    ),
    "Pattern: a sign": (lambda: Pattern((Unit(0, 1),), (2,)), ConfigError, "a sign, 1 or -1, for each unit"),
    "Pattern: twice": (
        lambda: Pattern((Unit(0, 1), Unit(0, 1)), (1, 1)), ConfigError, "names each unit once",
    ),
    "match: nothing on": (
        lambda: matched(Pattern((), ())), ConfigError, "no unit is on throughout the passage",
    ),
    "match: share": (lambda: matched(ONE_UNIT, share=0.0), ConfigError, "above 0 and at most 1"),
    "match: least": (lambda: matched(ONE_UNIT, least=0), ConfigError, "least is at least 1"),
    "match: most": (lambda: matched(ONE_UNIT, most=0), ConfigError, "most is at least 1"),
    "patch: at": (
        lambda: patched(51), ConfigError, "`at` counts the characters read, from 0 to 50; received 51",
    ),
    "patch: to": (lambda: patched(to=-1), ConfigError, "`to` counts"),
    "patch: no to": (lambda: patched(to=None), ConfigError, "at=20 and to=None"),
    "patch: ahead of one": (lambda: patched(ahead=2), ConfigError, "`ahead` belongs to at='all'"),
    "patch: all, to": (lambda: patched("all"), ConfigError, "leave `to` out"),
    "patch: ahead": (lambda: patched("all", None, ahead=0), ConfigError, "ahead is at least 1"),
    "patch: a layer": (lambda: patched(layer=1), ConfigError, "1 layers"),
    "patch: a unit": (lambda: patched(units=[12]), ConfigError, "units 0 to 11"),
    "patch: a cell": (lambda: patched(quantity="cell"), ConfigError, "only an LSTM"),
    "patch: a gate": (lambda: patched(quantity="reset"), ConfigError, "'hidden' or 'cell'"),
    "patch: a pair": (lambda: patched(units=(0, 5)), ConfigError, "give 5 and layer=0"),
    "patch: another size": (lambda: patched(units=random_direction(5)), ConfigError, "5 units"),
    "patch: a direction's layer": (
        lambda: patched(units=ALONG, layer=1), ConfigError, "leave 1 out",
    ),
    "patch: two directions": (
        lambda: patched(units=[ALONG, random_direction(H, 2)]), ConfigError, "along one direction",
    ),
    "patch: a direction's cell": (
        lambda: patched(units=random_direction(H, quantity="cell")), ConfigError, "only an LSTM",
    ),
    "patch: a direction's gate": (
        lambda: patched(units=random_direction(H, quantity="reset")), ConfigError, "'reset'",
    ),
    "Patched.controls: n": (
        lambda: patched().controls(GRU, n=0), ConfigError, "at least 1",
    ),
    "Patched.controls: no text": (
        lambda: patched().controls(GRU, ""), EmptyTextError, "at least one character",
    ),
    **{
        f"perturb: {position}, {character!r}": (
            lambda position=position, character=character: units.perturb(GRU, TEXT[:80], position, character),
            ConfigError,
            "received",
        )
        for position, character in ((80, "x"), (-1, "x"), (0, TEXT[0]), (0, "xy"), (0, ""), (0, "\r"))
    },
    "memory: a short text": (lambda: units.memory(GRU, "short"), ConfigError, "more than 100"),
    "memory: one letter": (lambda: units.memory(GRU, "a" * 200), ConfigError, "at least two kinds"),
    "memory: steps": (lambda: units.memory(GRU, TEXT, steps=0), ConfigError, "at least 1"),
    "probe: controls": (lambda: probed(controls=-1), ConfigError, "^controls is a whole number from 0"),
    "Probe.direction: which layer": (
        lambda: units.probe(READ, "vowel", controls=0).direction(), ConfigError, "layers 0, 1; say which one",
    ),
    "Probe.direction: a layer": (
        lambda: units.probe(READ, "vowel", controls=0).direction(2), ConfigError, "received 2",
    ),
    "find: a network": (
        lambda: units.find(GRU, TEXT, "quotes", models=DEEP),  # type: ignore[call-overload]
        ConfigError,
        "models is a list or None; received",
    ),
    "probe: seed": (lambda: probed(seed=-1), ConfigError, "^seed is a whole number from 0; received -1$"),
    "probe: short": (
        lambda: probed(Target("short", np.ones(3, np.bool_))),
        ConfigError,
        "covers 3 characters, the activations 200",
    ),
    "probe: everywhere": (
        lambda: probed(Target("all", np.ones(200, np.bool_))), ConfigError, "is true at every character",
    ),
    "Target: not a number": (
        lambda: Target("steps", np.array([1.0, np.nan])), ConfigError, "received nan at character 1",
    ),
    "scan: a picture": (a_picture, DecodingError, "PNG"),
    "scan: no text": (lambda: units.scan(GRU, text=""), EmptyTextError, "no characters"),
    "scan: which layer": (
        lambda: units.scan(DEEP, text="a", units=[1]), ConfigError, "say which one",
    ),
    "scan: a unit": (lambda: units.scan(GRU, text="a", layer=0, units=[12]), ConfigError, "units 0 to 11"),
    "scan: bins": (lambda: units.scan(GRU, text="a", bins=10), ConfigError, "multiple of 4"),
    "scan: a gate": (
        lambda: units.scan(GRU, text="a", quantity="forget"),
        ConfigError,
        "gru cells has hidden, reset, update, candidate",
    ),
    "scan: two texts": (lambda: units.scan(GRU, path="a", text="a"), ConfigError, "received both"),
    "scan: another unit": (
        lambda: units.scan(GRU, text="a", layer=0, units=[3])[0, 4],
        ConfigError,
        r"unit \(0, 4\) was not scanned; ask for \(layer, unit\), such as \(0, 3\)",
    ),
    "scan: a number": (lambda: units.scan(GRU, text="a", layer=0, units=[3])[3], ConfigError, "unit 3 was"),
    "pushes: a unit": (lambda: pushes(GRU, 12), ConfigError, "units 0 to 11"),
    "pushes: k": (lambda: pushes(GRU, 1, k=0), ConfigError, "k counts symbols"),
    "pushes: a layer": (
        lambda: pushes(DEEP, Unit(0, 5)),
        ConfigError,
        "layer 1 was asked for, but the Units belong to layer 0",
    ),
    "search: nowhere": (
        lambda: searched("digit"), ConfigError, "digit is true at no character of this text",
    ),
    "search: everywhere": (
        lambda: searched("capital", "ABCABCA"), ConfigError, "capital is true at every character",
    ),
    "search: one depth": (
        lambda: searched("indent-depth"), ConfigError, "indent-depth is the same at every character",
    ),
    "search: short": (
        lambda: search(rnnviz.trace(built(), "abc"), target("line-start", "abc abc")),
        ConfigError,
        "covers 7 characters, the activations 3",
    ),
    "search: graded": (
        lambda: searched("line-position", edges=1),
        ConfigError,
        "^line-position is a matter of degree and has no edges; leave edges out$",
    ),
    "search: a cell": (
        lambda: searched("vowel", quantity="cell"), ConfigError, "rnn cells has hidden; received 'cell'",
    ),
    "search: a layer": (
        lambda: searched("vowel", layer=1), ConfigError, "1 layers, counted from 0; received layer 1",
    ),
    **{
        f"search: shifts {shifts}": (
            lambda shifts=shifts: searched("vowel", shifts=shifts),
            ConfigError,
            f"^shifts is a number from 0 to 10,000; received {shifts}$",
        )
        for shifts in (-1, 10_001)
    },
    "search: edges": (
        lambda: searched("vowel", edges=-1), ConfigError, "^edges counts characters, from 0 on; received -1$",
    ),
    "search: no table": (
        lambda: search(np.zeros(7), target("vowel", "abc abc")),
        ConfigError,
        r"^activations are \(T, U\); received shape \(7,\)$",
    ),
    "search: no numbers": (
        lambda: search(np.array([["a"]] * 7), target("vowel", "abc abc")),
        ConfigError,
        r"^a search takes a Trace, or activations \(T, U\); received ",
    ),
    "target: a kind": (
        lambda: named_target("verbs", "a"),
        ConfigError,
        "no target 'verbs'; choose one of quotes, brackets",
    ),
    "target: no pattern": (
        lambda: target("verbs", "a"),
        ConfigError,
        "'verbs' is not the name of a target, and as a pattern it matches nothing in this text; the names",
    ),
    "probe: no text": (lambda: probed("quotes"), ConfigError, "a table has no text with 'quotes' in it"),
    "target: unclosed": (
        lambda: target("quotes", "a", unclosed="page"), ConfigError, "'paragraph' or 'line'",  # type: ignore[arg-type]
    ),
    "target: a surrogate": (lambda: target("vowel", "a\ud800"), TextError, "surrogate"),
    "target: Python's": (lambda: target("py-string", "a\ud800"), TextError, "surrogate"),
    "target: no spans": (lambda: target("line-position", "ab").spans(), ConfigError, "no spans"),
    **{
        f"span_target: {span}": (
            lambda span=span: span_target([span], "abcdef"), ConfigError, "6 characters",
        )
        for span in ((3, 3), (-1, 2), (2, 7))
    },
    **{
        f"pattern_target: {pattern}": (
            lambda pattern=pattern: pattern_target(pattern, "abc"),
            ConfigError,
            "is not a regular expression: ",
        )
        for pattern in ("(", "[z-a]", "(?P<n>a)(?P<n>b)", "*")
    },
    "pattern_target: without end": (
        lambda: pattern_target("(a+)+b", "a" * 60, timeout=0.3),
        ConfigError,
        "was stopped after 0.3 seconds",
    ),
    "pattern_target: empty": (lambda: pattern_target("", "abc"), ConfigError, "1 to 1,000"),
    "pattern_target: long": (lambda: pattern_target("a" * 1001, "abc"), ConfigError, "1 to 1,000"),
    "contexts": (
        lambda: evidence.predicted(np.zeros(4, int), np.ones(4, bool), 0, np.ones(4, bool)),
        ConfigError,
        "1 character or more; received 0",
    ),
    # resampled
    "nothing drawn from": (lambda: resample([]), ConfigError, r"at least one; received \(0,\)"),
    "a cube drawn from": (lambda: resample(np.zeros((2, 2, 2))), ConfigError, "at least one; received"),
    **{
        f"resampled with {bad}": (
            lambda bad=bad: resample([1.0, 2.0], **bad),
            ConfigError,
            "between 0 and 1",
        )
        for bad in ({"level": 1.0}, {"samples": 0}, {"block": 0})
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_unfit_call_is_refused_in_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(*REFUSED[name])
