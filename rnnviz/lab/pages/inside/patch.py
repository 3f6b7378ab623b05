"""Patch: one text's state put into the reading of another text, beside patches of unrelated states."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.figures.themes import Scale
from rnnviz.i18n import _
from rnnviz.lab.analysis.patching import PatchControls, Patched
from rnnviz.lab.pages.inside import direction, unit_changes
from rnnviz.lab.pages.inside.parts import Part, found
from rnnviz.lab.pages.inside.view import Held, View, fragment
from rnnviz.networks.cells import CELLS
from rnnviz.scoring import sampling
from rnnviz.text.characters import normalise
from rnnviz.ui.shell import dashboard, render_finding
from rnnviz.ui.shell.fields import Field

KEY = "inside.patch"
PART, OF = Field(f"{KEY}.part", "all"), Field(f"{KEY}.quantity", "state")
MOST = 200  # characters of each text

# Two texts, by corpus, whose last characters before "|" are the same or nearly. The first one's state at "|"
# is put into the second at "|". The KL divergence over 20 predictions was 0.29 to 0.97 nats; for 95 of 100
# random moves of the same length it was below 0.21 (holmes-lstm: 1.07, and 0.55). In
# shakespeare-lstm and chinese-gru it shows one character later.
EXAMPLES: Mapping[str, tuple[str, str]] = {
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
def section(view: View) -> None:
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
        st.markdown(render_finding.told(done.sentences(), "said", "hint"))
        _show(view, done)


def _patch(model: Any, _text: object, places: tuple[Any, ...], unrelated: Held, **part: Any) -> PatchControls:
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
    examples = EXAMPLES.get(str(view.context.info.card.get("corpus")), OTHER)
    places: list[Any] = []
    for column, name, example in zip(st.columns(2), words, examples, strict=True):
        with column:
            places += _place(view, f"{KEY}.{name}", *words[name], example)
    return tuple(places)


def _place(view: View, key: str, title: str, said: str, example: str) -> tuple[str, int]:
    """One of the two texts, and its place: after so many characters."""
    own, place = Field(f"{key}.text", ""), Field(f"{key}.at", 0)
    written = own.now(usual=example.replace("|", ""), of=example)
    st.text_area(title, height=106, max_chars=MOST, **own.widget)
    text = normalise(written, view.model.normaliser)[:MOST]
    asked = dashboard.asked(key).position(len(text))
    if asked is not None:
        place.put(asked + 1)
    at = min(place.now(usual=example.index("|"), of=example), len(text))
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
        which = PART.choose(_("What is put in"), words)
    part: dict[str, Any] = {} if which == "all" else {"layer": view.layer}
    if which == "part":
        with middle, st.container(horizontal=True, vertical_alignment="bottom"):
            along = direction.pick(view, "hidden", "patch", _("Which part"), _("units"), random=True)
            if along is not None:
                return {"units": along[1]}
            part["units"] = unit_changes.write(view, key=f"{KEY}.units", value="0")
        if not part["units"]:
            return None
    if CELLS[view.cell].has_cell:
        parts = {"state": "H, C", "hidden": "H", "cell": "C"}
        with right:
            part["quantity"] = OF.choose(_("Of H and C"), parts)
    return part


def _show(view: View, found: PatchControls) -> None:
    """Draw the second text, its continuation and its predictions, without and with the patch."""
    done = found.patched
    drawn = unit_changes.drawn(view)
    unit_changes.show(
        KEY,
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
        [render_finding.panel(one, height=360, width=3) for one in found.panels()],
        max(0, done.to - 1),
    )
