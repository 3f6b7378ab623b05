"""Cause: interventions.

Units are held, silenced or scaled, or ablated one after another; or one text's state is put into the reading
of another text, beside patches of unrelated states. compare.py has the other ways.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures.pictures import draw
from rnnviz.figures.themes import Scale
from rnnviz.i18n import N_, _
from rnnviz.lab.analysis import ablation, effects
from rnnviz.lab.analysis.ablation import Ablation
from rnnviz.lab.analysis.effects import Effect
from rnnviz.lab.analysis.interventions import Action, Intervention
from rnnviz.lab.analysis.patching import PatchControls, Patched
from rnnviz.lab.pages.inside import compare, direction, search_texts, unit_changes
from rnnviz.lab.pages.inside.parts import Button, Part, found
from rnnviz.lab.pages.inside.units import GRADED, PATTERN, SPAN, target_words
from rnnviz.lab.pages.inside.view import QUANTITY, UNIT, WAY, Held, View, cursor, fragment, kept
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
from rnnviz.ui.jobs.pending import PATIENCE
from rnnviz.ui.shell import address, dashboard, render_finding
from rnnviz.ui.shell.error_messages import describe
from rnnviz.ui.shell.fields import Field

KEY, RANKED = "inside.cause", "inside.ablation"
ROOM = 96  # pixels reserved for the finding on random changes
REST = 0.5  # seconds before the job begins, while a reader moves the slider
UNITS = Field[str | None]("inside.units")
ACTION = Field[Action]("inside.action", "clamp")
VALUE = Field("inside.value", 1.0)
HELD = Field("inside.to", "mean")
TARGET = Field("inside.effect.target", "quotes")


def section(view: View) -> None:
    labels = {key: _(label) for key, (label, _show) in WAYS.items()}
    way = WAY.choose(_("What to change"), labels, label_visibility="collapsed")
    WAYS[way][1](view)


@fragment
def _change(view: View) -> None:
    change = _controls(view)
    if change is None:
        unit_changes.wanted(view)
        return
    try:
        after = kept(view.key("changed", change), lambda: trace(view.model, view.text, change=change))
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")
        return
    _perplexities(float(view.trace.perplexity[-1]), float(after.perplexity[-1]))
    with st.container(height=ROOM, border=False):  # a fixed height: the text below doesn't jump
        effect = found(EFFECT, view, change=change)
        if effect is not None:
            render_finding.show_finding(effect)
    _show(view, after, change)
    _elsewhere(view, change)


def _controls(view: View) -> Intervention | None:
    """The intervention that the controls describe; None while the written units are invalid."""
    if (asked := address.requested_number("unit")) is not None and asked < view.H:
        UNIT.request(asked)  # its widget is on Units
    unit = UNIT.get()
    UNITS.resolve(usual=str(loudest(view) if unit is None else min(unit, view.H - 1)), subject=view.mark)
    actions = {"zero": _("set to 0"), "clamp": _("hold at a value"), "scale": _("multiply")}
    cell = CELLS[view.cell].has_cell and st.toggle(
        _("Change the cell state C instead of the hidden state H"),
        QUANTITY.get() == "cell" or address.requested_value("quantity") == "cell",
        key="inside.cell",
        persist_state="session",
    )
    where: dict[str, Any] = {"layer": view.layer, "quantity": "cell" if cell else "hidden"}
    left, middle, right = st.columns([5, 4, 3], vertical_alignment="bottom")
    with left, st.container(horizontal=True, vertical_alignment="bottom"):
        named = direction.pick(view, where["quantity"], "cause", _("What to change"), _("units"))
        chosen: Any = unit_changes.write(view, **UNITS.widget) if named is None else named[1]
    with middle:
        action = ACTION.choose(_("How"), actions)
    with right:
        value = _value(view, action, None if named is None else named[1].along(view.trace))
    return None if chosen == () else Intervention(chosen, action, value, **where)


def _value(view: View, action: Action, along: Any) -> float:
    """The value to hold units at, or the factor. Its slider goes beyond 1 for directions (values `along`,
    (T,)) and for units that no tanh bounds.
    """
    if action == "zero":
        return 0.0
    if action == "scale":
        return st.slider(_("times"), -1.0, 3.0, 0.5, 0.1, key="inside.times", persist_state="session")
    far, usual, about = 1.0, 1.0, None
    if along is not None or view.model.config.span != "tanh":
        values = np.nan_to_num(view.trace.hidden[:, view.layer] if along is None else along)
        far = float(np.ceil(max(0.1, np.abs(values).max(initial=0)) * 10) / 10)
        usual = 1.0 if along is None else round(float(values.max(initial=0)), 1)
        about = _("On this text the largest value is {n}.").format(n=f"{values.max(initial=0):.2f}")
    value = VALUE.resolve(usual=min(usual, far), subject=(along is None, far))
    st.slider(_("value"), -far, far, step=far / 20, help=about, **VALUE.widget)
    return value


def loudest(view: View) -> int:
    """The unit with the largest mean effect on predictions: the norm of its row of W_hq times its mean |h|.

    0 for any layer but the last, whose states alone W_hq reads.
    """
    weights = weights_of(view.model).readout
    if view.layer != view.trace.hidden.shape[1] - 1:
        return 0
    says = np.linalg.norm(weights, axis=0) * np.abs(view.trace.hidden[:, -1]).mean(axis=0)
    return int(np.nan_to_num(says).argmax())


def _perplexities(before: float, now: float) -> None:
    one, other = st.columns(2)
    one.metric(_("Perplexity without the change"), rounded(before))
    other.metric(
        _("Perplexity with the change"),
        rounded(now),
        signed(now - before)
        if now < SCALE_WORD_PERPLEXITY and f"{abs(now - before):.2f}" != "0.00"
        else None,
        delta_color="green" if now < before else "red",
        delta_arrow="down" if now < before else "up",
    )


@fragment
def _show(view: View, after: Trace, change: Intervention) -> None:
    """Draw the text with the change, and its continuations from the chosen character."""
    at = cursor(dashboard.asked(KEY), view, len(view.text) - 1)
    drawn = unit_changes.drawn(view)
    plain = kept(
        view.key("on", at, view.context.temperature),
        lambda: sampling.resume(view.trace, at + 1, **drawn),
    )
    other = kept(
        view.key("on", at, view.context.temperature, change),
        lambda: sampling.resume(after, at + 1, changes=combined(after.weights, change), **drawn),
    )
    labels = (
        _("bits: with the change, a character is more (blue) or less (orange) expected"),
        _("continuation without the change, coloured from where the two differ"),
        _("continuation with the change, from the same random numbers"),
    )
    bits = (view.trace.nll - after.nll) / np.log(2)
    unit_changes.show(KEY, view.text, bits, (plain, other), labels, [_next(view, after, at)], at)


def _next(view: View, after: Trace, at: int) -> dashboard.Panel:
    labels = (_("without the change"), _("with the change"))
    picture = expected_pair(view.trace, after, at + 1, labels)
    return dashboard.Panel(
        "next",
        _("Next-character probabilities after character {n}").format(n=f"{at + 1:,}"),
        partial(draw, picture, spoken),
        _("Bars that grow or shrink are characters whose probability depends on what was changed."),
        _("what real texts lead to: perhaps no text leads to a state like this. Trust small changes more."),
        height=360,
    )


def _elsewhere(view: View, change: Intervention) -> None:
    """Draw the intervention's cost on a longer text: on all of it, and where a target holds."""
    st.subheader(_("On a longer text, and on a part of it"), anchor=False)
    unfit = (PATTERN, SPAN, *GRADED)
    names = {name: about for name, about in target_words(view.python).items() if name not in unfit}
    usual = "py-string" if view.python else "quotes"
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        label = _("Part of the text to compare with the rest")
        target = TARGET.choose(label, names, usual, draw=st.selectbox)
    with right:
        source = search_texts.pick(view, "inside.effect.source")
    cost = _("Reads up to {n} characters with the change, and with {controls} random changes.")
    button = Button(
        _("Measure it on a longer text"),
        ":material/straighten:",
        cost.format(n=f"{LONGER.most:,}", controls=2 * effects.CONTROLS),
    )
    effect = found(LONGER, view, source, button, change=change, target=target, unclosed=view.unclosed)
    if effect is not None:
        render_finding.show_finding(effect)


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
        time.sleep(REST)  # a slider that moves on meanwhile cancels the job before any work
        progress(Share(0.0))
    inside = units.target(target, text, unclosed=unclosed) if target else None
    return effects.costing(model, text, change, target=inside)


