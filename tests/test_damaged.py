"""Files as accidents and strangers leave them: a sentence says what is wrong, or the right answer comes.

One strategy changes bytes, the leaves of JSON and arrays; one table has what reads files. Whatever is done
to a file, its reader raises an error of rnnviz or answers; it raises nothing else, doesn't hang, and takes
no memory that a file merely claims to need. What stands in HOSTILE is found by nobody who changes bytes at
random.
"""

import contextlib
import io
import json
import math
import os
import pickle
import re
import shutil
import signal
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz import cli
from rnnviz.errors import CheckpointError, RnnvizError
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lab.reports import training
from rnnviz.lab.run import queue, replay, runs, training_state
from rnnviz.lab.run.folder import RunFolder
from rnnviz.networks import checkpoint, modelfile
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.record import record
from rnnviz.scoring.trace import Trace
from tests.support import needs
from tests.support.made_runs import make_run
from tests.support.models import TEXT, tiny, tiny_card
from tests.support.training import CORPUS, SMALL

resource = pytest.importorskip("resource", reason="needs pipes, devices and bounds of a process")

# ---- what reads ------------------------------------------------------------------------------------------


SENTENCE = "The Time Traveller"
SOUND = tiny("rnn", card=tiny_card())


def total(model: Any) -> float:
    """Nats of a sentence; whatever the weights are, the probabilities of a character sum to one."""
    with np.errstate(all="ignore"):
        content = rnnviz.trace(model, SENTENCE)
        assert content.log_probs.shape == (len(SENTENCE) + 1, model.vocabulary.size)
        sums = np.exp(content.log_probs).sum(axis=1)
    assert np.isnan(sums).any() or np.abs(sums - 1).max() < 1e-3
    return round(float(content.nll.sum()), 3)


def make_model(folder: Path) -> float:
    model = tiny("gru", card=tiny_card())
    sketch = modelfile.Sketch(np.arange(9, dtype=np.uint32), 3)
    checkpoint.save(model, folder / "m.safetensors", sketch=sketch)
    return total(model)


def read_model(folder: Path) -> float:
    """The sidebar's list, the card, the sketch of its text, the network with torch and without."""
    checkpoint.save(SOUND, folder / "sound.safetensors")
    content, damaged = checkpoint.available()
    assert "sound" in [model.name for model in content]
    assert len(content) + len(damaged) == len(list(folder.glob("*.safetensors")))
    for name in damaged:
        name.reason.encode()
        assert len(name.reason) < 1000
    for model in content:
        json.dumps(model.card, ensure_ascii=False, allow_nan=False).encode()
    modelfile.read_sketch(folder / "m.safetensors")
    network = checkpoint.load_numpy(folder / "m.safetensors")
    assert all(np.isfinite(values).all() for values in getattr(network, "tensors", {}).values())
    light = total(network)
    heavy = total(checkpoint.load(folder / "m.safetensors"))
    assert math.isnan(light) or light == pytest.approx(heavy, rel=1e-3, abs=2e-3)
    return light


def make_trace(folder: Path) -> str:
    content = rnnviz.trace(tiny("lstm", layers=2), SENTENCE)
    (folder / "a.npz").write_bytes(content.to_bytes("forget"))
    return content.text


def read_trace(folder: Path) -> str:
    content = Trace.load(folder / "a.npz")
    with np.errstate(all="ignore"):
        assert content.log_probs.shape == (len(content) + 1, content.vocabulary.size)
        assert repr(content)
        _ = content.gates, content.cell, content.perplexity, content[1:3].entropy
    return content.text


def make_run_folder(folder: Path) -> list[str]:
    make_run("odd", created=2.0)
    shutil.copytree(runs.home() / "odd", folder, dirs_exist_ok=True)
    for step in (0, 1, 3):
        (folder / "snapshots" / f"{step:09d}.safetensors").unlink()
    return ["finished", "10", "30"]


