"""`python -m rnnviz train`: what it writes and measures, Ctrl-C and going on, and what it refuses."""

import json
import os
import shutil
import signal
import warnings
from pathlib import Path
from typing import Any

import pytest

import rnnviz
from rnnviz import cli
from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.networks import checkpoint
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text import corpora
from tests.support import needs
from tests.support.commands import Run, process
from tests.support.texts import TRAVELLER
from tests.support.training import same_tensors

RECIPE = [
    "--hidden-size",
    "12",
    "--embedding-size",
    "6",
    "--batch",
    "4",
    "--steps",
    "10",
    "--learning-rate",
    "0.02",
    "--precision",
    "float32",
]


def test_the_command_trains_writes_and_measures(run: Run, tmp_path: Path) -> None:
    (tmp_path / "smiles.txt").write_text(TRAVELLER, "utf-8")
    done = run("train --corpus smiles.txt --name smiles-gru --epochs 5", *RECIPE)
    assert done.code == 0, done.err
    reports = [line for line in done.err.splitlines() if line.startswith("step ")]
    assert reports  # a line a report, since this is no terminal
    assert all(" validation " in line and "held" not in line for line in reports)
    assert "held-out perplexity" in done.out
    assert "validation" not in done.out
    model = checkpoint.load(tmp_path / "smiles-gru.safetensors")
    split = corpora.from_file(tmp_path / "smiles.txt").split()
    measured = perplexity(model, text=split.held_out)
    assert model.card["held_out"]["perplexity"] == pytest.approx(measured.perplexity, rel=1e-5)
    assert model.card["command"].startswith("python -m rnnviz train --corpus smiles.txt")
    assert set(model.card["units"]["unanswered"].values()) == {"absent", "short"}
    assert "Named units: none" in done.out


NAMES = [name + end for name in ("Ann", "Bob", "Carol", "Dan") for end in ("", "a", "bel", "son", "ius")]


