"""Scoring on the machines of a Dask cluster, with the same numbers.

    long text    cut where this process would cut it; each stretch is a task that begins in a likely state,
                 found from the WARM_UP_SYMBOLS symbols before it
    seam         a stretch that did not begin in the state in which the one before it ends is scored again
                 from there
    rows         each batch of a file is a task

So figures equal those of one process but for rounding at the seams. A lost worker costs time: its tasks go to
others. Workers need the same version of rnnviz; models travel to them. A scheduler runs any code it is sent,
and workers read the texts: use a cluster that you trust.

M. Rocklin, "Dask: Parallel Computation with Blocked algorithms and Task Scheduling", SciPy 2015.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import rnnviz
from rnnviz.arrays import Array, Doubles, Ids
from rnnviz.errors import ClusterError, ConfigError, RnnvizError, install
from rnnviz.networks.batched_scoring import STATE_TOLERANCE
from rnnviz.networks.checkpoint import load, save
from rnnviz.networks.prediction import OnRead, Scores, Stepwise, ignore_read
from rnnviz.scoring.rows import EncodedRows, RowScorer
from rnnviz.text.vocabulary import Vocabulary

STRETCH_SYMBOLS = 1 << 19
"""Symbols of a stretch: as many as one process reads at a time, so that both cut a text alike."""

WARM_UP_SYMBOLS = 2048
"""Symbols before a stretch that its likely first state is found from."""

MAX_STRETCHES = 16
"""Stretches of one text that are under way together, at most: 8 million characters."""

CONNECT_TIMEOUT_S = 10.0
"""Seconds to wait for a scheduler."""

WORKER_CHECK_S = 60.0
"""Seconds of waiting for a task between two looks whether a worker is left."""

Memory = tuple[Array, ...]
"""A scorer's state between two symbols."""


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The Dask cluster of the scheduler at `address`, such as "tcp://host:8786", while the block lasts.

        with rnnviz.cluster("tcp://host:8786") as machines:
            rnnviz.perplexity(machines.model(model), pathlib.Path("book.txt"))

    Raises ConfigError where Dask is missing or versions differ, ClusterError where no scheduler answers.
    """
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise ConfigError("a cluster needs Dask: {command}", command=install("cluster")) from None
    if not isinstance(address, str) or not address.strip():
        raise ConfigError(
            "a scheduler has an address, such as tcp://host:8786; received {address!r}", address=address
        )
    try:
        distributed.comm.resolve_address(address)  # refused later, it leaves a Client that hangs the next one
        client = distributed.Client(address, timeout=CONNECT_TIMEOUT_S, set_as_default=False, name="rnnviz")
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(
            "no Dask scheduler answers at {address} ({reason}); start one with `dask scheduler`, and workers "
            "with `dask worker {address}`",
            address=address,
            reason=_first_line(error),
        ) from None
    try:
        machines = Cluster(client, address)
        machines.check()
        yield machines
    finally:
        with contextlib.suppress(Exception):  # closing fails where the scheduler is gone
            client.close(timeout=CONNECT_TIMEOUT_S)


def _first_line(error: Exception) -> str:
    """An error's first line, or its class where it has no text."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class Cluster:
    """The workers of one scheduler. Make one with `cluster`."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self.address = client, address

    def check(self) -> None:
        """Raise ClusterError without workers, ConfigError for workers that can't run this version."""
        try:
            versions = set(self._client.run(version).values())
        except Exception as error:  # any error of a worker's Python, such as a missing package
            raise ConfigError(
                "a worker of {address} can't run rnnviz ({reason}): install there the version that is here",
                address=self.address,
                reason=_first_line(error),
            ) from None
        if not versions:
            raise ClusterError(
                "the scheduler at {address} has no workers; start some with `dask worker {address}`",
                address=self.address,
            )
        if versions != {version()}:
            raise ConfigError(
                "the workers of {address} run rnnviz {theirs}, and this is {ours}; install one "
                "version everywhere",
                address=self.address,
                theirs=", ".join(sorted(versions)),
                ours=version(),
            )

    @property
    def threads(self) -> int:
        """The number of tasks that the workers do at a time, at least 1."""
        return max(1, int(sum(self._client.nthreads().values())))

    def model(self, model: Any, *, device: str = "cpu") -> ClusterModel:
        """`model`, which can be saved, read by the workers, each on its `device`."""
        if not (hasattr(model, "state_dict") or hasattr(model, "to_tensors") or hasattr(model, "tensors")):
            raise ConfigError(
                "a cluster reads models that can be saved; {name!r} can't, score it in this process",
                name=getattr(model, "name", type(model).__name__),
            )
        # The file is a task's result, not scattered data: of that Dask keeps one copy in the end, which is
        # lost with its worker, while a task is done again. Workers get the file from each other.
        file = self.submit(bytes, _packed(model))
        return ClusterModel(self, model, device, file)

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task; returns its future."""
        return self._client.submit(task, *arguments, pure=False)

    def result(self, future: Any) -> Any:
        """The result of a task. Raises the task's RnnvizError, or ClusterError where the cluster lost it."""
        while True:
            try:
                return future.result(timeout=WORKER_CHECK_S)
            except RnnvizError:
                raise
            except TimeoutError:  # a long task is waited for as long as there are workers
                if not self._client.nthreads():
                    raise self._lost("no worker is left") from None
            except Exception as error:  # a worker killed again and again, a scheduler that ended, no memory
                raise self._lost(_first_line(error)) from None

    def _lost(self, reason: str) -> ClusterError:
        return ClusterError(
            "the cluster at {address} did not finish its work ({reason}); start its workers again, or leave "
            "the cluster out",
            address=self.address,
            reason=reason,
        )


