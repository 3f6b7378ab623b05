"""Cause: clamp, silence or scale units and see what changes; rank them by the loss; change a letter."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import charts
from rnnviz.figures.themes import VERSUS_FULL, Scale
from rnnviz.networks.cells import CELLS
from rnnviz.networks.numpy_model import weights_of
from rnnviz.reading import sampling
from rnnviz.ui import choice, dashboard
from rnnviz.ui.dashboard import Panel, Text, painted
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import ablation, change_letter, direction, effect
from rnnviz.ui.pages.inside.common import View, cursor, fragment, kept, key_of, symbols
from rnnviz.ui.trouble import describe
from rnnviz.ui.words import signed
from rnnviz.units import Direction, Intervention

if TYPE_CHECKING:
    import numpy.typing as npt

    from rnnviz.reading.trace import Trace
    from rnnviz.units.interventions import Action, Quantity

KEY = "inside.cause"
LENGTH = 120  # characters of a continuation
SEED = 0
ROOM = 96  # pixels for what random changes cost
DIFFERENCE = Scale("diverging", -VERSUS_FULL, VERSUS_FULL)  # bits
MARKED = Scale("sequential", 0.0, 5.0)  # 1 is a pale mark, of no number
_UNITS = "inside.units"


def section(view: View) -> None:
    words = {"change": _("Change units"), "rank": _("Ablate each unit"), "letter": _("Change a letter")}
    if follow := st.session_state.pop("inside.way.next", None):  # a click in the ranking
        st.session_state["inside.way"] = follow
    way = choice.pick(_("What to change"), words, "inside.way", default="change", hidden=True)
    {"change": _change, "rank": ablation.section, "letter": change_letter.section}[way](view)


@fragment
def _change(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, len(view.text) - 1)
    intervention = _controls(view)
    if intervention is None:
        return
    try:
        key = view.key("changed", intervention)
        after = kept(key, lambda: units.intervene(view.model, view.text, intervention))
        _figures(view, after)
        with st.container(height=ROOM, border=False):  # the text below stays where it is
            effect.here(view, intervention)
        _show(view, after, at, intervention)
        effect.elsewhere(view, intervention)
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")


def _controls(view: View) -> Intervention | None:
    state = st.session_state
    if _UNITS not in state or state.get("inside.units.of") != view.mark:
        state[_UNITS] = str(min(state.get("inside.unit", loudest(view)), view.H - 1))
        state["inside.units.of"] = view.mark
    words = {"zero": _("set to 0"), "clamp": _("hold at a value"), "scale": _("multiply")}
    cell = CELLS[view.cell].has_cell and st.toggle(
        _("Change the cell C instead of the state H"), key="inside.cell", persist_state="session"
    )
    quantity: Quantity = "cell" if cell else "hidden"
    left, middle, right = st.columns([5, 4, 3], vertical_alignment="bottom")
    with left, st.container(horizontal=True, vertical_alignment="bottom"):
        named = direction.pick(view, quantity, "cause", _("What to change"), _("units"))
        chosen = _units(view) if named is None else []
    with middle:
        action = cast("Action", choice.pick(_("How"), words, "inside.action", default="clamp"))
    with right:
        value = _value(view, action, None if named is None else named[1])
    if named is not None:
        return Intervention(named[1], action, value)
    if chosen:
        return Intervention(tuple(chosen), action, value, layer=view.layer, quantity=quantity)
    st.info(
        _("Write the numbers of units, from 0 to {last}, such as 3, 17 or 10-19.").format(last=view.H - 1),
        icon=":material/pin:",
    )
    return None


def _units(view: View) -> list[int]:
    written = st.text_input(
        _("Units, 0 to {last}").format(last=view.H - 1),
        key=_UNITS,
        persist_state="session",
        max_chars=2000,
        help=_("One, or several with commas between them; a range such as 10-19 too."),
    )
    return numbers(written, view.H)


def _value(view: View, action: Action, along: Direction | None) -> float:
    """What it is held at, or multiplied by; directions, and units that no tanh bounds, go beyond 1."""
    if action == "zero":
        return 0.0
    if action == "scale":
        return st.slider(_("times"), -1.0, 3.0, 0.5, 0.1, key="inside.times", persist_state="session")
    if along is None and view.model.config.span == "tanh":
        return st.slider(_("value"), -1.0, 1.0, 1.0, 0.05, key="inside.value", persist_state="session")
    values = view.trace.hidden[:, view.layer] if along is None else along.along(view.trace)
    far, highest = direction.reach(values)
    largest = (
        _("On this text the layer's largest value is {n}.")
        if along is None
        else _("On this text its largest value is {n}.")
    )
    return st.slider(
        _("value"),
        -far,
        far,
        min(1.0 if along is None else round(highest, 1), far),
        far / 20,
        key=f"inside.value.{'of' if along is None else 'along'}.{far:g}",
        persist_state="session",
        help=largest.format(n=f"{highest:.2f}"),
    )


def numbers(written: str, H: int) -> list[int]:
    """The units that a reader wrote, in order, each once; empty if any doesn't exist."""
    found: set[int] = set()
    for part in filter(None, re.split(r"[\s,;，、]+", written)):
        match = re.fullmatch(r"(\d{1,6})(?:[-–](\d{1,6}))?", part)
        if match is None:
            return []
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if not first <= last < H:
            return []
        found.update(range(first, last + 1))
    return sorted(found)


