"""The commands that look inside a network: what they print is what the package's functions find. What these
find is tested with them, how a table is printed in test_cli.py.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import rnnviz
from rnnviz import gradients, units
from rnnviz.cli.output import json_line, terminal_text
from rnnviz.findings import Finding, stack_tables
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.attribution import contributions
from rnnviz.lab.analysis.search_result import Unanswered
from rnnviz.networks.checkpoint import save
from rnnviz.scoring import sampling
from rnnviz.sentences import describe
from tests.support.built import built, quoted
from tests.support.closeness import close
from tests.support.commands import Run
from tests.support.models import TEXT, tiny

DEEP, BUILT, BOOK = tiny("lstm", layers=2), built(), quoted(4000)
PATCH = "patch -m deep.safetensors --source Time --into machine --to 4"


class Case(NamedTuple):
    """A command, and the findings that it shows; `known` is what it alone knows of them."""

    command: str
    make: Callable[[], Sequence[Finding]]
    fixed: dict[str, Any] = {}  # noqa: RUF012  # never changed


def searched(targets: Sequence[str], text: str, **options: Any) -> list[Finding]:
    sought = [name for name in targets if name != "digit"]
    results = iter(units.find(BUILT, text, sought, **options))
    return [next(results) if name in sought else Unanswered(units.target(name, text)) for name in targets]


def probed(name: str, copies: int, **options: Any) -> list[Finding]:
    read, *untrained = [rnnviz.trace(item, BOOK) for item in (BUILT, *units.untrained(BUILT, copies))]
    return [units.probe(read, name, untrained=untrained, **options)]


def patched(unrelated: str | None = None, **part: Any) -> list[Finding]:
    done = units.patch(DEEP, "Time", 4, "machine", 4, **part)
    return [done.controls(DEEP, unrelated)]


def direction(written: str, quantity: str) -> units.Direction:
    where: dict[str, Any] = {"layer": 1, "quantity": quantity}
    if written == "random:3":
        return directions.random_direction(12, 3, **where)
    read = rnnviz.trace(DEEP, TEXT[:500])
    vowels = units.target("vowel", read.text)
    if written == "difference:vowel":
        return directions.mean_difference(read, vowels, **where)
    return units.probe(read, vowels, **where).direction()


CASES = {
    "units": Case(
        "units -m built.safetensors -f book.txt --target quotes --target digit --pattern [aA] --edges 2 "
        "--characters 2000 --shifts 200 --untrained 1",
        lambda: searched(["quotes", "digit", "[aA]"], BOOK[:2000], edges=2, shifts=200, copies=1),
        {"family": 3},
    ),
    "probe": Case(
        "probe -m built.safetensors -f book.txt --target quotes --controls 2 --untrained 1",
        lambda: probed("quotes", 1, controls=2),
    ),
    "probe, nothing beside it": Case(
        "probe -m built.safetensors -f book.txt --pattern ab? --controls 0 --untrained 0",
        lambda: probed("ab?", 0, controls=0),
    ),
    "connectivity": Case(
        "connectivity -m deep.safetensors -f text.txt --lags 30",
        lambda: [gradients.memory_length(DEEP, TEXT, lags=30)],
    ),
    "connectivity of a short text": Case(
        "connectivity -m deep.safetensors machine", lambda: [gradients.memory_length(DEEP, "machine", lags=2)]
    ),
    "connectivity of one prediction": Case(
        "connectivity -m deep.safetensors machine --at 4 --character q",
        lambda: [gradients.connectivity(DEEP, "machine", at=4, character="q")],
        {"target": "q"},
    ),
    "attribute": Case(
        "attribute -m deep.safetensors machine --at 5 --character e --against a --instead out --last 3",
        lambda: [
            contributions(DEEP, "machine", at=5, character="e", against="a", instead="out", last=3)
        ],
    ),
    "ablate": Case(
        "ablate -m built.safetensors -f book.txt --controls 3",
        lambda: [units.ablate(BUILT, BOOK, controls=3, to="mean")],
    ),
    "match": Case(
        "match -m built.safetensors -f book.txt --text ab“cde”f --span 2:6 --threshold 0.9 --edges 1 "
        "--most 5 --untrained 1",
        lambda: [
            units.match(BUILT, "ab“cde”f", 2, 6, BOOK, threshold=0.9, edges=1, most=5, copies=1)
        ],
    ),
    "ablate some": Case(
        "ablate -m built.safetensors -f book.txt --controls 3 --units 4,3 --target quotes --to 0.5",
        lambda: [
            units.ablate(BUILT, BOOK, controls=3, units=[4, 3], to=0.5, target="quotes")
        ],
    ),
    "perturb": Case(
        "perturb -m deep.safetensors machine --at 3 --character x --threshold 0.2",
        lambda: [units.perturb(DEEP, "machine", 3, "x", threshold=0.2)],
    ),
    "patch units": Case(
        f"{PATCH} --layer 1 --units 3,5 --quantity cell --unrelated machinery",
        lambda: patched("machinery", layer=1, units=[3, 5], quantity="cell"),
    ),
    **{
        f"patch along {of}": Case(
            f"{PATCH} --layer 1 --quantity {quantity} --direction {of} {options}",
            lambda of=of, where=where: patched(units=direction(of, where)),  # type: ignore[misc]
        )
        for of, quantity, where, options in (
            ("random:3", "state", "hidden", ""),
            ("difference:vowel", "cell", "cell", "-f text.txt --characters 500"),
            ("probe:vowel", "hidden", "hidden", "-f text.txt --characters 500"),
        )
    },
}  # fmt: skip


@pytest.fixture
def look(run: Run) -> Run:
    """Run a command in a folder with the networks and texts."""
    save(DEEP, "./deep.safetensors")
    save(BUILT, "./built.safetensors")
    Path("book.txt").write_text(BOOK, encoding="utf-8")
    Path("text.txt").write_text(TEXT, encoding="utf-8")
    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_command_prints_findings_of_functions(name: str, look: Run) -> None:
    """With --json the facts; without, for some, a row for each row of the table."""
    command, findings = CASES[name].command, CASES[name].make()
    results = look(command, "--json")
    assert results.code == 0, results.err
    program, _, model, *_ = command.split()
    for item, finding in zip(results.objects, findings, strict=True):
        facts = json.loads(json_line({"model": model, **CASES[name].fixed, **finding.facts()}))
        assert close({key: item[key] for key in facts}, facts, rel=1e-3, least=1e-5)
        heads, rows = finding.table().columns, finding.table().rows
        assert (list(finding.frame()), len(finding.frame())) == (
            [describe(item, "en") for item in heads],
            len(rows),
        )
    if program in ("units", "connectivity", "perturb"):
        lines = [line.split() for line in look(command).out.splitlines()]
        for row in stack_tables([item.table() for item in findings]).rows:
            assert " ".join(map(terminal_text, row)).split() in lines


def test_patch_prints_continuations(look: Run) -> None:
    (results,) = look(f"{PATCH} --layer 1 --units 3,5 --length 12 --json").objects
    done = units.patch(DEEP, "Time", 4, "machine", 4, layer=1, units=[3, 5])
    plain = sampling.resume(done.into, 4, 12, seed=0)
    assert (results["continuation"], results["continuation_patched"]) == (
        plain,
        done.continuation(12, seed=0),
    )


@pytest.mark.slow
def test_weights_option_adds_probe_weights(look: Run) -> None:
    command = CASES["probe"].command
    (results,) = look(command, "--json", "--weights").objects
    (findings,) = CASES["probe"].make()
    assert close(results["weights"], findings.weights.tolist(), rel=1e-3, least=1e-5)  # type: ignore[attr-defined]
    assert "weights" not in look(command, "--json").objects[0]


def test_passage_is_read_from_standard_input(look: Run) -> None:
    run_command = partial(look, "match -m built.safetensors -f book.txt --span 3:7 --threshold 0.9 --text")
    first = run_command("ab “cde” f")
    assert first.code == 0
    assert run_command("-", data="ab “cde” f".encode()) == first


@pytest.mark.parametrize("command", ["probe", "units"])
def test_copies_start_is_printed_if_unknown(command: str, look: Run) -> None:
    begun_here = replace(BUILT, card={"recipe": {"cell": "gru"}})
    for model, options, message in (
        (BUILT, ["1"], "untrained copies have torch's default initial weights\n"),
        (BUILT, ["1", "--quiet"], ""),
        (BUILT, ["0"], ""),
        (begun_here, ["1"], ""),
    ):
        save(model, "./built.safetensors")
        run_command = (
            f"{command} -m built.safetensors -f book.txt --characters 500 --target quotes --untrained"
        )
        done = look(run_command, *options)
        assert (done.code, done.err) == (0, message)
