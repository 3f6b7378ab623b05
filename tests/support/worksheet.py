"""The answers to the worksheet's tasks, computed: the numbers of its key, in their order."""

import math
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from rnnviz.lecture import scene_7_backwards
from rnnviz.lecture.machine import NAMES, SYMBOLS, Machine, draw_weights
from rnnviz.lecture.prediction import trace
from rnnviz.lecture.readers import load, recorded
from rnnviz.lecture.scene_5_word import descended
from rnnviz.lecture.small_rnn import unroll
from tests.support.lecture import run_code


def expected(name: str, text: str) -> npt.NDArray[np.float64]:
    """P (V,) of what comes after a text, by a model of *The Time Machine*."""
    model = load(f"timemachine-{name}")
    return np.exp(np.asarray(trace(model, text).log_probs[-1], np.float64))


def vector(values: npt.ArrayLike, digits: int = 2) -> str:
    return f"({', '.join(fixed(v, digits) for v in np.ravel(values))})"


def fixed(value: float, digits: int = 2) -> str:
    return f"{round(float(value), digits) + 0.0:,.{digits}f}".replace("-", "−")


def shape(*sizes: int) -> str:
    return f"({', '.join(map(str, sizes))})"


def table_or_network() -> list[str]:
    size, V = sum(getattr(Machine().net, name).size for name in NAMES), len(SYMBOLS)
    n = next(n for n in range(1, 9) if V ** (n) > size)
    entries, filled = 69 ** (5), 180_000 - 5 + 1
    return [
        *(f"{number:,}" for number in (size, n, V ** (n), V ** (n - 1), size, entries, filled)),
        f"{100 * filled / entries:.3f} %",
    ]


def two_steps() -> list[str]:
    net, forward, alone = Machine().net, Machine().forward, Machine(text="achine").forward
    from_state = forward.state[0] @ net.W_hh
    pre = forward.x[:2] @ net.W_xh + net.b_h
    without_tanh = pre[1] + pre[0] @ net.W_hh
    return [
        vector(forward.x[0] @ net.W_xh + net.b_h),
        *map(vector, (forward.state[0], from_state, forward.state[1], alone.state[0], without_tanh)),
    ]


def one_product() -> list[str]:
    net, forward = Machine().net, Machine().forward
    row = np.concatenate([forward.x[1], forward.before[1]])
    weights = np.concatenate([net.W_xh, net.W_hh])
    several = shape(3, len(row)), shape(*weights.shape), shape(3, weights.shape[1])
    return [
        vector(forward.state[0])[1:-1],
        shape(1, len(row)),
        shape(*weights.shape),
        fixed(row @ weights[:, 0]),
        *several,
    ]


def labels_and_loss() -> list[str]:
    forward = Machine().forward
    loss = forward.losses[2]
    return [
        Machine().labels,
        fixed(math.exp(-loss)),
        fixed(loss),
        "m" + "".join(run_code("labels", itself=1)["output_text"]),
    ]


def perplexity(p: list[float]) -> float:
    """exp of the mean of −log P."""
    return math.exp(-sum(map(math.log, p)) / len(p)) if all(p) else math.inf


def four_probabilities() -> list[str]:
    p = [1 / 2, 1 / 4, 1 / 8, 1 / 4]
    nats = [-math.log(value) for value in p]
    mean, V = sum(nats) / 4, len(SYMBOLS)
    bits = [f"{value / math.log(2):.0f}" for value in (*nats, mean)]
    return [
        *bits,
        fixed(mean),
        f"{perplexity(p):g}",
        f"{sum(1 / value for value in p) / 4:g}",
        fixed(4 / sum(p)),
        f"{perplexity([1 / V] * 4):g}",
        fixed(math.log2(V)),
        "∞" if math.isinf(perplexity([*p[:3], 0.0])) else "",
    ]


BOOKS = 3_000_000, 100_000
"""Characters of *War and Peace* and of *The Little Prince*, about."""


def two_books() -> list[str]:
    (war, prince), read = BOOKS, (3, 12)
    logs = [-n * math.log10(p) for n, p in zip((war, prince), read, strict=True)]
    alike = read[1] ** (prince / war)
    return [*(fixed(log, 0) for log in logs), fixed(alike, 3)]


def three_terms() -> list[str]:
    terms = Machine(steps=3).pairs().sum(axis=0)[:, 3, 2]
    return [*map(fixed, terms), fixed(terms.sum())]


def norm(word: Machine) -> float:
    return math.hypot(*(np.linalg.norm(value) for value in word.gradients().values()))


def clipping() -> list[str]:
    g, mac = np.array([3.0, 4.0]), Machine(steps=3)
    return [
        f"{np.linalg.norm(g):g}",
        vector(min(1, 1 / np.linalg.norm(g)) * g, 1),
        vector(min(1, 10 / np.linalg.norm(g)) * g, 0),
        fixed(1 / norm(mac)),
        str(sum(getattr(Machine().net, name).size for name in NAMES)),
    ]


def powers_and_cuts() -> list[str]:
    small, large = (next(k for k in range(99) if reached(k)) for reached in
                    (lambda k: 0.9**k < 0.01, lambda k: 1.1**k > 100))  # fmt: skip
    uncut, every = Machine().uncut_pairs(2).sum(), Machine().uncut_pairs().sum()
    norms = sum(array.shape[1] for array in Machine().cached().values())
    return [*map(str, (small, large, uncut, every, 6 * norms, 2 * norms))]


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share > 0.0995 else f"{100 * share:.1f} %"


