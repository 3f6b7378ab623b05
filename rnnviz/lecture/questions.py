"""Check yourself: eighteen questions, each answered by trying it out.

The first four are the exercises of the textbook's chapter in our own words, the last four answer the fourth
further. `evidence` computes what happens at a question's setting and which option is right, so no answer
is written down. The words are the page's.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from rnnviz.errors import ConfigError
from rnnviz.gradients import clip
from rnnviz.lecture import backwards, memorising, perplexity, writing
from rnnviz.lecture.prediction import expected
from rnnviz.lecture.product import Factors
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import Model, NumpyModel

Load = Callable[[str], "Model"]
Setting = str | float
Spread = tuple[float, float]
"""A mean and its standard error."""

Value = float | int | str
Find = Callable[[Any, Load], "Evidence"]


@dataclass(frozen=True)
class Evidence:
    """What happened at a setting: the right option and the rows computed.

    table     rows of measurements, a Spread for each of the `columns`; `column` is that of the setting
    """

    answer: str
    rows: Mapping[str, Value]
    table: Mapping[str, Sequence[Spread]] = field(default_factory=dict)
    columns: Sequence[Setting] = ()
    column: int | None = None


@dataclass(frozen=True)
class Question:
    """A question's options (keys), its settings and the index of the `first` one, and how it is answered.

    >>> BY_KEY["hundredth"].evidence(0, load=lambda name: None).rows
    {'radius': 0.5, 'steps': 7, 'power': 0.0078125}
    """

    key: str
    options: tuple[str, ...]
    settings: tuple[Setting, ...]
    first: int
    _find: Find

    @property
    def exercise(self) -> int | None:
        """The number of the chapter's exercise that it answers, if any."""
        return EXERCISES.get(self.key)

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


QUESTIONS: list[Question] = []
EXERCISES = {"output": 1, "all_before": 2, "long_way": 3, "greedy": 4}
EXERCISES |= dict.fromkeys(("temperature", "beams", "own_input", "far"), 4)


def _question(
    options: tuple[str, ...], settings: tuple[Setting, ...], *, first: int
) -> Callable[[Find], Find]:
    """Register the question that a function answers, under the function's name."""

    def add(find: Find) -> Find:
        QUESTIONS.append(Question(find.__name__[1:], options, settings, first, find))
        return find

    return add


TEXT = "The Time Traveller put his hand on the lever, and the room went dark before our eyes."
DISCOVERY = "It is a remarkable discover"
SEED = 1
FAINT = 0.02
"""Nats of a character below which what stands further back is as good as not read."""


def apart(model: Model, one: str, other: str) -> float:
    """The total variation distance, 0 to 1, of a model's predictions after two texts.

    >>> import rnnviz
    >>> apart(rnnviz.load("timemachine-mlp"), "the cat", "we met")
    0.0
    """
    return float(np.abs(expected(model, one) - expected(model, other)).sum() / 2)


# The chapter's four.


@_question(
    ("one", "units", "symbols", "pairs"), ("timemachine-rnn", "shakespeare-lstm", "python-gru"), first=0
)
def _output(name: str, load: Load) -> Evidence:
    model = load(name)
    assert not isinstance(model, NgramModel)
    (p,) = expected(model, "machine")
    units, symbols = model.config.hidden_size, model.vocabulary.size
    numbers = {1: "one", units: "units", symbols: "symbols", symbols**2: "pairs"}
    rows = {"symbols": symbols, "units": units, "outputs": len(p), "sum": float(p.sum())}
    return Evidence(numbers[len(p)], rows)


