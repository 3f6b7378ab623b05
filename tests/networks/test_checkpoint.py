"""Model files: what is written comes back, and what is wrong with a file is said."""

import json
import math
import pickle
import struct
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import rnnviz
from rnnviz.errors import CheckpointError, ModelNotFoundError
from rnnviz.networks import checkpoint, modelfile
from rnnviz.networks.cells import CELLS
from rnnviz.networks.config import Cell
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.sampling import sample
from rnnviz.scoring.tracer import trace
from tests.support.closeness import assert_states
from tests.support.models import TEXT, tiny, tiny_card

CARD = {"corpus": "x", "held_out": {"perplexity": 4.2}}


def rewrite(
    path: Path,
    change: Callable[[dict[str, Any]], object] = lambda meta: None,
    *,
    without: str = "",
    to: type = np.float32,
    fill: float | None = None,
) -> None:
    """Change the description in a model file's header, leave out a tensor, or change what they hold."""
    meta = modelfile.read_header(path)[1]
    change(meta)
    tensors = {key: w.astype(to) for key, w in load_file(path).items() if key != without}
    if fill is not None:
        tensors = {key: np.full_like(w, fill) for key, w in tensors.items()}
    save_file(tensors, path, {"rnnviz": json.dumps(meta)})


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    "options", [{"embedding_size": 0}, {}, {"layers": 2, "embedding_size": 12, "tied": True}]
)
def test_saved_network_loads_the_same_with_and_without_torch(
    tmp_path: Path, cell: Cell, options: dict[str, Any]
) -> None:
    model = tiny(cell, name="m", card=CARD, **options)
    path = checkpoint.save(model, tmp_path / "m.safetensors")
    text = "The time ☃ machine, x"
    for again in (checkpoint.load(path), checkpoint.load_numpy(path)):
        assert (again.config, again.vocabulary, again.name) == (model.config, model.vocabulary, "m")
        assert again.parameter_count == sum(w.size for w in model.tensors.values())
        assert again.card["held_out"] == {"perplexity": 4.2}
        assert {name: w.tobytes() for name, w in again.tensors.items()} == {
            name: w.tobytes() for name, w in model.tensors.items()
        }
        ours, theirs = trace(again, text), trace(model, text)
        assert_states(ours.hidden, theirs.hidden)
        assert_states(ours.log_probs, theirs.log_probs)
        assert sample(again, text, 20, seed=1) == sample(model, text, 20, seed=1)


def test_half_precision_is_half_the_size_and_close(tmp_path: Path) -> None:
    model = tiny("lstm")
    full, half = (checkpoint.save(model, tmp_path / f"{h}.safetensors", half=h) for h in (False, True))
    assert half.stat().st_size < 0.6 * full.stat().st_size
    loaded = checkpoint.load(half)
    assert loaded.weights.readout.dtype == np.float32
    np.testing.assert_allclose(loaded.weights.readout, model.weights.readout, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("model", [NgramModel.fit(TEXT, order=3), tiny("lstm")], ids=["ngram", "lstm"])
def test_the_description_is_read_without_the_weights(
    model: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = checkpoint.save(model, tmp_path / "m.safetensors")
    info = checkpoint.read_info(path)
    assert (info.name, info.kind) == ("m", request.node.callspec.id)
    assert (info.vocabulary_size, info.bytes) == (model.vocabulary.size, path.stat().st_size)


def test_models_are_listed_and_damaged_ones_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path))
    checkpoint.save(tiny("gru"), tmp_path / "mine.safetensors")
    (tmp_path / "broken.safetensors").write_bytes(b"not a model")
    models, damaged = checkpoint.available()
    assert {"mine", "broken"} & {m.name for m in models} == {"mine"}
    assert [d.path.name for d in damaged] == ["broken.safetensors"]
    assert checkpoint.find("mine") == tmp_path / "mine.safetensors"
    checkpoint.save(tiny("gru"), tmp_path / "broken.safetensors")  # another file is read again
    assert checkpoint.available()[1] == []


