"""Interventions: units, or a direction, that are held, silenced or scaled while a network reads.

A correlation shows that a unit carries information; an intervention shows whether predictions depend on it.
Small changes (a scale of 0.5, the unit's mean) say more than large ones, which lead to states that no text
leads to.

Shape letters: T time steps, H units of a layer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from rnnviz.arrays import Floats, Integers
from rnnviz.checks import checked
from rnnviz.errors import ConfigError
from rnnviz.lab.analysis import directions
from rnnviz.lab.analysis.activations import Unit, check_units, is_plain_pair, refuse_pair, within_layer
from rnnviz.lab.analysis.directions import Direction, Span
from rnnviz.networks.config import KINDS, check_layer
from rnnviz.networks.numpy_engine import Changes, Weights, apply_checked
from rnnviz.reprs import ReprMixin

Action = Literal["clamp", "zero", "scale"]
Quantity = Literal["hidden", "cell"]
Chosen = int | Sequence[int] | Unit | Sequence[Unit] | Direction | Sequence[Direction]


class _Where(TypedDict, total=False):
    layer: int | None
    start: int
    stop: int | None
    quantity: Quantity | None


@dataclass(frozen=True, init=False, repr=False)
class Intervention(ReprMixin):
    """A change of `units` of one layer, or along a Direction, right after the layer has computed them.

    units     their numbers within `layer`, or Units, which carry their layer, or Directions, which carry
              their quantity too: one or a tuple. Units are kept as numbers
    action    "clamp": set to `value`; "zero": set to 0, without a `value`; "scale": multiplied by `value`
    layer     counted from 0; left out: that of the Units or Directions, or 0
    start     the first changed row of `Trace.log_probs`: 0 changes the state after the start symbol, t the
              state after t characters, which predicts character t + 1
    stop      the first unchanged row after it; None: the change goes on
    quantity  "hidden" is H_t; "cell" an LSTM's C_t, from which H_t then follows; left out: that of the
              Directions, or "hidden"

    A direction's value is v · H_t: "zero" projects it out of the state; see `rnnviz.lab.analysis.directions`.
    A scaled state is carried on and scaled again at the next step. Raises ConfigError for unfit values. Its
    use raises ConfigError for a pair of plain numbers without a layer, which may be meant as one Unit.

    >>> Intervention(Unit(layer=1, unit=5)).units, Intervention(Unit(1, 5)).layer
    ((5,), 1)
    >>> Intervention(directions.random_direction(256, seed=3, layer=1), "clamp", 2.0).layer
    1
    """

    units: tuple[int, ...] | tuple[Direction, ...]
    action: Action = "zero"
    value: float = 0.0
    layer: int = 0
    start: int = 0
    stop: int | None = None
    quantity: Quantity = "hidden"
    _pair: bool = field(init=False, repr=False, compare=False)
    _index: Integers = field(init=False, repr=False, compare=False)
    _span: Span | None = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        units: Chosen,
        action: Action = "zero",
        value: float = 0.0,
        layer: int | None = None,
        start: int = 0,
        stop: int | None = None,
        quantity: Quantity | None = None,
    ) -> None:
        along = directions.directions_in(units)
        # Directions have no unit numbers; [0] stands for them, as every layer has a unit 0.
        numbers, layer = ([0], layer) if along else within_layer(units, layer)  # type: ignore[arg-type]
        index = check_units(numbers, 1 << 30)
        if along:
            layer, quantity = _layer_and_quantity(along[0], layer, quantity)
        values = {
            "units": along or tuple(index.tolist()),
            "action": action,
            "value": value,
            "layer": 0 if layer is None else layer,
            "start": start,
            "stop": stop,
            "quantity": "hidden" if quantity is None else quantity,
            # Whether (1, 5) means two units or unit 5 of layer 1 depends on the network, which comes with
            # the use.
            "_pair": layer is None and is_plain_pair(numbers),
            "_index": index,
            "_span": Span(along) if along else None,
        }
        for name, field_value in values.items():
            # A frozen dataclass refuses assignment, to itself too.
            object.__setattr__(self, name, field_value)
        self._check_values()

    @property
    def named(self) -> str:
        """The change as it is written, for errors."""
        units = self.units[0] if len(self.units) == 1 else f"{len(self.units)} units"
        return f"{self.action.capitalize()}({units}, {self.value:g})"

    def _check_values(self) -> None:
        if self.action not in ("clamp", "zero", "scale"):
            raise ConfigError("an action is clamp, zero or scale; received {action!r}", action=self.action)
        if not isinstance(self.value, int | float | np.number) or not math.isfinite(self.value):
            raise ConfigError(
                "a unit is set to a number, or multiplied by one; received {value}", value=self.value
            )
        if self.action == "zero" and self.value:
            raise ConfigError(
                "zero takes no value; received {value}: write Clamp(…, {value}) to hold the units there",
                value=self.value,
            )
        if self.quantity not in ("hidden", "cell"):
            raise ConfigError(
                "quantity is 'hidden', or 'cell' for an LSTM's cell state; received {quantity!r}",
                quantity=self.quantity,
            )
        if self.start < 0 or (self.stop is not None and self.stop < self.start):
            raise ConfigError(
                "an intervention goes from a time step to one after it; received {start} to {stop}",
                start=self.start,
                stop=self.stop,
            )

    def changes(self, weights: Weights) -> Changes:
        """The functions that change a network's states, by layer and quantity. Raises ConfigError for an
        absent unit, layer or cell.
        """
        self._check(weights)
        return {(self.layer, self.quantity): self._apply}

    def _check(self, weights: Weights) -> None:
        if self._pair:
            refuse_pair(self._index.tolist(), len(weights.layers))
        check_layer(self.layer, len(weights.layers))
        H = weights.layers[self.layer].units
        for unit in self.units:
            if isinstance(unit, Direction):
                unit.check(H)
        check_units(self._index, H)
        if self.quantity == "cell" and not KINDS[weights.cell].has_cell:
            raise ConfigError(
                "only an LSTM has a cell state to change; this network has {cell} cells", cell=weights.cell
            )

    def _apply(self, t: int, state: Floats) -> None:
        """Change the states (n, H) after input number t, in place."""
        if t < self.start or (self.stop is not None and t >= self.stop):
            return
        scaled = self.action == "scale" and self.value != 0  # a scale of 0 sets instead: inf · 0 is NaN
        if self._span is not None:
            # Before the units: a Direction's `_index` is the placeholder 0 of __init__.
            self._span.change(state, self.value, scaled=scaled)
        elif scaled:
            state[:, self._index] *= self.value
        else:  # "zero" has the value 0
            state[:, self._index] = self.value


def side_by_side(interventions: Sequence[Intervention]) -> Changes:
    """The changes of texts side by side, text b by intervention b of `every`, all of one layer and
    quantity.
    """

    def change(t: int, states: Floats) -> None:
        for b, intervention in enumerate(interventions):
            intervention._apply(t, states[b : b + 1])

    # All are of one layer and quantity, so one function in that place changes each row its own way.
    return {
        (interventions[0].layer, interventions[0].quantity): partial(apply_checked, interventions[0], change)
    }


def _layer_and_quantity(
    direction: Direction, layer: int | None, quantity: Quantity | None
) -> tuple[int, Quantity]:
    """The layer and quantity of a Direction. Raises ConfigError where the requested ones differ."""
    for requested, theirs in ((layer, direction.layer), (quantity, direction.quantity)):
        if requested is not None and requested != theirs:
            raise ConfigError(
                "{asked!r} was asked for, but the direction is in {theirs!r}; leave {asked!r} out",
                asked=requested,
                theirs=theirs,
            )
    return direction.layer, cast("Quantity", direction.quantity)


@checked
class Clamp(Intervention):
    """Units, or directions, held at `value`.

    units     one number or a list, within `layer` (0 unless said); or Directions
    start     the state after so many characters is the first that is changed; 0: that of the start symbol
    stop      the first that is left alone; None: it goes on
    quantity  "hidden"; or "cell" of an LSTM, from which H then follows

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> rnnviz.trace(model, "machine", change=units.Clamp(17, 1.0)).hidden[:, 0, 17].min()
    np.float32(1.0)
    """

    def __init__(self, units: Chosen, value: float, **where: Unpack[_Where]) -> None:
        super().__init__(units, "clamp", value, **where)


@checked
class Zero(Intervention):
    """Units that are 0, or directions that are projected out; the arguments are those of Clamp."""

    def __init__(self, units: Chosen, **where: Unpack[_Where]) -> None:
        super().__init__(units, "zero", **where)


@checked
class Scale(Intervention):
    """Units, or directions, multiplied by `value` at every step; the arguments are Clamp's."""

    def __init__(self, units: Chosen, value: float, **where: Unpack[_Where]) -> None:
        super().__init__(units, "scale", value, **where)


