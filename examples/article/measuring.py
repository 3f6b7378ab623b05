"""What the article says in numbers: each function measures one thing and returns plain values.

The text is the last 10 % of *The Time Machine*, which no network was trained on: they read the first 90 %,
what chose among their recipes too. What comes just before it is there for context, and to choose a unit by.

Shape letters: n passages, K lags, H units.
"""

from __future__ import annotations

import io
import json
import math
import textwrap
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import rnnviz
from rnnviz import units
from rnnviz.reading.resampling import Resampled, resample

Doubles = npt.NDArray[np.float64]

CELLS = ("mlp", "rnn", "gru", "lstm", "mingru")
BOOK = rnnviz.corpora.read("timemachine").text
BEFORE, UNREAD = int(0.85 * len(BOOK)), int(0.9 * len(BOOK))  # where context and held-out text begin
PASSAGES = 20
LAGS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
PLACES = 32  # letters changed in each passage
CONTEXTS = (0, 1, 2, 4, 8, 16, 32, 64, 128)
EACH = 200  # predictions of a passage that are made again from a short context
COUNTER = units.Unit(2, 96)  # of timemachine-mingru: what `chosen` finds
WIDTHS = (40, 100)  # of a line, where the book has 70
CONTROLS = 20  # other units that are held as it is
WRITTEN = 4000  # characters that a network writes


@cache
def model(cell: str) -> Any:
    """A shipped network, or the n-gram model of the same text."""
    return rnnviz.load(f"timemachine-{cell}")


@cache
def untrained(cell: str) -> tuple[Any, ...]:
    """Three copies of it before training."""
    return tuple(units.untrained(model(cell)))


def passage(n: int) -> tuple[int, int]:
    """Where the n-th of the held-out text's passages begins and ends in the book."""
    ends = np.linspace(UNREAD, len(BOOK), PASSAGES + 1).astype(int)
    return int(ends[n]), int(ends[n + 1])


def rounded(value: Any) -> Any:
    """Numbers with four digits, in whatever holds them."""
    if isinstance(value, dict):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.4g}")
    return value


def of_passages(rows: Any, statistic: Any = None) -> Resampled:
    """A figure of rows (n, …), one a passage, with its interval over passages."""
    return resample(np.asarray(rows, np.float64), statistic, block=1)


# ---- How long one changed letter matters


def changed_letter(cell: str, *, trained: bool = True, only: Iterable[int] = range(PASSAGES)) -> Doubles:
    """(n, K) bits between the predictions with and without one changed letter, K of LAGS characters later."""
    network = model(cell) if trained else untrained(cell)[0]
    rows = []
    for n in only:
        text = BOOK[slice(*passage(n))]
        rows.append(units.memory(network, text, steps=LAGS[-1], places=PLACES, seed=n).bits[list(LAGS)])
    return np.array(rows)


def forgotten(rows: Doubles) -> float:
    """After how many characters the mean effect is a hundredth of what it is at once, between two of LAGS."""
    mean = rows.mean(axis=0) * 100 / rows.mean(axis=0)[0]
    k = int(np.argmax(mean < 1))
    part = np.log(mean[k - 1]) / np.log(mean[k - 1] / mean[k]) if mean[k] > 0 else 1.0
    return float(LAGS[k - 1] + part * (LAGS[k] - LAGS[k - 1]))


# ---- How much context a prediction uses


def short_contexts(cell: str, context: int, *, only: Iterable[int] = range(PASSAGES)) -> Doubles:
    """(n,) nats a character, each predicted by a network that begins `context` characters before it."""
    rows = []
    for n in only:
        begin, end = passage(n)
        for at in np.linspace(begin, end, EACH, endpoint=False).astype(int).tolist():
            rows.append(json.dumps({"text": BOOK[at], "given": BOOK[at - context : at]}))
    file = rnnviz.open_rows(io.BytesIO("\n".join(rows).encode()), name="rows.jsonl", given="given")
    found: list[float] = []
    read = model(cell)
    units.run(rnnviz.score_rows(read, file, each=lambda b: found.extend(one.nll for one in b.scores)))
    return np.array(found).reshape(-1, EACH).mean(axis=1)


def whole_context(cell: str) -> Doubles:
    """(n,) the same predictions after all that comes before them from BEFORE on."""
    nll = rnnviz.trace(model(cell), BOOK[BEFORE:]).nll.astype(np.float64)
    rows = []
    for n in range(PASSAGES):
        at = np.linspace(*passage(n), EACH, endpoint=False).astype(int) - BEFORE
        rows.append(nll[at].mean())
    return np.array(rows)


# ---- What units tell


