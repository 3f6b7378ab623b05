"""The sketch of a training text: it knows that text again, no other, and can't be read."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file

import rnnviz
from rnnviz.cli import main
from rnnviz.networks import checkpoint, contamination, modelfile
from rnnviz.networks.ngram import NgramModel
from rnnviz.text import corpora
from tests.support.models import TEXT, tiny, tiny_card

_RANDOM = random.Random(0)
WORDS = ["".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=_RANDOM.randint(1, 9))) for _ in range(2000)]


def words(seed: int, count: int) -> str:
    """Some text; two of different seeds share words but hardly any run of them."""
    return " ".join(random.Random(seed).choices(WORDS, k=count))


TRAINING, OTHER = words(1, 30_000), words(2, 30_000)


@pytest.fixture(scope="module")
def sketch() -> modelfile.Sketch:
    return contamination.sketch(TRAINING)


def test_the_training_text_is_known_and_another_is_not(sketch: modelfile.Sketch) -> None:
    assert contamination.share(TRAINING, sketch).share == 1
    unread = contamination.share(OTHER, sketch)
    assert unread.sampled > 5_000
    assert unread.share < 0.01


def test_half_the_text_is_half_known(sketch: modelfile.Sketch) -> None:
    half = len(TRAINING) // 3
    result = contamination.share(TRAINING[:half] + OTHER[:half], sketch)
    assert result.share == pytest.approx(0.5, abs=4 * result.error)
    assert result.error < 0.01


def test_shipped_corpora_are_told_apart() -> None:
    split = corpora.read("python-library").split()
    for name in ("python-lstm", "python-5gram"):
        card = checkpoint.read_info(checkpoint.find(name)).card
        if card["sha256"] != corpora.read("python-library").sha256:
            pytest.skip("this Python's library differs from the one the model was trained on")
        sketch = checkpoint.load(name).sketch
        assert contamination.share(split.train + split.validation, sketch).share == 1
        assert contamination.share(split.held_out, sketch).share < 0.1  # modules repeat lines of others
        assert contamination.share(corpora.read("python-docs").text, sketch).share < 0.03


def test_shipped_sketches_know_no_other_text() -> None:
    models, _ = checkpoint.available()
    assert models
    for info in models:
        sketch = modelfile.read_sketch(info.path)
        assert sketch is not None, info.name
        assert 10_000 < len(sketch.hashes) <= contamination.MAX_HASHES
        assert contamination.share(OTHER, sketch).share < 0.001


def test_line_wrapping_changes_no_share(sketch: modelfile.Sketch) -> None:
    wrapped = TRAINING.replace(" ", "\r\n    ")
    assert contamination.share(wrapped, sketch) == contamination.share(TRAINING, sketch)
    assert contamination.share(TRAINING.replace(" ", "\u3000"), sketch).share == 1
    assert contamination.share(TRAINING.upper(), sketch).share == 0


@given(cuts=st.lists(st.integers(0, 800), max_size=12), text=st.text(" \n\tab行😀", max_size=100))
def test_cuts_leave_share_unchanged(cuts: list[int], text: str) -> None:
    text = TRAINING[:400] + text + OTHER[:400]
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    sketch = contamination.sketch(TRAINING[:500])
    assert (
        contamination.share(pieces, sketch)
        == contamination.share(text, sketch)
        == contamination.share(iter(text), sketch)
    )


def test_the_sketch_is_small_whatever_the_text() -> None:
    for text in (TRAINING, words(3, 150_000), "".join(map(chr, range(0x20, 0xD7FF)))):
        sketch = contamination.sketch(text)
        assert contamination.MAX_HASHES * 0.8 < len(sketch.hashes) <= contamination.MAX_HASHES
        assert sketch.hashes.dtype == np.uint32
        assert (np.diff(sketch.hashes.astype(np.int64)) > 0).all()


@pytest.mark.parametrize("text", ["", "a", "x" * 23, " " * 100])
def test_text_shorter_than_ngram_has_no_share(text: str, sketch: modelfile.Sketch) -> None:
    share = contamination.share(text, sketch)
    assert (share, share.error) == (contamination.Contamination(0.0, 0), 1)
    empty = contamination.sketch(text)
    assert (len(empty.hashes), contamination.share(TRAINING, empty).share) == (0, 0)


def test_every_character_of_an_ngram_counts() -> None:
    text = TRAINING[:24]
    sketch = contamination.sketch(text)
    assert contamination.share(text, sketch) == contamination.Contamination(1.0, 1)
    for place in range(24):
        changed = text[:place] + "#" + text[place + 1 :]
        assert contamination.share(changed, sketch) == contamination.Contamination(0.0, 1)
    assert contamination.share(text[::-1], sketch).share == 0


def test_hashes_look_random(sketch: modelfile.Sketch) -> None:
    """Nothing of the text is in them: neither its bytes nor a tendency of any bit."""
    hashes = sketch.hashes
    raw = hashes.tobytes()
    encodings = ("utf-8", "utf-16-le", "utf-32-le")
    assert not any(TRAINING[i : i + 4].encode(e) in raw for e in encodings for i in range(0, 60_000, 7))
    share_set = ((hashes[:, None] >> np.arange(32, dtype=np.uint32)) & 1).mean(axis=0)
    assert np.abs(share_set - 0.5).max() < 5 * 0.5 / np.sqrt(len(hashes))


@pytest.mark.parametrize("kind", ["gru", "ngram"])
def test_loaded_and_saved_model_keeps_its_sketch(tmp_path: Path, kind: str, sketch: modelfile.Sketch) -> None:
    model: Any = tiny("gru") if kind == "gru" else NgramModel.fit(TEXT, order=3)
    first = checkpoint.save(model, tmp_path / "first.safetensors", sketch=sketch)
    second = rnnviz.save(rnnviz.load(first), tmp_path / "second.safetensors")
    assert (
        second.stat().st_size - first.stat().st_size <= 32
    )  # a longer name, how many parameters, and padding
    stored = modelfile.read_sketch(second)
    assert stored.modulus == sketch.modulus
    np.testing.assert_array_equal(stored.hashes, sketch.hashes)
    # Another text's takes its place where one is given.
    third = checkpoint.save(checkpoint.load(second), second, sketch=contamination.sketch(OTHER))
    np.testing.assert_array_equal(modelfile.read_sketch(third).hashes, contamination.sketch(OTHER).hashes)
    bare = checkpoint.save(model, first)
    assert checkpoint.load(bare).sketch is None
    assert modelfile.read_sketch(bare) is None


def test_adding_a_sketch_keeps_weights_and_card(tmp_path: Path) -> None:
    path = checkpoint.save(tiny("lstm", card=tiny_card()), tmp_path / "m.safetensors", half=True)
    before, info = load_file(path), checkpoint.read_info(path)
    for text in (TRAINING, OTHER):  # the second takes the first one's place
        modelfile.rewrite(path, path, sketch=contamination.sketch(text))
        stored = modelfile.read_sketch(path)
        np.testing.assert_array_equal(stored.hashes, contamination.sketch(text).hashes)
    after = load_file(path)
    del after["overlap.hashes"]
    assert {k: (w.dtype, w.tobytes()) for k, w in after.items()} == {
        k: (w.dtype, w.tobytes()) for k, w in before.items()
    }
    assert checkpoint.read_info(path).card == info.card


def test_ngram_training_stores_its_sketch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, book, path = words(5, 3_000), tmp_path / "book.txt", tmp_path / "counted.safetensors"
    book.write_text(text, "utf-8")
    train = ["train", "--corpus", str(book), "--name", "counted", "--cell", "ngram", "--order", "2"]
    assert main([*train, "--output", str(path)]) == 0
    sketch, read = modelfile.read_sketch(path), int(0.9 * len(text))
    assert contamination.share(text[:read], sketch).share == 1
    assert contamination.share(text[read:], sketch).share < 0.1
    before = path.read_bytes()
    assert main(["dev", "sketch", str(path), "--corpus", str(book)]) == 0
    assert path.read_bytes() == before  # what training stored, over again
    assert "hashes, one n-gram in" in capsys.readouterr().out


def test_sketch_command_refuses_another_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = checkpoint.save(tiny("gru", card=tiny_card()), tmp_path / "m.safetensors")
    before = path.read_bytes()
    assert main(["dev", "sketch", str(path), "--corpus", "machine"]) == 1
    assert "give the text it was trained on" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_sketch_command_adds_a_missing_sketch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = tiny_card(sha256=corpora.read("machine").sha256)
    path = checkpoint.save(tiny("gru", card=card), tmp_path / "m.safetensors")
    assert main(["dev", "sketch", str(path), "--corpus", "machine"]) == 0
    assert "0 hashes" in capsys.readouterr().out  # the word is shorter than an n-gram
    assert modelfile.read_sketch(path) is not None
