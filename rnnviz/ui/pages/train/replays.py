"""How shipped models learned: files beside them, and the choice among them below the page's own runs."""

from pathlib import Path

import streamlit as st

from rnnviz.errors import TrainingError
from rnnviz.i18n import _
from rnnviz.networks import checkpoint
from rnnviz.networks.cells import CELLS
from rnnviz.runs import replay
from rnnviz.text import files
from rnnviz.ui.model_cache import FIRST
from rnnviz.ui.trouble import plain
from rnnviz.ui.words import titles

SHIPPED = "shipped:"
"""Prefix of the id of a replay; no run's id begins with it."""

STARTED = "train.started"  # of st.session_state: the id that is shown next, from its start


def found() -> dict[str, Path]:
    """The files by ids, in a newcomer's order: of the model that opens first, then by name."""
    paths = filter(files.is_shown, checkpoint.folders()[-1].glob(f"*{replay.SUFFIX}"))
    named = {path.name.removesuffix(replay.SUFFIX): path for path in paths}
    first = sorted(named, key=lambda name: (name not in FIRST.values(), name))
    return {SHIPPED + name: named[name] for name in first}


def read(id: str) -> replay.Replay:
    """The replay of this id. Raises TrainingError if it is damaged or there is none, OSError."""
    if (path := found().get(id)) is None:
        raise TrainingError("there is no replay {id!r}", id=id)
    return _read(path, path.stat().st_mtime_ns)


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(path: Path, changed: int) -> replay.Replay:
    return replay.read(path)


def choose() -> None:
    """The choice and the button that plays it; nothing where there is no replay."""
    if not (ids := list(found())):
        return
    about = {SHIPPED + info.path.stem: info for info in checkpoint.available()[0]}
    called = titles(about.values())
    which, play = st.columns([8, 3], vertical_alignment="bottom", gap="medium")
    id = which.selectbox(
        _("How shipped models learned"),
        ids,
        key="train-replay-id",
        persist_state="session",
        format_func=lambda id: called.get(name := id.removeprefix(SHIPPED), name),
        help=_("Its training, from random weights to the model that comes with the app."),
    )
    play.button(
        _("Play"), key="train-replay", icon=":material/replay:", width="stretch", on_click=_play, args=(id,)
    )
    if (info := about.get(id)) is not None:
        kind = CELLS[info.kind].label if info.kind in CELLS else info.kind
        told = (f"`{info.path.stem}`", plain(kind), plain(str(info.card.get("title") or "")))
        st.caption(" · ".join(filter(None, told)))


def _play(id: str) -> None:
    st.session_state[STARTED] = id
