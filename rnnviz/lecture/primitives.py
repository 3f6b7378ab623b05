"""What a step of the lecture is drawn with: a tree of plain data, without a coordinate in it.

A step returns one tree; `ui/pages/learn/static/primitives.js` draws it. Containers (`row`, `inline`,
`column`) hold what is drawn (`text`, `table`, `matrix`, `plot`, …). What every part may have:

    stands   the symbols of the formula that it is, apart by spaces: pointing at one lights the other
    here     the value of a symbol that the part doesn't show by itself
    pick     a control: a click on item i asks for it to be `i`

Numbers may be numpy's; NaN and infinities become gaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rnnviz.lecture.symbols import typeset

Node = dict[str, Any]
DIGITS = 5
"""Digits that count of each number that is sent to be drawn."""


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers rounded to DIGITS that count, None for what is not finite.

    >>> plain(np.array([[1.0, np.nan]]))
    [[1.0, None]]
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Mapping) and "kind" not in value:  # a node is plain since it was made
        return {str(name): plain(one) for name, one in value.items()}
    return value


def node(kind: str, **more: Any) -> Node:
    """A part of a picture, without what is None."""
    return {"kind": kind, **{name: plain(value) for name, value in more.items() if value is not None}}


def row(*parts: Node, sizes: Sequence[float] | None = None) -> Node:
    """Parts side by side, of these shares of the width (alike if None); one below the other on a phone."""
    return node("row", parts=list(parts), sizes=sizes or [1] * len(parts))


def inline(*parts: Node, look: str = "") -> Node:
    """Parts side by side, each as wide as it is: factors and the signs between them.

    look    joined; aside: the first is a name at the left of what is centred
    """
    return node("inline", parts=list(parts), look=look)


def column(*parts: Node, look: str = "") -> Node:
    """Parts one below the other. `look`: start, middle, close; frame, in a colour."""
    return node("column", parts=list(parts), look=look)


def text(words: str, look: str = "", stands: str = "", here: Any = None) -> Node:
    """A paragraph.

    look    big, large, quiet, strong, mono, centre, narrow, frame; a colour: model, came, ngram, pinned
    """
    return node("text", words=words, look=look, stands=stands, here=here)


def tex(formula: str, look: str = "", stands: str = "", here: Any = None) -> Node:
    r"""A formula in LaTeX; a symbol of symbols.py is written \s{NAME}, as in the title's.

    look    of a graph's node: box, given (a parameter), round (an operator); and now, the one that is meant
    """
    return node("tex", latex=typeset(formula), look=look, stands=stands, here=here)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    look: str = "",
    lit: Sequence[tuple[int, int]] = (),
) -> Node:
    """A table of texts: `head` over the columns ([] for none), each row's first cell is its name.

    lit    cells in the colour of what is meant, (row, column) of `rows`, the name's column counted
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

    title      LaTeX over it; by default the symbol that it `stands` for
    rows       names of its rows, texts or LaTeX with symbols; `columns` of its columns
    lit        entries (i, j) that are framed; `faded` those that stand back
    scale      diverging, sequential or surprisal; `full` is the value of its last colour (2, or 1)
    edit       a click opens an entry: a control, this matrix's place among several, and all of them; what is
               typed asks for the control to be all of them, with this one changed
    pick       a click on entry (i, j) asks for this control to be i * m + j
    look       "plain": no brackets; "small", "tight", "narrow" (for digits); "beside": its title stands
               to its left; "said": rows are named by words; a colour of its title
    """
    shown = np.atleast_2d(np.asarray(values, float))
    named = title or (rf"\s{{{stands.split()[0]}}}" if stands else "")
    return node(
        "matrix",
        values=shown,
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

    lit     cells of what is meant; `framed` ones have an edge
    pick    a click on cell i asks for this control to be i + 1: a time step
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
    """Bars beneath one another: each its name, its value (`top` is a whole bar) and the text of it.

    colours   of the theme, one a bar: model, came, ngram, pinned, uniform, bar
    edit      pulling bar i asks for this control to be all values, with this one changed
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
    """A line of a `plot`; its name stands at its end. xs: 0, 1, 2, … if None."""
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

    mark     where an upright line stands
    xs, ys   the axes' ends; by default the lines'
    ticks    the values named along x, and what they are called; `levels` the same along y
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
    """A square of the plane with its origin in the middle.

    points    (n, 2), drawn as dots; `stands` are theirs
    arrows    from the origin: x, y, a name and a colour
    circles   around the origin: a radius and a name
    reach     the largest coordinate; `drag` asks for this control to be the place [x, y] pointed at
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

    nodes    a name, and its part (a `tex`, a `text`, a `strip`, …)
    arrows   from, to, a look ("", faded, cut, lit, or a colour) and, if wanted, what it is called, in LaTeX
    rows     the grid from above: names apart by spaces, "." for an empty place
    look     "close": less room between them
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
    """A button inside a picture: a click asks for these controls' values, of another step by its name."""
    return node("button", words=words, ask=dict(ask), look=look, step=step)


def room(key: str, without: Node, prompt: Node) -> Node:
    """What a room's phones answer to question `key` (steps.py, Letter).

    Until its answers are revealed it is `prompt`, then what the question's `told` makes of them; where no
    room is open, `without`.
    """
    return node("room", key=key, parts=[without, prompt])
