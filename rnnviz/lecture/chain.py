"""The drawing that grows: a recurrent network unrolled over a text, one column for each time step.

    y   label or loss        O   output
    H   state                X   input

From step to step of the lecture it gains rows, numbers and gradients. A part has the same name in all of
them (H2 is the state of time step 2), so the view moves it from its place in one picture to its place in
the next.
"""

from collections.abc import Mapping, Sequence

from rnnviz.arrays import Doubles
from rnnviz.lecture.primitives import Node, column, graph, json_value, strip, tex, text
from rnnviz.text.characters import visible

# The weights on the arrows between two rows.
WEIGHTS = {"XH": r"\s{W_xh}", "HH": r"\s{W_hh}", "HO": r"\s{W_hq}"}


def state(t: int, values: Doubles, look: str = "ngram", stands: str = "") -> Node:
    """A state (H,) with its name."""
    part = column(tex(rf"\mathbf{{H}}_{{{t}}}"), strip(values, look=look), look="middle close")
    return part | {"stands": stands, "here": json_value(values[None])}


def letter(character: str, look: str = "model", stands: str = "x_t") -> Node:
    """An input, or a label."""
    return text(visible(character), f"mono strong frame {look}", stands)


def chain(
    parts: Mapping[str, Node],
    rows: str,
    looks: Mapping[str, Sequence[str]],
    *,
    links: Sequence[tuple[str, ...]] = (),
    weights: bool = False,
    look: str = "close",
) -> Node:
    """The parts on their rows, with an arrow wherever both its ends are there.

    parts    by a row's letter and a time step, below 10; a row's title by the letter alone
    rows     letters from above
    looks    of the arrows from one row to another, HH from a state to the next: one for each time step from
             1; a gradient's, "back", goes the other way
    links    further arrows
    weights  whether arrows have the names of their weights
    """
    arrows = list(links)
    for way, of_steps in looks.items():
        for t, arrow_look in enumerate(of_steps, start=1):
            ends = f"{way[0]}{t - (way == 'HH')}", f"{way[1]}{t}"
            if parts.keys() >= {*ends}:
                ends = ends[::-1] if arrow_look == "back" else ends
                arrows.append((*ends, arrow_look, WEIGHTS.get(way, "") if weights else ""))
    columns = sorted({name[1:] for name in parts})
    grid = [" ".join(row + t if row + t in parts else "." for t in columns) for row in rows]
    return graph(parts, arrows, rows=grid, look=look)