def read_run(folder: Path) -> list[str]:
    """All that a page does that shows it; it stands beside a sound one, which it hides in no case."""
    shutil.rmtree(runs.home(), ignore_errors=True)
    make_run("sound", created=1.0)
    shutil.move(folder, runs.home() / "odd")
    run = runs.find("odd")
    listed = runs.listed()
    assert {name.id for name in listed} == {"sound", "odd"}
    for name in listed:
        json.dumps([name.description, name.progress, name.report], ensure_ascii=False, allow_nan=False)
        name.name.encode()
    assert len(run.reason) < 1000
    training.curves(
        runs.tail_log("odd")[0], clip=float((run.description.get("config") or {}).get("clip", 1.0))
    )
    queue.runs_ahead(RunFolder(run.path))
    for step in [None, *runs.snapshots("odd")]:
        with contextlib.suppress(RnnvizError):
            shot = runs.snapshot("odd", step)
            assert shot.log_probs.shape == (len(shot.text) + 1, len(shot.symbols))
            assert len(shot.hidden) == len(shot.nll) == len(shot.text)
    answer = [run.state, *map(str, runs.snapshots("odd"))]
    with contextlib.suppress(RnnvizError), np.errstate(all="ignore"):
        training.curves(replay.read(replay.write("odd", runs.home() / f"odd{replay.SUFFIX}")).events)
    runs.delete("odd")
    assert [name.id for name in runs.listed()] == ["sound"]
    if run.reason:
        raise rnnviz.TrainingError("{reason}", reason=run.reason)
    return answer


def make_state(folder: Path) -> int:
    trainer = Trainer(SMALL, CORPUS)
    for _ in range(3):
        trainer.step()
    training_state.save(RunFolder(folder), trainer)
    return 5


def read_state(folder: Path) -> int:
    """Go on where it stopped, two steps more."""
    trainer = Trainer(SMALL, CORPUS)
    if not training_state.restore(RunFolder(folder), trainer):
        raise rnnviz.TrainingError("nothing was saved")
    for _ in range(2):
        float(trainer.step()[0])
    trainer.learning_rate()
    assert math.isfinite(trainer.seconds)
    return trainer.step_index


def make_replay(folder: Path) -> list[int]:
    make_run("told", created=1.0)
    replay.write("told", folder / f"told{replay.SUFFIX}")
    return [0, 1, 3, 10, 30]


def read_replay(folder: Path) -> list[int]:
    events = replay.read(folder / f"told{replay.SUFFIX}")
    training.curves(events.events)
    return [events.snapshot(step).step for step in events.steps]


# Of each: what writes files into a folder and gives the answer of the other, which reads them.
READERS: dict[str, tuple[Callable[[Path], Any], Callable[[Path], Any]]] = {
    "model": (make_model, read_model),
    "trace": (make_trace, read_trace),
    "run": (make_run_folder, read_run),
    "run that goes on": (make_state, read_state),
    "replay": (make_replay, read_replay),
}

Files = dict[str, bytes]
_cached_files: dict[str, tuple[Files, Any]] = {}


def whole(name: str, folder: Path) -> tuple[Files, Any]:
    """The sound files of a reader, made once, by their paths in its folder; what it answers of them."""
    if name not in _cached_files:
        folder.mkdir()
        answer = READERS[name][0](folder)
        content = {
            str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
        }
        shutil.rmtree(folder)
        _cached_files[name] = content, answer
    return _cached_files[name]


def written(contents: Files, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


# ---- what is asked of each -------------------------------------------------------------------------------


def one_sentence(message: str) -> None:
    message.encode()
    assert re.fullmatch(r"[^\n]{5,1000}", message), message
    assert not re.search(r"object at 0x|Traceback", message), message


@contextlib.contextmanager
def bounded(seconds: float = 30.0, memory: int = 6 << 30) -> Iterator[None]:
    """Ends what takes longer, or on Linux memory of this size: a Mac knows no such limit."""
    limits = resource.getrlimit(resource.RLIMIT_AS)

    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail(f"it takes more than {seconds} s"))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + memory, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.signal(signal.SIGALRM, before)


