"""A model that reads what it writes itself, and what goes wrong then.

Five measurements on the shipped models of *The Time Machine*, over many beginnings from its last tenth, which
they were not trained on. Each has a control that no model wrote: the book itself.

    greedy         always the most probable character: it goes round in circles
    temperatures   too cold repeats itself, too hot makes up words
    beams          a search for likelier texts finds likelier ones, and duller (Holtzman et al. 2020)
    own_input      free-running against reading the book (teacher forcing, Williams & Zipser 1989): how soon
                   it leaves the book, and what another model pays for its text as that gets longer
    contexts       how much of what came before is used at all (Khandelwal et al. 2018)

`recorded` returns the shipped measurements, made by `python -m rnnviz.lecture.writing`.
"""

import heapq
import itertools
import json
import math
import re
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.errors import ConfigError
from rnnviz.lecture.prediction import expected, nats
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import Model, Network, weights_of
from rnnviz.reading import sampling
from rnnviz.text.vocabulary import UNKNOWN

RECORDING = Path(__file__).with_name("writing.json")
WRITER, JUDGE, NETWORKS = "timemachine-lstm", "gru", ("rnn", "gru", "lstm")
PROMPTS, PROMPT = 20, 100
"""Beginnings, and characters of each."""

TEMPERATURES = (0.2, 0.5, 0.7, 1.0, 1.5)
WRITTEN = 400
WIDTHS = (1, 2, 4, 8, 16)
SEARCHED = 150
BEGINNINGS = 100
STAGES = (0, 1, 2, 5, 10, 20, 50, 100, 200)
"""Borders of the stages of a text that is read or written, in characters after its beginning."""

CONTEXTS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
PLACES = 600
REPEAT = 10
SHOWN = 120

Load = Callable[[str], Model]
"""A shipped model by its name."""


