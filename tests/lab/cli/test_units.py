"""`python -m rnnviz units`: what goes into a card, and what was held out."""

from pathlib import Path

import numpy as np
import pytest

import rnnviz
from rnnviz.networks import model_card
from rnnviz.networks.checkpoint import read_info, save
from rnnviz.networks.model_card import responds
from rnnviz.networks.modelfile import rewrite
from rnnviz.text.corpora import from_file, sha256
from tests.support.built import built, quoted
from tests.support.commands import Run

UNITS = "units --model built.safetensors"
MODEL, LONG = Path("built.safetensors"), Path("long.txt")


@pytest.fixture
def asked(run: Run) -> Run:
    """Run one command in a folder with the network whose units are known, and a text."""
    save(built(), MODEL)
    LONG.write_text(quoted(30_000), encoding="utf-8")
    return run


@pytest.mark.slow
def test_the_findings_and_their_command_go_into_the_card_and_nothing_else_changes(asked: Run) -> None:
    Path("typed.txt").write_text('"is" it\nit "is not"\n', encoding="utf-8")
    before = read_info(MODEL).card
    words = f"{UNITS} --file long.txt --unclosed line --card --typed typed.txt --json"
    printed = {one["target"]: one for one in asked(words).objects}
    card = read_info(MODEL).card
    assert model_card.search_command(card) == f"python -m rnnviz {words}"  # it says how, --unclosed too
    assert {key: value for key, value in card.items() if key != model_card.UNITS_KEY} == before

    found = {one.target: one for one in (*model_card.unit_findings(card), *model_card.other_searches(card))}
    assert found.keys() == {name for name, said in printed.items() if "why_not" not in said}
    for name, one in found.items():
        said, best = printed[name], printed[name]["units"][0]
        assert (one.verdict, list(one.untrained)) == (said["verdict"], said["untrained"])
        assert (one.unit, one.score, one.direction) == (best["unit"], best["score"], best["direction"])
    stand = [finding.target for finding in model_card.unit_findings(card)]
    assert stand == [name for name, said in printed.items() if said.get("verdict") == "remembers"]
    assert {"quotes", "line-position"} == set(stand)  # what fell is kept apart

    quotes, said = found["quotes"], printed["quotes"]
    kept = quotes.evidence
    assert (said["family"], said["stability"]) == (11, kept.stability)
    assert said["report"]["score"] == kept.report.score
    assert [one["score"] for one in said["rivals"]] == [one.score for one in kept.rivals]
    assert [(one["kind"], one["number"]) for one in said["rivals"]] == [
        ("character", 1), ("context", 2), ("context", 4), ("context", 8),
        ("untrained", 0), ("untrained", 1), ("untrained", 2),
    ]  # fmt: skip
    states = [rnnviz.trace(built(), text).hidden[:, 0, quotes.unit] for text in ('"is" it', 'it "is not"')]
    inside = [1, 1, 1, 0, 0, 0, 0, *(0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0)]
    right = (np.concatenate(states) * quotes.direction > 0) == inside
    assert quotes.typed == (right.mean(), 10 / 18)
    assert found["line-position"].typed is None

    table = responds(card)
    assert model_card.search_command(card) in table
    row = next(line for line in table.splitlines() if line.startswith("| quotes"))
    untrained = max(rival.score for rival in kept.report.rivals if rival.kind == "untrained")
    assert f"| {untrained:.3f} | {kept.stability:.0%} | " in row
    assert f"| {kept.report.score:.3f} |" in row
    (less,) = [line for line in table.splitlines() if "capital" in line]
    assert "more than the character just read" in less


@pytest.mark.slow
def test_a_text_is_held_out_only_if_the_card_says_so(asked: Run) -> None:
    held_out = from_file(LONG).split().held_out
    for checksum, by, where in (
        ("another", "--corpus", " characters of long.txt"),
        (sha256(held_out), "--corpus", " held-out characters"),
        (sha256(held_out), "--file", " characters of long.txt"),
        (sha256(from_file(LONG).text), "--file", " held-out characters"),
    ):
        rewrite(MODEL, MODEL, card={"sha256_held_out": checksum})
        assert asked(f"{UNITS} {by} long.txt --target quotes --card").code == 0
        table = responds(read_info(MODEL).card)
        assert where in table
        assert ("held-out" in table) == (where == " held-out characters")


def test_a_corpus_is_read_where_it_was_held_out(asked: Run) -> None:
    said = asked(f"{UNITS} --corpus long.txt --target capital").out.splitlines()[0]
    length = len(LONG.read_text(encoding="utf-8"))
    assert said == f"built, hidden, {length - int(length * 0.9):,} characters"
