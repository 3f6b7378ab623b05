"""`python -m rnnviz units`: the table, JSON, and what it refuses."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, spearmanr

import rnnviz
from rnnviz import units
from rnnviz.cli import main
from rnnviz.networks.checkpoint import read_info, save
from rnnviz.networks.modelfile import read_tensors, rewrite
from rnnviz.runs import unit_findings
from rnnviz.runs.card import responds
from rnnviz.text.corpora import from_file, sha256
from tests.units.built import built, quoted

GOOD = {
    "target": "quotes",
    "quantity": "hidden",
    "measure": "AUC",
    "layer": 0,
    "unit": 1,
    "score": 0.9,
    "chance": 0.6,
    "character": 0.5,
    "untrained": [0.5, 0.6],
    "characters": 20_000,
}


RIVAL = {"kind": "context", "number": 8, "score": 0.6, "low": 0.1, "high": 0.3, "p": 0.002}
WEIGHED = {"rivals": [RIVAL], "interval": [0.8, 1.0], "stability": 0.9, "block": 50}
REPORT = {"score": 0.88, "interval": [0.8, 0.95], "rivals": [RIVAL]}


@pytest.fixture
def model(tmp_path: Path) -> str:
    """The file of the network whose units are known."""
    return str(save(built(), tmp_path / "built.safetensors"))


@pytest.fixture
def book(tmp_path: Path) -> str:
    path = tmp_path / "book.txt"
    path.write_text(quoted(4000), encoding="utf-8")
    return str(path)


def test_the_table_names_the_units_that_were_built_for_it(
    model: str, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--file", book]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("built, hidden, 3,9") or out[0].startswith("built, hidden, 4,0")
    assert out[1].split() == [
        "target",
        "share",
        "measure",
        "unit",
        "ranked",
        "by",
        "held",
        "out",
        "reported",
        "interval",
        "chance",
        "above",
        "character",
        "context",
        "untrained",
        "stable",
        "verdict",
    ]
    rows = {line.split()[0]: line for line in out[2:]}
    assert rows.keys() == units.KINDS.keys()
    assert "AUC" in rows["quotes"]
    assert "+0:1" in rows["quotes"]
    assert rows["quotes"].split()[4:8] == ["+0:1", "1.000", "1.000", "–"]  # too short for an interval
    assert "+0:0" in rows["line-position"]
    assert "the same throughout this text" in rows["digit"]
    assert rows["quotes"].endswith("fewer than 20,000 characters")


def test_beside_each_unit_stands_what_the_network_reaches_untrained(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.txt"
    path.write_text(quoted(30_000), encoding="utf-8")
    arguments = ["units", "--model", model, "--file", str(path), "--target", "quotes", "--target", "capital"]
    assert main(arguments) == 0
    quotes, capital = capsys.readouterr().out.splitlines()[2:]
    assert quotes.endswith("remembers")
    assert "1.000–1.000" in quotes
    assert "100 %" in quotes
    assert capital.endswith("needs no memory")
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[0])
    assert len(found["untrained"]) == 3
    assert found["verdict"] == "remembers"
    assert f"{max(found['untrained']):.3f}" in quotes
    assert found["report"]["score"] == pytest.approx(1, abs=1e-9)
    assert [rival["kind"] for rival in found["report"]["rivals"]] == [r["kind"] for r in found["rivals"]]
    assert main([*arguments, "--json", "--untrained", "0"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (found["untrained"], found["verdict"]) == ([], "open")


def test_the_findings_and_their_command_go_into_the_card_and_nothing_else_changes(
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "long.txt"
    path.write_text(quoted(30_000), encoding="utf-8")
    sentences = tmp_path / "typed.txt"
    sentences.write_text('"is" it\nit "is not"\n', encoding="utf-8")
    arguments = ["units", "--model", model, "--file", str(path), "--unclosed", "line", "--card"]
    arguments += ["--typed", str(sentences)]
    monkeypatch.setattr("sys.argv", ["rnnviz", *arguments])
    before, weights = read_info(Path(model)).card, read_tensors(Path(model))
    assert main([*arguments, "--json"]) == 0
    printed = {o["target"]: o for o in map(json.loads, capsys.readouterr().out.splitlines()[-11:])}
    card = read_info(Path(model)).card
    command = unit_findings.command(card)
    named = f"units --model {Path(model).name} --file long.txt --unclosed line --card --typed typed.txt"
    assert command == f"python -m rnnviz {named}"  # it says how, --unclosed too
    found = {finding.target: finding for finding in (*unit_findings.of(card), *unit_findings.others(card))}
    assert found.keys() == {name for name, said in printed.items() if "why_not" not in said}
    assert all(one.verdict == printed[name]["verdict"] for name, one in found.items())
    stand = [finding.target for finding in unit_findings.of(card)]
    assert stand == [name for name, said in printed.items() if said.get("verdict") == "remembers"]
    assert {"quotes", "line-position"} == set(stand)  # what fell is kept apart
    kept = found["quotes"].evidence
    assert kept is not None
    assert printed["quotes"]["family"] == 11
    assert printed["quotes"]["stability"] == kept.stability
    assert [one["score"] for one in printed["quotes"]["rivals"]] == [one.score for one in kept.rivals]
    assert [(one["kind"], one["number"]) for one in printed["quotes"]["rivals"]] == [
        ("character", 1), ("context", 2), ("context", 4), ("context", 8),
        ("untrained", 0), ("untrained", 1), ("untrained", 2),
    ]  # fmt: skip
    assert found["quotes"].unit == printed["quotes"]["units"][0]["unit"] == 1
    assert found["quotes"].score == printed["quotes"]["units"][0]["score"]
    states = [rnnviz.trace(rnnviz.load(model), text).hidden[:, 0, 1] for text in ('"is" it', 'it "is not"')]
    inside = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0]]
    right = [
        (s * printed["quotes"]["units"][0]["direction"] > 0) == i for s, i in zip(states, inside, strict=True)
    ]
    assert found["quotes"].typed == (np.concatenate(right).mean(), 10 / 18)
    assert found["line-position"].typed is None
    assert found["quotes"].direction == printed["quotes"]["units"][0]["direction"]
    assert list(found["quotes"].untrained) == printed["quotes"]["untrained"]
    assert found["quotes"].verdict == printed["quotes"]["verdict"] == "remembers"
    after = {key: value for key, value in card.items() if key != unit_findings.KEY}
    assert after == before
    for name, values in read_tensors(Path(model)).items():
        np.testing.assert_array_equal(values, weights[name])
    table = responds(card)
    assert command in table
    row = next(line for line in table.splitlines() if line.startswith("| quotes"))
    states = rnnviz.trace(built(), path.read_text(encoding="utf-8"))
    third = np.arange(len(states)) * 15 // len(states) % 3 == 2
    for name, said in printed.items():
        if said.get("report") is None:
            continue
        best, values = said["units"][0], units.target(name, states.text, unclosed="line").values[third]
        told = best["direction"] * states.hidden[third, 0, best["unit"]].astype(float)
        if said["measure"] == "AUC":
            inside, outside = told[values], told[~values]
            expected = mannwhitneyu(inside, outside).statistic / (len(inside) * len(outside))
        else:
            expected = spearmanr(told, values).statistic
        assert said["report"]["score"] == pytest.approx(expected, abs=1e-6), name
        assert found[name].evidence.report.score == said["report"]["score"]  # type: ignore[union-attr]
    report = kept.report
    assert report is not None
    untrained = max(rival.score for rival in report.rivals if rival.kind == "untrained")
    assert f"| {untrained:.3f} | {kept.stability:.0%} | " in row
    assert f"| {report.score:.3f} |" in row
    assert "capital" not in "".join(line for line in table.splitlines() if line.startswith("|"))
    assert "capital, " in next(
        line for line in table.splitlines() if "more than the character just read" in line
    )


def test_a_text_is_held_out_only_if_the_card_says_so(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.txt"
    path.write_text(quoted(30_000), encoding="utf-8")
    held_out = from_file(path).split().held_out
    for checksum, by, where in (
        ("another", "--corpus", " characters of long.txt"),
        (sha256(held_out), "--corpus", " held-out characters"),
        (sha256(held_out), "--file", " characters of long.txt"),
        (sha256(from_file(path).text), "--file", " held-out characters"),
    ):
        rewrite(Path(model), Path(model), card={"sha256_held_out": checksum})
        arguments = ["units", "--model", model, by, str(path), "--target", "quotes", "--card"]
        monkeypatch.setattr("sys.argv", ["rnnviz", *arguments])
        assert main(arguments) == 0
        table = responds(read_info(Path(model)).card)
        assert where in table
        assert ("held-out" in table) == (where == " held-out characters")


def test_a_card_of_the_first_kind_is_read_and_claims_no_memory() -> None:
    """Nobody knows what the last few characters told beside it."""
    card = {unit_findings.KEY: {"command": "python -m rnnviz units --card", "findings": [GOOD]}}
    (found,) = unit_findings.of(card)
    assert (found.verdict, found.evidence, found.unit) == ("open", None, 1)
    assert unit_findings.others(card) == ()
    assert "not measured beside the last few characters" in responds(card)
    assert "remembers" not in responds(card)


@pytest.mark.parametrize(
    "damaged",
    [
        3,
        [],
        {"command": 3, "findings": 4},
        {"findings": [3, {}, {"target": "quotes"}]},
        {"findings": [{**GOOD, "unit": "1"}, {**GOOD, "score": math.nan}, {**GOOD, "untrained": ["x"]}]},
        {"findings": [{**GOOD, "untrained": []}, {**GOOD, "unit": -1}, {**GOOD, "more": 1}]},
        {"findings": [{**GOOD, "levels": [0.05]}, {**GOOD, "levels": 3}, {**GOOD, "p": "no"}]},
        {"findings": [{**GOOD, "evidence": 3}, {**GOOD, "evidence": {}}, {**GOOD, "untrained": 3}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "interval": [1.0]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "stability": "high"}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "kind": "<b>"}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "number": "8"}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "rivals": [{**RIVAL, "low": math.nan}]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "interval": [0.8, 0.9, 1.0]}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "score": "high"}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "interval": [0.8]}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": {**REPORT, "rivals": [{}]}}}]},
        {"others": [{**GOOD, "evidence": {**WEIGHED, "report": 0.88}}]},
    ],
)
def test_damaged_findings_are_none(damaged: object) -> None:
    card = {unit_findings.KEY: damaged}
    assert unit_findings.of(card) == unit_findings.others(card) == ()
    assert responds(card) == unit_findings.command(card) == ""
    sound = {**GOOD, "evidence": WEIGHED}
    reported = {**GOOD, "evidence": {**WEIGHED, "report": REPORT}}
    found = unit_findings.of({unit_findings.KEY: {"findings": [GOOD, 3, sound, reported]}})
    assert [one.lead for one in found] == pytest.approx([0.3, 0.3, 0.28])  # the last by its report
    assert found[2].evidence is not None
    assert found[2].evidence.report is not None
    assert found[2].evidence.report.interval == (0.8, 0.95)
    kept = json.loads(json.dumps({"findings": [one.to_json() for one in found]}))
    assert unit_findings.of({unit_findings.KEY: kept}) == found


def test_json_has_a_line_for_each_target(model: str, book: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--target", "quotes", "--target", "digit", "--pattern", "[aA]", "--edges", "2", "--json"]
    assert main(["units", "--model", model, "--file", book, "--characters", "2000", *arguments]) == 0
    quotes, digit, pattern = map(json.loads, capsys.readouterr().out.splitlines())
    assert quotes["units"][0]["unit"] == 1
    assert quotes["units"][0]["score"] == 1.0
    assert quotes["characters"] == 2000
    assert quotes["held_out"] is True
    assert 0.5 < quotes["chance"] < 1
    assert digit["why_not"] == "the same throughout this text"
    assert pattern["target"] == "/[aA]/"
    assert len(pattern["units"]) == 8


def test_a_corpus_is_read_where_it_was_held_out(
    model: str, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--corpus", book, "--target", "capital"]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    length = len(Path(book).read_text(encoding="utf-8"))
    assert said == f"built, hidden, {length - int(length * 0.9):,} characters"
