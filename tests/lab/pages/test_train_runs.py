"""What is done with runs on the Train page: deleted, kept, opened; and runs that are called the same."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rnnviz
from rnnviz import cli
from rnnviz.errors import DivergedError, TrainingError
from rnnviz.figures import live, torch_network
from rnnviz.figures.themes import COLOUR_LEVELS
from rnnviz.lab.analysis.targets import target
from rnnviz.lab.fit import estimate
from rnnviz.lab.pages.train import run_view, selected_run
from rnnviz.lab.reports import training
from rnnviz.lab.run import event_log, replay, row_meaning, runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.snapshots import Snapshot, opened, pack, to_bytes, unpack
from rnnviz.networks import checkpoint, model_card
from tests.support.apptest import (
    Open,
    address_fields,
    component_data,
    components,
    page_words,
    run_until_settled,
    switch_page,
    warning_text,
)
from tests.support.lab_pages import pick_text
from tests.support.made_runs import START, make_run
from tests.support.models import tiny

pytestmark = pytest.mark.usefixtures("started")


def test_how_far_a_run_is_the_list_and_the_page_say_alike(open_app: Open) -> None:
    """A resumed run's seconds, before and since, tell less than the characters that it has read."""
    folder = RunFolder(make_run("again", None))
    with folder.take_lock():
        event_log.append(folder.events, {"event": "start", **START, "total_characters": 10_000})
        progress = {"step": 61, "characters": 6_100, "seconds": 79.0, "eta": 21.0}
        event_log.append(folder.events, {"event": "progress", **progress})
        app = open_app("train", run="again")
    assert component_data(app)[0]["fraction"] == pytest.approx(0.61)
    assert "61 % · 6,100 of 10 thousand characters" in component_data(app)[0]["progressLine"]
    assert any("training · 61 %" in caption for caption in app.sidebar.radio[0].proto.captions)


def test_a_loop_of_another_program_is_shown_live_and_counts_its_steps(open_app: Open) -> None:
    model = tiny("gru")
    with rnnviz.follow("mine", model, watch_text="A machine", text="timemachine", total=40) as run:
        run.log(10, 2.0, validation_loss=1.5, learning_rate=0.1)
        app = open_app("train", run="mine")
        header, arrays = component_data(app)
        assert (header["alive"], header["watchText"]) == (True, "A machine")
        assert arrays["now.states"].shape == (9, 1, 12)
        assert "25 % · 10 of 40 steps" in header["progressLine"]
        words = header["fixed"]["words"]
        assert (words["curve"], words["number.speed"]) == ("Perplexity after each step", "steps a second")
        assert header["numbers"]["validation"] == pytest.approx(4.4817, rel=1e-4)
        assert "logged by another program · H\\. G\\. Wells" in page_words(app)
        app.button(key="train-stop").click().run()
        assert run.stopping
    app.run()
    assert component_data(app)[0]["state"] == "stopped"
    assert not [button for button in app.button if button.key == "train-resume"]
    app.button(key="train-explore").click().run()
    assert checkpoint.load_numpy("mine").vocabulary == model.vocabulary


def test_a_loop_without_a_sentence_says_so_and_promises_no_line(open_app: Open) -> None:
    with rnnviz.follow("mine", torch.nn.Linear(2, 3)) as run:
        run.log(1, 2.0)
    header, arrays = component_data(open_app("train", run="mine"))
    words = header["fixed"]["words"]
    assert words["heat.none"] == "This run has no sentence to watch."
    assert words["curve.blind"] == "Lower is better."
    assert (header["frames"], header["steps"]) == ([], [])
    assert arrays["train"].tolist() == pytest.approx([7.389], rel=1e-3)


def test_a_run_that_is_trained_says_that_it_is_being_measured(open_app: Open) -> None:
    folder = RunFolder(make_run("one", None))
    with folder.take_lock():
        event_log.append(folder.events, {"event": "measuring", "time": 2.0})
        assert component_data(open_app("train", run="one"))[0]["progressLine"] == (
            "Trained. Measuring it on text it never read, up to a minute …"
        )


