"""`rnnviz export`: what it writes, and what it refuses. lab/engines/test_torch_network.py runs programs."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from rnnviz.figures.torch_network import program
from rnnviz.networks.checkpoint import load_numpy, save
from tests.support.commands import Run, refuse
from tests.support.models import tiny


def test_export_writes_a_program_and_its_weights_beside_it(run: Run, models_folder: Path) -> None:
    source = models_folder / "tiny-gru.safetensors"
    for _ in range(2):  # the second time over what the first wrote
        done = run("export tiny-gru --torch home/mine.py")
        weights = Path("home", "tiny-gru.safetensors")
        assert (done.code, done.err) == (0, "")
        assert done.out == f"Wrote {Path('home', 'mine.py')} and {weights}\n"
        assert Path("home/mine.py").read_text("utf-8") == program(load_numpy(source), weights.name)
        assert weights.read_bytes() == source.read_bytes()
    assert not [path for path in Path("home").iterdir() if path.suffix not in (".py", ".safetensors")]


def test_a_file_is_exported_beside_itself(run: Run, models_folder: Path) -> None:
    shutil.copy(models_folder / "tiny-lstm.safetensors", "my own.safetensors")
    before = Path("my own.safetensors").read_bytes()
    assert run("export", "./my own.safetensors", "--torch", "mine.py").code == 0
    assert 'with_name("my own.safetensors")' in Path("mine.py").read_text("utf-8")
    assert Path("my own.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("tiny-3gram --torch a.py", "'tiny-3gram' counts 3-grams, for which torch has no layers; choose"),
        ("./theirs.safetensors --torch a.py", "not one written by rnnviz"),
        ("./theirs.safetensors --torch a.py", "rnnviz.adapt takes a network of torch"),
        ("absent --torch a.py", "no model is called 'absent'"),
        ("tiny-gru --torch torch.py", "Python would import torch.py in place of the library"),
        ("tiny-gru --torch json.py", "call the file otherwise"),
        ("tiny-gru --torch a.csv", "end the name in .py"),
        ("tiny-gru --torch notes.py", "isn't a .py file that rnnviz wrote; name another"),
        ("tiny-gru --torch other/a.py", "with other weights than tiny-gru's; name a file in another folder"),
    ],
)
def test_export_refuses_what_has_no_program_or_would_harm(
    run: Run, tmp_path: Path, arguments: str, word: str
) -> None:
    save_file({"weight": np.zeros(3, np.float32)}, "theirs.safetensors")
    Path("notes.py").write_text('"""My notes."""\n', "utf-8")
    save(tiny("rnn"), Path("other", "tiny-gru.safetensors"))
    refuse(run, tmp_path, ["export", *arguments.split()], word)
    assert Path("notes.py").read_text("utf-8") == '"""My notes."""\n'
    assert [path.name for path in Path("other").iterdir()] == ["tiny-gru.safetensors"]
