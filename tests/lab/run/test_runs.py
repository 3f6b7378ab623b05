"""Runs as they are: processes that are stopped, killed, starved of disk, and go on to the same numbers."""

import json
import math
import os
import random
import stat
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open

from rnnviz.errors import ConfigError, DivergedError, TrainingError
from rnnviz.lab.engines import compiled
from rnnviz.lab.fit.trainer import Trainer
from rnnviz.lab.run import finished_model, journal, queue, runs, training_state
from rnnviz.lab.run import process as run_process
from rnnviz.lab.run.folder import Description, RunFolder
from rnnviz.lab.run.journal import Journal
from rnnviz.networks import checkpoint
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.perplexity import perplexity
from rnnviz.text import corpora
from rnnviz.text.vocabulary import Vocabulary
from tests.support import needs
from tests.support.made_runs import make_run
from tests.support.processes import events, pid_of, progressed, train, train_to_its_end
from tests.support.texts import TRAVELLER
from tests.support.training import CORPUS, INTERRUPTIBLE, begin_run, final_weights, same_tensors
from tests.support.training import whole as whole
from tests.support.waiting import until

TOY = TrainConfig(
    cell="rnn", hidden_size=8, embedding_size=0, epochs=400, batch=1, steps=8, learning_rate=0.03,
    evaluate_every=100, precision="float32",
)  # fmt: skip


def wait_for_end(id: str) -> runs.Run:
    until(lambda: not runs.find(id).alive and not RunFolder(runs.find(id).path).locked())
    return runs.find(id)


@needs.modes
def test_a_text_is_its_owners_alone(home: Path) -> None:
    assert stat.S_IMODE(begin_run(home).text.stat().st_mode) == 0o600


@pytest.mark.usefixtures("busy")
def test_a_run_starts_with_a_corpus_or_a_text_of_its_own(home: Path) -> None:
    texts_given: list[dict[str, Any]] = [{"corpus": "machine"}, {"text": TRAVELLER}]
    ids = [runs.start(Description("own", TOY, **text_given)) for text_given in texts_given]
    assert ids == ["own", "own-2"]
    started = [runs.find(id) for id in ids]
    assert [(run.name, run.state) for run in started] == [("own", "waiting")] * 2
    assert [run.description["corpus"] for run in started] == ["machine", ""]
    texts = [RunFolder(run.path).text for run in started]
    assert [text.exists() and text.read_bytes().decode() for text in texts] == [False, TRAVELLER]
    (queued,) = events(RunFolder(started[0].path), "queued")
    assert queued["time"] == pytest.approx(time.time(), abs=3600)
    if os.name == "posix":  # a session of its own: Ctrl-C where it was started doesn't reach it
        pid = pid_of(RunFolder(started[0].path))
        assert os.getsid(pid) == pid


@pytest.mark.parametrize("texts", [["Ann", "Bob", "Cid"], ["two\nlines", "one"]])
def test_a_run_on_texts_that_end_reads_them_as_they_were(home: Path, texts: list[str]) -> None:
    corpus = corpora.from_texts(texts)
    folder = RunFolder(home / "own")
    folder.path.mkdir(parents=True)
    folder.begin(Description("own", TOY, text=corpus.text, lines=True))
    reread = finished_model.read_corpus(folder, folder.description())
    assert (reread.text, reread.ends) == (corpus.text, True)


def test_a_run_whose_process_cannot_start_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(home / "no python"))
    with pytest.raises(TrainingError, match="process can't be started"):
        runs.start(Description("own", TOY, corpus="machine"))
    assert [path.name for path in home.rglob("*")] == [".queue"]


def test_a_run_is_deleted_with_its_ticket_unless_another_has_its_name(home: Path) -> None:
    queue.take_ticket(RunFolder(make_run("one", created=5.0)))
    with pytest.raises(TrainingError, match="another has its name"):
        runs.delete("one", created=4.0)
    assert runs.find("one").created == 5
    runs.delete("one", created=5.0)
    assert [path.name for path in home.rglob("*")] == [".queue"]


def test_how_a_run_ended_is_told_by_its_last_event_and_what_was_asked(home: Path) -> None:
    folder, broken = (
        RunFolder(make_run("silent", None)),
        TrainingError("the run diverged at step {step}", step=7),
    )
    for name in ("failed", "damaged"):
        make_run(name, "failed", error=broken.to_json())
    run = runs.find("silent")
    assert (run.state, run.total) == ("died", 3000)
    assert "without a word" in run.reason
    folder.stop.touch()
    assert (runs.find("silent").state, runs.find("silent").reason) == ("stopped", "")
    assert (runs.find("failed").state, runs.find("failed").reason) == ("failed", str(broken))
    # Of a damaged description, that is said.
    folder.stop.unlink()
    for name, state in (("silent", "died"), ("damaged", "failed")):
        (home / name / "run.json").write_bytes(b"{")
        assert (runs.find(name).name, runs.find(name).state) == (name, state)
        assert "is damaged" in runs.find(name).reason


