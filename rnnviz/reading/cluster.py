"""The same numbers from the machines of a Dask cluster.

    long text    cut where this process would cut it; each stretch is a task that begins in a likely state,
                 found from the WARM_UP symbols before it
    seam         a stretch that did not begin in the state in which the one before it ends is scored again
                 from there
    rows         each batch of a file is a task

So a figure is that of one process but for rounding at the seams. A worker that is lost costs time: its tasks
go to others. Workers need the same version of rnnviz; models travel to them. The scheduler runs what it is
sent, and workers read the texts: use a cluster that you trust.

M. Rocklin, "Dask: Parallel Computation with Blocked algorithms and Task Scheduling", SciPy 2015.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from rnnviz.arrays import Doubles, Ids
from rnnviz.errors import ClusterError, ConfigError, RnnvizError, install
from rnnviz.networks.batched_scoring import Done
from rnnviz.networks.config import ModelConfig
from rnnviz.networks.prediction import Scores
from rnnviz.networks.progress import run
from rnnviz.reading import cluster_tasks
from rnnviz.reading.cluster_tasks import Memory, ScoredStretch, Stretch, alike
from rnnviz.reading.rows import Window
from rnnviz.text.vocabulary import Vocabulary

PIECE = 1 << 19
"""Symbols of a stretch: what one process reads at a time, so that both cut a text alike."""

WARM_UP = 2048
"""Symbols that a stretch's likely state is found from."""

AT_ONCE = 16
"""Stretches of one text that are under way together, at most: 8 million characters."""

PATIENCE = 10.0
"""Seconds to wait for a scheduler."""

ALONE = 60.0
"""Seconds to wait for a worker where none is left."""

LOOK = 0.2
"""Seconds between two looks at a task."""


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """The Dask cluster of the scheduler at `address`, such as "tcp://host:8786", while the block lasts.

        with rnnviz.cluster("tcp://host:8786") as machines:
            rnnviz.perplexity(machines.model(model), "book.txt")

    Raises ConfigError where Dask is missing or versions differ, ClusterError where nobody answers.
    """
    distributed = _library()
    if not isinstance(address, str) or not address.strip():
        raise ConfigError(
            "a scheduler has an address, such as tcp://host:8786; received {address!r}", address=address
        )
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False, name="rnnviz")
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(
            "no Dask scheduler answers at {address} ({reason}); start one with `dask scheduler`, and workers "
            "with `dask worker {address}`",
            address=address,
            reason=str(error).splitlines()[0] if str(error) else type(error).__name__,
        ) from None
    machines = Cluster(client, address)
    try:
        machines.check()
        yield machines
    finally:
        machines.close()


def _library() -> Any:
    try:
        import distributed
    except ImportError:
        raise ConfigError("a cluster needs Dask: {command}", command=install("cluster")) from None
    return distributed


