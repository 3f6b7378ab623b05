"""The pictures of a trace, a finding or a model: a Plotly figure, or static HTML without scripts.

The template is `html_repr.html` beside this file. Words are English, as in reprs and docstrings; the app has
Chinese too. Colours are light, on a white ground: a stored notebook doesn't know its reader's theme.
"""

import base64
import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz import sentences
from rnnviz.errors import ConfigError, install
from rnnviz.figures import live
from rnnviz.figures.export import markup
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import LIGHT, SURPRISAL_FULL, palette, ramp
from rnnviz.findings import Bars, Finding, Heat, Panel, Picture
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.trace import Trace
from rnnviz.text.characters import visible

COLUMN, HEAT, STRIP, LEFT = 9, 180, 18, 54  # in SVG units


def html(thing: object) -> str:
    """The HTML of a Trace, a finding or a model."""
    if isinstance(thing, Trace):
        drawn = trace(thing)
    else:
        drawn = finding(thing) if isinstance(thing, Finding) else model(thing)
    sizes = {"column": COLUMN, "heat": HEAT, "strip": STRIP, "left": LEFT}
    return markup(Path(__file__).with_name("html_repr.html")).render(**drawn, **sizes, colours=LIGHT)


def trace(read: Trace) -> dict[str, Any]:
    """Template values of a Trace: the top layer's H over the last characters, their surprisal, and
    figures.
    """
    if not len(read):
        return {"kind": "empty", "said": repr(read)}
    layer = read.hidden.shape[1] - 1
    shown = read[max(0, len(read) - live.MAX_COLUMNS) :]
    scale = live.scale_of(read)
    anchors = scale.anchors(LIGHT)
    values = shown.hidden[:, layer].T  # (H, n)
    colours = ramp(LIGHT.surprisal, 32)
    strength = np.minimum(1.0, shown.nll / math.log(2) / SURPRISAL_FULL)
    drawn = {
        "name": read.model_name or "a model",
        "head": f"{len(read):,} characters, perplexity {read.perplexity[-1]:,.3f}, "
        f"{read.nll.mean() / math.log(2):.2f} bits a character",
        "layer": layer,
        "part": f", the last {len(shown)} of {len(read):,}" if len(shown) < len(read) else "",
        "ends": [(f"{scale.low:g}", anchors[1]), (f"{scale.high:g}", anchors[-2])],
        "units": len(values),
        "width": len(shown) * COLUMN,
        "image": base64.b64encode(png(palette(anchors)[scale.levels(values)])).decode(),
        "characters": [
            (visible(character), colours[level])
            for character, level in zip(shown.text, (strength * 31).round().astype(int), strict=True)
        ],
    }
    return {"kind": "trace", "read": drawn}


def finding(found: Finding) -> dict[str, Any]:
    """Template values of a finding: its table, its sentences, and its bars."""
    table = found.table()
    return {
        "kind": "finding",
        "head": [_tell(column) for column in table.columns],
        "rows": [["" if cell is None else _tell(cell) for cell in row] for row in table.rows],
        "said": " ".join(_tell(one) for one in found.sentences()),
        "pictures": [bars(one.picture) for one in found.panels() if isinstance(one.picture, Bars)],
    }


Named = list[tuple[str, float]]


def bars(picture: Bars) -> tuple[Named, Named, float]:
    """A picture's bars by name, its levels by name, and the value where bars begin."""
    named = [(_tell(name), value) for name, value in zip(picture.names, picture.values, strict=True)]
    return named, [(_tell(name), value) for name, value in picture.levels], picture.first or 0.0


def _tell(value: object) -> str:
    return sentences.describe(value, sentences.DEFAULT, marked=False)


def model(thing: Any) -> dict[str, Any]:
    """Template values of a model: its figures, and its training text from the card."""
    if isinstance(thing, NgramModel):
        kind = f"{thing.order}-gram, counts: no hidden state"
    else:
        config = thing.config
        layers = f"{config.layers} layers of " if config.layers > 1 else ""
        kind = f"{config.cell}, {layers}{config.hidden_size} hidden units"
    card: Mapping[str, Any] = thing.card
    held_out = card.get("held_out")
    own = held_out.get("perplexity") if isinstance(held_out, Mapping) else None
    facts = {
        "kind": kind,
        "symbols": f"{thing.vocabulary.size:,}",
        "parameters": f"{thing.parameter_count:,}",
        "text": str(card.get("title") or card.get("corpus") or ""),
        "held-out perplexity": f"{own:,.3f}" if isinstance(own, int | float) else "",
    }
    return {
        "kind": "model",
        "name": thing.name or "a model",
        "facts": [fact for fact in facts.items() if fact[1]],
    }


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG file of pixels (height, width, 3), red, green and blue."""
    height, width, _ = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # Each line begins with its filter's type: 0, none.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)], axis=1)
    packed = zlib.compress(lines.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


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
    return sentences.describe(said, sentences.DEFAULT, marked=False)
