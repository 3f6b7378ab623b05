"""A scene's controls: what a lecturer can set, by the address or in the browser.

    CONTROLS = (Control("n", whole(1, 10), 3), Control("text", text(46), "the Time", resets=("t",)), …)

Invalid values from outside are ignored. A scene's state is a dict of its controls' values.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]
Ask = Mapping[str, Any]
Valid = Callable[[object], Any]
"""A value from outside as the scene uses it; None if invalid."""


@dataclass(frozen=True)
class Control:
    """One thing that can be set: `name` in the state and in an ask, its valid values and its default.

    address    its name in the address, by default `name`; "" if the address does not keep it
    steps      the steps at which the address keeps it, by default all
    written    formats a value for the address
    resets     later controls that a change sets back to their defaults
    each_step  whether every step begins with the default
    spoken     in place of a default, which is None then: makes the value in the session's language
    """

    name: str
    valid: Valid
    default: Any = None
    address: str | None = None
    steps: Collection[int] | None = None
    written: Callable[[Any], str] = str
    resets: Sequence[str] = ()
    each_step: bool = False
    spoken: Callable[[], Any] | None = None

    @property
    def key(self) -> str:
        """Its name in the address."""
        return self.name if self.address is None else self.address

    def asked(self, wish: object, now: Any) -> Any:
        """The value after a wish; `now` if that is invalid."""
        found = self.valid(wish)
        return now if found is None else found

    def read(self, query: Mapping[str, str]) -> Any:
        """The value in an address."""
        return self.asked(query.get(self.key), self.default)

    def write(self, value: Any) -> dict[str, str]:
        """The address's part for a value: empty for the default."""
        return {self.key: self.written(value)} if self.key and value != self.default else {}

    def shown(self, value: Any) -> Any:
        """The value as a scene uses it."""
        return self.spoken() if value is None and self.spoken else value


@dataclass(frozen=True)
class Row(Control):
    """A list of values, each validated by itself, with an address each."""

    addresses: Sequence[str] = ()

    def asked(self, wish: object, now: Any) -> Any:
        if not isinstance(wish, list) or len(wish) != len(now):
            return now
        return [super(Row, self).asked(one, old) for one, old in zip(wish, now, strict=True)]

    def read(self, query: Mapping[str, str]) -> Any:
        return self.asked([query.get(address) for address in self.addresses], self.default)

    def write(self, value: Any) -> dict[str, str]:
        each = zip(self.addresses, value, self.default, strict=True)
        return {address: self.written(one) for address, one, usual in each if one != usual}

    def shown(self, value: Any) -> Any:
        if not self.spoken:
            return value
        return [spoken if one is None else one for one, spoken in zip(value, self.spoken(), strict=True)]


Controls = Sequence[Control]


def initial(controls: Controls, query: Mapping[str, str]) -> State:
    """The state in an address."""
    return {control.name: control.read(query) for control in controls}


def shown(controls: Controls, state: State) -> State:
    """The state as a scene uses it: what was not set is said in the session's language."""
    return state | {control.name: control.shown(state[control.name]) for control in controls}


def at_step(controls: Controls, state: State, step: int) -> State:
    """The state at another step of the scene."""
    anew = {c.name: c.default for c in controls if c.each_step} if step != state.get("step", step) else {}
    return {**state, **anew, "step": step}


def taken(controls: Controls, state: State, ask: Ask) -> State:
    """The state after the valid part of `ask`."""
    state, defaults = dict(state), {control.name: control.default for control in controls}
    for control in controls:
        before = state[control.name]
        state[control.name] = control.asked(ask.get(control.name), before)
        if state[control.name] != before:
            state.update({name: defaults[name] for name in control.resets})
    return state


def query(controls: Controls, state: State) -> dict[str, str]:
    """What the address keeps of a state."""
    found: dict[str, str] = {}
    for control in controls:
        if control.steps is None or state["step"] in control.steps:
            found |= control.write(state[control.name])
    return found


def whole(low: int, high: int) -> Valid:
    """A whole number in low … high, as a number or its digits."""

    def valid(value: object) -> int | None:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6:
            value = int(value)
        return value if type(value) is int and low <= value <= high else None

    return valid


def number(low: float, high: float) -> Valid:
    """A number in low … high, as a number or a string."""

    def valid(value: object) -> float | None:
        if isinstance(value, str) and len(value) < 24:
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value) if low <= value <= high else None

    return valid


def numbers(low: float, high: float, count: int | None = None) -> Valid:
    """A list of numbers in low … high, `count` of them if given."""
    each = number(low, high)

    def valid(value: object) -> list[float] | None:
        if not isinstance(value, list) or count not in (None, len(value)):
            return None
        found = [each(one) for one in value]
        return None if None in found else found

    return valid


def text(limit: int, least: int = 1) -> Valid:
    """A line of `least` to `limit` characters: cut if longer, line ends turned into spaces."""

    def valid(value: object) -> str | None:
        if not isinstance(value, str):
            return None
        line = " ".join(value[: 2 * limit].splitlines())
        line = "".join(c for c in line if not 0xD800 <= ord(c) < 0xE000)[:limit]
        return line if len(line) >= least else None

    return valid


def one_of(options: Collection[str]) -> Valid:
    """One of a few names."""
    return lambda value: value if isinstance(value, str) and value in options else None
