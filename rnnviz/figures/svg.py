"""The running perplexity of a text as small, self-contained SVG, fit for print."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from rnnviz.figures.frame import ticks, written
from rnnviz.figures.perplexity import beyond, extent
from rnnviz.reports.analysis import Curve

Doubles = npt.NDArray[np.float64]

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
    for name, line in zip(("rolling", "running"), reversed(lines), strict=True):
        parts.append(f'<path class="{name}" d="{_path(x(position), y(line), np.isfinite(line))}"/>\n')
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


def _path(x: Doubles, y: Doubles, there: npt.NDArray[np.bool_]) -> str:
    parts, pen = [], "M"
    for across, down, drawn in zip(x.tolist(), y.tolist(), there.tolist(), strict=True):
        if drawn:
            parts.append(f"{pen}{across:.1f} {down:.1f}")
        pen = "L" if drawn else "M"
    # A path of a single point draws nothing; a dot of no length, with round ends, does.
    return "".join(parts) + ("h0" if len(parts) == 1 else "")
