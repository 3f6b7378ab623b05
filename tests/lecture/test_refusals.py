"""What a lecture step cannot show is refused in one plain sentence."""

from functools import cache

import pytest

from rnnviz.errors import ConfigError, CorpusError, EmptyTextError
from rnnviz.lecture import (
    backwards,
    cost,
    counts,
    linear,
    long_gap,
    memorising,
    memoryless,
    perplexity,
    product,
    recurrence,
    shannon,
    states,
    summary,
    tokens,
    votes,
    word,
    writing,
)
from rnnviz.lecture.machine import Machine, numbers
from rnnviz.lecture.many_networks import Networks
from rnnviz.lecture.questions import QUESTIONS
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel
from tests.conftest import TEXT, tiny
from tests.refused import Refusals, refused

RNN = tiny("rnn")


@cache
def shipped() -> NumpyModel:
    found = load_numpy("timemachine-rnn")
    assert isinstance(found, NumpyModel)
    return found


def factors() -> product.Factors:
    return product.Factors.drawn(1)


REFUSED: Refusals = {
    **{
        f"backwards.dial: {radius}": (
            lambda radius=radius: backwards.dial(radius), ConfigError, "from above 0 to 10",
        )
        for radius in (0.0, -1.0, 11.0)
    },
    "Chain.truncated": (lambda: backwards.chain(0.3, 2).truncated(13), ConfigError, "1 to 12 steps"),
    "cost.measured: cut": (lambda: cost.measured(20, 0, repeats=1), ConfigError, "received 0 and 1"),
    "cost.measured: repeats": (lambda: cost.measured(20, 4, repeats=0), ConfigError, "received 4 and 0"),
    "cost.task": (lambda: cost.task(0), ConfigError, "received 0"),
    "counts.table_size: symbols": (lambda: counts.table_size(0, 1), ConfigError, ">= 1"),
    "counts.table_size: n": (lambda: counts.table_size(28, 0), ConfigError, ">= 1"),
    **{
        f"NgramModel.shortened: {order}": (
            lambda order=order: NgramModel.fit(TEXT, order=4).shortened(order), ConfigError, "order",
        )
        for order in (0, 5)
    },
    "counts.bits": (lambda: counts.bits(RNN, ""), ConfigError, "at least one character"),
    **{
        f"linear.Read.shares: {t}": (
            lambda t=t: linear.read(*linear.network("mingru", "remember")).shares(t),
            ConfigError,
            "step is 1 to 7; received",
        )
        for t in (0, 8, -1)
    },
    **{
        f"linear.network: {text!r}": (
            lambda text=text: linear.network("mingru", text), ConfigError, "3 to 12 characters",
        )
        for text in ("", "ab", "x" * 13)
    },
    "linear.rounds: unlike": (lambda: linear.rounds([1.0], [1.0, 2.0]), ConfigError, "for each step"),
    "linear.rounds: none": (lambda: linear.rounds([], []), ConfigError, "for each step"),
    "long_gap.draw": (lambda: long_gap.draw(-1, 1, []), ConfigError, "at least 0; received -1"),
    "Networks": (lambda: Networks("transformer", [0], gap=1), ConfigError, "received 'transformer'"),
    "long_gap.Recording.at": (
        lambda: long_gap.recorded().at("gru", 1), ConfigError, "no runs of gru at a gap of 1",
    ),
    "Machine: letters": (lambda: Machine(text="cat"), ConfigError, "'at', with 't'"),
    "Machine: empty": (lambda: Machine(text=""), ConfigError, "received"),
    "Machine: one letter": (lambda: Machine(text="m"), ConfigError, "received"),
    "Machine: no steps": (lambda: Machine(steps=0), ConfigError, "received 0"),
    "Machine: too many steps": (lambda: Machine(steps=7), ConfigError, "received 7"),
    "Machine.backward": (lambda: Machine(steps=3).backward(cut=4), ConfigError, "received 4"),
    "Machine.heard": (lambda: Machine(steps=3).heard(cut=0), ConfigError, "received 0"),
    "memorising.record": (lambda: memorising.record("too short"), CorpusError, "20,000 are needed"),
    "memoryless.ending": (lambda: memoryless.ending(RNN, ""), ConfigError, "at least one character"),
    **{
        f"memoryless.minibatch: {pairs}": (
            lambda pairs=pairs: memoryless.minibatch(Machine().net, pairs), ConfigError, "pairs of",
        )
        for pairs in ([], ["m"], ["mac"])
    },
    **{
        f"perplexity: {p}": (lambda p=p: perplexity.perplexity([0.5, p]), ConfigError, "between 0 and 1")
        for p in (-0.1, 1.1, float("nan"))
    },
    "perplexity: none": (lambda: perplexity.perplexity([]), EmptyTextError, "at least one character"),
    "perplexity.continuation": (
        lambda: perplexity.continuation(RNN, "The Time", ""), EmptyTextError, "character",
    ),
    **{
        f"Factors.changed: {name}, {values}": (
            lambda name=name, values=values: factors().changed(name, values), ConfigError, said,
        )
        for name, values, said in (
            ("Y", [[1.0]], "the matrices are X, W_xh, H, W_hh; received 'Y'"),
            ("X", [[1.0]], "3 × 1 numbers"),
            ("X", [[1.0], [2.0], [float("nan")]], "3 × 1 numbers"),
            ("X", [[1.0], [2.0], [10.0]], "between -9.99 and 9.99"),
            ("X", [["a"], [2.0], [1.0]], "3 × 1 numbers"),
        )
    },
    "Factors": (
        lambda: product.Factors(factors().X, factors().W_xh, factors().H[:2], factors().W_hh),
        ConfigError,
        "H should be (3, 4)",
    ),
    "Factors.of_word: before": (lambda: product.Factors.of_word(0, Machine()), ConfigError, "1 to 6"),
    "Factors.of_word: after": (lambda: product.Factors.of_word(7, Machine()), ConfigError, "1 to 6"),
    **{
        f"Question.evidence: {question.key}": (
            lambda question=question: question.evidence(len(question.settings), load_numpy),
            ConfigError,
            "settings 0 to",
        )
        for question in QUESTIONS
    },
    **{
        f"recurrence.walk: {texts}": (
            lambda texts=texts: recurrence.walk(Machine().net, *map(numbers, texts)),
            ConfigError,
            "of one length",
        )
        for texts in ((), ("",), ("ma", "m"))
    },
    **{
        f"Recurrence: {cell}, {layers}": (
            lambda cell=cell, layers=layers: recurrence.Recurrence(tiny(cell, layers=layers), "time"),
            ConfigError,
            "plain recurrent network",
        )
        for cell, layers in (("gru", 1), ("mlp", 1), ("rnn", 2))
    },
    **{
        f"Recurrence.parts: {t}, {unit}": (
            lambda t=t, unit=unit: recurrence.Recurrence(RNN, "time").parts(t, unit), ConfigError, "t is 1",
        )
        for t, unit in ((0, 0), (5, 0), (1, 12))
    },
    **{
        f"shannon.bounds: {ranks}": (lambda ranks=ranks: shannon.bounds(ranks), ConfigError, "from 1 to 27")
        for ranks in ([], [0], [28], [3, -1])
    },
    "shannon.played": (
        lambda: shannon.played(shannon.probabilities(NgramModel.fit(shannon.ALPHABET, order=2), 0), 0, 0),
        ConfigError,
        "the game has 1 to",
    ),
    "shannon.probabilities": (
        lambda: shannon.probabilities(NgramModel.fit("abc abc", order=2), 0), ConfigError, "26 letters",
    ),
    "states.costs: a rule": (lambda: states.costs("gru", 1, shipped()), ConfigError, "append, last, rnn"),
    "states.costs: a step": (lambda: states.costs("last", 0, shipped()), ConfigError, "append, last, rnn"),
    "summary.powers": (lambda: summary.powers(k=-1), ConfigError, "received -1"),
    **{
        f"tokens.windows: {n}, {steps}": (
            lambda n=n, steps=steps: tokens.windows("x" * 100, n=n, steps=steps), ConfigError, "received 100",
        )
        for n, steps in ((21, 4), (0, 4), (1, 0))
    },
    **{
        f"votes.distribution: {bad}": (lambda bad=bad: votes.distribution(bad), ConfigError, "counts")
        for bad in ([], [-1, 2], [[1, 2], [3, 4]])
    },
    "votes.guessed": (lambda: votes.guessed(0, {99: [0] * 27}), ConfigError, "characters to guess"),
    **{
        f"WordRun: {len(text)}": (lambda text=text: word.WordRun(text), ConfigError, str(len(text)))
        for text in ("", "a", "a" * (word.LONGEST + 1))
    },
    "WordRun.at": (lambda: word.WordRun("ab", steps=2).at(3), ConfigError, "steps 0 to 2"),
    "writing.beam": (
        lambda: writing.beam(shipped(), "The", 1, width=0), ConfigError, "at least 1 text; received 0",
    ),
    "writing.beginnings": (
        lambda: writing.beginnings("x" * 300), ConfigError, "20 beginnings need more text than 300",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_one_sentence(name: str) -> None:
    refused(*REFUSED[name])