def test_a_run_that_diverged_says_how_and_is_not_resumed(open_app: Open) -> None:
    error = DivergedError("it diverged").to_json()
    folder = RunFolder(make_run("one", None))
    for n, norm in enumerate([0.125, 40.0, 7e9, None], 31):
        progress = {"event": "progress", "step": n, "characters": n, "gradient_norm": norm}
        event_log.append(folder.events, progress)
    event_log.append(folder.events, {"event": "diverged", "step": 34})
    event_log.append(folder.events, {"event": "failed", "error": error, "cause": "diverged"})
    app = open_app("train", run="one")
    line = "Diverged at step 34: the gradient norm went from 0.12 up to 7e+09, then the loss was no longer a"
    assert f"{line} number." in component_data(app)[0]["progressLine"]
    assert not {"train-resume", "train-stop"} & {button.key for button in app.button}


def test_states_that_overflowed_are_drawn_as_the_largest() -> None:
    hidden = np.array([[[0.5, np.inf]], [[np.nan, 2.0]]], np.float32)
    log_probs = np.array([[-0.7, -0.7], [-0.1, -2.3], [np.nan, np.nan]], np.float32)
    nll = np.array([0.7, np.nan], np.float32)
    frames = run_view.SnapshotFrames(np.array([[0, 1]]), live.scale("hidden", "relu"))
    frames.add("now", Snapshot("aa", hidden, None, log_probs, nll, 7, 70, ("<unk>", "a")))
    levels = frames.arrays["now.states"]
    assert levels[0, 0, 1] == levels[1, 0, 0] == COLOUR_LEVELS - 1 > levels[1, 0, 1]
    assert frames.arrays["now.chances"][2].tolist() == [0.0, 0.0]