class ClusterModel:
    """A LanguageModel that the workers of a cluster read, scored as any other model."""

    def __init__(self, machines: Cluster, model: Any, device: str, file: Any) -> None:
        self.name: str = model.name
        self.vocabulary: Vocabulary = model.vocabulary
        self.normaliser: str = model.normaliser
        self.card: dict[str, Any] = dict(model.card)
        self.machines, self._device, self._file = machines, device, file

    def scorer(self) -> ClusterScorer:
        """A reader of one text."""
        return ClusterScorer(self, precise=False)

    def precise_scorer(self) -> ClusterScorer:
        """A reader in float64, one stretch after the other."""
        return ClusterScorer(self, precise=True)

    def costs_of_rows(self, batches: Iterable[EncodedRows], precise: bool) -> Iterator[Doubles]:
        """The costs of rows, as `rnnviz.scoring.rows.RowScorer` finds them, in order."""
        # Tasks under way: enough to keep all workers busy, few enough to bound the memory.
        ahead, waiting = 2 * self.machines.threads + 2, deque[Any]()
        for encoded in batches:
            waiting.append(self.submit(score_encoded_rows, encoded, precise))
            if len(waiting) >= ahead:
                yield self.machines.result(waiting.popleft())
        while waiting:
            yield self.machines.result(waiting.popleft())

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task that takes this model's file and device; returns its future."""
        return self.machines.submit(task, self._file, self._device, *arguments)


