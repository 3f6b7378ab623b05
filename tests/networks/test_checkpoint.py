"""Model files: what is written comes back, and what is wrong with a file is said."""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from rnnviz.errors import CheckpointError, ConfigError, ModelNotFoundError
from rnnviz.networks import checkpoint, modelfile
from rnnviz.networks.config import CELLS, Cell, ModelConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.networks.torch_model import CharModel
from rnnviz.reading.sampling import sample
from rnnviz.reading.trace import trace
from rnnviz.text.vocabulary import Vocabulary
from tests.conftest import tiny, tiny_card

VOCABULARY = Vocabulary.from_text("the time machine, 时间机器 ☃ " * 3)


def make(cell: Cell = "gru", *, layers: int = 1, tied: bool = False, name: str = "m") -> CharModel:
    config = ModelConfig(cell, VOCABULARY.size, 8, layers, 8, tied=tied)
    return CharModel(config, VOCABULARY, name=name, card={"corpus": "x", "held_out": {"perplexity": 4.2}})


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the description in a model file's header and leave its tensors."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    meta = json.loads(header["__metadata__"]["rnnviz"])
    change(meta)
    header["__metadata__"]["rnnviz"] = json.dumps(meta)
    raw = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + data[8 + length :])


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("layers", "tied"), [(1, False), (2, True)])
def test_a_network_comes_back_as_it_was(tmp_path: Path, cell: Cell, layers: int, tied: bool) -> None:
    model = make(cell, layers=layers, tied=tied)
    loaded = checkpoint.load(checkpoint.save(model, tmp_path / "m.safetensors"))
    assert checkpoint.is_neural(loaded)
    assert loaded.config == model.config
    assert loaded.vocabulary == model.vocabulary
    assert loaded.name == "m"
    assert loaded.card["held_out"] == {"perplexity": 4.2}
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, loaded.state_dict()[name])
    inputs = torch.randint(0, VOCABULARY.size, (2, 5))
    torch.testing.assert_close(loaded(inputs)[0], model(inputs)[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(("layers", "tied", "embedding"), [(1, False, 0), (1, False, 3), (2, True, 8)])
def test_a_network_reads_the_same_without_torch(
    tmp_path: Path, cell: Cell, layers: int, tied: bool, embedding: int
) -> None:
    config = ModelConfig(cell, VOCABULARY.size, 8, layers, embedding, tied=tied)
    model = CharModel(config, VOCABULARY, card={"corpus": "x"})
    assert {k: tuple(w.shape) for k, w in model.state_dict().items()} == config.shapes()
    light = checkpoint.load_numpy(checkpoint.save(model, tmp_path / "m.safetensors"))
    assert isinstance(light, NumpyModel)
    assert (light.name, light.card["corpus"], light.parameter_count) == ("m", "x", model.parameter_count)
    text = "the time ☃ machine, x"
    ours, theirs = trace(light, text), trace(model, text)
    np.testing.assert_array_equal(ours.hidden, theirs.hidden)
    np.testing.assert_array_equal(ours.log_probs, theirs.log_probs)
    assert sample(light, text, 20, seed=1) == sample(model, text, 20, seed=1)


def test_half_precision_is_half_the_size_and_close(tmp_path: Path) -> None:
    model = make("lstm")
    full = checkpoint.save(model, tmp_path / "full.safetensors")
    half = checkpoint.save(model, tmp_path / "half.safetensors", half=True)
    assert half.stat().st_size < full.stat().st_size
    loaded = checkpoint.load(half)
    assert checkpoint.is_neural(loaded)
    assert loaded.readout.weight.dtype == torch.float32
    torch.testing.assert_close(loaded.readout.weight, model.readout.weight, atol=1e-3, rtol=1e-3)


def test_an_ngram_model_comes_back_as_it_was(tmp_path: Path) -> None:
    model = NgramModel.fit("the time machine " * 20, order=3, vocabulary=VOCABULARY, name="n")
    path = checkpoint.save(model, tmp_path / "n.safetensors")
    loaded = checkpoint.load(path)
    assert not checkpoint.is_neural(loaded)
    ids = VOCABULARY.encode("the machine")
    assert loaded.scorer().advance(ids) == pytest.approx(model.scorer().advance(ids), abs=1e-12)
    assert checkpoint.read_info(path).kind == "ngram"


def test_the_description_is_read_without_the_weights(tmp_path: Path) -> None:
    path = checkpoint.save(make("lstm"), tmp_path / "m.safetensors")
    info = checkpoint.read_info(path)
    assert (info.name, info.kind, info.vocabulary_size) == ("m", "lstm", VOCABULARY.size)
    assert info.bytes == path.stat().st_size


def test_models_are_listed_and_damaged_ones_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path))
    checkpoint.save(make(), tmp_path / "mine.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"not a model")
    models, damaged = checkpoint.available()
    assert "mine" in [m.name for m in models]
    assert "broken" not in [m.name for m in models]
    assert [d.path.name for d in damaged] == ["broken.safetensors"]
    assert checkpoint.find("mine") == tmp_path / "mine.safetensors"


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (lambda p: p.write_bytes(b""), "cut off after 0 bytes"),
    "cut in the header": (lambda p: p.write_bytes(p.read_bytes()[:40]), "cut off inside its header"),
    "cut in the weights": (lambda p: p.write_bytes(p.read_bytes()[:-7]), "its header promises"),
    "more than promised": (lambda p: p.write_bytes(p.read_bytes() + b"x"), "its header promises"),
    "a pickle": (
        lambda p: p.write_bytes(pickle.dumps({"a": 1}) * 9),
        "doesn't begin like a safetensors file",
    ),
    "not JSON": (lambda p: p.write_bytes(struct.pack("<Q", 9) + b"{'oh no'}"), "header is not JSON"),
    "JSON, deep": (lambda p: p.write_bytes(struct.pack("<Q", 10**5) + b"[" * 10**5), "header is not JSON"),
    "another program's": (lambda p: save_file({"w": torch.zeros(2)}, p), "not one written by rnnviz"),
    "newer": (lambda p: rewrite(p, lambda m: m.update(format=99)), "update rnnviz"),
    "format of no version": (lambda p: rewrite(p, lambda m: m.update(format="1")), "no version of rnnviz"),
    "no configuration": (lambda p: rewrite(p, lambda m: m.pop("config")), "description is incomplete"),
    "unknown cell": (
        lambda p: rewrite(p, lambda m: m["config"].update(cell="transformer")),
        "cell is one of",
    ),
    "unknown setting": (lambda p: rewrite(p, lambda m: m["config"].update(x=1)), "unexpected keyword"),
    "huge layer": (
        lambda p: rewrite(p, lambda m: m["config"].update(hidden_size=16384)),
        "should have shape",
    ),
    "other vocabulary": (lambda p: rewrite(p, lambda m: m["vocabulary"].pop()), "they must be equal"),
    "no vocabulary": (lambda p: rewrite(p, lambda m: m.update(vocabulary="abc")), "list of code points"),
    "a name with a folder": (
        lambda p: rewrite(p, lambda m: m["card"].update(name="../../etc/x")),
        "no folder",
    ),
    "a missing tensor": (lambda p: without(p, "readout.bias"), "should have shape"),
    "integers": (lambda p: as_type(p, torch.int32), "float32 or float16"),
    "not a number": (lambda p: as_type(p, torch.float32, float("nan")), "not finite"),
}


