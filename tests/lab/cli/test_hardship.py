"""Training where something is in its way: a file's name, an option that a run has no use for."""

import shutil
from pathlib import Path

from rnnviz.networks import checkpoint
from tests.support import needs
from tests.support.commands import Run

SMALL = ["--cell", "rnn", "--hidden-size", "4", "--epochs", "1", "--batch", "2", "--steps", "16"]


def test_a_file_whose_name_is_no_text_is_trained_on(run_beside_text: Run, tmp_path: Path) -> None:
    name = "caf\udce9.txt"
    needs.named(tmp_path, name)
    shutil.copy("tiny.txt", name)
    assert run_beside_text("train", "--corpus", name, "--name", "x", *SMALL)[0] == 0
    assert checkpoint.load("./x.safetensors").card["corpus"]
    code, _, err = run_beside_text("train", "--corpus", name, "--name", "y", "--title", "\udcff", *SMALL)
    assert code == 1
    assert "surrogate" in err


def test_a_resumed_run_heeds_an_option_or_refuses_it(run_beside_text: Run) -> None:
    assert run_beside_text("train", "--corpus", "tiny.txt", "--name", "x", "--run-dir", "run", *SMALL)[0] == 0
    for option in (["--epochs", "5"], ["--half"], ["--name", "y"], ["--tied"], ["--cell", "rnn"]):
        code, _, err = run_beside_text("train", "--resume", "run", *option)
        assert code == 1
        assert f"leave out {option[0]}" in err
    assert run_beside_text("train", "--resume", "run", "--output", "again.safetensors")[0] == 0
    assert checkpoint.load("./again.safetensors").vocabulary == checkpoint.load("./x.safetensors").vocabulary
