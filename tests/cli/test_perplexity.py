"""`rnnviz perplexity`: the same numbers as the package, on paper and in files."""

import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rnnviz.cli import output
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import perplexity
from tests.support import needs
from tests.support.closeness import close
from tests.support.commands import Run
from tests.support.models import TEXT

LONG = TEXT + "Größe: 道 and so on.\r\n" + TEXT


@pytest.fixture
def scored(run: Run, tmp_path: Path) -> Run:
    """Run `perplexity` in a folder of texts."""
    (tmp_path / "a.txt").write_bytes(LONG.encode())
    (tmp_path / "b.txt").write_bytes("time and time again\n".encode("utf-16"))
    return partial(run, "perplexity")


def figures(score: dict[str, Any]) -> dict[str, Any]:
    """All of a score but how long it took."""
    return {
        name: value
        for name, value in score.items()
        if name not in ("seconds", "compared") and not name.startswith("interval")
    }


@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("model", ["tiny-gru", "tiny-lstm", "tiny-3gram"])
def test_the_package_says_the_same(
    scored: Run, model: str, precise: bool, models_folder: Path, tmp_path: Path
) -> None:
    loaded = load(models_folder / f"{model}.safetensors")
    expected = [
        figures(perplexity(loaded, tmp_path / f, name=f, precise=precise).to_json())
        for f in ("a.txt", "b.txt")
    ]
    every = (
        [],
        ["--per-character", "{file}.csv"],
        ["--html", "{file}.html"],
        ["--compare", "tiny-3gram", "--per-character", "{file}.parquet"],
    )
    for options in every:
        done = scored("a.txt", "b.txt", "-m", model, "--json", *options, *["--precise"] * precise)
        assert (done.code, done.err) == (0, "")
        assert close([figures(one) for one in done.objects], expected), options


def test_a_pipe_is_read_once_for_every_model(scored: Run, tmp_path: Path) -> None:
    path = needs.pipe(tmp_path / "pipe")
    threading.Thread(target=path.write_bytes, args=(LONG.encode(),), daemon=True).start()
    file, named = (
        scored(name, "-m", "tiny-gru", "--json", "--compare", "tiny-lstm").objects[0]
        for name in ("a.txt", "pipe")
    )
    assert close(named["compared"], file["compared"])


def test_standard_input_says_the_same_as_a_file(scored: Run, tmp_path: Path) -> None:
    arguments = ["-m", "tiny-gru", "--json", "--compare", "tiny-lstm"]
    (file,) = scored("a.txt", *arguments).objects
    (piped,) = scored("-", *arguments, "--per-character", "{file}.csv", data=LONG.encode()).objects
    assert close(figures(piped), {**figures(file), "file": "-"})
    assert close(piped["compared"], file["compared"])
    assert len(pd.read_csv(tmp_path / "stdin.csv")) == piped["characters"]
    (declared,) = scored(
        "-", "-m", "tiny-gru", "--json", "--encoding", "utf-16-be", data=LONG.encode("utf-16-be")
    ).objects
    assert declared["perplexity"] == pytest.approx(file["perplexity"], rel=1e-5)
    assert (declared["encoding"], declared["certainty"]) == ("utf-16-be", "declared")


def test_models_are_compared_on_every_file(scored: Run, models_folder: Path, tmp_path: Path) -> None:
    done = scored("a.txt", "b.txt", "-m", "tiny-gru", "--json", "--compare", "tiny-lstm,tiny-gru")
    assert (done.code, done.err) == (0, "")
    for file, score in zip(("a.txt", "b.txt"), done.objects, strict=True):
        rows = {row["name"]: row for row in score["compared"]}
        assert [(row["name"], row["kind"]) for row in score["compared"]] == [
            ("tiny-gru", "model"),
            ("tiny-lstm", "model"),
            ("tiny-3gram", "n-gram"),  # the model's own, by its card
            ("uniform", "uniform"),
            ("unigram", "unigram"),
            ("gzip", "compressor"),
            ("xz", "compressor"),
        ]
        for name in ("tiny-gru", "tiny-lstm", "tiny-3gram"):
            alone = perplexity(load(models_folder / f"{name}.safetensors"), tmp_path / file)
            assert rows[name]["perplexity"] == pytest.approx(alone.perplexity, rel=1e-5)


