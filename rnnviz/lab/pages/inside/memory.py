"""Memory: connectivity and memory length, attribution, gates, and the eigenvalues of W_hh."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.arrays import Array
from rnnviz.figures.pictures import CONNECTED
from rnnviz.figures.themes import ColourScale
from rnnviz.findings import Panel as FindingPanel
from rnnviz.findings import words
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis.attribution import Attribution, Contributions, Instead, contributions
from rnnviz.lab.analysis.connectivity import Connectivity, GradientRows, connectivity
from rnnviz.lab.analysis.gating import Gates
from rnnviz.lab.analysis.memory_length import DEFAULT_LAGS, Reach, memory_length, square_reach
from rnnviz.lab.analysis.spectra import Spectrum, spectrum
from rnnviz.lab.analysis.state_contributions import remaining
from rnnviz.lab.pages.inside.computation import Computation, StartButton
from rnnviz.lab.pages.inside.other_networks import (
    NetworkChoice,
    list_same_corpus_names,
    show_untrained_start,
)
from rnnviz.lab.pages.inside.page_view import (
    AT,
    IdentifiedValue,
    PagePart,
    PageView,
    cursor,
    fragment,
    fragment_name,
    heat_panel,
    remember,
)
from rnnviz.lab.pages.inside.search_texts import Source, SourcePicker
from rnnviz.lab.reports.memory_length import fading_panels
from rnnviz.networks.cells import CELLS
from rnnviz.networks.progress import Progress, Share, part
from rnnviz.page.formatting import quantity_names, spoken
from rnnviz.scoring.tracer import trace_long_text
from rnnviz.text.characters import visible
from rnnviz.ui.jobs.pending import working
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.dashboard import ColouredText, DashboardPanel, colour_text, legend_ends
from rnnviz.ui.shell.error_messages import plain
from rnnviz.ui.shell.fields import Field

INSTEAD = Field[Instead]("inside.instead", "average")
GATE = Field("inside.gate", "")
KEY, ATTRIBUTION_KEY, GATES_KEY = "inside.memory", "inside.attribution", "inside.gates"
PICTURE_CHARS = 300  # of the connectivity picture, at most: its time grows with their square
NATS = ColourScale("diverging", -2.0, 2.0)
WEIGHTS = Source("weights")  # the source of a computation that reads no text


@dataclass(frozen=True, eq=False)
class NetworkGradients:
    """A network's gradients on the text.

    square  the connectivity of the text's beginning, all predictions
    reach   how far back its gradients reach; None for too short a text
    rows    the connectivity of any other prediction, computed on request
    """

    square: Connectivity
    reach: Reach | None
    rows: GradientRows

    def shares(self, at: int, target: str | None) -> Array:
        """Each earlier character's share of the gradient of log P of character `at`, (at,). `target` is the
        predicted character; None: the actual one.
        """
        # The picture has this row already. Any other costs a backward sweep, for each network and click.
        if at < len(self.square):
            return self.square.normalised[at - 1, :at]
        return self.rows.row(at, character=target).shares


def _measure_connectivity(
    model: Any, text: str, networks: IdentifiedValue, target: str | None, progress: Progress
) -> Any:
    gradients = {}
    for number, (name, network) in enumerate(networks.value.items()):
        progress(Share(number / len(networks.value)))
        square = connectivity(network, text[:PICTURE_CHARS], character=target)
        # Only predictions with so many characters before them count: two thirds of the text are left.
        lags = min(DEFAULT_LAGS, len(square) // 3)
        reach = square_reach(square, lags) if lags >= 2 else None
        gradients[name] = NetworkGradients(square, reach, GradientRows(network, text))
    return gradients


def _measure_reach(model: Any, text: str, networks: IdentifiedValue, progress: Progress) -> Any:
    reaches = {}
    for number, (name, network) in enumerate(networks.value.items()):
        count = len(networks.value)
        share = part(progress, number / count, (number + 1) / count)
        reaches[name] = memory_length(network, text, lags=min(DEFAULT_LAGS, len(text) // 3), progress=share)
    return reaches


def _measure_gates(model: Any, text: str, layer: int, progress: Progress) -> Any:
    traced = trace_long_text(model, text, progress)
    return units.gates(traced, layer=layer)


CONNECTIVITY = Computation[dict[str, NetworkGradients]](
    "square", lambda: _("Following the gradient back from each character"), _measure_connectivity
)
# 5,000 characters: the finding's interval needs about a thousand.
REACH = Computation[dict[str, Reach]](
    "reach", lambda: _("Following the gradient back from each character"), _measure_reach, max_chars=5_000
)
ADDING = Computation[Contributions](
    "attribution",
    lambda: _("Attribution"),
    contributions,
)
GATES = Computation[Gates]("gates", lambda: _("Reading a longer text"), _measure_gates, max_chars=20_000)
SPECTRUM = Computation[Spectrum](
    "spectrum",
    lambda: _("The eigenvalues of W_hh"),
    lambda model, _text, layer, progress: spectrum(model, layer=layer),
    max_chars=0,
    shared=True,
)


@dataclass(frozen=True, eq=False)
class MemoryPart(PagePart):
    """What is still known of earlier characters: from the text down to the weights.

    Each section is a fragment: a click on a character redraws its prediction's, neither gates nor weights.
    """

    key = "memory"
    label = N_("Memory")
    question = N_("What does it still know of earlier characters?")
    hint = N_(
        "The stronger a character's colour, the more the prediction in view depends on it. Click or tap "
        "another character to see what its prediction depends on."
    )

    def render(self) -> None:
        if len(self.view.text) < 2:
            st.info(_("Connectivity needs a text of at least two characters."), icon=":material/edit:")
            return
        cell = CELLS[self.view.cell]
        PredictionMemory(self.view).render()
        # Gates are shown where one of them decides what is kept; W_hh where the cell mixes its units.
        if cell.keeps is not None:
            GateSection(self.view).render()
        if cell.mixes:
            WeightSection(self.view).render()


def find_chosen_character(view: PageView, *keys: str) -> int:
    """The index of the chosen character, after any asks of the dashboards `keys`."""
    # Each dashboard holds its own click, and a part of the page may have two dashboards.
    for key in keys:
        cursor(dashboard.take_request(key), view, None)
    # Without one: two thirds into the picture, where much can be seen to its left.
    return AT.get() or min(len(view.text), PICTURE_CHARS) * 2 // 3


@dataclass(frozen=True, eq=False)
class PredictionMemory:
    """The connectivity of predictions, in one network or several, and how far back it reaches."""

    view: PageView

    @fragment
    def render(self) -> None:
        view = self.view
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        with left:
            character = st.text_input(
                _("Probability of which character"),
                key="inside.asked",
                persist_state="session",
                max_chars=1,
                placeholder=_("empty: the character in the text"),
            )
        target = character or None
        with right:
            # An MLP sees a fixed window: beside it, a memory's length says nothing.
            usual = list_same_corpus_names(view) if view.cell != "mlp" else []
            networks = NetworkChoice(view, _("Compare with"), "beside", usual).render()
        gradients = CONNECTIVITY.render(view, networks=networks, target=target)
        if gradients is None:
            with working("inside", fragment_name(ConnectedText.render)):
                pass  # an empty context drops the inner fragment's jobs: they are of the last target
            return
        reaches = {name: network.reach for name, network in gradients.items() if network.reach}
        _write_reaches(reaches)
        ConnectedText(view, gradients, target, self._make_panels(gradients, reaches)).render()
        self._render_longer_text(networks)

    def _make_panels(
        self, gradients: dict[str, NetworkGradients], reaches: dict[str, Reach]
    ) -> list[DashboardPanel]:
        """The panels of all predictions' gradients, and of the gradient's share beyond each lag."""
        view, pictures = self.view, []
        for name, network in gradients.items():
            (panel,) = network.square.panels()
            pictures.append(_name_panel(name, panel) if len(gradients) > 1 else panel)
        if view.cell in CELLS and CELLS[view.cell].linear:
            # A linear recurrence can be written as a sum over characters: each one's part is exact.
            pictures += remember(
                view.key("left", view.layer),
                lambda: remaining(view.model, view.text[:PICTURE_CHARS], layer=view.layer).panels(),
            )
        # Sixths of the dashboard: one or two pictures take half of it each, three a third each.
        square_width = 3 if len(pictures) < 3 else 2
        reach_width = 3 if len(pictures) == 1 else 6
        squares = [
            render_finding.finding_panel(picture, height=380, width=square_width) for picture in pictures
        ]
        return squares + [
            render_finding.finding_panel(panel, height=380, width=reach_width)
            for panel in fading_panels(reaches.items())
        ]

    def _render_longer_text(self, networks: IdentifiedValue) -> None:
        """Draw the gradient's share beyond each lag, on a longer text."""
        st.subheader(_("How far back, on a longer text"), anchor=False)
        cost = _("Follows the gradient back from up to {n} characters: a few seconds for each network.")
        button = StartButton(
            _("Measure it on a longer text"), ":material/straighten:", cost.format(n=f"{REACH.max_chars:,}")
        )
        source = SourcePicker(self.view, "inside.memory.source").render()
        reaches = REACH.render(self.view, source, button, networks=networks)
        if reaches is not None:
            _write_reaches(reaches)
            panels = [
                render_finding.finding_panel(panel, height=320) for panel in fading_panels(reaches.items())
            ]
            dashboard.mount("inside.reach", panels=panels, quiet=True)


