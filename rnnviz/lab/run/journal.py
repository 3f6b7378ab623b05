"""The journal of a run in training: events, snapshots, the best model, the state.

    progress   every half second
    report     as often as the recipe says: validation perplexity, a fresh sample
    passed     once, when the validation perplexity first falls below the n-gram's
    state      at reports, at least every 15 seconds, and at the end
    diverged   once, where the loss is no longer a number, after progress of each of the last steps
    snapshot   with every progress, unless that would take more than 3 % of the time; kept at steps that lie
               evenly on a log scale, and at the last

The journal draws no random number and leaves the model alone: training gives the same numbers without it.
"""

import copy
import math
import time
from collections import deque
from dataclasses import fields
from typing import Any

import torch

from rnnviz.lab.engines.torch_model import CharModel
from rnnviz.lab.fit.step_report import MAX_LOSS_NATS
from rnnviz.lab.fit.trainer import StepReport, Trainer
from rnnviz.lab.run import event_log, queue, training_state
from rnnviz.lab.run.event_log import PROGRESS_S
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Watching
from rnnviz.networks import checkpoint, threads
from rnnviz.scoring.tracer import trace

LONG_RUN_S, SLOW_PROGRESS_S = 1200.0, 1.0
"""After LONG_RUN_S seconds of a run, seconds between two progress events: a night's events still fit into a
chart.
"""

SAVE_S = 15.0
"""Seconds between two saved states, at most."""

MIN_SAVE_S = 1.0
"""Seconds between two saved states, at least, where reports come faster."""

LOSS_DECAY = 0.6
"""The smoothed loss's decay per progress event."""

RECENT_STEPS = 64
"""The last steps of a diverged run that have a progress event each, at most: an explosion takes some ten."""


