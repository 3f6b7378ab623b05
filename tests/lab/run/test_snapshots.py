"""A snapshot: what Trace says, in a file that needs no torch."""

from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Watching, read, take_snapshot, to_bytes
from rnnviz.networks.cells import CELLS
from rnnviz.scoring.tracer import trace
from tests.support.models import tiny


@pytest.mark.parametrize("cell", CELLS)
def test_snapshot_equals_the_trace_within_half_precision(tmp_path: Path, cell: str) -> None:
    model, text = tiny(cell, layers=2), "The lever – half of us…\n"
    expected = trace(model, text)
    for half, least in ((False, 1e-6), (True, 1e-3)):
        (tmp_path / "7.safetensors").write_bytes(
            to_bytes(take_snapshot(expected, step=7, characters=99), half=half)
        )
        snapshot = read(tmp_path / "7.safetensors")
        assert (snapshot.text, snapshot.step, snapshot.characters) == (text, 7, 99)
        np.testing.assert_allclose(snapshot.hidden, expected.hidden, atol=least)
        np.testing.assert_allclose(snapshot.log_probs, expected.log_probs, atol=10 * least)
        np.testing.assert_allclose(snapshot.nll, expected.nll, rtol=1e-5)
        np.testing.assert_allclose(snapshot.perplexity, expected.perplexity, rtol=1e-5)
        assert (snapshot.cell is None) == (cell != "lstm")
        assert snapshot.symbols == ("<unk>", *model.vocabulary.characters)
        assert snapshot.log_probs.dtype == snapshot.hidden.dtype == np.float32


def test_snapshots_are_few_and_lie_on_a_log_scale_after_resuming_too(tmp_path: Path) -> None:
    folder, read_now = RunFolder(tmp_path), partial(trace, tiny("mlp"), "a")
    watching = Watching(folder)
    for step in range(9_000):
        if step == 500:
            watching = Watching(folder)
        if watching.is_kept_step(step):
            watching.look(read_now, step=step, characters=step, keep=True)
    steps = folder.kept_steps()
    assert steps[:6] == [0, 1, 2, 3, 5, 7]
    assert len(steps) <= 32
    assert all(1.34 < b / a < 1.5 for a, b in pairwise(steps[4:]))
    assert read(folder.newest_snapshot).step == steps[-1]


def test_late_snapshots_are_no_farther_apart_than_a_share_of_the_run(tmp_path: Path) -> None:
    folder, read_now = RunFolder(tmp_path), partial(trace, tiny("mlp"), "a")
    watching = Watching(folder, 2_400)
    for step in range(2_400):
        if watching.is_kept_step(step):
            watching.look(read_now, step=step, characters=step, keep=True)
    steps = folder.kept_steps()
    assert max(b - a for a, b in pairwise(steps)) == 100, "the run by 24"
    assert 2_400 - steps[-1] <= 100