def _name_panel(name: str, panel: FindingPanel) -> FindingPanel:
    """A panel with the network's name in its name and title."""
    return replace(panel, name=f"{panel.name}-{name}", title=words("named", name=name, what=panel.title))


def _write_reaches(reaches: dict[str, Reach]) -> None:
    lines = [
        f"- **{plain(name)}** – {render_finding.join_sentences(reach.sentences())}"
        for name, reach in reaches.items()
    ]
    st.markdown("\n".join(lines))


@dataclass(frozen=True, eq=False)
class ConnectedText:
    """The text coloured by each character's share in one prediction, with the attribution of that prediction.

    target  the predicted character; None: the actual one
    panels  drawn beside the text, the same wherever the cursor is
    """

    view: PageView
    gradients: dict[str, NetworkGradients]
    target: str | None
    panels: list[DashboardPanel]

    @fragment
    def render(self) -> None:
        at = find_chosen_character(self.view, KEY, ATTRIBUTION_KEY)
        dashboard.mount(
            KEY,
            texts=[self._shares_text(name, network, at) for name, network in self.gradients.items()],
            panels=self.panels,
            at=at,
            scale=("sequential", _("≤ 0.01 % of all"), "100 %"),
        )
        self._render_attribution(at)

    def _shares_text(self, name: str, network: NetworkGradients, at: int) -> ColouredText:
        label = _("{model}: each character's share of the gradient of log P(“{c}”), character {n}")
        predicted = visible(self.target or self.view.text[at])
        label = label.format(model=name, c=predicted, n=f"{at + 1:,}")
        return _paint_shares(self.view, network.shares(at, self.target), label, f"{name}, %")

    def _render_attribution(self, at: int) -> None:
        """Draw three attributions of one prediction along the text, if the toggle is on."""
        label = _("Also show integrated gradients and occlusion")
        if not st.toggle(label, key="inside.attribution.on", persist_state="session"):
            return
        offered: dict[Instead, str] = {
            "average": _("average of all characters"),
            "unknown": _("unknown character"),
        }
        instead = INSTEAD.choose(_("Baseline: what replaces a character"), offered)
        contributions = ADDING.render(self.view, at=at, character=self.target, instead=instead)
        if contributions is not None:
            render_finding.show_finding(contributions)
            dashboard.mount(
                ATTRIBUTION_KEY,
                texts=_contribution_texts(self.view, contributions),
                at=at,
                scale=("versus", _("lowers log P by ≥ 2 nats"), _("raises it by ≥ 2 nats")),
            )


