"""Every colour of every picture, light and dark, and the scales that map values to colours.

Fixed scales, which never move while someone types:

    diverging   tanh states in [-1, 1], LSTM cells in [-3, 3]; the page's background at 0, blue below, orange
                above: distinct with any kind of colour blindness
    sequential  gates in [0, 1], ReLU states in [0, 4]; the background at 0
    surprisal   a character's cost, in bits; transparent at 0, behind text that stays readable
    reason      the bits that a character costs more without an earlier one; green where more, grey where
                less, behind text too: no hue of another scale
    bands       ranks, a colour each: BANDS
    versus      bits between two models, in [-6, 6]

A filled area, and the end of each scale, has 3:1 against the background, which a projector still shows.
Text on it has 4.5:1.

Colours between the anchors are mixed in OKLab (Ottosson 2020), where equal steps look equal.
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles
from rnnviz.checks import renamed, renamed_names

Kind = Literal["diverging", "sequential"]

COLOUR_LEVELS = 255
"""Colours in a scale: an odd number, so that one is exactly the middle."""

SURPRISAL_FULL = 10.0
"""Bits at which the colour behind a character is strongest."""

REASON_FULL = 6.0
"""Bits, more or less, at which the colour behind an omitted character is strongest."""

VERSUS_FULL = 6.0
"""Bits of difference between two models at which the colour is strongest."""

BANDS = (1, 3, 10)
"""The last rank of each of `Theme.bands`, except the open-ended last."""


# Why these hues. Blue and orange differ for every kind of colour blindness, red and green don't. The middle
# of a diverging scale is the page's background, so that a unit that does nothing can't be seen. Dark ends get
# lighter, not darker: far from the middle is always far from the background. tests/figures/test_themes.py
# computes the contrasts and simulates the colour blindness.


@dataclass(frozen=True)
class Theme:
    """The colours of one appearance, as `#rrggbb`.

    diverging, sequential  anchors at equal distances from the lowest value to the highest
    surprisal              anchors from 0 bits to SURPRISAL_FULL, painted behind `text`
    reason                 anchors from -REASON_FULL to REASON_FULL bits, painted behind `text`
    bands                  ranks 1, 2-3, 4-10 and > 10, painted behind `text`
    versus                 anchors from -VERSUS_FULL to VERSUS_FULL bits between two models, painted behind
                           `text`
    actual                 the actual character; cursor, pinned: the marks that follow a reader
    runs                   lines of several runs in one chart (after Okabe & Ito)
    """

    name: str
    background: str
    text: str
    muted: str
    grid: str
    axis: str
    diverging: tuple[str, ...]
    sequential: tuple[str, ...]
    surprisal: tuple[str, ...]
    reason: tuple[str, ...]
    bands: tuple[str, str, str, str]
    versus: tuple[str, ...]
    model: str
    ngram: str
    memoryless: str
    uniform: str
    bar: str
    actual: str
    cursor: str
    pinned: str
    runs: tuple[str, ...]

    @property
    def came(self) -> str:
        """`actual`, by its name in 2.0.0: works for one version."""
        warnings.warn("Theme.came is called actual now: write .actual", DeprecationWarning, stacklevel=2)
        return self.actual


_COLOURS: dict[str, tuple[Any, Any]] = {  # light, dark
    "background": ("#ffffff", "#12191e"),
    "text": ("#0a141b", "#e4ebee"),
    "muted": ("#566873", "#9fb0ba"),
    "grid": ("#e6ecef", "#232f37"),
    "axis": ("#b4c2ca", "#4a5c67"),
    "diverging": (
        ("#1d4f8c", "#4f8fc8", "#a6cdea", "#ffffff", "#f7c48d", "#df8838", "#a5500f"),
        ("#6ab7ff", "#3f7fb8", "#1c3f5e", "#12191e", "#57310f", "#b0692c", "#ff9a3d"),
    ),
    "sequential": (
        ("#ffffff", "#b5d9d0", "#4fa39a", "#0f6470", "#06303f"),
        ("#12191e", "#14505a", "#2b938c", "#86d3bd", "#e4fbef"),
    ),
    "surprisal": (("#ffffff", "#f4e6f7", "#e0bdea", "#b87acd"), ("#12191e", "#33203d", "#553168", "#8650a0")),
    "reason": (
        ("#a08f8b", "#d9cdc9", "#ffffff", "#cbe8a6", "#66a016"),
        ("#786360", "#3b3334", "#12191e", "#284316", "#3d7510"),
    ),
    "bands": (("#ffffff", "#d8eef5", "#fde2a9", "#d6791a"), ("#12191e", "#15394a", "#5a4310", "#9a5310")),
    "versus": (
        ("#d6791a", "#f6cc95", "#ffffff", "#a9d2ee", "#4a97cc"),
        ("#9a5310", "#4f3311", "#12191e", "#173f58", "#246a98"),
    ),
    "model": ("#0b6a88", "#5cc0de"),
    "ngram": ("#6b6100", "#bdb36a"),
    "memoryless": ("#a33a70", "#f08cba"),
    "uniform": ("#566873", "#9fb0ba"),
    "bar": ("#4a98b2", "#2f7d97"),
    "actual": ("#33444f", "#c9d5db"),
    "cursor": ("#0a141b", "#e4ebee"),
    "pinned": ("#8a2be2", "#c79bff"),
    "runs": (
        ("#0b6a88", "#b3560a", "#00755a", "#8a2be2", "#a33a70", "#6b6100"),
        ("#5cc0de", "#f0a050", "#4fcfa4", "#c79bff", "#f08cba", "#dccf4a"),
    ),
}
LIGHT, DARK = (
    Theme(name, **{field: pair[n] for field, pair in _COLOURS.items()})
    for n, name in enumerate(("light", "dark"))
)
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


@dataclass(frozen=True)
class ColourScale:
    """A map from values to colours, from `low` to `high`; values beyond take the end's colour."""

    kind: Kind
    low: float
    high: float

    def levels(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.uint8]:
        """The index 0 .. COLOUR_LEVELS - 1 of each value's colour, any shape; NaN gets the middle."""
        span = np.asarray(values, np.float32) - np.float32(self.low)
        span *= np.float32((COLOUR_LEVELS - 1) / (self.high - self.low))
        np.nan_to_num(span, copy=False, nan=COLOUR_LEVELS // 2, posinf=COLOUR_LEVELS - 1, neginf=0)
        np.clip(span, 0, COLOUR_LEVELS - 1, out=span)
        span += np.float32(0.5)  # astype truncates: this rounds to the nearest
        return span.astype(np.uint8)

    def anchors(self, theme: Theme) -> tuple[str, ...]:
        """The theme's colours for this scale."""
        return theme.diverging if self.kind == "diverging" else theme.sequential

    def colorscale(self, theme: Theme) -> list[list[float | str]]:
        """The scale in Plotly's form: [position in 0 .. 1, colour]."""
        return [[i / 32, colour] for i, colour in enumerate(ramp(self.anchors(theme), 33))]


# Fixed ends: a scale that followed the values would recolour what is on the screen at each key. A tanh is
# within [-1, 1]; an LSTM's cell has no bound, and beyond 3 its tanh is above 0.995 anyway; a relu has none
# either.
TANH = ColourScale("diverging", -1.0, 1.0)
CELL = ColourScale("diverging", -3.0, 3.0)
GATE = ColourScale("sequential", 0.0, 1.0)
RELU = ColourScale("sequential", 0.0, 4.0)


def ramp(anchors: Sequence[str], steps: int) -> list[str]:
    """`steps` colours from the first anchor to the last, as `#rrggbb`."""
    return ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in palette(tuple(anchors), steps).tolist()]


