"""Patch: the state of one text put into the reading of another, beside what other states do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures.themes import Scale
from rnnviz.networks.cells import CELLS
from rnnviz.text.characters import normalise
from rnnviz.ui import choice, dashboard
from rnnviz.ui.dashboard import Text
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import cause, direction, patched
from rnnviz.ui.pages.inside.common import View, fragment, kept, traced
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.units import PatchControls, Patched

MOST = 200  # characters of each text
AHEAD = 20  # predictions that are compared with the controls
STATES = 40  # controls of each kind

# Two texts whose last characters are the same, or nearly, by corpus; "|" is where the state is taken and put.
# KL over 20 predictions was 0.29 to 0.97 nats, and below 0.21 for 95 of 100 random
# moves as long. In shakespeare-lstm and chinese-gru it shows one character later.
EXAMPLES: Mapping[str, tuple[str, str]] = {
    "timemachine": (
        '"I know," said the Time Tra|veller.',
        "He had seen it in a stra|nge country, he said, and the lamp burned low.",
    ),
    "tinyshakespeare": (
        "KING RICHARD:\nWhat is the night, my lord? The morning comes too slowly, my lord|,\n",
        "KING RICHARD:\nWhat is the night, my lord? The morning comes\nAnd so my lord|, and all the time.\n",
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


@dataclass(frozen=True)
class Places:
    """The two texts, and after how many characters of each."""

    source: str
    at: int
    target: str
    to: int


@fragment
def section(view: View) -> None:
    st.markdown(
        _(
            "Patching takes the network's state in one text and puts it in place of its state in another. "
            "The predictions that move depend on what differs between the two states."
        )
    )
    places = _places(view)
    if places is None:
        return
    try:
        part = _part(view)
        if part is None:
            return
        done = kept(view.key("patch", places, _key(part)), lambda: _patched(view, places, part))
        controls = kept(view.key("patch controls", places, _key(part)), lambda: _controls(view, done))
        _said(done, controls)
        patched.show(view, done, controls)
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")


def _patched(view: View, places: Places, part: dict[str, Any]) -> Patched:
    source, target = (traced(view, text) for text in (places.source, places.target))
    return units.patch(view.model, source, places.at, target, places.to, **part)


def _controls(view: View, done: Patched) -> PatchControls:
    return units.patch_controls(view.model, done, view.trace, n=STATES, ahead=AHEAD, seed=patched.SEED)


def _key(part: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted((name, tuple(v) if isinstance(v, list) else v) for name, v in part.items()))


def _places(view: View) -> Places | None:
    """The texts, each with the character that was clicked in it last; None while one is empty."""
    found = []
    examples = EXAMPLES.get(str(view.context.info.card.get("corpus")), OTHER)
    words = {
        "source": (
            _("Take the state from"),
            _("the state is taken after the framed character; click another one"),
        ),
        "target": (_("Put it into"), _("it is put in after the framed character; click another one")),
    }
    for column, name, example in zip(st.columns(2), words, examples, strict=True):
        with column:
            found.append(_place(view, name, *words[name], example))
    (source, at), (target, to) = found
    if not source or not target:
        st.info(_("Write a text in both fields."), icon=":material/edit:")
        return None
    return Places(source, at, target, to)


def _place(view: View, name: str, title: str, said: str, example: str) -> tuple[str, int]:
    """One of the texts, and after how many of its characters."""
    state, key = st.session_state, f"{patched.KEY}.{name}"
    if state.get(f"{key}.example") != example:  # another network's corpus
        state[f"{key}.example"] = example
        state[f"{key}.text"] = example.replace("|", "")
        state[f"{key}.at"] = example.index("|")
    written = st.text_area(title, key=f"{key}.text", height=106, max_chars=MOST, persist_state="session")
    text = normalise(written, view.model.normaliser)[:MOST]
    asked = dashboard.asked(key).position(len(text))
    if asked is not None:
        state[f"{key}.at"] = asked + 1
    at = min(int(state[f"{key}.at"]), len(text))
    if text:
        before = np.arange(len(text)) < at
        levels = Scale("sequential", 0.0, 4.0).levels(np.where(before, 0.6, 0.0))
        dashboard.mount(key, texts=[Text(text, levels, "sequential", said)], at=max(0, at - 1), quiet=True)
    return text, at


def _part(view: View) -> dict[str, Any] | None:
    """Which part of the state, as `units.patch` takes it; None while units are awaited."""
    words = {"all": _("the whole state")}
    if int(view.model.config.layers) > 1:
        words["layer"] = _("the layer in view")
    words["part"] = _("units or a direction")
    left, middle, right = st.columns([5, 5, 2], vertical_alignment="bottom")
    with left:
        which = choice.pick(_("What is put in"), words, f"{patched.KEY}.part", default="all")
    found: dict[str, Any] = {} if which == "all" else {"layer": view.layer}
    if which == "part":
        with middle, st.container(horizontal=True, vertical_alignment="bottom"):
            along = direction.pick(view, "hidden", "patch", _("Which part"), _("units"), random=True)
            chosen = _units(view) if along is None else []
        if along is not None:
            return {"units": along[1]}
        if not chosen:
            _numbers_wanted(view)
            return None
        found["units"] = chosen
    if CELLS[view.cell].has_cell:
        parts = {"state": "H, C", "hidden": "H", "cell": "C"}
        with right:
            quantity = choice.pick(_("Of H and C"), parts, f"{patched.KEY}.quantity", default="state")
        found["quantity"] = quantity
    return found


def _units(view: View) -> list[int]:
    """The units that were written, none while they are unfit."""
    written = st.text_input(
        _("Units, 0 to {last}").format(last=view.H - 1),
        value="0",
        key=f"{patched.KEY}.units",
        max_chars=2000,
        help=_("One, or several with commas between them; a range such as 10-19 too."),
    )
    return cause.numbers(written, view.H)


def _numbers_wanted(view: View) -> None:
    st.info(
        _("Write the numbers of units, from 0 to {last}, such as 3, 17 or 10-19.").format(last=view.H - 1),
        icon=":material/pin:",
    )


def _said(done: Patched, controls: PatchControls) -> None:
    """The effect beside the controls, in words."""
    random = float(np.quantile(controls.random, 0.95))
    elsewhere = np.quantile(controls.elsewhere, [0.05, 0.95])
    words = _(
        "The patch moves the next prediction by **{next} nats** (KL divergence), and the next {n} by "
        "**{kl} nats** on average.  \nControls, on average over the same {n}: 95 % of random moves of the "
        "same size give at most {random} nats. Of states from other places in this page's text, 90 % give "
        "{low} to {high}."
    ).format(
        next=_nats(float(done.divergence[done.to])),
        n=controls.ahead,
        kl=_nats(controls.kl),
        random=_nats(random),
        low=_nats(float(elsewhere[0])),
        high=_nats(float(elsewhere[1])),
    )
    if done.moved == 0:
        words = _("Both states are the same here, so nothing moves. Click another character.")
    elif controls.kl <= random:
        words += "  \n" + _(
            "So this patch does **no more than a random move**: it says nothing about what the state carries."
        )
    elif controls.kl <= elsewhere[1]:
        words += "  \n" + _(
            "So this patch does more than a random move, but **no more than other states do**. Nothing "
            "special here. The bars below show where predictions move."
        )
    st.markdown(words)


def _nats(value: float) -> str:
    if value >= 0.01:
        return f"{value:.3f}"
    if value < 0.0001:
        return "< 0.0001"
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")
