"""Compare: two or three networks on the same text, unchanged or with a letter changed, with one cursor."""

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import install
from rnnviz.figures import live
from rnnviz.figures.themes import SURPRISAL_FULL, ColourScale
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis.comparison import Comparison
from rnnviz.lab.analysis.perturbation import Perturbation
from rnnviz.lab.pages.inside.computation import Computation
from rnnviz.lab.pages.inside.other_networks import (
    NetworkChoice,
    list_same_corpus_names,
    make_untrained,
    show_untrained_start,
)
from rnnviz.lab.pages.inside.page_view import IdentifiedValue, PageView, cursor, fragment, heat_panel
from rnnviz.lab.pages.inside.unit_changes import (
    CONTINUATION_CHARS,
    DIFFERENCE,
    ChangeWay,
    continuation_options,
)
from rnnviz.networks import engines
from rnnviz.networks.progress import Progress
from rnnviz.page.formatting import title
from rnnviz.scoring import sampling
from rnnviz.text.characters import visible
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.error_messages import plain as safe

KEY, LETTER_KEY = "inside.compare", "inside.changed"
BITS = ColourScale("sequential", 0.0, 2.0)
SURPRISAL = ColourScale("sequential", 0.0, SURPRISAL_FULL)
MIDDLE_LEVEL = 127  # of a diverging palette: the colour of no difference


def _compare(_model: object, text: str, networks: IdentifiedValue, progress: Progress) -> Comparison:
    comparison = units.compare(list(networks.value.values()), text)
    # A trace has its model's name, which an untrained copy shares: here each gets its title on the page.
    named = (
        replace(read, model_name=name) for name, read in zip(networks.value, comparison.traces, strict=True)
    )
    return replace(comparison, traces=tuple(named))


COMPARE = Computation[Comparison]("compare", lambda: _("Reading with each network"), _compare)


def _perturb(
    _model: object, text: str, networks: IdentifiedValue, at: int, letter: str, progress: Progress
) -> list[Perturbation]:
    perturbations = [units.perturb(model, text, at, letter) for model in networks.value.values()]
    return [
        replace(perturbation, before=replace(perturbation.before, model_name=name))
        for name, perturbation in zip(networks.value, perturbations, strict=True)
    ]


LETTER = Computation[list[Perturbation]]("letter", lambda: _("Reading with another letter"), _perturb)


