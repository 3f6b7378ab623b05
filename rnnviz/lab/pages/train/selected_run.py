"""The run in view: one in its folder, or the replay of a shipped model's training."""

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz.errors import TrainingError
from rnnviz.i18n import _
from rnnviz.lab.run import replay, runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.replay import Replay
from rnnviz.lab.run.snapshots import Snapshot
from rnnviz.networks import checkpoint
from rnnviz.page.formatting import titles
from rnnviz.page.initial_data import FIRST_MODELS
from rnnviz.text import files
from rnnviz.ui.shell.fields import Field

SHIPPED = "shipped:"
"""The prefix of a replay's id; no run's id begins with it."""


def _current_id(id: str) -> str:
    """An address's id; of the replay of a model that was replaced, the id of its successor's."""
    return SHIPPED + checkpoint.current_name(run_name(id)) if id.startswith(SHIPPED) else id


RUN: Field[str | None] = Field("run", address="run", parse=_current_id)
"""The id of the run or replay in view."""

REPLAY: Field[str] = Field("train-replay-id")
"""The id of the replay that the picker shows, whichever is in view."""

_STARTED = "train.started"  # a key of st.session_state: the id started last, and the number of that start
_starts = count(1)


@dataclass(frozen=True)
class SelectedRun:
    """A `run`, or a shipped `replay`. `created`, a run's Unix time, tells it from a deleted namesake."""

    id: str
    description: dict[str, Any]
    state: str = "shipped"
    alive: bool = False
    created: float = 0.0
    run: runs.Run | None = None
    replay: Replay | None = None

    @property
    def config(self) -> dict[str, Any]:
        """The recipe, by the names of TrainConfig."""
        return self.description.get("config") or {}

    def tail_log(self, after: int) -> tuple[list[dict[str, Any]], int]:
        """The events after position `after`, and the position for the next call."""
        if self.replay is None:
            return runs.tail_log(self.id, after)
        # A replay has all its events at once: position 0 gives them, a later one none.
        return ([], after) if after else (self.replay.events, 1)

    def steps(self) -> list[int]:
        """The steps with a snapshot."""
        return runs.snapshots(self.id) if self.replay is None else list(self.replay.steps)

    def snapshot(self, step: int | None) -> Snapshot:
        """The snapshot at a step; None: the newest. Raises TrainingError if it can't be read."""
        return runs.snapshot(self.id, step) if self.replay is None else self.replay.snapshot(step)

    def snapshot_version(self) -> object:
        """A value that changes with each new snapshot; None before the first."""
        if self.run is None:
            return 1
        try:
            return RunFolder(self.run.path).newest_snapshot.stat().st_mtime_ns
        except OSError:
            return None


def find(id: str) -> SelectedRun | None:
    """The run or replay of this id; None if it is gone."""
    try:
        if id.startswith(SHIPPED):
            path = replays()[id]
            shipped = _read(path, path.stat().st_mtime_ns)
            return SelectedRun(id, shipped.description, replay=shipped)
        run = runs.find(id)
    except (TrainingError, OSError, KeyError):
        return None
    return SelectedRun(id, run.description, run.state, run.alive, run.created, run)


def run_name(id: str) -> str:
    """The name of a run or replay: its id without the prefix."""
    return id.removeprefix(SHIPPED)


def replays() -> dict[str, Path]:
    """The replays' files by id: first those of the models that a newcomer sees first, then by name."""
    # The last folder of models has those that come with the app.
    paths = filter(files.is_shown, checkpoint.folders()[-1].glob(f"*{replay.SUFFIX}"))
    named = {path.name.removesuffix(replay.SUFFIX): path for path in paths}
    first = sorted(named, key=lambda name: (name not in FIRST_MODELS.values(), name))
    return {SHIPPED + name: named[name] for name in first}


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(path: Path, changed: int) -> Replay:
    # `changed` only tells the cache that the file was replaced.
    return replay.read(path)


def choose_replay() -> None:
    """Draw the choice of a replay and the button that plays it; nothing without replays."""
    if not (ids := list(replays())):
        return
    title_by_name = titles(checkpoint.available()[0])
    model_column, play = st.columns([8, 3], vertical_alignment="bottom", gap="medium")
    with model_column:
        id = REPLAY.choose(
            _("How shipped models learnt"),
            {id: title_by_name.get(run_name(id), run_name(id)) for id in ids},
            ids[0],
            draw=st.selectbox,
            help=_("Its training, from random weights to the model that comes with the app."),
        )
    play.button(
        _("Play"),
        key="train-replay",
        icon=":material/replay:",
        width="stretch",
        on_click=show_next,
        args=(id,),
    )


def show_next(id: str) -> None:
    """Show this run or replay next, from its start: a new number makes the view play."""
    RUN.request(id)
    st.session_state[_STARTED] = id, next(_starts)


def start_number(id: str) -> int:
    """The number of the newest start if it was this id's, else 0."""
    last, number = st.session_state.get(_STARTED, ("", 0))
    return int(number) if last == id else 0
