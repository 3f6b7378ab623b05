"""Texts that end: the end is one of the symbols, and behind it a text begins as the first one did."""

import io
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rnnviz
from rnnviz.errors import ConfigError
from rnnviz.findings import Number
from rnnviz.networks.checkpoint import load_numpy, save
from rnnviz.networks.modelfile import read_header
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.scoring.rows import RowScore
from rnnviz.text.vocabulary import END, UNICODE_SCALAR_VALUES, Vocabulary
from tests.support.models import TEXT, tiny

CELLS = ("mlp", "rnn", "gru", "lstm", "mingru")
NAMES = "ab\nabb\nb\nab\n"
LINES = ["The machine", "", "of brass\t", "x", "half of us jumped."]
TOGETHER = "".join(f"{line}\n" for line in LINES)


def ended(cell: str, **options: Any) -> Any:
    return tiny(cell, ends=True, name=f"{cell}-ends", **options)


def mass(model: Any, letters: str, length: int) -> float:
    """The probability of all texts of up to `length` symbols, <unk> among them, and of all that go on from
    there.
    """
    V, total = model.vocabulary, 0.0
    inside = [0, *V.encode(letters).tolist()]
    for n in range(length + 1):
        for ids in itertools.product(inside, repeat=n):
            total += math.exp(model.scorer().advance(np.array([*ids, V.end])).sum())
            if n == length:
                on = model.scorer().advance(np.array(ids, np.int64)).sum()
                end = model.scorer().advance(np.array([*ids, V.end]))[-1]
                total += math.exp(on) * (1 - math.exp(end))
    return total


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_the_probabilities_of_all_texts_sum_to_one(order: int) -> None:
    assert mass(NgramModel.fit(NAMES, order=order, ends=True), "ab", 5) == pytest.approx(1, abs=1e-12)


def test_a_bigram_has_the_probabilities_of_its_formula() -> None:
    model = NgramModel.fit("ab\nb\nb\n", order=2, ends=True)
    # V = 4: <unk>, the end, a, b. The 2-grams are ^a, ^b twice, ab, and b$ three times; none crosses two
    # texts. Symbols by the different ones before them: a 1, b 2, the end 1, which equation 26 discounts by
    # 0.5 (of 1), and 2 by 1, as no count is 3. Of 2-grams it discounts 1 and 2 by 0.5, and 3 by 1.5, as no
    # count is 4.
    kept = {"a": 1 - 0.5, "b": 2 - 1.0, END: 1 - 0.5}
    single = {symbol: (n + 2.0 / 4) / 4 for symbol, n in kept.items()}
    first = {"a": (1 - 0.5 + single["a"]) / 3, "b": (2 - 0.5 + single["b"]) / 3, END: single[END] / 3}
    last = (3 - 1.5 + 1.5 * single[END]) / 3
    costs = rnnviz.perplexity(model, "b", ended=True).nll
    assert costs == pytest.approx(-math.log(first["b"] * last))
    assert np.exp(model.log_probs())[model.vocabulary.encode(f"ab{END}")] == pytest.approx([*first.values()])
    # What follows an end is what begins a text.
    np.testing.assert_array_equal(model.log_probs(model.vocabulary.encode("b\n")), model.log_probs())


def test_a_beginning_counts_as_often_as_texts_begin_so() -> None:
    model = NgramModel.fit("ab\nab\nab\nb\n", order=3, ends=True)
    # Symbols by the different ones before them: a 1, b 2, the end 1, of which 0.5, 1 and 0.5 are taken.
    # 2-grams: ^a 3 and ^b 1, as often as they stand there; ab 1 and b$ 2, by what precedes. Of 3, 1, 1 and 2
    # are taken 1.5, 0.5, 0.5 and 0.5.
    single = {"a": (0.5 + 2.0 / 4) / 4, "b": (1.0 + 2.0 / 4) / 4, END: (0.5 + 2.0 / 4) / 4}
    kept = {"a": 3 - 1.5, "b": 1 - 0.5, END: 0.0}
    expected = {symbol: (kept[symbol] + 2.0 * single[symbol]) / 4 for symbol in kept}
    assert np.exp(model.log_probs())[model.vocabulary.encode(f"ab{END}")] == pytest.approx(
        [*expected.values()]
    )