@_question(("table", "carried", "lost"), (1, 2, 4, 6, 8, 10, 20), first=4)
def _all_before(back: float, load: Load) -> Evidence:
    place = len(DISCOVERY) - int(back)
    other = DISCOVERY[:place] + "x" + DISCOVERY[place + 1 :]
    changes = {n: apart(load(f"timemachine-{n}"), DISCOVERY, other) for n in ("mlp", "6gram", "lstm")}
    # Of all texts of so many characters, with the next one.
    table = load("timemachine-lstm").vocabulary.size ** (int(back) + 1)
    return Evidence("carried" if changes["lstm"] > 0 else "lost", {"text": other, **changes, "table": table})


@_question(("same", "vanishes", "both"), (5, 10, 20, 40), first=3)
def _long_way(steps: float, load: Load) -> Evidence:
    k = int(steps)
    dials = {radius: backwards.dial(radius, SEED) for radius in (0.8, 1.0, 1.2)}
    small, large = (float(dials[radius].linear[-1]) for radius in (0.8, 1.2))
    answer = "both" if small < 1e-2 and large > 1e2 else "vanishes" if large < 1 else "same"
    linear = {f"linear.{radius:g}": float(dial.linear[k]) for radius, dial in dials.items()}
    return Evidence(answer, {"steps": k, **linear, "tanh.1.2": float(dials[1.2].tanh[k])})


@_question(("story", "loop", "noise"), ("timemachine-rnn", "timemachine-gru", "timemachine-lstm"), first=0)
def _greedy(name: str, load: Load) -> Evidence:
    rows = writing.recorded()["greedy"]
    circles = all(row["looped"] > writing.PROMPTS / 2 for row in rows)
    row = next(row for row in rows if name.endswith(row["cell"]))
    numbers = {"own": math.exp(row["own"][0]), "book": math.exp(row["book"][0])}
    measured = {"period": row["period"], "looped": f"{row['looped']} / {writing.PROMPTS}", **numbers}
    return Evidence("loop" if circles else "story", {"written": row["example"], **measured})


# Ten more.


@_question(("more", "same", "fewer"), (2, 5, 10, 100, 1000), first=2)
def _parameters(steps: float, load: Load) -> Evidence:
    model = load("timemachine-rnn")
    assert isinstance(model, NumpyModel)
    T = int(steps)
    here, longer = (_used(model, n) for n in (T, 10 * T))
    answer = "same" if longer == here else "more" if longer > here else "fewer"
    rows = {"steps": T, "parameters": here, "longer": longer, "table": model.vocabulary.size**T}
    return Evidence(answer, rows)


def _used(model: NumpyModel, steps: int) -> int:
    """How many different parameters so many time steps use: each name counts once."""
    shapes = model.config.shapes()
    return sum({name: math.prod(shape) for _ in range(steps) for name, shape in shapes.items()}.values())


@_question(("one", "log", "symbols", "square"), (2, 28, 69, 100, 3843), first=1)
def _uniform(symbols: float, load: Load) -> Evidence:
    V = int(symbols)
    found = perplexity.perplexity([Fraction(1, V)] * 10)
    sizes = {Fraction(1): "one", math.log(V): "log", Fraction(V): "symbols", Fraction(V * V): "square"}
    return Evidence(sizes[found], {"symbols": V, "perplexity": float(found), "bits": math.log2(V)})


@_question(("small", "two", "infinite"), (1.0, 0.5, 1e-2, 1e-6, 1e-12, 0.0), first=5)
def _one_zero(p: float, load: Load) -> Evidence:
    here, worst = (float(perplexity.perplexity([1.0] * 999 + [q])) for q in (p, 0.0))
    answer = "infinite" if math.isinf(worst) else "small"
    return Evidence(answer, {"p": p, "perplexity": here, "characters": 1000})


