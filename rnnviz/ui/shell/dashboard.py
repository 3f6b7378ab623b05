"""A dashboard: coloured texts and Plotly figures that share one cursor, drawn by one component.

A character under the pointer lights up in every linked text and figure, without the server. A click, an arrow
key or a selection asks the server, which answers with a new dashboard.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
import streamlit as st

from rnnviz.arrays import Array
from rnnviz.figures.alt_text import Extremes, extremes
from rnnviz.figures.themes import COLOUR_LEVELS, THEMES, ColourScale, Theme, contrast, ramp, themes
from rnnviz.i18n import _, language
from rnnviz.page import payload
from rnnviz.page.formatting import uncoloured
from rnnviz.page.payload import ARRAY_TYPES, pack
from rnnviz.text.vocabulary import code_points
from rnnviz.ui.browser import component
from rnnviz.ui.browser.component import Component
from rnnviz.ui.shell import address

Figure = dict[str, Any]

PALETTE_STEPS = 33  # colours behind the text: an odd number, so that a diverging scale has a middle
MIN_CONTRAST = 4.5  # the least contrast of a letter with its background: WCAG 2, level AA

_component = Component("dashboard")


@dataclass(frozen=True, eq=False)
class ColouredText:
    """A text, a colour behind each character.

    levels   (T,) uint8, 0 .. COLOUR_LEVELS - 1, from `ColourScale.levels`
    palette  "diverging", "sequential", "surprisal" or "versus"
    values   (T,) numbers shown for the character under the pointer, or None
    at       the index of a character to mark, or None
    linked   whether the text shares the cursor
    name     the values' name; "": the label
    marked   start and stop of a passage to mark, in a text that isn't linked
    bars     symbols with their probabilities, beside the label
    pick     the number that a click on the text picks, see `DashboardRequest.pick`; None: nothing
    """

    text: str
    levels: Array
    palette: str = "diverging"
    label: str = ""
    values: Array | None = None
    at: int | None = None
    linked: bool = True
    name: str = ""
    marked: tuple[int, int] | None = None
    bars: Sequence[tuple[str, float]] = ()
    pick: int | None = None


def colour_text(
    text: str, values: Array, scale: ColourScale, label: str, palette: str = "", **options: Any
) -> ColouredText:
    """A text coloured by `values` (T,) on `scale`; `options` are further fields of `ColouredText`."""
    return ColouredText(text, scale.levels(values), palette or scale.kind, label, values, **options)


def legend_ends(scale: ColourScale) -> tuple[str, str, str]:
    """A scale's palette, and its lowest and highest value as words: `scale` of `mount`."""
    low, high = (f"{end:g}".replace("-", "−") for end in (scale.low, scale.high))
    return scale.kind, low, high


@dataclass(frozen=True, eq=False)
class DashboardPanel:
    """A figure with two sentences: `notice` says where to look, `limits` names things that it doesn't show.

    figure  makes the Plotly figure, given `theme=`
    height  pixels
    width   sixths of the dashboard
    link    "x": the x axis counts characters; "xy": both axes do; "points": the first trace has a point for
            each character; "": the figure isn't linked
    pick    a click's request: "at", a character; "bar": an entry of `picks`, one a bar, the lowest first
    """

    name: str
    title: str
    figure: Callable[..., Figure]
    notice: str
    limits: str
    height: int = 240
    width: int = 6
    link: str = ""
    pick: str = ""
    picks: Sequence[Any] = ()

    # Both themes go to the browser at once: a reader who turns to the dark one needs no answer of the server.
    @cached_property
    def figures(self) -> dict[str, Figure]:
        """The figure in each theme, drawn once, however often the panel is shown."""
        return {name: self.figure(theme=theme) for name, theme in THEMES.items()}

    @cached_property
    def alt_text(self) -> str:
        """The figure's text alternative, the same in both themes."""
        return text_alternative(self.figures["light"])


