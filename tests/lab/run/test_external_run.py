"""Any training loop as a run: what it logs is what stands in the folder, and the loop stays the caller's."""

import errno
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import cli
from rnnviz.errors import ConfigError
from rnnviz.lab.run import event_log, external_run, runs, snapshots
from rnnviz.networks import checkpoint
from rnnviz.scoring.tracer import trace
from tests.support.torch_models import tiny_torch

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path / "models"))


def logged_events(id: str, kind: str) -> list[dict[str, Any]]:
    return [e for e in runs.tail_log(id)[0] if e["event"] == kind]


def test_external_run_logs_into_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        external_run, "PROGRESS_S", 1e9
    )  # events at the start, where asked for, and at the end
    with rnnviz.follow("mine", text="timemachine", total=10) as run:
        assert runs.find("mine").state == "running"
        assert [r.id for r in runs.listed()] == [run.id] == ["mine"]
        run.log(1, torch.tensor(2.0, requires_grad=True), learning_rate=0.1, gradient_norm=torch.tensor(3.0))
        assert logged_events("mine", "progress")[-1]["train_perplexity"] == pytest.approx(math.exp(2))
        run.log(2, 1.0)
        run.log(4, torch.tensor(2.0), validation_loss=torch.tensor(0.5), sample="and then")
        run.log(9, float("nan"))
    finished = runs.find("mine")
    assert (finished.state, finished.description["title"]) == (
        "finished",
        "H. G. Wells, The Time Machine (1898)",
    )
    (start,) = logged_events("mine", "start")
    assert (start["total_steps"], start["parameters"]) == (10, None)
    first, second, last = logged_events("mine", "progress")
    assert [e["step"] for e in (first, second, last)] == [1, 4, 9]
    assert (first["learning_rate"], first["gradient_norm"], first["counted"]) == (0.1, 3.0, "steps")
    assert second["train_perplexity"] == pytest.approx(math.exp(1.5)), "of the calls since the last event"
    assert last["train_perplexity"] is None, "a gap"
    assert last["eta"] == pytest.approx(last["seconds"] / 9)
    (report,) = logged_events("mine", "report")
    assert report["validation_perplexity"] == pytest.approx(math.exp(0.5))
    assert (report["step"], report["sample"]) == (4, "and then")


def test_a_name_that_is_taken_gets_a_number_and_characters_are_counted_where_told() -> None:
    for expected in ("mine", "mine-2"):
        with rnnviz.follow("mine", total=5000) as run:
            run.log(1, 1.0, characters=2000)
            assert run.id == expected
    assert (logged_events("mine-2", "progress")[0]["counted"], runs.find("mine").progress["characters"]) == (  # type: ignore[index]
        "characters",
        2000,
    )


def states_of(gru: torch.nn.GRU, output: torch.nn.Linear) -> np.ndarray:
    with torch.random.fork_rng():
        return trace(rnnviz.adapt(gru, output, "abc"), "cab").hidden


def test_the_sentence_to_watch_is_read_as_training_goes_on() -> None:
    """A network of one's own: a function returns it as it is now."""
    torch.manual_seed(0)
    gru, output = torch.nn.GRU(3, 8), torch.nn.Linear(8, 3)
    optimiser = torch.optim.SGD([*gru.parameters(), *output.parameters()], lr=0.5)
    before = torch.get_rng_state()
    states_by_step = {0: states_of(gru, output)}
    with rnnviz.follow("own", lambda: rnnviz.adapt(gru, output, "abc"), watch_text="cab") as run:
        for step in range(1, 6):
            states, _ = gru(torch.eye(3)[[2, 0, 1]])
            loss = torch.nn.functional.cross_entropy(output(states), torch.tensor([0, 1, 2]))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            run.log(step, loss)
            states_by_step[step] = states_of(gru, output)
    assert torch.equal(torch.get_rng_state(), before), "no random number was drawn"
    assert runs.snapshots("own") == [0, 1, 2, 3, 5]
    for step in (0, 1, 2, 3):
        snapshot = runs.snapshot("own", step)
        np.testing.assert_allclose(snapshot.hidden, states_by_step[step], atol=1e-3)  # kept as float16
        assert (snapshot.step, snapshot.text, snapshot.symbols) == (step, "cab", ("<unk>", "a", "b", "c"))
    final = trace(rnnviz.adapt(gru, output, "abc"), "cab")
    np.testing.assert_allclose(runs.snapshot("own").hidden, final.hidden, atol=1e-6)
    assert not np.allclose(runs.snapshot("own", 0).hidden, final.hidden, atol=0.01)
    model = rnnviz.load(runs.keep("own", "kept"))
    np.testing.assert_allclose(rnnviz.trace(model, "cab").nll, final.nll, atol=1e-5)
    assert logged_events("own", "start")[0]["uniform"] == 4


