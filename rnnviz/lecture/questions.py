"""Check yourself: fourteen questions, each answered by trying it out.

The first four are the exercises of the textbook's chapter in our own words,
the other ten go through the rest of the lecture. A question has options to
choose from and a setting to play with; `evidence` computes what happens at that
setting, and which option that makes the right one. So no answer is written down
beside its question: it comes out of the same functions as the lecture.

The words are the page's; here options and rows have keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.gradients import clip
from rnnviz.lecture import backwards, memorising, perplexity
from rnnviz.lecture.prediction import expected
from rnnviz.lecture.product import Factors
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading import sampling

if TYPE_CHECKING:
    from rnnviz.lecture.prediction import Model

Load = Callable[[str], "Model"]
Setting = str | float
Value = float | int | str


@dataclass(frozen=True)
class Evidence:
    """What happened: `answer` is the option that it makes right, `rows` what was computed, (key, value)."""

    answer: str
    rows: tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Question:
    """One question: the keys of its options, what can be set, and how the answer is found.

    `settings` in their order; `first` is the index of the one to begin with.

    >>> BY_KEY["hundredth"].evidence(0, load=lambda name: None)
    Evidence(answer='44', rows=(('radius', 0.5), ('steps', 7), ('power', 0.0078125)))
    """

    key: str
    options: tuple[str, ...]
    settings: tuple[Setting, ...]
    first: int
    _find: Callable[[Any, Load], Evidence]

    def evidence(self, setting: int, load: Load) -> Evidence:
        """What happens at settings[setting]; `load` gives a shipped model by its name."""
        if not 0 <= setting < len(self.settings):
            raise ConfigError(
                "{key} has settings 0 to {last}; received {setting}",
                key=self.key,
                last=len(self.settings) - 1,
                setting=setting,
            )
        return self._find(self.settings[setting], load)


TEXT = "The Time Traveller put his hand on the lever, and the room went dark before our eyes."
DISCOVERY = "It is a remarkable discover"
PAIRS = ("the cat|we met", "a lamp|the stop")
SEED = 1


def apart(model: Model, one: str, other: str) -> float:
    """The total variation distance, 0 to 1, of what a model expects after two texts.

    >>> import rnnviz
    >>> apart(rnnviz.load("timemachine-mlp"), "the cat", "we met")
    0.0
    """
    return float(np.abs(expected(model, one) - expected(model, other)).sum() / 2)


# The chapter's four.


def _output(name: str, load: Load) -> Evidence:
    model = load(name)
    assert not isinstance(model, NgramModel)
    (p,) = expected(model, "machine")
    hidden, symbols = model.config.hidden_size, model.vocabulary.size
    numbers = {"one": 1, "units": hidden, "symbols": symbols, "pairs": symbols**2}
    return Evidence(
        next(key for key, n in numbers.items() if n == len(p)),
        (("symbols", symbols), ("units", hidden), ("outputs", len(p)), ("sum", float(p.sum()))),
    )


def _all_before(back: float, load: Load) -> Evidence:
    place = len(DISCOVERY) - int(back)
    other = DISCOVERY[:place] + "x" + DISCOVERY[place + 1 :]
    rows = [(n, apart(load(f"timemachine-{n}"), DISCOVERY, other)) for n in ("mlp", "6gram", "lstm")]
    return Evidence("carried" if rows[-1][1] > 0 else "lost", (("text", other), *rows))


def _long_way(radius: float, load: Load) -> Evidence:
    found = {r: backwards.dial(r, SEED) for r in (0.8, 1.2)}
    small, large = found[0.8].linear[-1], found[1.2].linear[-1]
    answer = "both" if small < 1e-2 and large > 1e2 else "vanishes" if large < 1 else "same"
    here = backwards.dial(radius, SEED)
    rows = ("lag.10", 10), ("lag.20", 20), ("lag.40", 40)
    return Evidence(answer, (("radius", radius), *((key, float(here.linear[k])) for key, k in rows)))


def _greedy(name: str, load: Load) -> Evidence:
    model = load(name)
    written = sampling.sample(model, "The ", 400, temperature=0)
    period = repeats(written)
    return Evidence("loop" if period else "story", (("written", "The " + written[:160]), ("period", period)))


def repeats(text: str) -> int:
    """After how many characters the end of `text` repeats itself, at least twice over; 0 if it doesn't.

    >>> repeats("well, abcabcabc")
    3
    """
    for period in range(1, len(text) // 3 + 1):
        if text[-2 * period :] == text[-3 * period : -period]:
            return period
    return 0


# Ten more.


def _parameters(steps: float, load: Load) -> Evidence:
    model = load("timemachine-rnn")
    assert not isinstance(model, NgramModel)
    count, symbols = model.parameter_count, model.vocabulary.size  # no T in it: every step uses the same ones
    table = symbols ** int(steps)
    return Evidence(
        "same" if table > count or steps < 3 else "more",
        (
            ("steps", int(steps)),
            ("parameters", count),
            ("table", f"{table:,}" if table < 10**12 else _power(table)),
        ),
    )


def _power(number: int) -> str:
    """A whole number too long to print, as a power of ten rounded down."""
    return f"> 10^{len(str(number)) - 1}"


def _uniform(symbols: float, load: Load) -> Evidence:
    v = int(symbols)
    found = perplexity.perplexity([Fraction(1, v)] * 10)
    sizes = {"one": Fraction(1), "log": math.log(v), "symbols": Fraction(v), "square": Fraction(v * v)}
    return Evidence(
        next(key for key, size in sizes.items() if size == found),
        (("symbols", v), ("perplexity", float(found)), ("bits", math.log2(v))),
    )


def _one_zero(p: float, load: Load) -> Evidence:
    found, worst = (float(perplexity.perplexity([1.0] * 999 + [q])) for q in (p, 0.0))
    return Evidence(
        "infinite" if math.isinf(worst) else "small", (("p", p), ("perplexity", found), ("characters", 1000))
    )


def _twice(characters: float, load: Load) -> Evidence:
    cut = perplexity.prefixes(load("timemachine-lstm"), (TEXT + " ") * 4)
    n = int(characters) - 1
    grows = cut.log10[159] / cut.log10[79] > 1.8
    stays = abs(cut.perplexity[159] / cut.perplexity[79] - 1) < 0.1
    return Evidence(
        "likelihood" if grows and stays else "both" if grows else "perplexity",
        (("characters", n + 1), ("log10", float(cut.log10[n])), ("perplexity", float(cut.perplexity[n]))),
    )


def _concatenated(units: float, load: Load) -> Evidence:
    factors = Factors.drawn(SEED, units=int(units))
    difference = factors.largest_difference()
    left, right = (" × ".join(map(str, m.shape)) for m in (factors.joined_inputs, factors.joined_weights))
    return Evidence(
        "sum" if difference < 1e-9 else "other",
        (("left", left), ("right", right), ("difference", difference)),
    )


def _forgets(pair: str, load: Load) -> Evidence:
    one, other = pair.split("|")
    rows = [(n, apart(load(f"timemachine-{n}"), one, other)) for n in ("mlp", "rnn", "lstm")]
    texts = (("one", one), ("other", other))
    return Evidence("same.rnn" if rows[0][1] == 0 < rows[1][1] else "differ", (*texts, *rows))


def _hundredth(radius: float, load: Load) -> Evidence:
    steps = {r: math.ceil(math.log(0.01) / math.log(r)) for r in (radius, 0.9)}
    near = min((10, 44, 200), key=lambda n: abs(n - steps[0.9]))
    return Evidence(
        str(near), (("radius", radius), ("steps", steps[radius]), ("power", float(radius ** steps[radius])))
    )


def _clipped(threshold: float, load: Load) -> Evidence:
    g = np.array([3.0, 4.0])
    answers = {"direction": g / 5, "each": np.minimum(g, 1.0), "zero": np.zeros(2)}
    one, here = (clip(g, theta).gradient for theta in (1.0, threshold))
    return Evidence(
        next(key for key, value in answers.items() if np.allclose(value, one)),
        (
            ("threshold", threshold),
            ("clipped", f"({here[0]:.2f}, {here[1]:.2f})"),
            ("norm", float(np.linalg.norm(here))),
        ),
    )


def _mean(keep: float, load: Load) -> Evidence:
    c = backwards.chain(backwards.WEIGHT, SEED)
    draws = backwards.random_truncation(c, keep, 10_000, SEED)
    error = float(draws.std() / math.sqrt(len(draws)))
    exact = backwards.expected(c, keep)
    return Evidence(
        "equal" if math.isclose(exact, c.gradient, rel_tol=1e-9) else "smaller",
        (("full", c.gradient), ("mean", float(draws.mean())), ("error", error), ("cut3", c.truncated(3))),
    )


def _print(passes: float, load: Load) -> Evidence:
    run = memorising.recorded()
    at = min(range(len(run.passes)), key=lambda i: abs(run.passes[i] - passes))
    answer = "held_out" if run.held_out[-1] > run.uniform > run.train[-1] else "train"
    return Evidence(
        answer,
        (
            ("passes", round(run.passes[at])),
            ("train", run.train[at]),
            ("held_out", run.held_out[at]),
            ("uniform", run.uniform),
        ),
    )


QUESTIONS: tuple[Question, ...] = (
    Question(
        "output",
        ("one", "units", "symbols", "pairs"),
        ("timemachine-rnn", "shakespeare-lstm", "python-gru"),
        0,
        _output,
    ),
    Question("all_before", ("table", "carried", "lost"), (1, 2, 4, 6, 8, 10, 20), 4, _all_before),
    Question("long_way", ("same", "vanishes", "both"), (0.8, 0.9, 1.0, 1.1, 1.2), 0, _long_way),
    Question(
        "greedy",
        ("story", "loop", "noise"),
        ("timemachine-rnn", "timemachine-gru", "timemachine-lstm"),
        0,
        _greedy,
    ),
    Question("parameters", ("more", "same", "fewer"), (1, 2, 5, 10, 100, 1000), 1, _parameters),
    Question("uniform", ("one", "log", "symbols", "square"), (2, 28, 69, 100, 3843), 1, _uniform),
    Question("one_zero", ("small", "two", "infinite"), (1.0, 0.5, 1e-2, 1e-6, 1e-12, 0.0), 2, _one_zero),
    Question("twice", ("both", "likelihood", "perplexity"), (40, 80, 160, 320), 0, _twice),
    Question("concatenated", ("sum", "other"), (2, 4, 16, 256), 1, _concatenated),
    Question("forgets", ("differ", "same", "same.rnn"), PAIRS, 0, _forgets),
    Question("hundredth", ("10", "44", "200"), (0.5, 0.8, 0.9, 0.95, 0.99), 2, _hundredth),
    Question("clipped", ("each", "direction", "zero"), (0.5, 1.0, 2.0, 5.0, 10.0), 1, _clipped),
    Question("mean", ("smaller", "equal", "larger"), (0.5, 0.7, 0.9), 1, _mean),
    Question("print", ("train", "held_out", "average"), (1, 5, 20, 50, 100, 200, 500), 6, _print),
)
BY_KEY = {question.key: question for question in QUESTIONS}
