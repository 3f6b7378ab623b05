"""`--quiet`: no command shows how far it is with it; results, errors and warnings stay."""

import re
import sys
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.support.commands import Run
from tests.support.models import TEXT, tiny

TINY = ["-m", "tiny-gru", "--file", "book.txt"]

COMMANDS: dict[str, list[str]] = {
    name: words.split() if isinstance(words, str) else words
    for name, words in {
        "train": "--corpus book.txt --name new --hidden-size 4 --epochs 0.1 --batch 2 --steps 8 --threads 1",
        "perplexity": "book.txt -m tiny-gru --compare tiny-3gram",
        "units": [*TINY, "--target", "word-start", "--shifts", "19", "--untrained", "1"],
        "probe": [*TINY, "--target", "word-start", "--controls", "1", "--untrained", "1"],
        "match": [*TINY, "--text", TEXT[:60], "--span", "7:12", "--threshold", "0.05"],
        "connectivity": [*TINY, "--lags", "30"],
        "ablate": [*TINY, "--units", "0,1", "--controls", "2"],
    }.items()
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "terminal"), [*((name, True) for name in COMMANDS), ("train", False), ("perplexity", False)]
)
def test_quiet_keeps_results(
    name: str, terminal: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    (tmp_path / "book.txt").write_text(TEXT[:900], encoding="utf-8")
    chatty = run(name, *COMMANDS[name], *["--run-dir", "chatty"] * (name == "train"))
    for model_file in tmp_path.rglob("new.safetensors"):
        model_file.unlink()  # a run doesn't write over the model of another
    quiet = run(name, *COMMANDS[name], "--quiet", *["--run-dir", "quiet"] * (name == "train"))
    assert (chatty.code, quiet.code, quiet.err) == (0, 0, "")
    assert bool(chatty.err) == (terminal or name == "train")
    assert results(quiet.out) == results(chatty.out) != ""


def results(out: str) -> str:
    """Without times, and sizes of files, which hold the command."""
    return re.sub(r"[\d.,]+ (s|bytes)\b", "", out)


def test_quiet_keeps_errors_and_warnings(run: Run, tmp_path: Path) -> None:
    model = tiny("gru")
    model.card["ngram"] = "gone-6gram"
    save(model, tmp_path / "compared.safetensors")
    (tmp_path / "book.txt").write_text(TEXT[:60], "utf-8")
    arguments = ["book.txt", "gone.txt", "-m", "compared.safetensors", "--compare", "tiny-gru"]
    done, usual = run("perplexity --quiet", *arguments), run("perplexity", *arguments)
    assert (done.code, done.err) == (1, usual.err)
    assert "gone-6gram" in done.err
    assert "gone.txt" in done.err