@cache
def palette(anchors: tuple[str, ...], steps: int = COLOUR_LEVELS) -> npt.NDArray[np.uint8]:
    """(steps, 3) red, green, blue of colours from the first anchor to the last, mixed in OKLab."""
    # In OKLab, as equal steps of sRGB look larger in the dark than in the light.
    points = np.array([_oklab(anchor) for anchor in anchors])
    at = np.linspace(0, len(anchors) - 1, steps)
    mixed = np.stack([np.interp(at, np.arange(len(anchors)), points[:, i]) for i in range(3)], axis=1)
    colours = _rgb(mixed)
    colours.setflags(write=False)
    return colours


# Ottosson's two matrices: linear sRGB to the cones' responses, and their cube roots to Lab.
_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _oklab(colour: str) -> Doubles:
    lab: Doubles = _LAB @ np.cbrt(_CONES @ linear(colour))
    return lab


def linear(colour: str) -> Doubles:
    """Red, green, blue of `#rrggbb` as linear light, 0 .. 1, without sRGB's gamma."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _rgb(lab: Doubles) -> npt.NDArray[np.uint8]:
    light = np.clip((lab @ np.linalg.inv(_LAB).T) ** 3 @ np.linalg.inv(_CONES).T, 0, 1)
    srgb = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(srgb * 255).astype(np.uint8)


@renamed(one="first", other="second")
def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours as WCAG 2 defines it, from 1 to 21."""
    # WCAG's relative luminance: the eye gets most of its brightness from green. 0.05 stands for the room's
    # light on the screen, without which black would have an infinite contrast.
    weights = np.array([0.2126, 0.7152, 0.0722])
    bright, dim = sorted((float(weights @ linear(first)), float(weights @ linear(second))), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def themes(**steps: int) -> dict[str, dict[str, Any]]:
    """Every colour by name, for each theme; a scale named in `steps` is a ramp of that many colours."""
    return {
        theme.name: {**asdict(theme), **{name: ramp(getattr(theme, name), n) for name, n in steps.items()}}
        for theme in THEMES.values()
    }


if not TYPE_CHECKING:  # not for mypy, which would take every name for one of the module's
    __getattr__ = renamed_names(
        __name__,
        LEVELS="COLOUR_LEVELS",
        Scale="ColourScale",
    )
