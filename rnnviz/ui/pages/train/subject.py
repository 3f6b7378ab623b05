"""What can be shown on the stage: a run in its folder, or the story that ships with a model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import streamlit as st

from rnnviz.errors import TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import story as run_story
from rnnviz.runs.snapshots import ProbeTrace
from rnnviz.ui.trouble import sentence

SHIPPED = "shipped:"
"""What the id of a shipped story begins with; no run is called so."""


class Subject(Protocol):
    """One run, living or past."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def alive(self) -> bool: ...
    @property
    def description(self) -> dict[str, Any]: ...
    @property
    def born(self) -> float: ...

    def follow(self, after: int) -> tuple[list[dict[str, Any]], int]:
        """New events, and where to go on."""

    def steps(self) -> list[int]:
        """The steps with a snapshot."""

    def snapshot(self, step: int | None) -> ProbeTrace:
        """The probe's trace at a step, or now."""

    def mark(self) -> object:
        """Changes when there is a newer trace."""


@dataclass(frozen=True)
class OfRun:
    """A run of rnnviz.runs, as it was when it was listed."""

    run: runs.Run

    @property
    def id(self) -> str:
        return self.run.id

    @property
    def name(self) -> str:
        return self.run.name

    @property
    def state(self) -> str:
        return self.run.state

    @property
    def reason(self) -> str:
        return sentence(self.run.error) if self.run.error else ""

    @property
    def alive(self) -> bool:
        return self.run.alive

    @property
    def description(self) -> dict[str, Any]:
        return self.run.description

    @property
    def born(self) -> float:
        return self.run.created

    def follow(self, after: int) -> tuple[list[dict[str, Any]], int]:
        return runs.follow(self.run.id, after)

    def steps(self) -> list[int]:
        return runs.snapshots(self.run.id)

    def snapshot(self, step: int | None) -> ProbeTrace:
        return runs.snapshot(self.run.id, step)

    def mark(self) -> object:
        try:
            return (self.run.path / "probe.safetensors").stat().st_mtime_ns
        except OSError:
            return None


@dataclass(frozen=True)
class OfModel:
    """The story beside a model's file."""

    story: run_story.Story

    @property
    def id(self) -> str:
        return SHIPPED + self.story.name

    @property
    def name(self) -> str:
        return self.story.name

    @property
    def state(self) -> str:
        return "shipped"

    @property
    def reason(self) -> str:
        return ""

    @property
    def alive(self) -> bool:
        return False

    @property
    def description(self) -> dict[str, Any]:
        return self.story.description

    @property
    def born(self) -> float:
        return 0.0

    def follow(self, after: int) -> tuple[list[dict[str, Any]], int]:
        return ([], after) if after else (self.story.events, 1)

    def steps(self) -> list[int]:
        return list(self.story.steps)

    def snapshot(self, step: int | None) -> ProbeTrace:
        return self.story.snapshot(step)

    def mark(self) -> object:
        return 1


def find(id: str) -> Subject | None:
    """The subject of this id; None where it is gone."""
    try:
        if id.startswith(SHIPPED):
            path = stories().get(id.removeprefix(SHIPPED))
            return OfModel(_read(str(path), path.stat().st_mtime_ns)) if path else None
        return OfRun(runs.find(id))
    except (TrainingError, OSError):
        return None


def stories() -> dict[str, Path]:
    """The files of the stories that stand beside models, by the model's name."""
    found: dict[str, Path] = {}
    for folder in checkpoint.folders():
        for path in sorted(folder.glob(f"*{run_story.SUFFIX}")) if folder.is_dir() else []:
            found.setdefault(path.name.removesuffix(run_story.SUFFIX), path)
    return found


@st.cache_resource(max_entries=4, show_spinner=False)
def _read(path: str, changed: int) -> run_story.Story:
    return run_story.read(path)
