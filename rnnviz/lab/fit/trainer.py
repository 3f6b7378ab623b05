"""Training: truncated backpropagation through time over contiguous streams.

Each step reads the next characters of B streams of the text (rnnviz.lab.fit.batches) and carries the state
over, detached: gradients stop there. Streams begin at a new place every epoch, with the start symbol and a
zero state. So the model also learns to predict from nothing, but seldom. Therefore `fresh_rows`, a share of
the rows, make a fresh start at every step; their last state is dropped. Texts that end (`Corpus.ends`) are
rows from the start symbol to the end.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from rnnviz.checks import checked, renamed
from rnnviz.errors import CheckpointError, ConfigError, CorpusError, DivergedError
from rnnviz.lab.engines import untrained as untrained_copies
from rnnviz.lab.engines.dropout import Dropout
from rnnviz.lab.engines.torch_model import State, pick_device, untrained
from rnnviz.lab.engines.torch_threads import TorchThreads
from rnnviz.lab.fit.batches import Streams, Texts, beginnings, cuts
from rnnviz.lab.fit.optimiser import make_optimiser, precision_on, rate
from rnnviz.lab.fit.step_report import MAX_LOSS_NATS, ReportSums, early_steps
from rnnviz.lab.fit.step_report import StepReport as StepReport
from rnnviz.networks import contamination
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.progress import Cancelled, Share
from rnnviz.scoring.perplexity import score
from rnnviz.scoring.sampling import sample_texts
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import SHORTEST_SPLIT, Split, as_corpus
from rnnviz.text.vocabulary import WARNED_SHARE, Vocabulary

TEXT_TEMPERATURE, WORD_TEMPERATURE = 0.8, 0.5
"""Temperatures of samples: TEXT_TEMPERATURE after training on a text, which has many continuations, and
WORD_TEMPERATURE on a single word, which has one.
"""


class SplittableText(Protocol):
    """A text to train on, such as rnnviz.corpora.Corpus."""

    def split(self) -> Split: ...


class Trainer:
    """One run: model, optimiser, position in the text and random numbers.

    On a CPU, a saved and restored run (rnnviz.lab.run.training_state) gives the same numbers, bit for bit,
    as an uninterrupted one. Both must take the same number of threads throughout: with another, torch sums in
    another order.
    """

    def __init__(
        self, config: TrainConfig, corpus: SplittableText, *, device: str = "auto", name: str = ""
    ) -> None:
        split = corpus.split()
        together = config.train_on == "train+validation"
        text = split.train + split.validation if together else split.train
        self.text = normalise(text, config.normaliser)
        self.validation = "" if together else normalise(split.validation, config.normaliser)
        if len(self.text) < 2:
            raise CorpusError("training needs at least 2 characters; received {count}", count=len(self.text))
        self.config, self.device = config, pick_device(device)
        self.bfloat16 = precision_on(self.device, config) == "bfloat16"
        ends = getattr(corpus, "ends", False)
        if ends and (config.fresh_rows or config.partition == "random" or config.truncation == "random"):
            raise ConfigError(
                "texts that end are read from their start to their end; set fresh_rows to 0, partition to "
                "'sequential' and truncation to 'regular'"
            )
        vocabulary = Vocabulary.from_text(self.text, min_count=config.min_count, ends=ends)
        self.dropped = vocabulary.dropped(self.text)
        sizes = config.model_config(vocabulary.size)
        self.model = untrained(
            sizes, vocabulary, seed=config.seed, name=name, normaliser=config.normaliser
        ).to(self.device)
        if config.initialisation != "torch":
            first = untrained_copies.tensors(sizes, config.seed, config.initialisation, config.sigma)
            self.model.load_state_dict({part: torch.from_numpy(values) for part, values in first.items()})
        ids = torch.from_numpy(vocabulary.encode(self.text)).to(self.device)
        shape = ids, config.batch, config.steps, vocabulary.start
        self.streams: Streams
        if vocabulary.end is not None:
            self.streams = texts = Texts(*shape, end=vocabulary.end, seed=config.seed)
            if texts.cut:
                warnings.warn(
                    f"{texts.cut:,} texts have more than {config.steps} characters: gradients end there, and "
                    "the state goes on; more steps follow them whole",
                    stacklevel=1,  # this line for every caller, so that Python shows the warning once
                )
        else:
            self.streams = Streams(
                *shape,
                fresh_share=config.fresh_rows,
                beginnings=beginnings(self.text) if config.fresh_rows else (),
                partition=config.partition,
            )
        self.cuts = cuts(config, self.streams)
        self.total_steps = self.cuts.total_steps
        self.total_characters = self.cuts.total_stream_chars * self.streams.characters // self.streams.length
        self.optimiser = make_optimiser(self.model, config)
        self.dropout = Dropout(
            config.dropout_embedding, config.dropout_weight, config.dropout_output, config.dropout_layer
        )
        self.generator = torch.Generator(self.device).manual_seed(config.seed)
        self.threads = TorchThreads([torch.get_num_threads()])  # torch's threads in `run`
        self.step_index = 0
        self.characters = 0
        self.offset = 0
        self.lowest_criterion = math.inf
        self.seconds = 0.0  # of training, without scoring, saving and sampling
        self.carried_state: State | None = None
        self.stopping = False
        self.last_report_step = 0
        self.early_steps: frozenset[int] = frozenset()  # steps with a report before the first regular one
        self.report_sums = self.new_report_sums()
        # Of the last step: the loss in nats, the gradient norm before clipping.
        self.loss = self.norm = torch.zeros((), device=self.device)
        self.step_characters = 0  # characters of the last step
        self._counted = time.perf_counter()  # the time up to which `seconds` counts

    def compute_facts(self) -> dict[str, Any]:
        """Device, threads, precision and engine, for a run's events and a model's card."""
        device = str(self.device)
        if self.device.type == "cuda":
            device = f"{device} ({torch.cuda.get_device_name(self.device)})"
        return {
            "device": device,
            "threads": torch.get_num_threads(),
            "bfloat16": self.bfloat16,
            "backward": self.model.backward_pass(),
        }

    def new_report_sums(self) -> ReportSums:
        """Empty sums, on the loss's device, so that a GPU need not wait."""
        return ReportSums(torch.zeros((), dtype=torch.float64, device=self.device))

    @cached_property
    def text_sha256(self) -> str:
        """The digest that identifies the text when the run is resumed."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def done(self) -> bool:
        """Whether the last step is made."""
        return self.step_index >= self.total_steps

    @property
    def report_due(self) -> bool:
        """Whether a report comes before the next step."""
        if self.last_report_step == self.step_index or not self.report_sums.characters:
            return False
        report_steps, n = self.config.evaluate_every, self.step_index
        return (
            self.done
            or n in self.early_steps
            or (n % report_steps == 0 if report_steps else self.cuts.at(n)[0] == 0)
        )

    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        highest, falls = self.config.learning_rate, self.config.optimiser == "adamw"
        if self.config.truncation == "regular":
            return rate(highest, self.step_index, 1, self.total_steps) if falls else highest
        # Pieces differ in length: the schedule counts characters, and a short piece gets a small step, in
        # proportion to its length (Merity, Keskar & Socher 2018).
        begin, end = self.cuts.at(self.step_index)
        coming = (end - begin) * self.streams.row_count
        whole = rate(highest, self.characters, coming, self.total_characters) if falls else highest
        return whole * (end - begin) / self.config.steps

    def step(self) -> tuple[Tensor, Tensor, int]:
        """Make one optimiser step. Returns the mean loss in nats, the gradient norm and the characters
        read.
        """
        begin, end = self.cuts.at(self.step_index)
        if begin == 0:  # a new epoch: streams begin elsewhere, at the zero state
            offset = torch.randint(self.streams.slack + 1, (1,), generator=self.generator, device=self.device)
            self.offset = int(offset)
        if self.streams.begins(begin, self.offset):
            self.carried_state = None
        if self.config.partition == "random":
            order = self.config.seed, self.step_index // self.streams.pieces_an_epoch
            inputs, labels = self.streams.drawn_pieces(begin, end, self.offset, seed=order)
            self.carried_state = None
        else:
            inputs, labels = self.streams.between(begin, end, self.offset)
        # Typed text begins at the zero state, which streams meet only once an epoch.
        if self.streams.fresh_rows:
            rows = self.streams.fresh_pieces(end - begin, self.generator)
            inputs, labels = (torch.cat(pair) for pair in zip((inputs, labels), rows, strict=True))
            for part in self.carried_state or ():
                part[:, self.streams.stream_count :] = 0.0
        learning_rate = self.learning_rate()
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate
        loss = self._differentiate(inputs, labels)
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        # The norm of the tensors' norms is that of all gradients together; `_foreach_norm` takes them in
        # one call.
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
        # Gradient clipping by norm. The fused optimiser divides gradients by grad_scale in its own pass: one
        # pass fewer over them. 1e-6 is that of torch's clip_grad_norm_.
        if self.config.clip is not None:
            self.optimiser.grad_scale = ((norm + 1e-6) / self.config.clip).clamp_(min=1.0)
        self.step_index += 1
        self.loss, self.norm, self.step_characters = loss, norm, labels.numel()
        if self.model.vocabulary.ends:  # padding is no character
            self.step_characters = int((labels >= 0).sum())
        # Where a number is missing, the weights stay as they were, to be looked at. A GPU isn't waited for.
        if self.device.type != "cpu" or not self.diverged:
            self.optimiser.step()
        self.characters += self.step_characters
        return loss, norm, self.step_characters

    def _differentiate(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """The mean loss in nats; leaves gradients in the parameters and the last state in `carried_state`."""
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bfloat16):
            logits, state = self.model(
                inputs, self.carried_state, dropout=self.dropout, generator=self.generator
            )
        if not logits.is_contiguous():  # time is the first axis in memory: flatten without a copy
            logits, labels = logits.transpose(0, 1), labels.T
        # In float32: the 8 significant bits of bfloat16 are too few to sum a vocabulary's exponentials.
        loss = F.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
        self.optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        # Truncation: the next step goes on from these numbers, and no gradient passes through them.
        self.carried_state = tuple(s.detach() for s in state)
        return loss.detach()

    def stop(self) -> None:
        """Ask `run` to end after this step, from a signal handler or another thread."""
        self.stopping = True

    def run(
        self,
        *,
        prompt: str = "",
        sample_length: int = 200,
        on_step: Callable[[Trainer], None] | None = None,
        early_reports: bool = False,
    ) -> Iterator[StepReport]:
        """Train to the end, or until `stop`; yields a report every `evaluate_every` steps and after the last.

        `prompt` begins each report's sample; `on_step` is called after every step. `early_reports` adds
        reports after steps 1, 8, 16, 32 … before the first regular one, because perplexity falls fastest
        then. Reports leave the weights unchanged. Raises DivergedError if the run diverges: on a processor at
        once, with the weights of the step before, on a GPU with the next report.
        """
        first = self.config.evaluate_every or self.streams.pieces_an_epoch
        self.early_steps = frozenset(early_steps(first)) if early_reports else frozenset()
        self._counted = time.perf_counter()
        while not self.stopping:
            if self.report_due:
                with self.paused():
                    report = self._report(prompt, sample_length)
                    if report is None:  # stopped: the resumed run makes this report
                        return
                    self.last_report_step = self.step_index
                    self.report_sums = self.new_report_sums()
                    yield report
            if self.done or self.stopping:
                return
            n = self._paced_step()
            # In place: a tensor that outlives its step keeps the allocator from reusing the memory around it
            # (gigabytes, over an epoch).
            self.report_sums.loss += self.loss * n
            self.report_sums.characters += n
            if on_step is not None:
                on_step(self)
            if self.device.type == "cpu":
                self.check()
            self._count_time()

    def _paced_step(self) -> int:
        """`step`, on as many threads as `self.threads` allows; returns the characters read."""
        count = self.threads.allowed
        torch.set_num_threads(count)
        began = time.perf_counter()
        n = self.step()[2]
        # With fewer threads than chosen, as beside another job, the time says nothing of the choice.
        if count == self.threads.now:
            self.threads.took(n, time.perf_counter() - began)
        return n

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Exclude the time inside from the training time."""
        self._count_time()
        yield
        self._counted = time.perf_counter()

    def _count_time(self) -> None:
        """Add the time since the last count, or since a pause, to the training time, with waits for a GPU."""
        now = time.perf_counter()
        self.seconds += now - self._counted
        self.report_sums.seconds += now - self._counted
        self._counted = now

    @property
    def diverged(self) -> bool:
        """Whether the last step's loss or gradient norm is no number. Waits for a GPU."""
        return not (math.isfinite(float(self.loss)) and math.isfinite(float(self.norm)))

    def check(self, loss: float = 0.0) -> None:
        """Raise DivergedError if the last step, or `loss`, diverged."""
        if self.diverged or not math.isfinite(loss):
            raise self._diverged()

    def _diverged(self) -> DivergedError:
        clip = self.config.clip
        return DivergedError(
            "the loss is no longer a number at step {step:,}: the run diverged. Lower "
            "learning_rate (now {learning_rate:g}) or clip (now {clip})",
            step=self.step_index,
            learning_rate=self.config.learning_rate,
            clip="none" if clip is None else f"{clip:g}",
        )

    def _report(self, prompt: str, sample_length: int) -> StepReport | None:
        """The report at this step; None if stopped meanwhile."""
        mean = float(self.report_sums.loss) / self.report_sums.characters
        self.check(mean)
        try:
            validation = self._validation_perplexity()
            if self.stopping:
                return None
            sample_text = ""
            if sample_length:
                temperature = TEXT_TEMPERATURE if len(self.text) >= SHORTEST_SPLIT else WORD_TEMPERATURE
                sample_text = sample_texts(
                    self.model, prompt, sample_length, temperature=temperature, seed=self.config.seed
                )
        except CheckpointError:  # weights have become NaN
            raise self._diverged() from None
        # Without validation text every report is the best so far: the criterion falls with the step.
        criterion = math.log(validation) if validation is not None else -float(self.step_index)
        is_best = criterion < self.lowest_criterion
        self.lowest_criterion = min(self.lowest_criterion, criterion)
        if self.config.truncation == "random":
            epoch = self.characters / self.streams.characters
        else:
            epoch = self.step_index / self.streams.pieces_an_epoch
        return StepReport(
            self.step_index,
            self.total_steps,
            epoch,
            self.characters,
            math.exp(min(mean, MAX_LOSS_NATS)),
            validation,
            self.report_sums.characters / max(self.report_sums.seconds, 1e-9),
            float(self.norm),
            self.optimiser.param_groups[0]["lr"],
            self.seconds,
            is_best,
            sample_text,
            self.model,
        )

    def _validation_perplexity(self) -> float | None:
        if not self.validation:
            return None

        def end_if_stopping(share: Share) -> None:
            if self.stopping:
                raise Cancelled

        try:
            return score(self.model, text=self.validation, progress=end_if_stopping).perplexity
        except Cancelled:
            return None