@given(st.text("ab\n", max_size=30), st.integers(1, 6), st.integers(0, 30))
def test_an_ngram_reads_texts_together_as_one_by_one(text: str, order: int, cut: int) -> None:
    model = NgramModel.fit(NAMES, order=order, ends=True)
    ids = model.vocabulary.encode(text)
    alone = [model.score(model.vocabulary.encode(line)) for line in text.splitlines(keepends=True)]
    expected = np.concatenate([np.empty(0), *alone])
    scorer = model.scorer()
    pieces = np.concatenate([scorer.advance(ids[:cut]), scorer.advance(ids[cut:])])
    rows = model.predictions(ids)
    for found in (model.score(ids), pieces, rows[np.arange(len(ids)), ids], model.ranked(ids).log_p):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(rows).sum(axis=1), 1)


def test_an_ngram_is_stored_and_shortened(tmp_path: Path) -> None:
    model = rnnviz.ngram(NAMES, order=5, ends=True)
    path = save(model, tmp_path / "names.safetensors")
    assert read_header(path)[1]["ends"] is True
    loaded, ids = load_numpy(path), model.vocabulary.encode(NAMES)
    assert loaded.vocabulary == model.vocabulary
    np.testing.assert_array_equal(loaded.score(ids), model.score(ids))
    for order in (1, 2, 4):
        shorter = NgramModel.fit(NAMES, order=order, ends=True)
        np.testing.assert_array_equal(loaded.shortened(order).score(ids), shorter.score(ids))
    tensors = dict(model.to_tensors())
    tensors["initial.3"] = tensors["initial.3"][1:]
    with pytest.raises(rnnviz.errors.CheckpointError, match="begin a text"):
        NgramModel.from_tensors(tensors, model.vocabulary, 5)


@pytest.mark.parametrize(
    "options", [{}, {"embedding_size": 0}, {"layers": 2, "embedding_size": 12, "tied": True}]
)
@pytest.mark.parametrize("cell", CELLS)
def test_a_text_doesnt_depend_on_the_one_before_it(cell: str, options: dict[str, Any]) -> None:
    model = ended(cell, **options)
    whole = rnnviz.trace(model, TOGETHER)
    alone = [rnnviz.trace(model, f"{line}\n") for line in LINES]
    np.testing.assert_allclose(whole.nll, np.concatenate([trace.nll for trace in alone]), rtol=1e-5)
    begin = 0
    for line, trace in zip(LINES, alone, strict=True):
        for name, values in {"hidden": whole.hidden, **whole.gates}.items():
            expected = {"hidden": trace.hidden, **trace.gates}[name][: len(line)]
            np.testing.assert_allclose(values[begin : begin + len(line)], expected, atol=1e-6)
        begin += len(line) + 1
    ends = np.flatnonzero(whole.ids == model.vocabulary.end)
    for values in whole.gates.values():  # an end is read as the start symbol, from zeros
        np.testing.assert_allclose(values[ends], np.repeat(values[ends[:1]], len(ends), axis=0), rtol=1e-4)
    # Row 0 of the predictions stands behind every end.
    np.testing.assert_allclose(whole.log_probs[[12, 13, 23]], whole.log_probs[[0, 0, 0]], atol=1e-6)
    reader = NetworkReader(model.weights)
    reader.read(np.array([model.vocabulary.start]))
    for id in model.vocabulary.encode(TOGETHER):  # a symbol at a time
        reader.read(np.array([id]))
    np.testing.assert_allclose(reader.log_probs(), whole.log_probs[-1], atol=1e-6)


