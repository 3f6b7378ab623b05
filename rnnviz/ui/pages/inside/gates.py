"""Gates: their values along the text, how often saturated, and how long each unit keeps."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from rnnviz import units
from rnnviz.figures import charts
from rnnviz.figures.live import seriate
from rnnviz.networks.cells import CELLS
from rnnviz.reading.trace import tracing
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, ends, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import sources
from rnnviz.ui.pages.inside.common import View, cursor, done_on_request, fragment, gate, heat_panel, kept
from rnnviz.ui.words import notices, quantities
from rnnviz.units.gating import HIGH, LOW, Gates

KEY = "inside.gates"
READ = 20_000  # characters of a longer text
LONGEST = 10_000.0  # characters; a gate that is never less than open has no end


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, None)
    keeps = CELLS[view.cell].keeps
    if keeps is None:
        st.info(
            _(
                "This network has no gates: its state is computed anew at every character. Choose a GRU or "
                "an LSTM in the sidebar to see gates that decide what is kept."
            ),
            icon=":material/door_open:",
        )
        return
    looked = gate(view, keeps)
    measured = kept(view.key("gates", view.layer), lambda: units.gates(view.trace, layer=view.layer))
    values = units.activations(view.trace, layer=view.layer, quantity=looked)
    order = kept(view.key("order", view.layer, looked), lambda: seriate(values))
    scale, mean = view.scale(looked), values.mean(axis=1)
    board = st.container()
    longer = _longer(view)
    measured = longer or measured
    constants = np.sort(np.minimum(measured.time_constant, LONGEST))[::-1]
    longest = np.argsort(-measured.time_constant, kind="stable")[:3].tolist()
    name = quantities()[looked]
    with board:
        st.caption(_said(measured, longest))
        dashboard.mount(
            KEY,
            texts=[painted(view.text, mean, scale, _("{gate}, mean of all units").format(gate=name))],
            panels=[
                heat_panel(
                    "gate",
                    name,
                    values[:, order],
                    scale,
                    _notice(looked),
                    _("what flows through: an open gate over a state of 0 lets nothing through."),
                    height=330,
                ),
                _saturation(measured),
                _time_constants(constants),
            ],
            at=at,
            scale=ends(scale),
        )


def _longer(view: View) -> Gates | None:
    """The gates over a longer text, by a job; None until there is one."""
    source = sources.pick(view, "inside.gates.source")
    if source is None:
        return None
    found: Gates | None = done_on_request(
        source.key(view, "gates", view.layer),
        _("Reading a longer text"),
        lambda check: _reading(view, source),
        "gates",
        label=_("Measure them on a longer text"),
        icon=":material/straighten:",
        said=_("Reads up to {n} characters; it takes some seconds.").format(n=f"{READ:,}"),
    )
    return found


def _reading(view: View, source: sources.Source) -> Steps[Gates]:
    text = source.read(view, READ)
    steps = tracing(view.model, text)
    traced = yield from as_steps(steps, lambda share: Step(0.9 * share, round(share * len(text))))
    return units.gates(traced, layer=view.layer)


def _said(measured: Gates, longest: list[int]) -> str:
    median = measured.median
    values = {
        "median": f"{float(median.estimate):.2f}",
        "units": ", ".join(map(str, longest)),
        "n": f"{round(median.block * median.blocks):,}",
    }
    if not median.enough:
        return _(
            "The units' median time constant is {median} characters; units {units} have the longest. "
            "Measured on {n} characters: too short for an interval."
        ).format(**values)
    return _(
        "The units' median time constant is {median} characters (95 % interval over passages {low} to "
        "{high}); units {units} have the longest. Measured on {n} characters."
    ).format(**values, low=f"{float(median.low):.2f}", high=f"{float(median.high):.2f}")


def _saturation(measured: Gates) -> Panel:
    words = quantities()
    saturated = {words[name]: (measured.low[name], measured.high[name]) for name in measured.low}
    return Panel(
        "saturation",
        _("How often each unit's gates are shut or wide open"),
        partial(
            charts.saturation,
            saturated,
            x=_("share of characters with the gate below {v}").format(v=LOW),
            y=_("share above {v}").format(v=HIGH),
        ),
        _(
            "One point for each gate of a unit. Top left: almost always open; bottom right: almost always "
            "shut; on the line: one or the other; bottom left: mostly half open."
        ),
        _("when they open: two units at one point may open at different characters."),
        height=330,
        width=3,
    )


def _time_constants(constants: npt.NDArray[np.floating[Any]]) -> Panel:
    return Panel(
        "constants",
        _("The time constant of each unit"),
        partial(
            charts.lines,
            {_("time constant"): constants},
            x=_("units, the longest first"),
            y=_("characters until 1/e is left"),
            log=True,
        ),
        _("A steep start means that only a few units have a long time constant."),
        _("what other units write back; and that a gate open on average may still empty a unit once a line."),
        height=330,
        width=3,
    )


def _notice(gate: str) -> str:
    return {
        "reset": _("Near 0 the candidate ignores the old state: look for characters where many units do so."),
        "update": _("Near 1 the old state is kept, near 0 it is replaced: look at spaces and line breaks."),
        "candidate": _("What the cell would write: compare it with the state it becomes."),
        "input": _("Near 1 new content is written: look at the first letters of words."),
        "forget": _("Near 1 the memory is kept: look for columns where many units let go at once."),
        "output": _("Near 1 the memory is shown: look for units that stay silent for long."),
    }.get(gate) or notices()[gate]
