"""Primitives of a step's picture: a tree of plain data, without coordinates.

A step returns one tree; `ui/pages/learn/static/primitives.js` draws it. Containers (`row`, `inline`,
`column`) hold content (`text`, `table`, `matrix`, `plot`, …). Every part may have:

    stands   the formula's symbols that it shows, separated by spaces: pointing at one lights the other
    here     the value of a symbol, where the part doesn't show it
    pick     a control: a click on item i sets it to `i`

Numbers may be numpy's; NaN and infinities become gaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rnnviz.lecture.symbols import typeset

Node = dict[str, Any]
SENT_DIGITS = 5
"""Significant digits of each number sent to the browser."""


def json_value(value: Any) -> Any:
    """A value in JSON's types: numbers rounded to SENT_DIGITS digits, None for NaN and infinities.

    >>> json_value(np.array([[1.0, np.nan]]))
    [[1.0, None]]
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.{SENT_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    if isinstance(value, Mapping) and "kind" not in value:  # `node` has converted its entries already
        return {str(name): json_value(item) for name, item in value.items()}
    return value


def node(kind: str, **entries: Any) -> Node:
    """A part of a picture, without entries that are None."""
    return {"kind": kind, **{name: json_value(value) for name, value in entries.items() if value is not None}}


def row(*parts: Node, sizes: Sequence[float] | None = None) -> Node:
    """Parts side by side, with these shares of the width (equal if None); stacked on a phone."""
    return node("row", parts=list(parts), sizes=sizes or [1] * len(parts))


def inline(*parts: Node, look: str = "") -> Node:
    """Parts side by side at their natural widths: factors and the signs between them.

    look    joined; aside: the first is a name at the left of the centred rest
    """
    return node("inline", parts=list(parts), look=look)


def column(*parts: Node, look: str = "") -> Node:
    """Parts below each other. `look`: start, middle, close; frame, in a colour."""
    return node("column", parts=list(parts), look=look)


def text(words: str, look: str = "", stands: str = "", here: Any = None) -> Node:
    """A paragraph.

    look    big, large, quiet, strong, mono, centre, narrow, frame; a colour: model, actual, ngram, pinned
    """
    return node("text", words=words, look=look, stands=stands, here=here)


def tex(formula: str, look: str = "", stands: str = "", here: Any = None) -> Node:
    r"""A formula in LaTeX; \s{NAME} is a symbol of symbols.py, as in the title's formula.

    look    of a graph's node: box, or round
    """
    return node("tex", latex=typeset(formula), look=look, stands=stands, here=here)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    look: str = "",
    lit: Sequence[tuple[int, int]] = (),
) -> Node:
    """A table of texts: `head` over the columns ([] for none); each row's first cell is its name.

    lit    highlighted cells, (row, column) of `rows`, counting the name's column
    """
    return node("table", head=list(head), rows=list(rows), look=look, lit=list(lit))


def matrix(
    values: Any,
    stands: str = "",
    *,
    title: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    lit: Sequence[tuple[int, int]] = (),
    faded: Sequence[tuple[int, int]] = (),
    scale: str = "diverging",
    full: float | None = None,
    digits: int = 2,
    pick: str | None = None,
    edit: tuple[str, int, Sequence[Any]] | None = None,
    look: str = "",
) -> Node:
    r"""A matrix (n, m) in brackets, every entry coloured by its value; its size stands beside its title.

    title      LaTeX over it; "": the symbol in `stands`
    rows       names of its rows, texts or LaTeX with symbols; `columns` of its columns
    lit        entries (i, j) with a frame; `faded`: paler entries
    scale      diverging, sequential or surprisal; `full` is the value of its last colour (None: 2, or 1)
    edit       a click opens an entry for typing: a control, this matrix's place among several, and all of
               them; the control becomes all of them, with this entry changed
    pick       a click on entry (i, j) sets this control to i * m + j
    look       "plain": no brackets; "small", "tight", "narrow" (for digits); "beside": its title stands to
               its left; "said": rows are named by words; a colour of its title
    """
    numbers = np.atleast_2d(np.asarray(values, float))
    named = title or (rf"\s{{{stands.split()[0]}}}" if stands else "")
    return node(
        "matrix",
        values=numbers,
        stands=stands,
        title=typeset(named),
        rows=rows and [typeset(name) for name in rows],
        columns=columns,
        lit=list(lit),
        faded=list(faded),
        scale=scale,
        full=full or (2 if scale == "diverging" else 1),
        digits=digits,
        pick=pick,
        edit=edit,
        look=look,
    )


def strip(values: Any, stands: str = "", scale: str = "diverging", look: str = "") -> Node:
    """One row of coloured cells without numbers: a hidden state (H,). `look`: the colour of its frame."""
    return node("strip", values=np.ravel(values), stands=stands, scale=scale, look=look)


