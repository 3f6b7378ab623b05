"""Training: truncated backpropagation through time over contiguous streams.

The training text is cut into B streams that run side by side. Each step reads
the next `steps` characters of every stream, carries the state over from the
step before, and lets gradients flow back to the beginning of these `steps`
characters and no further (the state is detached): regular truncation. Streams
begin at a new place every epoch, with the start symbol and a zero state, so
that the model learns what to expect before it has read anything.

`train` yields a report per interval. It knows no progress bar, no page and no
folder: who runs it saves what `Trainer.state` returns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.config import TrainConfig
from rnnviz.errors import CorpusError, TrainingError
from rnnviz.model import CharModel, Dropout, State, pick_device
from rnnviz.sampling import sample
from rnnviz.scoring import perplexity
from rnnviz.vocabulary import Vocabulary


class SplitText(Protocol):
    """The three contiguous parts of a text."""

    @property
    def train(self) -> str: ...
    @property
    def validation(self) -> str: ...


class SplittableText(Protocol):
    """What can be trained on: see rnnviz.corpora.Corpus."""

    def split(self) -> SplitText: ...


@dataclass(frozen=True)
class StepReport:
    """Where a run stands.

    `train_perplexity` is over the characters read since the last report, with
    dropout on; `held_out_perplexity` is over the validation text by the rule
    of `rnnviz.scoring`, None where the recipe trains on it too. `gradient_norm`
    is before clipping. `best` says that no earlier report was better. `model`
    is the model being trained, as it is now: save it or trace with it before
    asking for the next report.
    """

    step: int
    total_steps: int
    epoch: float
    characters: int
    train_perplexity: float
    held_out_perplexity: float | None
    characters_per_second: float
    gradient_norm: float
    learning_rate: float
    seconds: float
    best: bool
    sample: str
    model: CharModel = field(repr=False, compare=False)


def fast_bfloat16(device: torch.device) -> bool:
    """Whether bfloat16 products run faster than float32 on this device.

    Every CUDA device that torch supports it on, and processors with AVX512-BF16
    or AMX. Elsewhere torch emulates it: 30 times slower, measured on AVX2.
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    supported = (getattr(torch.cpu, f"_is_{f}_supported", None) for f in ("avx512_bf16", "amx_tile"))
    return any(check() for check in supported if check is not None)