def test_a_kept_model_goes_into_the_users_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RNNVIZ_MODELS")
    monkeypatch.setattr("platformdirs.user_data_path", lambda name, **_: tmp_path / "data" / name)
    with external_run.follow("own", tiny_torch("gru"), total=2) as run:
        run.log(1, 2.0)
    path = runs.keep("own", "kept-here")
    assert path == tmp_path / "data" / "rnnviz" / "models" / "kept-here.safetensors"
    assert rnnviz.load("kept-here").card["name"] == "kept-here"
    assert {"kept-here", "timemachine-gru"} <= {info.name for info in rnnviz.available()[0]}
    assert cli.main(["models"]) == 0
    assert "\nkept-here " in capsys.readouterr().out
    monkeypatch.setenv("RNNVIZ_MODELS", str(tmp_path / "mine"))
    assert runs.keep("own", "elsewhere").parent == tmp_path / "mine"


def test_latest_snapshot_follows_the_loop_unless_reading_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(external_run, "PROGRESS_S", 0.0)
    for share, expected_steps in (
        (1e9, [1, 2, 3, 4]),
        (-1.0, [1, 2, 3, 3]),
    ):  # kept steps are read in any case
        monkeypatch.setattr(snapshots, "MAX_TIME_SHARE", share)
        with rnnviz.follow("live", tiny_torch("gru"), watch_text="cab") as run:
            newest_steps = []
            for step in (1, 2, 3, 4):
                run.log(step, 1.0)
                newest_steps.append(runs.snapshot(run.id).step)
        assert newest_steps == expected_steps
        assert runs.snapshots(run.id) == [0, 1, 2, 3, 4], "the last is kept too"


@pytest.mark.parametrize(
    ("error", "state", "reason"),
    [
        (ValueError("odd"), "failed", "the loop ended with ValueError: odd"),
        (KeyboardInterrupt(), "stopped", ""),
        (None, "finished", ""),
    ],
)
def test_how_the_block_ends(error: BaseException | None, state: str, reason: str) -> None:
    def loop() -> None:
        with rnnviz.follow("mine", tiny_torch("gru")) as run:
            run.log(1, 1.0)
            if error is not None:
                raise error

    if error is None:
        loop()
    else:
        with pytest.raises(type(error)):  # never swallowed
            loop()
    run = runs.find("mine")
    assert (run.state, run.reason) == (state, reason)
    assert checkpoint.load_numpy(run.path / "best.safetensors"), "kept, however it ended"
    assert runs.keep("mine", "mine").is_file()


def test_stop_is_heard_by_the_loop_and_kills_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with rnnviz.follow("mine", torch.nn.Linear(2, 3)) as run:
        run.log(1, 1.0)
        assert logged_events("mine", "start")[0]["parameters"] == 9
        assert not run.stopping
        runs.stop("mine")
        assert run.stopping
    assert runs.find("mine").state == "stopped"
    assert cli.main(["train", "--resume", str(run.path)]) == 1
    assert "start that program again" in capsys.readouterr().err
    runs.delete("mine")


def test_a_program_that_dies_is_seen_to_have_died_and_needs_no_torch() -> None:
    code = """
import os, sys, rnnviz
with rnnviz.follow("gone") as run:
    run.log(1, 1.0)
    os._exit(9 if "torch" not in sys.modules else 1)"""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 9
    assert runs.find("gone").state == "died"


def test_a_full_disk_does_not_end_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def loop() -> int:
        with rnnviz.follow("mine", total=3) as run:
            run.log(1, 1.0)
            monkeypatch.setattr(event_log, "append", full)
            for step in (2, 3):
                run.log(step, 1.0, validation_loss=1.0)
        return step

    with pytest.warns(RuntimeWarning, match="no longer written down: No space left") as warned:
        assert loop() == 3
    assert len(warned) == 1
    assert runs.find("mine").state == "died", "as nothing says how it ended"


@pytest.mark.parametrize("model", [None, torch.nn.Linear(2, 3), lambda: torch.nn.Linear(2, 3), "gru"])
def test_a_sentence_to_watch_needs_a_model_that_can_be_read(model: Any) -> None:
    with pytest.raises(ConfigError, match=r"needs a model that rnnviz can read.*received"):
        rnnviz.follow("mine", model, watch_text="cab")
    assert not runs.home().exists(), "refused before anything was made"
