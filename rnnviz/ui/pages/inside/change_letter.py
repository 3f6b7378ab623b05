"""Change a letter: how far apart the two readings are afterwards, for several networks."""

from functools import partial

import numpy as np
import streamlit as st

from rnnviz import units
from rnnviz.arrays import Doubles
from rnnviz.errors import RnnvizError
from rnnviz.figures import charts
from rnnviz.figures.themes import Scale
from rnnviz.text.characters import visible
from rnnviz.ui import dashboard
from rnnviz.ui.dashboard import Panel, painted
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.inside.common import View, beside, cursor, fragment, kept, key_of, of_the_same_text
from rnnviz.ui.trouble import describe
from rnnviz.ui.trouble import plain as safe

KEY = "inside.changed"
BITS = Scale("sequential", 0.0, 2.0)


@fragment
def section(view: View) -> None:
    at = cursor(dashboard.asked(KEY), view, len(view.text) // 4)
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    came = view.text[at]
    written = left.text_input(
        _("In place of “{c}”, character {n}").format(c=visible(came), n=f"{at + 1:,}"),
        key="inside.letter",
        persist_state="session",
        max_chars=1,
        placeholder=usual_letter(came),
        help=_("Click another character in the text to change that one."),
    )
    letter = written if written and written != came else usual_letter(came)
    with right:
        networks = beside(view, _("Compare with"), "perturb", of_the_same_text(view), most=3)
    found: dict[str, units.Perturbation] = {}
    for name, (mark, model) in networks.items():
        try:
            found[name] = kept(
                key_of(view.text, "perturb", mark, at, letter),
                partial(units.perturb, model, view.text, at, letter),
            )
        except RnnvizError as error:
            st.warning(f"**{safe(name)}**  \n{describe(error)}", icon=":material/error:")
    if found:
        _show(view, at, letter, found)


def usual_letter(came: str) -> str:
    """The default substitute for a character."""
    return "e" if came != "e" else "a"


def _beyond(values: Doubles, least: float) -> Doubles:
    """`values`, NaN where the difference is rounding alone."""
    return np.where(values > least, values, np.nan)


def _show(view: View, at: int, letter: str, found: dict[str, units.Perturbation]) -> None:
    name, one = next(iter(found.items()))
    # Row t of a divergence is about the character after t: paint it behind that one.
    bits = one.bits[: len(view.text)]
    st.markdown(
        "  \n".join(
            f"**{safe(name)}** "
            + ngettext(
                "predicts differently, by 0.01 bits or more, up to {n} character later.",
                "predicts differently, by 0.01 bits or more, up to {n} characters later.",
                n,
            ).format(n=f"{n:,}")
            + (" " + _("It still does where the text ends.") if n >= len(view.text) - (at + 1) > 0 else "")
            for name, n in ((name, p.remembered()) for name, p in found.items())
        )
    )
    label = _("{model}: KL divergence, bits: how much “{c}” in the frame changes each prediction").format(
        model=name, c=visible(letter)
    )
    dashboard.mount(
        KEY,
        texts=[painted(view.text, bits, BITS, label, said=_("difference in bits"))],
        panels=[
            _lines(
                "divergence",
                _("How far apart the predictions are"),
                {name: _beyond(p.bits[at + 1 :], 1e-6) for name, p in found.items()},
                at,
                _("KL divergence, bits"),
                _("The line falls as the letter loses its influence, and jumps where it matters again."),
                _(
                    "other letters and places; and differences so small that they may be rounding: there "
                    "a line ends."
                ),
            ),
            _lines(
                "distance",
                _("How far apart the states are"),
                {name: _beyond(p.distance[at:], 1e-5) for name, p in found.items()},
                at,
                _("length of ΔH"),
                _(
                    "Where this line stays high while the other falls, the states still differ, but in ways "
                    "that the next predictions don't use."
                ),
                _("which units differ. Don't compare networks of different sizes: more units, a longer ΔH."),
            ),
        ],
        at=at,
        scale=("sequential", _("0 bits"), _("2 bits")),
    )


def _lines(
    name: str, title: str, curves: dict[str, Doubles], at: int, y: str, notice: str, limits: str
) -> Panel:
    return Panel(
        name,
        title,
        partial(charts.lines, curves, x=_("character"), y=y, first=at, log=True, places=True),
        notice,
        limits,
        height=300,
        width=3,
        link="x",
        pick="at",
    )