def temperature() -> list[str]:
    p = np.array([0.5, 0.3, 0.2])
    shapes = [vector(p ** (1 / t) / (p ** (1 / t)).sum()) for t in (0.5, 2)]
    *rows, book = recorded("writing")["temperatures"]
    shares = {row["temperature"]: (row["repeated"][0], row["made_up"][0]) for row in rows}
    own_answers = book["repeated"][0], book["made_up"][0]
    near = {min(shares, key=lambda t: abs(shares[t][n] - own_answers[n])) for n in (0, 1)}
    assert near == {0.7}
    return [
        *shapes,
        *map(percent, (shares[0.2][0], own_answers[0], shares[1.5][1], own_answers[1])),
        "0.7",
        *map(percent, shares[0.7]),
    ]


TEXTS = "and where", "in the atmosphere"


def two_texts() -> list[str]:
    apart = {}
    for cell in ("rnn", "mlp"):
        value, other = (expected(cell, text) for text in TEXTS)
        apart[cell] = np.abs(value - other).max()
        if cell == "rnn":
            symbol = load("timemachine-rnn").vocabulary.symbol
            assert [symbol(int(p.argmax())) for p in (value, other)] == [" ", "d"]
    assert TEXTS[0][-4:] == TEXTS[1][-4:]
    assert apart["rnn"] > 0.5
    return [fixed(apart[cell]) for cell in ("rnn", "mlp")]


def one_word() -> list[str]:
    word = Machine()
    ids = [*word.ids, word.targets[-1]]
    net, perplexities, wrote = draw_weights(2, len(SYMBOLS)), [], []
    for _step in range(101):
        forward = unroll(net, ids[:-1], ids[1:])
        perplexities.append(forward.perplexity)
        state, x, written = np.zeros(4), ids[0], "m"
        while len(written) < len("machine"):
            state = np.tanh(net.W_xh[x] + state @ net.W_hh + net.b_h)
            x = int(np.argmax(state @ net.W_hq + net.b_q))
            written += SYMBOLS[x]
        wrote.append(written)
        net = descended(net, forward)
    first = wrote.index("machine")
    return [wrote[0], str(first), *(fixed(perplexities[n]) for n in (0, first, 100))]


def by_heart() -> list[str]:
    run = recorded("memorising")
    train, held_out = run["train"], run["held_out"]
    best = min(range(len(held_out)), key=held_out.__getitem__)
    worse = max(n for n, held_out_cost in enumerate(held_out) if held_out_cost <= run["uniform"]) + 1
    passes = [f"{run['passes'][n]:.0f}" for n in (best, worse)]
    end = fixed(train[-1]), fixed(held_out[-1], 0)
    return [passes[0], fixed(held_out[best]), passes[1], f"{run['uniform']:g}", *end]


def the_gap() -> list[str]:
    def right(cell: str, gap: int) -> list[float]:
        (run,) = (
            value
            for value in recorded("long_gap")["runs"]
            if (value["cell"], value["gap"], value["clipped"]) == (cell, gap, True)
        )
        return [100 * accuracy[-1] for accuracy in run["accuracy"]]

    gaps = scene_7_backwards.GAPS
    fails = next(k for k in gaps if min(right("rnn", k)) < 90)
    assert sum(value < 90 for value in right("rnn", fails)) == 1
    reach = [max(k for k in gaps if min(right(cell, k)) > 99) for cell in ("gru", "lstm")]
    opened = min(min(right(f"{cell}.open", 80)) for cell in ("gru", "lstm"))
    percents = f"{min(right('rnn', fails)):g} %"
    return [str(fails), percents, *map(str, reach), fixed(math.log10(0.73**80), 0), f"{opened:.0f} %"]


def exercises() -> list[str]:
    text = "It is a remarkable discover"
    changed = text[:-20] + "x" + text[-19:]
    moved = np.abs(expected("lstm", text) - expected("lstm", changed)).sum() / 2
    multiplied = r"by ([\d.,]*\d(?: × 10\S+)?)"
    answers = {rho: re.findall(multiplied, scene_7_backwards.dial(rho, 40, 1)[1]) for rho in (0.8, 1.2)}
    generator = np.random.default_rng(1)
    W = generator.standard_normal((6, 6))
    W *= 1.2 / abs(np.linalg.eigvals(W)).max()
    generator.standard_normal((40, 6))
    g = generator.standard_normal(6)
    linear = np.linalg.norm(g @ np.linalg.matrix_power(W.T, 40)) / np.linalg.norm(g)
    writing = recorded("writing")
    beams = {row["width"]: row for row in writing["beams"]}
    (own_answers,) = (row for row in writing["own_input"] if row["cell"] == "lstm")
    (distance,) = (row for row in writing["contexts"] if row["cell"] == "lstm")
    reach = next(k for k, (nats, _e) in zip((1, 2, 3, 5, 10), distance["lost"], strict=False) if nats < 0.02)
    second_ten = (1, 2, 5, 10, 20).index(20)
    return [
        *(str(size) for size in (len(SYMBOLS), load("timemachine-rnn").vocabulary.size)),
        fixed(moved),
        answers[0.8][0],
        fixed(linear, 0),
        answers[1.2][2],
        str(writing["greedy"][0]["period"]),
        percent(beams[16]["repeated"][0]),
        percent(beams[0]["repeated"][0]),
        *(f"{100 * own_answers[name][second_ten][0]:.0f} %" for name in ("free", "by_accident")),
        str(reach),
    ]


TASK_ANSWERS: tuple[Callable[[], list[str]], ...] = (
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
    return {n: find() for n, find in enumerate(TASK_ANSWERS, start=1)}