@dataclass(frozen=True)
class DashboardRequest:
    """A browser's request: `kind` is "at" (a character), "span" or "pick" (in a `panel`).

    `value` is any JSON value: the methods below check it.
    """

    kind: str = ""
    value: Any = None
    panel: str = ""
    client: str = ""
    seq: int = 0

    @classmethod
    def from_json(cls, value: object) -> DashboardRequest:
        """The request in any JSON value; missing or mistyped fields become defaults."""
        return payload.valid(
            cls,
            value,
            kind=payload.text(20),
            value=lambda v: True,
            panel=payload.text(200),
            client=payload.text(64),
            seq=payload.whole(),
        )

    def position(self, length: int) -> int | None:
        """The index of the character asked for; None unless it is below `length`."""
        # `type`, not isinstance: JSON's true would be taken for 1.
        good = self.kind == "at" and type(self.value) is int and 0 <= self.value < length
        return self.value if good else None

    def pick(self, count: int, panel: str | None = None) -> int | None:
        """The number picked (in `panel`, if given); None unless it is below `count`."""
        is_pick = self.kind == "pick" and (panel is None or self.panel == panel)
        good = is_pick and type(self.value) is int and 0 <= self.value < count
        return self.value if good else None

    def span(self, length: int) -> tuple[int, int] | None:
        """Start and stop of the selected characters; None unless they lie within `length`."""
        if self.kind != "span" or not isinstance(self.value, list) or len(self.value) != 2:
            return None
        start, stop = self.value
        good = type(start) is int and type(stop) is int and 0 <= start < stop <= length
        return (start, stop) if good else None


def _pool_array(array: Array, pool: dict[str, Array]) -> str:
    """The array's name in the pool, a digest of its content: light and dark figures share their arrays."""
    # The browser has typed arrays of ARRAY_TYPES only; JavaScript's numbers lose nothing by float32 in a
    # picture.
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    elif array.dtype.str not in ARRAY_TYPES:
        array = array.astype(np.float32)
    array = np.ascontiguousarray(array)
    # Shape and type belong to the name: the same bytes may be another array.
    shape = ",".join(map(str, array.shape)) + array.dtype.str
    name = hashlib.blake2b(array.tobytes() + shape.encode(), digest_size=8).hexdigest()
    pool[name] = array
    return name


def _pool_arrays(value: Any, pool: dict[str, Array]) -> Any:
    if isinstance(value, dict):
        return {key: _pool_arrays(v, pool) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_pool_arrays(v, pool) for v in value]
    if isinstance(value, np.ndarray):
        # In the header a name stands for the array; the browser's panel.js puts the array in its place again.
        return {"$": _pool_array(value, pool)}
    return value.item() if isinstance(value, np.generic) else value


@cache
def _themes() -> dict[str, Any]:
    out = themes()
    for theme in THEMES.values():
        palettes = {}
        for name in ("diverging", "sequential", "surprisal", "versus"):
            behind = ramp(getattr(theme, name), PALETTE_STEPS)
            # One ink for each colour, chosen here once, so that the browser computes no contrast.
            letters = [_letter_colour(theme, colour) for colour in behind]
            palettes[name] = list(map(list, zip(behind, letters, strict=True)))
        out[theme.name]["palettes"] = palettes
    return out


def _letter_colour(theme: Theme, behind: str) -> str:
    """A letter's colour on a background: the theme's text colour where it is readable, else the next."""
    inks = (theme.text, theme.background, "#ffffff", "#000000")
    return next(ink for ink in inks if contrast(ink, behind) >= MIN_CONTRAST)


def words() -> dict[str, str]:
    """The words that the dashboard's browser modules show, by the names that they use."""
    return {
        "plain": uncoloured(),
        "text": _("The text; arrow keys move the cursor, a click sets it"),
        "idle": _(
            "Point at a character to find it in every picture; click, tap or use the arrow keys to choose it."
        ),
        "idle.select": _(
            "Point at a character to find it in every picture; drag over the text to select a passage."
        ),
        "at": _("character {n}"),
        "misses": _("Not shown: {what}"),
        "missing": _(
            "The drawing library could not be loaded from {url}. Start the app with `streamlit run app.py`, "
            "which serves it."
        ),
        "late": _("The server does not answer; your request is sent again."),
    }