@pytest.mark.parametrize("cell", ["gru", "mingru"])
def test_neither_the_cut_nor_the_batch_changes_a_perplexity(cell: str) -> None:
    model, text = ended(cell), TEXT * 60  # read as stretches side by side
    score = rnnviz.perplexity(model, text)
    exact = rnnviz.perplexity(model, text, precise=True)
    assert score.perplexity == pytest.approx(exact.perplexity, rel=1e-6)
    assert (score.ends, score.characters) == (300, len(text))
    line = rnnviz.perplexity(model, TEXT.split("\n")[0], ended=True, precise=True)
    assert exact.nll == pytest.approx(300 * line.nll, rel=1e-9)
    batch = rnnviz.trace(model, [TOGETHER, "x", "half\nThe", ""])
    for trace, text in zip(batch, [TOGETHER, "x", "half\nThe", ""], strict=True):
        np.testing.assert_allclose(trace.nll, rnnviz.trace(model, text).nll, rtol=1e-4)


def test_the_end_counts_once_and_only_where_it_is_said() -> None:
    model = ended("gru")
    open_, closed = (rnnviz.perplexity(model, "The lever", ended=said) for said in (False, True))
    end = rnnviz.trace(model, "The lever").log_probs[-1, model.vocabulary.end]
    assert closed.nll == pytest.approx(open_.nll - end, rel=1e-6)
    assert (open_.characters, open_.ends, closed.characters, closed.ends) == (9, 0, 10, 1)
    assert closed.perplexity == pytest.approx(math.exp(closed.nll / 10), rel=1e-6)
    # Without its end it is what a network without one is compared with.
    assert closed.bits_per_character_without_ends == pytest.approx(open_.bits_per_character, rel=1e-6)
    assert open_.bits_per_character_without_ends is None
    (said,) = [sentence for sentence in closed.sentences() if sentence.code == "score.ends"]
    assert said.values["without"] == Number(closed.bits_per_character_without_ends, digits=3)
    assert rnnviz.perplexity(model, "The lever\n", ended=True).nll == pytest.approx(closed.nll, rel=1e-6)
    assert (closed.bytes, closed.words) == (9, 2)
    assert closed.to_json()["ends"] == 1
    assert not {"ends", "bits_per_character_without_ends"} & {*open_.to_json()}
    codes = [[sentence.code for sentence in score.sentences()] for score in (open_, closed)]
    assert ["score.ends" in said for said in codes] == [False, True]
    trace = rnnviz.trace(model, "The lever", ended=True)
    assert (len(trace), trace.text[-1]) == (10, END)
    assert trace.nll.sum() == pytest.approx(closed.nll, rel=1e-5)
    assert [len(t) for t in rnnviz.trace(model, ["x", "The"], ended=True)] == [2, 4]
    for ask in (rnnviz.perplexity, rnnviz.trace):
        with pytest.raises(ConfigError, match="doesn't know where a text ends"):
            ask(tiny("gru"), "The lever", ended=True)


def test_rows_have_their_ends(tmp_path: Path) -> None:
    model, plain = ended("lstm"), tiny("lstm")
    file, rows = tmp_path / "rows.jsonl", list[RowScore]()
    file.write_text('{"t": "The lever"}\n{"t": "of \\u0003 us"}\n{"t": ""}\n{"t": "half"}\n', "utf-8")
    score = rnnviz.perplexity_of_rows(model, file, column="t", on_row=rows.append)
    alone = [rnnviz.perplexity(model, text, ended=True) for text in ("The lever", "half")]
    assert [row.nll for row in rows if row.fault is None] == pytest.approx([s.nll for s in alone], rel=1e-4)
    assert (score.characters, score.ends, score.bytes) == (15, 2, 13)
    assert score.nll == pytest.approx(sum(s.nll for s in alone), rel=1e-4)
    assert score.rows_left_out == {"broken": 1, "empty": 1}
    without = rnnviz.perplexity_of_rows(model, file, column="t", ended=False)
    assert (without.ends, without.characters) == (1, 20)  # one stands in the text itself
    assert rnnviz.perplexity_of_rows(plain, file, column="t").ends == 0
    with pytest.raises(ConfigError, match="doesn't know where a text ends"):
        rnnviz.perplexity_of_rows(plain, file, column="t", ended=True)


