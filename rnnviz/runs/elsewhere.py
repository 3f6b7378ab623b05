"""The figures of a run, written for another program to show too: Trackio, or TensorBoard.

    python -m rnnviz train --corpus timemachine --name mine --log-to tensorboard
    tensorboard --logdir runs              # reads runs/mine/tensorboard
    trackio show --project rnnviz          # after --log-to trackio, which keeps them in TRACKIO_DIR

The figures are those of events.jsonl, by the same names and at the same steps. Both write files on this
machine; Trackio sends them elsewhere only where its own settings (TRACKIO_SERVER_URL, TRACKIO_SPACE_ID) say
so. A resumed run goes on where it is: TensorBoard drops what comes twice, Trackio keeps both.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from rnnviz.errors import ConfigError, install
from rnnviz.runs.folder import RunFolder

KINDS = ("trackio", "tensorboard")

FIGURES: Mapping[str, tuple[str, ...]] = {
    "progress": ("train_perplexity", "characters_per_second", "gradient_norm", "clipped", "learning_rate"),
    "report": ("validation_perplexity",),
    "finished": ("held_out",),
}
"""What is handed on, by the event that has it."""

ABOUT = (
    "uniform",
    "unigram",
    "ngram",
    "ngram_order",
    "parameters",
    "device",
    "total_steps",
    "train_characters",
)
"""Fields of the start that say what the curves are to be compared with."""

PROJECT = "rnnviz"
"""Trackio's name for all runs together."""

Figures = dict[str, float]
Add = Callable[[Figures, int], None]


class Elsewhere:
    """Takes a run's events; hands their figures on once the run has begun, by `begin`."""

    def __init__(self, kind: str, folder: RunFolder) -> None:
        self.kind, self.folder = kind, folder
        self._stack = contextlib.ExitStack()
        self._add: Add | None = None
        self._step = 0

    def take(self, event: str, values: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """One event. `settings` are written down with a run's start."""
        if event == "start":
            about = {**settings, **{name: values.get(name) for name in ABOUT}}
            begin = {"trackio": _trackio, "tensorboard": _tensorboard}[self.kind]
            resumed = int(values.get("resumed_at") or 0)
            self._add = self._stack.enter_context(begin(self.folder, about, resumed))
        self._step = int(values.get("step") or self._step)
        found = {name: float(values[name]) for name in FIGURES.get(event, ()) if values.get(name) is not None}
        if found and self._add is not None:
            self._add(found, self._step)

    def close(self) -> None:
        """Write what is still held back."""
        self._add = None
        self._stack.close()


def check(kind: str) -> str:
    """`kind`, or "" for none. Raises ConfigError for another program, or one that isn't installed.

    >>> check("")
    ''
    """
    if kind and kind not in KINDS:
        raise ConfigError(
            "figures can be logged to {kinds}; received {kind!r}", kinds=" or ".join(KINDS), kind=kind
        )
    if kind and find_spec(kind) is None:
        raise ConfigError("{kind} is not installed; {command} brings it", kind=kind, command=install(kind))
    return kind


@contextlib.contextmanager
def opened(kind: str, folder: RunFolder) -> Iterator[Elsewhere | None]:
    """What takes a run's events, while the run goes on; None for no `kind`. Raises what `check` raises."""
    if not check(kind):
        yield None
        return
    found = Elsewhere(kind, folder)
    try:
        yield found
    finally:
        found.close()


@contextlib.contextmanager
def _tensorboard(folder: RunFolder, about: Mapping[str, Any], resumed_at: int) -> Iterator[Add]:
    from torch.utils.tensorboard import SummaryWriter

    again = resumed_at + 1 if resumed_at else None  # what a resumed run repeats
    with SummaryWriter(str(folder.path / "tensorboard"), purge_step=again, flush_secs=5) as writer:
        rows = (f"| {name} | {value} |" for name, value in about.items() if value is not None)
        table = "\n".join(("| setting | value |", "|---|---|", *rows))
        writer.add_text("settings", table, resumed_at)

        def add(figures: Figures, step: int) -> None:
            for name, value in figures.items():
                writer.add_scalar(name, value, step)

        yield add


@contextlib.contextmanager
def _trackio(folder: RunFolder, about: Mapping[str, Any], resumed_at: int) -> Iterator[Add]:
    import trackio

    # It prints as it begins and ends; standard output has the command's own result.
    with contextlib.redirect_stdout(sys.stderr):
        run: Any = trackio.init(
            project=PROJECT,
            name=folder.id,
            config=dict(about),
            resume="allow" if resumed_at else "never",
            embed=False,
            auto_log_gpu=False,
            auto_log_cpu=False,
        )
    try:
        yield lambda figures, step: run.log(figures, step=step)
    finally:
        with contextlib.redirect_stdout(sys.stderr):
            run.finish()