def cells(
    marks: Sequence[str],
    values: Sequence[float | None] | None = None,
    *,
    scale: str = "surprisal",
    full: float = 8.0,
    below: Sequence[str] | None = None,
    lit: Sequence[int] = (),
    framed: Sequence[int] = (),
    pick: str | None = None,
    stands: str = "",
    title: str = "",
    look: str = "",
) -> Node:
    """Characters in a line of cells, coloured by `values`, with texts `below` them.

    lit     highlighted cells; `framed` ones have an edge
    pick    a click on cell i sets this control to i + 1: a time step
    look    "tight": narrow cells, for a long text; "tall" ones
    """
    return node(
        "cells",
        marks=list(marks),
        values=values,
        scale=scale,
        full=full,
        below=below,
        lit=list(lit),
        framed=list(framed),
        pick=pick,
        stands=stands,
        title=title,
        look=look,
    )


def bars(
    rows: Sequence[tuple[str, float, str]],
    *,
    top: float = 1.0,
    lit: Sequence[int] = (),
    colours: Sequence[str] | None = None,
    title: str = "",
    edit: str | None = None,
    stands: str = "",
) -> Node:
    """Bars below each other: each its name, its value (`top` is a whole bar) and the value's text.

    colours   of the theme, one a bar: model, actual, ngram, pinned, uniform, bar
    edit      dragging bar i sets this control to all values, with this one changed
    """
    return node(
        "bars",
        rows=list(rows),
        top=top,
        lit=list(lit),
        colours=colours,
        title=title,
        edit=edit,
        stands=stands,
    )


def line(
    ys: Any,
    name: str = "",
    *,
    xs: Any = None,
    colour: str = "model",
    dash: str = "solid",
    width: float = 3,
    dots: bool = False,
    stands: str = "",
) -> Node:
    """A line of a `plot`, with its name at its end. `xs` None: 0, 1, 2, …"""
    return node(
        "line", ys=ys, xs=xs, name=name, colour=colour, dash=dash, width=width, dots=dots, stands=stands
    )


def plot(
    lines: Sequence[Node],
    *,
    x: str = "",
    y: str = "",
    log: bool = False,
    log_x: bool = False,
    mark: float | None = None,
    xs: tuple[float, float] | None = None,
    ys: tuple[float, float] | None = None,
    ticks: Sequence[float] | Mapping[float, str] | None = None,
    levels: Mapping[float, str] | None = None,
) -> Node:
    """Lines over axes named `x` and `y`; `log` makes y logarithmic, `log_x` x.

    mark     the place of an upright line
    xs, ys   the axes' ends; None: the lines' ends
    ticks    the labelled values along x, and their labels; `levels` the same along y
    """
    return node(
        "plot",
        lines=list(lines),
        x=x,
        y=y,
        log=log,
        log_x=log_x,
        mark=mark,
        xs=xs,
        ys=ys,
        ticks=ticks if isinstance(ticks, Mapping) or ticks is None else {at: f"{at:.12g}" for at in ticks},
        levels=levels,
    )


def plane(
    points: Any = (),
    *,
    arrows: Sequence[tuple[float, float, str, str]] = (),
    circles: Sequence[tuple[float, str]] = (),
    reach: float = 1.5,
    drag: str | None = None,
    x: str = "",
    stands: str = "",
) -> Node:
    """A square of the plane, with the origin in the middle.

    points    (n, 2), drawn as dots, with their symbols in `stands`
    arrows    from the origin: x, y, a name and a colour
    circles   around the origin: a radius and a name
    reach     the largest coordinate; `drag`: pointing at a place sets this control to [x, y]
    """
    return node(
        "plane",
        points=points,
        arrows=list(arrows),
        circles=list(circles),
        reach=reach,
        drag=drag,
        x=x,
        stands=stands,
    )


def graph(
    nodes: Mapping[str, Node], arrows: Sequence[tuple[str, ...]], *, rows: Sequence[str], look: str = ""
) -> Node:
    """Parts on a grid, and arrows between them.

    nodes    names, and their parts (a `tex`, a `text`, a `strip`, …); a part moves to its place in the next
             picture that has one of that name
    arrows   from, to, a look ("", faded, dashed, cut, back, lit, or a colour) and, optionally, a label in
             LaTeX; two between the same parts stand side by side
    rows     the grid from above: names separated by spaces, "." for an empty place
    look     "close": less room between them; "small": short strips
    """
    places: dict[str, list[int]] = {}
    for i, names in enumerate(rows):
        places |= {name: [i + 1, j + 1] for j, name in enumerate(names.split()) if name != "."}
    return node(
        "graph",
        parts=[{**part, "name": name, "place": places[name]} for name, part in nodes.items()],
        arrows=[[*arrow[:3], *map(typeset, arrow[3:])] for arrow in arrows],
        columns=max(len(names.split()) for names in rows),
        look=look,
    )


def button(words: str, ask: Mapping[str, Any], look: str = "", step: str | None = None) -> Node:
    """A button inside a picture: a click sets these controls' values, of another `step` if named."""
    return node("button", words=words, changes=dict(ask), look=look, step=step)


def room(key: str, without: Node, prompt: Node) -> Node:
    """The answers of a room's phones to question `key` (steps.py, LetterQuestion).

    Shows `prompt` until the answers are revealed, then the picture from the question's `draw_answers`;
    without an open room, `without`.
    """
    return node("room", key=key, parts=[without, prompt])
