"""The same numbers from a Dask cluster: a scheduler and its workers on loopback, one killed midway."""

import gc
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnnviz.errors import ClusterError, ConfigError
from rnnviz.lab.engines import cluster as cluster_module
from rnnviz.lab.engines.cluster import Cluster, cluster
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import UniformModel, perplexity
from rnnviz.scoring.rows import RowScore, score_rows
from rnnviz.scoring.score import Score
from rnnviz.text.row_files import RowFile, open_rows
from rnnviz.text.vocabulary import Vocabulary
from tests.support.dask_machines import Machines
from tests.support.models import TEXT
from tests.support.pieces import pieces
from tests.support.rows import score_file_rows
from tests.support.torch_models import tiny_torch

distributed = pytest.importorskip("distributed")
MODELS = ("tiny-gru", "tiny-lstm", "tiny-3gram")

LONG = "".join(f"{n * 7919 % 1009} {TEXT[n * 37 % 700 :][:211]}\n" for n in range(2600))
"""More than one process reads at a time."""


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    dask = Machines(tmp_path_factory.mktemp("dask"))
    try:
        dask.hire(1)
        yield dask
    finally:
        dask.end()


@pytest.fixture(scope="module")
def connected(machines: Machines) -> Iterator[Cluster]:
    with cluster(machines.address) as session:
        yield session


def rows_file(count: int) -> RowFile:
    rows = [{"said": LONG[n * 97 % 90_000 :][: n * 31 % 150], "before": "The "} for n in range(count)]
    data = "\n".join(map(json.dumps, rows)).encode()
    return open_rows(io.BytesIO(data), name="rows.jsonl", column="said", context="before")


def check_same(theirs: Score, ours: Score) -> None:
    """All figures of two scores but how long they took."""
    expected = {
        k: pytest.approx(v, rel=1e-5) if isinstance(v, float) else v for k, v in ours.to_json().items()
    }
    assert theirs.to_json() == {**expected, "seconds": theirs.seconds}


def watched(afar: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tasks that it is asked for."""
    tasks, submit = [], afar.submit
    monkeypatch.setattr(afar, "submit", lambda *task, **how: tasks.append(task) or submit(*task, **how))
    return tasks


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_long_text_costs_what_it_costs_here(
    connected: Cluster, models_folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load(models_folder / f"{name}.safetensors")
    afar = connected.model(model)
    tasks = watched(afar, monkeypatch)
    score = perplexity(afar, text=LONG)
    assert score.characters > cluster_module.STRETCH_SYMBOLS
    assert len(tasks) == 2, "the second stretch began in the state in which the first one ends"
    check_same(score, perplexity(model, text=LONG))


@pytest.mark.slow
def test_every_character_has_its_cost_rank_and_entropy(connected: Cluster) -> None:
    model, text = tiny_torch("gru", name="tiny"), LONG[-530_000:]
    local = pieces(model, text, context="The ")
    afar = pieces(connected.model(model), text, context="The ")
    for column, tolerance in (("nll", 1e-5), ("entropy", 1e-5), ("rank", 0)):
        ours, theirs = (np.concatenate([getattr(p, column) for p in scored]) for scored in (local, afar))
        same = np.isclose(ours, theirs, rtol=tolerance, atol=tolerance)
        assert same.mean() > 0.9999, column  # two symbols may be equally likely but for rounding


@pytest.mark.slow
def test_a_seam_that_does_not_fit_is_scored_again(
    connected: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "WARM_UP_SYMBOLS", 1)  # too few to find the state
    model = tiny_torch("gru", name="tiny")
    afar = connected.model(model)
    tasks = watched(afar, monkeypatch)
    score = perplexity(afar, text=LONG)
    assert len(tasks) == 3, "two stretches, the second once more"
    assert tasks[2][3] is not None, "from the state in which the first ends"
    local = perplexity(model, text=LONG).perplexity
    assert score.perplexity == pytest.approx(local, rel=1e-5), "from the state"


def test_readings_go_on_from_state_to_state(connected: Cluster) -> None:
    model, text = tiny_torch("lstm", name="tiny"), LONG[:3000]
    afar = connected.model(model)
    for precise in (True, False):  # the text goes on where its context ends
        how: Any = {"text": text, "context": TEXT[:50], "precise": precise}
        check_same(perplexity(afar, **how), perplexity(model, **how))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("precise", [False, True])
def test_rows_cost_what_they_cost_here(
    connected: Cluster, models_folder: Path, name: str, precise: bool
) -> None:
    model = load(models_folder / f"{name}.safetensors")
    count = 200 if precise else 3000
    local, ours = score_file_rows(model, rows_file(count), precise=precise)
    afar, theirs = score_file_rows(connected.model(model), rows_file(count), precise=precise)
    assert [row.nll for row in afar] == pytest.approx([row.nll for row in local], rel=1e-5, nan_ok=True)
    check_same(theirs, ours)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_time_alone(
    machines: Machines, connected: Cluster, models_folder: Path
) -> None:
    machines.hire(1)
    model = load(models_folder / "tiny-lstm.safetensors")
    local, ours = score_file_rows(model, rows_file(8000))
    batches: list[list[RowScore]] = []

    def keep_batch(batch: Any) -> None:
        batches.append(batch.scores)
        if len(batches) == 2:  # while other rows are under way
            machines.kill()

    theirs = score_rows(connected.model(model), rows_file(8000), on_batch=keep_batch)
    assert (len(batches), len(machines.workers)) == (8, 1)
    afar = [row.nll for scores in batches for row in scores]
    assert afar == pytest.approx([row.nll for row in local], rel=1e-5, nan_ok=True)
    assert theirs.perplexity == pytest.approx(ours.perplexity, rel=1e-5)
    machines.hire(1)
    assert score_file_rows(connected.model(model), rows_file(100))[1].rows == 100, (
        "a new worker gets the model too"
    )


@pytest.mark.slow
def test_cluster_without_workers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "WORKER_CHECK_S", 1.0)
    machines = Machines(tmp_path)
    try:
        with pytest.raises(ClusterError, match="has no workers; start some"), cluster(machines.address):
            pass
        machines.hire(1)
        with cluster(machines.address) as revived:
            model = revived.model(tiny_torch("gru", name="tiny"))
            machines.kill()
            with pytest.raises(ClusterError, match="did not finish its work"):
                perplexity(model, text="The time")
    finally:
        machines.end()


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "127.0.0.1:1", "nothing://here", "", "not an address"]
)
def test_absent_scheduler_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "CONNECT_TIMEOUT_S", 0.5)
    with (
        pytest.raises(
            (ClusterError, ConfigError), match=r"no Dask scheduler answers|a scheduler has an address"
        ),
        cluster(address),
    ):
        pass
    states = {row.status for row in gc.get_objects() if isinstance(row, distributed.Client)}
    assert "connecting" not in states, "collected while another one starts, it would wait for that one"


def test_missing_dask_is_named_with_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r'pip install ".*\[cluster\]"'), cluster("tcp://127.0.0.1:1"):
        pass


def test_model_that_cannot_be_saved_is_refused(connected: Cluster) -> None:
    with pytest.raises(ConfigError, match="a cluster reads models that can be saved; 'uniform' can't"):
        connected.model(UniformModel(Vocabulary(("a",))))