def loudest(view: View) -> int:
    """The unit with the largest effect on the next character: its row of W_hq times its values."""
    weights = weights_of(view.model).readout
    if view.layer != view.trace.hidden.shape[1] - 1:
        return 0
    says = np.linalg.norm(weights, axis=0) * np.abs(view.trace.hidden[:, -1]).mean(axis=0)
    return int(np.nan_to_num(says).argmax())


def _figures(view: View, after: Trace) -> None:
    before, now = float(view.trace.perplexity[-1]), float(after.perplexity[-1])
    one, other = st.columns(2)
    one.metric(_("Perplexity without the change"), f"{before:.2f}")
    other.metric(
        _("Perplexity with the change"),
        f"{now:.2f}" if now < 1e6 else f"{now:.1e}",
        signed(now - before) if now < 1e6 and f"{abs(now - before):.2f}" != "0.00" else None,
        delta_color="green" if now < before else "red",
        delta_arrow="down" if now < before else "up",
    )


def _show(view: View, after: Trace, at: int, intervention: Intervention) -> None:
    bits = (view.trace.nll - after.nll) / np.log(2)
    temperature, prompt = view.context.temperature, view.text[: at + 1]
    plain = kept(
        key_of(prompt, "on", view.mark, temperature),
        lambda: sampling.resume(view.trace, at + 1, LENGTH, temperature=temperature, seed=SEED),
    )
    changed = kept(
        key_of(prompt, "on", view.mark, temperature, intervention),
        lambda: units.resume(after, at + 1, LENGTH, intervention, temperature=temperature, seed=SEED),
    )
    label = _("bits: with the change, a character is more (blue) or less (orange) expected")
    plain_label = _("continuation without the change, coloured from where the two differ")
    changed_label = _("continuation with the change, from the same random numbers")
    full = f"{VERSUS_FULL:g}"
    dashboard.mount(
        KEY,
        texts=[
            painted(view.text, bits, DIFFERENCE, label, "versus", said=_("change in bits")),
            Text(plain, apart(plain, changed), "sequential", plain_label, linked=False),
            Text(changed, apart(changed, plain), "sequential", changed_label, linked=False),
        ],
        panels=[_next(view, after, at)],
        at=at,
        scale=("versus", _("{n} bits less").format(n=full), _("{n} bits more").format(n=full)),
    )


def apart(one: str, other: str) -> npt.NDArray[np.uint8]:
    """The levels behind a continuation: coloured from where it is no longer the other."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    return MARKED.levels(np.where(np.arange(len(one)) < same, 0.0, 1.0))


def _next(view: View, after: Trace, at: int) -> Panel:
    before, now = (np.exp(t.log_probs_at(at + 1, at + 2)[0].astype(np.float64)) for t in (view.trace, after))
    order = np.argsort(-np.maximum(before, now), kind="stable")[:10]
    names = symbols(view.model.vocabulary, order)
    return Panel(
        "next",
        _("Next-character probabilities after character {n}").format(n=f"{at + 1:,}"),
        partial(
            charts.pair,
            names,
            before[order],
            now[order],
            labels=(_("without the change"), _("with the change")),
            x=_("probability"),
        ),
        _("Bars that grow or shrink are characters whose probability depends on what was changed."),
        _("what real texts lead to: perhaps no text leads to a state like this. Trust small changes more."),
        height=360,
    )