@pytest.mark.slow
def test_the_toy_from_its_start_to_a_model_that_is_kept(home: Path, tmp_path: Path) -> None:
    """A text without a validation part goes through everything: start, follow, replay, keep, delete."""
    id = runs.start(Description("toy", TOY, corpus="machine", watch_text="machine", threads=1))
    logged: list[dict[str, Any]] = []
    read, states = 0, ["waiting"]

    def over() -> bool:
        nonlocal read
        run = runs.find(id)
        if run.state != states[-1]:
            states.append(run.state)
        new, read = runs.tail_log(id, read)
        runs.merge(logged, new)
        return not run.alive

    until(over)
    run = wait_for_end(id)
    order = ["waiting", "starting", "running", "finished"]
    assert states == [state for state in order if state in states]
    assert run.state == "finished", run.reason or (run.path / "log.txt").read_text("utf-8")
    kinds = [e["event"] for e in logged]
    assert kinds[:3] == ["queued", "starting", "start"]
    start = logged[2]
    assert start["uniform"] == start["vocabulary"] == 8
    assert (start["unigram"], start["ngram"], start["validation_characters"]) == (None, None, 0)
    assert (start["total_steps"], start["total_characters"], start["resumed_at"]) == (400, 2800, 0)
    reports = [e for e in logged if e["event"] == "report"]
    assert reports[-1]["train_perplexity"] < 1.05
    assert run.report == reports[-1]
    assert (run.progress["step"], run.progress["eta"]) == (400, 0)
    assert runs.snapshots(id)[-1] == 400
    noise, learnt = runs.snapshot(id, 0), runs.snapshot(id)
    assert (noise.step, learnt.step, learnt.text) == (0, 400, "machine")
    assert noise.perplexity[-1] > 5
    assert learnt.perplexity[-1] < 1.05
    copy = runs.keep(id, "my-toy")
    assert copy == tmp_path / "models" / "my-toy.safetensors"
    model = checkpoint.load("my-toy")
    assert model.name == model.card["name"] == "my-toy"
    assert perplexity(model, text="machine").perplexity == pytest.approx(
        float(learnt.perplexity[-1]), rel=1e-3
    )
    runs.delete(id)
    assert [path for path in home.iterdir() if path.name != ".queue"] == []


@pytest.mark.slow
def test_stopped_and_resumed_from_there(home: Path) -> None:
    long = replace(INTERRUPTIBLE, epochs=400)
    id = runs.start(
        Description("own", long, text=TRAVELLER, title="A traveller", watch_text="lit", threads=1)
    )
    until(lambda: runs.find(id).progress)
    runs.stop(id)
    run = wait_for_end(id)
    assert run.state == "stopped"
    folder = RunFolder(run.path)
    with safe_open(folder.state, framework="np") as file:
        stopped_at = json.loads(file.metadata()["run"])["step"]
    assert stopped_at >= run.progress["step"]
    assert perplexity(checkpoint.load(runs.keep(id, "so-far")), text="a night").perplexity < 60
    runs.resume(id)
    until(
        lambda: (
            len(events(folder, "start")) == 2 and (runs.find(id).progress or {}).get("step", 0) > stopped_at
        )
    )
    assert events(folder, "start")[1]["resumed_at"] == stopped_at
    runs.stop(id)


@pytest.mark.exact
@pytest.mark.slow
def test_killed_at_random_moments_and_resumed_it_ends_with_the_same_weights(
    home: Path, whole: dict[str, torch.Tensor]
) -> None:
    """The promise of `--resume`: an interruption changes no number of a run, on a CPU."""
    folder = begin_run(home)
    chance = random.Random(4)
    killed = 0
    while True:
        log_bytes = folder.events.stat().st_size if folder.events.exists() else 0
        process = train(folder.path, SAVE_S=0.0, PROGRESS_S=0.01, MIN_SAVE_S=0.0)
        if chance.random() < 0.7:  # most get somewhere, the others die while they start
            until(
                lambda p=process, log_bytes=log_bytes: p.exitcode is not None or progressed(folder, log_bytes)
            )
        process.join(chance.uniform(0.0, 0.1) if killed < 5 else None)
        if process.exitcode is not None:
            break
        process.kill()
        process.join()
        killed += 1
    assert process.exitcode == 0, folder.log.read_text("utf-8")
    assert killed > 2
    assert same_tensors(final_weights(folder), whole)
    assert not list(folder.path.glob(".*")), "what killed writers left behind is swept away"