class Cluster:
    """The workers of one scheduler. Make one with `cluster`."""

    def __init__(self, client: Any, address: str) -> None:
        self._client, self.address = client, address
        self._plugins: list[str] = []

    def check(self) -> None:
        """Raises ClusterError where there are no workers, ConfigError where they can't run this."""
        try:
            versions = set(self._client.run(cluster_tasks.version).values())
        except Exception as error:  # whatever a worker's Python makes of it
            raise ConfigError(
                "a worker of {address} can't run rnnviz ({reason}): install there the version that is here",
                address=self.address,
                reason=str(error).splitlines()[0] if str(error) else type(error).__name__,
            ) from None
        if not versions:
            raise ClusterError(
                "the scheduler at {address} has no workers; start some with `dask worker {address}`",
                address=self.address,
            )
        if versions != {cluster_tasks.version()}:
            raise ConfigError(
                "the workers of {address} run rnnviz {theirs}, and this is {ours}; install one "
                "version everywhere",
                address=self.address,
                theirs=", ".join(sorted(versions)),
                ours=cluster_tasks.version(),
            )

    @property
    def threads(self) -> int:
        """How many tasks the workers do at a time, at least 1."""
        return max(1, int(sum(self._client.nthreads().values())))

    def model(self, model: Any, *, device: str = "cpu") -> ClusterModel:
        """`model`, a CharModel or an NgramModel, read by the workers, each on its `device`."""
        if not (hasattr(model, "state_dict") or hasattr(model, "to_tensors")):
            raise ConfigError(
                "a cluster reads models that can be saved; {name!r} can't, score it in this process",
                name=getattr(model, "name", type(model).__name__),
            )
        file = cluster_tasks.packed(model)
        digest = hashlib.sha256(file).hexdigest()[:16]
        plugin = _plugin(digest, file)
        self._client.register_plugin(plugin, name=plugin.name)
        self._plugins.append(plugin.name)
        return ClusterModel(self, model, digest, device)

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Have a task done."""
        return self._client.submit(task, *arguments, pure=False)

    def result(self, future: Any) -> Any:
        """What a task returned. Raises what it raised, ClusterError where the cluster lost it."""
        distributed = _library()
        alone_since: float | None = None
        while not future.done():
            with self._client.as_current(), contextlib.suppress(TimeoutError):
                distributed.wait([future], timeout=LOOK)
            if future.done() or self._client.nthreads():
                alone_since = None
            elif alone_since is None:
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since > ALONE:
                raise self._lost("no worker is left")
        try:
            return future.result()
        except RnnvizError:
            raise
        except Exception as error:  # a worker killed again and again, a scheduler that ended, no memory
            raise self._lost(str(error).splitlines()[0] if str(error) else type(error).__name__) from None

    def _lost(self, reason: str) -> ClusterError:
        return ClusterError(
            "the cluster at {address} did not finish its work ({reason}); start its workers again, or leave "
            "the cluster out",
            address=self.address,
            reason=reason,
        )

    def close(self) -> None:
        """Let the workers forget the models."""
        with contextlib.suppress(Exception):  # what is gone has forgotten
            for name in self._plugins:
                self._client.unregister_worker_plugin(name)
        with contextlib.suppress(Exception):
            self._client.close(timeout=PATIENCE)


def _plugin(digest: str, file: bytes) -> Any:
    """What brings a model to all workers, those too that come later."""

    class Brings(_library().WorkerPlugin):  # type: ignore[misc]
        name = f"rnnviz-{digest}"

        def setup(self, worker: Any) -> None:
            cluster_tasks.keep(digest, file)

        def teardown(self, worker: Any) -> None:
            cluster_tasks.drop(digest)

    return Brings()


class ClusterModel:
    """A model that the workers of a cluster read: it is scored as any other; see LanguageModel."""

    def __init__(self, machines: Cluster, model: Any, digest: str, device: str) -> None:
        self.name: str = model.name
        self.vocabulary: Vocabulary = model.vocabulary
        self.normaliser: str = model.normaliser
        self.card: dict[str, Any] = dict(model.card)
        self.config: ModelConfig | None = getattr(model, "config", None)
        self._machines, self._digest, self._device = machines, digest, device

    def scorer(self) -> ClusterScorer:
        """A reader of one text."""
        return ClusterScorer(self, precise=False)

    def precise_scorer(self) -> ClusterScorer:
        """A reader in float64, one stretch after the other."""
        return ClusterScorer(self, precise=True)

    def window_costs(self, windows: Iterable[Window], precise: bool) -> Iterator[Doubles]:
        """The costs of rows, as `rnnviz.reading.rows.WindowScorer` finds them, in order."""
        ahead, waiting = 2 * self._machines.threads + 2, deque[Any]()
        for window in windows:
            waiting.append(self.submit(cluster_tasks.score_window, window, precise))
            if len(waiting) >= ahead:
                yield self._machines.result(waiting.popleft())
        while waiting:
            yield self._machines.result(waiting.popleft())

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Have a task done with this model."""
        return self._machines.submit(task, self._digest, self._device, *arguments)

    def result(self, future: Any) -> Any:
        """See `Cluster.result`."""
        return self._machines.result(future)


class ClusterScorer:
    """Reads one text: its stretches are tasks, begun in likely states, and every seam is checked."""

    def __init__(self, model: ClusterModel, *, precise: bool) -> None:
        self._model, self._precise = model, precise
        self._last = model.vocabulary.start
        self._memory: Memory | None = None
        self.piece = PIECE if precise else AT_ONCE * PIECE
        """Characters best handed over at a time."""
        self.unsettled = 0
        """Characters of stretches along which rounding grew: see `rnnviz.networks.batched_scoring`."""

    def advance(self, ids: Ids) -> Doubles:
        """log P in nats of each symbol of `ids` (n,), given all before it."""
        return run(self.advancing(ids, want=False)).log_p

    def advance_details(self, ids: Ids) -> Scores:
        """log P, rank and entropy of each symbol of `ids` (n,)."""
        return run(self.advancing(ids, want=True))

    def advancing(self, ids: Ids, *, want: bool) -> Generator[Done, None, Scores]:
        """`advance_details` step by step: yields Done with every stretch."""
        stretches = list(self._stretches(ids, want))
        futures: list[Any] = []
        if not self._precise:  # all at once: their states are likely to be right
            futures = [self._model.submit(cluster_tasks.score_stretch, each) for each in stretches]
        found: list[Scores] = []
        done = Done(0, 0.0)
        for n, stretch in enumerate(stretches):
            scored = self._scored(stretch, futures[n] if futures else None)
            self._memory, self._last = scored.end, int(stretch.ids[-1])
            self.unsettled += scored.unsettled
            found.append(scored.scores)
            done = done.plus(Done(len(stretch.ids), -float(scored.scores.log_p.sum())))
            yield done
        return Scores.joined(found)

    def _stretches(self, ids: Ids, want: bool) -> Iterator[Stretch]:
        small = ids.astype(np.int32)
        none: npt.NDArray[np.int32] = small[:0]
        for begin in range(0, len(ids), PIECE):
            here = small[begin : begin + PIECE]
            if begin == 0:
                yield Stretch(here, self._last, self._memory, none, want, self._precise)
            else:
                before = small[max(0, begin - WARM_UP - 1) : begin]
                yield Stretch(here, int(before[-1]), None, before, want, self._precise)

    def _scored(self, stretch: Stretch, future: Any) -> ScoredStretch:
        """A stretch's scores from the state in which the one before it ends."""
        exact = stretch._replace(memory=self._memory, before=stretch.before[:0])
        if future is not None:
            scored = cast(ScoredStretch, self._model.result(future))
            if stretch.memory is self._memory or (self._memory and alike(scored.first, self._memory)):
                return scored
        return cast(ScoredStretch, self._model.result(self._model.submit(cluster_tasks.score_stretch, exact)))