def a_sentence_or_an_answer(name: str, folder: Path) -> Any:
    """The answer, or the sentence that came instead."""
    try:
        with bounded(), np.errstate(all="ignore"):
            return READERS[name][1](folder)
    except RnnvizError as error:
        one_sentence(str(error))
        return error


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the reader's files, which is a folder of models, too."""
    monkeypatch.setenv("RNNVIZ_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path / "here"])
    return tmp_path / "here"


# ---- what is done to files -------------------------------------------------------------------------------

ODD = st.sampled_from([
    None, True, "", "x", -1, 0, 1, 2**31, 2**63, 10**400, 1e999, -1e999, math.nan, [], {}, ["x"], {"x": 1},
    [[]] * 3, "\ud800", "\u202e\x1b[2J", "x" * 300_000, "gru", "ngram", "minlstm",
])  # fmt: skip
DEEP = "[" * 2000 + "]" * 2000


def ways(value: Any, position: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every entry of nested objects and lists; of a list the first three alone."""
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:3] if isinstance(value, list) else ())
    )
    return [way for key, name in inside for way in [(*position, key), *ways(name, (*position, key))]]


@st.composite
def other_json(draw: st.DrawFn, text: str) -> str:
    """JSON with an entry that is gone or another one; JSON within a string of it is JSON."""
    value = json.loads(text)
    way = draw(st.sampled_from(ways(value)))
    inner = reduce(getitem, way[:-1], value)
    old, how = inner[way[-1]], draw(st.sampled_from(["odd", "odd", "odd", "near", "missing", "deep"]))
    if isinstance(old, str) and old.startswith("{"):
        inner[way[-1]] = draw(other_json(old))
    elif how == "missing":
        del inner[way[-1]]
    elif how == "near" and type(old) in (int, float):
        inner[way[-1]] = old + draw(st.integers(-2, 2))
    else:
        inner[way[-1]] = DEEP if how == "deep" else draw(ODD)
    return json.dumps(value).replace(f'"{DEEP}"', DEEP)


def begins(content: bytes) -> int:
    """Where the tensors of a safetensors file begin."""
    return 8 + int.from_bytes(content[:8], "little")


def opened(name: str, content: bytes) -> dict[str, np.ndarray]:
    """The arrays in a file."""
    return dict(np.load(io.BytesIO(content))) if name.endswith(".npz") else safetensors.numpy.load(content)


def packed(name: str, content: bytes, arrays: dict[str, Any]) -> bytes:
    """The file with these arrays in the place of its own."""
    if name.endswith(".npz"):
        np.savez_compressed(out := io.BytesIO(), **arrays)
        return out.getvalue()
    about = json.loads(content[8 : begins(content)])["__metadata__"]
    return bytes(safetensors.numpy.save(arrays, metadata=about))


@st.composite
def other_leaf(draw: st.DrawFn, name: str, content: bytes) -> bytes:
    """The JSON of a file changed at an entry."""
    if name.endswith(".safetensors"):
        header = draw(other_json(content[8 : begins(content)].decode())).encode()
        return struct.pack("<Q", len(header)) + header + content[begins(content) :]
    if name.endswith(".npz"):
        arrays = opened(name, content)
        about = draw(other_json(arrays["about"].tobytes().decode())).encode()
        return packed(name, content, {**arrays, "about": np.frombuffer(about, np.uint8)})
    message = content.splitlines() if name.endswith(".jsonl") else [content]
    n = draw(st.integers(0, len(message) - 1))
    message[n] = draw(other_json(message[n].decode())).encode()
    return b"\n".join(message) + b"\n"


@st.composite
def other_bytes(draw: st.DrawFn, name: str, content: bytes) -> bytes:
    """Pieces of a file left out, put in, or others; often one byte, near its beginning."""
    for _ in range(draw(st.integers(1, 3))):
        last = max(0, len(content) - 1)
        at = draw(st.integers(0, last) | st.integers(0, min(1500, last)))
        cut = draw(st.sampled_from([0, 1, 1, 40, len(content)]))
        instead = draw(st.binary(max_size=9) | st.sampled_from([b"", bytes(40), content[at:]]))
        content = content[:at] + instead + content[at + cut :]
    return content


ODD_NUMBERS = st.sampled_from([math.nan, math.inf, -1e38, 3e38, 1e-45, 0, 1, 2, 200, 2.0**31])


@st.composite
def other_array(draw: st.DrawFn, name: str, content: bytes) -> bytes:
    """An array that is missing, of another name, shape or type, or has another value or that alone."""
    arrays = opened(name, content)
    key = draw(st.sampled_from(sorted(arrays)))
    old = arrays.pop(key)
    kinds = ["f2", "f4", "f8", "i8", "u4", "u1", "?"] + ["U3", "c16", "M8[s]", "S2"] * name.endswith(".npz")
    odd, at = old.copy(), draw(st.integers(0, 10**6)) % max(1, old.size)
    with np.errstate(all="ignore"):
        value = np.float64(draw(ODD_NUMBERS)).astype(old.dtype)
    odd.reshape(-1)[draw(st.sampled_from([slice(None), slice(at, at + 1)]))] = value
    instead = {
        "missing": {},
        "renamed": {draw(st.sampled_from(["more", "optimiser.99.exp_avg", "carried.7"])): old},
        "shape": {key: np.zeros(draw(st.lists(st.integers(0, 40), max_size=3)), old.dtype)},
        "type": {key: np.zeros(old.shape, draw(st.sampled_from(kinds)))},
        "value": {key: odd},
    }
    return packed(name, content, {**arrays, **instead[draw(st.sampled_from(sorted(instead)))]})


WAYS: dict[str, tuple[Callable[..., Any], str]] = {
    "not at all": (lambda name, content: st.just(content), r""),
    "bytes": (other_bytes, r""),
    "leaves": (other_leaf, r"\.(safetensors|npz|jsonl?)$"),
    "arrays": (other_array, r"\.(safetensors|npz)$"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
def test_a_damaged_file_is_a_sentence_or_the_right_answer(
    name: str, way: str, data: st.DataObject, place: Path
) -> None:
    contents, right = whole(name, place)
    change, ending = WAYS[way]
    number = [file_name for file_name in contents if re.search(ending, file_name) and contents[file_name]]
    if not number:
        return
    file_name = data.draw(st.sampled_from(number))
    changed = data.draw(change(file_name, contents[file_name]))
    answer = a_sentence_or_an_answer(name, written({**contents, file_name: changed}, place))
    assert changed != contents[file_name] or answer == right


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


NO_FILES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a terabyte of nothing": sparse,
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("/nowhere"),
    "a link to itself": lambda path: path.symlink_to(path),
    "nothing": Path.touch,
    "deep": lambda path: path.write_bytes(b"[" * 10**5),
    "missing": lambda path: None,
}


@pytest.mark.slow
@pytest.mark.parametrize("replacement", NO_FILES)
@pytest.mark.parametrize("name", READERS)
def test_no_file_is_one_sentence(name: str, replacement: str, place: Path) -> None:
    contents, _ = whole(name, place)
    for file_name in contents:
        (written(contents, place) / file_name).unlink()
        NO_FILES[replacement](place / file_name)
        answer = a_sentence_or_an_answer(name, place)
        assert len(contents) > 1 or isinstance(answer, RnnvizError)


# ---- what nobody finds by changing bytes at random -------------------------------------------------------


class Trap:
    """What a pickle runs when it is read."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("sprung",))


def described(change: Callable[[Any], object]) -> Callable[[Path], None]:
    """Change what a model's file says of itself."""

    def damage(path: Path) -> None:
        meta = modelfile.read_header(path)[1]
        change(meta)
        path.write_bytes(safetensors.numpy.save(modelfile.read_tensors(path), {"rnnviz": json.dumps(meta)}))

    return damage


def with_array(name: str, values: Any) -> Callable[[Path], None]:
    """Another array in the place of one, or beside the others."""

    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(packed(path.name, content, {**opened(path.name, content), name: values}))

    return damage


def archive(header: bytes, zeros: int = 0) -> Callable[[Path], None]:
    """A trace's archive whose only array has this header, and is full of zeros."""

    def damage(path: Path) -> None:
        begins = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("about.npy", begins + bytes(zeros << 20))

    return damage


def of_earlier_cells(path: Path) -> None:
    arrays = opened(path.name, path.read_bytes())
    message = arrays["about"].tobytes().replace(b'"lstm"', b'"minlstm"')
    np.savez_compressed(path, **{**arrays, "about": np.frombuffer(message, np.uint8)})


def says(**values: Any) -> Callable[[Path], None]:
    return lambda path: path.write_text(
        json.dumps({**json.loads(path.read_text("utf-8")), **values}), "utf-8"
    )


MODEL, STATE = "m.safetensors", "state.safetensors"
SIZE = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
NO_TRACE = "is not a trace"
HOSTILE: dict[str, tuple[str, str, Callable[[Path], object], str]] = {
    "a card of 5 MB": (
        "model",
        MODEL,
        described(lambda m: m["card"].update(x="x" * 5 * 10**6)),
        "limit is 4,194,304",
    ),
    "a card of 1 MB": (
        "model",
        MODEL,
        described(lambda m: m["card"].update(x="x" * 10**6)),
        "limit is 262,144",
    ),
    "a cell of a megabyte": (
        "model",
        MODEL,
        described(lambda m: m["config"].update(cell="x" * 10**6)),
        "damaged",
    ),
    "a large network": (
        "model",
        MODEL,
        described(lambda m: m["config"].update(hidden_size=16_384, layers=8)),
        "should have shape",
    ),
    "a sketch without a modulus": ("model", MODEL, described(lambda m: m.pop("overlap")), "is damaged"),
    "a modulus of 0": ("model", MODEL, described(lambda m: m.update(overlap={"modulus": 0})), "is damaged"),
    "a modulus in words": (
        "model",
        MODEL,
        described(lambda m: m.update(overlap={"modulus": "x"})),
        "is damaged",
    ),
    "a true modulus": (
        "model",
        MODEL,
        described(lambda m: m.update(overlap={"modulus": True})),
        "is damaged",
    ),
    "a sketch that is a list": ("model", MODEL, described(lambda m: m.update(overlap=[3])), "is damaged"),
    "a sketch of floats": (
        "model",
        MODEL,
        with_array(modelfile.SKETCH, np.zeros(3, np.float32)),
        "is damaged",
    ),
    "a sketch that is a table": (
        "model",
        MODEL,
        with_array(modelfile.SKETCH, np.zeros((3, 3), np.uint32)),
        "is damaged",
    ),
    "a sketch of megabytes": (
        "model",
        MODEL,
        with_array(modelfile.SKETCH, np.zeros(1 << 19, np.uint32)),
        "is damaged",
    ),
    "a sparse model": ("model", MODEL, sparse, "the limit is 2,147,483,648"),
    "a pickled model": ("model", MODEL, lambda p: torch.save(Trap(), p), "is not a usable rnnviz model"),
    "a pickled state": (
        "run that goes on",
        STATE,
        lambda p: p.write_bytes(pickle.dumps(Trap())),
        "is damaged",
    ),
    **{
        f"a state of another network: {name}": (
            "run that goes on",
            STATE,
            with_array(name, np.zeros(3, np.float32)),
            f"{name} is of another network",
        )
        for name in ("optimiser.0.exp_avg", "optimiser.3.step", "carried.0", "since.loss", "norm")
    },
    "a state of torch's": ("run that goes on", STATE, lambda p: torch.save({"run": Trap()}, p), "is damaged"),
    "a pickled trace": ("trace", "a.npz", lambda p: np.savez(p, about=np.array([Trap()], object)), NO_TRACE),
    "a trace of exabytes": ("trace", "a.npz", archive(SIZE % b"1000000000000000"), NO_TRACE),
    "a trace of less than nothing": ("trace", "a.npz", archive(SIZE % b"-5"), NO_TRACE),
    "a trace of very many": ("trace", "a.npz", archive(SIZE % (b"9" * 30)), NO_TRACE),
    "a trace half said": ("trace", "a.npz", archive(b"("), NO_TRACE),
    "a deep trace": ("trace", "a.npz", archive(b"[" * 5000), NO_TRACE),
    "a trace of objects": ("trace", "a.npz", archive(b"{'descr': '|O'}"), NO_TRACE),
    "a bomb": ("trace", "a.npz", archive(SIZE % b"13107200", 100), "more than 300 times its size"),
    "a trace of whole numbers": (
        "trace",
        "a.npz",
        with_array("weights.readout", np.zeros((9, 12), np.int64)),
        "weights.readout has type int64",
    ),
    "an earlier trace": ("trace", "a.npz", of_earlier_cells, "cell minlstm; rnnviz 1.0.0 does"),
    "a run that began at x": ("run", "run.json", says(created="x"), "is damaged ('x' is no float)"),
    "an earlier run": ("run", "run.json", says(config={"cell": "rglru"}), "cell rglru; rnnviz 1.0.0 does"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_unread(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, file, damage, message = HOSTILE[kind]
    damage(written(whole(name, place)[0], place) / file)
    monkeypatch.chdir(place.parent)
    error = a_sentence_or_an_answer(name, place)
    assert isinstance(error, RnnvizError)
    assert message in str(error)
    assert not list(place.parent.rglob("sprung"))


def test_a_run_that_trains_is_not_deleted_whatever_is_damaged(place: Path) -> None:
    path = make_run("alive", created=1.0)
    says(created="x")(path / "run.json")
    with RunFolder(path).take_lock(), pytest.raises(rnnviz.TrainingError, match="is training"):
        runs.delete("alive")
    assert path.is_dir()


@pytest.mark.parametrize("name", ["odd\udcff", "gp\u202ej"])
def test_a_name_that_cannot_be_shown_is_not_shown(name: str, place: Path, tmp_path: Path) -> None:
    needs.named(tmp_path, name)
    make_run("sound", created=1.0)
    shutil.copytree(runs.home() / "sound", runs.home() / name)
    assert "sound" in [run.id for run in runs.listed()]
    written(whole("model", place)[0], place)
    (place / MODEL).rename(place / f"{name}.safetensors")
    (damaged,) = checkpoint.available()[1]
    one_sentence(damaged.reason)
    assert "has a name that can't be shown as it is" in damaged.reason
    assert "\u202e" not in damaged.reason


COMMAND = "python -m rnnviz train --corpus '/home/me/my texts/diary.txt' --output=/tmp/me/x.safetensors"
CARDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "half a surrogate pair": ({"title": "a \ud800 title", "\udcff": 1}, {"title": "a \ufffd title"}),
    "control characters": (
        {"title": "cod.\u202egpj\x1b[2J", "versions": {"torch\u200b": "2\u202e"}, "example": "‏עברית‏"},
        {"title": r"cod.\u202egpj\x1b[2J", "versions": {r"torch\u200b": r"2\u202e"}, "example": "‏עברית‏"},
    ),
    "folders in a command": (
        {"command": COMMAND, "units": {"command": COMMAND}},
        {"command": "python -m rnnviz train --corpus diary.txt --output=x.safetensors"},
    ),
    "entries of the wrong kind": (
        {
            "title": {"a": 1},
            "corpus": ["x"],
            "example": 5,
            "characters": 1e999,
            "versions": "3.11",
            "ngram": ["x"],
            "recipe": {"epochs": 10**400},
            "held_out": {"perplexity": 4.0, "ngram": 5.0, "ngram_name": ["x"]},
            "language": "en",
            "more": json.loads("[" * 60 + "]" * 60),
            "parameters": True,
        },
        {
            "language": "en",
            **dict.fromkeys(
                (
                    "title",
                    "corpus",
                    "example",
                    "characters",
                    "versions",
                    "ngram",
                    "recipe",
                    "held_out",
                    "more",
                    "parameters",
                )
            ),
        },
    ),
}


@pytest.mark.parametrize("kind", CARDS)
def test_a_card_shows_no_more_than_it_says(
    kind: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    card_fields, text = CARDS[kind]
    path = written(whole("model", place)[0], place) / MODEL
    described(lambda meta: meta["card"].update(card_fields))(path)
    for card in (checkpoint.read_info(path).card, checkpoint.load_numpy(path).card):
        assert {key: card.get(key) for key in text} == text
    for option in ([], ["--json"], ["--markdown"]):
        assert cli.main(["models", *option]) == 0
        message = capsys.readouterr()
        assert "m" in message.out
        assert not {"\u202e", "\x1b"} & {*message.out}
        assert message.err == ""


# ---- a file that changes while it is read, a disk without room -------------------------------------------


@pytest.mark.parametrize("load", [checkpoint.load, checkpoint.load_numpy])
@pytest.mark.parametrize("other", [{"cell": "rnn", "hidden_size": 20}, {"cell": "lstm"}])
def test_a_model_that_is_replaced_while_it_is_read_is_no_mixture(
    load: Callable[[Path], object], other: dict[str, Any], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = place.parent / MODEL, modelfile.read_header
    checkpoint.save(tiny("gru"), path)

    def replaced(path: Path) -> Any:
        content = real(path)
        checkpoint.save(tiny(**other), path)
        return content

    monkeypatch.setattr(checkpoint, "read_header", replaced)
    with pytest.raises(CheckpointError, match="it was replaced while it was read"):
        load(path)


def test_a_model_that_is_cut_off_while_it_is_read_does_not_end_the_server(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = written(whole("model", place)[0], place) / MODEL, safetensors.numpy.load

    def cut(data: bytes) -> Any:
        os.truncate(path, 10)
        return real(data)

    monkeypatch.setattr(safetensors.numpy, "load", cut)
    assert checkpoint.load_numpy(path).config.hidden_size == 12


SAVES: dict[str, Callable[[Path], object]] = {
    "a model": lambda path: checkpoint.save(tiny("gru", card=tiny_card()), path / MODEL),
    "a trace": lambda path: rnnviz.trace(tiny("gru"), TEXT).save(path / "trace.npz"),
    "a record": lambda path: record(NgramModel.fit(TEXT, order=3), None, path / "record", text=TEXT * 9),
}


@pytest.mark.parametrize("writer", SAVES)
def test_a_full_disk_is_one_sentence_and_keeps_files(writer: str, tmp_path: Path) -> None:
    """A limit on the size of files is what a full disk looks like."""
    (tmp_path / MODEL).write_bytes(b"as it was")
    before, limits = signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(RnnvizError, match="can't be written") as caught:
            SAVES[writer](tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    one_sentence(str(caught.value))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {MODEL: b"as it was"}
