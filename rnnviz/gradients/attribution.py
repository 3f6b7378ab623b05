"""What each character adds to one prediction, beside the gradient: integrated gradients and occlusion.

    y            log P(x_{t+1} | x_1..x_t) of a character, or its difference from another's
    integrated   (e_s - e') · ∫_0^1 ∂y/∂e_s dα, with every embedding e_s at e' + α (e_s - e'). They add up to
                 y - y', where y' is that of a text of nothing but e' (completeness; Sundararajan, Taly & Yan
                 2017, arXiv:1703.01365)
    occlusion    y - y with e' in place of e_s alone, or with character s left out (Zeiler & Fergus 2014,
                 arXiv:1311.2901); these don't add up

e' is the mean embedding of all characters, a zero vector, or that of <unk>. The start symbol stays as it is.
A gradient is of no size where a network is saturated; these two see past that, each with another "without":
all of the text less and less, or one character alone. A text of mean embeddings is one that nobody writes.

Along that path an LSTM or RNN may be chaotic, though it is not on real text: gradients grow without bound,
and no number of points makes the sum come out. So the path is that of the last characters alone, as many as
add up: those before stay as they are.

Embeddings enter by W_x e + b alone, so the path is walked there. Shape letters: n characters that are asked
about, G blocks, H units, L layers, B texts side by side.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.errors import ConfigError, TextError
from rnnviz.gradients.linearisation import own_weights, place, states
from rnnviz.gradients.occlusion import scores, without_each
from rnnviz.networks import has_torch
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import run
from rnnviz.text.characters import normalise
from rnnviz.text.vocabulary import UNKNOWN

Method = Literal["integrated", "occlusion"]
Instead = Literal["average", "zero", "unknown", "out"]

LONGEST = 1_000
"""Characters that are asked about at a time."""

STEPS, MOST = 32, 256
"""Points of the path at first, doubled until the sum is near enough, and at most."""

SHORTEST = 10
"""Characters of the shortest path that is tried, then twice as many, and so on."""

NEAR = 0.01
"""What share of a difference a sum may be off."""

FLOOR = 1e-3
"""Nats by which a sum may be off however small the difference is that it should have."""

ROWS = 128
"""Texts that are read side by side."""

NUMBERS = 1 << 24
"""Numbers that a pass back keeps of one part of the network, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """What each of the t characters before one prediction adds to it.

    text      the t characters
    target    the symbol whose log P is looked at; `against`: the one it is compared with, or None
    first     the characters before it were left as they are, their values are 0
    values    (t,) nats, signed: positive where a character makes the target more probable. Read-only
    whole     y, nats
    without   y', nats, with the baseline in place of all; nan for occlusion
    method    "integrated" or "occlusion"; `instead`: what stood in a character's place
    steps     points of the path; 0 for occlusion
    beyond    the error of the next longer path that was tried and did not add up; nan if none was
    """

    text: str
    target: int
    against: int | None
    first: int
    values: Doubles
    whole: float
    without: float
    method: Method
    instead: Instead
    steps: int
    beyond: float = math.nan

    def __repr__(self) -> str:
        return f"<Attribution of {len(self):,} characters, {self.method}>"

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> float:
        """The sum of |values|, nats: far above |whole - without| where values of both signs cancel."""
        return float(np.abs(self.values).sum())

    @property
    def gap(self) -> float:
        """By how many nats the values fall short of `whole` - `without`; nan for occlusion."""
        return float(self.whole - self.without - self.values.sum())

    @property
    def adds_up(self) -> bool:
        """Whether the values do, to 1 % of |whole - without| or 0.001 nats; never for occlusion."""
        return abs(self.gap) <= max(NEAR * abs(self.whole - self.without), FLOOR)

    @property
    def error(self) -> float:
        """|gap| as a share of |whole - without|; nan for occlusion."""
        difference = abs(self.whole - self.without)
        return abs(self.gap) / difference if difference else (0.0 if self.gap == 0 else float("inf"))


