"""Change a letter: how far apart two readings are afterwards, for several networks at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.figures import plain
from rnnviz.figures.themes import Scale
from rnnviz.text.characters import visible
from rnnviz.ui import model_cache
from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.inside import board
from rnnviz.ui.pages.inside.board import Panel, Text
from rnnviz.ui.pages.inside.common import Look, cursor, guarded, kept, loaded, others
from rnnviz.ui.trouble import describe
from rnnviz.ui.trouble import plain as safe

Doubles = npt.NDArray[np.float64]

BOARD = "inside.changed"
BITS = Scale("sequential", 0.0, 2.0)


@st.fragment
@guarded
def section(look: Look) -> None:
    """The whole sub-page."""
    ask = board.asked(BOARD)
    at = cursor(ask, look, len(look.text) // 4)
    letter, models = _controls(look, at)
    found: dict[str, units.Perturbation] = {}
    for name, (mark, model) in models.items():
        key = ("perturb", mark, look.text, at, letter)
        try:
            found[name] = kept(key, lambda model=model: units.perturb(model, look.text, at, letter))  # type: ignore[misc]
        except RnnvizError as error:
            st.warning(f"**{safe(name)}**  \n{describe(error)}", icon=":material/error:")
    if found:
        _show(look, at, letter, found)


def _controls(look: Look, at: int) -> tuple[str, dict[str, tuple[str, Any]]]:
    beside = others(look)
    corpus = look.context.info.card.get("corpus")
    usual = [m.path.stem for m in beside if corpus and m.card.get("corpus") == corpus and m.kind != "mlp"][:2]
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        came = look.text[at]
        written = st.text_input(
            _("In place of “{c}”, character {n}").format(c=visible(came), n=f"{at + 1:,}"),
            key="inside.letter",
            persist_state="session",
            max_chars=1,
            placeholder=usual_letter(came),
            help=_("Click another character in the text to change that one."),
        )
    with right:
        chosen = st.multiselect(
            _("In these networks too"),
            [m.path.stem for m in beside],
            default=usual,
            key=f"inside.perturb.{look.mark[:12]}",
            persist_state="session",
            max_selections=3,
            placeholder=_("other networks"),
        )
    letter = written if written and written != came else usual_letter(came)
    models: dict[str, tuple[str, Any]] = {look.context.info.path.stem: (look.mark, look.model)}
    for info in beside:
        if info.path.stem in chosen:
            models[info.path.stem] = model_cache.digest(info), loaded(info)
    return letter, models


def usual_letter(came: str) -> str:
    """What takes a character's place until somebody says otherwise."""
    return "e" if came != "e" else "a"


def _beyond(values: Doubles, least: float) -> Doubles:
    """`values`, with nothing in the place of what differs by rounding alone."""
    return np.where(values > least, values, np.nan)


def _show(look: Look, at: int, letter: str, found: dict[str, units.Perturbation]) -> None:
    one = next(iter(found.values()))
    # Row t of a divergence is about the character after t: paint it behind that one.
    bits = one.bits[: len(look.text)]
    remembered = {name: p.remembered() for name, p in found.items()}
    st.markdown(
        "  \n".join(
            f"**{safe(name)}** "
            + ngettext(
                "predicts differently, by 0.01 bits or more, up to {n} character later.",
                "predicts differently, by 0.01 bits or more, up to {n} characters later.",
                n,
            ).format(n=f"{n:,}")
            for name, n in remembered.items()
        )
    )
    x = _("character")
    board.mount(
        BOARD,
        texts=[
            Text(
                look.text,
                BITS.levels(bits),
                palette="sequential",
                label=_(
                    "{model}: bits by which its expectation of each character differs with “{c}” in the frame"
                ).format(model=next(iter(found)), c=visible(letter)),
                values=bits,
                said=_("difference in bits"),
            )
        ],
        panels=[
            Panel(
                "divergence",
                _("How differently it predicts"),
                lambda theme: plain.lines(
                    {name: _beyond(p.bits[at + 1 :], 1e-6) for name, p in found.items()},
                    x=x,
                    y=_("KL divergence, bits"),
                    first=at,
                    log=True,
                    theme=theme,
                ),
                _("The line falls as the letter is forgotten; it jumps where the letter matters once more."),
                _(
                    "other letters and places; and what is so small that it is lost in rounding: there a "
                    "line ends."
                ),
                height=300,
                width=3,
                link="x",
                pick="at",
            ),
            Panel(
                "distance",
                _("How far apart the states are"),
                lambda theme: plain.lines(
                    {name: _beyond(p.distance[at:], 1e-5) for name, p in found.items()},
                    x=x,
                    y=_("length of ΔH"),
                    first=at,
                    log=True,
                    theme=theme,
                ),
                _("Where this line stays up while the other falls, the network remembers without using it."),
                _("which units differ, and lengths of networks of other sizes aren't the same measure."),
                height=300,
                width=3,
                link="x",
                pick="at",
            ),
        ],
        at=at,
        scale=("sequential", _("0 bits"), _("2 bits")),
    )