@pytest.mark.parametrize(
    ("file", "content", "option"),
    [
        ("names.csv", 'n,name\n1,"a\x03b"\n2\n' + "".join(f"3,{n}\n" for n in NAMES * 9), "--column name"),
        ("names.jsonl", "[]\n" + "".join(json.dumps({"name": n}) + "\n" for n in NAMES * 9), "--column name"),
        ("names.txt", "\n".join(NAMES * 9), "--lines"),
    ],
)
def test_texts_that_end_are_learnt_whole(
    file: str, content: str, option: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(content, "utf-8")
    named = f"--corpus {file} {option} --no-units"
    with warnings.catch_warnings(record=True, action="always") as said:
        counted = run(f"train --corpus {file} {option} --name count --cell ngram --order 3")
        done = run(f"train {named} --name net --epochs 12 --ngram ./count.safetensors", *RECIPE)
        rows: dict[str, Any] = {"lines": True} if option == "--lines" else {"column": "name"}
        held_out = corpora.named_or_file(tmp_path / file, **rows).split().held_out
    told = " ".join(str(warning.message) for warning in said)
    for result in (counted, done):
        assert result.code == 0, result.err
    assert ("names.csv, row 0: it can't be trained on" in told) == (file == "names.csv")
    assert ("rows are left out" in told) == (file != "names.txt")
    assert "gradients end there" not in told  # none has more characters than the steps
    network, counts = (checkpoint.load(tmp_path / f"{name}.safetensors") for name in ("net", "count"))
    assert network.vocabulary == counts.vocabulary
    assert network.vocabulary.by_line
    assert held_out.endswith("\n")
    for model in (network, counts):
        figures, score = model.card["held_out"], perplexity(model, text=held_out)
        assert figures["perplexity"] == pytest.approx(score.perplexity, rel=1e-5)
    assert network.card["held_out"]["perplexity"] < network.vocabulary.size / 2
    described = json.loads((tmp_path / "runs" / "net" / "run.json").read_text("utf-8"))
    assert (described["column"], described["lines"]) == (
        (None, True) if option == "--lines" else ("name", False)
    )
    refused = run(f"train --corpus names {option.replace('--lines', '--column x')} --name other")
    assert refused.code != 0
    assert "a column belongs to a file of rows" in refused.err


def test_shared_card_names_no_folder(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "very" / "private"
    home.mkdir(parents=True)
    (home / "diary.txt").write_text(TRAVELLER, "utf-8")
    count, network = (home / f"{name}.safetensors" for name in ("count", "own"))
    command = (
        f"train --corp {home}/diary.txt --name own --output {network} --ngram {count} --run-dir {home}/r"
    )
    for words, options in (
        (f"train --corpus very/private/diary.txt --name count --output={count} --cell ngram", []),
        (f"{command} --epochs 0.2", [*RECIPE, "--watch", "// and / or"]),
        (f"units --file {home}/diary.txt -m {network} --target word-start --shifts 19 --card", []),
        (f"perplexity {home}/diary.txt -m {network} --html {home}/page.html", []),
    ):
        done = run(words, *options)
        assert done.code == 0, done.err
    for shared in (count, network, home / "page.html"):
        assert b"private" not in shared.read_bytes(), shared
    card = checkpoint.load(network).card
    assert card["command"].startswith(
        "python -m rnnviz train --corp diary.txt --name own --output own.safetensors "
        "--ngram count.safetensors --run-dir r "
    )
    assert card["command"].endswith("--watch '// and / or'")
    assert (card["ngram"], card["held_out"]["ngram_name"]) == ("count", "count")
    assert "-m own.safetensors" in card["units"]["command"]


@pytest.mark.exact
@pytest.mark.slow
@needs.signals
def test_ctrl_c_saves_and_the_resumed_run_ends_with_the_same_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    (tmp_path / "smiles.txt").write_text(TRAVELLER, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["train", "--corpus", "smiles.txt", "--epochs", "12", *RECIPE, "--dropout-output", "0.2"]
    assert cli.main([*words, "--name", "whole"]) == 0

    started = process(" ".join(words) + " --name cut", dict(os.environ), cwd=tmp_path, encoding="utf-8")
    assert started.stderr.readline().startswith("step ")  # it is training now
    started.send_signal(signal.SIGINT)
    _, error = started.communicate(timeout=120)
    assert started.returncode == 130, error
    assert "Go on with:\n  python -m rnnviz train --resume runs/cut" in error
    assert not (tmp_path / "cut.safetensors").exists()

    shutil.move(tmp_path / "runs" / "cut", tmp_path / "elsewhere")  # a run is its folder, wherever it lies
    assert cli.main(["train", "--resume", str(tmp_path / "elsewhere"), "--no-units"]) == 0
    a, b = (checkpoint.load(tmp_path / f"{n}.safetensors") for n in ("whole", "cut"))
    assert isinstance(a, CharModel)
    assert isinstance(b, CharModel)
    assert same_tensors(a.state_dict(), b.state_dict())
    assert ["units" in model.card for model in (a, b)] == [True, False]


CHANGED = {
    "the beginning": lambda text: "A" + text[1:],
    "the validation text": lambda text: (
        text[: int(0.87 * len(text))] + "?" + text[int(0.87 * len(text)) + 1 :]
    ),
    "the held-out text": lambda text: text[:-1] + "?",
    "a character more": lambda text: text + "!",
    "half of it": lambda text: text[: len(text) // 2],
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_text_that_changed_since_a_run_began_is_refused(change: str, run: Run, tmp_path: Path) -> None:
    """Its figures would be of other characters: of the held-out ones, which training doesn't look at."""
    book = tmp_path / "smiles.txt"
    book.write_text(TRAVELLER, "utf-8")
    assert run("train --corpus smiles.txt --name x --epochs 0.2 --quiet --no-units", *RECIPE).code == 0
    card = checkpoint.load(tmp_path / "x.safetensors").card
    book.write_text(CHANGED[change](TRAVELLER), "utf-8")
    done = run("train --resume runs/x --quiet")
    assert (done.code, done.out) == (1, "")
    assert "has changed since the run began; put it back" in done.err
    book.write_bytes(TRAVELLER.replace("\n", "\r\n").encode())  # the same text, as read
    assert run("train --resume runs/x --quiet --no-units").code == 0
    again = checkpoint.load(tmp_path / "x.safetensors").card
    assert again["held_out"] == pytest.approx(card["held_out"], rel=1e-5)


def test_a_run_that_2_0_0_began_takes_down_its_text_as_it_goes_on(run: Run, tmp_path: Path) -> None:
    book, description = tmp_path / "smiles.txt", tmp_path / "runs" / "x" / "run.json"
    book.write_text(TRAVELLER, "utf-8")
    assert run("train --corpus smiles.txt --name x --epochs 0.2 --quiet --no-units", *RECIPE).code == 0
    without = {name: value for name, value in json.loads(description.read_text()).items() if name != "sha256"}
    for text, code in ((TRAVELLER, 0), (TRAVELLER[:-1] + "?", 1)):
        description.write_text(json.dumps(without)) if not code else None
        book.write_text(text, "utf-8")
        assert run("train --resume runs/x --quiet --no-units").code == code


def test_a_word_is_learnt_whole(run: Run, tmp_path: Path) -> None:
    """The field's first example: min_count follows the text's size."""
    (tmp_path / "hello.txt").write_text("hello", "utf-8")
    network = "--name gru --hidden-size 16 --epochs 150 --batch 1"
    for options in (network, "--name count --cell ngram"):
        done = run(f"train --corpus hello.txt --quiet --no-units {options}")
        assert (done.code, done.err) == (0, "")
        model = checkpoint.load(tmp_path / f"{options.split()[1]}.safetensors")
        assert rnnviz.sample(model, "h", 4, temperature=0) == "ello"
        assert rnnviz.perplexity(model, "hello").perplexity < 3


@pytest.mark.parametrize("options", [["--hidden-size", "4"], ["--cell", "ngram"]])
def test_dropped_characters_are_reported(options: list[str], run: Run, tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello", "utf-8")
    done = run("train --corpus hello.txt --name x --quiet --no-units --min-count 2", *options)
    assert done.code == 0
    message = "3 of the text's 4 different characters are too rare and read as <unk>: 'e', 'h', 'o'"
    assert done.err == f"rnnviz: {message}; --min-count 1 keeps them\n"
