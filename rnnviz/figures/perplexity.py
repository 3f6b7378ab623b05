"""The curve of a scored text: running perplexity, and that of a rolling window.

A pure function from a `Curve` to a Plotly figure as a plain dictionary. In a notebook:

    import plotly.graph_objects as go
    go.Figure(perplexity.figure({"model": record.curve()}))
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from rnnviz.arrays import Doubles, Mask
from rnnviz.errors import ConfigError
from rnnviz.figures.frame import Figure, axis, layout, line, log_axis, ticks, written
from rnnviz.figures.themes import LIGHT, Theme
from rnnviz.reports.analysis import Curve

PALE = 0.45
"""How strong the rolling line is beside the running one."""

MOST = 2
"""Models in one figure: more than two pairs of lines can't be read."""


def extent(curves: Mapping[str, Curve]) -> tuple[float, float]:
    """The log axis's ends, as powers of ten, without the first window or, of a short text, the first quarter:
    its characters may cost thousands. What lies outside is marked, as `beyond` says.
    """
    lines = []
    for curve in curves.values():
        settled = curve.position >= min(curve.window, max(curve.position, default=0) / 4)
        lines += [np.asarray(line, np.float64)[settled] for line in (curve.running, curve.rolling)]
    values = np.concatenate(lines)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 2.0
    low, high = math.log10(max(1.0, values.min())), math.log10(max(1.0, values.max()))
    room = max(0.06, 0.06 * (high - low))
    return max(0.0, low - room), high + room


@dataclass(frozen=True)
class Beyond:
    """Where the lines of a curve lie farthest outside an axis: the `model`-th from 0, after `position`
    characters, at `value`, above it or below.
    """

    model: int
    position: int
    value: float
    above: bool


def beyond(curves: Mapping[str, Curve], ends: tuple[float, float]) -> list[Beyond]:
    """What an axis cuts off that ends as `extent` says: the farthest place of each curve, on either side."""
    found = []
    low, high = (10**end for end in ends)
    for n, curve in enumerate(curves.values()):
        running, rolling = (np.asarray(line, np.float64) for line in (curve.running, curve.rolling))
        for above, cut in ((True, np.fmax(running, rolling)), (False, np.fmin(running, rolling))):
            outside = cut > high if above else cut < low  # False where there is no number
            if outside.any():
                at = int(np.argmax(np.where(outside, cut if above else -cut, -np.inf)))
                found.append(Beyond(n, int(curve.position[at]), float(cut[at]), above))
    return found


def _mark(cut: Beyond, order: int, length: int, theme: Theme) -> Figure:
    """An arrow at the frame's edge and the value there; the marks of one side are in rows of their own."""
    left = cut.position < length / 2
    arrow, said = ("▲", "▼")[not cut.above], "∞" if math.isinf(cut.value) else written(cut.value)
    return {
        "text": f"{arrow} {said}" if left else f"{said} {arrow}",
        "x": cut.position,
        "y": 1 if cut.above else 0,
        "yref": "paper",
        "xanchor": "left" if left else "right",
        "yanchor": "top" if cut.above else "bottom",
        "xshift": -6 if left else 6,
        "yshift": (-14 if cut.above else 14) * order,
        "showarrow": False,
        "bgcolor": theme.background,
        "borderpad": 0,
        "font": {"color": _colours(theme)[cut.model], "size": 12},
    }


def _colours(theme: Theme) -> tuple[str, str]:
    return theme.model, theme.ngram


def skeleton(
    names: tuple[str, ...],
    *,
    length: int,
    ends: tuple[float, float],
    theme: Theme = LIGHT,
    cuts: Sequence[Beyond] = (),
) -> Figure:
    """Axes and empty lines, two a model: "NAME running" and "NAME rolling". `length` is in characters; `ends`
    are those of `extent`; `cuts`, as `beyond` finds them, get an arrow and their value each. Raises
    ConfigError for no model or more than MOST.
    """
    if not 1 <= len(names) <= MOST:
        raise ConfigError("a curve shows 1 to {most} models; received {count}", most=MOST, count=len(names))
    data = []
    for name, colour in zip(names, _colours(theme), strict=False):
        data.append(line(f"{name} rolling", colour, 1.25, opacity=PALE))
        data.append(line(f"{name} running", colour, 2.25))
    return {
        "data": data,
        "layout": layout(
            theme,
            margin={"l": 46, "r": 10, "t": 6, "b": 22, "pad": 0},
            xaxis=axis(theme, range=[0, max(1, length)], showgrid=False, tickformat=",d", nticks=8),
            yaxis=log_axis(theme, ends),
            annotations=[
                _mark(cut, sum(one.above == cut.above for one in cuts[:n]), length, theme)
                for n, cut in enumerate(cuts)
            ],
        ),
    }


