"""Deleted runs: restored with one click, until the server stops."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from rnnviz.errors import RnnvizError
from rnnviz.runs import deleted as runs
from rnnviz.ui import trouble
from rnnviz.ui.hosting import allowed
from rnnviz.ui.i18n import _
from rnnviz.ui.pages.train import listing
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import duration

UNDO = "train.undo"  # the run that was just deleted, and the one shown since
_TROUBLE = "train.not_restored"


def offer(shown: str | None) -> None:
    """The run that was just deleted, to be restored; until another one is looked at."""
    if (error := st.session_state.pop(_TROUBLE, None)) is not None:
        trouble.show(error)
    path, instead = st.session_state.get(UNDO, ("", None)) if allowed.to_restore() else ("", None)
    found = next((one for one in runs.deleted() if str(one.path) == path), None) if path else None
    if found is None or instead not in (None, shown or ""):
        st.session_state.pop(UNDO, None)
        return
    st.session_state[UNDO] = path, shown or ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-undo-row"):
        st.markdown(
            ":material/delete: "
            + _("**{name}** was deleted. You can restore it until the server stops.").format(
                name=plain(found.id)
            ),
            width="content",
        )
        st.button(
            _("Restore"), icon=":material/undo:", key="train-undo", on_click=_restore, args=(found.path,)
        )


def show() -> None:
    """All deleted runs; nothing where there is none, or for who may not restore them."""
    found = runs.deleted() if allowed.to_restore() else []
    if not found:
        return
    with st.expander(_("Deleted runs"), icon=":material/delete:", key="train-deleted"):
        st.caption(_("Their files are removed when the server stops."))
        for one in found:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                ago = duration(time.time() - one.when)
                st.markdown(
                    f"**{plain(one.id)}** · " + _("deleted {time} ago").format(time=ago), width="stretch"
                )
                st.button(
                    _("Restore"),
                    icon=":material/undo:",
                    key=f"train-restore.{one.path.name}",
                    on_click=_restore,
                    args=(one.path,),
                )
                st.button(
                    _("Delete for good"),
                    icon=":material/delete_forever:",
                    key=f"train-remove.{one.path.name}",
                    on_click=_remove,
                    args=(one.path,),
                )


def _restore(path: Path) -> None:
    try:
        allowed.insist(allowed.to_restore())
        st.session_state[listing.CHOSEN] = runs.restore(path)
    except RnnvizError as error:
        st.session_state[_TROUBLE] = error
        return
    st.session_state.pop(UNDO, None)


def _remove(path: Path) -> None:
    try:
        allowed.insist(allowed.to_restore())
        runs.remove(path)
    except RnnvizError as error:
        st.session_state[_TROUBLE] = error