def _contribution_texts(view: PageView, contributions: Contributions) -> list[ColouredText]:
    label = _("gradient, %: each character's share, without a sign")
    texts = [_paint_shares(view, contributions.row.shares, label, _("gradient, %"))]
    # Where the integral's steps were too coarse to add up, its numbers would mislead.
    if contributions.integrated.adds_up:
        label = _("integrated gradients, nats: all characters change together from the baseline to the text")
        texts.append(_paint_attribution(view, contributions.integrated, label, _("integrated")))
    label = _("occlusion, nats: one character at a time is replaced by the baseline")
    texts.append(_paint_attribution(view, contributions.occluded, label, _("occlusion")))
    return texts


def _paint_shares(view: PageView, found_shares: Array, label: str, values_name: str) -> ColouredText:
    """The text coloured by each character's share in one prediction."""
    shares = _pad(view, found_shares)
    # The logarithm of a share of 0 is −∞, which gets the lowest colour.
    with np.errstate(divide="ignore"):
        levels = CONNECTED.levels(np.log10(np.nan_to_num(shares)))
    return ColouredText(view.text, levels, "sequential", label, 100 * shares, name=values_name)


def _paint_attribution(
    view: PageView, attribution: Attribution, label: str, values_name: str
) -> ColouredText:
    """The text coloured by an attribution, in nats a character."""
    nats = _pad(view, attribution.values, attribution.first)
    return ColouredText(view.text, NATS.levels(np.nan_to_num(nats)), "versus", label, nats, name=values_name)