def test_a_click_on_what_is_gone_is_a_sentence(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run("one", "stopped")
    app = open_app("train")
    shutil.rmtree(runs.home() / "one")
    app.button(key="train-resume").click().run()
    assert "Traceback" not in page_words(app)


def test_a_model_is_kept_once_and_under_a_free_name(open_app: Open, tmp_path: Path) -> None:
    make_run("one", created=1.0)
    make_run("tiny-gru", created=2.0)
    app = open_app("train", run="tiny-gru")
    app.radio(key="run").set_value("one").run()
    switch_page(switch_page(app, "explore"), "train")
    assert component_data(app)[0]["run"] == "one", "it is shown again after another page"
    for run in ("one", "one", "tiny-gru"):
        app.radio(key="run").set_value(run).run()
        app.button(key="train-explore").click().run()
        switch_page(app, "train")
    saved = {path.stem for path in (tmp_path / "kept").glob("*.safetensors")}
    assert saved == {"one", "tiny-gru-2"}, "another model has that name"


def test_a_run_is_taken_home_as_its_file_and_a_program_that_reads_it(
    open_app: Open, downloads: dict[str, Any]
) -> None:
    folder = RunFolder(make_run("one"))
    app = open_app("train", run="one")
    assert {"train-download", "train-torch"} <= {button.key for button in app.get("download_button")}
    path = folder.finished / "one.safetensors"
    assert {*downloads} == {"one.safetensors", "one_torch.py"}
    assert downloads["one.safetensors"]() == path.read_bytes()
    text = torch_network.program(checkpoint.load_numpy(path), "one.safetensors")
    assert downloads["one_torch.py"]().decode() == text
    downloads.clear()
    alive = RunFolder(make_run("two", None))
    with alive.take_lock():
        open_app("train", run="two")
    assert not [name for name in downloads if name.startswith("two")], "not while it trains"


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_tiny_models: Path) -> Path:
    """A folder of shipped models."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    monkeypatch.setattr(checkpoint, "folders", lambda: [tmp_path / "kept", only_tiny_models, folder])
    return folder


def test_a_shipped_replay_is_played_and_told_from_a_run_of_its_name(
    open_app: Open, shipped: Path, tmp_path: Path
) -> None:
    make_run("tiny-gru")
    replay.write("tiny-gru", shipped / "tiny-gru.snapshots.safetensors")
    shutil.copy(shipped / "tiny-gru.snapshots.safetensors", tmp_path / "kept" / "own.snapshots.safetensors")
    app = open_app("train", run="shipped:tiny-gru")
    assert app.radio(key="run").options[0] != app.radio(key="run").options[1]
    assert app.session_state["train-replay-id"] == "shipped:tiny-gru", "written, as the only one"
    for id, state in (("shipped:tiny-gru", "shipped"), ("tiny-gru", "finished")):
        if state == "finished":
            app.radio(key="run").set_value(id).run()
        assert app.run().radio(key="run").value == id
        header, _ = component_data(app)
        assert (header["run"], header["state"]) == (id, state)
        assert header["steps"] == [0, 1, 3, 10, 30]
    assert len(app.radio(key="run").options) == 1, "the list is of one's own runs"
    runs.delete("tiny-gru")
    app = open_app("train")
    assert not components(app), "the opening says one thing"
    starts = []
    for _ in range(2):  # what is in view already is played anew
        app.button(key="train-replay").click().run()
        header, _arrays = component_data(app)
        assert header["run"] == "shipped:tiny-gru"
        starts.append(header["started"])
    assert 0 < starts[0] < starts[1]
    assert address_fields(app)["run"] == "shipped:tiny-gru"


def speech(length: int) -> str:
    """Lines of a and b with quotations of some forty characters; inside, a is a little more frequent."""
    random, is_open, written = np.random.default_rng(0), False, ["a"]
    for kind, letter in random.random((length, 2)):
        if kind < 1 / 40:
            is_open = not is_open
            written.append("“" if is_open else "”")
        elif kind < 3 / 40 and written[-1] != "\n":  # an empty line would end a quotation
            written.append("\n")
        else:
            written.append("a" if letter < (0.65 if is_open else 0.35) else "b")
    return "".join(written)


@pytest.mark.slow
def test_a_run_names_its_row_and_the_page_replays_its_birth(
    open_app: Open, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole run by the command: 8 units learn where a quotation is open, which the last 8 characters tell
    far less well.
    """
    monkeypatch.chdir(shipped)
    watched = "ab “abba”\nbaab “"
    Path("speech.txt").write_text(speech(136_000), "utf-8")
    recipe = (
        "--hidden-size 8 --embedding-size 4 --batch 32 --steps 50 --learning-rate 0.02 --characters 700000"
    )
    options = [*recipe.split(), "--threads", "1", "--quiet", "--watch", watched]
    assert cli.main(["train", "--corpus", "speech.txt", "--name", "speech", *options]) == 0
    (row,) = model_card.remembering(checkpoint.read_info(shipped / "speech.safetensors").card)
    assert (row.target, row.reported > 0.99) == ("quotes", True)
    assert row.evidence is not None
    assert max(rival.score for rival in row.evidence.rivals) < 0.95

    path = replay.write("speech", shipped / "speech.snapshots.safetensors")
    kept = replay.read(path)
    events = [event for event in kept.events if event["event"] == "meaning"]
    assert {event["step"] for event in events} == set(kept.steps)
    scores = [score for event in sorted(events, key=lambda e: e["step"]) for score in event["scores"]]
    assert scores[0] < 0.7 < 0.99 < scores[-1], "from a guess up to nearly 1"
    last = kept.snapshot()
    assert last.rows == ("quotes",)
    assert last.named is not None
    inside = target("quotes", watched).values
    named = last.named[0, : len(watched)]
    assert np.corrcoef(named, inside)[0, 1] > 0.8
    assert len(last.sentences) == row_meaning.SENTENCES
    curves = training.curves(kept.events)
    assert curves.row == "quotes"
    assert curves.born is not None
    assert 0 < curves.born < 700_000

    runs.delete("speech")
    header, arrays = component_data(open_app("train", run="shipped:speech"))
    assert (header["run"], header["rows"], header["shownUnits"][0][0]) == (
        "shipped:speech",
        1,
        "Inside quotes",
    )
    words = header["fixed"]["words"]
    said = "The colour behind a character is the first row's: Inside quotes. This row emerged after"
    assert said in words["heat.surprise"]
    assert arrays["meaning"].tolist() == pytest.approx(scores, abs=1e-4)
    states = arrays["now.states"].reshape(len(watched), 1, -1)
    middle = (COLOUR_LEVELS - 1) / 2
    assert ((states[:, 0, 0] > middle) == (named > 0)).all(), "the row on top"
    assert set(header["steps"]) == set(kept.steps)