@renamed(probe="watch_text")
@checked
def train(
    config: TrainConfig,
    corpus: SplittableText | str | os.PathLike[str] | Sequence[str],
    *,
    device: str = "auto",
    watch_text: str = "",
    sample_length: int = 200,
) -> Iterator[StepReport]:
    """Train a model on `corpus` by `config`; yields StepReports.

    config         the recipe
    corpus         a rnnviz.Corpus or the like, a corpus's name, the `pathlib.Path` of a text file, the
                   text, or a list of texts that end
    device         "auto", "cpu" or "cuda"
    watch_text     begins each report's sample; texts that end begin at their start
    sample_length  characters of a sample

    Raises CorpusError for a text of fewer than 2 characters, TextError and DecodingError for a file that is
    no text, ConfigError for no recipe or an unavailable precision, TrainingError when the loss is NaN.

    >>> import rnnviz, torch
    >>> torch.set_num_threads(1)  # so small a network only waits for more
    >>> config = rnnviz.TrainConfig(cell="rnn", hidden_size=8, epochs=20, batch=1, steps=7, min_count=1)
    >>> *_, last = rnnviz.train(config, "machine", sample_length=0)
    >>> last.step, last.train_perplexity < 8
    (20, True)
    """
    trainer = make_trainer(config, corpus, device=device)
    return trainer.run(prompt=watch_text, sample_length=sample_length)


def make_trainer(
    config: TrainConfig,
    corpus: SplittableText | str | os.PathLike[str] | Sequence[str],
    *,
    device: str,
    name: str = "",
) -> Trainer:
    """The Trainer of `train`, before its first step; raises the same errors."""
    trainer = Trainer(config, as_corpus(corpus), device=device, name=name)
    trainer.model.engine = "torch" if config.is_small else "numba"  # numba, where it is installed
    trainer.model.sketch = contamination.sketch(trainer.text)  # of a report's model, too
    trainer.model.card = {"sha256_trained_on": trainer.text_sha256}
    dropped_message, share = trainer.dropped
    if share >= WARNED_SHARE:
        # The caller's line: above it are `train` or `fit`, and their wrappers `checked` and `renamed`.
        warnings.warn(f"{dropped_message}; TrainConfig(min_count=1) keeps them", stacklevel=5)
    return trainer
