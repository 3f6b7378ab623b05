"""Data-parallel training: torchrun starts workers, here or on several machines; PyTorch's own engine trains.

    torchrun --nproc-per-node=2 -m rnnviz train --corpus … --name …

Every worker holds the whole model and reads a share of the B streams. Worker 0 is the run
(rnnviz.training.process); the others get recipe, text and state from it, so any number of workers can resume
the run.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from rnnviz.errors import ConfigError, WorkerLostError
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.torch_model import State, pick_device
from rnnviz.text import corpora
from rnnviz.training import training_state
from rnnviz.training.process_settings import tune_process
from rnnviz.training.trainer import Trainer


def workers() -> int:
    """The number of processes that torchrun started for this run; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1


@contextmanager
def joined(name: str) -> Iterator[str]:
    """Meet the other workers, if any. Yields this worker's device: "auto" and "cuda" are a GPU for each."""
    device = pick_device(name)
    if workers() == 1:
        yield str(device)
        return
    if device == torch.device("cuda"):
        device = pick_device(f"cuda:{os.environ['LOCAL_RANK']}")
        torch.cuda.set_device(device)
    _or_lost(dist.init_process_group, "nccl" if device.type == "cuda" else "gloo")
    yield str(device)
    dist.destroy_process_group()  # not in a finally: an error ends the process, too


class SharedTrainer(Trainer):
    """A Trainer that reads its share of the streams and steps together with all other workers."""

    def differentiate(
        self, inputs: Tensor, labels: Tensor, carried: State | None, generator: torch.Generator
    ) -> tuple[Tensor, State]:
        """As in Trainer, for this worker's streams; then one message sums gradients and collects states."""
        rank, size, batch = dist.get_rank(), dist.get_world_size(), len(inputs)
        own = slice(batch * rank // size, batch * (rank + 1) // size)
        # The masks' seed has the step and the rank: workers differ, and a resumed run draws the same masks.
        masks = torch.Generator(self.device)
        masks.manual_seed((self.config.seed + self.step_index * size + rank) % 2**63)
        mine = None if carried is None else tuple(part[:, own].contiguous() for part in carried)
        loss, state = super().differentiate(inputs[own], labels[own], mine, masks)
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        torch._foreach_mul_([loss, *gradients], (own.stop - own.start) / batch)
        everyone = tuple(part.new_zeros(len(part), batch, part.shape[2]) for part in state)
        for whole, part in zip(everyone, state, strict=True):
            whole[:, own] = part
        # One message for everything: each all_reduce is a barrier, and has a latency.
        parts = [loss, *gradients, *everyone]
        message = torch.cat([part.float().flatten() for part in parts])
        _or_lost(dist.all_reduce, message)
        for part, piece in zip(parts, torch.split(message, [part.numel() for part in parts]), strict=True):
            part.copy_(piece.view_as(part))
        return loss, everyone


def lead(trainer: Trainer, text: str) -> None:
    """Start the other workers, if there are any, from the state of worker 0's trainer. Raises ConfigError for
    more workers than streams.
    """
    if (batch := trainer.streams.batch) < (size := workers()):
        raise ConfigError(
            "{batch} streams (batch, and no more than the text has room for) can't be shared among "
            "{size} workers; start fewer workers, or raise batch",
            batch=batch,
            size=size,
        )
    if size > 1:
        about = [trainer.config.to_json(), text, torch.get_num_threads(), *training_state.pack(trainer)]
        _or_lost(dist.broadcast_object_list, about, 0)


def help_train(name: str) -> int:
    """Train as a worker other than the first, until the run ends; returns the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # worker 0 gets them too, and saves before it exits
    try:
        with joined(name) as device:
            about: list[Any] = [None] * 5
            _or_lost(dist.broadcast_object_list, about, 0)
            config, text, threads, tensors, meta = about
            torch.set_num_threads(threads)
            tune_process()
            trainer = SharedTrainer(TrainConfig(**config), corpora.from_text(text), device=device)
            trainer.model.engine = "torch"
            training_state.unpack(trainer, tensors, meta)
            while not trainer.done:
                trainer.step()
    except WorkerLostError:
        return 1  # worker 0 reports it, if it is still alive
    return 0


def _or_lost(call: Callable[..., object], *arguments: object) -> None:
    try:
        call(*arguments)
    except RuntimeError as error:  # base class of torch.distributed's errors
        raise WorkerLostError(
            "another worker of this run ended, or can't be reached any more. What was saved last is kept: "
            "start torchrun again with --resume RUN_DIR, with as many workers as there are ({error})",
            error=str(error).splitlines()[0],
        ) from error
