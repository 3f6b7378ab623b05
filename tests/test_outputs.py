"""What lies on a disk is never written over unless it is an earlier output: no text that is read, no file of
another kind, no model that another run made. It is refused before any work.
"""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import rnnviz
from rnnviz import cli
from rnnviz.errors import ExportError, RnnvizError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import save
from rnnviz.page.command import page
from rnnviz.text.files import check_output
from tests.support.models import TEXT, tiny
from tests.support.refused import assert_one_sentence

COUNT = "train --corpus book.txt --name x -q --no-units --cell ngram"
TRAIN = "train --corpus book.txt --name x --hidden-size 4 --epochs 0.2 --batch 2 --steps 8 -q --no-units"
COMMANDS = {
    "trace": "trace --file book.txt -m mine.safetensors --output",
    "values": "trace --file book.txt -m mine.safetensors --quantity hidden --format parquet --output",
    "npz": "trace --file book.txt -m mine.safetensors --format npz --output",
    "json": "trace --file book.txt -m mine.safetensors --format json --output",
    "characters": "perplexity book.txt -m mine.safetensors --per-character",
    "html": "perplexity book.txt -m mine.safetensors --html",
    "rows": "perplexity book.txt -m mine.safetensors --output",
    "page": "page -m mine.safetensors --output",
    "export": "export mine.safetensors --torch",
    "train": f"{TRAIN} --output",
    "ngram": f"{COUNT} --output",
}
"""Each way to write a file; the words end where its name goes."""

