"""Training on texts that end: each is a row from the start symbol to its end, and padding costs nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import rnnviz
from rnnviz.errors import ConfigError, CorpusError
from rnnviz.lab.fit.batches import PADDING_LABEL, Texts
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lab.run import training_state
from rnnviz.networks.config import TrainConfig
from rnnviz.text import corpora

NAMES = [name * n for name in ("ab", "b", "cab", "abba") for n in (1, 2, 3)] + ["c"] * 4
RECIPE = TrainConfig(
    cell="gru", hidden_size=8, embedding_size=0, epochs=3, batch=4, steps=16, precision="float32"
)


def trainer(texts: Any = NAMES, **changes: Any) -> Trainer:
    return Trainer(replace(RECIPE, **changes), corpora.as_corpus(texts), device="cpu")


@pytest.mark.parametrize(("batch", "steps"), [(4, 6), (1, 64), (64, 64), (5, 1)])
def test_every_epoch_reads_each_text_whole_and_once(batch: int, steps: int) -> None:
    rows = [[*range(1, n + 1), 0] for n in (3, 1, 7, 2, 2, 0, 5, 3, 4)]
    ids = torch.tensor([id for row in rows for id in row])
    streams = Texts(ids, batch, steps, 99, end=0, seed=3)
    for offset in (0, 12345):
        found: list[list[int]] = []
        for piece in range(streams.pieces_an_epoch):
            begin = piece * steps
            inputs, labels = streams.between(begin, begin + steps, offset)
            assert inputs.shape == labels.shape
            assert len(labels) == streams.row_count == min(batch, len(rows))
            assert labels.shape[1] <= steps
            assert (labels >= 0).any(), "no piece is all padding: its mean would be of nothing"
            if streams.begins(begin, offset):
                assert (inputs[:, 0] == 99).all()
                current: list[list[int]] = [[] for _ in labels]
                found += current
            for row, before, after in zip(current, inputs.tolist(), labels.tolist(), strict=True):
                kept = [label for label in after if label != PADDING_LABEL]
                assert after[len(kept) :] == [PADDING_LABEL] * (len(after) - len(kept)), "padding comes last"
                assert before[: len(kept)] == [row[-1] if row else 99, *kept][: len(kept)]
                row += kept
        assert sorted(filter(None, found)) == sorted(rows)
    assert streams.characters == len(ids)
    assert streams.cut == sum(len(row) > steps for row in rows)


@pytest.mark.exact
def test_epochs_have_other_orders_and_a_resumed_run_the_same() -> None:
    """A resumed run promises every bit."""
    first, second = trainer(batch=2), trainer(batch=2)
    offsets = set()
    for _ in range(first.total_steps // 2):
        first.step()
        offsets.add(first.offset)
    assert len(offsets) > 1
    training_state.unpack(second, *training_state.pack(first))
    losses = [float(run.step()[0]) for run in (first, second) for _ in range(1)]
    while not first.done:
        losses += [float(run.step()[0]) for run in (first, second)]
    for ours, resumed in zip(losses[::2], losses[1::2], strict=True):
        assert ours == resumed
    assert first.characters == second.characters == round(RECIPE.epochs) * len(first.text)


@pytest.mark.parametrize("engine", ["torch", "numba"])
@pytest.mark.parametrize("cell", ["mlp", "rnn", "gru", "lstm", "mingru"])
def test_the_loss_and_its_gradients_are_those_of_the_texts_alone(cell: str, engine: Any) -> None:
    made = trainer(cell=cell, batch=64, steps=64, clip=None, optimiser="sgd", dropout_output=0.0)
    made.model.engine = engine
    text, vocabulary, model = made.text, made.model.vocabulary, made.model
    loss = torch.zeros(())
    for line in text.splitlines():
        ids = torch.tensor([[vocabulary.start, *vocabulary.encode(line), vocabulary.end]])
        logits, _ = model(ids[:, :-1])
        loss = loss + F.cross_entropy(logits[0], ids[0, 1:], reduction="sum")
    torch.autograd.backward(loss / len(text))
    expected = [p.grad.clone() for p in model.parameters()]
    found, _norm, characters = made.step()
    assert characters == len(text)
    assert float(found) == pytest.approx(float(loss.detach()) / len(text), rel=1e-5)
    for p, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(p.grad, gradient, rtol=1e-4, atol=1e-6)
    if model.embedding is not None:
        assert not p.grad[vocabulary.end].any(), "the end is never read"


def test_reports_count_no_padding() -> None:
    made = trainer(batch=4, learning_rate=1e-8)
    *_, report = made.run(sample_length=40, prompt="ccba")
    assert report.characters == 3 * len(made.text) == made.total_characters
    # The mean over all symbols of the text, its ends among them.
    assert report.train_perplexity == pytest.approx(
        rnnviz.perplexity(made.model, made.text).perplexity, rel=1e-4
    )
    assert len(report.sample) == 40
    assert "\n" in report.sample, "texts that end, one after another"
    assert "\nccba" not in report.sample, "each from its start: what follows a whole text is its end alone"


def test_a_text_longer_than_the_steps_is_said_and_goes_on_with_its_state() -> None:
    with pytest.warns(UserWarning, match="2 texts have more than 6 characters"):
        made = trainer(["abcdefghijk", "bcdefghijka", *NAMES[:2]], batch=2, steps=6)
    while True:  # to the second piece of the two long texts
        made.step()
        begin, _ = made.cuts.at(made.step_index)
        if not made.streams.begins(begin, made.offset):
            break
    assert made.carried_state is not None
    assert made.carried_state[0].abs().sum() > 0
    inputs, labels = made.streams.between(begin, begin + 6, made.offset)
    assert sorted(made.model.vocabulary.decode(row) for row in labels.numpy()) == ["ghijk\n", "hijka\n"]
    assert sorted(made.model.vocabulary.decode(inputs[:, 0].numpy())) == ["f", "g"]


@pytest.mark.parametrize("changes", [{"fresh_rows": 0.2}, {"partition": "random"}, {"truncation": "random"}])
def test_settings_of_streams_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="from their start to their end"):
        trainer(**changes)


def test_a_network_learns_where_names_end() -> None:
    *_, report = rnnviz.train(
        TrainConfig(cell="gru", hidden_size=16, epochs=60, batch=4, steps=16, learning_rate=0.02),
        NAMES,
        sample_length=0,
    )
    model = report.model
    assert model.vocabulary.by_line
    uniform = model.vocabulary.size
    assert rnnviz.perplexity(model, "".join(f"{name}\n" for name in NAMES)).perplexity < uniform / 2
    assert {rnnviz.sample(model, "c", 9, temperature=0)} <= {"", "ab", "abcab", "abcabcab"}


# ---- the corpora
# ---------------------------------------------------------------------------------------------


def test_texts_make_a_corpus() -> None:
    corpus = rnnviz.corpora.open_corpus(["Bob\r\n", "Ann", "", "Ann"], name="two")
    assert sorted(corpus.text.split(corpora.END)) == ["", "Ann", "Ann", "Bob\n"]
    assert (corpus.ends, corpus.name) == (True, "two")
    lines = rnnviz.corpora.open_corpus(["Bob", "Ann"])
    assert lines.text == rnnviz.corpora.open_corpus(["Ann", "Bob"]).text == "Ann\nBob\n", (
        "by their checksums, so that the held-out part is like the rest"
    )
    with pytest.raises(CorpusError, match=r"U\+0003"):
        rnnviz.corpora.open_corpus(["Bob", "A\x03nn"])
    with pytest.raises(CorpusError, match="empty"):
        rnnviz.corpora.open_corpus(["", ""])
    assert corpora.read("names").ends
    assert not corpora.read("timemachine").ends


@pytest.mark.parametrize(
    "texts", [[f"name {n}" for n in range(300)], [f"two\nlines {n}" for n in range(300)]]
)
def test_a_split_cuts_no_text(texts: list[str]) -> None:
    corpus = corpora.from_texts(texts)
    parts = [*vars(corpus.split()).values()]
    assert "".join(parts) == corpus.text
    assert all(part.endswith(("\n", "\x03")) for part in parts)
    lengths = np.cumsum([0, *map(len, parts)]) / len(corpus.text)
    assert [b - a for a, b in pairwise(lengths)] == pytest.approx([0.85, 0.05, 0.1], abs=0.01)
    assert not [*corpora.from_texts(["x" * 500]).split().held_out], "one text is all training"


def test_a_column_is_read_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text('name,n\nAnn,1\n"",2\nBob,3,4\n"A\x03",5\nBob,6\n', "utf-8")
    with pytest.warns(UserWarning, match="are left out") as warned:
        corpus = corpora.named_or_file(file, column="name")
    assert sorted(corpus.text.split()) == ["Ann", "Bob"]
    said = str(warned[0].message)
    for row in ("names.csv, row 1", "names.csv, row 2", "names.csv, row 3", "3 of 5 rows are left out"):
        assert row in said
    rows = tmp_path / "poems.jsonl"
    rows.write_text('{"poem": "one\\ntwo"}\n{"poem": "three"}\n', "utf-8")
    poems = rnnviz.corpora.open_corpus(rows, column="poem")
    assert sorted(poems.text.split("\x03")) == ["", "one\ntwo", "three"]
    with pytest.warns(UserWarning, match="2 of 2 rows"), pytest.raises(CorpusError, match="empty"):
        corpora.named_or_file(rows, column="else")
    with pytest.raises(ConfigError, match="has no column 'else'"):
        corpora.named_or_file(file, column="else")
    with pytest.raises(ConfigError, match="a column belongs to a file of rows"):
        corpora.named_or_file("names", column="name")
    text = tmp_path / "lines.txt"
    text.write_text("one\n\nthree", "utf-8")
    lines = corpora.named_or_file(text, lines=True)
    assert (sorted(lines.text.split()), lines.ends) == (["one", "three"], True)
