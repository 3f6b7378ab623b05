"""Gates: how open they are along the text, how often shut or open for good, and how long each unit keeps."""

from __future__ import annotations

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures import heat, plain, points
from rnnviz.figures.order import seriate
from rnnviz.networks.config import CELLS
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import board
from rnnviz.ui.pages.inside.board import Panel, Text
from rnnviz.ui.pages.inside.common import Look, cursor, guarded, kept, quantities
from rnnviz.units.gating import HIGH, LOW

BOARD = "inside.gates"
LONGEST = 10_000.0  # characters; a gate that is never less than open has no end


@st.fragment
@guarded
def section(look: Look) -> None:
    """The whole sub-page."""
    ask = board.asked(BOARD)
    at = cursor(ask, look)
    keeps = CELLS[look.cell].keeps
    if keeps is None:
        st.info(
            _(
                "This network has no gates: its state is computed anew at every character. Choose a GRU or "
                "an LSTM in the sidebar to see gates that decide what is kept."
            ),
            icon=":material/door_open:",
        )
        return
    names = units.quantities(look.cell)[1:]
    words = quantities()
    looked = st.segmented_control(
        _("Gate"),
        names,
        key=f"inside.gate.{look.cell}",
        default=keeps,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed",
    )
    looked = looked or keeps
    measured = kept(
        ("gates", look.mark, look.text, look.layer), lambda: units.gates(look.trace, layer=look.layer)
    )
    values = units.activations(look.trace, layer=look.layer, quantity=looked)
    order = kept(("order", look.mark, look.text, look.layer, looked), lambda: seriate(values))
    scale, mean = look.scale(looked), values.mean(axis=1)
    constants = np.sort(np.minimum(measured.time_constant, LONGEST))[::-1]
    saturated = {words[name]: (measured.low[name], measured.high[name]) for name in measured.low}
    longest = np.argsort(-measured.time_constant, kind="stable")[:3].tolist()
    st.caption(
        _(
            "Half of the units keep less than {median} characters by their own gate; those that keep longest "
            "are "
            "{units}."
        ).format(median=f"{np.median(constants):.1f}", units=", ".join(map(str, longest)))
    )
    board.mount(
        BOARD,
        texts=[
            Text(
                look.text,
                scale.levels(mean),
                palette=scale.kind,
                label=_("{gate}, mean of all units").format(gate=words[looked]),
                values=mean,
            )
        ],
        panels=[
            Panel(
                "gate",
                words[looked],
                lambda theme: heat.table(
                    values.T[order], scale, x=_("character"), y=_("unit, in order of likeness"), theme=theme
                ),
                _notice(looked),
                _("what flows through: an open gate over a state of 0 lets nothing through."),
                height=330,
                link="x",
                pick="at",
            ),
            Panel(
                "saturation",
                _("How often each unit's gate is shut or wide open"),
                lambda theme: points.saturation(
                    saturated,
                    x=_("share of characters with the gate below {v}").format(v=LOW),
                    y=_("share above {v}").format(v=HIGH),
                    theme=theme,
                ),
                _(
                    "Points at the top left are always open, at the bottom right always shut; in between "
                    "they decide."
                ),
                _("when they open: two units at one point may open at different characters."),
                height=330,
                width=3,
            ),
            Panel(
                "constants",
                _("How long each unit keeps what it holds"),
                lambda theme: plain.lines(
                    {_("time constant"): constants},
                    x=_("units, the longest memory first"),
                    y=_("characters until 1/e is left"),
                    log=True,
                    theme=theme,
                ),
                _("A steep beginning means that few units carry what is remembered for long."),
                _("what other units give back, and that a gate may empty a unit at one character a line."),
                height=330,
                width=3,
            ),
        ],
        at=at if at is not None and at < len(look.text) else None,
        scale=(scale.kind, f"{scale.low:g}", f"{scale.high:g}"),
    )


def _notice(gate: str) -> str:
    return {
        "reset": _(
            "Near 0 the candidate ignores the past: look for columns that are empty where a word ends."
        ),
        "update": _("Near 1 the old state is kept, near 0 it is replaced: look at spaces and line breaks."),
        "candidate": _("What the cell would write: compare it with the state it becomes."),
        "input": _("Near 1 new content is written: look at the first letters of words."),
        "forget": _("Near 1 the memory is kept: look for columns where many units let go at once."),
        "output": _("Near 1 the memory is shown: look for units that stay silent for long."),
    }[gate]
