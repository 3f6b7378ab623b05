"""What the stage can show: a run in its folder, or how a shipped model learned."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from rnnviz.errors import TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import replay as run_replay
from rnnviz.runs import visitors
from rnnviz.runs.folder import VISITOR, RunFolder
from rnnviz.runs.snapshots import Snapshot
from rnnviz.text import files
from rnnviz.ui.hosting import allowed
from rnnviz.ui.trouble import sentence

SHIPPED = "shipped:"
"""Prefix of the id of a shipped replay; no run's id begins with it."""


@dataclass(frozen=True)
class Subject:
    """One run, living or past: a `run`, or a shipped `replay`; `born` distinguishes it from a deleted
    namesake.
    """

    id: str
    name: str
    description: dict[str, Any]
    state: str = "shipped"
    reason: str = ""
    alive: bool = False
    born: float = 0.0
    run: runs.Run | None = None
    replay: run_replay.Replay | None = None

    @property
    def logged(self) -> bool:
        """Whether another program trains it, and logs it here."""
        return self.run is not None and self.run.logged

    @property
    def config(self) -> dict[str, Any]:
        """The recipe, by the names of TrainConfig."""
        return self.description.get("config") or {}

    def follow(self, after: int) -> tuple[list[dict[str, Any]], int]:
        """New events, and where to go on."""
        if self.replay is None:
            return runs.follow(self.id, after)
        return ([], after) if after else (self.replay.events, 1)

    def steps(self) -> list[int]:
        """The steps with a snapshot."""
        return runs.snapshots(self.id) if self.replay is None else list(self.replay.steps)

    def snapshot(self, step: int | None) -> Snapshot:
        """What the network made of the sentence to watch at a step; None: now."""
        return runs.snapshot(self.id, step) if self.replay is None else self.replay.snapshot(step)

    def mark(self) -> object:
        """Changes with each new snapshot; None before the first."""
        if self.run is None:
            return 1
        try:
            return RunFolder(self.run.path).newest.stat().st_mtime_ns
        except OSError:
            return None


def called(id: str) -> str:
    """The name of what has this id, without what tells a visitor's own run from others'."""
    name = id.removeprefix(SHIPPED).removeprefix(VISITOR)
    return name.replace(visitors.tag(who), "") if (who := allowed.whose()) else name


def find(id: str) -> Subject | None:
    """The subject of this id; None if it is gone."""
    try:
        if not id.startswith(SHIPPED):
            run = runs.find(id)
            if not allowed.to_see(run):
                return None
            reason = sentence(run.error) if run.error else ""
            return Subject(id, run.name, run.description, run.state, reason, run.alive, run.created, run=run)
        path = replays().get(id.removeprefix(SHIPPED))
        if path is None:
            return None
        replay = _read(str(path), path.stat().st_mtime_ns)
        return Subject(id, replay.name, replay.description, replay=replay)
    except (TrainingError, OSError):
        return None


def replays() -> dict[str, Path]:
    """The files of the replays that ship, by the model's name."""
    found = filter(files.is_shown, sorted(checkpoint.folders()[-1].glob(f"*{run_replay.SUFFIX}")))
    return {path.name.removesuffix(run_replay.SUFFIX): path for path in found}


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(path: str, changed: int) -> run_replay.Replay:
    return run_replay.read(path)
