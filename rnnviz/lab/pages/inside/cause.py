"""Cause: interventions.

Units are held, silenced or scaled, or ablated one after another; or one text's state is put into the reading
of another text, beside patches of unrelated states. compare.py has the other ways.
"""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import ColourScale
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import ablation, effects
from rnnviz.lab.analysis.ablation import Ablation
from rnnviz.lab.analysis.effects import Effect
from rnnviz.lab.analysis.interventions import Action, Intervention
from rnnviz.lab.analysis.patching import PatchControls, Patched
from rnnviz.lab.pages.inside.compare import ChangeLetter, CompareNetworks
from rnnviz.lab.pages.inside.computation import Computation, StartButton
from rnnviz.lab.pages.inside.direction import DirectionChoice, NamedDirection
from rnnviz.lab.pages.inside.page_view import (
    CHANGE_WAY,
    QUANTITY,
    UNIT,
    IdentifiedValue,
    PagePart,
    PageView,
    cursor,
    fragment,
    remember,
)
from rnnviz.lab.pages.inside.search_texts import SourcePicker
from rnnviz.lab.pages.inside.unit_changes import (
    CONTINUATION_SEED,
    ChangedText,
    ChangeWay,
    continuation_options,
    render_units_field,
    show_units_hint,
)
from rnnviz.lab.pages.inside.units import GRADED, PATTERN, SPAN, target_words
from rnnviz.lab.reports.patching import expected_pair
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_engine import combined
from rnnviz.networks.numpy_model import Network, weights_of
from rnnviz.networks.progress import Progress, Share
from rnnviz.page.formatting import rounded, signed, spoken
from rnnviz.scoring import sampling
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.sentences import SCALE_WORD_PERPLEXITY
from rnnviz.text.characters import normalise
from rnnviz.ui.jobs.pending import BAR_AFTER_S
from rnnviz.ui.shell import address, dashboard, render_finding
from rnnviz.ui.shell.error_messages import describe
from rnnviz.ui.shell.fields import Field

KEY, RANKING_KEY = "inside.cause", "inside.ablation"
FINDING_HEIGHT_PX = 96  # reserved for the finding on random changes
SLIDER_REST_S = 0.5  # before the job begins, while a reader moves the slider
UNITS = Field[str | None]("inside.units")
ACTION = Field[Action]("inside.action", "clamp")
VALUE = Field("inside.value", 1.0)
HELD_VALUE = Field("inside.to", "mean")
TARGET = Field("inside.effect.target", "quotes")


