"""What is no model, no text, no path or no number is refused in one plain sentence, whatever was asked."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

import rnnviz
from rnnviz import corpora, gradients, units
from tests.support import needs
from tests.support.refused import assert_one_sentence

PATH = Path("book.txt")
WRONG: dict[str, tuple[Any, ...]] = {
    "a model": (None, b"gru", ["timemachine-gru"], PATH, "timemachine-gru", 1.5),
    "a text": (None, b"machine", ["machine"], PATH, 1.5),
    "a text or texts": (None, b"machine", [b"machine"], PATH, 1.5),
    "a text to train on": (None, b"machine", [b"machine"], PATH, "book.txt", "timemachin", 1.5),
    "a path": (None, b"book.txt", ["book.txt"], PATH, "book.txt", 1.5),
    "a name": (None, b"timemachine-gru", ["timemachine-gru"], PATH, "absent", 1.5),
    "a number": (None, b"3", [3], PATH, "3", 1.5),
    "a character": (None, b"x", ["x"], PATH, 1.5),
    "a letter": (b"x", ["x"], PATH, "xy", 1.5),
    "a trace": (None, b"gru", ["machine"], PATH, "machine", 1.5),
    "a vector": (None, b"x", ["x"], PATH, "x", 1.5),
    "a recipe": (None, b"gru", ["gru"], PATH, "timemachine-gru", 1.5),
}
LONG, BOOK = "The Time Machine. " * 9, io.BytesIO(b"id,said\n7,It is late.\n")
CONFIG = rnnviz.TrainConfig(hidden_size=4, epochs=1)

CALLS: dict[str, tuple[str, Callable[..., Any]]] = {
    "trace: model": ("a model", lambda x: rnnviz.trace(x, "machine")),
    "trace: text": ("a text or texts", lambda x: rnnviz.trace(model(), x)),
    "trace: one of several": ("a text", lambda x: rnnviz.trace(model(), [x])),
    "trace: texts for no model": ("a model", lambda x: rnnviz.trace(x, ["machine"])),
    "states: model": ("a model", lambda x: rnnviz.states(x, "machine", output="h.npy")),
    "states: text": ("a number", lambda x: rnnviz.states(model(), 3 if x == "3" else x, output="h.npy")),
    "states: output": ("a text", lambda x: rnnviz.states(model(), "machine", output=x if x != PATH else b"")),
    "sample: model": ("a model", lambda x: rnnviz.sample(x, "The", 3)),
    "sample: prompt": ("a text", lambda x: rnnviz.sample(model(), x, 3)),
    "sample: length": ("a number", lambda x: rnnviz.sample(model(), "The", x)),
    "sampling_distribution": ("a number", lambda x: rnnviz.sampling_distribution(x)),
    "perplexity: model": ("a model", lambda x: rnnviz.perplexity(x, text="machine")),
    "perplexity: path": ("a path", lambda x: rnnviz.perplexity(model(), path=x)),
    "perplexity_of_rows: column": (
        "a name",
        lambda x: rnnviz.perplexity_of_rows(model(), BOOK, name="a.csv", column=x or 1),
    ),
    "perplexity_of_rows: model": ("a model", lambda x: rnnviz.perplexity_of_rows(x, BOOK, name="a.csv")),
    "perplexity: text": ("a text", lambda x: rnnviz.perplexity(model(), text=x)),
    "perplexity: context": ("a text", lambda x: rnnviz.perplexity(model(), text="machine", context=x)),
    "cluster": ("a name", lambda x: rnnviz.cluster(x if x != "timemachine-gru" else None).__enter__()),
    "live": ("a model", lambda x: rnnviz.live(x)),
    "live: text": ("a number", lambda x: rnnviz.live(model(), 3 if x in (None, "3") else x)),
    "load": ("a name", lambda x: rnnviz.load(x)),
    "load: device": ("a name", lambda x: rnnviz.load("timemachine-rnn", x)),
    "save: model": ("a model", lambda x: rnnviz.save(x, "own.safetensors")),
    "save: path": ("a path", lambda x: rnnviz.save(model(), x)),
    "save: title": ("a text", lambda x: rnnviz.save(model(), "own.safetensors", title=x)),
    "train: config": ("a recipe", lambda x: rnnviz.train(x, "machine")),
    "train: corpus": ("a text to train on", lambda x: rnnviz.train(CONFIG, x)),
    "fit: config": ("a recipe", lambda x: rnnviz.fit(x, "machine")),
    "fit: corpus": ("a text to train on", lambda x: rnnviz.fit(CONFIG, x)),
    "fit: watch_text": ("a text", lambda x: rnnviz.fit(CONFIG, "machine", watch_text=x)),
    "follow": ("a text", lambda x: rnnviz.follow(x)),
    "follow: watch_text": ("a text", lambda x: rnnviz.follow("mine", watch_text=x)),
    "follow: text": ("a text", lambda x: rnnviz.follow("mine", text=x)),
    "follow: total": ("a number", lambda x: rnnviz.follow("mine", total=x or 0)),
    "adapt": ("a model", lambda x: rnnviz.adapt(x, x, "abc")),
    "adapt_step": ("a recipe", lambda x: rnnviz.adapt_step(x, state={"h": np.zeros(2)}, characters="ab")),
    "adapt_step: state": ("a recipe", lambda x: rnnviz.adapt_step(print, state=x, characters="ab")),
    "adapt: characters": ("a text", lambda x: rnnviz.adapt(nn.GRU(1, 2), nn.Linear(2, 1), x)),
    "ModelConfig": ("a name", lambda x: rnnviz.ModelConfig(x, 5)),
    "ModelConfig: V": ("a number", lambda x: rnnviz.ModelConfig("gru", x)),
    "TrainConfig": ("a name", lambda x: rnnviz.TrainConfig(cell=x)),
    "TrainConfig: epochs": ("a name", lambda x: rnnviz.TrainConfig(epochs="many" if x == 1.5 else x)),
    "ngram": ("a text", lambda x: rnnviz.ngram(x, order=2)),
    "ngram: order": ("a number", lambda x: rnnviz.ngram("machine", order=x)),
    "compress: model": ("a model", lambda x: rnnviz.compress(x, "machine")),
    "compress: text": ("a text", lambda x: rnnviz.compress(model(), x)),
    "decompress: model": ("a model", lambda x: rnnviz.decompress(x, packed())),
    "decompress: data": ("a text", lambda x: rnnviz.decompress(model(), x)),
    "gradients.connectivity: model": ("a model", lambda x: gradients.connectivity(x, "machine")),
    "gradients.connectivity: text": ("a text", lambda x: gradients.connectivity(model(), x)),
    "gradients.jacobian: model": ("a model", lambda x: gradients.jacobian(x, "machine")),
    "gradients.jacobian: text": ("a text", lambda x: gradients.jacobian(model(), x)),
    "gradients.memory_length: model": ("a model", lambda x: gradients.memory_length(x, "machine")),
    "gradients.memory_length: text": ("a text", lambda x: gradients.memory_length(model(), x)),
    "gradients.attribute: model": ("a model", lambda x: gradients.attribute(x, "machine")),
    "gradients.attribute: text": ("a text", lambda x: gradients.attribute(model(), x)),
    "gradients.remaining: model": ("a model", lambda x: gradients.remaining(x, "machine")),
    "gradients.remaining: text": ("a text", lambda x: gradients.remaining(model(), x)),
    "gradients.spectrum: model": ("a model", lambda x: gradients.spectrum(x)),
    "gradients.jacobian: of": ("a name", lambda x: gradients.jacobian(model(), LONG, of=x)),
    **{
        f"gradients.{ask.__name__}: letter": ("a letter", lambda x, ask=ask: ask(model(), LONG, character=x))
        for ask in (gradients.attribute, gradients.connectivity, gradients.memory_length)
    },
    "corpora.describe": ("a name", lambda x: corpora.describe(x)),
    "corpora.fetch": ("a name", lambda x: corpora.fetch(x)),
    "corpora.open_corpus": ("a text to train on", lambda x: corpora.open_corpus(x)),
    "units.find: model": ("a model", lambda x: units.find(x, LONG, "vowel")),
    "units.find: text": ("a text", lambda x: units.find(model(), x, "vowel")),
    "units.find: target": ("a name", lambda x: units.find(model(), LONG, x)),
    "units.probe: source": ("a trace", lambda x: units.probe(x, "vowel")),
    "units.probe: target": ("a name", lambda x: units.probe(read(), x)),
    "units.match: model": ("a model", lambda x: units.match(x, "machine", 0, 3, LONG)),
    "units.match: text": ("a text", lambda x: units.match(model(), x, 0, 3, LONG)),
    "units.match: start": ("a number", lambda x: units.match(model(), "machine", x, 3, LONG)),
    "units.match: stop": ("a number", lambda x: units.match(model(), "machine", 0, x, LONG)),
    "units.match: corpus": ("a text", lambda x: units.match(model(), "machine", 0, 3, x, threshold=0.01)),
    "units.target: what": ("a name", lambda x: units.target(x, "machine")),
    "units.target: text": ("a text", lambda x: units.target("vowel", x)),
    "units.activations": ("a trace", lambda x: units.activations(x)),
    "units.gates": ("a trace", lambda x: units.gates(x)),
    "units.project": ("a trace", lambda x: units.project(x)),
    "units.project: k": ("a number", lambda x: units.project(read(), x)),
    "units.compare": ("a recipe", lambda x: units.compare(x, "machine")),
    "units.compare: model": ("a model", lambda x: units.compare([x], "machine")),
    "units.compare: text": ("a text", lambda x: units.compare([model()], x)),
    "units.ablate: model": ("a model", lambda x: units.ablate(x, "machine")),
    "units.ablate: text": ("a text", lambda x: units.ablate(model(), x)),
    "units.ablate: units": ("a name", lambda x: units.ablate(model(), "machine", units=x or "x")),
    "units.ablate: target": ("a name", lambda x: units.ablate(model(), "machine", target=x or "x")),
    "units.scan: model": ("a model", lambda x: units.scan(x, text="machine")),
    "units.scan: text": ("a text", lambda x: units.scan(model(), x)),
    "units.effect: model": ("a model", lambda x: units.effect(x, "machine", units.Zero(3))),
    "units.effect: text": ("a text", lambda x: units.effect(model(), x, units.Zero(3))),
    "units.effect: change": ("a recipe", lambda x: units.effect(model(), "machine", x)),
    "units.patch: model": ("a model", lambda x: units.patch(x, "machine", 0, "machine", 3)),
    "units.patch: source": ("a text", lambda x: units.patch(model(), x, 0, "machine", 3)),
    "units.patch: at": ("a number", lambda x: units.patch(model(), "machine", x, "machine", 3)),
    "units.patch: target": ("a text", lambda x: units.patch(model(), "machine", 0, x, 3)),
    "units.patch: to": ("a number", lambda x: units.patch(model(), "machine", 0, "machine", x)),
    "units.memory: model": ("a model", lambda x: units.memory(x, LONG)),
    "units.memory: text": ("a text", lambda x: units.memory(model(), x)),
    "units.memory: steps": ("a number", lambda x: units.memory(model(), LONG, steps=x)),
    "units.perturb: model": ("a model", lambda x: units.perturb(x, "machine", 1, "x")),
    "units.perturb: text": ("a text", lambda x: units.perturb(model(), x, 1, "x")),
    "units.perturb: at": ("a number", lambda x: units.perturb(model(), "machine", x, "x")),
    "units.perturb: character": ("a character", lambda x: units.perturb(model(), "machine", 1, x)),
    "units.Direction: name": ("a text", lambda x: units.Direction(x, [1.0])),
    "units.Direction: vector": ("a vector", lambda x: units.Direction("up", x)),
    "units.Clamp": ("a name", lambda x: units.Clamp(x, 1.0)),
    "units.Clamp: value": ("a vector", lambda x: units.Clamp(3, None if x == 1.5 else x)),
    "units.Zero": ("a name", lambda x: units.Zero(x)),
    "units.Scale": ("a name", lambda x: units.Scale(x, 1.0)),
    "units.Scale: value": ("a vector", lambda x: units.Scale(3, None if x == 1.5 else x)),
    "units.Edit": ("a name", lambda x: rnnviz.trace(model(), "ab", change=units.Edit(x))),
    "units.untrained": ("a model", lambda x: units.untrained(x)),
    "units.untrained: copies": ("a number", lambda x: units.untrained(model(), x)),
    "trace: change": ("a recipe", lambda x: rnnviz.trace(model(), "machine", change=[x])),
    "sample: change": ("a recipe", lambda x: rnnviz.sample(model(), "machine", 3, change=[x])),
}  # fmt: skip

_loaded: list[Any] = []


def model() -> Any:
    if not _loaded:
        _loaded.append(rnnviz.load("timemachine-rnn"))
    return _loaded[0]


def read() -> Any:
    return rnnviz.trace(model(), LONG)


def packed() -> bytes:
    needs.coder()
    return rnnviz.compress(rnnviz.ngram("machine" * 2, order=2), "machine")


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_type_is_one_sentence(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kind, function = CALLS[call]
    for value in WRONG[kind]:
        if call == "save: title" and value is None:
            continue
        with pytest.raises(rnnviz.RnnvizError) as caught:
            function(value)
        assert_one_sentence(str(caught.value))
        assert set(re.findall(r"\{(\w+)", caught.value.message)) <= set(caught.value.values)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", rnnviz.__all__)
def test_every_public_function_is_among_them(name: str) -> None:
    result_classes = {"Corpus", "Score", "Trace"}  # only given back
    value = getattr(rnnviz, name)
    if not callable(value) or name in result_classes or name == "available":
        return
    if isinstance(value, type) and issubclass(value, Exception):
        return
    assert any(call.split(":")[0].split(".")[0] == name for call in CALLS)


@pytest.mark.parametrize("name", units.__all__)
def test_every_function_of_units_is_among_them(name: str) -> None:
    assert any(call.split(":")[0] == f"units.{name}" for call in CALLS)


def test_a_models_name_says_how_to_load_it() -> None:
    with pytest.raises(rnnviz.ConfigError, match=re.escape("rnnviz.load('timemachine-gru')")):
        rnnviz.trace("timemachine-gru", "machine")


def test_a_str_is_the_text_and_a_file_is_named_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("It was past midnight.", "utf-8")
    for reads in (
        lambda text: rnnviz.perplexity(model(), text).characters,
        lambda text: rnnviz.perplexity(model(), text=text).characters,
        lambda text: len(rnnviz.trace(model(), text)),
        lambda text: len(rnnviz.states(model(), text, output="s.npy")),
        lambda text: rnnviz.units.scan(model(), text).characters,
    ):
        assert reads("book.txt") == 8, "whatever files lie around"
    with pytest.raises(rnnviz.ConfigError, match="received both"):
        rnnviz.perplexity(model(), Path("book.txt"), path="book.txt")
    for arguments in (Path("book.txt"), io.BytesIO(b"It was past midnight.")):
        assert rnnviz.perplexity(model(), arguments).characters == 21
    assert rnnviz.perplexity(model(), path="book.txt").characters == 21
    assert rnnviz.trace(model(), Path("book.txt")).text == "It was past midnight."
    assert [len(trace) for trace in rnnviz.trace(model(), ["ab", Path("book.txt")])] == [2, 21]
    assert units.find(model(), Path("book.txt"), "vowel", copies=0).characters == 21
    as_text = io.StringIO("It was past midnight.")
    with pytest.raises(rnnviz.TextError, match="open it in binary"):
        rnnviz.perplexity(model(), as_text)  # type: ignore[arg-type]


def test_a_corpus_in_place_of_its_text_is_told_where_the_text_is() -> None:
    corpus = corpora.open_corpus("machine")
    for call in (rnnviz.trace, rnnviz.perplexity):
        with pytest.raises(rnnviz.TextError, match=r"received a Corpus: write its \.text"):
            call(model(), corpus)  # type: ignore[operator]


@pytest.mark.parametrize("make", [rnnviz.train, rnnviz.fit])
def test_training_says_that_the_recipe_comes_first(make: Callable[..., Any]) -> None:
    with pytest.raises(rnnviz.ConfigError, match=r"a rnnviz\.TrainConfig, which comes first, then the text"):
        make("It was past midnight.", CONFIG)


@pytest.mark.parametrize("arguments", [(2, "machine"), ("machine",), (2,), ("machine", 2)])
def test_a_patch_without_its_places_shows_a_whole_call(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(
        rnnviz.ConfigError, match=r"units\.patch\(model, source, 12, into, 13\)|^at is a whole number"
    ):
        units.patch(model(), "The time", *arguments)


def test_a_network_in_place_of_its_layers_is_told_how_to_give_them() -> None:
    with pytest.raises(rnnviz.ConfigError, match=r"embedding=net\.embedding"):
        rnnviz.adapt(nn.Sequential(nn.Embedding(3, 4), nn.LSTM(4, 5)), "abc")  # type: ignore[arg-type]
