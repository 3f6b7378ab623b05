"""Attribution to each character of one prediction, by integrated gradients or occlusion, beside the gradient.

    y            log P(x_{t+1} | x_1..x_t) of a character, or its difference from another's
    integrated   (e_s - e') · ∫_0^1 ∂y/∂e_s dα, with every embedding e_s at e' + α (e_s - e'). They add up to
                 y - y', where y' is the y of a text of e' alone (completeness; Sundararajan, Taly & Yan 2017,
                 arXiv:1703.01365)
    occlusion    y less the y with e' in place of e_s alone, or with character s left out (Zeiler & Fergus
                 2014, arXiv:1311.2901); these don't add up

e' is the mean embedding of all characters, a zero vector, or the embedding of <unk>. The start symbol stays
as it is. The gradient vanishes where a network is saturated; both methods still show an effect there.
Integrated gradients fade out the whole text, occlusion one character. Nobody writes a text of mean
embeddings.

Along the path an LSTM or RNN may be chaotic, though it is not on real text: gradients grow without bound, and
no number of points makes the sum come out. So the path covers only the last characters, as many as add up;
the characters before stay as they are.

Embeddings enter by W_x e + b alone, so the path runs through these sums. Shape letters: n attributed
characters, G blocks, H units, L layers, B texts side by side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from rnnviz.arrays import Doubles, Floats, read_only
from rnnviz.checks import checked
from rnnviz.errors import ConfigError, TextError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis.backward import Exponents, sweep
from rnnviz.lab.analysis.connectivity import ConnectivityRow, connectivity_row
from rnnviz.lab.analysis.linearisation import Reading, layer_slopes, read, top_slopes
from rnnviz.networks.numpy_engine import Weights
from rnnviz.networks.numpy_model import Network
from rnnviz.networks.progress import Progress, Reporter, part
from rnnviz.reprs import Pictured
from rnnviz.scoring.occlusion import driven_states, initial_states, states_without_each, target_scores
from rnnviz.text.vocabulary import UNKNOWN_ID

Method = Literal["integrated", "occlusion"]
Instead = Literal["average", "zero", "unknown", "out"]

MAX_ATTRIBUTED_CHARS = 1_000
"""Attributed characters in one call, at most."""

FIRST_POINTS, MAX_POINTS = 32, 256
"""Points of the path at first, doubled until the sum is near enough; and at most."""

FIRST_PATH_CHARS = 10
"""Characters of the shortest path; each further path is twice as long."""

MAX_RELATIVE_GAP = 0.01
"""The share of |y - y'| by which a sum may be off."""

MAX_GAP_NATS = 1e-3
"""Nats by which a sum may be off, however small |y - y'| is."""


MAX_TEXTS_ABREAST = 128
"""Texts that are read side by side, at most."""

MAX_KEPT_NUMBERS = 1 << 24
"""Numbers that one part of the network keeps for a backward pass, at most."""


