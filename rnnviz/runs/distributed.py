"""Data-parallel training on several processes or machines, with torch.distributed.

    torchrun --nproc-per-node=2 -m rnnviz train --corpus … --name …

Every worker holds the whole model and reads a share of the B streams. Gradients are summed, weighted by the
workers' shares of the characters: the step is that of one process with all B streams. The final states travel
in the same message, so any number of workers can resume the run.

Worker 0 is the run (rnnviz.runs.process); the others get text, recipe and state from it. Dropout masks differ
between workers and follow from seed, step and worker, so that a resumed run draws the same.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from safetensors.torch import load as from_bytes
from safetensors.torch import save as to_bytes
from torch import Tensor

from rnnviz.errors import ConfigError, WorkerLostError
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.torch_model import State, pick_device
from rnnviz.runs import training_state
from rnnviz.text import corpora
from rnnviz.training.trainer import SplittableText, Trainer


def workers() -> int:
    """How many processes torchrun started for this run; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1


def own_device(name: str) -> str:
    """This worker's device: where `name` allows GPUs, one for each of the machine's workers."""
    device = pick_device(name)
    if workers() > 1 and device.type == "cuda" and ":" not in name:
        local = int(os.environ.get("LOCAL_RANK", "0"))
        if local >= torch.cuda.device_count():
            raise ConfigError(
                "this machine has {device_count} GPUs and more workers than that; "
                "start one worker for each, or train with --device cpu",
                device_count=torch.cuda.device_count(),
            )
        return f"cuda:{local}"
    return str(device)


@contextmanager
def joined(device: str) -> Iterator[None]:
    """Join the process group while open; does nothing for a single worker."""
    if workers() == 1:
        yield
        return
    kind = pick_device(device).type
    if kind == "cuda":
        torch.cuda.set_device(device)
    with _or_lost():
        dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


@contextmanager
def _or_lost() -> Iterator[None]:
    """Turn torch's error for a broken connection into a WorkerLostError."""
    try:
        yield
    except RuntimeError as error:  # base class of torch.distributed's errors
        raise WorkerLostError(
            "another worker of this run ended, or can't be reached any more. What was saved last is kept: "
            "start torchrun again with --resume RUN_DIR, with as many workers as there are ({error})",
            error=str(error).splitlines()[0],
        ) from error


class SharedTrainer(Trainer):
    """A Trainer that reads its share of the streams and steps with all the others."""

    def __init__(
        self, config: TrainConfig, corpus: SplittableText, *, device: str = "auto", name: str = ""
    ) -> None:
        super().__init__(config, corpus, device=device, name=name)
        self.rank, self.size, batch = dist.get_rank(), dist.get_world_size(), self.streams.batch
        if batch < self.size:
            raise ConfigError(
                "{batch} streams (batch, and no more than the text has room for) can't be shared among "
                "{size} workers; start fewer workers, or raise batch",
                batch=batch,
                size=self.size,
            )
        self.own = slice(batch * self.rank // self.size, batch * (self.rank + 1) // self.size)
        self.masks = torch.Generator(self.device)
        self._asked = False

    def stop(self) -> None:
        """Ask all workers to end, after the step in which they learn of it."""
        self._asked = True

    def differentiate(
        self, inputs: Tensor, labels: Tensor, carried: State | None, generator: torch.Generator
    ) -> tuple[Tensor, State]:
        """As in Trainer, for its own streams, then summed over the workers."""
        batch, own = self.streams.batch, self.own
        self.masks.manual_seed((self.config.seed + self.step_index * self.size + self.rank) % 2**63)
        mine = None if carried is None else tuple(part[:, own].contiguous() for part in carried)
        loss, state = super().differentiate(inputs[own], labels[own], mine, self.masks)
        share = (own.stop - own.start) / batch
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        everyone = [part.new_zeros(part.shape[0], batch, part.shape[2]) for part in state]
        for whole, part in zip(everyone, state, strict=True):
            whole[:, own] = part
        asked = loss.new_full((1,), float(self._asked))
        parts = [*(g * share for g in gradients), loss * share, asked, *everyone]
        message = torch.cat([part.float().flatten() for part in parts])
        with _or_lost():
            dist.all_reduce(message)
        pieces = torch.split(message, [part.numel() for part in parts])
        for gradient, piece in zip(gradients, pieces, strict=False):
            gradient.copy_(piece.view_as(gradient))
        if pieces[len(gradients) + 1].item():
            self.stopping = True
        states = pieces[len(gradients) + 2 :]
        return pieces[len(gradients)][0].clone(), tuple(
            piece.view_as(whole).to(whole.dtype, copy=True)
            for piece, whole in zip(states, everyone, strict=True)
        )


def trainer(config: TrainConfig, corpus: corpora.Corpus, *, device: str, name: str) -> Trainer:
    """Worker 0's trainer, after sending the others the recipe and text; a plain one without others."""
    if workers() == 1:
        return Trainer(config, corpus, device=device, name=name)
    about = {"config": config.to_json(), "threads": torch.get_num_threads(), "text": corpus.text}
    _broadcast(json.dumps(about).encode(), device)
    return SharedTrainer(config, corpus, device=device, name=name)


def go_together(trainer: Trainer) -> None:
    """Start all workers from the state of worker 0's trainer."""
    if isinstance(trainer, SharedTrainer):
        tensors, meta = training_state.pack(trainer)
        _broadcast(to_bytes(tensors), str(trainer.device))
        _broadcast(json.dumps(meta).encode(), str(trainer.device))


def help_train(device: str, prepare: Callable[[], None]) -> int:
    """Train as a worker other than the first; returns the exit status. `prepare` sets up the process."""
    device = own_device(device)
    try:
        with joined(device):
            about: dict[str, Any] = json.loads(_broadcast(None, device))
            torch.set_num_threads(about["threads"])
            prepare()
            text = corpora.from_text(about["text"])
            trainer = SharedTrainer(TrainConfig(**about["config"]), text, device=device)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: trainer.stop())
            tensors = from_bytes(_broadcast(None, device))
            training_state.unpack(trainer, tensors, json.loads(_broadcast(None, device)))
            while not trainer.done and not trainer.stopping:
                trainer.step()
    except WorkerLostError:
        return 1  # worker 0 reports it, if it survives
    return 0


def _broadcast(data: bytes | None, device: str) -> bytes:
    """Worker 0's `data`, on every worker."""
    length = torch.tensor([0 if data is None else len(data)], device=device)
    with _or_lost():
        dist.broadcast(length, 0)
    told = torch.empty(int(length), dtype=torch.uint8, device=device)
    if data is not None:
        told.copy_(torch.frombuffer(bytearray(data), dtype=torch.uint8))
    with _or_lost():
        dist.broadcast(told, 0)
    return told.cpu().numpy().tobytes()