class ChangeUnits(ChangeWay):
    """Units or a direction held, silenced or scaled, and what that does to the text in view."""

    key = "change"
    label = N_("Change units")

    @fragment
    def render(self) -> None:
        change = self._render_controls()
        if change is None:
            show_units_hint(self.view)
            return
        try:
            changed_trace = self._trace_changed(change)
        except RnnvizError as error:
            st.warning(describe(error), icon=":material/error:")
            return
        _show_perplexities(float(self.view.trace.perplexity[-1]), float(changed_trace.perplexity[-1]))
        with st.container(height=FINDING_HEIGHT_PX, border=False):  # a fixed height: the text doesn't jump
            effect = EFFECT.render(self.view, change=change)
            if effect is not None:
                render_finding.show_finding(effect)
        InterventionText(self.view, changed_trace, change).render()
        self._render_longer_text(change)

    def _trace_changed(self, change: Intervention) -> Trace:
        view = self.view
        return remember(view.key("changed", change), lambda: trace(view.model, view.text, change=change))

    def _render_controls(self) -> Intervention | None:
        """The intervention that the controls describe; None while the written units are invalid."""
        view = self.view
        self._set_usual_units()
        cell = CELLS[view.cell].has_cell and st.toggle(
            _("Change the cell state C instead of the hidden state H"),
            QUANTITY.get() == "cell" or address.requested_value("quantity") == "cell",
            key="inside.cell",
            persist_state="session",
        )
        quantity = "cell" if cell else "hidden"
        left, middle, right = st.columns([5, 4, 3], vertical_alignment="bottom")
        with left, st.container(horizontal=True, vertical_alignment="bottom"):
            named = DirectionChoice(view, quantity, "cause", _("What to change"), _("units")).render()
            chosen: Any = render_units_field(view, **UNITS.widget) if named is None else named.direction
        with middle:
            actions = {"zero": _("set to 0"), "clamp": _("hold at a value"), "scale": _("multiply")}
            action = ACTION.choose(_("How"), actions)
        with right:
            value = self._render_value(action, named)
        if chosen == ():
            return None
        return Intervention(chosen, action, value, layer=view.layer, quantity=quantity)  # type: ignore[arg-type]

    def _set_usual_units(self) -> None:
        """Begin with the unit in view, whose field is on Units; without one, with the loudest."""
        view = self.view
        if (
            requested := address.whole_number(address.requested_value("unit"))
        ) is not None and requested < view.H:
            UNIT.request(requested)
        unit = UNIT.get()
        # A number from another network may be beyond this one's last unit.
        usual = find_loudest_unit(view) if unit is None else min(unit, view.H - 1)
        UNITS.resolve(usual=str(usual), subject=view.model_digest)

    def _render_value(self, action: Action, named: NamedDirection | None) -> float:
        """Draw the slider of the value to hold units at, or of the factor, and return it.

        It goes beyond 1 for directions and for units that no tanh bounds.
        """
        if action == "zero":
            return 0.0
        if action == "scale":
            return st.slider(_("times"), -1.0, 3.0, 0.5, 0.1, key="inside.times", persist_state="session")
        view, along = self.view, None if named is None else named.direction.along(self.view.trace)
        # A unit that tanh bounds lies between −1 and 1. Otherwise the largest value on the text is the bound.
        bound, usual, help_text = 1.0, 1.0, None
        if along is not None or view.model.config.span != "tanh":
            values = np.nan_to_num(view.trace.hidden[:, view.layer] if along is None else along)
            bound = float(np.ceil(max(0.1, np.abs(values).max(initial=0)) * 10) / 10)
            usual = 1.0 if along is None else round(float(values.max(initial=0)), 1)
            help_text = _("On this text the largest value is {n}.").format(n=f"{values.max(initial=0):.2f}")
        # Another bound is another slider: a value set on the old one may lie beyond its ends.
        value = VALUE.resolve(usual=min(usual, bound), subject=(along is None, bound))
        st.slider(_("value"), -bound, bound, step=bound / 20, help=help_text, **VALUE.widget)
        return value

    def _render_longer_text(self, change: Intervention) -> None:
        """Draw the intervention's cost on a longer text: on all of it, and where a target holds."""
        view = self.view
        st.subheader(_("On a longer text, and on a part of it"), anchor=False)
        # A pattern and a selection need fields of their own; a graded target has no inside to compare.
        unfit = (PATTERN, SPAN, *GRADED)
        names = {name: words for name, words in target_words(view.python).items() if name not in unfit}
        usual = "py-string" if view.python else "quotes"
        left, right = st.columns(2, vertical_alignment="bottom")
        with left:
            label = _("Part of the text to compare with the rest")
            target = TARGET.choose(label, names, usual, draw=st.selectbox)
        with right:
            source = SourcePicker(view, "inside.effect.source").render()
        cost = _("Reads up to {n} characters with the change, and with {controls} random changes.")
        button = StartButton(
            _("Measure it on a longer text"),
            ":material/straighten:",
            cost.format(n=f"{LONGER_TEXT_EFFECT.max_chars:,}", controls=2 * effects.DEFAULT_CONTROLS),
        )
        effect = LONGER_TEXT_EFFECT.render(
            view, source, button, change=change, target=target, unclosed=view.unclosed
        )
        if effect is not None:
            render_finding.show_finding(effect)


def find_loudest_unit(view: PageView) -> int:
    """The unit with the largest mean effect on predictions: the norm of its row of W_hq times its mean |h|.

    0 for any layer but the last, whose states alone W_hq reads.
    """
    weights = weights_of(view.model).readout
    # A lower layer reaches the output only through the layers above it, of which a row of W_hq says nothing.
    if view.layer != view.trace.hidden.shape[1] - 1:
        return 0
    loudness = np.linalg.norm(weights, axis=0) * np.abs(view.trace.hidden[:, -1]).mean(axis=0)
    return int(np.nan_to_num(loudness).argmax())


def _show_perplexities(before: float, now: float) -> None:
    # A huge perplexity is written in words, from which no difference can be told; 0.00 is none to show.
    shows_difference = now < SCALE_WORD_PERPLEXITY and f"{abs(now - before):.2f}" != "0.00"
    left, right = st.columns(2)
    left.metric(_("Perplexity without the change"), rounded(before))
    right.metric(
        _("Perplexity with the change"),
        rounded(now),
        signed(now - before) if shows_difference else None,
        delta_color="green" if now < before else "red",
        delta_arrow="down" if now < before else "up",
    )


