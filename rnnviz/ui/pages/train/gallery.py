"""The shipped models' training, to be replayed: a gallery below the page's own runs."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.ui.pages.train import listing, subject
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import titles

ACROSS = 3


def show(shown: str | None) -> None:
    """A button for each; nothing where there is none."""
    names = listing.first(list(subject.replays()))
    if not names:
        return
    st.markdown("## " + _("How shipped models learned"))
    st.caption(_("Choose one to replay its training, from random weights to the model that ships."))
    about = {info.path.stem: info for info in checkpoint.available()[0]}
    for begin in range(0, len(names), ACROSS):
        for column, name in zip(st.columns(ACROSS), names[begin : begin + ACROSS], strict=False):
            id = subject.SHIPPED + name
            with column:
                st.button(
                    _("How {name} learned").format(name=plain(titles(about.values()).get(name, name))),
                    key=f"train-replay.{name}",
                    icon=":material/replay:",
                    disabled=id == shown,
                    width="stretch",
                    on_click=_open,
                    args=(id,),
                )
                if (info := about.get(name)) is not None:
                    kind = CELLS[info.kind].label if info.kind in CELLS else info.kind
                    st.caption(
                        " · ".join(
                            filter(None, (f"`{name}`", plain(kind), plain(str(info.card.get("title") or ""))))
                        )
                    )


def _open(id: str) -> None:
    st.session_state[listing.CHOSEN] = id
