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


def html(value: object) -> str:
    """The HTML of a Trace, a finding or a model."""
    if isinstance(value, Trace):
        template_values = trace(value)
    else:
        template_values = finding(value) if isinstance(value, Finding) else model(value)
    sizes = {"column": COLUMN, "heat": HEAT, "strip": STRIP, "left": LEFT}
    return markup(Path(__file__).with_name("html_repr.html")).render(
        **template_values, **sizes, colours=LIGHT
    )


def trace(read: Trace) -> dict[str, Any]:
    """Template values of a Trace: the top layer's H over the last characters, their surprisal, and
    figures.
    """
    if not len(read):
        return {"kind": "empty", "said": repr(read)}
    layer = read.hidden.shape[1] - 1
    last_part = read[max(0, len(read) - live.WINDOW_COLUMNS) :]
    scale = live.trace_scale(read)
    anchors = scale.anchors(LIGHT)
    values = last_part.hidden[:, layer].T  # (H, n)
    colours = ramp(LIGHT.surprisal, 32)
    strength = np.minimum(1.0, last_part.nll / math.log(2) / SURPRISAL_FULL)
    template_values = {
        "name": read.model_name or "a model",
        "head": f"{len(read):,} characters, perplexity {read.perplexity[-1]:,.3f}, "
        f"{read.nll.mean() / math.log(2):.2f} bits per character",
        "layer": layer,
        "part": f", the last {len(last_part)} of {len(read):,}" if len(last_part) < len(read) else "",
        "ends": [(f"{scale.low:g}", anchors[1]), (f"{scale.high:g}", anchors[-2])],
        "units": len(values),
        "width": len(last_part) * COLUMN,
        "image": base64.b64encode(png(palette(anchors)[scale.levels(values)])).decode(),
        "characters": [
            (visible(character), colours[level])
            for character, level in zip(last_part.text, (strength * 31).round().astype(int), strict=True)
        ],
    }
    return {"kind": "trace", "read": template_values}


def finding(result: Finding) -> dict[str, Any]:
    """Template values of a finding: its table, its sentences, and its bars."""
    table = result.table()
    return {
        "kind": "finding",
        "head": [_english(column) for column in table.columns],
        "rows": [["" if cell is None else _english(cell) for cell in row] for row in table.rows],
        "said": " ".join(_english(item) for item in result.sentences()),
        "pictures": [bars(item.picture) for item in result.panels() if isinstance(item.picture, Bars)],
    }


Named = list[tuple[str, float]]


def bars(picture: Bars) -> tuple[Named, Named, float]:
    """A picture's bars by name, its levels by name, and the value where bars begin."""
    named = [(_english(name), value) for name, value in zip(picture.names, picture.values, strict=True)]
    return named, [(_english(name), value) for name, value in picture.levels], picture.first or 0.0


def model(network: Any) -> dict[str, Any]:
    """Template values of a model: its figures, and its training text from the card."""
    if isinstance(network, NgramModel):
        kind = f"{network.order}-gram, counts: no hidden state"
    else:
        config = network.config
        layers = f"{config.layers} layers of " if config.layers > 1 else ""
        kind = f"{config.cell}, {layers}{config.hidden_size} hidden units"
    card: Mapping[str, Any] = network.card
    held_out = card.get("held_out")
    perplexity = held_out.get("perplexity") if isinstance(held_out, Mapping) else None
    facts = {
        "kind": kind,
        "symbols": f"{network.vocabulary.size:,}",
        "parameters": f"{network.parameter_count:,}",
        "text": str(card.get("title") or card.get("corpus") or ""),
        "held-out perplexity": f"{perplexity:,.3f}" if isinstance(perplexity, int | float) else "",
    }
    return {
        "kind": "model",
        "name": network.name or "a model",
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


def figure(result: object, panel: str = "") -> Any:
    """The figure of a Trace, or of a finding's `panel` (the first without a name), with its title.

    A Trace's rows are the units of its last layer, similar ones side by side. Raises ConfigError where
    `result` has no such picture, and where Plotly is missing.
    """
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise ConfigError("a figure needs Plotly: {command}", command=install("notebook")) from None
    pictures: dict[str, tuple[str, Picture]] = {}
    if isinstance(result, Trace) and len(result):
        states, scale = result.hidden[:, -1], live.trace_scale(result)
        values = states[:, live.seriate(states)].T
        heat = Heat(
            values, (scale.kind, scale.low, scale.high), "character", "units, similar ones side by side"
        )
        pictures["hidden"] = ("H after each character", heat)
    else:
        panels: Callable[[], Sequence[Panel]] = getattr(result, "panels", tuple)
        pictures |= {entry.name: (_english(entry.title), entry.picture) for entry in panels()}
    if not pictures or panel not in ("", *pictures):
        raise ConfigError(
            "a {what} has no picture {panel!r}: its pictures are {pictures}",
            what=type(result).__name__,
            panel=panel,
            pictures=", ".join(pictures) or "none",
        )
    title, picture = pictures[panel or next(iter(pictures))]
    above = {"text": title, "font_size": 14, "x": 0.01, "y": 1, "yanchor": "top", "pad_t": 8}
    plotly_figure = Figure(draw(picture, _english))
    top = plotly_figure.layout.margin.t + 32
    return plotly_figure.update_layout(title=above, margin_t=top, paper_bgcolor=LIGHT.background)


def _english(value: object) -> str:
    return sentences.describe(value, sentences.DEFAULT, marked=False)