@pytest.mark.slow
def test_a_stop_does_not_wait_for_a_slow_step(home: Path) -> None:
    folder = begin_run(home)
    process = train(folder.path, queued=True, step_seconds=60, SAVE_S=0.0, PROGRESS_S=0.0)
    until(lambda: len(events(folder, "progress")) >= 3)
    runs.stop("run")
    process.join(50)
    assert process.exitcode == 130
    assert runs.find("run").state == "stopped"
    train_to_its_end(folder, queued=True)


@pytest.mark.slow
def test_minutes_are_measured_once(home: Path) -> None:
    folder = begin_run(home, minutes=0.03)
    process = train(folder.path, PROGRESS_S=0.05, SAVE_S=0.05)
    until(lambda: events(folder, "progress"))
    process.kill()
    process.join()
    settled = folder.description()
    assert settled.config.characters > 100  # the machine may be busy
    train_to_its_end(folder)
    assert folder.description() == settled
    assert events(folder, "start")[-1]["total_characters"] >= settled.config.characters
    assert 0.05 < events(folder, "progress")[-1]["seconds"] < 20


@pytest.mark.slow
def test_fastest_setting_is_recorded_and_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    recipe = TrainConfig(
        cell="gru", hidden_size=128, batch=8, steps=16, characters=3_000, precision="auto", evaluate_every=5
    )
    id = runs.start(Description("free", recipe, text=TRAVELLER))
    run = wait_for_end(id)
    assert run.state == "finished", run.reason
    last = run.path / "model" / "free.safetensors"
    assert run.description["config"]["precision"] == "float32"
    assert run.description["threads"] is None
    engine = checkpoint.load(last).card["engine"]
    assert engine.pop("threads") in (1, 2, 3)
    backward = engine.pop("backward")
    assert backward == run.description["engine"]
    assert engine == {"device": "cpu", "precision": "float32", "threads_fixed": False}