def test_one_file_is_told_at_length_and_several_in_a_line_each(
    scored: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "terminal_text", lambda value: getattr(value, "code", str(value)))
    monkeypatch.setattr("rnnviz.cli.perplexity.terminal_text", output.terminal_text)
    one = scored("a.txt", "-m", "tiny-gru", "--compare", "tiny-3gram").out.split()
    assert one[0] == "score.text"
    told = {"score.under", "tiny-3gram", "score.kind.compressor", "score.worse-than-guessing", "score.made"}
    assert told <= {*one}
    both = scored("a.txt", "b.txt", "-m", "tiny-gru", "--compare", "tiny-3gram").out.split()
    assert both.count("score.text") == 2
    assert both.count("score.averages") == both.count("score.under") == 1, "one table of all"
    assert both.count("tiny-3gram") == 2
    assert "score.worse-than-guessing" not in both


def test_a_bad_file_among_good_ones_takes_nothing_from_them(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "empty.txt").touch()
    files = ("a.txt", "bad.txt", "missing.txt", "empty.txt", "b.txt")
    done = scored(*files, *["-m", "tiny-gru", "--json", "--compare", "tiny-3gram", "--html", "{file}.html"])
    assert done.code == 1
    assert [one["file"] for one in done.objects] == ["a.txt", "b.txt"]
    said = done.err.splitlines()
    assert len(said) == 3
    assert "bad.txt is not a text file: it looks like PNG data" in said[0]
    assert "missing.txt" in said[1]
    assert "empty.txt has no characters" in said[2]
    assert sorted(p.name for p in tmp_path.glob("*.html")) == ["a.html", "b.html"]
    for name, score in zip("ab", done.objects, strict=True):
        assert repr(score["perplexity"]) in (tmp_path / f"{name}.html").read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.txt", "b.txt", "-m", "tiny-gru", "--html", "out.html"],
        ["a.txt", "b.txt", "-m", "tiny-gru", "--per-character", "out.csv"],
        ["a.txt", "./a.txt", "-m", "tiny-gru", "--per-character", "{file}.csv"],
        ["a.txt", "-m", "tiny-gru", "--compare", " , "],
        ["a.txt"],
    ],
)
def test_what_is_misspelt_ends_with_2_before_anything_is_scored(
    scored: Run, arguments: list[str], tmp_path: Path
) -> None:
    done = scored(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage:" in done.err
    assert {p.name for p in tmp_path.iterdir()} == {"a.txt", "b.txt"}


def test_only_unknown_characters_have_a_perplexity_but_no_known_one(scored: Run) -> None:
    done = scored("-", "-m", "tiny-gru", "--json", "--html", "out.html", data="道可道".encode())
    (score,) = done.objects
    assert (score["unknown"], score["perplexity_known"]) == (3, None)
    assert score["perplexity"] > 1e5


def test_a_guess_is_said_though_nothing_else_is(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes("naïve café\n".encode("cp1252"))
    said = "c.txt is not UTF-8 and says no other encoding; it is read as cp1252, a guess"
    for options in ((), ("--quiet", "--json")):
        done = scored("c.txt", "-m", "tiny-gru", *options)
        assert (done.code, said in done.err) == (0, True)
    assert scored("c.txt", "-m", "tiny-gru", "--encoding", "cp1252").err == ""


def test_every_step_shows_its_progress_on_a_terminal(
    scored: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That nothing is shown elsewhere, and the results are the same, is held of all commands at once."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    (tmp_path / "long.txt").write_text(TEXT * 60, "utf-8")
    shown = scored(
        *["long.txt", "-m", "tiny-lstm", "--compare", "tiny-3gram", "--per-character", "out.csv", "--json"]
    )
    for step in ("characters, perplexity", "tiny-3gram", "gzip, xz"):
        assert step in shown.err