@pytest.mark.parametrize(
    ("train_on", "lines", "notice", "numbers"),
    [
        ("train", ["validation", "train"], "Below the dotted line", (0, None, 4.2)),
        ("train+validation", ["end", "train"], "The dot is for text it never trained on", (1, 4.1, None)),
    ],
)
def test_a_replay_says_what_its_figures_are_of(
    open_app: Open, shipped: Path, train_on: str, lines: list[str], notice: str, numbers: tuple[object, ...]
) -> None:
    make_run("tiny-gru", held_out=4.1)
    path = replay.write("tiny-gru", shipped / "tiny-gru.snapshots.safetensors")
    with opened(path, "story") as (about, arrays):
        about["description"]["config"]["train_on"] = train_on
        for event in about["events"] if train_on != "train" else ():
            event.pop("validation_perplexity", None)
        path.write_bytes(pack("story", replay.read(path).snapshot(), about, arrays))
    runs.delete("tiny-gru")
    header, arrays = component_data(open_app("train", run="shipped:tiny-gru"))
    words = header["fixed"]["words"]
    assert header["lines"] == lines
    assert "with dropout" in words["number.train.help"]
    assert words["curve.ngram"].startswith(f"Lower is better. {notice}")
    figures = len(arrays["held_out_at"]), header["numbers"]["held_out"], header["numbers"]["validation"]
    assert figures == numbers


def test_a_run_by_the_name_of_a_deleted_one_is_shown_as_it_is(open_app: Open) -> None:
    make_run("one", created=1.0)
    app = open_app("train", run="one")
    first, curves = component_data(app)
    assert first["state"] == "finished"
    shutil.rmtree(runs.home() / "one")
    make_run("one", "stopped", created=2.0, watch_text="A machine")
    app.run()
    second, after = component_data(app)
    assert (second["state"], second["watchText"]) == ("stopped", "A machine")
    assert second["created"] != first["created"]
    assert len(after["train"]) == len(curves["train"]), "its events alone"