def attribute(
    model: Network,
    text: str,
    *,
    at: int | None = None,
    target: str | None = None,
    against: str | None = None,
    method: Method = "integrated",
    instead: Instead = "average",
    last: int | None = None,
) -> Attribution:
    """What each of the last `last` characters before a prediction adds to it, at most 1,000.

    None: all of them, or for integrated gradients as many as add up to 1 %: of the last 10, 20, 40 … the most
    (`beyond` is the error of the next). With fewer than 10 or a `last` they may not: see `adds_up`. The
    prediction is that after `at` characters of `text`, None: all of it. `target` is the character whose log P
    is looked at, None: the one that came, after the last the most probable one; with `against`, log P of the
    one less that of the other. `instead` of a character stands the "average" embedding, a "zero" one, that of
    an "unknown" character, or, for occlusion, it is left "out".

    Integrated gradients need torch: 80 characters of a GRU with 256 units take a fifth of a second. Raises
    ConfigError for what isn't there, EmptyTextError, TextError for too many characters, CheckpointError if
    the states overflow, TorchMissingError.

    >>> import rnnviz
    >>> from rnnviz import gradients
    >>> found = gradients.attribute(rnnviz.load("timemachine-gru"), "The Time Trav", target="e")
    >>> found.values.shape, found.error < 0.01
    ((13,), True)
    """
    steps = attributing(
        model, text, at=at, target=target, against=against, method=method, instead=instead, last=last
    )
    return run(steps)


def attributing(
    model: Network,
    text: str,
    *,
    at: int | None = None,
    target: str | None = None,
    against: str | None = None,
    method: Method = "integrated",
    instead: Instead = "average",
    last: int | None = None,
) -> Generator[float, None, Attribution]:
    """`attribute` as a generator that yields the share done and returns the Attribution; closing cancels."""
    _check(method, instead, target, against)
    if method == "integrated":
        has_torch.require()
    asked = _ask(model, text, at, target, against, last)
    if method == "occlusion":
        values = yield from _occluded(asked, instead)
        return asked.answer(values, math.nan, method, instead, 0)
    baseline, t = _baseline(asked, instead), len(asked.text)
    if last is not None:
        return (yield from _integrated(asked, baseline, instead))
    best, reach = None, SHORTEST
    while True:
        shorter = replace(asked, first=max(asked.first, t - reach))
        found = yield from _integrated(shorter, baseline, instead)
        if best is not None and not found.adds_up:
            return replace(best, beyond=found.error)
        best = found
        if shorter.first == asked.first or not found.adds_up:
            return best
        reach *= 2


def _check(method: str, instead: str, target: str | None, against: str | None) -> None:
    if method not in get_args(Method):
        raise ConfigError("method is 'integrated' or 'occlusion'; received {method!r}", method=method)
    if instead not in get_args(Instead):
        raise ConfigError(
            "instead of a character stands 'average', 'zero' or 'unknown', or it is left 'out'; "
            "received {instead!r}",
            instead=instead,
        )
    if method == "integrated" and instead == "out":
        raise ConfigError(
            "there is no path to a text with a character left out: use 'average', 'zero' or 'unknown', or "
            "occlusion"
        )
    for name, one in (("target", target), ("against", against)):
        if one is not None and len(one) != 1:
            raise ConfigError(
                "{name} is one character, or None; received {received!r}", name=name, received=one
            )


@dataclass(frozen=True, eq=False)
class _Asked:
    """A prediction after t characters: `inputs` (t + 1,) with the start symbol, `hidden` (t + 2, L, H) the
    states before and after each.
    """

    weights: Weights
    text: str
    inputs: Ids
    hidden: Floats
    cell: Floats | None
    target: int
    against: int | None
    first: int
    whole: float

    def answer(
        self, values: Doubles, without: float, method: Method, instead: Instead, steps: int
    ) -> Attribution:
        values.setflags(write=False)
        return Attribution(
            self.text,
            self.target,
            self.against,
            self.first,
            values,
            self.whole,
            without,
            method,
            instead,
            steps,
        )

    def before(self, s: int) -> tuple[Floats, Floats | None]:
        """The states (L, H) before character s is read."""
        return self.hidden[s + 1], None if self.cell is None else self.cell[s + 1]


