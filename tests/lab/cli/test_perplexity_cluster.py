"""`rnnviz perplexity --scheduler`: the same lines and tables as without."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.support.closeness import close
from tests.support.commands import Run
from tests.support.models import TEXT

pytest.importorskip("distributed")

from tests.support.dask_machines import Machines


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory) -> Any:
    scheduler_address = Machines(tmp_path_factory.mktemp("dask"))
    try:
        scheduler_address.hire(2)
        yield scheduler_address.address
    finally:
        scheduler_address.end()


@pytest.mark.slow
def test_cluster_scores_equal_local_scores(run: Run, tmp_path: Path, address: str) -> None:
    for n in range(6):
        (tmp_path / f"{n}.txt").write_text(TEXT * (n + 1), "utf-8")
    (tmp_path / "3.txt").write_bytes(bytes(9))
    lines = [json.dumps({"said": TEXT[n : 2 * n]}) for n in range(1, 200)]
    (tmp_path / "rows.jsonl").write_text("\n".join(["{", *lines]), "utf-8")
    files = ["*.txt", "rows.jsonl", "0.txt"]
    options = ["-m", "tiny-gru", "--json", "--compare", "tiny-3gram", "--output", "out.parquet"]
    local = run("perplexity", *files, *options)
    ours = pd.read_parquet(tmp_path / "out.parquet")
    remote = run("perplexity", *files, *options, "--scheduler", address)
    theirs = pd.read_parquet(tmp_path / "out.parquet")
    assert (remote.code, remote.err) == (local.code, local.err)
    assert remote.code == 1, "one file is no text"
    for afar, score in zip(remote.objects, local.objects, strict=True):
        assert afar["file"] == score["file"]
        assert afar["perplexity"] == pytest.approx(score["perplexity"], rel=1e-5)
        assert afar["interval"] == (score["interval"] and pytest.approx(score["interval"], rel=1e-6))
        assert close(afar["compared"], score["compared"])
    pd.testing.assert_frame_equal(theirs, ours, rtol=1e-5, atol=1e-5)
