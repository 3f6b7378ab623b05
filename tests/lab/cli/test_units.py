"""`python -m rnnviz units`: what goes into a card, and what was held out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.lab.analysis.probing import WeightedSum
from rnnviz.lab.cli.units import _chosen
from rnnviz.networks import model_card
from rnnviz.networks.checkpoint import read_info, save
from rnnviz.networks.model_card import responds
from rnnviz.networks.modelfile import rewrite
from rnnviz.text.corpora import from_file, sha256
from tests.support.built import LATCHES, RANDOM, built, quoted
from tests.support.commands import Run

UNITS = "units --model built.safetensors"
MODEL, LONG = Path("built.safetensors"), Path("long.txt")


@pytest.fixture
def run_beside_files(run: Run) -> Run:
    """Run one command in a folder with the network whose units are known, and a text."""
    save(built(), MODEL)
    LONG.write_text(quoted(30_000), encoding="utf-8")
    return run


@pytest.mark.slow
def test_card_option_stores_findings_and_command_alone(run_beside_files: Run) -> None:
    Path("typed.txt").write_text('"is" it\nit "is not"\n', encoding="utf-8")
    before = read_info(MODEL).card
    words = f"{UNITS} --file long.txt --unclosed line --card --typed typed.txt --json"
    printed = {finding["target"]: finding for finding in run_beside_files(words).objects}
    card = read_info(MODEL).card
    assert model_card.search_command(card) == f"python -m rnnviz {words}"  # it says how, --unclosed too
    assert {key: value for key, value in card.items() if key != model_card.UNITS_KEY} == before

    entry = {
        finding.target: finding
        for finding in (*model_card.unit_findings(card), *model_card.other_searches(card))
    }
    assert entry.keys() == {name for name, facts in printed.items() if "why_not" not in facts}
    for name, finding in entry.items():
        facts, best = printed[name], printed[name]["units"][0]
        assert (finding.verdict, list(finding.untrained)) == (facts["verdict"], facts["untrained"])
        assert (finding.unit, finding.score, finding.direction) == (
            best["unit"],
            best["score"],
            best["direction"],
        )
    stand = [finding.target for finding in model_card.unit_findings(card)]
    assert stand == [name for name, facts in printed.items() if facts.get("verdict") == "remembers"]
    assert {"quotes", "line-position"} == set(stand)  # what fell is kept apart

    quotes, facts = entry["quotes"], printed["quotes"]
    stored = quotes.evidence
    assert (facts["family"], facts["stability"]) == (11, stored.stability)
    assert facts["report"]["score"] == stored.report.score
    assert [finding["score"] for finding in facts["rivals"]] == [finding.score for finding in stored.rivals]
    assert [(finding["kind"], finding["number"]) for finding in facts["rivals"]] == [
        ("character", 1), ("context", 2), ("context", 4), ("context", 8),
        ("untrained", 0), ("untrained", 1), ("untrained", 2),
    ]  # fmt: skip
    states = [rnnviz.trace(built(), text).hidden[:, 0, quotes.unit] for text in ('"is" it', 'it "is not"')]
    inside = [1, 1, 1, 0, 0, 0, 0, *(0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0)]
    right = (np.concatenate(states) * quotes.direction > 0) == inside
    assert quotes.typed == (right.mean(), 10 / 18)
    assert entry["line-position"].typed is None

    table = responds(card)
    assert model_card.search_command(card) in table
    row = next(line for line in table.splitlines() if line.startswith("| quotes"))
    untrained = max(rival.score for rival in stored.report.rivals if rival.kind == "untrained")
    assert f"| {untrained:.3f} | {stored.stability:.0%} | " in row
    assert f"| {stored.report.score:.3f} |" in row
    (shorter,) = [line for line in table.splitlines() if "capital" in line]
    assert "more than the character just read" in shorter


@pytest.mark.slow
def test_text_is_held_out_by_checksum_alone(run_beside_files: Run) -> None:
    held_out = from_file(LONG).split().held_out
    for checksum, by, where in (
        ("another", "--corpus", " characters of long.txt"),
        (sha256(held_out), "--corpus", " held-out characters"),
        (sha256(held_out), "--file", " characters of long.txt"),
        (sha256(from_file(LONG).text), "--file", " held-out characters"),
    ):
        rewrite(MODEL, MODEL, card={"sha256_held_out": checksum})
        assert run_beside_files(f"{UNITS} {by} long.txt --target quotes --card").code == 0
        table = responds(read_info(MODEL).card)
        assert where in table
        assert ("held-out" in table) == (where == " held-out characters")


@pytest.mark.slow
def test_weighted_sum_takes_place_of_unit_that_is_right_on_fewer_characters() -> None:
    network = built()
    (unit,) = rnnviz.units.find(network, quoted(30_000), ["quotes"], copies=1)
    assert unit.verdict == "remembers"
    best = unit.found[0]
    assert best.unit.unit == LATCHES
    weights = np.eye(8, dtype=np.float16)[LATCHES]
    sums = replace(unit, weighted=WeightedSum(0, weights, 0.0))
    poor = replace(unit, found=(replace(best, unit=best.unit._replace(unit=RANDOM[0])), *unit.found[1:]))
    sentences = [rnnviz.trace(network, text) for text in ("a “bcd” e", "“a”")]
    assert _chosen([poor, sums], sentences, "paragraph") == [sums]
    assert _chosen([unit, sums], sentences, "paragraph") == [unit]  # as many: the simpler one


def test_corpus_is_read_in_held_out_part(run_beside_files: Run) -> None:
    heading = run_beside_files(f"{UNITS} --corpus long.txt --target capital").out.splitlines()[0]
    length = len(LONG.read_text(encoding="utf-8"))
    assert heading == f"built, hidden, {length - int(length * 0.9):,} characters"