def repeated(text: str, n: int = REPEAT) -> float:
    """The share of a text's n-grams of characters that stood in it before.

    >>> repeated("abcabcab", n=3)
    0.5
    """
    grams = [text[i : i + n] for i in range(len(text) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else 0.0


def repeats(text: str) -> int:
    """The period of the repetition that ends `text`, at least three periods long; 0 if there is none.

    >>> repeats("well, abcabcabc")
    3
    """
    for period in range(1, len(text) // 3 + 1):
        if text[-2 * period :] == text[-3 * period : -period]:
            return period
    return 0


def words(text: str) -> list[str]:
    """The words of a text, in lower case: runs of letters, one apostrophe within allowed.

    >>> words("Don't go--it's the Time-Traveller")
    ["don't", 'go', "it's", 'the', 'time', 'traveller']
    """
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())


def made_up(text: str, known: frozenset[str]) -> float:
    """The share of a text's words that are not `known`; its first and last are left out, they may be cut.

    >>> made_up("he the tiem machine it", frozenset({"the", "machine"}))
    0.3333333333333333
    """
    inside = words(text)[1:-1]
    return sum(word not in known for word in inside) / len(inside) if inside else 0.0


def beam(model: Network, prompt: str, length: int, width: int) -> str:
    """The likeliest continuation of `length` characters that a search with `width` beams finds.

    At every character the `width` likeliest texts so far are kept (Graves 2012): 1 is greedy. A likelier
    one may have been dropped on the way. `<unk>` is no character. Raises ConfigError for a width below 1.

    >>> import rnnviz
    >>> beam(rnnviz.load("timemachine-gru"), "The Time Trav", 5, width=2)
    'eller'
    """
    if width < 1:
        raise ConfigError("a search keeps at least 1 text; received {width}", width=width)
    start = NetworkReader(weights_of(model))
    start.read(np.concatenate(([model.vocabulary.start], model.vocabulary.encode(prompt))))
    beams: list[tuple[float, list[int], NetworkReader]] = [(0.0, [], start)]
    for _ in range(length):
        found = []
        for at, (total, _, reader) in enumerate(beams):
            log_probs = reader.log_probs()
            log_probs[UNKNOWN] = -math.inf
            best = np.argsort(-log_probs, kind="stable")[:width]
            found += [(total + float(log_probs[symbol]), at, int(symbol)) for symbol in best]
        beams = [_longer(beams[at], total, symbol) for total, at, symbol in heapq.nlargest(width, found)]
    return "".join(model.vocabulary.symbol(symbol) for symbol in beams[0][1])


def _longer(
    one: tuple[float, list[int], NetworkReader], total: float, symbol: int
) -> tuple[float, list[int], NetworkReader]:
    _, ids, reader = one
    copy = NetworkReader(reader.weights, (reader.hidden[0], None if reader.cell is None else reader.cell[0]))
    copy.read(np.array([symbol]))
    return total, [*ids, symbol], copy


def beginnings(held_out: str, count: int = PROMPTS, length: int = PROMPT) -> list[tuple[str, str]]:
    """Evenly spaced beginnings of `length` characters, each with what follows it in the text."""
    space = (len(held_out) - length - WRITTEN) // count
    if space < 1:
        raise ConfigError(
            "{count} beginnings need more text than {length:,} characters", count=count, length=len(held_out)
        )
    starts = [i * space for i in range(count)]
    return [(held_out[s : s + length], held_out[s + length : s + length + WRITTEN]) for s in starts]


def greedy(load: Load, texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each of NETWORKS: how many of its texts end in a loop, the nats of a character after the first 100
    that it pays itself, and for the book there; what it writes after "The ", and that loop's period.
    """
    rows = []
    for cell in NETWORKS:
        model = load(f"timemachine-{cell}")
        written = [sampling.sample(model, prompt, WRITTEN, temperature=0) for prompt, _ in texts]
        own, book = (
            [float(nats(model, prompt + text)[len(prompt) + 100 :].mean()) for prompt, text in pairs]
            for pairs in ([(p, text) for (p, _), text in zip(texts, written, strict=True)], texts)
        )
        example = "The " + sampling.sample(model, "The ", WRITTEN, temperature=0)
        rows.append(
            {
                "cell": cell,
                "looped": sum(repeats(text) > 0 for text in written),
                "own": _spread(own),
                "book": _spread(book),
                "example": example[: SHOWN + 40],
                "period": repeats(example),
            }
        )
    return rows


def temperatures(load: Load, texts: Sequence[tuple[str, str]], known: frozenset[str]) -> list[dict[str, Any]]:
    """For each of TEMPERATURES: shares of repeated n-grams and made-up words in what the writer writes; and
    for the book, as None.
    """
    rows = []
    for temperature in (*TEMPERATURES, None):
        written = [
            real
            if temperature is None
            else sampling.sample(load(WRITER), prompt, WRITTEN, temperature=temperature, seed=i)
            for i, (prompt, real) in enumerate(texts)
        ]
        rows.append(
            {
                "temperature": temperature,
                "repeated": _spread([repeated(text) for text in written]),
                "made_up": _spread([made_up(text, known) for text in written]),
                "example": written[0][:SHOWN],
            }
        )
    return rows


def beams(load: Load, texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each of WIDTHS: the log probability of a character, in nats, and the share of repeated n-grams; and
    for text drawn at temperature 1 (0) and for the book (None).
    """
    rows = []
    first: list[float] = []
    writer = load(WRITER)
    assert not isinstance(writer, NgramModel)
    for width in (*WIDTHS, 0, None):
        written = [
            real[:SEARCHED]
            if width is None
            else beam(writer, prompt, SEARCHED, width)
            if width
            else sampling.sample(writer, prompt, SEARCHED, seed=i)
            for i, (prompt, real) in enumerate(texts)
        ]
        found = [
            -float(nats(writer, prompt + text)[len(prompt) :].mean())
            for (prompt, _), text in zip(texts, written, strict=True)
        ]
        first = first or found
        rows.append(
            {
                "width": width,
                "nats": _spread(found),
                "likelier": sum(a > b + 1e-9 for a, b in zip(found, first, strict=True)),
                "less_likely": sum(a < b - 1e-9 for a, b in zip(found, first, strict=True)),
                "repeated": _spread([repeated(text) for text in written]),
                "example": written[0][:SHOWN],
            }
        )
    return rows


def own_input(load: Load, held_out: str) -> list[dict[str, Any]]:
    """For each of NETWORKS and each of STAGES, after BEGINNINGS places of the text:

    forced       share of characters guessed right when the book's characters are read
    free         share of characters that are still the book's when its own guesses are read
    by_accident  share of the same characters that are the book's after another of these places
    own, book    nats of a character that another network, the judge, pays for what was written at
                 temperature 1, and for the book
    """
    texts = beginnings(held_out, BEGINNINGS, PROMPT)
    rows = []
    for cell in NETWORKS:
        model, judge = load(f"timemachine-{cell}"), JUDGE if cell != JUDGE else "lstm"
        found: dict[str, list[list[float]]] = {}
        for i, (prompt, book) in enumerate(texts):
            book = book[: STAGES[-1]]
            own = sampling.sample(model, prompt, len(book), seed=i)
            likeliest = sampling.sample(model, prompt, len(book), temperature=0)
            each = {
                "forced": _alike(guesses(model, prompt, book), book),
                "free": _alike(likeliest, book),
                "by_accident": _alike(likeliest, texts[i - 1][1][: len(book)]),
                "own": nats(load(f"timemachine-{judge}"), prompt + own)[len(prompt) :],
                "book": nats(load(f"timemachine-{judge}"), prompt + book)[len(prompt) :],
            }
            for name, values in each.items():
                found.setdefault(name, []).append(_stages(values))
        spread = {name: [_spread(stage) for stage in zip(*v, strict=True)] for name, v in found.items()}
        rows.append({"cell": cell, "judge": judge, **spread})
    return rows


def guesses(model: Model, prompt: str, text: str) -> str:
    """The likeliest character at every place of `text`, when `prompt` and what stands before it are read.

    >>> import rnnviz
    >>> guesses(rnnviz.load("timemachine-gru"), "The Time Tra", "vel")
    'vel'
    """
    rows = expected(model, prompt + text, first=len(prompt))[: len(text)]
    rows[:, UNKNOWN] = 0
    return "".join(model.vocabulary.symbol(int(symbol)) for symbol in rows.argmax(axis=1))


def _alike(one: str, other: str) -> npt.NDArray[np.float64]:
    return np.array([a == b for a, b in zip(one, other, strict=True)], np.float64)


def _stages(values: npt.NDArray[np.float64]) -> list[float]:
    return [float(values[a:b].mean()) for a, b in itertools.pairwise(STAGES)]


def contexts(load: Load, held_out: str) -> list[dict[str, Any]]:
    """For each of NETWORKS: mean nats at PLACES of the text when only the last k characters are read, k of
    CONTEXTS, and everything before, as None: at most 1,000 characters.
    """
    places = np.linspace(1000, len(held_out) - 1, PLACES).astype(int)
    rows = []
    for cell in NETWORKS:
        model = load(f"timemachine-{cell}")
        costs = {
            k: [float(nats(model, held_out[t - (k or 1000) : t + 1])[-1]) for t in places]
            for k in (*CONTEXTS, None)
        }
        full = costs[None]
        rows.append(
            {
                "cell": cell,
                "nats": [_spread(costs[k]) for k in (*CONTEXTS, None)],
                "lost": [_spread([a - b for a, b in zip(costs[k], full, strict=True)]) for k in CONTEXTS],
            }
        )
    return rows


def _spread(values: Sequence[float]) -> list[float]:
    """Mean and standard error."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return [float(f"{statistics.fmean(values):.4g}"), float(f"{error:.2g}")]


def record(text: str, held_out: str, load: Load) -> dict[str, Any]:
    """All five, with the beginnings from `held_out`; `text` is what the models were trained on."""
    texts = beginnings(held_out)
    return {
        "greedy": greedy(load, texts),
        "temperatures": temperatures(load, texts, frozenset(words(text))),
        "beams": beams(load, texts),
        "own_input": own_input(load, held_out),
        "contexts": contexts(load, held_out),
    }


@cache
def recorded() -> dict[str, Any]:
    """The measurements that ship with the package.

    >>> [row["width"] for row in recorded()["beams"]]
    [1, 2, 4, 8, 16, 0, None]
    """
    found: dict[str, Any] = json.loads(RECORDING.read_text("utf-8"))
    return found


if __name__ == "__main__":
    from rnnviz.networks import checkpoint
    from rnnviz.text import corpora

    split = corpora.read("timemachine").split()
    measured = record(split.train + split.validation, split.held_out, cache(checkpoint.load_numpy))
    RECORDING.write_text(json.dumps(measured, ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
