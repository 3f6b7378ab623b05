"""TensorBoard: the figures of events.jsonl, by the same names and at the same steps.

python -m rnnviz train --corpus timemachine --name mine --log-to tensorboard
tensorboard --logdir runs              # reads runs/mine/tensorboard
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from rnnviz.errors import ConfigError, install
from rnnviz.training.folder import RunFolder

FIGURES: Mapping[str, tuple[str, ...]] = {
    "progress": ("train_perplexity", "characters_per_second", "gradient_norm", "clipped", "learning_rate"),
    "report": ("validation_perplexity",),
    "finished": ("held_out",),
}  # figures of each event

Take = Callable[[str, Mapping[str, Any]], None]


def check(kind: str) -> str:
    """`kind`, or "" for none. Raises ConfigError for another program, or if TensorBoard isn't installed."""
    if kind not in ("", "tensorboard"):
        raise ConfigError("figures can be logged to tensorboard; received {kind!r}", kind=kind)
    if kind and find_spec("tensorboard") is None:
        raise ConfigError("tensorboard is not installed; {command} brings it", command=install("tensorboard"))
    return kind


@contextlib.contextmanager
def opened(kind: str, folder: RunFolder) -> Iterator[Take]:
    """Yields a function that takes a run's events, with its settings at the start; for kind "" it does
    nothing.
    """
    with contextlib.ExitStack() as stack:
        writer: Any = None

        def take(event: str, values: Mapping[str, Any]) -> None:
            nonlocal writer
            if event == "start" and kind:
                from torch.utils.tensorboard import SummaryWriter

                at = int(values["resumed_at"])
                again = at + 1 if at else None  # repeated steps of a resumed run replace the old ones
                path = str(folder.path / "tensorboard")
                writer = stack.enter_context(SummaryWriter(path, purge_step=again, flush_secs=5))
                rows = (f"| {name} | {value} |" for name, value in values.items())
                writer.add_text("settings", "\n".join(("| setting | value |", "|---|---|", *rows)), at)
            for name in FIGURES.get(event, ()) if writer is not None else ():
                if values.get(name) is not None:
                    writer.add_scalar(name, values[name], values["step"])

        yield take