class Journal:
    """Keeps a run's folder up to date. Raises OSError or RnnvizError; TrainingError for divergence."""

    def __init__(
        self,
        folder: RunFolder,
        trainer: Trainer,
        watch_text: str,
        baselines: dict[str, Any],
    ) -> None:
        self.folder, self.trainer, self.watch_text, self.baselines = folder, trainer, watch_text, baselines
        self._passed = False
        self._unsaved_best: CharModel | None = None
        self._reset()
        self._smooth_loss = self._smooth_characters = 0.0
        self._began, self._began_characters = time.monotonic(), trainer.characters
        self._next_progress, self._saved_at = self._began + PROGRESS_S, self._began

    def begin(self, about: dict[str, Any]) -> None:
        """Log the start, or the resumption at the trainer's step, with `about`."""
        trainer, now = self.trainer, time.time()
        # The log as it reads once this start is in it: a "passed" beyond the step resumed at is dropped,
        # and comes again.
        events, _ = event_log.read(self.folder.events)
        event_log.merge_events(events, [{"event": "start", "resumed_at": trainer.step_index}])
        self._passed = any(e["event"] == "passed" for e in events)
        self._write("start", time=now, **about, **self.baselines, resumed_at=trainer.step_index)
        # The killed process may have been beyond the saved state: those steps are made again.
        for file in (
            *self.folder.snapshots.glob("*.safetensors"),
            *self.folder.moments.glob("*.safetensors"),
        ):
            if file.stem.isdigit() and int(file.stem) > trainer.step_index:
                file.unlink()
        self._watching = Watching(self.folder, trainer.total_steps)
        if self.watch_text and trainer.step_index == 0:
            self._snapshot(keep=True)

    def step(self, trainer: Trainer) -> None:
        """Record a step; call this after every step."""
        n = trainer.step_characters
        # On a processor as numbers: a tensor would keep the memory around it. A GPU isn't waited for.
        numbers = trainer.loss, trainer.norm
        now_known = map(float, numbers) if trainer.device.type == "cpu" else numbers
        self._recent.append((trainer.step_index, trainer.characters, *now_known))
        # Summed on the device, without waiting for a GPU.
        self._loss += trainer.loss * n
        self._clipped += trainer.norm > (trainer.config.clip or math.inf)
        self._characters += n
        self._steps += 1
        now = time.monotonic()
        keep = bool(self.watch_text) and (trainer.done or self._watching.is_kept_step(trainer.step_index))
        # Most steps end here, after additions on the device and a look at the clock.
        if now < self._next_progress and not keep and not trainer.done:
            return
        float(trainer.loss)  # waits for a GPU, whose work counts as training
        with trainer.paused():
            if keep:
                self._snapshot(keep=True)
            if now >= self._next_progress or trainer.done:
                self._progress()
                threads.share(queue.training_count(self.folder))  # side by side, each run takes one thread
                # Not when a report is due: a run resumed here would repeat it.
                if now - self._saved_at >= SAVE_S and not trainer.report_due and trainer.step_index > 1:
                    self.save()
                pause = PROGRESS_S if now - self._began < LONG_RUN_S else SLOW_PROGRESS_S
                self._next_progress = time.monotonic() + pause

    def diverged(self) -> None:
        """Record how the run diverged; call this when `Trainer.run` has raised DivergedError."""
        trainer = self.trainer
        for step, characters, loss, norm in self._recent:
            self._write(
                "progress",
                step=step,
                characters=characters,
                seconds=trainer.seconds,
                train_perplexity=math.exp(min(float(loss), MAX_LOSS_NATS)),
                gradient_norm=float(norm),
                learning_rate=trainer.optimiser.param_groups[0]["lr"],
                clip=trainer.config.clip,
            )
        self._write("diverged", step=trainer.step_index, characters=trainer.characters)
        if self.watch_text:
            self._snapshot(keep=True)

    def report(self, report: StepReport) -> None:
        """Record a report; call this after every report."""
        values = {f.name: getattr(report, f.name) for f in fields(report) if f.name != "model"}
        self._write("report", **values)
        ngram, reached = self.baselines.get("ngram"), report.validation_perplexity
        if not self._passed and ngram is not None and reached is not None and reached < ngram:
            self._passed = True
            self._write("passed", step=report.step, characters=report.characters, seconds=report.seconds)
        if report.best:
            self._unsaved_best = copy.deepcopy(report.model)  # written with the next state
        if time.monotonic() - self._saved_at >= MIN_SAVE_S or self.trainer.done:
            self.save()

    def save(self) -> None:
        """Save the best model and the state. Raises TrainingError if the run has diverged."""
        # The model before the state: after a kill in between, the model is at most newer than the state
        # says.
        if self._unsaved_best is not None:
            checkpoint.save(self._unsaved_best, self.folder.best)
            self._unsaved_best = None
        # A diverged run keeps its last state of finite numbers.
        self.trainer.check()
        training_state.save(self.folder, self.trainer)
        self._saved_at = time.monotonic()

    def _reset(self) -> None:
        self._recent = deque[tuple[Any, ...]](maxlen=RECENT_STEPS)  # step, characters read, loss, norm
        self._loss, self._clipped = torch.zeros(2, dtype=torch.float64, device=self.trainer.device)
        self._characters = self._steps = 0
        self._last_progress_seconds = self.trainer.seconds

    def _progress(self) -> None:
        trainer, config = self.trainer, self.trainer.config
        trainer.check()
        # Sums of losses and of characters decay alike: their ratio weighs every character of an event the
        # same.
        self._smooth_loss = LOSS_DECAY * self._smooth_loss + float(self._loss)
        self._smooth_characters = LOSS_DECAY * self._smooth_characters + self._characters
        # The time left is at this process's pace: a resumed run may have other neighbours than before.
        took, done = time.monotonic() - self._began, trainer.characters - self._began_characters
        self._write(
            "progress",
            time=time.time(),
            step=trainer.step_index,
            characters=trainer.characters,
            seconds=trainer.seconds,
            train_perplexity=math.exp(
                min(MAX_LOSS_NATS, self._smooth_loss / max(1.0, self._smooth_characters))
            ),
            characters_per_second=self._characters / max(1e-9, trainer.seconds - self._last_progress_seconds),
            gradient_norm=float(trainer.norm),
            clipped=None if config.clip is None else float(self._clipped) / max(1, self._steps),
            learning_rate=trainer.optimiser.param_groups[0]["lr"],
            clip=config.clip,
            eta=max(0, trainer.total_characters - trainer.characters) * took / max(1, done),
        )
        self._reset()
        if self.watch_text and self._watching.due and not trainer.done:  # at the end, step() has kept one
            self._snapshot()

    def _snapshot(self, *, keep: bool = False) -> None:
        trainer = self.trainer
        if keep:
            # Only the finished network shows which rows mean something: then these weights tell since when.
            path = self.folder.moment_file(trainer.step_index)
            checkpoint.save(trainer.model, path, half=True, card={})
        self._watching.look(
            lambda: trace(trainer.model, self.watch_text),
            step=trainer.step_index,
            characters=trainer.characters,
            keep=keep,
        )

    def _write(self, event: str, **values: Any) -> None:
        event_log.append(self.folder.events, {"event": event, **values})
