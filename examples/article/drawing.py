"""Small charts as SVG, in the package's colours: what the article needs and no more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from rnnviz.figures.themes import Theme

WIDTH = 960


@dataclass
class Chart:
    """Panels on one background, WIDTH by `height`, and what it shows in a sentence."""

    theme: Theme
    height: int
    said: str
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, words: str, *, anchor: str = "start", colour: str = "", size: int = 13
    ) -> None:
        """A line of words; `colour` is the theme's text if it is left out."""
        fill = colour or self.theme.text
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}">'
            f"{escape(words)}</text>"
        )

    def path(
        self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 2, dash: str = ""
    ) -> None:
        """A line through points in pixels."""
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')

    def svg(self) -> str:
        """The whole picture."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img" '
            f'aria-label="{escape(self.said)}" font-family="system-ui, sans-serif">\n'
            f'<rect width="{WIDTH}" height="{self.height}" fill="{self.theme.background}"/>\n'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


@dataclass
class Panel:
    """Axes in a Chart: `box` is left, top, width and height in pixels; `x` and `y` are their ends."""

    chart: Chart
    box: tuple[float, float, float, float]
    x: tuple[float, float]
    y: tuple[float, float]
    log: str = ""

    def X(self, value: float) -> float:
        """Pixels from the left."""
        return self.box[0] + self.box[2] * self._share(value, self.x, "x")

    def Y(self, value: float) -> float:
        """Pixels from the top."""
        return self.box[1] + self.box[3] * (1 - self._share(value, self.y, "y"))

    def _share(self, value: float, ends: tuple[float, float], axis: str) -> float:
        low, high = ends
        if axis in self.log:
            value, low, high = (math.log(max(v, 1e-12)) for v in (value, low, high))
        return min(max((value - low) / (high - low), 0.0), 1.0)

    def axes(self, xs: dict[float, str], ys: dict[float, str], title: str = "", under: str = "") -> None:
        """Ticks with their words, a title above and what runs across below."""
        theme, (left, top, width, height) = self.chart.theme, self.box
        for value, words in ys.items():
            at = self.Y(value)
            self.chart.path([(left, at), (left + width, at)], theme.grid, width=1)
            self.chart.text(left - 6, at + 4, words, anchor="end", colour=theme.muted, size=12)
        for value, words in xs.items():
            self.chart.text(
                self.X(value), top + height + 16, words, anchor="middle", colour=theme.muted, size=12
            )
        self.chart.path([(left, top + height), (left + width, top + height)], theme.axis, width=1)
        if title:
            self.chart.text(left, top - 8, title, size=14)
        if under:
            self.chart.text(
                left + width / 2, top + height + 34, under, anchor="middle", colour=theme.muted, size=12
            )

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 2, dash: str = ""
    ) -> None:
        """A line through points in the axes' units."""
        self.chart.path([(self.X(x), self.Y(y)) for x, y in points], colour, width=width, dash=dash)

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> None:
        """An interval along a line."""
        points = [*zip(xs, low, strict=True), *reversed([*zip(xs, high, strict=True)])]
        d = "M" + "L".join(f"{self.X(x):.1f} {self.Y(y):.1f}" for x, y in points) + "Z"
        self.chart.parts.append(f'<path d="{d}" fill="{colour}" opacity="0.25"/>')

    def dot(self, x: float, y: float, colour: str, *, hollow: bool = False) -> None:
        """A point; a hollow one stands for a control."""
        fill = self.chart.theme.background if hollow else colour
        self.chart.parts.append(
            f'<circle cx="{self.X(x):.1f}" cy="{self.Y(y):.1f}" r="5" fill="{fill}" '
            f'stroke="{colour}" stroke-width="2"/>'
        )