@pytest.mark.parametrize("error", [TrainingError("too slow"), OSError("no process")])
def test_a_speed_that_cannot_be_measured_is_asked_for_once(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    requests = []

    def measured(config: object, symbols: int, check: object) -> float:
        requests.append(symbols)
        raise error

    monkeypatch.setattr(estimate, "measure_speed", measured)
    app = run_until_settled(pick_text(open_app("train"), "python-docs"), "train").run()
    assert len(requests) == 1
    assert "parameters" in page_words(app)
    assert "being measured" not in page_words(app)


def test_a_newcomer_meets_the_replay_of_the_model_that_opens_first(shipped: Path) -> None:
    for name in ("timemachine-gru", "python-lstm", "holmes-lstm"):
        (shipped / f"{name}.snapshots.safetensors").touch()
    names = [id.removeprefix(selected_run.SHIPPED) for id in selected_run.replays()]
    assert names == ["holmes-lstm", "python-lstm", "timemachine-gru"]


HALF = "\ud800"  # JSON holds it as half a surrogate pair, and no UTF-8 does


def halved(value: Any) -> list[Any]:
    """The JSON value with the last character of each string replaced, one string at a time."""
    if isinstance(value, str):
        return [value[:-1] + HALF]
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [
        {**value, key: odd} if isinstance(value, dict) else [*value[:key], odd, *value[key + 1 :]]
        for key in keys
        for odd in halved(value[key])
    ]


def test_half_a_surrogate_pair_in_any_event_is_a_character_or_the_line_is_left_out(open_app: Open) -> None:
    error = {"message": "of {kind}", "values": {"kind": "cause"}}
    folder = RunFolder(make_run("one", "failed", error=error, cause="none"))
    lines = folder.events.read_text("utf-8").splitlines()
    tried = 0
    for n, line in enumerate(lines):
        for event in halved(json.loads(line)):
            folder.events.unlink()
            folder.events.write_text(
                "\n".join([*lines[:n], json.dumps(event), *lines[n + 1 :]]) + "\n", "utf-8"
            )
            app = open_app("train", run="one")
            assert component_data(app)[0]["run"] == "one"
            tried += 1
            if HALF in event.get("sample", ""):
                assert component_data(app)[0]["sample"] == "<b>tim?"
    assert tried >= 12


def test_half_a_surrogate_pair_in_a_description_or_a_snapshot_is_shown_or_said(open_app: Open) -> None:
    folder = RunFolder(make_run("one"))
    description = json.loads(folder.description_file.read_text("utf-8"))
    for odd in halved(description):
        folder.description_file.write_text(json.dumps(odd), "utf-8")
        assert component_data(open_app("train", run="one"))[0]["run"] == "one"
    folder.description_file.write_text(json.dumps(description), "utf-8")
    with opened(folder.newest_snapshot, "probe") as (about, arrays):
        shot = unpack(about, arrays, 30, 3000)
    for text, symbols in ((shot.text[:-1] + HALF, shot.symbols), (shot.text, (*shot.symbols[:-1], HALF))):
        folder.newest_snapshot.write_bytes(to_bytes(replace(shot, text=text, symbols=symbols)))
        assert component_data(open_app("train", run="one"))[0]["watchText"] == text.replace(HALF, "?")


@pytest.mark.parametrize("id", ["x" * 5_000, "é" * 200, "", "..", "a/b", "a\0b"])
def test_a_run_that_can_not_be_is_said_not_to_be_there(open_app: Open, id: str) -> None:
    make_run("one")
    app = open_app("train", run=id)
    (message,) = [warning.value for warning in app.warning]
    assert "There is no run called" in message
    assert len(message) < 250


def test_a_watch_of_very_many_events_reads_them_anew_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_view, "MAX_EVENTS", 20)
    monkeypatch.setattr(event_log, "MAX_LINES_KIND", 4)
    monkeypatch.setattr(event_log, "NEWEST_LINES", 2)
    folder = RunFolder(make_run("one", None))
    watch, longest_log = run_view.RunMonitor(), 0
    for step in range(31, 91):
        event_log.append(folder.events, {"event": "progress", "step": step})
        run = selected_run.find("one")
        assert run is not None
        watch.refresh(run)
        longest_log = max(longest_log, len(watch.events))
        assert watch.newest("progress")["step"] == step
    assert longest_log == 21
    assert watch.newest("start")["total_characters"] == 3000


@pytest.mark.usefixtures("started")
def test_an_unknown_run_is_named_until_another_is_chosen(open_app: Open) -> None:
    assert "no run called **nobody** here" in warning_text(open_app("train", run="nobody"))
    make_run("one", created=1.0)
    make_run("two", created=2.0)
    app = open_app("train", run="nobody")
    assert "no run called **nobody** here" in warning_text(app)
    assert "This is **two**" in warning_text(app)
    assert not warning_text(app.radio(key="run").set_value("one").run())
    runs.delete("one")  # in another window
    assert "no run called **one** here" in warning_text(app.run())
    assert "This is **two**" in warning_text(app)