@dataclass(frozen=True, eq=False)
class InterventionText:
    """The text with an intervention, and its continuations from the chosen character."""

    view: PageView
    changed_trace: Trace
    change: Intervention

    @fragment
    def render(self) -> None:
        at = cursor(dashboard.take_request(KEY), self.view, len(self.view.text) - 1)
        ChangedText(
            KEY,
            self.view.text,
            (self.view.trace.nll - self.changed_trace.nll) / np.log(2),
            self._continue_both(at),
            (
                _("bits: with the change, a character is more (blue) or less (orange) expected"),
                _("continuation without the change, coloured from where the two differ"),
                _("continuation with the change, from the same random numbers"),
            ),
            [self._next_panel(at)],
            at,
        ).render()

    def _continue_both(self, at: int) -> tuple[str, str]:
        """The continuations after character `at`, without and with the change."""
        view, options = self.view, continuation_options(self.view)
        # Remembered: moving the cursor back and forth writes no continuation twice.
        plain = remember(
            view.key("on", at, view.context.temperature),
            lambda: sampling.resume(view.trace, at + 1, **options),
        )
        # The continuation, too, reads on under the intervention.
        changes = combined(self.changed_trace.weights, self.change)
        changed = remember(
            view.key("on", at, view.context.temperature, self.change),
            lambda: sampling.resume(self.changed_trace, at + 1, changes=changes, **options),
        )
        return plain, changed

    def _next_panel(self, at: int) -> dashboard.DashboardPanel:
        labels = (_("without the change"), _("with the change"))
        picture = expected_pair(self.view.trace, self.changed_trace, at + 1, labels)
        return dashboard.DashboardPanel(
            "next",
            _("Next-character probabilities after character {n}").format(n=f"{at + 1:,}"),
            partial(draw, picture, spoken),
            _("Bars that grow or shrink are characters whose probability depends on what was changed."),
            _(
                "what real texts lead to: perhaps no text leads to a state like this. Trust small changes "
                "more."
            ),
            height=360,
        )


def _effect(
    model: Network,
    text: str,
    change: Intervention,
    progress: Progress,
    target: str = "",
    unclosed: Any = None,
) -> Any:
    """An intervention's cost beside random ones; without a target, on the text in view."""
    if not target:
        # A slider that moves on meanwhile asks for another change, which cancels this job before any work.
        time.sleep(SLIDER_REST_S)
        progress(Share(0.0))
    inside = units.target(target, text, unclosed=unclosed) if target else None
    return effects.effect(model, text, change, target=inside, progress=progress)


EFFECT = Computation[Effect](
    "effect", lambda: _("Changing random units and directions for comparison"), _effect, patience=0.0
)
LONGER_TEXT_EFFECT = replace(EFFECT, name="effect.longer", max_chars=20_000, patience=BAR_AFTER_S)


class AblateUnits(ChangeWay):
    """Each unit ablated alone, ranked by what the text loses."""

    key = "rank"
    label = N_("Ablate each unit")

    @fragment
    def render(self) -> None:
        unit = dashboard.take_request(RANKING_KEY).pick(self.view.H)
        if unit is not None:
            _change_unit(unit)
        left, right = st.columns(2, vertical_alignment="bottom")
        with left:
            source = SourcePicker(self.view, "inside.ablate.source").render()
        with right:
            value_names = {"zero": "0", "mean": _("its own mean")}
            held_value = HELD_VALUE.choose(_("An ablated unit is held at"), value_names)
        ablation = ABLATION.render(
            self.view, source, self._make_button(), layer=self.view.layer, to=held_value
        )
        if ablation is not None:
            render_finding.show_finding(ablation)
            if panels := ablation.panels():
                pictures = [render_finding.finding_panel(panel, height=440) for panel in panels]
                dashboard.mount(RANKING_KEY, panels=pictures, quiet=True)

    def _make_button(self) -> StartButton:
        cost = _(
            "Reads up to {n} characters once for each unit, and stops as soon as both halves of what it has "
            "read rank the units alike. That takes minutes; you can cancel it."
        )
        return StartButton(
            _("Ablate each of {n} units").format(n=self.view.H),
            ":material/content_cut:",
            cost.format(n=f"{ABLATION.max_chars:,}"),
        )


