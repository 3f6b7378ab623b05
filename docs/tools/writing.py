"""A model that reads what it writes itself, and what goes wrong then: makes `rnnviz/lecture/writing.json`,
for steps of scene 8.

    python docs/tools/writing.py [FILE]

Measured on the shipped models of *The Time Machine*, over many beginnings from its last tenth, which they
were not trained on. Each measurement has a control that no model wrote: the book itself.

    greedy         always the most probable character: it goes round in circles
    temperatures   too cold repeats itself, too hot makes up words
    beams          a search for likelier texts finds likelier ones, and duller (Holtzman et al. 2020)
    own_input      free-running against reading the book (teacher forcing, Williams & Zipser 1989): how soon
                   it leaves the book, and what another model pays for its text as that gets longer
    contexts       how much of what came before is used at all (Khandelwal et al. 2018)
    windows        the same of the shipped minGRU and LSTM of Shakespeare, whose last tenth neither has read

Costs are nats a character; a pair of numbers is a mean and its standard error. Some four minutes on one
core. Shakespeare's text is fetched unless it is there: `rnnviz.corpora.fetch("tinyshakespeare")`.
"""

import heapq
import itertools
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import rnnviz
from rnnviz.arrays import Doubles, Integers
from rnnviz.networks import checkpoint
from rnnviz.networks.numpy_engine import NetworkReader
from rnnviz.networks.numpy_model import NumpyModel, weights_of
from rnnviz.text.vocabulary import UNKNOWN_ID

RECORDING = Path(__file__).parents[2] / "rnnviz" / "lecture" / "writing.json"
WRITER, JUDGE, NETWORKS = "timemachine-lstm", "gru", ("rnn", "gru", "lstm")
PROMPT, WRITTEN, SHOWN = 100, 400, 120
"""Characters of a beginning, of what is written after it, and of an example in the file."""

TEMPERATURES = (0.2, 0.5, 0.7, 1.0, 1.5)
WIDTHS, SEARCHED = (1, 2, 4, 8, 16), 150
STAGES = (0, 1, 2, 5, 10, 20, 50, 100, 200)
"""Borders of the stages of a text that is read or written, in characters after its beginning."""

CONTEXTS, ALL = (1, 2, 3, 5, 10, 20, 50, 100, 200), 1000
WINDOWS = (16, 64, 256, 1024)
REPEAT = 10

Pair = list[float]
"""A mean and its standard error."""

load: Callable[[str], Any] = cache(checkpoint.load_numpy)
"""A shipped network by its name."""


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
    periods = range(1, len(text) // 3 + 1)
    return next((n for n in periods if text[-2 * n :] == text[-3 * n : -n]), 0)


def words(text: str) -> list[str]:
    """The words of a text, in lower case: runs of letters, one apostrophe within allowed.

    >>> words("Don't go--it's the Time-Traveller")
    ["don't", 'go', "it's", 'the', 'time', 'traveller']
    """
    return re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower())


def made_up(text: str, vocabulary: frozenset[str]) -> float:
    """The share of a text's words that are not `known`; its first and last are left out, they may be cut.

    >>> made_up("he the tiem machine it", frozenset({"the", "machine"}))
    0.3333333333333333
    """
    inside = words(text)[1:-1]
    return sum(word not in vocabulary for word in inside) / len(inside) if inside else 0.0


def beam(model: NumpyModel, prompt: str, length: int, width: int) -> str:
    """The likeliest continuation of `length` characters that a search with `width` beams finds.

    At every character the `width` likeliest texts so far are kept (Graves 2012): 1 is greedy. A likelier one
    may have been dropped on the way. `<unk>` is no character.
    """
    start = NetworkReader(weights_of(model))
    start.read(np.concatenate(([model.vocabulary.start], model.vocabulary.encode(prompt))))
    beams: list[tuple[float, list[int], NetworkReader]] = [(0.0, [], start)]
    for _ in range(length):
        finished = []
        for at, (total, _, reader) in enumerate(beams):
            log_probs = reader.log_probs()
            log_probs[UNKNOWN_ID] = -math.inf
            best = np.argsort(-log_probs, kind="stable")[:width]
            finished += [(total + float(log_probs[symbol]), at, int(symbol)) for symbol in best]
        beams = [_longer(beams[at], total, symbol) for total, at, symbol in heapq.nlargest(width, finished)]
    return "".join(map(model.vocabulary.symbol, beams[0][1]))


def _longer(
    path: tuple[float, list[int], NetworkReader], total: float, symbol: int
) -> tuple[float, list[int], NetworkReader]:
    _, ids, reader = path
    copy = NetworkReader(reader.weights, (reader.hidden[0], None if reader.cell is None else reader.cell[0]))
    copy.read(np.array([symbol]))
    return total, [*ids, symbol], copy