def _pad(view: PageView, values: Array, first: int = 0) -> Array:
    """`values` from index `first` on, padded with NaN to the length of the text, (T,)."""
    # NaN, not 0: a character that the prediction hasn't read has no share in it.
    padded = np.full(len(view.text), np.nan)
    padded[first : len(values)] = values[first:]
    return padded


@dataclass(frozen=True, eq=False)
class GateSection:
    """A gate along the text, the share of saturated gates, and the units' time constants."""

    view: PageView

    @fragment
    def render(self) -> None:
        view = self.view
        st.subheader(_("Gates"), anchor=False)
        # All quantities but H, the first: an LSTM's C too, which the gates write.
        names = {name: quantity_names()[name] for name in CELLS[view.cell].quantities[1:]}
        gate = GATE.choose(_("Gate"), names, CELLS[view.cell].keeps, label_visibility="collapsed")
        # Until the longer text has been read, the gates on the page's own, which takes a moment.
        gates = self._measure_longer_text() or remember(
            view.key("gates", view.layer), lambda: units.gates(view.trace, layer=view.layer)
        )
        render_finding.show_finding(gates)
        values = units.activations(view.trace, layer=view.layer, quantity=gate)
        label = _("{gate}, mean of all units").format(gate=names[gate])
        dashboard.mount(
            GATES_KEY,
            texts=[colour_text(view.text, values.mean(axis=1), view.scale(gate), label)],
            panels=[
                self._gate_panel(gate, names[gate], values),
                *(render_finding.finding_panel(panel, height=330, width=3) for panel in gates.panels()),
            ],
            at=find_chosen_character(view, GATES_KEY),
            scale=legend_ends(view.scale(gate)),
        )

    def _measure_longer_text(self) -> Gates | None:
        """Draw the choice of a longer text and the button; the gates on it, once the reader has asked."""
        source = SourcePicker(self.view, "inside.gates.source").render()
        cost = _("Reads up to {n} characters; it takes a few seconds.").format(n=f"{GATES.max_chars:,}")
        button = StartButton(_("Measure them on a longer text"), ":material/straighten:", cost)
        return GATES.render(self.view, source, button, layer=self.view.layer)

    def _gate_panel(self, gate: str, name: str, values: Array) -> DashboardPanel:
        view = self.view
        notice, limits = spoken(words(f"gates.look-{gate}")), spoken(words("gates.limits"))
        order = view.key("order", view.layer, gate)
        return heat_panel("gate", name, values, order, view.scale(gate), notice, limits, height=330)


@dataclass(frozen=True, eq=False)
class WeightSection:
    """The eigenvalues of W_hh beside those of an untrained copy."""

    view: PageView

    @fragment
    def render(self) -> None:
        spectrum = SPECTRUM.render(self.view, WEIGHTS, layer=self.view.layer)
        if spectrum is None:
            return
        (panel,) = spectrum.panels()
        st.subheader("W_hh", anchor=False)
        render_finding.show_finding(spectrum)
        show_untrained_start(self.view)
        picture = render_finding.finding_panel(panel, height=380, width=3)
        dashboard.mount("inside.spectrum", panels=[picture], quiet=True)