def _change_unit(unit: int) -> None:
    """Show this unit under "Change units"."""
    # The reader's own list of units is dropped for the one just picked.
    UNIT.request(unit)
    UNITS.request(None)
    CHANGE_WAY.request("change")
    st.rerun()


ABLATION = Computation[Ablation](
    "ablate",
    lambda: _("Ablating each unit"),
    partial(units.ablate, until=ablation.MIN_REPLICATION, controls=16),
    max_chars=64_000,
)
PATCH_KEY = "inside.patch"
PATCH_PART, PATCH_QUANTITY = Field(f"{PATCH_KEY}.part", "all"), Field(f"{PATCH_KEY}.quantity", "state")
MAX_PATCH_CHARS = 200  # of each text

# Two texts, by corpus, whose last characters before "|" are the same or nearly. The first one's state at "|"
# is put into the second at "|". The KL divergence over 20 predictions was 0.29 to 0.97 nats; for 95 of 100
# random moves of the same length it was below 0.21 (holmes-lstm: 1.07, and 0.55;
# python-lstm: 0.57, and 0.42). In shakespeare-lstm and chinese-gru it shows one character later.
PATCH_EXAMPLES = {
    "timemachine": (
        '"I know," said the Time Tra|veller.',
        "He had seen it in a stra|nge country, he said, and the lamp burned low.",
    ),
    "tinyshakespeare": (
        "KING RICHARD:\nWhat is the night, my lord? The morning comes too slowly, my lord|,\n",
        "KING RICHARD:\nWhat is the night, my lord? The morning comes\nAnd so my lord|, and all the time.\n",
    ),
    "holmes": (
        '"Well, Mr. Hol|mes?" said she.',
        "The whol|e of the house was dark, and nobody came to the door.",
    ),
    "python-source": (
        '        print("no such name|")\n',
        "        if name in names:\n            return name|\n        print(name)\n",
    ),
    "journey": (
        "行者笑道：“师父莫怕！那妖精就在前面山里|。”\n",
        "行者来到山前，那妖精就在前面山里|。八戒看见了。\n",
    ),
}
PATCH_EXAMPLES["python-library"] = PATCH_EXAMPLES["python-source"]
OTHER_PATCH_EXAMPLE = ("The Time Tra|veller asked us to wait.", "We heard a stra|nge sound in the next room.")


class PatchState(ChangeWay):
    """The state in one text put in place of the state in another."""

    key = "patch"
    label = N_("Patch")

    @fragment
    def render(self) -> None:
        st.markdown(
            _(
                "Patching takes the network's state in one text and puts it in place of its state in "
                "another. The predictions that move depend on what differs between the two states."
            )
        )
        places = self._render_places()
        if "" in places:
            st.info(_("Write a text in both fields."), icon=":material/edit:")
            return
        state_part = self._render_state_part()
        if state_part is None:
            show_units_hint(self.view)
            return
        # As a control, states of another text are patched in: the page's, whose trace is there already.
        unrelated = IdentifiedValue(self.view.model_digest, self.view.trace)
        patch = PATCH.render(self.view, places=places, unrelated=unrelated, **state_part)
        if patch is not None:
            st.markdown(render_finding.join_sentences(patch.sentences(), "said", "hint"))
            self._render_patched_text(patch)

    def _render_places(self) -> tuple[Any, ...]:
        """Draw the two texts. Returns the first arguments of `units.patch`: the source text, the place in it,
        the target text, its place.
        """
        corpus = str(self.view.context.info.card.get("corpus"))
        source_example, target_example = PATCH_EXAMPLES.get(corpus, OTHER_PATCH_EXAMPLE)
        left, right = st.columns(2)
        with left:
            source = PatchedPlace(
                self.view,
                f"{PATCH_KEY}.source",
                _("Take the state from"),
                _("the state is taken after the framed character; click or tap another to change this"),
                source_example,
            ).render()
        with right:
            target = PatchedPlace(
                self.view,
                f"{PATCH_KEY}.target",
                _("Put it into"),
                _("the state is put in after the framed character; click or tap another to change this"),
                target_example,
            ).render()
        return *source, *target

    def _render_state_part(self) -> dict[str, Any] | None:
        """The part of the state to patch, as keywords of `units.patch`; None while units are awaited."""
        view = self.view
        names = {"all": _("the whole state")}
        if int(view.model.config.layers) > 1:
            names["layer"] = _("the layer in view")
        names["part"] = _("units or a direction")
        left, middle, right = st.columns([5, 5, 2], vertical_alignment="bottom")
        with left:
            name = PATCH_PART.choose(_("What is put in"), names)
        # Without a layer, `units.patch` takes the states of all layers.
        state_part: dict[str, Any] = {} if name == "all" else {"layer": view.layer}
        if name == "part":
            with middle, st.container(horizontal=True, vertical_alignment="bottom"):
                named = DirectionChoice(
                    view, "hidden", "patch", _("Which part"), _("units"), with_random=True
                ).render()
                if named is not None:
                    return {"units": named.direction}
                state_part["units"] = render_units_field(view, key=f"{PATCH_KEY}.units", value="0")
            if not state_part["units"]:
                return None
        if CELLS[view.cell].has_cell:
            with right:
                quantities = {"state": "H, C", "hidden": "H", "cell": "C"}
                state_part["quantity"] = PATCH_QUANTITY.choose(_("H, C or both"), quantities)
        return state_part

    def _render_patched_text(self, patch: PatchControls) -> None:
        """Draw the second text, its continuation and its predictions, without and with the patch."""
        patched, options = patch.patched, continuation_options(self.view)
        ChangedText(
            PATCH_KEY,
            patched.into.text,
            # Bits lost, with the other sign: gains are blue everywhere on this page.
            0.0 - patched.loss / np.log(2),
            (sampling.resume(patched.into, patched.to, **options), patched.continuation(**options)),
            (
                _("bits: with the patch, a character is more (blue) or less (orange) expected"),
                _("continuation without the patch, coloured from where the two differ"),
                _("continuation with the patch, from the same random numbers"),
            ),
            [render_finding.finding_panel(panel, height=360, width=3) for panel in patch.panels()],
            max(0, patched.to - 1),
        ).render()


