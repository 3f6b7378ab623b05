"""The answers to the worksheet's tasks, computed: the numbers of its key, in their order."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from rnnviz.gradients import clip
from rnnviz.lecture import long_gap, memorising, memoryless, perplexity, summary, word, writing
from rnnviz.lecture.counts import table_size
from rnnviz.lecture.machine import NAMES, SYMBOLS, Machine
from rnnviz.lecture.questions import BY_KEY
from rnnviz.networks.checkpoint import load_numpy
from rnnviz.networks.numpy_model import NumpyModel
from rnnviz.ui.pages.learn.question_words import said


def vector(values: npt.ArrayLike, digits: int = 2) -> str:
    return f"({', '.join(fixed(v, digits) for v in np.ravel(values))})"


def fixed(value: float, digits: int = 2) -> str:
    return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")


def shape(*sizes: int) -> str:
    return f"({', '.join(map(str, sizes))})"


@cache
def network(cell: str) -> NumpyModel:
    found = load_numpy(f"timemachine-{cell}")
    assert isinstance(found, NumpyModel)
    return found


def table_or_network() -> list[str]:
    size, V = summary.parameters(), len(SYMBOLS)
    n = next(n for n in range(1, 9) if table_size(V, n) > size)
    entries, filled = table_size(69, 5), 180_000 - 5 + 1
    return [
        *(
            f"{number:,}"
            for number in (size, n, table_size(V, n), table_size(V, n - 1), size, entries, filled)
        ),
        f"{100 * filled / entries:.3f} %",
    ]


def two_steps() -> list[str]:
    there, alone = Machine().forward, Machine(text="achine").forward
    return [
        vector(there.pre_activation[0]),
        *map(vector, (there.state[0], there.from_state[1], there.state[1], alone.state[0])),
    ]


def one_product() -> list[str]:
    net, there = Machine().net, Machine().forward
    row = np.concatenate([there.x[1], there.before[1]])
    weights = np.concatenate([net.W_xh, net.W_hh])
    several = shape(3, len(row)), shape(*weights.shape), shape(3, weights.shape[1])
    return [
        vector(there.state[0])[1:-1],
        shape(1, len(row)),
        shape(*weights.shape),
        fixed(row @ weights[:, 0]),
        *several,
    ]


def labels_and_loss() -> list[str]:
    there = Machine().forward
    return [Machine().labels, fixed(math.exp(-there.losses[2])), fixed(there.losses[2])]


def four_probabilities() -> list[str]:
    p = [1 / 2, 1 / 4, 1 / 8, 1 / 4]
    nats = [perplexity.surprisal(one) for one in p]
    mean, V = sum(nats) / 4, len(SYMBOLS)
    bits = [f"{one / math.log(2):.0f}" for one in (*nats, mean)]
    assert math.prod(1 / one for one in p) ** (1 / 4) == pytest.approx(float(perplexity.perplexity(p)))
    return [
        *bits,
        fixed(mean),
        f"{float(perplexity.perplexity(p)):g}",
        f"{sum(1 / one for one in p) / 4:g}",
        fixed(4 / sum(p)),
        f"{float(perplexity.perplexity([1 / V] * 4)):g}",
        fixed(math.log2(V)),
        "∞" if math.isinf(perplexity.perplexity([*p[:3], 0.0])) else "",
    ]


def two_books() -> list[str]:
    (war, prince), read = perplexity.BOOKS, (3, 12)
    logs = [perplexity.log10_likelihood(n, p) for n, p in zip((war, prince), read, strict=True)]
    alike = read[1] ** (prince / war)
    assert perplexity.log10_likelihood(war, alike) == pytest.approx(logs[1])
    return [*(fixed(log, 0) for log in logs), fixed(alike, 3)]


def three_terms() -> list[str]:
    terms = Machine(steps=3).backward().terms[:, 3, 2]
    return [*map(fixed, terms), fixed(terms.sum())]


def clipping() -> list[str]:
    g, back = np.array([3.0, 4.0]), Machine(steps=3).backward()
    return [
        f"{np.linalg.norm(g):g}",
        vector(clip(g, 1.0).gradient, 1),
        vector(clip(g, 10.0).gradient, 0),
        fixed(1 / back.norm),
        str(sum(getattr(Machine().net, name).size for name in NAMES)),
    ]


def powers_and_cuts() -> list[str]:
    small, large = (next(k for k in range(99) if reached(k)) for reached in
                    (lambda k: 0.9**k < 0.01, lambda k: 1.1**k > 100))  # fmt: skip
    kept, every = summary.left()
    each = sum(array.shape[1] for array in Machine().cached().values())
    return [*map(str, (small, large, kept, every, 6 * each, 2 * each))]


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share > 0.0995 else f"{100 * share:.1f} %"


def temperature() -> list[str]:
    p = np.array([0.5, 0.3, 0.2])
    shapes = [vector(p ** (1 / t) / (p ** (1 / t)).sum()) for t in (0.5, 2)]
    *rows, book = writing.recorded()["temperatures"]
    found = {row["temperature"]: (row["repeated"][0], row["made_up"][0]) for row in rows}
    own = book["repeated"][0], book["made_up"][0]
    near = {min(found, key=lambda t: abs(found[t][n] - own[n])) for n in (0, 1)}
    assert near == {0.7}
    return [
        *shapes,
        *map(percent, (found[0.2][0], own[0], found[1.5][1], own[1])),
        "0.7",
        *map(percent, found[0.7]),
    ]


TEXTS = "and where", "in the atmosphere"


def two_texts() -> list[str]:
    apart = {}
    for cell in ("rnn", "mlp", "gru"):
        one, other = (memoryless.ending(network(cell), text) for text in TEXTS)
        apart[cell] = memoryless.compare(one, other, 1).prediction
        if cell == "rnn":
            characters = network(cell).vocabulary.characters
            assert [characters[int(e.probabilities.argmax()) - 1] for e in (one, other)] == [" ", "d"]
    assert TEXTS[0][-4:] == TEXTS[1][-4:]
    assert apart["rnn"] > 0.5
    return [fixed(apart[cell]) for cell in ("rnn", "mlp", "gru")]


def one_word() -> list[str]:
    run = word.run()
    first = next(n for n in range(run.steps + 1) if run.at(n).written == "machine")
    return [run.at(0).written, str(first), *(fixed(run.at(n).perplexity) for n in (0, first, 100))]


def by_heart() -> list[str]:
    run = memorising.recorded()
    worse = max(n for n, held in enumerate(run.held_out) if held <= run.uniform) + 1
    passes = [f"{run.passes[n]:.0f}" for n in (run.best, worse)]
    end = fixed(run.train[-1]), fixed(run.held_out[-1], 0)
    return [passes[0], fixed(run.held_out[run.best]), passes[1], f"{run.uniform:g}", *end]


def the_gap() -> list[str]:
    def right(cell: str, gap: int) -> list[float]:
        return [100 * runs[-1] for runs in long_gap.recorded().at(cell, gap).accuracy]

    fails = next(k for k in long_gap.GAPS if min(right("rnn", k)) < 90)
    assert sum(one < 90 for one in right("rnn", fails)) == 1
    reach = [max(k for k in long_gap.GAPS if min(right(cell, k)) > 99) for cell in ("gru", "lstm")]
    opened = min(min(right(f"{cell}.open", 80)) for cell in ("gru", "lstm"))
    shown = f"{math.floor(min(right('rnn', fails)) + 0.5)} %"
    return [str(fails), shown, *map(str, reach), fixed(math.log10(0.73**80), 0), f"{opened:.0f} %"]


def exercises() -> list[str]:
    def rows(key: str, value: object) -> dict[str, float]:
        question = BY_KEY[key]
        return dict(question.evidence(question.settings.index(value), load_numpy).rows)  # type: ignore[arg-type]

    far, linear = rows("all_before", 20), rows("long_way", 40)
    beams = {row["width"]: row for row in writing.recorded()["beams"]}
    (own,) = (row for row in writing.recorded()["own_input"] if row["cell"] == "lstm")
    at = writing.STAGES.index(20) - 1
    return [
        *(str(size) for size in (len(SYMBOLS), network("rnn").vocabulary.size)),
        fixed(far["lstm"]),
        fixed(far["6gram"]),
        said(linear["linear.0.8"]),
        fixed(linear["linear.1.2"], 0),
        fixed(linear["tanh.1.2"], 0),
        str(rows("greedy", "timemachine-rnn")["period"]),
        percent(beams[16]["repeated"][0]),
        *(f"{100 * own[name][at][0]:.0f} %" for name in ("free", "by_accident")),
        BY_KEY["far"].evidence(0, load_numpy).answer,
    ]


FOUND: tuple[Callable[[], list[str]], ...] = (
    table_or_network,
    two_steps,
    one_product,
    labels_and_loss,
    four_probabilities,
    two_books,
    three_terms,
    clipping,
    powers_and_cuts,
    temperature,
    two_texts,
    one_word,
    by_heart,
    the_gap,
    exercises,
)


@cache
def answers() -> dict[int, list[str]]:
    """The key's numbers by task, in their order."""
    return {n: find() for n, find in enumerate(FOUND, start=1)}