def test_a_run_that_began_with_numba_goes_on_without(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba may be taken away, or the folder to another computer; a run that begins so is refused."""
    monkeypatch.setattr(compiled, "prepared", lambda _: False)
    folder = begin_run(home, replace(INTERRUPTIBLE, hidden_size=128, batch=8))
    folder.write_description(description := replace(folder.description(), engine="numba", threads=None))
    with pytest.raises(ConfigError, match="numba"):
        run_process._decide_settings(folder, description, CORPUS)
    trainer = Trainer(description.config, CORPUS, device="cpu")
    training_state.save(folder, trainer)
    # Whatever another trial would find, a run goes on with the engine with which it began.
    assert run_process._decide_settings(folder, description, CORPUS)[0] == replace(
        description, sha256=CORPUS.sha256
    )
    trainer.model.engine = description.engine
    trainer.step()


@pytest.mark.parametrize(("clip", "advice"), [(1e6, "or clip (now 1e+06)"), (None, "or clip (now none)")])
def test_a_diverged_run_says_so_and_keeps_its_last_steps_and_states(
    home: Path, clip: float | None, advice: str
) -> None:
    wild = replace(INTERRUPTIBLE, cell="rnn", activation="relu", steps=60, learning_rate=10.0, clip=clip)
    wild = replace(wild, truncation="regular", dropout_output=0.0, optimiser="momentum", hidden_size=64)
    folder = begin_run(home, wild)
    train_to_its_end(folder, status=1, SAVE_S=0.0, PROGRESS_S=0.0)
    run = runs.find("run")
    assert run.state == "diverged"
    assert "the run diverged. Lower learning_rate" in run.reason
    assert advice in run.reason
    (diverged,) = events(folder, "diverged")
    steps, last = events(folder, "progress"), diverged["step"]
    assert [step["step"] for step in steps] == list(range(1, last + 1))
    assert steps[-1]["characters"] == diverged["characters"]
    *norms, end = [step["gradient_norm"] for step in steps]
    assert norms[-1] > 20 * norms[0]
    assert end is None, "no number"
    assert runs.snapshots("run")[-1] == last
    assert runs.snapshot("run", last).hidden.shape == runs.snapshot("run", 0).hidden.shape
    alone = Trainer(wild, CORPUS)
    with pytest.raises(DivergedError) as caught:
        list(alone.run(sample_length=0))
    assert all(w.isfinite().all() for w in alone.model.state_dict().values()), "of the step before"
    assert caught.value.values["step"] == alone.step_index
    for tensor in final_weights(folder).values() if folder.state.exists() else ():
        assert torch.isfinite(tensor).all()


def test_the_time_left_after_a_resume_is_at_the_pace_since(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(time=time.time, monotonic=lambda: 2.0 * trainer.step_index)
    monkeypatch.setattr(journal, "time", clock)
    folder, began = begin_run(home), 0
    for stop_at in (120, 130):
        trainer = Trainer(INTERRUPTIBLE, CORPUS)
        training_state.restore(folder, trainer)
        began, book, taken = trainer.characters, Journal(folder, trainer, "", {}), []
        book.begin({})
        while trainer.step_index < stop_at:
            taken.append([float(part) for part in trainer.step()])
            book.step(trainer)
        book.save()
    last = events(folder, "progress")[-1]
    losses, norms, counts = np.transpose(taken)
    weights = journal.LOSS_DECAY ** np.arange(len(taken))[::-1] * counts
    assert last["train_perplexity"] == pytest.approx(math.exp(losses @ weights / weights.sum()))
    assert (last["gradient_norm"], last["clipped"]) == (norms[-1], norms[-1] > trainer.config.clip)
    seconds_each = 2.0 * (130 - 120) / (last["characters"] - began)
    assert last["eta"] == pytest.approx(seconds_each * (trainer.total_characters - last["characters"]))


def test_the_moment_the_ngram_is_passed_is_told_once(home: Path) -> None:
    folder = begin_run(home)
    baselines = {"uniform": 20, "unigram": 15.0, "ngram": 12.0, "ngram_order": 6, "ngram_characters": 9}

    for stop_at in (120, 170):
        trainer = Trainer(INTERRUPTIBLE, CORPUS)
        training_state.restore(folder, trainer)
        journal = Journal(folder, trainer, "", baselines)
        journal.begin({})

        def step(t: Trainer, journal: Journal = journal, stop_at: int = stop_at) -> None:
            journal.step(t)
            if t.step_index == stop_at:
                t.stop()

        for report in trainer.run(sample_length=0, on_step=step, early_reports=True):
            journal.report(report)
        journal.save()
    passed = events(folder, "passed")
    assert len(passed) == 1
    below = [e["step"] for e in events(folder, "report") if e["validation_perplexity"] < 12.0]
    assert passed[0]["step"] == below[0] > 1


@pytest.mark.exact
@pytest.mark.slow
def test_recording_changes_no_number_and_is_true(home: Path, whole: dict[str, torch.Tensor]) -> None:
    """A run that writes more down, or resumes, has the same numbers to the bit."""
    folder = begin_run(home, half=True)
    train_to_its_end(folder, PROGRESS_S=0.0, SAVE_S=0.0, MAX_TIME_SHARE=1.0)
    assert same_tensors(final_weights(folder), whole)

    # The lines to beat: counted on the training text, scored on the validation text.
    start, split = events(folder, "start")[0], CORPUS.split()
    vocabulary = Vocabulary.from_text(split.train, min_count=INTERRUPTIBLE.min_count)
    assert start["uniform"] == start["vocabulary"] == vocabulary.size
    for name, order in (("unigram", 1), ("ngram", 6)):
        model = NgramModel.fit(split.train, order=order, vocabulary=vocabulary)
        expected = perplexity(model, text=split.validation).perplexity
        assert start[name] == pytest.approx(expected, rel=1e-5)
        assert start[name] != pytest.approx(perplexity(model, text=split.train).perplexity, rel=1e-3)

    progress = events(folder, "progress")
    assert len(progress) == progress[-1]["step"]  # asked for at every step
    assert np.all(np.diff([e["seconds"] for e in progress]) > 0)
    assert progress[-1]["train_perplexity"] < progress[0]["train_perplexity"]
    assert events(folder, "report")[-1]["sample"]

    # The figure of the finished model: that of the weights as they are stored.
    finished = events(folder, "finished")[0]
    stored = checkpoint.load(Path(finished["path"]))
    scored = perplexity(stored, text=split.held_out).perplexity
    assert finished["held_out"] == stored.card["held_out"]["perplexity"] == pytest.approx(scored, rel=1e-5)
    assert scored != pytest.approx(
        perplexity(checkpoint.load(folder.best), text=split.held_out).perplexity, rel=1e-8
    )


def test_the_newest_run_is_listed_first_and_a_damaged_one_does_not_hide_the_others(home: Path) -> None:
    for name, created in (("a", 1.0), ("b", 2.0), ("c", 2.0), ("damaged", 3.0)):
        make_run(name, created=created)
    (home / "damaged" / "run.json").write_text("{", "utf-8")
    (home / "no run").mkdir()
    listed = runs.listed()
    assert [r.id for r in listed] == ["b", "c", "a", "damaged"]
    assert "is damaged" in listed[-1].reason
    assert all(r.state == "finished" and r.report and r.progress for r in listed)
