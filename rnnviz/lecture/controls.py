"""Controls of a step: values that a lecturer can set, by the address or in the browser.

    Control(whole(1, 10), 3)      or, with its widget,      slider(1, 10, 1, 3, N_("n"))

Invalid values from outside are ignored. The lecturer's chosen values are a dict by the controls' names; None
stands for a control's default.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rnnviz.i18n import N_, _

ControlValues = dict[str, Any]
"""The controls' values by name."""

Valid = Callable[[object], Any]
"""Validates a value from outside, and returns it in the scene's type; None if invalid."""


@dataclass(frozen=True)
class Control:
    """One value that can be set, with its validation and its default.

    default    a value, or a function that returns one in the session's language
    in_address whether the address keeps the value
    resets     names of other controls that a change resets
    widget     the page's widget: its kind, its label (translated when shown) and further settings; {} where a
               click, a drag or an edit in the picture sets the value
    next       the value that a button sets, and a playing slider next, from the present one
    """

    valid: Valid
    default: Any = None
    in_address: bool = True
    resets: Sequence[str] = ()
    widget: Mapping[str, Any] = field(default_factory=dict)
    next: Callable[[Any], Any] | None = None

    def resolve(self, value: Any) -> Any:
        """The value that a scene uses: `value`, or the default for None."""
        if value is not None:
            return value
        return self.default() if callable(self.default) else self.default

    def widget_at(self, value: Any) -> dict[str, Any]:
        """The widget at a value, in the session's language."""
        widget = dict(self.widget)
        if self.next:
            widget["next"] = self.next(value)
        if "off" in widget and value:
            widget["label"] = widget["off"]
        for name in {"label", "off", "play", "stop"} & widget.keys():
            widget[name] = _(widget[name]) if widget[name] else ""
        if "options" in widget:
            widget["options"] = [[key, _(words)] for key, words in widget["options"]().items()]
        return {**widget, "value": value}


Controls = Mapping[str, Control]


def with_defaults(controls: Controls, chosen_values: ControlValues) -> ControlValues:
    """The values that a scene uses: the lecturer's, with defaults in place of None."""
    return {name: control.resolve(chosen_values[name]) for name, control in controls.items()}


def apply_changes(
    controls: Controls, chosen_values: ControlValues, changes: Mapping[str, Any]
) -> ControlValues:
    """The chosen values after the valid ones of `changes`."""
    chosen_values = dict(chosen_values)
    for name, control in controls.items():
        value = control.valid(changes.get(name))
        # A browser may repeat an ask (lecture.py): a value set to what it is must reset no other control.
        if value is not None and value != control.resolve(chosen_values[name]):
            chosen_values |= {name: value, **dict.fromkeys(control.resets)}
    return chosen_values


def whole(low: int, high: int) -> Valid:
    """A validator of whole numbers in low … high, given as a number or its digits."""

    # The length is checked first: `int` raises ValueError for thousands of digits. No step's control is
    # beyond 999, so five characters are enough.
    def valid(value: object) -> int | None:
        if (
            isinstance(value, str)
            and value.isascii()
            and value.removeprefix("-").isdigit()
            and len(value) < 6
        ):
            value = int(value)
        return value if type(value) is int and low <= value <= high else None

    return valid


def number(low: float, high: float) -> Valid:
    """A validator of numbers in low … high, given as a number or a string."""

    def valid(value: object) -> float | None:
        # The address has Python's `str` of a float: a sign, 17 digits, a point and an exponent of two digits
        # make 23 characters.
        if isinstance(value, str) and len(value) < 24:
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value) if low <= value <= high else None

    return valid


def list_of(*valid: Valid) -> Valid:
    """A validator of lists with one value for each of `valid`.

    >>> list_of(number(0, 1), number(0, 9))([1, 7]), list_of(number(0, 1))([1, 7])
    ([1.0, 7.0], None)
    """

    def all_valid(value: object) -> list[Any] | None:
        if not isinstance(value, list) or len(value) != len(valid):
            return None
        items = [check(item) for check, item in zip(valid, value, strict=True)]
        return None if None in items else items

    return all_valid


def text(limit: int, least: int = 1) -> Valid:
    """A validator of lines of `least` to `limit` characters: cut if longer, line ends turned into spaces."""

    def valid(value: object) -> str | None:
        if not isinstance(value, str):
            return None
        line = " ".join(value[: 2 * limit].splitlines())
        # Half surrogates are dropped: no model reads them, and UTF-8 can't encode them.
        line = "".join(c for c in line if not 0xD800 <= ord(c) < 0xE000)[:limit]
        return line if len(line) >= least else None

    return valid


# ---- the widgets of steps.py ---------------------------------------------------------------------------


def slider(
    low: float, high: float, step: float, value: Any, label: str, *, play: str = "", **settings: Any
) -> Control:
    """A number in low … high; whole where `step` and `low` are whole. `label` is marked by N_.

    play     words of a button that moves the slider to its end
    """
    counts = float(step).is_integer() and float(low).is_integer()
    widget = {"kind": "slider", "range": [low, high, step], "label": label, **settings}
    if play:
        widget |= {"play": play, "stop": N_("Stop")}
    valid = whole(int(low), int(high)) if counts else number(low, high)
    return Control(valid, value, widget=widget, next=partial(_played, low, high, step) if play else None)


def _played(low: float, high: float, step: float, value: float) -> float:
    """A playing slider's value after `value`, in steps that grow with it; after the end the beginning."""
    if value >= high:
        return low
    return min(high, value + max(step, math.floor(0.08 * value / step + 0.5) * step))


def choice(
    options: Mapping[str, str] | Callable[[], Mapping[str, str]],
    value: Any,
    label: str = "",
    resets: Sequence[str] = (),
) -> Control:
    """One of a few options: keys with their words (marked by N_), or a function that returns them."""
    entries = options if callable(options) else partial(dict, options)
    widget = {"kind": "choice", "options": entries, "label": label}

    def valid(key: object) -> str | None:
        return key if isinstance(key, str) and key in entries() else None

    return Control(valid, value, resets=resets, widget=widget)


def line_of_text(limit: int, value: Any, label: str, least: int = 1, resets: Sequence[str] = ()) -> Control:
    """A field for at most `limit` characters."""
    widget = {"kind": "field", "limit": limit, "label": label}
    return Control(text(limit, least), value, resets=resets, widget=widget)


def again(value: int, label: str, resets: Sequence[str] = ()) -> Control:
    """A seed, and a button that draws another."""
    # The same seeds at every showing of the lecture. As 7 is a primitive root of the prime 997, a class sees
    # 996 before one returns. (498 alone would stay as it is; no step begins with it.)
    widget = {"kind": "button", "label": label}
    return Control(whole(0, 999), value, resets=resets, widget=widget, next=lambda seed: (7 * seed + 3) % 997)


def toggle(label: str, off: str) -> Control:
    """0 at first, 1 after a click; `off`: the button's words while the value is 1, "" for no button."""
    widget = {"kind": "button", "label": label, "off": off}
    return Control(whole(0, 1), 0, widget=widget, next=lambda value: 1 - value)