@dataclass(frozen=True, eq=False, repr=False)
class Attribution:
    """The contribution of each of the t characters before one prediction.

    text      the t characters
    target    the symbol whose log P is attributed; `against`: the symbol whose log P is subtracted, or None
    first     characters before this one stay as they are, and their values are 0
    values    (t,) nats, signed: positive where a character makes the target more probable. Read-only
    whole     y, nats
    without   y', nats, of the baseline alone; nan for occlusion
    method    "integrated" or "occlusion"; `instead`: the replacement of a character
    steps     points of the path; 0 for occlusion
    beyond    the `error` of the next longer path, which did not add up; nan if none was tried
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
        """Nats by which the values fall short of `whole` - `without`; nan for occlusion."""
        return float(self.whole - self.without - self.values.sum())

    @property
    def adds_up(self) -> bool:
        """Whether |gap| is at most 1 % of |whole - without| or 0.001 nats; never for occlusion."""
        # Where y hardly differs from y', a hundredth of the difference is below float32's rounding.
        return abs(self.gap) <= max(MAX_RELATIVE_GAP * abs(self.whole - self.without), MAX_GAP_NATS)

    @property
    def error(self) -> float:
        """|gap| as a share of |whole - without|; nan for occlusion."""
        difference = abs(self.whole - self.without)
        return abs(self.gap) / difference if difference else (0.0 if self.gap == 0 else float("inf"))


@dataclass(frozen=True, eq=False)
class Contributions(Pictured, Reported):
    """Three measures of each character's contribution to one prediction.

    target      the character whose log P is attributed, less that of `against`, if given
    integrated  integrated gradients; `occluded`: occlusion
    row         the norms of the gradient
    """

    REPORT = "rnnviz.lab.reports.attribution"

    target: str
    against: str | None
    integrated: Attribution
    occluded: Attribution
    row: ConnectivityRow

    def facts(self) -> Json:
        """The values that --json prints; nats."""
        integrated, occluded = self.integrated, self.occluded
        names = ("first", "instead", "without", "gap", "size", "error", "adds_up", "beyond", "steps")
        return {
            "text": integrated.text,
            "target": self.target,
            "against": self.against,
            "whole": integrated.whole,
            "integrated": {
                "values": integrated.values.tolist(),
                **{name: getattr(integrated, name) for name in names},
            },
            "occlusion": {
                "values": occluded.values.tolist(),
                "first": occluded.first,
                "instead": occluded.instead,
            },
            "gradient": self.row.norms.tolist(),
        }


@checked
def attribute(
    model: Network,
    text: str,
    *,
    at: int | None = None,
    character: str | None = None,
    against: str | None = None,
    method: Method = "integrated",
    instead: Instead = "average",
    last: int | None = None,
    progress: Progress | None = None,
) -> Attribution:
    """The contribution of each of the last `last` characters to one prediction.

    at         the prediction after `at` characters of `text`; None: after all of it
    character  the character whose log P, in nats, is attributed; None: the actual one, after the last
               character the most probable one
    against    another character, whose log P is subtracted
    method     "integrated" gradients or "occlusion"
    instead    the replacement of a character: the "average" embedding, a "zero" one, that of an "unknown"
               character; for occlusion also "out": the character is left out
    last       at most 1,000; None: all characters, or for integrated gradients as many as add up to 1 %, of
               the last 10, 20, 40 … (`beyond` is the error of the next). Fewer may not add up: see `adds_up`
    progress   called with the share done, `.fraction`

    Returns `values` (at,) in nats, positive where a character raises log P. Integrated gradients of 80
    characters of a GRU with 256 units take a fifth of a second. Follows Sundararajan, Taly & Yan 2017; Zeiler
    & Fergus 2014. Raises ConfigError for an absent place or an unfit option, EmptyTextError, TextError for
    too many characters, CheckpointError if the states overflow.

    >>> import rnnviz
    >>> from rnnviz import gradients
    >>> found = gradients.attribute(rnnviz.load("timemachine-gru"), "The Time Trav", character="e")
    >>> found.values.shape, found.error < 0.01
    ((13,), True)
    """
    _check(method, instead, last)
    report = Reporter(progress)
    reading = read(model, text, stop=at)
    request = _make_request(reading, character, against, method, instead, last)
    if method == "occlusion":
        attribution = _occluded(reading, request, report)
    elif request.first == len(request):  # the last text has just ended
        attribution = replace(request, without=request.whole)
    elif last is not None:
        attribution = _integrated(reading, request, report)
    else:
        attribution = _integrated_as_far_as_right(reading, request, report)
    report.end()
    return attribution


def _integrated_as_far_as_right(reading: Reading, request: Attribution, report: Reporter) -> Attribution:
    """Integrated gradients of the last 10, 20, 40 … characters, as many as add up."""
    best, reach = None, FIRST_PATH_CHARS
    while True:
        shorter = replace(request, first=max(request.first, len(request) - reach))
        attribution = _integrated(reading, shorter, report)
        if best is not None and not attribution.adds_up:
            return replace(best, beyond=attribution.error)
        best = attribution
        if shorter.first == request.first or not attribution.adds_up:
            return best
        reach *= 2


def contributions(
    model: Network,
    text: str,
    *,
    at: int | None = None,
    character: str | None = None,
    against: str | None = None,
    instead: Instead = "average",
    last: int | None = None,
    progress: Progress | None = None,
) -> Contributions:
    """`attribute` by both methods, beside the gradient. Where `instead` is "out", integrated gradients take
    the average. Arguments and errors as in `attribute`.
    """
    attribute_again = partial(attribute, model, text, at=at, character=character, against=against, last=last)
    path = "average" if instead == "out" else instead
    integrated = attribute_again(instead=path, progress=part(progress, 0.0, 0.5))
    occluded = attribute_again(instead=instead, method="occlusion", progress=part(progress, 0.5, 1.0))
    row = connectivity_row(model, text, at=at, character=character)
    symbol = model.vocabulary.symbol
    against_symbol = None if integrated.against is None else symbol(integrated.against)
    return Contributions(symbol(integrated.target), against_symbol, integrated, occluded, row)


def _check(method: str, instead: str, last: int | None) -> None:
    if method not in get_args(Method):
        raise ConfigError("method is 'integrated' or 'occlusion'; received {method!r}", method=method)
    if instead not in get_args(Instead):
        raise ConfigError(
            "instead is 'average', 'zero' or 'unknown', or 'out' to leave the character out; "
            "received {instead!r}",
            instead=instead,
        )
    if method == "integrated" and instead == "out":
        raise ConfigError(
            "there is no path to a text with a character left out: use 'average', 'zero' or 'unknown', or "
            "occlusion"
        )
    if last is not None and last < 1:
        raise ConfigError("last is at least 1 character; received {last}", last=last)


def _make_request(
    reading: Reading,
    character: str | None,
    against: str | None,
    method: Method,
    instead: Instead,
    last: int | None,
) -> Attribution:
    """A request: an Attribution whose values are still 0."""
    t = len(reading.text)
    first = max(0, t - (MAX_ATTRIBUTED_CHARS if last is None else last))
    if t - first > MAX_ATTRIBUTED_CHARS:
        raise TextError(
            "received {count:,} characters, and the limit is {limit:,}: ask about fewer with `last`",
            count=t - first,
            limit=MAX_ATTRIBUTED_CHARS,
        )
    if method == "integrated":  # a prediction rests on no text that has ended
        first = max([first, *np.flatnonzero(reading.begins).tolist()])
    target = int(reading.targets(character)[-1])
    against_symbol = None if against is None else reading.symbol(against, "against")
    whole = float(target_scores(reading.weights, reading.top[-1:], target, against_symbol)[0])
    return Attribution(
        reading.text, target, against_symbol, first, np.zeros(t), whole, math.nan, method, instead, 0
    )


def _baseline(reading: Reading, instead: Instead) -> Floats:
    """The first layer's sums W_x e' + b for the baseline, (G·H,)."""
    weights = reading.weights
    if instead == "zero":
        return weights.layers[0].b
    characters = np.arange(UNKNOWN_ID + 1, len(weights.bias))  # neither <unk> nor the start symbol
    rows = weights.rows(0, np.array([UNKNOWN_ID]) if instead == "unknown" else characters, reading.hidden)
    # The mean of the rows W_x e + b is the row of the mean embedding, as the layer's input is linear.
    return np.asarray(rows.mean(axis=0, dtype=np.float64), np.float32)


def _integrated(reading: Reading, request: Attribution, report: Reporter) -> Attribution:
    """Gauss–Legendre quadrature along the path, with twice as many points until the sum is near enough."""
    weights, baseline = reading.weights, _baseline(reading, request.instead)
    n = len(request) - request.first
    away = weights.rows(0, reading.inputs[request.first + 1 :], reading.hidden) - baseline  # (n, G·H)
    hidden, cell = reading.before(request.first + 1)
    state = hidden[:, None], None if cell is None else cell[:, None]  # (L, 1, H), to broadcast
    tops = driven_states(weights, state, np.broadcast_to(baseline, (n, 1, len(baseline))))[0][-1, -1]
    without = float(target_scores(weights, tops, request.target, request.against)[0])
    points_at_once = int(np.clip(MAX_KEPT_NUMBERS // (away.size * len(weights.layers)), 1, MAX_TEXTS_ABREAST))
    points = FIRST_POINTS
    while True:
        places, shares = np.polynomial.legendre.leggauss(points)
        values = np.zeros(len(request))
        for begin in range(0, points, points_at_once):
            some = slice(begin, begin + points_at_once)
            along = ((places[some, None] + 1) / 2).astype(np.float32)
            rows = baseline + away[:, None] * along  # (n, B, G·H)
            values[request.first :] += _along(weights, state, rows, away, request) @ shares[some] / 2
            report(n / len(request))
        attribution = replace(request, values=read_only(values), without=without, steps=points)
        if attribution.adds_up or points >= MAX_POINTS:
            return attribution
        points *= 2


def _along(
    weights: Weights,
    state: tuple[Floats, Floats | None],
    rows: Floats,
    away: Floats,
    request: Attribution,
) -> Doubles:
    """∂y/∂rows · `away` (n, G·H) at each of n steps for each of B texts, (n, B)."""
    hidden, cell = initial_states(weights, state, rows)
    # The first layer's input becomes one number, α, and its W_x becomes `away` at each step t. So the sweep
    # returns ∂y/∂α by step, (n, B), instead of gradients (n, B, G·H).
    lowest = replace(weights.layers[0], W_x=away.T)
    layers = (lowest, *weights.layers[1:])
    first, *upper = layer_slopes(replace(weights, layers=layers), rows, hidden, cell, forwards=True)
    parts, rows_of_W = first.from_x  # (K·H, n)
    # From (K·H, n) to (n, K·H, 1): other rows of W_x at each step, as `Slopes.from_x` allows.
    by_step = replace(first, from_x=(parts, np.ascontiguousarray(rows_of_W.T)[..., None]))
    top = hidden[-1, -1]  # (B, H)
    if request.against is None:
        seeds = top_slopes(weights, top, np.full(len(top), request.target))
    else:
        # A difference of two log P is a difference of two logits: the softmax's sum cancels.
        between = weights.readout[request.target] - weights.readout[request.against]
        seeds = np.broadcast_to(between, top.shape)
    gradients = np.zeros(rows.shape[:2])

    def on_input(t: int, row: int, x: Floats, exponents: Exponents) -> None:
        gradients[t] = np.ldexp(x[:, 0].astype(np.float64), exponents)

    sweep([by_step, *upper], seeds, len(rows) - 1, on_input=on_input)
    return gradients


def _occluded(reading: Reading, request: Attribution, report: Reporter) -> Attribution:
    """Texts with one character each replaced, read side by side from that character on."""
    t = len(request)
    row = None if request.instead == "out" else _baseline(reading, request.instead)
    values = np.zeros(t)
    for begin in range(request.first, t, MAX_TEXTS_ABREAST):
        some = range(begin, min(begin + MAX_TEXTS_ABREAST, t))
        before = [reading.before(s + 1) for s in some]
        tops = states_without_each(reading.weights, reading.inputs[begin + 1 :], before, row)
        without = target_scores(reading.weights, tops, request.target, request.against)
        values[some.start : some.stop] = request.whole - without
        report((some.stop - request.first) / (t - request.first))
    return replace(request, values=read_only(values))