def told(cell: str, kind: str, *, weighed: bool = True) -> dict[str, Any]:
    """The best unit for a target, and a linear probe on all of them, each beside what is simpler."""
    text = BOOK[UNREAD:]
    target = units.target(kind, text)
    read = rnnviz.trace(model(cell), text)
    if not weighed:
        found = units.search(read, target)
        return {"unit": [*found.best.unit], "score": found.best.score, "chance": found.chance}
    copies = [rnnviz.trace(copy, text) for copy in untrained(cell)]
    found = units.search(read, target, untrained=copies)
    probed = units.probe(read, target, untrained=copies)
    rivals = found.evidence.rivals if found.evidence else ()
    return {
        "unit": [*found.best.unit],
        "score": found.best.score,
        "chance": found.chance,
        "interval": found.evidence and found.evidence.interval,
        "context": max((one.score for one in rivals if one.kind == "context"), default=None),
        "untrained": max((one.score for one in rivals if one.kind == "untrained"), default=None),
        "least lead": min((one.low for one in rivals if one.low is not None), default=None),
        "probe": probed.score,
        "probe interval": probed.interval,
        "probe untrained": max(probed.untrained),
        "probe shuffled": max(probed.control),
        "probe context": probed.context and probed.context.score,
        "probe lead": probed.context and probed.context.low,
    }


def chosen() -> dict[str, Any]:
    """The minGRU's best unit for the place in the line, on as long a text just before the held-out."""
    text = BOOK[2 * UNREAD - len(BOOK) : UNREAD]
    found = units.search(rnnviz.trace(model("mingru"), text), units.target("line-position", text))
    return {"unit": [*found.best.unit], "score": found.best.score, "characters": len(text)}


# ---- One unit that counts


def wrapped(text: str, width: int) -> str:
    """The same words in lines of at most `width` characters."""
    paragraphs = (" ".join(one.split()) for one in text.split("\n\n"))
    return "\n\n".join(textwrap.fill(one, width) for one in paragraphs)


def counter(text: str) -> dict[str, Any]:
    """How the unit's value goes with the place in the line, beside the best unit of an untrained copy."""
    place = units.target("line-position", text).values
    value = rnnviz.trace(model("mingru"), text).hidden[:, COUNTER.layer, COUNTER.unit].astype(np.float64)
    other = units.activations(rnnviz.trace(untrained("mingru")[0], text)).astype(np.float64)
    other = other[:, other.std(axis=0) > 1e-9]
    best = np.abs(np.corrcoef(other.T, place)[-1, :-1]).max()
    rows = np.column_stack([value, place])
    found = resample(rows, lambda table: np.corrcoef(table.T)[0, 1], block=len(text) // PASSAGES - 1)
    ends = [t for t in range(1, len(text)) if text[t] == "\n" != text[t - 1]]
    return {
        "set": float(np.mean([value[t] > value[t - 1] + 1 for t in ends])),
        "correlation": found.estimate,
        "interval": [found.low, found.high],
        "untrained": best,
        "value": value[:400],
        "text": text[:400],
    }


@cache
def _lines_read() -> tuple[str, Any, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The held-out text, its trace, and where a line has ended, and where a space in its middle was."""
    text = BOOK[UNREAD:]
    characters, place = np.array(list(text)), units.target("line-position", text).values
    ends = 1 + np.flatnonzero((characters[1:] == "\n") & (place[:-1] >= 55))
    spaces = np.flatnonzero((characters == " ") & (place >= 10) & (place < 40))
    return text, rnnviz.trace(model("mingru"), text), ends, spaces


def line_end(held: units.Intervention | None = None) -> list[float]:
    """The mean probability of a line's end where one came, and where a space in a line's middle did."""
    text, read, ends, spaces = _lines_read()
    if held is not None:
        read = units.intervene(model("mingru"), text, held)
    column = read.vocabulary.encode("\n")[0]
    return [float(np.exp(read.log_probs[at, column]).mean()) for at in (ends, spaces)]


def held(unit: units.Unit) -> units.Intervention:
    """The unit held at the mean value that it has where a line begins."""
    _text, read, ends, _spaces = _lines_read()
    return units.Intervention(unit, "clamp", float(read.hidden[ends, unit.layer, unit.unit].mean()))


def others() -> list[units.Unit]:
    """Units of the same layer, drawn at random."""
    drawn = np.random.default_rng(0).choice(240, CONTROLS + 1, replace=False).tolist()
    return [units.Unit(COUNTER.layer, n) for n in drawn if n != COUNTER.unit][:CONTROLS]


def written(change: units.Intervention | None) -> float:
    """Lines' ends among 1,000 characters that the network writes, of WRITTEN."""
    prompt = BOOK[UNREAD - 500 : UNREAD]
    changes = () if change is None else change
    said = units.continuation(model("mingru"), prompt, WRITTEN, changes, temperature=0.8, seed=0)
    return 1000 * said.count("\n") / WRITTEN


# ---- What the gates keep


def kept(cell: str, layer: int, *, trained: bool = True, only: Iterable[int] = range(PASSAGES)) -> Doubles:
    """(n, H) the mean of the gate that keeps a unit's value, in each passage."""
    network = model(cell) if trained else untrained(cell)[0]
    gate = {"gru": "update", "lstm": "forget", "mingru": "update"}[cell]
    rows = []
    for n in only:
        begin, end = passage(n)
        read = rnnviz.trace(network, BOOK[begin - 100 : end])
        rows.append(units.activations(read, layer=layer, quantity=gate)[100:].mean(axis=0))
    return np.array(rows, np.float64)


def lifetimes(rows: Doubles) -> Doubles:
    """(H,) characters until a unit's own gate has left 1/e of what it holds: -1 / ln of the gate's mean."""
    return np.asarray(-1 / np.log(rows.mean(axis=0)))