@_question(("both", "likelihood", "perplexity"), (40, 80, 160), first=1)
def _twice(characters: float, load: Load) -> Evidence:
    cut = perplexity.prefixes(load("timemachine-lstm"), (TEXT + " ") * 4)
    n = int(characters)
    grows = cut.log10[2 * n - 1] / cut.log10[n - 1] > 1.5
    stays = abs(cut.perplexity[2 * n - 1] / cut.perplexity[n - 1] - 1) < 0.25
    answer = "likelihood" if grows and stays else "both" if grows else "perplexity"
    numbers = {"log10": cut.log10, "perplexity": cut.perplexity}
    rows = {f"{name}.{at}": float(of[at * n - 1]) for name, of in numbers.items() for at in (1, 2)}
    return Evidence(answer, {"characters": n, **rows})


@_question(("sum", "other"), (2, 4, 16, 256), first=1)
def _concatenated(units: float, load: Load) -> Evidence:
    factors = Factors.drawn(SEED, units=int(units))
    difference = factors.largest_difference()
    left, right = (" × ".join(map(str, m.shape)) for m in (factors.joined_inputs, factors.joined_weights))
    answer = "sum" if difference < 1e-9 else "other"
    return Evidence(answer, {"left": left, "right": right, "difference": difference})


@_question(("differ", "same", "same.rnn"), ("the cat|we met", "a lamp|the stop"), first=0)
def _forgets(pair: str, load: Load) -> Evidence:
    one, other = pair.split("|")
    found = {n: apart(load(f"timemachine-{n}"), one, other) for n in ("mlp", "rnn", "lstm")}
    answer = "same.rnn" if found["mlp"] == 0 < found["rnn"] else "differ"
    return Evidence(answer, {"one": one, "other": other, **found})


@_question(("10", "44", "200"), (0.5, 0.8, 0.9, 0.95, 0.99), first=2)
def _hundredth(radius: float, load: Load) -> Evidence:
    here, asked = (math.ceil(math.log(0.01) / math.log(r)) for r in (radius, 0.9))
    nearest = min((10, 44, 200), key=lambda n: abs(n - asked))
    return Evidence(str(nearest), {"radius": radius, "steps": here, "power": float(radius**here)})


@_question(("each", "direction", "zero"), (0.5, 1.0, 2.0, 5.0, 10.0), first=1)
def _clipped(threshold: float, load: Load) -> Evidence:
    g = np.array([3.0, 4.0])
    answers = {"direction": g / 5, "each": np.minimum(g, 1.0), "zero": np.zeros(2)}
    one, here = (clip(g, theta).gradient for theta in (1.0, threshold))
    answer = next(key for key, value in answers.items() if np.allclose(value, one))
    shown = f"({here[0]:.2f}, {here[1]:.2f})"
    return Evidence(answer, {"threshold": threshold, "clipped": shown, "norm": float(np.linalg.norm(here))})


@_question(("smaller", "equal", "larger"), (0.5, 0.7, 0.9), first=1)
def _mean(keep: float, load: Load) -> Evidence:
    c = backwards.chain(backwards.WEIGHT, SEED)
    draws = backwards.random_truncation(c, keep, 10_000, SEED)
    error = float(draws.std() / math.sqrt(len(draws)))
    answer = "equal" if math.isclose(backwards.expected(c, keep), c.gradient, rel_tol=1e-9) else "smaller"
    rows = {"full": c.gradient, "mean": float(draws.mean()), "error": error, "cut3": c.truncated(3)}
    return Evidence(answer, rows)


@_question(("train", "held_out", "average"), (1, 5, 20, 50, 100, 200, 500), first=6)
def _print(passes: float, load: Load) -> Evidence:
    run = memorising.recorded()
    at = min(range(len(run.passes)), key=lambda i: abs(run.passes[i] - passes))
    answer = "held_out" if run.held_out[-1] > run.uniform > run.train[-1] else "train"
    rows = {"train": run.train[at], "held_out": run.held_out[at], "uniform": run.uniform}
    return Evidence(answer, {"passes": round(run.passes[at]), **rows})


# The fourth exercise further: what goes wrong with such a model, measured by rnnviz.lecture.writing.