@checked
@dataclass(frozen=True)
class Edit:
    """Any change: `function` takes the state (H,) float32 of a layer at each step and returns the new state
    (H,).

    `layer` counts from 0; `start`, `stop` and `quantity` are Clamp's. Raises ConfigError for a
    function that returns another shape, and for an absent layer or cell.

    >>> import rnnviz
    >>> from rnnviz import units
    >>> model = rnnviz.load("timemachine-gru")
    >>> change = units.Edit(lambda h: h.clip(-0.5, 0.5))
    >>> float(abs(rnnviz.trace(model, "machine", change=change).hidden).max())
    0.5
    """

    function: Callable[[Floats], ArrayLike]
    layer: int = 0
    quantity: Quantity = "hidden"
    start: int = 0
    stop: int | None = None

    def changes(self, weights: Weights) -> Changes:
        """The function that changes a network's states, by layer and quantity. Raises ConfigError for an
        absent layer or cell.
        """
        placeholder = Intervention(
            (0,), layer=self.layer, quantity=self.quantity, start=self.start, stop=self.stop
        )
        placeholder._check(weights)
        return {(self.layer, self.quantity): self._apply}

    def _apply(self, t: int, state: Floats) -> None:
        if t < self.start or (self.stop is not None and t >= self.stop):
            return
        for row in state:
            # A copy: a function that changes its argument and then raises must not leave half a change
            # behind.
            new_row = np.asarray(self.function(row.copy()))
            if new_row.shape != row.shape:
                raise ConfigError(
                    "the function of an Edit returns the state, {wanted}; received shape {shape}",
                    wanted=row.shape,
                    shape=new_row.shape,
                )
            row[:] = new_row
