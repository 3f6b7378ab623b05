"""What a notebook shows of a trace, a search or a model: static HTML with SVG and PNG in it, no script. The
words are English, as in reprs and docstrings; the app has them in Chinese too.

Light colours, on their own white ground: a stored notebook doesn't know who will read it.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz import telling
from rnnviz.figures import live
from rnnviz.figures.themes import LIGHT, SURPRISAL_FULL, Scale, palette, ramp
from rnnviz.findings import Bars, Finding
from rnnviz.networks.config import KINDS
from rnnviz.networks.ngram import NgramModel
from rnnviz.reading.trace import Trace
from rnnviz.text.characters import visible

COLUMN, HEAT, STRIP, LEFT = 9, 180, 18, 54  # in SVG units

_STYLE = f"background:{LIGHT.background};color:{LIGHT.text};font:13px/1.45 sans-serif;padding:6px 8px"


def html(thing: object) -> str:
    """The HTML of a Trace, a finding or a model."""
    if isinstance(thing, Trace):
        return _framed(trace(thing))
    if isinstance(thing, Finding):
        return _framed(finding(thing))
    return _framed(model(thing))


def trace(read: Trace) -> str:
    """The heat map of the top layer's H over the last characters, with their surprisal, and figures."""
    layer = read.hidden.shape[1] - 1
    start = max(0, len(read) - live.COLUMNS)
    if not len(read):
        return f"<p>{escape(repr(read))}</p>"
    activation = read.weights.layers[layer].activation if read.weights.cell in KINDS else "tanh"
    scale = live.scale("hidden", activation)
    shown = read[start:]
    bits = float(read.nll.mean()) / math.log(2)
    of = f", the last {len(shown)} of {len(read):,}" if start else ""
    head = (
        f"<b>{escape(read.model_name or 'a model')}</b> · {len(read):,} characters, perplexity "
        f"{read.perplexity[-1]:.3f}, {bits:.2f} bits a character"
    )
    notice = (
        f"Hidden state H of layer {layer}, a row a unit, a column a character{of}; {_key(scale)} Look for "
        "rows that keep their colour through a whole word. Behind each character: how surprised the network "
        "was. A colour does not tell what a unit means or whether anything depends on it."
    )
    return f"<p style='margin:0'>{head}</p>{_heat(shown, layer, scale)}<p style='margin:0'>{notice}</p>"


def _key(scale: Scale) -> str:
    anchors = scale.anchors(LIGHT)
    return (
        f"<span style='color:{anchors[1]}'>■</span> {scale.low:g} to "
        f"<span style='color:{anchors[-2]}'>■</span> {scale.high:g}."
    )


def _heat(shown: Trace, layer: int, scale: Scale) -> str:
    values = shown.hidden[:, layer].T  # (H, n)
    H, n = values.shape
    image = base64.b64encode(png(palette(scale.anchors(LIGHT))[scale.levels(values)])).decode()
    colours = ramp(LIGHT.surprisal, 32)
    width = n * COLUMN
    style = "max-width:100%;display:block;margin:4px 0"
    label = "Hidden states along the text"
    place = f'x="{LEFT}" width="{width}" height="{HEAT}" preserveAspectRatio="none"'
    parts = [
        f'<svg viewBox="0 0 {LEFT + width} {HEAT + STRIP}" width="{LEFT + width}" role="img" ',
        f'style="{style}" aria-label="{label}"><image {place} style="image-rendering:pixelated" ',
        f'href="data:image/png;base64,{image}"/>',
    ]
    for unit, y in ((0, 10), (H - 1, HEAT - 2)):
        parts.append(
            f'<text x="{LEFT - 4}" y="{y}" text-anchor="end" font-size="11" fill="{LIGHT.muted}">'
            f"unit {unit}</text>"
        )
    for t, (character, nll) in enumerate(zip(shown.text, shown.nll.tolist(), strict=True)):
        level = min(1.0, nll / math.log(2) / SURPRISAL_FULL)
        x = LEFT + t * COLUMN
        parts.append(
            f'<rect x="{x}" y="{HEAT + 1}" width="{COLUMN}" height="{STRIP - 1}" '
            f'fill="{colours[round(level * 31)]}"/><text x="{x + COLUMN / 2}" y="{HEAT + 13}" '
            f'text-anchor="middle" font-family="monospace" font-size="12" fill="{LIGHT.text}">'
            f"{escape(visible(character))}</text>"
        )
    return "".join([*parts, "</svg>"])


def finding(found: Finding) -> str:
    """A finding's table, what may be said of it, and what to notice."""
    table = found.table()
    cells = [["" if cell is None else _tell(cell) for cell in row] for row in table.rows]
    said = " ".join(_tell(one) for one in found.sentences())
    pictures = "".join(bars(one.picture) for one in found.panels() if isinstance(one.picture, Bars))
    return f"{_table(map(_tell, table.columns), cells)}<p style='margin:0'>{escape(said)}</p>{pictures}"


def bars(picture: Bars) -> str:
    """Bars beside their names, those of what they are compared with behind them."""
    first = picture.first or 0.0
    named = [*zip(picture.names, picture.values, strict=True), *picture.levels]
    widest = max((value - first for _name, value in named), default=0.0) or 1.0
    rows = []
    for number, (name, value) in enumerate(named):
        colour = LIGHT.bar if number < len(picture.names) else LIGHT.muted
        width = max(0.0, 240 * (value - first) / widest)
        rows.append(
            f"<tr><td style='padding-right:8px'>{escape(_tell(name))}</td><td><div style='height:9px;"
            f"width:{width:.0f}px;background:{colour}'></div></td><td>{value:.3f}</td></tr>"
        )
    return f"<table style='font:inherit;color:inherit'>{''.join(rows)}</table>"


def _tell(value: object) -> str:
    return telling.tell(value, telling.DEFAULT, marked=False)


def model(thing: Any) -> str:
    """A model's figures, and what its card says of the text it was trained on."""
    if isinstance(thing, NgramModel):
        kind = f"{thing.order}-gram, counts: no hidden state"
    else:
        config = thing.config
        layers = f"{config.layers} layers of " if config.layers > 1 else ""
        kind = f"{config.cell}, {layers}{config.hidden_size} hidden units"
    card: Mapping[str, Any] = thing.card
    held_out = card.get("held_out")
    own = held_out.get("perplexity") if isinstance(held_out, Mapping) else None
    facts = [
        ("kind", kind),
        ("symbols", f"{thing.vocabulary.size:,}"),
        ("parameters", f"{thing.parameter_count:,}"),
        ("text", str(card.get("title") or card.get("corpus") or "")),
        ("held-out perplexity", f"{own:.3f}" if isinstance(own, int | float) else ""),
    ]
    return f"<p style='margin:0'><b>{escape(thing.name or 'a model')}</b></p>" + _table(
        (), [fact for fact in facts if fact[1]]
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    def row(cells: Iterable[str], tag: str) -> str:
        style = "padding:1px 12px 1px 0;text-align:left"
        return "<tr>" + "".join(f"<{tag} style='{style}'>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    lines = [row(head, "th"), *(row(cells, "td") for cells in rows)]
    return f"<table style='font:inherit;color:inherit'>{''.join(lines)}</table>"


def _framed(inside: str) -> str:
    return f"<div class='rnnviz' style='{_STYLE}'>{inside}</div>"


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A picture (height, width, 3) of red, green and blue as a PNG file."""
    height, width, _ = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)], axis=1)
    packed = zlib.compress(lines.tobytes(), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
