"""Memory: connectivity and memory length, attribution, gates, and the eigenvalues of W_hh."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.arrays import Array
from rnnviz.figures.pictures import CONNECTED
from rnnviz.figures.themes import Scale
from rnnviz.findings import Panel as Found
from rnnviz.findings import words
from rnnviz.i18n import _
from rnnviz.lab.analysis.attribution import Attribution, Contributions, Instead, contributions
from rnnviz.lab.analysis.connectivity import Connectivity, Rows, connectivity
from rnnviz.lab.analysis.gating import Gates
from rnnviz.lab.analysis.memory_length import LAGS, Reach, reach, square_reach
from rnnviz.lab.analysis.spectra import Spectrum, spectrum
from rnnviz.lab.analysis.state_contributions import remaining
from rnnviz.lab.pages.inside import search_texts
from rnnviz.lab.pages.inside.parts import Button, Part, found
from rnnviz.lab.pages.inside.view import (
    AT,
    Held,
    View,
    beside,
    cursor,
    fragment,
    heat_panel,
    kept,
    of_the_same_text,
    say_start,
)
from rnnviz.lab.reports.memory_length import fading_panels
from rnnviz.networks.cells import CELLS
from rnnviz.networks.progress import Progress, Share, mapped
from rnnviz.page.formatting import quantity_names, spoken
from rnnviz.scoring.tracer import tracing
from rnnviz.text.characters import visible
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.dashboard import Panel, Text, ends, painted
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.fields import Field

INSTEAD = Field[Instead]("inside.instead", "average")
GATE = Field("inside.gate", "")
KEY, ADDED, GATED = "inside.memory", "inside.attribution", "inside.gates"
SQUARE = 300  # characters of the connectivity picture: its time grows with their square
NATS = Scale("diverging", -2.0, 2.0)
WEIGHTS = search_texts.Source("weights")  # the source of a part that reads no text


@dataclass(frozen=True, eq=False)
class Reading:
    """A network's gradients on the text.

    square  the connectivity of the text's beginning, all predictions
    reach   how far back its gradients reach; None for too short a text
    rows    the connectivity of any other prediction, computed on request
    """

    square: Connectivity
    reach: Reach | None
    rows: Rows

    def shares(self, at: int, target: str | None) -> Array:
        """Each earlier character's share of the gradient of log P of character `at`, (at,). `target` is the
        predicted character; None: the actual one.
        """
        if at < len(self.square):  # any other row costs a backward sweep, for each network and click
            return self.square.normalised[at - 1, :at]
        return self.rows.row(at, character=target).shares


def _connected(model: Any, text: str, networks: Held, target: str | None, progress: Progress) -> Any:
    made = {}
    for number, (name, one) in enumerate(networks.value.items()):
        progress(Share(number / len(networks.value)))
        square = connectivity(one, text[:SQUARE], character=target)
        lags = min(LAGS, len(square) // 3)
        reach = square_reach(square, lags) if lags >= 2 else None
        made[name] = Reading(square, reach, Rows(one, text))
    return made


def _reaching(model: Any, text: str, networks: Held, progress: Progress) -> Any:
    made = {}
    for number, (name, one) in enumerate(networks.value.items()):
        steps = reach(one, text, lags=min(LAGS, len(text) // 3))
        made[name] = yield from mapped(steps, partial(_of_all, number, len(networks.value)))
    return made


def _of_all(number: int, count: int, now: Share) -> Share:
    return Share((number + now.fraction) / count)


def _gates(model: Any, text: str, layer: int, progress: Progress) -> Any:
    traced = yield from mapped(tracing(model, text), Share)
    return units.gates(traced, layer=layer)


CONNECTIVITY = Part[dict[str, Reading]](
    "square", lambda: _("Following the gradient back from each character"), _connected
)
REACH = Part[dict[str, Reach]](
    "reach", lambda: _("Following the gradient back from each character"), _reaching, most=5_000
)  # the finding's interval needs about a thousand characters
ADDING = Part[Contributions](
    "attribution",
    lambda: _("Attribution"),
    lambda model, text, progress, **asked: contributions(model, text, **asked),
)
GATES = Part[Gates]("gates", lambda: _("Reading a longer text"), _gates, most=20_000)
SPECTRUM = Part[Spectrum](
    "spectrum",
    lambda: _("The eigenvalues of W_hh"),
    lambda model, _text, layer, progress: spectrum(model, layer=layer),
    most=0,
    shared=True,
)


def section(view: View) -> None:
    """Draw all parts, from the text down to the weights. Each is a fragment: a click on a character redraws
    its prediction's, and neither gates nor weights.
    """
    if len(view.text) < 2:
        st.info(_("Connectivity needs a text of at least two characters."), icon=":material/edit:")
        return
    _predictions(view)
    if CELLS[view.cell].keeps is not None:
        _opened(view)
    if CELLS[view.cell].mixes:
        _mixed(view)


def _at(view: View, *keys: str) -> int:
    """The index of the chosen character, after any asks of the dashboards `keys`."""
    for key in keys:
        cursor(dashboard.asked(key), view, None)
    return AT.get() or min(len(view.text), SQUARE) * 2 // 3


@fragment
def _predictions(view: View) -> None:
    """Draw the connectivity of predictions, and its memory length."""
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    asked = left.text_input(
        _("Probability of which character"),
        key="inside.asked",
        persist_state="session",
        max_chars=1,
        placeholder=_("empty: the character in the text"),
    )
    target = asked or None
    with right:
        usual = of_the_same_text(view) if view.cell != "mlp" else []
        networks = beside(view, _("Compare with"), "beside", usual)
    read = found(CONNECTIVITY, view, networks=networks, target=target)
    if read is not None:
        reached = {name: one.reach for name, one in read.items() if one.reach}
        _say(reached)
        _connectivity(view, read, target, _panels(view, read, reached))
        _how_far(view, networks)
    else:
        with working("inside", f"{__name__}._connectivity"):
            pass  # an empty context drops the inner fragment's jobs: they are of the last predicted character


def _panels(view: View, read: dict[str, Reading], reached: dict[str, Reach]) -> list[Panel]:
    """The panels of all predictions' gradients, and of the gradient's share beyond each lag."""
    pictures = []
    for name, one in read.items():
        (panel,) = one.square.panels()
        pictures.append(_of(name, panel) if len(read) > 1 else panel)
    if view.cell in CELLS and CELLS[view.cell].linear:
        left = kept(
            view.key("left", view.layer),
            lambda: remaining(view.model, view.text[:SQUARE], layer=view.layer).panels(),
        )
        pictures += left
    panels = [
        render_finding.finding_panel(one, height=380, width=3 if len(pictures) < 3 else 2) for one in pictures
    ]
    wide = 3 if len(pictures) == 1 else 6
    return panels + [
        render_finding.finding_panel(one, height=380, width=wide) for one in fading_panels(reached.items())
    ]


@fragment
def _connectivity(view: View, read: dict[str, Reading], target: str | None, panels: list[Panel]) -> None:
    """Draw the text coloured by each network's shares, the panels, and the attribution."""
    at = _at(view, KEY, ADDED)
    texts = []
    for name, one in read.items():
        label = _("{model}: each character's share of the gradient of log P(“{c}”), character {n}")
        label = label.format(model=name, c=visible(target or view.text[at]), n=f"{at + 1:,}")
        texts.append(_shares(view, one.shares(at, target), label, f"{name}, %"))
    dashboard.mount(
        KEY,
        texts=texts,
        panels=panels,
        at=at,
        scale=("sequential", _("≤ 0.01 % of all"), "100 %"),
    )
    _attribution(view, at, target)