class Streams:
    """The ids of a text as B contiguous streams, read `steps` characters at a time."""

    def __init__(self, ids: Tensor, batch: int, steps: int, start: int) -> None:
        self.ids, self.steps, self.start = ids, steps, start
        self.batch = max(1, min(batch, len(ids) // (2 * steps)))
        self.slack = min(steps, len(ids) // 8)  # how far an epoch's beginning may move
        self.length = (len(ids) - self.slack) // self.batch
        self.chunks = math.ceil(self.length / steps)

    def chunk(self, index: int, offset: int) -> tuple[Tensor, Tensor]:
        """Inputs and labels (B, ≤ steps): the same characters, labels one further on."""
        span = self.batch * self.length
        labels = self.ids[offset : offset + span].view(self.batch, self.length)
        begin, end = index * self.steps, min((index + 1) * self.steps, self.length)
        first = labels[:, begin - 1 : begin] if begin else torch.full_like(labels[:, :1], self.start)
        return torch.cat([first, labels[:, begin : end - 1]], dim=1), labels[:, begin:end]


class Trainer:
    """One run: model, optimiser, position in the text and random numbers, all of which can be saved.

    On a CPU, a run restored from `state` goes on to the same numbers, bit for
    bit, as one that was never interrupted.
    """

    def __init__(
        self, config: TrainConfig, corpus: SplittableText, *, device: str = "auto", name: str = ""
    ) -> None:
        split = corpus.split()
        together = config.train_on == "train+validation"
        self.text = split.train + split.validation if together else split.train
        self.validation = "" if together else split.validation
        if len(self.text) < 2:
            raise CorpusError(f"training needs at least 2 characters; received {len(self.text)}")
        self.config, self.device = config, pick_device(device)
        vocabulary = Vocabulary.from_text(self.text, min_count=config.min_count)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.model = CharModel(config.model_config(vocabulary.size), vocabulary, name=name).to(
                self.device
            )
        ids = torch.from_numpy(vocabulary.encode(self.text)).to(self.device)
        self.streams = Streams(ids, config.batch, config.steps, vocabulary.start)
        self.total_steps = max(1, round(config.epochs * self.streams.chunks))
        matrices = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimiser = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": config.weight_decay},
                {"params": others, "weight_decay": 0.0},
            ],
            lr=config.learning_rate,
            betas=(0.9, 0.99),
            fused=True,
        )
        self.dropout = Dropout(config.dropout_embedding, config.dropout_weight, config.dropout_output)
        self.generator = torch.Generator(self.device).manual_seed(config.seed)
        self.bfloat16 = config.precision == "bfloat16" or (
            config.precision == "auto" and fast_bfloat16(self.device)
        )
        self.step_index = 0
        self.characters = 0
        self.offset = 0
        self.best = math.inf
        self.seconds = 0.0
        self.carried: State | None = None
        self.stopping = False

    def learning_rate(self) -> float:
        """The learning rate of the coming step: warm-up, then a cosine."""
        warm = max(1, self.total_steps // 50)
        if self.step_index < warm:
            return self.config.learning_rate * (self.step_index + 1) / warm
        through = (self.step_index - warm) / max(1, self.total_steps - warm)
        return self.config.learning_rate * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * through)))

    def step(self) -> tuple[Tensor, Tensor, int]:
        """One optimiser step. Returns the mean loss in nats, the gradient norm and the characters read."""
        index = self.step_index % self.streams.chunks
        if index == 0:  # a new epoch: streams begin elsewhere, with nothing read
            where = torch.randint(self.streams.slack + 1, (1,), generator=self.generator, device=self.device)
            self.offset, self.carried = int(where), None
        inputs, labels = self.streams.chunk(index, self.offset)
        rate = self.learning_rate()
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bfloat16):
            logits, state = self.model(inputs, self.carried, dropout=self.dropout, generator=self.generator)
        loss = F.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip, foreach=True)
        self.optimiser.step()
        # The fused optimiser writes in place without saying so, and rnnviz.stepping keeps copies of weights.
        torch.autograd.graph.increment_version(list(self.model.parameters()))
        self.carried = tuple(s.detach() for s in state)
        self.step_index += 1
        self.characters += labels.numel()
        return loss.detach(), norm, labels.numel()

    def stop(self) -> None:
        """Ask `run` to end after the step it is in, from a signal handler or another thread."""
        self.stopping = True

    def run(
        self, *, probe: str = "", sample_length: int = 200, on_step: Callable[[Trainer], None] | None = None
    ) -> Iterator[StepReport]:
        """Train to the end, or until `stop`; a report every `evaluate_every` steps and one after the last.

        `on_step` is called after every step, for a progress bar. Raises
        TrainingError when the loss is no longer a number.
        """
        every = self.config.evaluate_every or self.streams.chunks
        while self.step_index < self.total_steps:
            began, count = time.perf_counter(), 0
            # Summed where it is, so that a GPU need not wait at each step; in place: a tensor that outlives
            # its step keeps the allocator from using again what lies around it (gigabytes, over an epoch).
            total = torch.zeros((), dtype=torch.float64, device=self.device)
            stop = min(self.total_steps, (self.step_index // every + 1) * every)
            while self.step_index < stop and not self.stopping:
                loss, norm, n = self.step()
                total += loss * n
                count += n
                if on_step is not None:
                    on_step(self)
            if not count:
                return
            took = time.perf_counter() - began
            self.seconds += took
            losses = float(total)
            if not math.isfinite(losses):
                raise TrainingError(
                    f"the loss is no longer a number at step {self.step_index:,}: the run diverged. Lower "
                    f"learning_rate (now {self.config.learning_rate:g}) or clip (now {self.config.clip:g})"
                )
            if self.step_index < stop:  # asked to stop between two reports
                return
            held_out = perplexity(self.model, text=self.validation).perplexity if self.validation else None
            mean = losses / count
            criterion = math.log(held_out) if held_out is not None else -float(self.step_index)
            best, self.best = criterion < self.best, min(self.best, criterion)
            yield StepReport(
                self.step_index,
                self.total_steps,
                self.step_index / self.streams.chunks,
                self.characters,
                math.exp(min(mean, 700.0)),
                held_out,
                count / took,
                float(norm),
                self.optimiser.param_groups[0]["lr"],
                self.seconds,
                best,
                sample(self.model, probe, sample_length, temperature=0.8, seed=self.config.seed)
                if sample_length
                else "",
                self.model,
            )

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Tensors and a JSON object from which `restore` goes on."""
        tensors = {f"model.{k}": v.detach().cpu() for k, v in self.model.state_dict().items()}
        for i, slots in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{i}.{k}": v.detach().cpu() for k, v in slots.items()}
        for i, part in enumerate(self.carried or ()):
            tensors[f"carried.{i}"] = part.cpu()
        tensors["generator"] = self.generator.get_state().cpu()
        return {k: v.clone().contiguous() for k, v in tensors.items()}, {
            "config": self.config.to_json(),
            "step": self.step_index,
            "characters": self.characters,
            "offset": self.offset,
            "best": None if math.isinf(self.best) else self.best,
            "seconds": self.seconds,
            "bfloat16": self.bfloat16,
            "vocabulary": self.model.vocabulary.to_json(),
        }

    def restore(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> None:
        """Go on where `state` was taken. Raises TrainingError if text or recipe are not the same."""
        if meta["vocabulary"] != self.model.vocabulary.to_json():
            raise TrainingError(
                "the saved run was trained on another text (its characters differ); start a new run"
            )
        if TrainConfig(**meta["config"]) != self.config:
            raise TrainingError(
                "the saved run has another recipe; resume it with its own, or start a new run"
            )
        model = {k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")}
        self.model.load_state_dict(model)
        saved = self.optimiser.state_dict()
        slots: dict[int, dict[str, Tensor]] = {}
        for key, value in tensors.items():
            if key.startswith("optimiser."):
                _, i, slot = key.split(".", 2)
                slots.setdefault(int(i), {})[slot] = value
        self.optimiser.load_state_dict({"state": slots, "param_groups": saved["param_groups"]})
        carried = [tensors[f"carried.{i}"].to(self.device) for i in range(2) if f"carried.{i}" in tensors]
        self.carried = tuple(carried) or None
        self.generator.set_state(tensors["generator"])
        self.step_index, self.characters, self.offset = meta["step"], meta["characters"], meta["offset"]
        self.best = math.inf if meta["best"] is None else meta["best"]
        self.seconds, self.bfloat16 = meta["seconds"], meta["bfloat16"]


def train(
    config: TrainConfig,
    corpus: SplittableText,
    *,
    device: str = "auto",
    probe: str = "",
    sample_length: int = 200,
) -> Iterator[StepReport]:
    """Train a model on `corpus` by `config`; yields a StepReport per interval.

    Each report's `model` is the model at that moment; `Trainer` itself also
    saves and resumes. `probe` begins each report's sample of `sample_length`
    characters.
    """
    yield from Trainer(config, corpus, device=device).run(probe=probe, sample_length=sample_length)
