"""`python -m rnnviz units`: what goes into a card, and what was held out."""

import json
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


@pytest.fixture
def model(tmp_path: Path) -> str:
    """The file of the network whose units are known."""
    return str(save(built(), tmp_path / "built.safetensors"))


@pytest.fixture
def book(tmp_path: Path) -> str:
    path = tmp_path / "book.txt"
    path.write_text(quoted(4000), encoding="utf-8")
    return str(path)


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


def test_a_corpus_is_read_where_it_was_held_out(
    model: str, book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["units", "--model", model, "--corpus", book, "--target", "capital"]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    length = len(Path(book).read_text(encoding="utf-8"))
    assert said == f"built, hidden, {length - int(length * 0.9):,} characters"
