"""What carries the state on: gates, and W_hh."""

from typing import Any

import streamlit as st

from rnnviz import gradients, units
from rnnviz.findings import words
from rnnviz.i18n import _
from rnnviz.networks.cells import CELLS
from rnnviz.networks.progress import Share, mapped
from rnnviz.reading.trace import tracing
from rnnviz.ui import choice, dashboard, findings
from rnnviz.ui.dashboard import ends, painted
from rnnviz.ui.pages.inside import sources
from rnnviz.ui.pages.inside.common import View, heat_panel, kept, say_start
from rnnviz.ui.pages.inside.parts import Button, Part, found
from rnnviz.ui.words import quantities, spoken

KEY = "inside.gates"
WEIGHTS = sources.Source("weights")  # no text is read


def _gates(model: Any, text: str, layer: int) -> Any:
    traced = yield from mapped(tracing(model, text), Share)
    return units.gates(traced, layer=layer)


GATES = Part[units.Gates]("gates", lambda: _("Reading a longer text"), _gates, most=20_000)
SPECTRUM = Part[gradients.Spectrum](
    "spectrum",
    lambda: _("The eigenvalues of W_hh"),
    lambda model, _text, layer: gradients.spectrum(model, layer=layer),
    most=0,
    shared=True,
)


def show(view: View, at: int | None) -> None:
    """The gates and the eigenvalues of W_hh, of a cell that has them."""
    cell = CELLS[view.cell]
    if cell.keeps is not None:
        _opened(view, at, cell.keeps)
    if cell.mixes:
        _mixed(view)


def _opened(view: View, at: int | None, keeps: str) -> None:
    """A gate along the text, how often all are saturated, and how long units keep."""
    st.subheader(_("Gates"), anchor=False)
    names = {name: quantities()[name] for name in units.quantities(view.cell)[1:]}
    looked = choice.pick(_("Gate"), names, f"inside.gate.{view.cell}", default=keeps, hidden=True)
    source = sources.pick(view, "inside.gates.source")
    cost = _("Reads up to {n} characters; it takes some seconds.").format(n=f"{GATES.most:,}")
    button = Button(_("Measure them on a longer text"), ":material/straighten:", cost)
    longer = found(GATES, view, source, button, layer=view.layer)
    measured = longer or kept(
        view.key("gates", view.layer), lambda: units.gates(view.trace, layer=view.layer)
    )
    values = units.activations(view.trace, layer=view.layer, quantity=looked)
    order, scale, name = view.key("order", view.layer, looked), view.scale(looked), names[looked]
    label = _("{gate}, mean of all units").format(gate=name)
    notice, limits = spoken(words(f"gates.look-{looked}")), spoken(words("gates.limits"))
    findings.show(measured)
    dashboard.mount(
        KEY,
        texts=[painted(view.text, values.mean(axis=1), scale, label)],
        panels=[
            heat_panel("gate", name, values, order, scale, notice, limits, height=330),
            *(findings.panel(one, height=330, width=3) for one in measured.panels()),
        ],
        at=at,
        scale=ends(scale),
    )


def _mixed(view: View) -> None:
    """The eigenvalues of W_hh beside those of the network untrained."""
    spectrum = found(SPECTRUM, view, WEIGHTS, layer=view.layer)
    if spectrum is None:
        return
    (panel,) = spectrum.panels()
    st.subheader("W_hh", anchor=False)
    findings.show(spectrum)
    say_start(view)
    dashboard.mount("inside.spectrum", panels=[findings.panel(panel, height=380, width=3)], quiet=True)
