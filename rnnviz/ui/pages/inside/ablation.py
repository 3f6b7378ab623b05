"""Do without each unit: how much worse the network predicts, unit by unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from rnnviz.figures import bars
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.inside import board, corpora
from rnnviz.ui.pages.inside.board import Panel
from rnnviz.ui.pages.inside.common import Look, done, guarded

if TYPE_CHECKING:
    from rnnviz.units.ablation import Ablation

BOARD = "inside.ablation"
LISTED = 16
_WANTED = "inside.ablate"


@st.fragment
@guarded
def section(look: Look) -> None:
    """The controls, the button that starts, and the ranking."""
    ask = board.asked(BOARD)
    if ask.what == "pick" and type(ask.value) is int and 0 <= ask.value < look.H:
        st.session_state["inside.units"] = str(ask.value)
        st.session_state["inside.units.of"] = look.mark
        st.session_state["inside.unit"] = ask.value
        st.session_state["inside.way.next"] = "change"
        st.rerun()
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    with left:
        source = corpora.pick(look, "inside.ablate.source", own=True)
    words = {"zero": "0", "mean": _("its own mean")}
    with right:
        to = st.segmented_control(
            _("The missing unit is held at"),
            list(words),
            key="inside.to",
            default="mean",
            persist_state="session",
            format_func=words.__getitem__,
        )
    if source is None:
        return
    own = source.kind == corpora.OWN
    key = ("ablate", look.mark, look.layer, source.identity, to or "mean", look.text if own else "")
    if st.session_state.get(_WANTED) != key:
        with st.container(horizontal=True, vertical_alignment="center"):
            if not st.button(
                _("Do without each of {n} units").format(n=look.H),
                key="inside.ablate.start",
                type="primary",
                icon=":material/content_cut:",
            ):
                st.caption(
                    _(
                        "Reads up to {n} characters once for each unit; it takes some seconds, or a minute."
                    ).format(n=f"{corpora.ABLATED:,}")
                )
                return
        st.session_state[_WANTED] = key
    found: Ablation | None = done(
        key,
        _("Reading without each unit"),
        lambda check: corpora.ablating(look, source, to or "mean"),
        "ablate",
    )
    if found is not None:
        _show(found)


def _show(found: Ablation) -> None:
    order = np.argsort(-found.loss, kind="stable")
    listed = order[:LISTED]
    share = float(np.maximum(found.loss[listed], 0).sum() / max(np.maximum(found.loss, 0).sum(), 1e-12))
    st.markdown(
        _(
            "On {n} characters the whole network has a perplexity of {baseline}. Without unit {unit}, the "
            "one it "
            "misses most, it is {without}."
        ).format(
            n=f"{found.characters:,}",
            baseline=f"{found.baseline:.3f}",
            unit=int(found.units[order[0]]),
            without=f"{found.perplexity[order[0]]:.3f}",
        )
    )
    board.mount(
        BOARD,
        panels=[
            Panel(
                "ablation",
                _("The units that are missed most"),
                lambda theme: bars.ranking(
                    [str(int(found.units[i])) for i in listed],
                    found.loss[listed],
                    errors=None if np.isnan(found.error).all() else found.error[listed],
                    x=_("nats that each character costs more without the unit"),
                    theme=theme,
                ),
                _(
                    "These units carry {share} of all losses added up; if it is little, the work is spread "
                    "over many. "
                    "Click a bar to change that unit."
                ).format(share=f"{share:.0%}"),
                _("what units do together: two that do the same are missed only when both are gone."),
                height=440,
                pick="bar",
                picks=[int(found.units[i]) for i in listed],
            )
        ],
        quiet=True,
    )
