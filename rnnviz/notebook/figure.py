"""The picture of a Trace or a finding as a Plotly Figure."""

from collections.abc import Callable, Sequence
from typing import Any

from rnnviz import sentences
from rnnviz.errors import ConfigError, install
from rnnviz.figures import live
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import LIGHT
from rnnviz.findings import Heat, Panel, Picture
from rnnviz.scoring.trace import Trace


def figure(shown: object, panel: str = "") -> Any:
    """The figure of a Trace, or of a finding's `panel` (the first without a name), with its title.

    A Trace's rows are the units of its last layer, similar ones side by side. Raises ConfigError where
    `shown` has no such picture, and where Plotly is missing.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise ConfigError("a figure needs Plotly: {command}", command=install("notebook")) from None
    pictures: dict[str, tuple[str, Picture]] = {}
    if isinstance(shown, Trace) and len(shown):
        states, scale = shown.hidden[:, -1], live.scale_of(shown)
        values = states[:, live.seriate(states)].T
        heat = Heat(
            values, (scale.kind, scale.low, scale.high), "character", "units, similar ones side by side"
        )
        pictures["hidden"] = ("H after each character", heat)
    else:
        panels: Callable[[], Sequence[Panel]] = getattr(shown, "panels", tuple)
        pictures |= {one.name: (_english(one.title), one.picture) for one in panels()}
    if not pictures or panel not in ("", *pictures):
        raise ConfigError(
            "a {what} has no picture {panel!r}: its pictures are {pictures}",
            what=type(shown).__name__,
            panel=panel,
            pictures=", ".join(pictures) or "none",
        )
    title, picture = pictures[panel or next(iter(pictures))]
    above = {"text": title, "font_size": 14, "x": 0.01, "y": 1, "yanchor": "top", "pad_t": 8}
    made = Figure(draw(picture, _english))
    top = made.layout.margin.t + 32
    return made.update_layout(title=above, margin_t=top, paper_bgcolor=LIGHT.background)


def _english(said: object) -> str:
    return sentences.tell(said, sentences.DEFAULT, marked=False)