def _patch(
    model: Any,
    _text: object,
    places: tuple[Any, ...],
    unrelated: IdentifiedValue,
    progress: Progress,
    **part: Any,
) -> PatchControls:
    done: Patched = units.patch(model, *places, **part)
    return done.controls(model, unrelated.value, seed=CONTINUATION_SEED)


PATCH = Computation[PatchControls]("patch", lambda: _("Patching the state"), _patch, max_chars=0)


@dataclass(frozen=True, eq=False)
class PatchedPlace:
    """One of the two texts of a patch, and the place in it: after so many characters.

    key      of its dashboard, and the beginning of its fields' keys
    title    of the field
    label    of the text below it
    example  a text with "|" at the place
    """

    view: PageView
    key: str
    title: str
    label: str
    example: str

    def render(self) -> tuple[str, int]:
        """Draw the field and the text with its place. Returns both."""
        text = self._render_field()
        at = self._find_place(text)
        if text:
            # A pale band behind what the network has read when its state is taken, or replaced.
            before = np.where(np.arange(len(text)) < at, 0.6, 0.0)
            levels = ColourScale("sequential", 0.0, 4.0).levels(before)
            painted = dashboard.ColouredText(text, levels, "sequential", self.label)
            dashboard.mount(self.key, texts=[painted], at=max(0, at - 1), quiet=True)
        return text, at

    def _render_field(self) -> str:
        field = Field(f"{self.key}.text", "")
        written = field.resolve(usual=self.example.replace("|", ""), subject=self.example)
        st.text_area(self.title, height=106, max_chars=MAX_PATCH_CHARS, **field.widget)
        return normalise(written, self.view.model.normaliser)[:MAX_PATCH_CHARS]

    def _find_place(self, text: str) -> int:
        """The number of characters before the place: the click's, the last one, or the example's."""
        field = Field(f"{self.key}.at", 0)
        clicked = dashboard.take_request(self.key).position(len(text))
        if clicked is not None:
            field.request(clicked + 1)
        return min(field.resolve(usual=self.example.index("|"), subject=self.example), len(text))


WAYS: dict[str, type[ChangeWay]] = {
    way.key: way for way in (ChangeUnits, AblateUnits, ChangeLetter, PatchState, CompareNetworks)
}


class CausePart(PagePart):
    """What happens if something is changed: one of five ways to change it."""

    key = "cause"
    label = N_("Cause")
    question = N_("What happens if I change it?")
    hint = N_(
        "Change units, a letter or a whole state, and see which predictions move. Random changes of the same "
        "size are shown for comparison."
    )

    def render(self) -> None:
        labels = {key: _(way.label) for key, way in WAYS.items()}
        way = CHANGE_WAY.choose(_("What to change"), labels, label_visibility="collapsed")
        WAYS[way](self.view).render()