@pytest.mark.parametrize("model", [ended("gru"), NgramModel.fit(NAMES, order=3, ends=True)])
def test_a_sample_stops_at_the_end(model: Any) -> None:
    samples = [rnnviz.sample(model, "", 200, seed=seed) for seed in range(60)]
    assert {END, "\n"}.isdisjoint("".join(samples))
    assert sum(len(sample) < 200 for sample in samples) > 30
    # As often as it should: a sample is empty where the end comes first.
    empty = math.exp(model.scorer().advance(np.array([model.vocabulary.end]))[0])
    assert samples.count("") / 60 == pytest.approx(empty, abs=0.2)
    again = "".join(rnnviz.sample(model, "ab\n", 200, seed=3))
    assert again == rnnviz.sample(model, "", 200, seed=3), "behind an end a text begins"


@pytest.mark.parametrize("model", [ended("gru"), NgramModel.fit(TEXT, order=3, ends=True)])
def test_files_say_so_and_what_is_packed_comes_back(model: Any, tmp_path: Path) -> None:
    path = save(model, tmp_path / "ends.safetensors")
    loaded = load_numpy(path)
    assert (loaded.vocabulary, read_header(path)[1]["ends"]) == (model.vocabulary, True)
    expected = rnnviz.perplexity(model, TOGETHER).perplexity
    assert rnnviz.perplexity(loaded, TOGETHER).perplexity == pytest.approx(expected, rel=1e-6)
    assert "ends" not in read_header(save(tiny("gru"), tmp_path / "plain.safetensors"))[1]
    assert rnnviz.decompress(loaded, rnnviz.compress(loaded, TOGETHER)) == TOGETHER


def test_a_trace_is_kept_with_its_ends() -> None:
    trace = rnnviz.trace(ended("lstm"), TOGETHER)
    kept = rnnviz.Trace.load(io.BytesIO(trace.to_bytes()))
    assert kept.vocabulary == trace.vocabulary
    np.testing.assert_allclose(kept.log_probs, trace.log_probs, atol=1e-6)
    np.testing.assert_allclose(kept.gates["forget"], trace.gates["forget"], atol=1e-7)


def test_vocabularies_know_the_end() -> None:
    lines, poems = (
        Vocabulary.from_text("Ann\nBob\n", ends=True),
        Vocabulary.from_text(f"a\nb{END}", ends=True),
    )
    assert (lines.by_line, poems.by_line, Vocabulary.from_text("a\n").by_line) == (True, False, False)
    assert lines.encode("A\nB").tolist() == lines.encode(f"A{END}B").tolist()
    assert lines.decode(lines.encode("Ann\n")) == "Ann\n"
    assert poems.decode(poems.encode(f"a\nb{END}")) == f"a\nb{END}"
    assert lines.symbol(lines.end or 0) == END
    assert Vocabulary.from_text("a\n").end is None
    # <unk> stands for all characters but those that are read as something else, a line end among them.
    assert lines.unknown_cost == math.log(UNICODE_SCALAR_VALUES - 7)
    assert poems.unknown_cost == math.log(UNICODE_SCALAR_VALUES - 4)
    assert Vocabulary.from_text("ab" * 9000 + "\n", ends=True).ends, "one text has one end, which isn't rare"
    assert Vocabulary.from_json(lines.to_json(), ends=True) == lines
    with pytest.raises(ConfigError, match="U\\+0003"):
        Vocabulary(("a", "b"), ends=True)
