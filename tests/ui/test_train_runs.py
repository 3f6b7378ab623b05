"""What is done with runs on the Train page: deleted, kept, opened; and runs that are called the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rnnviz.errors import TrainingError
from rnnviz.networks import checkpoint
from rnnviz.runs import api as runs
from rnnviz.runs import story
from rnnviz.runs.snapshots import opened, pack
from rnnviz.training import speed
from rnnviz.ui.pages.train import listing
from tests.runs.made_runs import made
from tests.ui.conftest import Open, everything, turn
from tests.ui.test_train import button, pick, sent

pytestmark = pytest.mark.usefixtures("started")


def test_a_run_is_deleted_after_a_question(open_app: Open) -> None:
    made("one", created=1.0)
    made("two", created=2.0)
    app = open_app("train", run="two")
    button(app, "train-delete-really.two.2.0").click().run()
    assert not app.exception
    assert [run.id for run in runs.listed()] == ["one"]
    assert sent(app)[0]["run"] == "one"


def test_a_click_on_what_is_gone_is_a_sentence(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    made("one", "stopped")
    app = open_app("train")
    shutil.rmtree(runs.home() / "one")
    button(app, "train-resume").click().run()
    assert not app.exception
    assert "Traceback" not in everything(app)


def test_a_model_is_kept_once_and_under_a_name_of_ones_own(open_app: Open, tmp_path: Path) -> None:
    made("one")
    app = open_app("train")
    app.text_input(key="train-keep-name.one").set_value("../x")
    keep = next(b for b in app.button if b.label == "Save among the models")
    keep.click().run()
    assert "letters, digits" in app.error[0].value.replace("\\", "")
    app.text_input(key="train-keep-name.one").set_value("mine")
    next(b for b in app.button if b.label == "Save among the models").click().run()
    assert (tmp_path / "kept" / "mine.safetensors").is_file()
    app.text_input(key="train-keep-name.one").set_value("tiny-gru")
    next(b for b in app.button if b.label == "Save among the models").click().run()
    assert "already" in app.error[0].value


def test_explore_opens_with_the_model(open_app: Open, tmp_path: Path) -> None:
    made("one")
    app = open_app("train")
    button(app, "train-explore").click().run()
    assert not app.exception
    assert (tmp_path / "kept" / "one.safetensors").is_file()


def test_a_shipped_story_is_played_and_told_from_a_run_of_its_name(open_app: Open, tmp_path: Path) -> None:
    made("tiny-gru")
    story.write("tiny-gru", tmp_path / "kept" / "tiny-gru.snapshots.safetensors")
    app = open_app("train")
    assert app.radio(key="run").options[0] != app.radio(key="run").options[1]
    for id in ("shipped:tiny-gru", "tiny-gru", "tiny-gru"):
        app.radio(key="run").set_value(id).run()
        assert app.run().radio(key="run").value == id
        header, _ = sent(app)
        assert (header["run"], header["state"]) == (id, "finished" if id == "tiny-gru" else "shipped")
        assert header["steps"] == [0, 1, 3, 10, 30]
    runs.delete("tiny-gru")
    assert sent(open_app("train"))[0]["run"] == "shipped:tiny-gru"  # what there is to see without any run


@pytest.mark.parametrize(
    ("train_on", "of_0_1_0", "lines", "train", "notice"),
    [
        ("train", False, ["validation", "train"], "with dropout", "Below the dotted line"),
        ("train", True, ["validation", "train"], "with dropout", "Below the dotted line"),
        ("train+validation", False, ["end", "train"], "with dropout", "The dot is held-out text"),
        ("train+validation", True, ["held_out", "train"], "without dropout", "On held-out text"),
    ],
)
def test_a_story_says_what_its_figures_are_of(
    open_app: Open, tmp_path: Path, train_on: str, of_0_1_0: bool, lines: list[str], train: str, notice: str
) -> None:
    """Stories of 0.1.0 measured held-out text all along, where the validation text had been trained on."""
    made("tiny-gru", held_out=4.1)
    path = story.write("tiny-gru", tmp_path / "kept" / "tiny-gru.snapshots.safetensors")
    with opened(path, "story") as (about, arrays):
        about["description"]["config"]["train_on"] = train_on
        for event in about["events"]:
            figure = event.pop("validation_perplexity", None)
            if figure and (of_0_1_0 or train_on == "train"):
                event["held_out_perplexity" if of_0_1_0 else "validation_perplexity"] = figure
        path.write_bytes(pack("story", story.read(path).snapshot(), about, arrays))
    runs.delete("tiny-gru")
    header, arrays = sent(open_app("train"))
    words = header["static"]["words"]
    assert header["lines"] == lines
    assert train in words["number.train.help"]
    assert words["curve.counted"].startswith(notice)
    assert (len(arrays["looked"]), header["numbers"]["held_out"]) == (
        (0, None) if lines[0] == "validation" else (1, 4.2 if of_0_1_0 else 4.1)
    )
    assert header["numbers"]["validation"] == (4.2 if lines[0] == "validation" else None)


def test_the_run_that_was_shown_is_shown_again_after_another_page(open_app: Open) -> None:
    made("one", created=1.0)
    made("two", created=2.0)
    app = open_app("train", run="one")
    turn(app, "explore")
    turn(app, "train")
    assert sent(app)[0]["run"] == "one"


def test_each_run_is_kept_under_its_own_name(open_app: Open, tmp_path: Path) -> None:
    made("one", created=1.0)
    made("two", created=2.0)
    app = open_app("train", run="two")
    app.radio(key="run").set_value("one").run()
    next(b for b in app.button if b.label == "Save among the models").click().run()
    assert checkpoint.load_numpy(tmp_path / "kept" / "one.safetensors")
    assert not (tmp_path / "kept" / "two.safetensors").exists()


def test_a_run_by_the_name_of_a_deleted_one_is_shown_as_it_is(open_app: Open) -> None:
    made("one", created=1.0)
    app = open_app("train", run="one")
    first = sent(app)[0]
    assert first["state"] == "finished"
    shutil.rmtree(runs.home() / "one")
    made("one", "stopped", created=2.0, watched="A machine")
    app.run()
    second = sent(app)[0]
    assert (second["state"], second["probe"]) == ("stopped", "A machine")
    assert second["born"] != first["born"]
    assert second["drawn"] == first["drawn"], "its events alone"


@pytest.mark.parametrize("error", [TrainingError("too slow"), OSError("no process")])
def test_a_speed_that_cannot_be_measured_is_asked_for_once(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked = []

    def measured(config: object, symbols: int, check: object) -> float:
        asked.append(symbols)
        raise error

    monkeypatch.setattr(speed, "measured", measured)
    app = pick(open_app("train"), "python-docs")
    for _ in range(3):
        jobs = app.session_state["train.jobs"]
        assert jobs.wait([job.key for job in jobs.busy()], 30)
        app.run()
    assert len(asked) == 1
    assert not app.exception
    assert "parameters" in everything(app)
    assert "being measured" not in everything(app)


def test_a_newcomer_meets_the_same_stories_first_whatever_else_there_is() -> None:
    names = [
        "python-gru",
        "shakespeare-lstm",
        "timemachine-mlp",
        "timemachine-rnn",
        "timemachine-gru",
        "mine",
    ]
    ordered = [
        "timemachine-gru",
        "timemachine-rnn",
        "timemachine-mlp",
        "python-gru",
        "shakespeare-lstm",
        "mine",
    ]
    assert listing.first(names) == ordered
