"""External runs: `follow` records any training loop as a run, which the Train page shows live.

The loop stays the caller's: this module computes no gradient, draws no random number and changes no model.
The folder is like that of rnnviz's own runs (rnnviz.lab.run.folder), without a state to resume from. Its
figures come from `log`, at most twice a second, and its snapshots from reading the sentence to watch.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rnnviz.checks import checked, received, renamed
from rnnviz.errors import ConfigError, ExportError, RnnvizError, TrainingError
from rnnviz.lab.fit.step_report import MAX_LOSS_NATS
from rnnviz.lab.run import event_log, runs, snapshots
from rnnviz.lab.run.event_log import PROGRESS_S
from rnnviz.lab.run.folder import Description, RunFolder, damage_reason
from rnnviz.networks import checkpoint
from rnnviz.networks.config import TrainConfig
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from rnnviz.text import corpora

# A training loop gives its model: one that rnnviz reads, a function that returns one, or None.


def current_model(model: Any) -> Any:
    """The model as it is now: `model`, or what it returns, called without drawing from the loop's random
    numbers.
    """
    if not callable(model) or hasattr(model, "vocabulary") or hasattr(model, "parameters"):
        return model
    make_model: Callable[[], Any] = model
    if "torch" not in sys.modules:
        return make_model()
    import torch

    with torch.random.fork_rng(devices=[]):  # making a network draws random weights
        return make_model()


def read_watch_text(model_source: Any, watch_text: str) -> Trace:
    """The trace of the sentence to watch by the current model. Raises ConfigError for a model that rnnviz
    can't read.
    """
    model = current_model(model_source)
    if not hasattr(model, "vocabulary"):
        raise ConfigError(
            "the sentence to watch needs a model that rnnviz can read: give one, or a function that returns "
            "it, such as lambda: rnnviz.adapt(gru, output, characters); received {received}",
            received=received(model),
        )
    return trace(model, watch_text)


@renamed(watched="watch_text")
@checked
def follow(
    name: str,
    model: Any = None,
    *,
    watch_text: str = "",
    text: str = "",
    total: int | None = None,
    log_to: object = None,
) -> Followed:
    """A training loop as a run, shown live on the Train page, for a `with` block; `log` reports its progress.

    name      the run's: letters, digits, '.', '_' and '-'; with -2, -3 … if taken
    model     a model that rnnviz reads, or a function without arguments that returns one as it is now, such
              as `lambda: rnnviz.adapt(gru, output, characters)`. Any other torch module only has its
              parameters counted. Or None
    watch_text  the sentence to watch, which such a model reads as training goes on
    text      the training text: a corpus's name, or a title. Runs on the same text can be compared
    total     all steps of the loop, or characters, if `log` is given those: for the remaining time
    log_to    of 2.0.0, which wrote the figures for TensorBoard too; refused

    The folder is made in RNNVIZ_RUNS, by default ./runs, when the block begins. The run is "finished" at the
    block's end, "stopped" after Stop on the page or Ctrl-C, and "failed" if an exception leaves the block. A
    model that rnnviz can save is kept at the end. Raises ConfigError for a name that can't be used, and for a
    sentence to watch without a readable model.

    >>> import os, tempfile
    >>> import rnnviz
    >>> os.environ["RNNVIZ_RUNS"] = tempfile.mkdtemp()
    >>> with rnnviz.follow("halving", total=8) as run:
    ...     for step in range(1, 9):
    ...         run.log(step, loss=4 * 0.5**step)
    >>> from rnnviz.lab.run import runs
    >>> runs.find(run.id).state
    'finished'
    """
    if log_to is not None:
        raise ConfigError("log_to is gone: a run's events.jsonl has every figure, one JSON object per line")
    for called, value in (("name", name), ("watch_text", watch_text), ("text", text)):
        if not isinstance(value, str):
            raise ConfigError("{name} is a text; received {value!r}", name=called, value=value)
    corpus_info = corpora.describe(text) if text in corpora.names() else None
    description = Description(
        name,
        TrainConfig(),
        corpus=text,
        title=corpus_info.title if corpus_info else text,
        language=corpus_info.language if corpus_info else "",
        watch_text=watch_text,
        logged=True,
    )
    if total is not None and (type(total) is not int or total < 1):
        raise ConfigError("total is a whole number of steps from 1; received {total!r}", total=total)
    if watch_text:
        read_watch_text(model, watch_text)  # refuse an unreadable model now
    return Followed(description, model, total)


class Followed:
    """A run that `follow` made: call `log` within its `with` block.

    id     the run's id, once the block has begun
    path   its folder
    """

    def __init__(self, description: Description, model: Any, total: int | None) -> None:
        self._description, self._model, self._total = description, model, total
        self._folder: RunFolder | None = None
        self._lock_stack = contextlib.ExitStack()
        self._losses: list[Any] = []  # of the calls since the newest event
        self._newest_call: dict[str, Any] = {"step": 0, "characters": 0}  # of the newest call
        self._logged_at = 0, 0.0  # characters and seconds of the newest event
        self._train: float | None = None  # perplexity over the calls of that event
        self._began = self._next = 0.0
        self._broken = False

    @property
    def id(self) -> str:
        """The run's id. Raises TrainingError before the block begins."""
        return self._in_block().id

    @property
    def path(self) -> Path:
        """The run's folder. Raises TrainingError before the block begins."""
        return self._in_block().path

    @property
    def stopping(self) -> bool:
        """Whether Stop was pressed on the page: leave the loop then, as nothing else ends it."""
        return self._in_block().stop.exists()

    def __enter__(self) -> Followed:
        folder = self._folder = runs.new_folder(self._description.name)
        self._lock_stack.enter_context(folder.take_lock())
        folder.begin(self._description)
        self._watching = snapshots.Watching(folder)
        self._began = self._next = time.monotonic()
        model = current_model(self._model)
        parameters = getattr(model, "parameters", None)  # a torch module has some
        count = sum(p.numel() for p in parameters()) if callable(parameters) else None
        about = {"parameters": count, "total_steps": self._total}
        if hasattr(model, "vocabulary"):
            about |= {"vocabulary": model.vocabulary.size, "uniform": model.vocabulary.size}
        self._write(
            "start", time=time.time(), pid=os.getpid(), resumed_at=0, total_characters=self._total, **about
        )
        self._snapshot(keep=True)
        return self

    def log(
        self,
        step: int,
        loss: Any,
        *,
        validation_loss: Any = None,
        characters: int | None = None,
        learning_rate: float | None = None,
        gradient_norm: Any = None,
        sample: str = "",
    ) -> None:
        """Report the loop's progress after a step.

        step             steps made; larger at every call
        loss             mean cross-entropy of the step in nats per character, a number or a tensor; the page
                         shows exp(loss), averaged over the calls since the last event
        validation_loss  the same for the validation text, if just measured
        characters       characters read so far; without it the page counts steps
        learning_rate, gradient_norm   current values; the norm before clipping
        sample           a text that the model has just written

        Writes twice a second, and where `validation_loss` or `sample` is given; other calls cost
        microseconds. A tensor's value is read only when writing, so that a GPU needn't wait. A loss that is
        NaN leaves a gap. Raises TrainingError outside the block, ConfigError for a step that doesn't go on.
        """
        self._in_block()
        if type(step) is not int or step <= self._newest_call["step"]:
            raise ConfigError(
                "step is the number of steps done and grows with every call; received {step!r} after {last}",
                step=step,
                last=self._newest_call["step"],
            )
        # Only kept here: reading its value would make every step wait for a GPU.
        self._losses.append(loss.detach() if hasattr(loss, "detach") else loss)
        self._newest_call = {
            "step": step,
            "characters": step if characters is None else characters,
            "counted": "steps" if characters is None else "characters",
            "learning_rate": learning_rate,
            "gradient_norm": gradient_norm,
        }
        measured = validation_loss is not None or bool(sample)
        if measured or time.monotonic() >= self._next:
            self._progress()
            self._next = time.monotonic() + PROGRESS_S
        if measured:
            figures = {"train_perplexity": self._train, "validation_perplexity": _exp(validation_loss)}
            at = {"step": step, "characters": self._newest_call["characters"], "seconds": self._logged_at[1]}
            self._write("report", **at, **figures, sample=str(sample))
        if self._watching.is_kept_step(step):
            self._snapshot(keep=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        folder = self._in_block()
        if self._losses:
            self._progress()
        self._snapshot(keep=True)
        with contextlib.suppress(RnnvizError, OSError):  # a network that is a Python function can't be saved
            model = current_model(self._model)
            if hasattr(model, "vocabulary"):
                checkpoint.save(model, folder.best)
        end: dict[str, Any] = {"event": "finished", "reason": ""}
        if isinstance(error, KeyboardInterrupt) or (error is None and folder.stop.exists()):
            end["event"] = "stopped"
        elif error is not None:
            failure = error
            if not isinstance(failure, RnnvizError):
                failure = TrainingError(
                    "the loop ended with {kind}: {error}", kind=type(error).__name__, error=str(error)[:300]
                )
            end = {"event": "failed", "reason": str(failure), "error": failure.to_json()}
        path = {"path": str(folder.best)} if folder.best.exists() else {}
        self._write(**end, time=time.time(), step=self._newest_call["step"], **path)
        self._lock_stack.close()

    def _in_block(self) -> RunFolder:
        if self._folder is None:
            raise TrainingError("a run that is followed begins with its block: with rnnviz.follow(…) as run")
        return self._folder

    def _progress(self) -> None:
        losses, self._losses = [float(loss) for loss in self._losses], []
        self._train = _exp(sum(losses) / len(losses))
        characters, seconds = self._newest_call["characters"], time.monotonic() - self._began
        # The time between two events may be 0, as where a step reports and ends the block.
        done, elapsed = characters - self._logged_at[0], max(1e-9, seconds - self._logged_at[1])
        self._logged_at = characters, seconds
        remaining = None if self._total is None else max(0, self._total - characters)
        norm = self._newest_call["gradient_norm"]
        values = {
            **self._newest_call,
            "gradient_norm": None if norm is None else float(norm),
            "time": time.time(),
            "seconds": seconds,
            "train_perplexity": self._train,
            "characters_per_second": done / elapsed,
            "eta": None if remaining is None else remaining * seconds / max(1, characters),
        }
        self._write("progress", **values)
        if self._watching.due:
            self._snapshot()

    def _snapshot(self, *, keep: bool = False) -> None:
        """Read the sentence to watch into the newest snapshot; with `keep`, into the replay too."""
        watch_text, newest = self._description.watch_text, self._newest_call
        if not watch_text or self._broken:
            return
        with self._disk():
            self._watching.look(
                lambda: read_watch_text(self._model, watch_text),
                step=newest["step"],
                characters=newest["characters"],
                keep=keep,
            )

    def _write(self, event: str, **values: Any) -> None:
        if self._broken:
            return
        with self._disk():
            event_log.append(self._in_block().events, {"event": event, **values})

    @contextlib.contextmanager
    def _disk(self) -> Any:
        """Catch errors of writing, which must not end the caller's loop: warn once, and write no more."""
        try:
            yield
        except (OSError, ExportError) as error:
            self._broken = True
            warnings.warn(
                f"the run in {self._in_block().path} is no longer written down: {damage_reason(error)}",
                RuntimeWarning,
                stacklevel=4,
            )


def _exp(loss: Any) -> float | None:
    value = math.nan if loss is None else float(loss)
    return None if math.isnan(value) else math.exp(min(MAX_LOSS_NATS, value))