def figure(curves: Mapping[str, Curve], *, theme: Theme = LIGHT) -> Figure:
    """The curves of one or two models, by name; raises ConfigError for more."""
    length = max((int(curve.position[-1]) for curve in curves.values() if len(curve.position)), default=1)
    ends = extent(curves)
    drawn = skeleton(tuple(curves), length=length, ends=ends, theme=theme, cuts=beyond(curves, ends))
    for n, curve in enumerate(curves.values()):
        x = np.asarray(curve.position).tolist()
        for drawn_line, values in zip(drawn["data"][2 * n :], (curve.rolling, curve.running), strict=False):
            drawn_line.update(x=x, y=[float(v) if np.isfinite(v) else None for v in values])
    layout = drawn["layout"]
    layout.update(height=360, showlegend=True, margin={"l": 64, "r": 16, "t": 16, "b": 48})
    layout["xaxis"]["title"] = "characters read"
    layout["yaxis"]["title"] = "perplexity"
    return drawn


# The running perplexity of a text as small, self-contained SVG, fit for print.


WIDTH, HEIGHT, LEFT, BOTTOM = 960, 300, 64, 30  # in SVG units


def curve(drawn: Curve, translate: Callable[[str], str] = str) -> str:
    """Running and rolling perplexity as SVG on a logarithmic axis."""
    _ = translate
    position = np.asarray(drawn.position, np.float64)
    lines = [np.asarray(line, np.float64) for line in (drawn.running, drawn.rolling)]
    low, high = (10**end for end in extent({"": drawn}))
    first, last = (float(position[0]), float(position[-1])) if position.size else (0.0, 1.0)
    span, decades = max(last - first, 1.0), math.log(high / low)

    def x(at: Any) -> Any:
        return LEFT + (at - first) / span * (WIDTH - LEFT - 8)

    def y(value: Any) -> Any:
        # What leaves the range leaves the frame, which cuts it off; farther out it only needs to be outside.
        inside = np.log(np.clip(value, low / 10, 10 * high) / low) / decades
        return 8 + (1 - inside) * (HEIGHT - BOTTOM - 8)

    label = escape(_("Perplexity along the text"))
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">\n']
    for tick, number in zip(*ticks(math.log10(low), math.log10(high)), strict=True):
        at = float(y(tick))
        parts.append(
            f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - 8}"/>'
            f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{number}</text>\n'
        )
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = first + share * span
        anchor = "end" if share == 1 else "middle" if share else "start"
        parts.append(f'<text x="{x(at):.1f}" y="{HEIGHT - 8}" text-anchor="{anchor}">{at:,.0f}</text>\n')
    box = f"{LEFT - 2} 6 {WIDTH - LEFT - 4} {HEIGHT - BOTTOM - 4}"
    left, top, width, height = box.split()
    parts.append(f'<svg x="{left}" y="{top}" width="{width}" height="{height}" viewBox="{box}">\n')
    for name, values in zip(("rolling", "running"), reversed(lines), strict=True):
        parts.append(f'<path class="{name}" d="{_path(x(position), y(values), np.isfinite(values))}"/>\n')
    parts.append("</svg>\n")
    for cut in beyond({"": drawn}, (math.log10(low), math.log10(high))):
        edge, anchor = 20 if cut.above else HEIGHT - BOTTOM - 6, "start" if cut.position < last / 2 else "end"
        said = "∞" if math.isinf(cut.value) else written(cut.value)
        mark = f"{'▲' if cut.above else '▼'} {said}"
        parts.append(f'<text x="{x(cut.position):.1f}" y="{edge}" text-anchor="{anchor}">{mark}</text>\n')
    rolling = _("over the last {n} characters").format(n=f"{drawn.window:,}")
    running = _("of everything so far")
    across = _("across: characters read")
    parts.append(
        f'</svg>\n<p class="key"><i class="running"></i>{escape(running)} '
        f'<i class="rolling"></i>{escape(rolling)}; {escape(across)}</p>\n'
    )
    return "".join(parts)


def _path(x: Doubles, y: Doubles, there: Mask) -> str:
    parts, pen = [], "M"
    for across, down, drawn in zip(x.tolist(), y.tolist(), there.tolist(), strict=True):
        if drawn:
            parts.append(f"{pen}{across:.1f} {down:.1f}")
        pen = "L" if drawn else "M"
    # A path of a single point draws nothing; a dot of no length, with round ends, does.
    return "".join(parts) + ("h0" if len(parts) == 1 else "")
