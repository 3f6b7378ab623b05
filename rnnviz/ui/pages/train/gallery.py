"""The shipped models' training, to be replayed, below the page's own runs."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.ui.pages.train import listing, subject
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import titles


def show() -> None:
    """The choice and the button; nothing where there is no replay."""
    names = listing.first(list(subject.replays()))
    if not names:
        return
    about = {info.path.stem: info for info in checkpoint.available()[0]}
    called = titles(about.values())
    which, play = st.columns([8, 3], vertical_alignment="bottom", gap="medium")
    name = which.selectbox(
        _("How shipped models learned"),
        names,
        key="train-replay-name",
        persist_state="session",
        format_func=lambda name: called.get(name, name),
        help=_("Its training, from random weights to the model that comes with the app."),
    )
    play.button(
        _("Play"),
        key="train-replay",
        icon=":material/replay:",
        width="stretch",
        on_click=_play,
        args=(subject.SHIPPED + name,),
    )
    if (info := about.get(name)) is not None:
        kind = CELLS[info.kind].label if info.kind in CELLS else info.kind
        told = (f"`{name}`", plain(kind), plain(str(info.card.get("title") or "")))
        st.caption(" · ".join(filter(None, told)))


def _play(id: str) -> None:
    st.session_state["train.started"] = id
