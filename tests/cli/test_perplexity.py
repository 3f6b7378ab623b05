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
def test_command_scores_equal_package_scores(
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
        assert close([figures(item) for item in done.objects], expected), options


def test_pipe_is_read_once_for_all_models(scored: Run, tmp_path: Path) -> None:
    path = needs.pipe(tmp_path / "pipe")
    threading.Thread(target=path.write_bytes, args=(LONG.encode(),), daemon=True).start()
    file, named = (
        scored(name, "-m", "tiny-gru", "--json", "--compare", "tiny-lstm").objects[0]
        for name in ("a.txt", "pipe")
    )
    assert close(named["compared"], file["compared"])


def test_standard_input_scores_equal_file_scores(scored: Run, tmp_path: Path) -> None:
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


def test_compare_lists_models_for_each_file(scored: Run, models_folder: Path, tmp_path: Path) -> None:
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


def test_single_file_has_sentences_and_several_a_line(scored: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "terminal_text", lambda value: getattr(value, "code", str(value)))
    monkeypatch.setattr("rnnviz.cli.perplexity.terminal_text", output.terminal_text)
    single = scored("a.txt", "-m", "tiny-gru", "--compare", "tiny-3gram").out.split()
    assert single[0] == "score.text"
    expected_codes = {
        "score.under",
        "tiny-3gram",
        "score.kind.compressor",
        "score.worse-than-guessing",
        "score.made",
    }
    assert expected_codes <= {*single}
    both = scored("a.txt", "b.txt", "-m", "tiny-gru", "--compare", "tiny-3gram").out.split()
    assert both.count("score.text") == 2
    assert both.count("score.averages") == both.count("score.under") == 1, "one table of all"
    assert both.count("tiny-3gram") == 2
    assert "score.worse-than-guessing" not in both


def test_bad_file_leaves_others_scored(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "empty.txt").touch()
    files = ("a.txt", "bad.txt", "missing.txt", "empty.txt", "b.txt")
    done = scored(*files, *["-m", "tiny-gru", "--json", "--compare", "tiny-3gram", "--html", "{file}.html"])
    assert done.code == 1
    assert [item["file"] for item in done.objects] == ["a.txt", "b.txt"]
    messages = done.err.splitlines()
    assert len(messages) == 3
    assert "bad.txt is not a text file: it looks like PNG data" in messages[0]
    assert "missing.txt" in messages[1]
    assert "empty.txt has no characters" in messages[2]
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
def test_misspelt_options_exit_2_before_scoring(scored: Run, arguments: list[str], tmp_path: Path) -> None:
    done = scored(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage:" in done.err
    assert {p.name for p in tmp_path.iterdir()} == {"a.txt", "b.txt"}


def test_unknown_characters_alone_have_no_known_perplexity(scored: Run) -> None:
    done = scored("-", "-m", "tiny-gru", "--json", "--html", "out.html", data="道可道".encode())
    (score,) = done.objects
    assert (score["unknown"], score["perplexity_known"]) == (3, None)
    assert score["perplexity"] > 1e5


def test_guessed_encoding_warns_even_when_quiet(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes("naïve café\n".encode("cp1252"))
    message = "c.txt is not UTF-8 and says no other encoding; it is read as cp1252, a guess"
    for options in ((), ("--quiet", "--json")):
        done = scored("c.txt", "-m", "tiny-gru", *options)
        assert (done.code, message in done.err) == (0, True)
    assert scored("c.txt", "-m", "tiny-gru", "--encoding", "cp1252").err == ""


def test_progress_is_shown_on_terminal(scored: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing is shown elsewhere, and the results are the same, is held of all commands at once."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    (tmp_path / "long.txt").write_text(TEXT * 60, "utf-8")
    bars = scored(
        *["long.txt", "-m", "tiny-lstm", "--compare", "tiny-3gram", "--per-character", "out.csv", "--json"]
    )
    for step in ("characters, perplexity", "tiny-3gram", "gzip, xz"):
        assert step in bars.err