EFFECT = Part[Effect](
    "effect", lambda: _("Changing random units and directions for comparison"), _effect, patience=0.0
)
LONGER = replace(EFFECT, name="effect.longer", most=20_000, patience=PATIENCE)


@fragment
def _rank(view: View) -> None:
    unit = dashboard.asked(RANKED).pick(view.H)
    if unit is not None:
        UNIT.request(unit)
        UNITS.request(None)
        WAY.request("change")
        st.rerun()
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        source = search_texts.pick(view, "inside.ablate.source")
    with right:
        held = {"zero": "0", "mean": _("its own mean")}
        to = HELD.choose(_("An ablated unit is held at"), held)
    cost = _(
        "Reads up to {n} characters once for each unit, and stops as soon as both halves of what it has "
        "read rank the units alike. That takes minutes; you can cancel it."
    ).format(n=f"{ABLATION.most:,}")
    button = Button(_("Ablate each of {n} units").format(n=view.H), ":material/content_cut:", cost)
    ablation = found(ABLATION, view, source, button, layer=view.layer, to=to)
    if ablation is not None:
        render_finding.show_finding(ablation)
        if panels := ablation.panels():
            dashboard.mount(
                RANKED, panels=[render_finding.finding_panel(one, height=440) for one in panels], quiet=True
            )