def without(path: Path, name: str) -> None:
    meta = modelfile.read_header(path)[1]
    tensors = load_file(path)
    del tensors[name]
    save_file(tensors, path, {"rnnviz": json.dumps(meta)})


def as_type(path: Path, dtype: torch.dtype, fill: float = 0.0) -> None:
    meta = modelfile.read_header(path)[1]
    tensors = {k: torch.full_like(v, fill).to(dtype) for k, v in load_file(path).items()}
    save_file(tensors, path, {"rnnviz": json.dumps(meta)})


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_file_gets_a_clear_error(tmp_path: Path, fault: str) -> None:
    path = checkpoint.save(make(), tmp_path / "m.safetensors")
    damage, message = FAULTS[fault]
    damage(path)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(path)


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    path = checkpoint.save(make(), tmp_path / "m.safetensors")
    data = path.read_bytes()
    for length in range(0, len(data), 37):
        path.write_bytes(data[:length])
        with pytest.raises(CheckpointError, match="is not a usable rnnviz model"):
            checkpoint.load(path)


def test_a_file_past_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.truncate(checkpoint.MAX_FILE + 1)  # sparse: takes no room
    with pytest.raises(CheckpointError, match="the limit is"):
        checkpoint.load(path)


def test_a_pickled_model_does_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    torch.save({"x": Bomb()}, tmp_path / "m.safetensors")
    with pytest.raises(CheckpointError):
        checkpoint.load(tmp_path / "m.safetensors")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "name", ["../m", "a/b", "/etc/passwd", "..", "a..b", ".hidden", "", "a\\b", "a\0b", "x" * 200]
)
def test_a_name_has_no_path_in_it(name: str) -> None:
    with pytest.raises(CheckpointError, match="no folder"):
        checkpoint.load(name)


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path))
    checkpoint.save(make(), tmp_path / "mine.safetensors")
    with pytest.raises(ModelNotFoundError, match=r"no model is called 'thine'; there are: .*mine"):
        checkpoint.load("thine")
    with pytest.raises(ModelNotFoundError, match="no model file at"):
        checkpoint.load(tmp_path / "thine.safetensors")


