"""A step's controls: what a lecturer can set, by the address or in the browser.

    Control("n", whole(1, 10), 3)      or, with its widget,      slider(1, 10, 1, 3, N_("n"))

Invalid values from outside are ignored. A state is a dict of controls' values by their names.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rnnviz.i18n import N_, _

State = dict[str, Any]
Ask = Mapping[str, Any]
Valid = Callable[[object], Any]
"""A value from outside as the scene uses it; None if invalid."""


@dataclass(frozen=True)
class Control:
    """One thing that can be set: `name` in the state and in an ask, its valid values and its default.

    kept       whether the address keeps it
    resets     later controls that a change sets back to their defaults
    spoken     in place of a default, which is None then: makes the value in the session's language
    widget     what the page sets it with: its kind, its label (translated when shown) and what more it needs;
               {} where a click on the picture sets it
    """

    name: str
    valid: Valid
    default: Any = None
    kept: bool = True
    resets: Sequence[str] = ()
    spoken: Callable[[], Any] | None = None
    widget: Mapping[str, Any] = field(default_factory=dict)

    def drawn(self, value: Any) -> dict[str, Any]:
        """The widget at a value, in the session's language."""
        found = dict(self.widget)
        for said in {"label", "off", "play", "stop"} & found.keys():
            found[said] = _(found[said]) if found[said] else ""
        if "options" in found:
            options = found["options"]() if callable(found["options"]) else found["options"]
            found["options"] = [[key, _(words)] for key, words in options.items()]
        return {**found, "name": self.name, "value": value}

    def asked(self, wish: object, now: Any) -> Any:
        """The value after a wish; `now` if that is invalid."""
        found = self.valid(wish)
        return now if found is None else found

    def read(self, query: Mapping[str, str]) -> Any:
        """The value in an address."""
        return self.asked(query.get(self.name) if self.kept else None, self.default)

    def write(self, value: Any) -> dict[str, str]:
        """The address's part for a value: empty for the default."""
        written = str(int(value)) if isinstance(value, bool) else str(value)
        return {self.name: written} if self.kept and value != self.default else {}


Controls = Collection[Control]


def shown(controls: Controls, state: State) -> State:
    """The state as a scene uses it: what was not set is said in the session's language."""
    return state | {one.name: one.spoken() for one in controls if one.spoken and state[one.name] is None}


def taken(controls: Controls, state: State, ask: Ask) -> State:
    """The state after the valid part of `ask`."""
    state, defaults = dict(state), {control.name: control.default for control in controls}
    for control in controls:
        before = state[control.name]
        state[control.name] = control.asked(ask.get(control.name), before)
        if state[control.name] != before:
            state.update({name: defaults[name] for name in control.resets})
    return state


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


def numbers(low: float, high: float, count: int) -> Valid:
    """A list of `count` numbers in low … high."""
    each = number(low, high)

    def valid(value: object) -> list[float] | None:
        if not isinstance(value, list) or count != len(value):
            return None
        found = [each(one) for one in value]
        return None if None in found else found

    return valid


def numbers_in(value: object, rows: int, columns: int, limit: float) -> list[list[float]] | None:
    """A matrix of numbers between -limit and limit, as a list of rows."""
    each = numbers(-limit, limit, columns)
    if not isinstance(value, list) or len(value) != rows:
        return None
    found = [each(line) for line in value]
    return None if None in found else found


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


# ---- the widgets of steps.py ---------------------------------------------------------------------------


def _default(value: Any) -> dict[str, Any]:
    return {"spoken": value} if callable(value) else {"default": value}


def slider(
    low: float, high: float, step: float, value: Any, label: str, *, play: str = "", **more: Any
) -> Control:
    """A number in low … high; whole where `step` and `low` are. `label`: marked by N_.

    value    its default, or what gives it in the session's language
    play     words of a button that moves it to its end
    """
    counts = float(step).is_integer() and float(low).is_integer()
    widget = {"kind": "slider", "range": [low, high, step], "label": label, **more}
    if play:
        widget |= {"play": play, "stop": N_("Stop")}
    valid = whole(int(low), int(high)) if counts else number(low, high)
    return Control("", valid, **_default(value), widget=widget)


def choice(
    options: Mapping[str, str] | Callable[[], Mapping[str, str]],
    value: Any,
    label: str = "",
    *,
    resets: Sequence[str] = (),
    **more: Any,
) -> Control:
    """One of a few: keys, and words for them (marked by N_), or what gives them when asked."""
    listed = () if callable(options) else options

    def valid(wish: object) -> str | None:
        found: str | None = one_of(options() if callable(options) else listed)(wish)
        return found

    widget = {"kind": "choice", "options": options, "label": label, **more}
    return Control("", valid, **_default(value), resets=resets, widget=widget)


def line_of_text(limit: int, value: Any, label: str, least: int = 1, resets: Sequence[str] = ()) -> Control:
    """A field for at most `limit` characters; `value` may give it in the session's language."""
    widget = {"kind": "field", "limit": limit, "label": label}
    return Control("", text(limit, least), **_default(value), resets=resets, widget=widget)


def again(value: int, label: str, resets: Sequence[str] = ()) -> Control:
    """A seed, and a button that draws another."""
    return Control("", whole(0, 999), value, resets=resets, widget={"kind": "again", "label": label})


def toggle(label: str, off: str = "") -> Control:
    """Off at first, on after a click; `off`: the button's words while it is on."""
    widget = {"kind": "toggle", "label": label, "off": off}
    return Control("", yes, False, widget=widget)


def pointed(valid: Valid, value: Any, **more: Any) -> Control:
    """What a click, a drag or an edit in the picture sets."""
    return Control("", valid, **_default(value), **more)


def yes(value: object) -> bool | None:
    """True or False, or "1" and "0" of an address."""
    if isinstance(value, bool):
        return value
    return {"0": False, "1": True}.get(value) if isinstance(value, str) else None
