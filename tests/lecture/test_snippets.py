"""Every cell of code beside the pictures is run: it prints what the page shows beneath it."""

import contextlib
import io
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pytest
import torch

from rnnviz.gradients import state_gradients
from rnnviz.lecture import counts as tables
from rnnviz.lecture import perplexity, word
from rnnviz.lecture.counts import shortened
from rnnviz.lecture.machine import Machine
from rnnviz.lecture.product import Factors
from rnnviz.lecture.recurrence import Recurrence
from rnnviz.lecture.snippets import Cell, counts, linear, memoryless, product, recurrence
from rnnviz.lecture.snippets import backwards as back
from rnnviz.lecture.snippets import perplexity as costs
from rnnviz.lecture.snippets import word as words
from rnnviz.lecture.snippets.cell import WIDTH, tensor
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel

prints_as: Callable[..., None] = torch.set_printoptions


@pytest.fixture(autouse=True)
def _torch_prints_as_usual() -> Iterator[None]:
    yield
    prints_as(profile="default")


def printed(code: str) -> str:
    """What a cell prints when nothing else has run."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "cell", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def network(name: str) -> NumpyModel:
    """A shipped network."""
    found = load_numpy(f"timemachine-{name}")
    assert isinstance(found, NumpyModel)
    return found


def ngram() -> NgramModel:
    """The shipped n-gram model."""
    found = load_numpy("timemachine-6gram")
    assert isinstance(found, NgramModel)
    return found


def surprise(text: str, n: int) -> Cell:
    """What scene 1 compares."""
    counted = [shortened(ngram(), n)] if n <= 6 else []
    return counts.surprise(text, [network("mlp"), *counted, network("gru")])


def seen(n: int) -> Cell:
    """What the shipped n-gram model has counted."""
    return counts.seen(ngram(), n)


def rules(text: str, t: int) -> Cell:
    """Two states of a text."""
    return counts.rules(text, t, tables.book()[0])


def apart(first: str, second: str, t: int) -> Cell:
    """Two texts, told apart by a shipped network."""
    return counts.apart(network("rnn"), first, second, t)


def endings(name: str, left: str, right: str) -> Cell:
    """Two texts, read by a shipped network."""
    return memoryless.endings(network(name), left, right)


def continued(name: str) -> Cell:
    """The textbook's three endings."""
    return costs.endings(load_numpy(f"timemachine-{name}"), perplexity.RAINING, perplexity.ENDINGS)


def beginnings(*cuts: tuple[str, int]) -> Cell:
    """Two texts, cut."""
    return costs.beginnings(network("gru"), cuts)


def stored(name: str) -> Cell:
    """A text as a model would store it."""
    return costs.stored(load_numpy(f"timemachine-{name}"), "It was a quiet evening.")


def unit(text: str, t: int, j: int) -> Cell:
    """A unit of the shipped network."""
    seen = Recurrence(network("rnn"), text)
    return recurrence.unit("timemachine-rnn", seen, text, t, j)


def flow(text: str) -> Cell:
    """The gradients on their way back, as the scene has them."""
    models = [network(cell) for cell in ("rnn", "gru", "lstm")]
    found = [state_gradients(model, text, at=len(text) - 1) for model in models]
    norms = [
        [*f.hidden[:-1, -1]] if f.cell is None else [*np.hypot(f.hidden, f.cell)[:-1, -1]] for f in found
    ]
    return back.flow(models, text, [float(norm[-1] / norm[0]) for norm in norms])


