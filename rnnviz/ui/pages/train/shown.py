"""What the page can show: a run in its folder, or how a shipped model learned."""

from dataclasses import dataclass
from typing import Any

from rnnviz.errors import TrainingError
from rnnviz.runs import api as runs
from rnnviz.runs import visitors
from rnnviz.runs.folder import VISITOR, RunFolder
from rnnviz.runs.replay import Replay
from rnnviz.runs.snapshots import Snapshot
from rnnviz.ui.hosting import allowed
from rnnviz.ui.pages.train import replays
from rnnviz.ui.pages.train.replays import SHIPPED


@dataclass(frozen=True)
class Shown:
    """One run, living or past: a `run`, or a shipped `replay`; `born` distinguishes it from a deleted
    namesake.
    """

    id: str
    name: str
    description: dict[str, Any]
    state: str = "shipped"
    alive: bool = False
    born: float = 0.0
    run: runs.Run | None = None
    replay: Replay | None = None

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


def find(id: str) -> Shown | None:
    """What has this id; None if it is gone, or not for this person."""
    try:
        if id.startswith(SHIPPED):
            replay = replays.read(id)
            return Shown(id, replay.name, replay.description, replay=replay)
        run = runs.find(id)
    except (TrainingError, OSError):
        return None
    if not allowed.to_see(run):
        return None
    return Shown(id, run.name, run.description, run.state, run.alive, run.created, run)


def called(id: str) -> str:
    """The name of what has this id, without what tells a visitor's own run from others'."""
    name, who = id.removeprefix(SHIPPED).removeprefix(VISITOR), allowed.whose()
    return name.replace(visitors.tag(who), "") if who else name