@_question(("invents", "repeats", "nothing"), writing.TEMPERATURES, first=0)
def _temperature(temperature: float, load: Load) -> Evidence:
    rows = writing.recorded()["temperatures"]
    cold, hot, book = rows[0], rows[-2], rows[-1]
    repeats = _above(cold["repeated"], book["repeated"])
    invents = _above(hot["made_up"], book["made_up"])
    answer = "repeats" if repeats and invents else "invents" if invents else "nothing"
    return _measured(answer, rows, "temperature", temperature, ("repeated", "made_up"))


@_question(("better", "dull", "less"), writing.WIDTHS, first=4)
def _beams(width: float, load: Load) -> Evidence:
    rows = writing.recorded()["beams"]
    searched, book = rows[1 : len(writing.WIDTHS)], rows[-1]
    likelier = all(row["likelier"] > row["less_likely"] for row in searched)
    dull = all(_above(row["repeated"], book["repeated"]) for row in searched)
    answer = "less" if not likelier else "dull" if dull else "better"
    return _measured(answer, rows, "width", width, ("nats", "repeated"))


def _above(one: Spread, other: Spread) -> bool:
    """Whether a mean is above another by more than chance: three standard errors of the difference."""
    return one[0] - other[0] > 3 * math.hypot(one[1], other[1])


def _measured(
    answer: str, rows: Sequence[Mapping[str, Any]], of: str, setting: float, names: Sequence[str]
) -> Evidence:
    """Evidence from rows of measurements, one for each column."""
    columns = [row[of] if row[of] is not None else "book" for row in rows]
    at = columns.index(setting)
    table = {name: [(row[name][0], row[name][1]) for row in rows] for name in names}
    return Evidence(answer, {"written": rows[at]["example"]}, table, columns, at)


@_question(("six", "three", "accident"), writing.NETWORKS, first=2)
def _own_input(cell: str, load: Load) -> Evidence:
    rows = {row["cell"]: row for row in writing.recorded()["own_input"]}
    at = writing.STAGES.index(20) - 1
    forced, free, accident = (rows["lstm"][name][at][0] for name in ("forced", "free", "by_accident"))
    found = {"six": forced, "three": forced / 2, "accident": accident}
    answer = min(found, key=lambda key: abs(found[key] - free))
    table = {name: [(m, e) for m, e in rows[cell][name]] for name in ("forced", "free", "by_accident")}
    for name in ("own", "book"):  # from nats to perplexity; exp's slope is its value
        table[name] = [(math.exp(m), math.exp(m) * e) for m, e in rows[cell][name]]
    stages = [f"{a + 1}–{b}" if b > a + 1 else b for a, b in itertools.pairwise(writing.STAGES)]
    return Evidence(answer, {}, table, stages)


@_question(("3", "10", "100"), writing.NETWORKS, first=2)
def _far(cell: str, load: Load) -> Evidence:
    rows = {row["cell"]: row for row in writing.recorded()["contexts"]}
    lost = rows["lstm"]["lost"]
    reach = next(k for k, (mean, _) in zip(writing.CONTEXTS, lost, strict=True) if mean < FAINT)
    answer = min(("3", "10", "100"), key=lambda key: abs(math.log(int(key) / reach)))
    shown = [at for at, k in enumerate(writing.CONTEXTS) if k not in (2, 100)]
    nats, lost = rows[cell]["nats"], rows[cell]["lost"]
    table = {
        "perplexity": [(math.exp(m), math.exp(m) * e) for m, e in [*(nats[at] for at in shown), nats[-1]]]
    }
    table["lost"] = [
        *((math.exp(lost[at][0]) - 1, math.exp(lost[at][0]) * lost[at][1]) for at in shown),
        (0.0, 0.0),
    ]
    table["error"] = [(error, 0.0) for _, error in table["lost"]]
    return Evidence(answer, {}, table, (*(writing.CONTEXTS[at] for at in shown), "all"))


BY_KEY = {question.key: question for question in QUESTIONS}
