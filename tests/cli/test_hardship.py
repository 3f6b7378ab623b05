"""The command line where something is in its way: what was given, where it should write, who reads it."""

import shutil
from pathlib import Path

import pytest

from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import save
from tests.support import needs
from tests.support.commands import Run, process
from tests.support.models import TEXT, tiny

SMALL = ["--cell", "rnn", "--hidden-size", "4", "--epochs", "1", "--batch", "2", "--steps", "16"]


@pytest.fixture
def said(run: Run) -> Run:
    """Run one command in a folder with a text: its exit code, standard output and error."""
    Path("tiny.txt").write_text(TEXT * 4, "utf-8")
    return run


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("page.html", ["--html", "{file}.html"]),
        ("page.html", ["--html", "./page.html"]),
        ("rows.csv", ["--output", "./rows.csv", "--column", "text"]),
    ],
)
def test_a_text_is_never_written_over(said: Run, file: str, option: list[str]) -> None:
    shutil.copy("tiny.txt", file)
    code, _, err = said("perplexity", file, "--model", "tiny-gru", *option)
    assert code == 1
    assert f"{file} is read here, and would be written over" in err
    assert Path(file).read_text("utf-8") == TEXT * 4


def test_a_file_whose_name_is_no_text_is_trained_on(said: Run, tmp_path: Path) -> None:
    name = "caf\udce9.txt"
    needs.named(tmp_path, name)
    shutil.copy("tiny.txt", name)
    assert said("train", "--corpus", name, "--name", "x", *SMALL)[0] == 0
    assert checkpoint.load("./x.safetensors").card["corpus"]
    code, _, err = said("train", "--corpus", name, "--name", "y", "--title", "\udcff", *SMALL)
    assert code == 1
    assert "surrogate" in err


def test_a_resumed_run_heeds_an_option_or_refuses_it(said: Run) -> None:
    assert said("train", "--corpus", "tiny.txt", "--name", "x", "--run-dir", "run", *SMALL)[0] == 0
    for option in (["--epochs", "5"], ["--half"], ["--name", "y"], ["--tied"], ["--cell", "rnn"]):
        code, _, err = said("train", "--resume", "run", *option)
        assert code == 1
        assert f"leave out {option[0]}" in err
    assert said("train", "--resume", "run", "--output", "again.safetensors")[0] == 0
    assert checkpoint.load("./again.safetensors").vocabulary == checkpoint.load("./x.safetensors").vocabulary


def test_a_model_is_found_by_the_name_that_is_listed(
    said: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    save(tiny("gru", name="own"), folder / "own.safetensors")
    (folder / "own.safetensors").rename(folder / "foo.safetensors")
    shutil.copy(folder / "foo.safetensors", folder / "foo.snapshots.safetensors")
    monkeypatch.setenv("RNNVIZ_MODELS", str(folder))
    assert "\nfoo " in said("models")[1]
    assert said("sample", "--model", "foo", "--length", "3")[0] == 0
    err = said("sample", "--model", "own", "--length", "3")[2]
    assert "no model is called 'own'" in err
    assert " foo, " in err
    assert "snapshots" not in err


def test_a_full_disk_behind_standard_output_is_said(
    said: Run, tmp_path: Path, command_environment: dict[str, str]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with open("/dev/full", "wb") as full, process("models", command_environment, stdout=full) as done:
        _, err = done.communicate()
    assert done.returncode == 1
    assert err == b"rnnviz: the output can't be written: No space left on device\n"