ABLATION = Part[Ablation](
    "ablate",
    lambda: _("Ablating each unit"),
    partial(units.ablate, until=ablation.MIN_REPLICATION, controls=16),
    most=64_000,
)
PATCH_KEY = "inside.patch"
PATCH_PART, PATCH_OF = Field(f"{PATCH_KEY}.part", "all"), Field(f"{PATCH_KEY}.quantity", "state")
PATCH_MOST = 200  # characters of each text

# Two texts, by corpus, whose last characters before "|" are the same or nearly. The first one's state at "|"
# is put into the second at "|". The KL divergence over 20 predictions was 0.29 to 0.97 nats; for 95 of 100
# random moves of the same length it was below 0.21 (holmes-lstm: 1.07, and 0.55). In
# shakespeare-lstm and chinese-gru it shows one character later.
PATCH_EXAMPLES: Mapping[str, tuple[str, str]] = {
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
OTHER = ("The Time Tra|veller asked us to wait.", "We heard a stra|nge sound in the next room.")


@fragment
def patch_section(view: View) -> None:
    st.markdown(
        _(
            "Patching takes the network's state in one text and puts it in place of its state in another. "
            "The predictions that move depend on what differs between the two states."
        )
    )
    places = _places(view)
    if "" in places:
        st.info(_("Write a text in both fields."), icon=":material/edit:")
        return
    part = _part(view)
    if part is None:
        unit_changes.wanted(view)
        return
    done = found(PATCH, view, places=places, unrelated=Held(view.mark, view.trace), **part)
    if done is not None:
        st.markdown(render_finding.join_sentences(done.sentences(), "said", "hint"))
        _show_patch(view, done)


def _patch(
    model: Any, _text: object, places: tuple[Any, ...], unrelated: Held, progress: Progress, **part: Any
) -> PatchControls:
    done: Patched = units.patch(model, *places, **part)
    return done.controls(model, unrelated.value, seed=unit_changes.SEED)


PATCH = Part[PatchControls]("patch", lambda: _("Patching the state"), _patch, most=0)


def _places(view: View) -> tuple[Any, ...]:
    """The first arguments of `units.patch`: the source text, the place in it, the target text, its place."""
    words = {
        "source": (
            _("Take the state from"),
            _("the state is taken after the framed character; click another one"),
        ),
        "target": (_("Put it into"), _("it is put in after the framed character; click another one")),
    }
    examples = PATCH_EXAMPLES.get(str(view.context.info.card.get("corpus")), OTHER)
    places: list[Any] = []
    for column, name, example in zip(st.columns(2), words, examples, strict=True):
        with column:
            places += _place(view, f"{PATCH_KEY}.{name}", *words[name], example)
    return tuple(places)


def _place(view: View, key: str, title: str, said: str, example: str) -> tuple[str, int]:
    """One of the two texts, and its place: after so many characters."""
    own, place = Field(f"{key}.text", ""), Field(f"{key}.at", 0)
    written = own.resolve(usual=example.replace("|", ""), subject=example)
    st.text_area(title, height=106, max_chars=PATCH_MOST, **own.widget)
    text = normalise(written, view.model.normaliser)[:PATCH_MOST]
    asked = dashboard.asked(key).position(len(text))
    if asked is not None:
        place.request(asked + 1)
    at = min(place.resolve(usual=example.index("|"), subject=example), len(text))
    if text:
        before = np.where(np.arange(len(text)) < at, 0.6, 0.0)
        levels = Scale("sequential", 0.0, 4.0).levels(before)
        dashboard.mount(
            key, texts=[dashboard.Text(text, levels, "sequential", said)], at=max(0, at - 1), quiet=True
        )
    return text, at


def _part(view: View) -> dict[str, Any] | None:
    """The part of the state to patch, as keywords of `units.patch`; None while units are awaited."""
    words = {"all": _("the whole state")}
    if int(view.model.config.layers) > 1:
        words["layer"] = _("the layer in view")
    words["part"] = _("units or a direction")
    left, middle, right = st.columns([5, 5, 2], vertical_alignment="bottom")
    with left:
        which = PATCH_PART.choose(_("What is put in"), words)
    part: dict[str, Any] = {} if which == "all" else {"layer": view.layer}
    if which == "part":
        with middle, st.container(horizontal=True, vertical_alignment="bottom"):
            along = direction.pick(view, "hidden", "patch", _("Which part"), _("units"), random=True)
            if along is not None:
                return {"units": along[1]}
            part["units"] = unit_changes.write(view, key=f"{PATCH_KEY}.units", value="0")
        if not part["units"]:
            return None
    if CELLS[view.cell].has_cell:
        parts = {"state": "H, C", "hidden": "H", "cell": "C"}
        with right:
            part["quantity"] = PATCH_OF.choose(_("Of H and C"), parts)
    return part


def _show_patch(view: View, found: PatchControls) -> None:
    """Draw the second text, its continuation and its predictions, without and with the patch."""
    done = found.patched
    drawn = unit_changes.drawn(view)
    unit_changes.show(
        PATCH_KEY,
        done.into.text,
        0.0 - done.loss / np.log(2),
        (
            sampling.resume(done.into, done.to, **drawn),
            done.continuation(**drawn),
        ),
        (
            _("bits: with the patch, a character is more (blue) or less (orange) expected"),
            _("continuation without the patch, coloured from where the two differ"),
            _("continuation with the patch, from the same random numbers"),
        ),
        [render_finding.finding_panel(one, height=360, width=3) for one in found.panels()],
        max(0, done.to - 1),
    )


WAYS: dict[str, tuple[str, Callable[[View], None]]] = {
    "change": (N_("Change units"), _change),
    "rank": (N_("Ablate each unit"), _rank),
    "letter": (N_("Change a letter"), compare.letter),
    "patch": (N_("Patch"), patch_section),
    "compare": (N_("Compare"), compare.section),
}