def test_a_file_needs_its_ending(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="a model file ends in"):
        checkpoint.save(make(), tmp_path / "m.pt")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CheckpointError, match="can't be written"):
        checkpoint.save(make(), tmp_path / "file" / "m.safetensors")


def test_a_device_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = checkpoint.save(make(), tmp_path / "m.safetensors")
    with pytest.raises(ConfigError, match="use cpu"):
        checkpoint.load(path, device="nonsense")


WRITE_FOREVER = """
import os, sys, torch
from rnnviz.networks import checkpoint, modelfile
torch.set_num_threads(1)
model = checkpoint.load(sys.argv[1])
while sys.stdin.readline():  # another writer
    if not (writer := os.fork()):
        print(os.getpid(), flush=True)
        while True:
            with torch.no_grad():
                for p in model.parameters():
                    p.add_(1)
            checkpoint.save(model, sys.argv[1])
    os.waitpid(writer, 0)
    print("killed", flush=True)
"""


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """A process that writes without pause is killed at several moments; the file is whole each time."""
    config = ModelConfig("lstm", VOCABULARY.size, 256, 1, 64)
    path = checkpoint.save(CharModel(config, VOCABULARY), tmp_path / "m.safetensors")
    command = [sys.executable, "-c", WRITE_FOREVER, str(path)]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for moment in (0.0, 0.004, 0.009, 0.013, 0.021, 0.029):
            print(file=process.stdin, flush=True)
            writer = int(process.stdout.readline())
            before = path.stat().st_mtime_ns
            deadline = time.monotonic() + 20
            while path.stat().st_mtime_ns == before and time.monotonic() < deadline:
                pass  # it is writing now
            until = time.monotonic() + moment
            while time.monotonic() < until:
                pass
            os.kill(writer, signal.SIGKILL)
            assert process.stdout.readline() == "killed\n"
            loaded = checkpoint.load(path)
            assert checkpoint.is_neural(loaded)
            drift = loaded.readout.bias - loaded.readout.bias.round()
            assert torch.isfinite(drift).all()


def test_a_copy_has_another_name_and_all_else_as_it_was(tmp_path: Path) -> None:
    held = checkpoint.Sketch(np.array([3, 99], np.uint32), 1024)
    source = checkpoint.save(tiny("gru", card=tiny_card()), tmp_path / "a.safetensors", sketch=held)
    target = checkpoint.copy(source, tmp_path / "b.safetensors")
    first, second = checkpoint.load(source), checkpoint.load(target)
    assert second.card == {**first.card, "name": "b"}
    assert checkpoint.is_neural(first)
    assert checkpoint.is_neural(second)
    assert all(torch.equal(w, second.state_dict()[k]) for k, w in first.state_dict().items())
    kept = checkpoint.read_sketch(target)
    assert kept is not None
    assert kept.hashes.tolist() == [3, 99]