LINE = "the Time Traveller and the Psychologist spoke"
WRITES = partial(words.trained, writes=True)
QUOTES = 'it\'s "$5" \\ 🙂 {n}'
PAIRS = ((2, ["ma", "hi", "ne"]), (3, ["ch"]))
GUESSES = [1, 1, 2, 1, 27, 3, 3, 1, 1, 5]
CELLS: list[partial[Cell]] = [
    *(partial(counts.grows, LINE, n, 69) for n in (1, 3, 10)),
    partial(counts.grows, QUOTES, 2, 69),
    partial(counts.grows, "it", 10, 69),
    *(partial(counts.book, n, 69) for n in (1, 2, 5, 10)),
    *(partial(seen, n) for n in (1, 2, 6)),
    *(partial(surprise, LINE, n) for n in (1, 7)),
    *(partial(rules, "the 'dark' machine", t) for t in (1, 3, 9)),
    partial(apart, "the dark machine", "the grey machine stood", 9),
    partial(surprise, "It's raining 时", 6),
    *(partial(memoryless.hidden, Machine(seed).net, pairs) for seed, pairs in PAIRS),
    *(partial(memoryless.output, Machine(seed).net, pairs) for seed, pairs in PAIRS),
    *(partial(endings, name, "in the dark nig", "I was going") for name in ("mlp", "rnn")),
    partial(endings, "gru", 'a "b', "a 'b"),
    *(partial(recurrence.loop, Machine(seed).net, text) for seed, text in ((2, "machin"), (3, "e"))),
    *(partial(recurrence.joined, Machine(seed).net, text) for seed, text in ((2, "machin"), (3, "e"))),
    *(partial(recurrence.rows, Machine().net, texts) for texts in (("machin", "cinema"), ("e",))),
    partial(recurrence.sizes, Machine().net),
    *(partial(unit, "the Time Traveller", t, j) for t, j in ((2, 12), (18, 200), (1, 3))),
    *(partial(product.two, Factors.drawn(seed)) for seed in range(12)),
    *(partial(product.joined, Factors.drawn(seed)) for seed in (1, 2)),
    *(partial(product.one, Factors.drawn(seed)) for seed in range(12)),
    partial(product.one, Factors(*(np.ones(s) for s in ((3, 1), (1, 4), (3, 4), (4, 4))))),
    *(partial(product.step, Machine(), t) for t in (1, 3, 6)),
    *(partial(words.labels, text) for text in ("machine", "a'b")),
    *(partial(words.losses, Machine(seed, steps=steps)) for seed, steps in ((2, 6), (3, 6), (4, 1))),
    *(partial(words.trained, word.run("machine"), at) for at in (0, 1, 40)),
    *(partial(WRITES, word.run(*run), 100) for run in (("tea", 4), ("machine", 0))),
    *(partial(words.trained, word.run("tea", 1), at, losses=True) for at in (0, 30)),
    partial(words.losses, Machine(text="cinemas"[:6])),
    partial(words.why),
    partial(words.batch, ["the t", " mach", "ine t"], "themacin ?", 3),
    *(partial(costs.mean, P, 28) for P in ([0.1, 0.4, 0.8, 0.9], [1.0] * 7, [0.9, 0.0, 0.9])),
    *(partial(continued, name) for name in ("mlp", "lstm", "6gram")),
    partial(beginnings, ("It was a quiet evening", 20), ("quiz fog", 7)),
    partial(costs.books, ["It's A", "B"], [3_000_000, 100_000], [3, 12]),
    *(partial(stored, name) for name in ("gru", "6gram")),
    *(partial(costs.guessed, GUESSES[:n]) for n in (1, 4, 10)),
    *(partial(back.through_time, Machine(seed)) for seed in (2, 3)),
    partial(back.through_time, Machine(recurrent=False)),
    *(partial(back.shortened, Machine(), threshold) for threshold in (0.1, 1.0, 9.0)),
    *(partial(back.detached, Machine(), cut) for cut in range(1, 7)),
    *(partial(back.gates, k) for k in (1, 20, 80)),
    *(partial(linear.joined, text, t) for text, t in (("remember", 5), ("a 'b\"a", 2), ("mississippi", 10))),
    partial(linear.joined, "tea", 1, steps=0),
    partial(flow, LINE),
    *(partial(back.power, radius, 1, k) for radius, k in ((0.9, 8), (1.1, 40), (0.6, 1))),
    *(partial(back.random, 1, keep, 3, 10_000, cut=5) for keep in (0.3, 0.7, 1.0)),
]
NAMED = [pytest.param(make, id=f"{n} {make.func.__name__}") for n, make in enumerate(CELLS)]


@pytest.mark.parametrize("make", NAMED)
def test_a_cell_prints_what_stands_beneath_it(make: Callable[[], Cell]) -> None:
    cell = make()
    assert printed(cell.code) == cell.printed


def test_a_cell_fits_beside_a_picture() -> None:
    for make in CELLS:
        for line in make().code.splitlines():
            if "'" not in line and '"gru"' not in line:  # a text may be longer
                assert len(line) <= WIDTH, line


@pytest.mark.parametrize("digits", [2, 3, 4])
@pytest.mark.parametrize("shape", [(3,), (7,), (1, 1), (4, 5), (3, 7)])
def test_a_tensor_is_written_as_torch_writes_it(shape: tuple[int, ...], digits: int) -> None:
    generator = np.random.default_rng(0)
    prints_as(precision=digits, sci_mode=False)
    drawn = generator.standard_normal(shape)
    for values in (drawn, 20 * drawn, np.round(drawn), np.zeros(shape), drawn - drawn - 1e-6, drawn > 0):
        said = str(torch.tensor(np.asarray(values, np.float32)))
        assert "\n".join(tensor(values, digits)) == said