THEIRS = ("book.txt", "./book.txt", "letter.doc", "thesis.zip", "work.ipynb", "mine.safetensors")
FOREIGN = ("weights.safetensors", "foreign.html", "foreign.npz", "foreign.npy", "foreign.parquet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text, a model, and files of other programs, some under names of ours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RNNVIZ_RUNS", raising=False)
    Path("book.txt").write_text(TEXT, "utf-8")
    Path("letter.doc").write_bytes("Dear aunt".encode("utf-16"))
    Path("thesis.zip").write_bytes(b"PK\x03\x04 chapters")
    Path("work.ipynb").write_text('{"cells": []}')
    for name in FOREIGN:
        Path(name).write_bytes(b"what another program wrote")
    save(tiny("gru"), "./mine.safetensors")
    save_file({"weight": np.zeros(3, np.float32)}, "weights.safetensors")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("to", [*THEIRS, *FOREIGN])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_over_nothing_of_the_users(
    command: str, to: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    assert cli.main([*COMMANDS[command].split(), to], more_commands=[page]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert_one_sentence(err.removesuffix("\n"))
    assert contents(folder) == before, "refused before any work"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_earlier_output_is_replaced_but_not_a_model(command: str, folder: Path) -> None:
    ending = {"train": "safetensors", "ngram": "safetensors", "html": "html", "page": "html", "npz": "npz"}
    ending["export"] = "py"
    words = [*COMMANDS[command].split(), f"out.{ending.get(command, 'csv')}"]
    if command in ("values", "json"):
        words[-1] = {"values": "out.parquet", "json": "out.json"}[command]
    assert [cli.main(words, more_commands=[page]) for _ in range(2)] == [
        0,
        int(command in ("train", "ngram")),
    ]


@pytest.mark.parametrize("command", ["trace", "html", "rows"])
def test_a_text_by_another_of_its_names_is_the_same_text(command: str, folder: Path) -> None:
    ending = "html" if command == "html" else "csv"
    shutil.copy("book.txt", f"text.{ending}")
    Path(f"link.{ending}").symlink_to(f"text.{ending}")
    words = COMMANDS[command].replace("book.txt", f"text.{ending}").split()
    for name in (f"text.{ending}", f"./text.{ending}", str(folder / f"text.{ending}"), f"link.{ending}"):
        assert cli.main([*words, name]) == 1
    assert Path(f"text.{ending}").read_text("utf-8") == TEXT


def test_two_outputs_of_a_command_have_two_names(folder: Path) -> None:
    words = [*COMMANDS["rows"].split(), "./out.csv", "--per-character", "out.csv"]
    with pytest.raises(SystemExit):
        cli.main(words)
    assert not Path("out.csv").exists()


def traced() -> Any:
    return rnnviz.trace(tiny("gru"), TEXT[:40])


def of_open_file(to: Any) -> Any:
    with open("book.txt", "rb") as book:
        return rnnviz.states(tiny("gru"), book, output=to)


CALLS: dict[str, Callable[[Any], Any]] = {
    "states": lambda to: rnnviz.states(tiny("gru"), Path("book.txt"), output=to),
    "states of a path": lambda to: rnnviz.states(tiny("gru"), path="book.txt", output=to),
    "states of an open file": lambda to: of_open_file(to),
    "Trace.save": lambda to: traced().save(to),
    "save": lambda to: rnnviz.save(tiny("gru"), to, corpus=Path("book.txt")),
}


@pytest.mark.parametrize("to", [*THEIRS, *FOREIGN])
@pytest.mark.parametrize("call", CALLS)
def test_a_function_writes_over_nothing_of_the_users(call: str, to: str, folder: Path) -> None:
    if (call, to) == ("save", "mine.safetensors"):
        return
    before = contents(folder)
    for name in (to, Path(to), folder / to):
        with pytest.raises(RnnvizError) as caught:
            CALLS[call](name)
        assert_one_sentence(str(caught.value))
    assert contents(folder) == before


def test_save_replaces_a_model_as_its_path_was_given(folder: Path) -> None:
    rnnviz.save(tiny("lstm"), "mine.safetensors")
    assert checkpoint.read_info(Path("mine.safetensors")).kind == "lstm"
    Path("empty.safetensors").touch()
    rnnviz.save(tiny("lstm"), "empty.safetensors")


def test_a_trace_and_states_replace_their_own(folder: Path) -> None:
    for _ in range(2):
        traced().save("t.npz")
        rnnviz.states(tiny("gru"), Path("book.txt"), output="h.npy")
    Path("made.csv").touch()  # as tempfile makes one, to be written to
    assert check_output("made.csv", ".csv") == Path("made.csv")
    with pytest.raises(ExportError, match=r"can't name a \.npz file"):
        traced().save("t.npy")


def test_a_table_of_the_command_is_known_by_any_name(folder: Path) -> None:
    words = COMMANDS["trace"].split()
    assert [cli.main([*words, "out.txt"]) for _ in range(2)] == [0, 0]
    assert Path("out.txt").read_bytes().startswith(b"position,")


def test_a_run_replaces_only_the_model_that_it_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(TRAIN.split()) == 0
    model_path = Path("x.safetensors").read_bytes()
    monkeypatch.setenv("RNNVIZ_RUNS", "elsewhere")
    for words in (TRAIN, COUNT):
        assert cli.main(words.split()) == 1
    assert Path("x.safetensors").read_bytes() == model_path
    assert not Path("elsewhere").exists()
    assert cli.main(["train", "--resume", "runs/x", "--licence", "ours", "-q"]) == 0  # its own, once more
    assert checkpoint.load("./x.safetensors").card["licence"] == "ours"
    assert cli.main(["train", "--resume", "runs/x", "--output", "mine.safetensors", "-q"]) == 1


def test_a_model_that_came_meanwhile_stays_and_the_run_goes_on_under_another_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rnnviz.lab.run import process

    learn = process._train_network

    def late(*arguments: Any, **keywords: Any) -> Any:
        shutil.copy("mine.safetensors", "x.safetensors")
        return learn(*arguments, **keywords)

    monkeypatch.setattr(process, "_train_network", late)
    assert cli.main(TRAIN.split()) == 1
    assert "a model that this run did not make" in capsys.readouterr().err
    assert Path("x.safetensors").read_bytes() == Path("mine.safetensors").read_bytes()
    monkeypatch.setattr(process, "_train_network", learn)
    assert cli.main(["train", "--resume", "runs/x", "--output", "y.safetensors", "-q"]) == 0
    assert Path("y.safetensors").exists()


def test_a_run_is_kept_among_no_other_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("album").mkdir()
    Path("album/.holiday.json.jpg").write_text("a picture")
    for run_dir in ("album", "."):
        before = contents(folder)
        assert cli.main([*TRAIN.split(), "--run-dir", run_dir]) == 1
        assert "files that are no run's" in capsys.readouterr().err
        assert contents(folder) == before
    Path("empty").mkdir()
    assert cli.main([*TRAIN.split(), "--run-dir", "empty"]) == 0


def test_pipes_and_devices_take_anything(folder: Path) -> None:
    assert cli.main([*COMMANDS["trace"].split(), "/dev/null"]) == 0
    for output in ("a\0b.csv", "\udcff\ud800.csv", "x" * 300 + ".csv", "absent/x.csv"):
        with pytest.raises(ExportError, match="can't be written"):
            check_output(output, ".csv")


def test_a_notebook_of_json_is_no_trace(folder: Path) -> None:
    trace = json.loads(Path("work.ipynb").read_text())
    assert trace == {"cells": []}
    with pytest.raises(ExportError, match=r"isn't a \.json file that rnnviz wrote"):
        check_output("work.ipynb", ".json", io.BytesIO())
