"""Change a letter: how far apart the two readings are afterwards, for several networks."""

from dataclasses import replace

import streamlit as st

from rnnviz import units
from rnnviz.figures.themes import Scale
from rnnviz.i18n import _
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard, findings
from rnnviz.ui.dashboard import painted
from rnnviz.ui.pages.inside.common import Held, View, beside, cursor, fragment, of_the_same_text
from rnnviz.ui.pages.inside.parts import Part, found

KEY = "inside.changed"
BITS = Scale("sequential", 0.0, 2.0)


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, len(view.text) // 4)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    came = view.text[at]
    usual = "e" if came != "e" else "a"
    letter = left.text_input(
        _("In place of “{c}”, character {n}").format(c=visible(came), n=f"{at + 1:,}"),
        key="inside.letter",
        persist_state="session",
        max_chars=1,
        placeholder=usual,
        help=_("Click another character in the text to change that one."),
    )
    if letter in ("", came):
        letter = usual
    with right:
        networks = beside(view, _("Compare with"), "perturb", of_the_same_text(view), most=3)
    done = found(LETTER, view, networks=networks, at=at, letter=letter)
    if done is not None:
        _show(view, letter, done)


def _perturb(_model: object, text: str, networks: Held, at: int, letter: str) -> list[units.Perturbation]:
    found = units.perturb_all(list(networks.value.values()), text, at, letter)
    return [
        replace(one, before=replace(one.before, model_name=name))
        for name, one in zip(networks.value, found, strict=True)
    ]


LETTER = Part[list[units.Perturbation]]("letter", lambda: _("Reading with another letter"), _perturb)


def _show(view: View, letter: str, found: list[units.Perturbation]) -> None:
    first, *others = found
    st.markdown("  \n".join(findings.told(one.sentences()) for one in found))
    label = _("{model}: KL divergence, bits: how much “{c}” in the frame changes each prediction").format(
        model=first.before.model_name, c=visible(letter)
    )
    # Row t of a divergence is about the character after t: paint it behind that one.
    bits = first.bits[: len(view.text)]
    dashboard.mount(
        KEY,
        texts=[painted(view.text, bits, BITS, label, said=_("difference in bits"))],
        panels=[findings.panel(one, height=300, width=3) for one in first.panels(others)],
        at=first.position,
        scale=("sequential", _("0 bits"), _("2 bits")),
    )