def _of(name: str, panel: Found) -> Found:
    """A panel with the network's name in its name and title."""
    return replace(panel, name=f"{panel.name}-{name}", title=words("named", name=name, what=panel.title))


def _say(reached: dict[str, Reach]) -> None:
    lines = [
        f"- **{plain(name)}** – {render_finding.join_sentences(one.sentences())}"
        for name, one in reached.items()
    ]
    st.markdown("\n".join(lines))


def _how_far(view: View, networks: Held) -> None:
    """Draw the gradient's share beyond each lag, on a longer text."""
    st.subheader(_("How far back, on a longer text"), anchor=False)
    said = _("Follows the gradient back from up to {n} characters: some seconds for each network.")
    button = Button(
        _("Measure it on a longer text"), ":material/straighten:", said.format(n=f"{REACH.most:,}")
    )
    source = search_texts.pick(view, "inside.memory.source")
    longer = found(REACH, view, source, button, networks=networks)
    if longer is not None:
        _say(longer)
        panels = [render_finding.finding_panel(one, height=320) for one in fading_panels(longer.items())]
        dashboard.mount("inside.reach", panels=panels, quiet=True)


def _attribution(view: View, at: int, target: str | None) -> None:
    """Draw three attributions of one prediction along the text, if the toggle is on."""
    label = _("Integrated gradients and occlusion beside the gradient")
    if not st.toggle(label, key="inside.attribution.on", persist_state="session"):
        return
    offered: dict[Instead, str] = {
        "average": _("average of all characters"),
        "unknown": _("unknown character"),
    }
    label = _("Baseline: what replaces a character")
    instead = INSTEAD.choose(label, offered)
    added = found(ADDING, view, at=at, character=target, instead=instead)
    if added is None:
        return
    label = _("gradient, %: each character's share, without a sign")
    rows = [_shares(view, added.row.shares, label, _("gradient, %"))]
    if added.integrated.adds_up:
        label = _("integrated gradients, nats: all characters change together from the baseline to the text")
        rows.append(_added(view, added.integrated, label, _("integrated")))
    label = _("occlusion, nats: one character at a time is replaced by the baseline")
    rows.append(_added(view, added.occluded, label, _("occlusion")))
    render_finding.show_finding(added)
    dashboard.mount(
        ADDED,
        texts=rows,
        at=at,
        scale=("versus", _("lowers log P by ≥ 2 nats"), _("raises it by ≥ 2 nats")),
    )


