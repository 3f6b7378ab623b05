"""Patch: the state of one text put into the reading of another, beside what other states do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures.themes import Scale
from rnnviz.networks.config import CELLS
from rnnviz.reading.trace import trace
from rnnviz.text.normalising import normalise
from rnnviz.ui import choice
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import cause, dashboard, direction, patched
from rnnviz.ui.pages.inside.common import View, fragment, kept
from rnnviz.ui.pages.inside.dashboard import Text
from rnnviz.ui.trouble import describe

if TYPE_CHECKING:
    from rnnviz.units import PatchControls, Patched

MOST = 200  # characters of each text
AHEAD = 20  # predictions that are compared with the controls
STATES = 40  # controls of each kind

# Two texts whose last characters are the same, or nearly, by corpus; "|" is where the state is taken and put.
# tests/benchmarks/patching.py measures what they show: KL over 20 predictions is 0.29 to 0.97 nats, and below
# 0.21 for 95 of 100 random moves as long. In shakespeare-lstm and chinese-gru it shows one character later.
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
    "xiyouji": (
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
            "The state that the network has in one text is put into its reading of another. What moves then "
            "is what the state carries, or the part of it that is put in."
        )
    )
    places = _places(view)
    if places is None:
        return
    try:
        part = _part(view)
        if part is None:
            return
        done = kept(("patch", view.mark, places, _key(part)), lambda: _patched(view, places, part))
        controls = kept(
            ("patch controls", view.mark, places, _key(part), view.text), lambda: _controls(view, done)
        )
        _said(done, controls)
        patched.show(view, done, controls)
        patched.grid(view, places.source, places.target, part, _key(part))
    except RnnvizError as error:
        st.warning(describe(error), icon=":material/error:")


def _patched(view: View, places: Places, part: dict[str, Any]) -> Patched:
    source, target = (
        kept(("trace", view.mark, text), partial(trace, view.model, text))
        for text in (places.source, places.target)
    )
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
            _("the state is taken after the marked character; click another"),
        ),
        "target": (_("Put it into"), _("it is put in after the marked character; click another")),
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
    written = st.text_area(title, key=f"{key}.text", height=92, max_chars=MOST, persist_state="session")
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
    """Which part of the state, as `units.patch` takes it; None while units or a direction are awaited."""
    words = {"all": _("the whole state")}
    if int(view.model.config.layers) > 1:
        words["layer"] = _("the layer in view")
    words["part"] = _("units or a direction")
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    with left:
        which = choice.pick(_("What is put in"), words, f"{patched.KEY}.part", default="all")
    found: dict[str, Any] = {} if which == "all" else {"layer": view.layer}
    if which == "part":
        with middle:
            along = direction.pick(view, "hidden", "patch", _("Which of them"), _("units"))
        if along is not None:
            return {"units": along[1]}
        if direction.wanted("patch"):
            return None
        chosen = _units(view)
        if not chosen:
            return None
        found["units"] = chosen
    if CELLS[view.cell].has_cell:
        parts = {"state": "H, C", "hidden": "H", "cell": "C"}
        with right:
            quantity = choice.pick(_("Of these"), parts, f"{patched.KEY}.quantity", default="state")
        found["quantity"] = quantity
    return found


def _units(view: View) -> list[int]:
    """The units that were written, none while they are unfit, which is said."""
    written = st.text_input(
        _("Units, 0 to {last}").format(last=view.H - 1),
        value="0",
        key=f"{patched.KEY}.units",
        max_chars=2000,
        help=_("One, or several with commas between them; a range such as 10-19 too."),
    )
    chosen = cause.numbers(written, view.H)
    if not chosen:
        st.info(
            _("Write the numbers of units, from 0 to {last}, such as 3, 17 or 10-19.").format(
                last=view.H - 1
            ),
            icon=":material/pin:",
        )
    return chosen


def _said(done: Patched, controls: PatchControls) -> None:
    """The effect beside the controls, in words."""
    random = float(np.quantile(controls.random, 0.95))
    elsewhere = np.quantile(controls.elsewhere, [0.05, 0.95])
    words = _(
        "The next prediction moves by **{next} nats** (KL), the next {n} by {kl} a prediction on average. "
        "Random moves of the state as long do less than {random} in 95 of 100; the same patch from other "
        "places, of this page's text, does {low} to {high}."
    ).format(
        next=f"{done.divergence[done.to]:.2f}",
        n=controls.ahead,
        kl=f"{controls.kl:.3f}",
        random=f"{random:.3f}",
        low=f"{elsewhere[0]:.3f}",
        high=f"{elsewhere[1]:.3f}",
    )
    if done.moved == 0:
        words = _("Both states are the same here, so nothing moves: click other characters.")
    elif controls.kl <= random:
        words += " " + _(
            "So this patch does **no more than a random move**: it says nothing of what is carried."
        )
    st.markdown(words)
