"""Model files as a stranger may leave them in a folder of models: one of them costs itself, not the list."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save as to_bytes

import rnnviz
from rnnviz.errors import CheckpointError, RnnvizError
from rnnviz.networks import checkpoint, header, modelfile
from tests.conftest import tiny, tiny_card


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one sound model, "sound", which is all there is."""
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    checkpoint.save(tiny("rnn", card=tiny_card()), tmp_path / "sound.safetensors")
    return tmp_path


def described(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a model file says of itself."""
    _, meta, _ = modelfile.read_header(path)
    change(meta)
    path.write_bytes(to_bytes(modelfile.read_tensors(path), metadata={"rnnviz": json.dumps(meta)}))


def copied(folder: Path, change: Callable[[dict[str, Any]], object], name: str = "odd") -> Path:
    path = folder / f"{name}.safetensors"
    shutil.copy(folder / "sound.safetensors", path)
    described(path, change)
    return path


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "odd.safetensors")


def nameless(folder: Path) -> None:
    shutil.copy(folder / "sound.safetensors", os.fsencode(folder) + b"/odd\xff.safetensors")


def sparse(folder: Path) -> None:
    with (folder / "odd.safetensors").open("wb") as file:
        file.truncate(1 << 42)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (pipe, "no regular file"),
    "a device": (lambda f: (f / "odd.safetensors").symlink_to("/dev/zero"), "no regular file"),
    "terabytes of nothing": (sparse, "and the limit is 2,147,483,648"),
    "a folder": (lambda f: (f / "odd.safetensors").mkdir(), "no regular file"),
    "a link to nothing": (lambda f: (f / "odd.safetensors").symlink_to("/nowhere"), "No such file"),
    "a link to itself": (lambda f: (f / "odd.safetensors").symlink_to(f / "odd.safetensors"), "symbolic"),
    "a name that is no text": (nameless, r"odd\udcff.safetensors has a name that can't be shown as it is"),
    "a name that turns round what follows": (
        lambda f: shutil.copy(f / "sound.safetensors", f / "gp\u202ej.safetensors"),
        r"gp\u202ej.safetensors has a name that can't be shown as it is",
    ),
    "a card of 5 MB": (
        lambda f: copied(f, lambda m: m["card"].update(notes="x" * 5 * 10**6)),
        "limit is 4,194,304",
    ),
    "a card of 1 MB": (
        lambda f: copied(f, lambda m: m["card"].update(title="x" * 10**6)),
        "limit is 262,144",
    ),
    "an unknown cell": (lambda f: copied(f, lambda m: m["config"].update(cell="x" * 10**6)), "damaged"),
    "a cell that is a list": (lambda f: copied(f, lambda m: m["config"].update(cell=[1])), "cell is one of"),
}


@pytest.mark.skipif(os.name != "posix", reason="pipes, devices and names that are bytes")
@pytest.mark.parametrize("kind", HOSTILE)
def test_one_damaged_file_is_named_and_the_others_are_listed(folder: Path, kind: str) -> None:
    make, reason = HOSTILE[kind]
    make(folder)
    models, (damaged,) = checkpoint.available()
    assert [model.name for model in models] == ["sound"]
    assert reason in damaged.reason
    assert len(damaged.reason) < 1000
    damaged.reason.encode()


def test_half_a_surrogate_pair_in_a_card_is_shown_as_what_it_is(folder: Path) -> None:
    odd = {"title": "a \ud800 title", "\udcff": 1, "recipe": {"x\udfff": ["\udc80"]}}
    path = copied(folder, lambda meta: meta["card"].update(odd))
    card = next(model.card for model in checkpoint.available()[0] if model.name == "odd")
    json.dumps(card, ensure_ascii=False).encode()
    assert card["title"] == "a \ufffd title"
    assert checkpoint.load_numpy(path).card["title"] == card["title"]


def test_a_card_shows_no_more_than_it_says(folder: Path) -> None:
    hostile = {
        "title": "cod.\u202egpj" + "\x1b[2J" + "x" * 1000,
        "command": "rnnviz\u2066\ntrain",
        "versions": {"torch\u200b": "2\u202e"},
        "example": "‏עברית‏",
    }
    path = copied(folder, lambda meta: meta["card"].update(hostile))
    card = checkpoint.read_info(path).card
    assert card["title"].startswith(r"cod.\u202egpj\x1b[2Jxxx")
    assert (len(card["title"]), "…" in card["title"]) == (100, True)
    assert card["command"] == "rnnviz\\u2066\ntrain"
    assert card["versions"] == {r"torch\u200b": r"2\u202e"}
    assert card["example"] == hostile["example"], "a text to read"


def test_an_older_cards_command_shows_the_names_of_its_files_alone(folder: Path) -> None:
    said = "python -m rnnviz train --corpus '/home/me/my texts/diary.txt' --output=/tmp/me/x.safetensors"
    path = copied(folder, lambda meta: meta["card"].update(command=said, units={"command": said}))
    card = checkpoint.read_info(path).card
    shown = "python -m rnnviz train --corpus diary.txt --output=x.safetensors"
    assert (card["command"], card["units"]["command"]) == (shown, shown)


def test_a_normaliser_that_there_is_not_is_refused_in_short(folder: Path) -> None:
    path = copied(folder, lambda meta: meta.update(normaliser="9" * 5000))
    with pytest.raises(
        CheckpointError, match=r"not a usable rnnviz model: no normaliser is called '9{100}'; "
    ):
        checkpoint.load_numpy(path)


def test_entries_of_the_wrong_kind_are_left_out_of_a_card(folder: Path) -> None:
    wrong = {
        "title": {"a": 1}, "corpus": ["x"], "example": 5, "characters": 1e999, "versions": "3.11",
        "recipe": {"epochs": 10**400}, "ngram": ["x"],
    }  # fmt: skip
    held_out = {"perplexity": 4.0, "ngram": 5.0, "ngram_name": ["x"]}
    copied(folder, lambda meta: meta["card"].update(wrong, language="en", held_out=held_out))
    card = next(model.card for model in checkpoint.available()[0] if model.name == "odd")
    assert not {*wrong, "held_out"} & set(card)
    assert card["language"] == "en"


def test_a_header_is_read_once_until_its_file_changes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken.safetensors").write_bytes(b"not a model")
    read: list[str] = []
    real = header.read_header

    def counted(path: Path) -> Any:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(checkpoint, "read_header", counted)
    first = checkpoint.available()
    assert sorted(read) == ["broken.safetensors", "sound.safetensors"]
    assert checkpoint.available() == first
    assert len(read) == 2
    checkpoint.save(tiny("gru", card={"title": "Another"}), folder / "sound.safetensors")
    (folder / "broken.safetensors").write_bytes(b"not a model either")
    (model,), (damaged,) = checkpoint.available()
    assert (model.kind, model.card["title"]) == ("gru", "Another")
    assert damaged.path.name == "broken.safetensors"
    assert len(read) == 4


@pytest.mark.parametrize("load", [checkpoint.load, checkpoint.load_numpy])
@pytest.mark.parametrize(
    "other", [{"cell": "rnn", "hidden_size": 20}, {"cell": "lstm"}], ids=["size", "cell"]
)
def test_a_file_that_is_replaced_while_it_is_read_is_no_mixture(
    folder: Path, load: Callable[[Path], object], other: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = folder / "sound.safetensors", header.read_header

    def replaced(path: Path) -> Any:
        found = real(path)
        checkpoint.save(tiny(**other), path)
        return found

    monkeypatch.setattr(checkpoint, "read_header", replaced)
    with pytest.raises(CheckpointError, match="it was replaced while it was read"):
        load(path)


def test_weights_are_not_mapped_as_a_file_cut_off_meanwhile_would_end_the_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = folder / "sound.safetensors", safetensors.numpy.load

    def cut(data: bytes) -> Any:
        os.truncate(path, 10)
        return real(data)

    monkeypatch.setattr(safetensors.numpy, "load", cut)
    assert checkpoint.load_numpy(path).config.hidden_size == 12
    assert path.stat().st_size == 10


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=20)
    | st.sampled_from(["\ud800", 10**400, "ngram", "gru", -1, 1e999]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=5,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every entry of nested objects and lists; of a list the first three alone."""
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    return [way for key, one in inside for way in [(*here, key), *places(one, (*here, key))]]


def put(value: Any, way: tuple[Any, ...], what: Any) -> None:
    for key in way[:-1]:
        value = value[key]
    value[way[-1]] = what


def used(path: Path) -> None:
    """Do with a file in a models folder all that a visit does."""
    models, damaged = checkpoint.available()
    assert len(models) + len(damaged) == 2
    assert "sound" in [model.name for model in models]
    for one in damaged:
        one.reason.encode()
    for model in models:
        json.dumps(model.card, ensure_ascii=False, allow_nan=False).encode()
    try:
        checkpoint.load_numpy(path)
        modelfile.read_sketch(path)
    except RnnvizError:
        return


@pytest.mark.parametrize("kind", ["network", "ngram"])
@given(data=st.data())
def test_whatever_a_file_says_of_itself_only_words_come_out(
    kind: str, data: st.DataObject, models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    source = models_folder / ("tiny-3gram.safetensors" if kind == "ngram" else "tiny-gru.safetensors")
    shutil.copy(source, tmp_path / "sound.safetensors")
    path = tmp_path / "odd.safetensors"
    shutil.copy(source, path)

    def change(meta: dict[str, Any]) -> None:
        for _ in range(data.draw(st.integers(1, 2))):
            way = data.draw(st.sampled_from(places(meta)))
            put(meta, way, data.draw(JSON))

    described(path, change)
    used(path)


@pytest.mark.parametrize("kind", ["network", "ngram"])
@given(data=st.data())
def test_whatever_its_tensors_are_only_words_come_out(
    kind: str, data: st.DataObject, models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    source = models_folder / ("tiny-3gram.safetensors" if kind == "ngram" else "tiny-gru.safetensors")
    shutil.copy(source, tmp_path / "sound.safetensors")
    path = tmp_path / "odd.safetensors"
    whole = source.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    raw = json.loads(whole[8 : 8 + length])
    way = data.draw(st.sampled_from([w for w in places(raw) if w[0] != "__metadata__"]))
    put(raw, way, data.draw(JSON))
    written = json.dumps(raw).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + whole[8 + length :])
    used(path)


NOT_FINITE = st.sampled_from([float("nan"), float("inf"), float("-inf"), 3e38, -3e38, 1e-45])


@given(which=st.integers(0, 20), at=st.integers(0, 10**6), value=NOT_FINITE, half=st.booleans())
def test_weights_that_are_no_numbers_are_refused_and_the_largest_are_read(
    which: int, at: int, value: float, half: bool, models_folder: Path, tmp_path: Path
) -> None:
    source, path = models_folder / "tiny-gru.safetensors", tmp_path / "odd.safetensors"
    tensors = modelfile.read_tensors(source)
    name = sorted(tensors)[which % len(tensors)]
    with np.errstate(over="ignore"):
        changed = tensors[name].astype(np.float16 if half else np.float32)
        changed.flat[at % changed.size] = value
    modelfile.write_model(path, {**tensors, name: changed}, modelfile.read_header(source)[1], None)
    if not np.isfinite(changed).all():
        with pytest.raises(CheckpointError, match="values that are not finite"):
            checkpoint.load(path)
        return
    with np.errstate(all="ignore"):
        rnnviz.trace(checkpoint.load_numpy(path), "The Time")


SIZES = st.sampled_from([0, -1, 2**31, 2**62, 2**64, 10**30]) | st.integers(0, 300)


@given(
    which=st.integers(0, 20),
    shape=st.lists(SIZES, max_size=5),
    dtype=st.sampled_from(["F32", "F16", "BF16", "F64", "I64", "U8", "BOOL", "F8_E4M3", "x"]),
    offsets=st.tuples(st.integers(-10, 5000), st.integers(-10, 5000)) | st.none(),
    size=SIZES | st.none(),
    vocabulary=st.lists(st.text(st.characters(codec=None), max_size=2), max_size=5) | st.none(),
)
def test_whatever_its_header_promises_only_words_come_out(
    which: int,
    shape: list[int],
    dtype: str,
    offsets: tuple[int, int] | None,
    size: int | None,
    vocabulary: list[str] | None,
    models_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shapes of any product, types, tensors that overlap or lie elsewhere; huge networks, other alphabets."""
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    source, path = models_folder / "tiny-gru.safetensors", tmp_path / "odd.safetensors"
    shutil.copy(source, tmp_path / "sound.safetensors")
    whole = source.read_bytes()
    (length,) = struct.unpack("<Q", whole[:8])
    raw = json.loads(whole[8 : 8 + length])
    meta = json.loads(raw["__metadata__"]["rnnviz"])
    entry = raw[sorted(set(raw) - {"__metadata__"})[which % (len(raw) - 1)]]
    entry.update(shape=shape, dtype=dtype)
    if offsets is not None:
        entry["data_offsets"] = list(offsets)
    if size is not None:  # the network that the shape would belong to
        meta["config"].update(hidden_size=size)
    if vocabulary is not None:
        meta.update(vocabulary=vocabulary)
    raw["__metadata__"]["rnnviz"] = json.dumps(meta)
    written = json.dumps(raw).encode()
    path.write_bytes(struct.pack("<Q", len(written)) + written + whole[8 + length :])
    used(path)


@given(data=st.data())
def test_whatever_bytes_are_changed_only_words_come_out(
    data: st.DataObject, models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    source = models_folder / data.draw(st.sampled_from(["tiny-3gram.safetensors", "tiny-gru.safetensors"]))
    shutil.copy(source, tmp_path / "sound.safetensors")
    whole = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1) | st.integers(0, 1200))
        whole[at] = data.draw(st.integers(0, 255))
    path = tmp_path / "odd.safetensors"
    path.write_bytes(whole[: data.draw(st.integers(1, len(whole)) | st.just(len(whole)))])
    used(path)