def _shares(view: View, found: Array, label: str, said: str) -> Text:
    """The text coloured by each character's share in one prediction."""
    shares = _along(view, found)
    with np.errstate(divide="ignore"):
        levels = CONNECTED.levels(np.log10(np.nan_to_num(shares)))
    return Text(view.text, levels, "sequential", label, 100 * shares, said=said)


def _added(view: View, found: Attribution, label: str, said: str) -> Text:
    """The text coloured by an attribution, in nats a character."""
    nats = _along(view, found.values, found.first)
    return Text(view.text, NATS.levels(np.nan_to_num(nats)), "versus", label, nats, said=said)


def _along(view: View, values: Array, first: int = 0) -> Array:
    """`values` from index `first` on, padded with NaN to the length of the text, (T,)."""
    out = np.full(len(view.text), np.nan)
    out[first : len(values)] = values[first:]
    return out


@fragment
def _opened(view: View) -> None:
    """Draw a gate along the text, the share of saturated gates, and the units' time constants."""
    st.subheader(_("Gates"), anchor=False)
    names = {name: quantity_names()[name] for name in CELLS[view.cell].quantities[1:]}
    looked = GATE.choose(_("Gate"), names, CELLS[view.cell].keeps, label_visibility="collapsed")
    source = search_texts.pick(view, "inside.gates.source")
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
    render_finding.show_finding(measured)
    dashboard.mount(
        GATED,
        texts=[painted(view.text, values.mean(axis=1), scale, label)],
        panels=[
            heat_panel("gate", name, values, order, scale, notice, limits, height=330),
            *(render_finding.finding_panel(one, height=330, width=3) for one in measured.panels()),
        ],
        at=_at(view, GATED),
        scale=ends(scale),
    )


@fragment
def _mixed(view: View) -> None:
    """Draw the eigenvalues of W_hh beside those of an untrained copy."""
    spectrum = found(SPECTRUM, view, WEIGHTS, layer=view.layer)
    if spectrum is None:
        return
    (panel,) = spectrum.panels()
    st.subheader("W_hh", anchor=False)
    render_finding.show_finding(spectrum)
    say_start(view)
    dashboard.mount(
        "inside.spectrum", panels=[render_finding.finding_panel(panel, height=380, width=3)], quiet=True
    )
