"""A saved training state as an accident or a stranger may leave it: a sentence, or a run that goes on."""

import json
import math
import os
import pickle
import struct
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes

from rnnviz.errors import TrainingError
from rnnviz.networks.config import TrainConfig
from rnnviz.runs.folder import RunFolder
from rnnviz.runs.training_state import restore, save
from rnnviz.text import corpora
from rnnviz.training.trainer import Trainer
from tests.networks.test_damaged_files import JSON, places, put

CORPUS = corpora.from_text("a traveller came home late one night and sat down. " * 12, "smiles")
SMALL = TrainConfig(
    cell="lstm", hidden_size=6, embedding_size=4, epochs=2, batch=4, steps=10, precision="float32"
)


@cache
def saved() -> bytes:
    """The state after three steps."""
    trainer = Trainer(SMALL, CORPUS)
    for _ in range(3):
        trainer.step()
    with tempfile.TemporaryDirectory() as folder:
        save(RunFolder(folder), trainer)
        return RunFolder(folder).state.read_bytes()


def goes_on(path: Path) -> bool:
    """Whether the state in a folder is taken, and two more steps are made; else a sentence came out."""
    trainer, said = Trainer(SMALL, CORPUS), ""
    try:
        assert restore(RunFolder(path), trainer)
    except TrainingError as error:
        said = str(error)
    if said:
        assert len(said.encode()) < 1500
        return False
    for _ in range(2):
        loss, _norm, _read = trainer.step()
        float(loss)
    trainer.learning_rate()
    assert math.isfinite(trainer.seconds)
    return True


def write(path: Path, tensors: dict[str, torch.Tensor], meta: Any) -> None:
    (path / "state.safetensors").write_bytes(to_bytes(tensors, metadata={"run": json.dumps(meta)}))


def parts(whole: bytes) -> tuple[dict[str, torch.Tensor], Any]:
    (length,) = struct.unpack("<Q", whole[:8])
    meta = json.loads(json.loads(whole[8 : 8 + length])["__metadata__"]["run"])
    return from_bytes(whole), meta


def test_an_untouched_one_goes_on(tmp_path: Path) -> None:
    tensors, meta = parts(saved())
    write(tmp_path, tensors, meta)
    assert goes_on(tmp_path)


@given(data=st.data())
def test_whatever_it_says_of_itself_only_words_come_out(data: st.DataObject, tmp_path: Path) -> None:
    tensors, meta = parts(saved())
    for _ in range(data.draw(st.integers(1, 2))):
        put(meta, data.draw(st.sampled_from(places(meta))), data.draw(JSON))
    write(tmp_path, tensors, meta)
    goes_on(tmp_path)


SHAPES = st.lists(st.integers(0, 7), max_size=3)
TYPES = (torch.float32, torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool)


@given(data=st.data())
def test_whatever_its_tensors_are_only_words_come_out(data: st.DataObject, tmp_path: Path) -> None:
    tensors, meta = parts(saved())
    name = data.draw(st.sampled_from(sorted(tensors)))
    kind = data.draw(st.sampled_from(["drop", "rename", "shape", "type", "values"]))
    old = tensors[name]
    if kind in ("drop", "rename"):
        del tensors[name]
    if kind == "rename":
        tensors[data.draw(st.sampled_from(["optimiser.99.exp_avg", "optimiser.x", "model.more", "more"]))] = (
            old
        )
    elif kind == "shape":
        tensors[name] = torch.zeros(data.draw(SHAPES), dtype=old.dtype)
    elif kind == "type":
        tensors[name] = old.to(data.draw(st.sampled_from(TYPES)))
    elif kind == "values" and old.is_floating_point():
        tensors[name] = torch.full_like(old, data.draw(st.sampled_from([math.nan, math.inf, -1e38])))
    write(tmp_path, tensors, meta)
    goes_on(tmp_path)


@given(data=st.data())
def test_whatever_bytes_are_changed_only_words_come_out(data: st.DataObject, tmp_path: Path) -> None:
    whole = bytearray(saved())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1) | st.integers(0, 2500))] = data.draw(
            st.integers(0, 255)
        )
    cut = data.draw(st.integers(0, len(whole)) | st.just(len(whole)))
    (tmp_path / "state.safetensors").write_bytes(whole[:cut])
    goes_on(tmp_path)


class Trap:
    """What a pickle runs when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("sprung",))


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
def test_a_pickle_is_not_run_and_no_pipe_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    state = tmp_path / "state.safetensors"
    state.write_bytes(pickle.dumps({"run": Trap()}))
    assert not goes_on(tmp_path)
    torch.save({"run": Trap()}, state)
    assert not goes_on(tmp_path)
    assert not (tmp_path / "sprung").exists()
    state.unlink()
    os.mkfifo(state)
    assert not goes_on(tmp_path)
    state.unlink()
    state.symlink_to("/dev/zero")
    assert not goes_on(tmp_path)
    state.unlink()
    state.mkdir()
    assert not goes_on(tmp_path)