def test_a_replaced_models_name_leads_on_and_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "folders", lambda: [tmp_path])
    with pytest.raises(ModelNotFoundError, match="no model is called 'python-gru'"):
        checkpoint.find("python-gru")
    checkpoint.save(tiny("lstm"), tmp_path / "python-lstm.safetensors")
    with pytest.warns(
        DeprecationWarning, match=r"python-gru is replaced by python-lstm: write 'python-lstm'"
    ) as warned:
        assert rnnviz.load("python-gru").config.cell == "lstm"
    assert warned[0].filename == __file__  # Python shows it where the line is a script's own
    checkpoint.save(tiny("gru"), tmp_path / "python-gru.safetensors")  # a reader's own copy of it
    with warnings.catch_warnings(action="error"):
        assert rnnviz.load("python-gru").config.cell == "gru"


def written(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def described(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda path: rewrite(path, change)


EARLIER = (
    r"no longer reads or trains the cell s6; rnnviz 1\.0\.0 does; get it from where you got this version$"
)
FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (written(lambda _: b""), "cut off after 0 bytes"),
    "cut in the header": (written(lambda data: data[:40]), "cut off after 40 bytes"),
    "cut in the weights": (written(lambda data: data[:-7]), "its header says"),
    "more than promised": (written(lambda data: data + b"x"), "its header says"),
    "a pickle": (written(lambda _: pickle.dumps({"a": 1}) * 9), "it is not a safetensors file"),
    "not JSON": (written(lambda _: struct.pack("<Q", 9) + b"{'oh no'}"), "header is not JSON"),
    "JSON, deep": (written(lambda _: struct.pack("<Q", 10**5) + b"[" * 10**5), "header is not JSON"),
    "another program's": (
        lambda path: save_file({"w": np.zeros(2, np.float32)}, path),
        "not one written by rnnviz",
    ),
    "newer": (described(lambda m: m.update(format=99)), "update rnnviz"),
    "format of no version": (described(lambda m: m.update(format="1")), "description is damaged"),
    "no configuration": (described(lambda m: m.pop("config")), "description is damaged or incomplete"),
    "unknown cell": (described(lambda m: m["config"].update(cell="transformer")), "cell is one of"),
    "a cell of 1.0.0": (described(lambda m: m["config"].update(cell="s6")), EARLIER),
    "unknown setting": (described(lambda m: m["config"].update(x=1)), "unexpected keyword"),
    "huge layer": (described(lambda m: m["config"].update(hidden_size=16384)), "should have shape"),
    "other vocabulary": (described(lambda m: m["vocabulary"].pop()), "they must be equal"),
    "no such normaliser": (described(lambda m: m.update(normaliser=[1])), r"no normaliser is called '\[1\]'"),
    "a long normaliser": (described(lambda m: m.update(normaliser="9" * 5000)), f"called '{'9' * 100}'; "),
    "no vocabulary": (described(lambda m: m.update(vocabulary="abc")), "list of code points"),
    "a name with a folder": (described(lambda m: m["card"].update(name="../../etc/x")), "no folder"),
    "a missing tensor": (lambda path: rewrite(path, without="readout.bias"), "should have shape"),
    "integers": (lambda path: rewrite(path, to=np.int32), "float32 or float16"),
    "not a number": (lambda path: rewrite(path, fill=math.nan), "not finite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_damaged_model_file_is_refused(tmp_path: Path, fault: str) -> None:
    path = checkpoint.save(tiny("gru"), tmp_path / "m.safetensors")
    damage, message = FAULTS[fault]
    damage(path)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(path)


def test_copied_model_file_changes_its_name_alone(tmp_path: Path) -> None:
    sketch = modelfile.Sketch(np.array([3, 99], np.uint32), 1024)
    source = checkpoint.save(tiny("gru", card=tiny_card()), tmp_path / "a.safetensors", sketch=sketch)
    target = modelfile.copy(source, tmp_path / "b.safetensors")
    assert checkpoint.load(target).card == {**checkpoint.load(source).card, "name": "b"}
    first, second = modelfile.read_tensors(source), modelfile.read_tensors(target)
    assert {name: w.tobytes() for name, w in first.items()} == {
        name: w.tobytes() for name, w in second.items()
    }
    assert modelfile.read_sketch(target).hashes.tolist() == [3, 99]


def test_network_without_tensors_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="tensors"):
        checkpoint.save(replace(tiny("gru"), tensors={}), tmp_path / "none.safetensors")
    assert not (tmp_path / "none.safetensors").exists()