class CompareNetworks(ChangeWay):
    """Networks on the same text, one below the other: what each expects, and how each goes on."""

    key = "compare"
    label = N_("Compare")

    @fragment
    def render(self) -> None:
        networks = self._render_choice()
        if len(networks.value) < 2:
            st.info(_("Choose one or two networks to compare with this one."), icon=":material/compare:")
            return
        comparison = COMPARE.render(self.view, networks=networks)
        if comparison is not None:
            st.markdown(render_finding.join_sentences(comparison.sentences()))
            ComparedText(self.view, comparison, self._heat_panels(comparison, networks)).render()

    def _render_choice(self) -> IdentifiedValue:
        """Draw the choice of networks, with this one before its training where torch can make it."""
        view, name = self.view, title(self.view.context.info)
        untrained_name = _("{model}, untrained").format(model=name)
        unsaved = {untrained_name: lambda: make_untrained(view)} if engines.has_torch() else {}
        networks = NetworkChoice(
            view,
            _("Compare {model} with").format(model=safe(name)),
            "compare",
            list_same_corpus_names(view)[:1] or list(unsaved),
            unsaved=unsaved,
            help_text=_(
                "Other networks, or this one before its training. A run from the Train page is listed here "
                "once you keep it as a model, which you can do at any moment."
            ),
        ).render()
        if not unsaved:
            message = _(
                "This network before its training needs torch, which is not installed. Install it with "
                "{command}"
            )
            st.caption(message.format(command=f"`{install('lab')}`"))
        if untrained_name in networks.value:
            show_untrained_start(view)
        return networks

    def _heat_panels(
        self, comparison: Comparison, networks: IdentifiedValue
    ) -> list[dashboard.DashboardPanel]:
        return [
            heat_panel(
                f"heat-{name}",
                _("{model}: hidden state H").format(model=name),
                trace.hidden[:, -1],
                # An order for each network: unit 3 of one has nothing to do with unit 3 of another.
                self.view.key("order", networks, name),
                live.scale("hidden", model.config.span),
                _("Look for characters where one network's state changes and the other's hardly does."),
                _("which units correspond: the same row is an unrelated unit in the other network."),
                height=260,
                width=6 // len(comparison.traces),
            )
            for trace, (name, model) in zip(comparison.traces, networks.value.items(), strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ComparedText:
    """The text coloured by each network's surprisal, and each network's continuation.

    heats  the panels that are the same wherever the cursor is
    """

    view: PageView
    comparison: Comparison
    heats: list[dashboard.DashboardPanel]

    @fragment
    def render(self) -> None:
        at = cursor(dashboard.take_request(KEY), self.view, len(self.view.text) - 1)
        # The first panel has the running perplexities; the others a network's predictions each.
        running, *expected = self.comparison.panels(at)
        # Sixths of the dashboard: the networks' predictions stand side by side.
        width = 6 // len(expected)
        dashboard.mount(
            KEY,
            texts=self._surprisal_texts(),
            panels=[
                *self.heats,
                render_finding.finding_panel(running),
                *(render_finding.finding_panel(panel, height=270, width=width) for panel in expected),
            ],
            at=at,
            scale=("surprisal", _("0 bits"), _("{n} bits of surprisal").format(n=f"≥ {SURPRISAL_FULL:g}")),
        )
        self._render_continuations(at)

    def _surprisal_texts(self) -> list[dashboard.ColouredText]:
        text, traces = self.comparison.text, self.comparison.traces
        texts = [
            dashboard.colour_text(
                text,
                trace.nll / np.log(2),
                SURPRISAL,
                _("{model}: surprisal, bits").format(model=trace.model_name),
                "surprisal",
                name=trace.model_name,
            )
            for trace in traces
        ]
        # A difference is of two: three would need three rows more.
        if len(traces) == 2:
            label = _("difference, bits; blue: {first} expected it more; orange: {second} did")
            label = label.format(first=traces[0].model_name, second=traces[1].model_name)
            bits = self.comparison.difference()
            texts.append(dashboard.colour_text(text, bits, DIFFERENCE, label, "versus", name=_("difference")))
        return texts

    def _render_continuations(self, at: int) -> None:
        st.markdown(
            _("**Continuations after character {n}**, from the same random numbers").format(n=f"{at + 1:,}")
        )
        # No character of a continuation is compared, so all have the palette's middle colour.
        uncoloured = np.full(CONTINUATION_CHARS, MIDDLE_LEVEL, np.uint8)
        texts = [
            dashboard.ColouredText(
                # The same seed for all: where two continuations part, the networks differ, not the chance.
                sampling.resume(trace, at + 1, **continuation_options(self.view)),
                uncoloured,
                "versus",
                trace.model_name,
                linked=False,
            )
            for trace in self.comparison.traces
        ]
        dashboard.mount("inside.compare.on", texts=texts, quiet=True)


class ChangeLetter(ChangeWay):
    """A letter of the text replaced, and how far its change is felt, in one network or several."""

    key = "letter"
    label = N_("Change a letter")

    @fragment
    def render(self) -> None:
        view = self.view
        at = cursor(dashboard.take_request(LETTER_KEY), view, len(view.text) // 4)
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        with left:
            letter = self._render_letter(at)
        with right:
            networks = NetworkChoice(
                view, _("Compare with"), "perturb", list_same_corpus_names(view), max_choices=3
            ).render()
        perturbations = LETTER.render(view, networks=networks, at=at, letter=letter)
        if perturbations is not None:
            self._render_perturbations(letter, perturbations)

    def _render_letter(self, at: int) -> str:
        """Draw the field of the letter; without one that is another than the text's, it is an e or an a."""
        text_letter = self.view.text[at]
        usual = "e" if text_letter != "e" else "a"
        letter = st.text_input(
            _("In place of “{c}”, character {n}").format(c=visible(text_letter), n=f"{at + 1:,}"),
            key="inside.letter",
            persist_state="session",
            max_chars=1,
            placeholder=usual,
            help=_("Click or tap another character in the text to change that one instead."),
        )
        # The same letter would change nothing: it counts as none.
        return usual if letter in ("", text_letter) else letter

    def _render_perturbations(self, letter: str, perturbations: list[Perturbation]) -> None:
        first, *other_perturbations = perturbations
        lines = [render_finding.join_sentences(perturbation.sentences()) for perturbation in perturbations]
        st.markdown("  \n".join(lines))
        label = _("{model}: KL divergence, bits: how much “{c}” in the frame changes each prediction").format(
            model=first.before.model_name, c=visible(letter)
        )
        # Row t of a divergence belongs to the prediction of character t, counted from 0: it colours that one.
        bits = first.bits[: len(self.view.text)]
        dashboard.mount(
            LETTER_KEY,
            texts=[dashboard.colour_text(self.view.text, bits, BITS, label, name=_("difference in bits"))],
            panels=[
                render_finding.finding_panel(panel, height=300, width=3)
                for panel in first.panels(other_perturbations)
            ],
            at=first.at,
            scale=("sequential", _("0 bits"), _("{n} bits").format(n=f"≥ {BITS.high:g}")),
        )