def mount(
    key: str,
    *,
    texts: Sequence[ColouredText] = (),
    panels: Sequence[DashboardPanel] = (),
    at: int | None = None,
    spans: Sequence[tuple[int, int]] = (),
    select: bool = False,
    scale: tuple[str, str, str] | None = None,
    quiet: bool = False,
) -> None:
    """Draw a dashboard on the page, or redraw it; at the next run `take_request(key)` has its request.

    at      the index of the chosen character, or None
    spans   start and stop of each passage that is selected
    select  whether passages can be selected
    scale   the legend: palette, word for its lowest colour, word for its highest; see `legend_ends`
    quiet   whether the hint on the cursor is left out
    """
    pool: dict[str, Array] = {}
    # Consumes a request that no part of the page has read: the header below acknowledges it. The browser
    # waits for the number of its last request, and sends that again if the answer doesn't come.
    take_request(key)
    answered: DashboardRequest = st.session_state.get(f"{key}.answered", DashboardRequest())
    header = {
        "client": answered.client,
        "seq": answered.seq,
        "address": address.current_values(),
        "words": words(),
        "language": language(),
        "themes": _themes(),
        "levels": COLOUR_LEVELS,
        "at": at,
        "spans": list(spans),
        "select": select,
        "quiet": quiet,
        "scale": scale,
        "texts": [
            {
                "codes": _pool_array(code_points(text.text), pool),
                "levels": _pool_array(text.levels, pool),
                "values": None if text.values is None else _pool_array(text.values, pool),
                "palette": text.palette,
                "label": text.label,
                "name": text.name or text.label,
                "at": text.at,
                "linked": text.linked,
                "marked": text.marked,
                "bars": [list(bar) for bar in text.bars],
                "pick": text.pick,
            }
            for text in texts
        ],
        "panels": [_panel_header(panel, pool) for panel in panels],
    }

    _component.mount(pack(header, pool), key=key)


def _panel_header(panel: DashboardPanel, pool: dict[str, Array]) -> dict[str, Any]:
    return {
        **{field.name: getattr(panel, field.name) for field in fields(panel) if field.name != "figure"},
        "picks": list(panel.picks),
        "altText": panel.alt_text,
        "figures": _pool_arrays(panel.figures, pool),
    }


def take_request(key: str) -> DashboardRequest:
    """The request of this key's dashboard since the last run; an empty `DashboardRequest` without one."""
    request = DashboardRequest.from_json(component.take_ask(key))
    # A rerun for another reason brings an empty one, which must not take the last one's acknowledgement away.
    if request.client:
        st.session_state[f"{key}.answered"] = request
    return request


MAX_DESCRIBED_PARTS = 4
"""Parts of a figure that the alternative describes; with more it would be a table read aloud."""


def text_alternative(figure: Mapping[str, Any]) -> str:
    """A figure's text alternative: the extremes of each part (a Plotly figure as JSON), one sentence a part.

    Returns "" for a figure without values. Past MAX_DESCRIBED_PARTS, the last sentence counts the others.
    """
    parts = extremes(figure)
    sentences = [
        _part_sentence(part) for part in parts if part.name or len(parts) == 1 or part.kind != "line"
    ]
    rest = len(sentences) - MAX_DESCRIBED_PARTS
    counted = [_("{n} more are drawn.").format(n=rest)] if rest > 0 else []
    return " ".join([*sentences[:MAX_DESCRIBED_PARTS], *counted])


def _part_sentence(part: Extremes) -> str:
    values = {
        "low": _number_text(part.low),
        "high": _number_text(part.high),
        "last": _number_text(part.last),
        "n": f"{part.count:,}",
    }
    places = {"low_at": ", ".join(part.low_at), "high_at": ", ".join(part.high_at)}
    if part.kind == "heat":
        places |= {"row": part.high_at[0], "column": part.high_at[1]}
        sentence = _("Highest: {high}, in row {row}, column {column}; lowest: {low}.")
    elif part.kind == "line":
        sentence = _("Highest: {high} at {high_at}; lowest: {low} at {low_at}; it ends at {last}.")
    elif part.kind == "points":
        sentence = _("{n} points, from {low} to {high}.")
    else:
        sentence = _("Highest: {high_at}, {high}; lowest: {low_at}, {low}.")
    return (f"{part.name}: " if part.name else "") + sentence.format(**values, **places)


def _number_text(value: float) -> str:
    return f"{value:,.3g}".replace("-", "−")