class ClusterScorer(Stepwise):
    """Reads one text: its stretches are tasks, begun in likely states, and every seam is checked."""

    def __init__(self, model: ClusterModel, *, precise: bool) -> None:
        self._model, self._precise = model, precise
        self._last = np.array([model.vocabulary.start], np.int32)
        self._memory: Memory | None = None
        self.piece = STRETCH_SYMBOLS if precise else MAX_STRETCHES * STRETCH_SYMBOLS
        """Characters best handed over at a time."""
        self.unsettled = 0
        """Characters of stretches along which rounding grew: see `rnnviz.networks.batched_scoring`."""

    def scores(self, ids: Ids, *, details: bool, on_read: OnRead = ignore_read) -> Scores:
        """The Scores of `ids` (n,); calls `on_read` with every stretch."""
        text = np.concatenate([self._last, ids.astype(np.int32)])
        starts = range(1, len(text), len(text) if self._precise else STRETCH_SYMBOLS)

        def stretch(begin: int, before: int, memory: Memory | None) -> Any:
            symbols = text[begin - before : begin + starts.step]
            return self._model.submit(score_stretch, symbols, before, memory, details, self._precise)

        # All stretches start at once, each from a likely state; the first one begins where the last reading
        # ended, and so is exact. Results are taken in order, so that each is compared with the true end of
        # the one before.
        futures = [
            stretch(begin, 1, self._memory)
            if begin == 1
            else stretch(begin, min(begin, WARM_UP_SYMBOLS + 1), None)
            for begin in starts
        ]
        results: list[Scores] = []
        for begin, future in zip(starts, futures, strict=True):
            scored: ScoredStretch = self._model.machines.result(future)
            if results and self._memory is not None and not alike(scored.first, self._memory):
                scored = self._model.machines.result(stretch(begin, 1, self._memory))
            self._memory = scored.end
            self.unsettled += scored.unsettled
            results.append(scored.scores)
            on_read(len(scored.scores.log_p), -float(scored.scores.log_p.sum()))
        self._last = text[-1:]
        return Scores.joined(results)


# The part of a worker, which needs no Dask. A model travels as the bytes of its file, which each worker loads
# once for its device.


class ScoredStretch(NamedTuple):
    """A stretch's scores, its first state and its last, and the number of its unsettled symbols."""

    scores: Scores
    first: Memory
    end: Memory
    unsettled: int


def version() -> str:
    """The worker's version of rnnviz."""
    return str(rnnviz.__version__)


def _packed(model: Any) -> bytes:
    """A model as the bytes of its file."""
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        return save(model, Path(folder) / "model.safetensors").read_bytes()


@lru_cache(maxsize=4)
def _model(file: bytes, device: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="rnnviz-") as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(file)
        return load(path, device=device)


def score_encoded_rows(file: bytes, device: str, encoded: EncodedRows, precise: bool) -> Doubles:
    """The costs of the parts of rows, (p, 5): see `rnnviz.scoring.rows.RowScorer`."""
    return RowScorer(_model(file, device), precise)(encoded)


def score_stretch(
    file: bytes,
    device: str,
    ids: npt.NDArray[np.int32],
    begin: int,
    memory: Memory | None,
    details: bool,
    precise: bool,
) -> ScoredStretch:
    """Score ids[begin:], with rank and entropy if `details`; `begin` is at least 1.

    `memory` is the state before ids[begin - 1] is read. None: a likely state is found from the symbols up to
    there, and is exact where ids begins with the text's start symbol.
    """
    model, symbols = _model(file, device), ids.astype(np.int64)
    scorer = model.precise_scorer() if precise else model.scorer()
    if memory is not None:
        scorer.resume_from(int(symbols[begin - 1]), memory)
    elif begin > 1:
        scorer.resume_from(int(symbols[0]), scorer.state)
        scorer.advance(symbols[1:begin])
    first, stretch = scorer.state, symbols[begin:]
    scores = scorer.advance_details(stretch) if details else Scores.unranked(scorer.advance(stretch))
    return ScoredStretch(scores, first, scorer.state, getattr(scorer, "unsettled", 0))


def alike(state: Sequence[Array], expected: Sequence[Array]) -> bool:
    """Whether two states are equal up to STATE_TOLERANCE: see `rnnviz.networks.batched_scoring`."""
    return all(
        x.shape == y.shape and bool((abs(x - y) <= STATE_TOLERANCE * np.maximum(abs(y), 1)).all())
        for x, y in zip(state, expected, strict=True)
    )