def _ask(
    model: Network, text: str, at: int | None, target: str | None, against: str | None, last: int | None
) -> _Asked:
    weights = own_weights(model)
    text = normalise(text, model.normaliser)
    t = place(text, at)
    if last is not None and last < 1:
        raise ConfigError("last is at least 1 character; received {last}", last=last)
    first = max(0, t - (LONGEST if last is None else last))
    if t - first > LONGEST:
        raise TextError(
            "received {count:,} characters, and the limit is {limit:,}: ask about fewer with `last`",
            count=t - first,
            limit=LONGEST,
        )
    ids = np.append(model.vocabulary.start, model.vocabulary.encode(text[: t + 1]))
    inputs = ids[: t + 1]
    hidden, cell = states(model, weights, inputs)
    came = int(ids[t + 1]) if t < len(text) else int(weights.log_probs(hidden[-1:, -1]).argmax())
    of = came if target is None else int(model.vocabulary.encode(target)[0])
    than = None if against is None else int(model.vocabulary.encode(against)[0])
    whole = float(scores(weights, hidden[-1:, -1], of, than)[0])
    return _Asked(weights, text[:t], inputs, hidden, cell, of, than, first, whole)


def _baseline(asked: _Asked, instead: Instead) -> Floats:
    """What the first layer adds up where the baseline is read, (G·H,)."""
    weights, layer = asked.weights, asked.weights.layers[0]
    if instead == "zero":
        return layer.b
    if instead == "unknown":
        unknown: Floats = weights.rows(0, np.array([UNKNOWN]), asked.hidden)[0]
        return unknown
    characters = np.arange(UNKNOWN + 1, len(weights.bias))  # neither <unk> nor the start symbol
    if layer.table is not None:
        return np.asarray(layer.table[characters].mean(axis=0, dtype=np.float64), np.float32)
    assert weights.embedding is not None
    mean = weights.embedding[characters].mean(axis=0, dtype=np.float64)
    found: Floats = layer.from_inputs(np.asarray(mean[None], np.float32))[0]
    return found


def _integrated(asked: _Asked, baseline: Floats, instead: Instead) -> Generator[float, None, Attribution]:
    """Gauss's points along the path, twice as many until the sum is near enough."""
    from rnnviz.gradients.unrolled import Unrolled

    unrolled = Unrolled(asked.weights, asked.target, asked.against)
    n, parts = len(asked.text) - asked.first, len(baseline)
    rows = asked.weights.rows(0, asked.inputs[asked.first + 1 :], asked.hidden)
    away = (rows - baseline).astype(np.float64)  # (n, G·H)
    state = asked.before(asked.first)
    without = float(unrolled.read(state, baseline, away, np.zeros(1))[0])
    most = int(np.clip(NUMBERS // (n * parts * len(asked.weights.layers)), 1, ROWS))
    points = STEPS
    while True:
        places, shares = np.polynomial.legendre.leggauss(points)
        slopes = np.zeros_like(away)
        for begin in range(0, points, most):
            here = slice(begin, begin + most)
            slopes += unrolled.slopes(state, baseline, away, (places[here] + 1) / 2, shares[here] / 2)
            yield n / max(1, len(asked.text))
        values = np.zeros(len(asked.text))
        values[asked.first :] = (slopes * away).sum(axis=1)
        found = asked.answer(values, without, "integrated", instead, points)
        if found.adds_up or points >= MOST:
            return found
        points *= 2


def _occluded(asked: _Asked, instead: Instead) -> Generator[float, None, Doubles]:
    """The values (t,): texts with another character each, from there on side by side."""
    t = len(asked.text)
    row = None if instead == "out" else _baseline(asked, instead)
    values = np.zeros(t)
    for begin in range(asked.first, t, ROWS):
        some = range(begin, min(begin + ROWS, t))
        before = [asked.before(s) for s in some]
        tops = without_each(asked.weights, asked.inputs[begin + 1 :], before, row)
        left = scores(asked.weights, tops, asked.target, asked.against)
        values[some.start : some.stop] = asked.whole - left
        yield (some.stop - asked.first) / (t - asked.first)
    return values