def costs(model: NumpyModel, prompt: str, text: str) -> Doubles:
    """Nats of each character of `text` after `prompt`, (T,)."""
    return rnnviz.trace(model, prompt + text).nll[len(prompt) :]


def beginnings(held_out: str, count: int) -> list[tuple[str, str]]:
    """Evenly spaced beginnings, each with what follows it in the text."""
    space = (len(held_out) - PROMPT - WRITTEN) // count
    starts = [i * space + PROMPT for i in range(count)]
    return [(held_out[s - PROMPT : s], held_out[s : s + WRITTEN]) for s in starts]


def greedy(texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each of NETWORKS: how many of its texts end in a loop, the nats of a character after the first 100
    that it pays itself, and for the book there; what it writes after "The ", and that loop's period.
    """
    rows = []
    for cell in NETWORKS:
        model = load(f"timemachine-{cell}")
        written = [rnnviz.sample(model, prompt, WRITTEN, temperature=0) for prompt, _ in texts]
        costs_of_output = [
            costs(model, p, text)[100:].mean() for (p, _), text in zip(texts, written, strict=True)
        ]
        example = "The " + rnnviz.sample(model, "The ", WRITTEN, temperature=0)
        rows.append(
            {
                "cell": cell,
                "looped": sum(repeats(text) > 0 for text in written),
                "own": _spread(costs_of_output),
                "book": _spread([costs(model, *pair)[100:].mean() for pair in texts]),
                "example": example[: SHOWN + 40],
                "period": repeats(example),
            }
        )
    return rows


def temperatures(texts: Sequence[tuple[str, str]], vocabulary: frozenset[str]) -> list[dict[str, Any]]:
    """For each of TEMPERATURES: shares of repeated n-grams and of words not `known` in what the writer
    writes; and for the book, as None.
    """
    rows = []
    for temperature in (*TEMPERATURES, None):
        written = [
            book
            if temperature is None
            else rnnviz.sample(load(WRITER), prompt, WRITTEN, temperature=temperature, seed=i)
            for i, (prompt, book) in enumerate(texts)
        ]
        rows.append(
            {
                "temperature": temperature,
                "repeated": _spread([repeated(text) for text in written]),
                "made_up": _spread([made_up(text, vocabulary) for text in written]),
                "example": written[0][:SHOWN],
            }
        )
    return rows


def beams(texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each of WIDTHS: log P of a character, in nats, how many texts are likelier than the greedy ones and
    how many less likely, and the share of repeated n-grams; for text drawn at temperature 1 (0) and for the
    book (None), too.
    """
    rows: list[dict[str, Any]] = []
    first: list[float] = []
    model = load(WRITER)
    for width in (*WIDTHS, 0, None):
        written = [
            book[:SEARCHED]
            if width is None
            else beam(model, prompt, SEARCHED, width)
            if width
            else rnnviz.sample(model, prompt, SEARCHED, seed=i)
            for i, (prompt, book) in enumerate(texts)
        ]
        measurements = [
            -float(costs(model, prompt, text).mean())
            for (prompt, _), text in zip(texts, written, strict=True)
        ]
        first = first or measurements
        rows.append(
            {
                "width": width,
                "nats": _spread(measurements),
                "likelier": sum(a > b + 1e-9 for a, b in zip(measurements, first, strict=True)),
                "less_likely": sum(a < b - 1e-9 for a, b in zip(measurements, first, strict=True)),
                "repeated": _spread([repeated(text) for text in written]),
                "example": written[0][:SHOWN],
            }
        )
    return rows


def own_input(texts: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """For each of NETWORKS and each of STAGES:

    forced       share of characters guessed right when the book's characters are read
    free         share of characters that are still the book's when its own guesses are read
    by_accident  share of the same characters that are the book's after another of these places
    own, book    nats of a character that another network, the judge, pays for what was written at
                 temperature 1, and for the book
    """
    rows = []
    for cell in NETWORKS:
        judge = JUDGE if cell != JUDGE else "lstm"
        model, other = load(f"timemachine-{cell}"), load(f"timemachine-{judge}")
        measurements: dict[str, list[list[float]]] = {}
        for i, (prompt, book) in enumerate(texts):
            book = book[: STAGES[-1]]
            likeliest = rnnviz.sample(model, prompt, len(book), temperature=0)
            starts = {
                "forced": _alike(guesses(model, prompt, book), book),
                "free": _alike(likeliest, book),
                "by_accident": _alike(likeliest, texts[i - 1][1][: len(book)]),
                "own": costs(other, prompt, rnnviz.sample(model, prompt, len(book), seed=i)),
                "book": costs(other, prompt, book),
            }
            for name, values in starts.items():
                stages = [float(values[a:b].mean()) for a, b in itertools.pairwise(STAGES)]
                measurements.setdefault(name, []).append(stages)
        spread = {
            name: [_spread(stage) for stage in zip(*v, strict=True)] for name, v in measurements.items()
        }
        rows.append({"cell": cell, "judge": judge, **spread})
    return rows


def guesses(model: NumpyModel, prompt: str, text: str) -> str:
    """The likeliest character at every place of `text`, when `prompt` and what stands before it are read."""
    rows = rnnviz.trace(model, prompt + text).log_probs[len(prompt) : -1].copy()
    rows[:, UNKNOWN_ID] = -math.inf
    return "".join(model.vocabulary.symbol(int(symbol)) for symbol in rows.argmax(axis=1))


def _alike(first: str, second: str) -> Doubles:
    return np.array([a == b for a, b in zip(first, second, strict=True)], np.float64)


def contexts(held_out: str, count: int) -> list[dict[str, Any]]:
    """For each of NETWORKS: mean nats at `count` places of the text when only the last k characters are read,
    k of CONTEXTS, and last ALL of them; and how many more than then.
    """
    places = np.linspace(ALL, len(held_out) - 1, count).astype(int)
    rows = []
    for cell in NETWORKS:
        model = load(f"timemachine-{cell}")
        *by_length, longest_context = (cut(model, held_out, places, k) for k in (*CONTEXTS, ALL))
        rows.append(
            {
                "cell": cell,
                "nats": [_spread(nats) for nats in (*by_length, longest_context)],
                "lost": [_spread(nats - longest_context) for nats in by_length],
            }
        )
    return rows


def windows(held_out: str, count: int) -> dict[str, Any]:
    """For the shipped minGRU and LSTM of Shakespeare: how many nats more than after the whole text before a
    character costs at `count` places when only the last k are read, k of WINDOWS.
    """
    places = np.linspace(4 * WINDOWS[-1], len(held_out) - 1, count).astype(int)
    rows: dict[str, Any] = {"read": WINDOWS, "places": count}
    for cell in ("mingru", "lstm"):
        model = load(f"shakespeare-{cell}")
        whole = costs(model, "", held_out)[places]
        spreads = (_spread(cut(model, held_out, places, k) - whole) for k in WINDOWS)
        rows[cell] = [
            [round(number, 4) + 0.0 for number in pair] for pair in spreads
        ]  # the rest is noise; no -0.0
    return rows


def cut(model: NumpyModel, text: str, places: Integers, k: int, rows_at_once: int = 400) -> Doubles:
    """Nats of the characters at `places` of `text` when only the k before each are read; `most` of them at
    once.
    """
    ids, nats = model.vocabulary.encode(text), []
    for at in np.array_split(places, -(-len(places) // rows_at_once)):
        reader = NetworkReader(weights_of(model), texts=len(at))
        reader.read(np.array([model.vocabulary.start]))
        reader.read(np.stack([ids[at + n] for n in range(-k, 0)]))
        log_probs = reader.weights.log_probs(reader.hidden[0, -1])
        nats.append(-log_probs[np.arange(len(at)), ids[at]].astype(np.float64))
    return np.concatenate(nats)


def _spread(values: Sequence[float] | Doubles) -> Pair:
    numbers = list(map(float, values))
    error = statistics.stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0
    return [float(f"{statistics.fmean(numbers):.4g}"), float(f"{error:.2g}")]


def record(
    *, prompts: int = 20, beginning: int = 100, places: int = 600, shakespeare: str | None = None
) -> dict[str, Any]:
    """All of them. `prompts` beginnings are written after, `beginning` ones for `own_input`; `shakespeare` is
    text that the models of Shakespeare have not read; None: the corpus's last tenth.
    """
    if shakespeare is None:
        shakespeare = rnnviz.corpora.open_corpus("tinyshakespeare").split().held_out
    split = rnnviz.corpora.open_corpus("timemachine").split()
    texts = beginnings(split.held_out, prompts)
    return {
        "greedy": greedy(texts),
        "temperatures": temperatures(texts, frozenset(words(split.train + split.validation))),
        "beams": beams(texts),
        "own_input": own_input(beginnings(split.held_out, beginning)),
        "contexts": contexts(split.held_out, places),
        "windows": windows(shakespeare, places),
    }


if __name__ == "__main__":
    rnnviz.corpora.fetch("tinyshakespeare")
    path = Path(sys.argv[1]) if sys.argv[1:] else RECORDING
    found = json.dumps(record(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    path.write_text(found + "\n", "utf-8")
