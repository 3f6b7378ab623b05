"""Activation patching: the state of one text, or a part of it, put into another text (Vig et al. 2020,
arXiv:2004.12265; whole states: Geiger et al. 2021, arXiv:2106.02997). The state after `at` characters of a
source replaces the target's state after `to` characters.

    H'_to = H_at of the source, in the patched layers, units or direction; from there on the target is read
    as usual

    KL_t    Σ_x P(x) log P(x)/P'(x), of the prediction after t characters; P' with the patch
    loss_t  -log P'(x_t | x_<t)  -  -log P(x_t | x_<t)

Any foreign state moves predictions. So a patch stands beside random moves of the same length, and beside the
same patch from places of another text. A patched whole state gives the source's prediction by definition;
only a part of a state, or the later predictions, are informative.

Shape letters: T, S characters of target and source, L layers, H units, V symbols, B states side by side, n
random moves, m places of another text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args, overload

import numpy as np

from rnnviz.arrays import Doubles, Floats, Ids
from rnnviz.checks import checked
from rnnviz.errors import ConfigError, EmptyTextError
from rnnviz.findings import Json, Reported
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.activations import Unit
from rnnviz.lab.analysis.directions import Direction
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.perturbation import divergence, kl
from rnnviz.networks.config import KINDS
from rnnviz.networks.numpy_engine import Change, Changes, NetworkReader, Weights
from rnnviz.networks.numpy_model import Network
from rnnviz.reprs import Pictured, ReprMixin
from rnnviz.scoring import sampling
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import Tracer

Quantity = Literal["state", "hidden", "cell"]
Units = int | Sequence[int] | Unit | Sequence[Unit] | Direction | None
States = dict[str, Floats]
"""H, and C of an LSTM, (B, L, H) each, by quantity."""

MAX_TEXTS_ABREAST = 128
"""Patches that are read side by side, at most."""


@dataclass(frozen=True)
class Part:
    """The patched part of a state; made by `part`.

    layers      their numbers from 0
    quantities  "hidden" and, of an LSTM, "cell"
    index       units within the layer; None: all
    direction   the only direction along which the state changes, or None
    """

    layers: tuple[int, ...]
    quantities: tuple[str, ...]
    index: Ids | None = None
    direction: Direction | None = None

    def changes(self, source: States, to: int) -> dict[tuple[int, str], Change]:
        """The functions that put the states `source` in after input number `to`, by layer and quantity."""
        return {
            (layer, quantity): partial(self._replace_state, source[quantity][:, layer], to)
            for quantity in self.quantities
            for layer in self.layers
        }

    def _replace_state(self, source: Floats, to: int, t: int, states: Floats) -> None:
        """After input number `to` change `states` (B, H) to those of `source` (B or 1, H), in place."""
        if t != to:
            return
        if self.direction is not None:
            v = self.direction.vector
            # Adding the difference leaves a state patched into itself unchanged to the last bit.
            states += ((source.astype(np.float64) - states) @ v)[:, None] * v
        else:
            index = slice(None) if self.index is None else self.index
            states[:, index] = source[:, index]


def choose_part(
    weights: Weights,
    *,
    layer: int | None = None,
    units: Units = None,
    quantity: Quantity = "state",
) -> Part:
    """A part of a network's state: all of it, one `layer`, some `units` of a layer, or a Direction.

    Units and Directions carry their layer; plain numbers are of `layer`, or of layer 0. `quantity` is
    "state", H and an LSTM's C; "hidden", H alone; or "cell", C alone, from which H follows. A Direction
    carries its quantity. Raises ConfigError for an absent layer, unit or cell.
    """
    if quantity not in get_args(Quantity):
        raise ConfigError(
            "what is patched is the 'state', or 'hidden' or 'cell' alone; received {quantity!r}",
            quantity=quantity,
        )
    # Units, Directions or nothing share one argument, as in the interventions.
    along = () if units is None else directions.directions_in(units)
    if len(along) > 1:
        raise ConfigError("a state is patched along one direction; received {count}", count=len(along))
    single: Literal["hidden", "cell"] = "cell" if quantity == "cell" else "hidden"
    # An Intervention checks the layer and units, with its own error sentences.
    intervention = Intervention(
        0 if units is None else units, layer=layer, quantity=None if along else single
    )
    intervention.changes(weights)
    if along:
        return Part((intervention.layer,), (intervention.quantity,), direction=along[0])
    layers: tuple[int, ...] = (intervention.layer,)
    if units is None and layer is None:
        # Neither a layer nor units were named: the part is of all layers.
        layers = tuple(range(len(weights.layers)))
    quantities: tuple[str, ...] = (single,)
    if quantity == "state" and KINDS[weights.cell].has_cell:
        quantities = ("hidden", "cell")
    return Part(layers, quantities, None if units is None else np.array(intervention.units, np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class Patched:
    """A target read with a part of a source's state put in after `to` of its characters.

    source, at   the source's Trace, and the number of its characters before the taken state (0 .. S)
    into, to     the target's Trace without the patch, and the number of its characters before the patch (0 ..
                 T)
    after        its Trace with the patch
    part         the patched part
    divergence   (T + 1,) KL_t in nats; row t is about character t + 1, as in `Trace.log_probs`; 0 before `to`
    loss         (T,) nats that each character of the target costs more with the patch; 0 up to `to`
    lengths      the Euclidean length of the patch's change, by layer and quantity
    """

    source: Trace
    at: int
    into: Trace
    to: int
    after: Trace
    part: Part
    divergence: Doubles
    loss: Doubles
    lengths: Mapping[tuple[int, str], float]

    def __repr__(self) -> str:
        return (
            f"<Patched: the state after {self.at:,} characters put in after {self.to:,}, "
            f"KL {self.divergence[self.to]:.3f} nats>"
        )

    @property
    def moved(self) -> float:
        """The Euclidean length of the whole change, over all of `lengths`."""
        return float(np.sqrt(sum(length**2 for length in self.lengths.values())))

    @property
    def remainder(self) -> float:
        """The mean of `loss`, nats per character, over the target's characters after `to`; nan if there are
        none.
        """
        rest = self.loss[self.to :]
        return float(rest.mean()) if len(rest) else float("nan")

    def continuation(
        self, length: int, *, temperature: float = 1.0, top_k: int | None = None, seed: int | None = None
    ) -> str:
        """`length` characters sampled from the patched state on; see `rnnviz.sample`. With the whole state
        patched they equal the source's continuation by the same seed.
        """
        return sampling.resume(self.after, self.to, length, temperature=temperature, top_k=top_k, seed=seed)

    def controls(
        self,
        model: Network,
        unrelated: str | Trace | None = None,
        *,
        n: int = 40,
        ahead: int = 20,
        seed: int = 0,
    ) -> PatchControls:
        """The patch by `model` beside controls: `n` random moves of the same length, and the same patch from
        `n` places of an `unrelated` text, all read side by side over `ahead` predictions. Raises
        ConfigError for n or ahead below 1 and a seed below 0, EmptyTextError for an unrelated text without
        characters.

        >>> import rnnviz
        >>> from rnnviz import units
        >>> model = rnnviz.load("timemachine-gru")
        >>> done = units.patch(model, '"I am afraid', 12, "He was afraid, he said", 13, units=[3, 4])
        >>> done.controls(model, n=5).random.shape
        (5,)
        """
        if n < 1 or ahead < 1:
            raise ConfigError("n and ahead are at least 1; received {n} and {ahead}", n=n, ahead=ahead)
        generator = np.random.default_rng(seed)
        target, to = self.into, self.to
        target_states = states_at(target, [to])
        moves = {
            (layer, quantity): _random_move(target_states[quantity][0, layer], length, n, to, generator)
            for (layer, quantity), length in self.lengths.items()
        }
        ahead = min(ahead, len(target) + 1 - to)
        # Moves of the same length in each patched layer: what any foreign state of this size would do.
        random, first = read_patched(target, to, moves, n, ahead)
        goal = self.source.log_probs_at(self.at, self.at + 1)
        divergence, after = self.divergence, self.after.log_probs_at(to, to + 1)
        elsewhere, elsewhere_left = np.zeros((0, ahead)), np.zeros(0)
        if unrelated is not None:
            unrelated_trace = as_trace(model, unrelated)
            if not len(unrelated_trace):
                raise EmptyTextError("an unrelated text has at least one character; received none")
            places = generator.integers(1, len(unrelated_trace) + 1, n)
            elsewhere, theirs = read_patched(
                target, to, self.part.changes(states_at(unrelated_trace, places), to), n, ahead
            )
            elsewhere_left = kl(goal, theirs)
        return PatchControls(
            self,
            ahead=ahead,
            kl=float(divergence[to : to + ahead].mean()),
            random_each=random,
            elsewhere_each=elsewhere,
            left=float(kl(goal, after)[0]),
            apart=float(kl(goal, target.log_probs_at(to, to + 1))[0]),
            random_left=kl(goal, first),
            elsewhere_left=elsewhere_left,
        )


@overload
def patch(
    model: Network,
    source: str | Trace,
    at: int,
    into: str | Trace,
    to: int,
    *,
    layer: int | None = None,
    units: Units = None,
    quantity: Quantity = "state",
) -> Patched: ...


@overload
def patch(
    model: Network,
    source: str | Trace,
    at: Literal["all"],
    into: str | Trace,
    *,
    layer: int | None = None,
    units: Units = None,
    quantity: Quantity = "state",
    ahead: int = 1,
) -> Doubles: ...


@checked
def patch(
    model: Network,
    source: str | Trace,
    at: int | Literal["all"] | None = None,
    into: str | Trace | None = None,
    to: int | None = None,
    *,
    layer: int | None = None,
    units: Units = None,
    quantity: Quantity = "state",
    ahead: int | None = None,
) -> Patched | Doubles:
    """Read `into` with the state after `at` characters of `source` put in after `to` characters.

    source, into  the text whose state is taken, and the text that is read with it; or their Traces
    at, to        counted in characters: 0 is after the start symbol
    layer, units  the patched part of the state, units or a Direction of one layer; None: all of it
    quantity      "state": H, and C of an LSTM; "hidden" or "cell": one of them
    ahead         with `at` "all": the number of compared predictions

    The Patched has `into`, the other text's Trace as it was, and `after`, its Trace with the state put in:
    `done.after.top(to)` are the most probable characters then. `divergence` (T + 1,) is how far each
    prediction moved, KL in nats; `loss` (T,) what each character costs more, in nats; `controls` compares the
    patch with random moves. Layers above a patched one follow from it in the same step.

    With `at` "all", and no `to`, each place of the source is put into each place of the other text. Returns
    the effect (S + 1, T + 1), nats: the mean KL over `ahead` predictions (1), fewer where the text ends.
    100 × 100 places of a GRU with 256 units take about a second. Follows Vig et al. 2020, arXiv:2004.12265.

    Raises ConfigError for places outside the texts, absent parts and `ahead` below 1, TextError for half a
    surrogate pair.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> done = units.patch(model, '"I am afraid', 12, "He was afraid, he said", 13)
    >>> done.divergence.shape, bool(done.divergence[:13].any())
    ((23,), False)
    >>> done.continuation(8, seed=0) == rnnviz.sample(model, '"I am afraid', 8, seed=0)
    True
    >>> units.patch(model, "one", "all", "machine", ahead=3).shape
    (4, 8)
    """
    if at is None or into is None or (to is None and at != "all"):
        raise ConfigError(
            "a patch needs two texts and a place in each: units.patch(model, source, 12, into, 13) puts the "
            "state after 12 characters of `source` in after 13 of `into`; received at={at!r} and to={to!r}",
            at=at,
            to=to,
        )
    source_trace, before = as_trace(model, source), as_trace(model, into)
    patched_part = choose_part(before.weights, layer=layer, units=units, quantity=quantity)
    if at == "all":
        return _patch_everywhere(source_trace, before, to, patched_part, 1 if ahead is None else ahead)
    if ahead is not None:
        raise ConfigError("`ahead` belongs to at='all'; leave it out: a Patched has every later prediction")
    at, to = _check_place("at", at, source_trace), _check_place("to", to, before)
    after = Tracer(model, patched_part.changes(states_at(source_trace, [at]), to)).extend(before.text)
    loss = np.zeros(len(before))
    # nll[to] is the cost of character to + 1, the first that is predicted from the patched state.
    loss[to:] = after.nll[to:] - before.nll[to:]
    states_before, states_after = states_at(before, [to]), states_at(after, [to])
    lengths = {}
    for number, kind in patched_part.changes(states_before, to):
        move = states_after[kind][0, number].astype(np.float64) - states_before[kind][0, number]
        lengths[number, kind] = float(np.linalg.norm(move))
    moved = divergence(before, after, to)
    return Patched(source_trace, at, before, to, after, patched_part, moved, loss, lengths)


def _patch_everywhere(
    source_trace: Trace, into: Trace, to: object, patched_part: Part, ahead: int
) -> Doubles:
    """The effect (S + 1, T + 1), nats, of patching each place of one text into each of the other. Raises
    ConfigError.
    """
    if to is not None:
        raise ConfigError("at='all' means every place of the target too; leave `to` out")
    if ahead < 1:
        raise ConfigError("ahead is at least 1 prediction; received {ahead}", ahead=ahead)
    effect = np.empty((len(source_trace) + 1, len(into) + 1))
    for begin in range(0, len(effect), MAX_TEXTS_ABREAST):
        places = np.arange(begin, min(begin + MAX_TEXTS_ABREAST, len(effect)))
        states = states_at(source_trace, places)
        # Every pair of places is a reading of its own, so S · T readings of `ahead` steps; places of the
        # source go side by side, as many as MAX_TEXTS_ABREAST.
        for t in range(len(into) + 1):
            changes = patched_part.changes(states, t)
            nats, _ = read_patched(into, t, changes, len(places), min(ahead, len(into) + 1 - t))
            effect[places, t] = nats.mean(axis=1)
    return effect


def read_patched(target: Trace, to: int, changes: Changes, B: int, ahead: int) -> tuple[Doubles, Floats]:
    """Read the target from `to` on in B copies, changed there: KL_t (B, ahead) nats, and their first log P
    (B, V).
    """
    weights, state = target.weights, None
    if to:
        hidden, cell = target.state_after(to - 1)
        state = hidden[:, None], None if cell is None else cell[:, None]
    # From the state before input number `to` on, as one text; the change makes B different ones of it.
    reader = NetworkReader(weights, state, texts=B, time=to, changes=changes)
    inputs = np.concatenate(([target.vocabulary.start], target.ids))
    divergence = np.zeros((B, ahead))
    for k, row in enumerate(range(to, to + ahead)):
        log_probs = weights.log_probs(reader.read(inputs[row : row + 1])[0])
        divergence[:, k] = kl(target.log_probs_at(row, row + 1), log_probs)
        if k == 0:
            first = log_probs
    return divergence, first


def as_trace(model: Network, text: str | Trace) -> Trace:
    """The Trace of a text; a Trace is returned as it is."""
    return text if isinstance(text, Trace) else Tracer(model).extend(text)


def _check_place(name: str, t: object, read: Trace) -> int:
    """t as an int. Raises ConfigError unless t characters of the Trace can have been read."""
    if not isinstance(t, int | np.integer) or not 0 <= t <= len(read):
        raise ConfigError(
            "`{name}` counts the characters read, from 0 to {count:,}; received {t}",
            name=name,
            count=len(read),
            t=t,
        )
    return int(t)


def states_at(read: Trace, places: Iterable[int]) -> States:
    """The states after each of `places` characters of a Trace, (B, L, H) by quantity."""
    hidden, cells = zip(*(read.state_after(int(t)) for t in places), strict=True)
    by_quantity = {"hidden": hidden, "cell": cells}
    return {quantity: np.stack(states) for quantity, states in by_quantity.items() if states[0] is not None}


@dataclass(frozen=True, eq=False, repr=False)
class PatchControls(ReprMixin, Pictured, Reported):
    """The effect of a patch beside moves of the same length, and beside patches from another text.

    patched    the patch itself
    ahead      compared predictions, fewer where the target ends
    kl         the mean of KL_t over them with the patch, nats a prediction
    random_each     (n, ahead) KL_t after moves of the same length in random directions of the same layers
    elsewhere_each  (m, ahead) KL_t after the same patch from random places of another text; or (0, ahead)
    left       KL from the source's own prediction to the patched one, nats; 0: the patch reaches the source's
    apart      KL from the source's own prediction to the target's unpatched one, nats: the distance to bridge
    random_left, elsewhere_left  (n,), (m,) `left` of the controls
    """

    REPORT = "rnnviz.lab.reports.patching"

    patched: Patched
    ahead: int
    kl: float
    random_each: Doubles
    elsewhere_each: Doubles
    left: float
    apart: float
    random_left: Doubles
    elsewhere_left: Doubles

    @property
    def random(self) -> Doubles:
        """(n,) nats, `kl` of the random moves."""
        return np.asarray(self.random_each.mean(axis=1))

    @property
    def elsewhere(self) -> Doubles:
        """(m,) nats, `kl` of the patches from another text."""
        return np.asarray(self.elsewhere_each.mean(axis=1))

    def facts(self) -> Json:
        """The patch, the target's later predictions without and with it, and the controls. KL and loss in
        nats.
        """
        done = self.patched
        along, index = done.part.direction, done.part.index
        return {
            "at": done.at,
            "to": done.to,
            "layers": list(done.part.layers),
            "quantities": list(done.part.quantities),
            "units": None if index is None else index.tolist(),
            "direction": along and {"name": along.name, "origin": along.origin},
            "moved": done.moved,
            "loss": done.remainder,
            "predictions": [_prediction(done, t) for t in range(done.to, len(done.into) + 1)],
            "controls": {
                "ahead": self.ahead,
                "kl": self.kl,
                "random": self.random.tolist(),
                "elsewhere": self.elsewhere.tolist(),
                "left": self.left,
                "apart": self.apart,
                "random_left": self.random_left.tolist(),
                "elsewhere_left": self.elsewhere_left.tolist(),
            },
        }


def _prediction(done: Patched, t: int) -> Json:
    """The most probable character after `t` characters without and with the patch, and the actual one."""
    has_next = t < len(done.into)
    return {
        "after": t,
        "character": done.into.text[t] if has_next else None,
        "kl": float(done.divergence[t]),
        "loss": float(done.loss[t]) if has_next else None,
        "expected": list(done.into.top(t, 1)[0]),
        "expected_patched": list(done.after.top(t, 1)[0]),
    }


def _random_move(origin: Floats, length: float, n: int, to: int, generator: np.random.Generator) -> Change:
    """A change after input number `to`: n states become `own` (H,), each moved by `length` in another
    direction.
    """
    moves = generator.normal(size=(n, len(origin)))
    # Normal coordinates have no preferred direction, so scaled to one length they are uniform on the
    # sphere.
    moves *= length / np.linalg.norm(moves, axis=1, keepdims=True)

    def change(t: int, states: Floats) -> None:
        if t == to:
            states[:] = origin + moves

    return change
