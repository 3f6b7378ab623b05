"""The Train page without a browser: texts, settings, what is refused, runs in all their states."""

import contextlib
import csv
import io
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.errors import CheckpointError, DownloadError
from rnnviz.figures import export
from rnnviz.i18n import speaking
from rnnviz.lab.fit import estimate
from rnnviz.lab.fit.presets import NAMES, TEXTBOOK, TEXTBOOK_CHARACTERS
from rnnviz.lab.pages.train import page, run_comparison, run_view, settings, training_text
from rnnviz.lab.pages.train import run_words as say
from rnnviz.lab.pages.train.run_view import RunPicture
from rnnviz.lab.pages.train.selected_run import find
from rnnviz.lab.run import event_log, queue, runs
from rnnviz.lab.run.folder import RunFolder
from rnnviz.networks import checkpoint, model_card
from rnnviz.page.payload import unpack
from rnnviz.text import corpora
from tests.support.apptest import (
    SHIPPED,
    Open,
    address_fields,
    component_data,
    components,
    page_words,
    run_until_settled,
)
from tests.support.lab_pages import pick_text
from tests.support.made_runs import WATCHED, make_run, training
from tests.support.models import TEXT, tiny, tiny_card

pytestmark = pytest.mark.usefixtures("started")


NAMED = model_card.unit_findings(checkpoint.read_info(SHIPPED / "holmes-lstm.safetensors").card)[0]


def test_every_state_of_a_run_has_an_icon_and_a_word() -> None:
    with speaking("zh"):
        for state in get_args(runs.State):
            assert say.state_word(state) != state
            assert say.ICONS[state]


def test_start_puts_the_toy_in_the_queue_and_shows_it(
    open_app: Open, started: list[runs.Description]
) -> None:
    app = open_app("train")
    assert "**machine**" in page_words(app)
    assert app.selectbox(key="train-text").value == "machine"
    assert not components(app)
    app.button(key="train-start").click().run()
    (description,) = started
    assert description.text == "machinemachine", "so that it learns what follows the e"
    assert description.title == corpora.describe("machine").title
    assert (description.watch_text, description.minutes) == ("machine", None)
    shown_ids = [app.radio(key="run").value, address_fields(app)["run"], component_data(app)[0]["run"]]
    assert shown_ids == ["machine-rnn"] * 3


def test_a_preset_fills_the_settings_and_all_can_be_changed(
    open_app: Open, started: list[runs.Description]
) -> None:
    app = pick_text(open_app("train"), "python-docs")
    app.button_group(key="train-more").set_value("settings").run()
    assert app.selectbox(key="set-cell").value == "lstm"
    app.selectbox(key="set-cell").select("gru").run()
    assert app.text_input(key="set-name").value == "python-docs-gru"
    app.button_group(key="train-preset").set_value("five-minutes").run()
    assert app.selectbox(key="set-cell").value == "lstm", "another preset begins anew"
    app.selectbox(key="set-cell").select("gru").run()
    app.number_input(key="set-hidden_size").set_value(64).run()
    app.button_group(key="set-truncation").set_value("random").run()
    app.number_input(key="set-minutes").set_value(2.0).run()
    app.text_input(key="set-watch_text").set_value("def f(").run()
    assert "settings changed" in page_words(app)
    app.button_group(key="train-more").set_value(None).run()  # hidden, the settings stay
    app.button(key="train-start").click().run()
    (description,) = started
    config = description.config
    assert (config.cell, config.hidden_size, config.truncation) == ("gru", 64, "random")
    assert (description.minutes, description.watch_text, description.name) == (
        2.0,
        "def f(",
        "python-docs-gru",
    )


def test_names_begin_with_a_preset_for_texts_that_end(
    open_app: Open, started: list[runs.Description]
) -> None:
    app = pick_text(open_app("train"), "timemachine")
    assert "For short texts that end" not in app.button_group(key="train-preset").options
    app = pick_text(app, "names")
    assert app.button_group(key="train-preset").value == "names"
    assert "LSTM, 128 hidden units" in page_words(app)
    app.button(key="train-start").click().run()
    (description,) = started
    assert description.corpus == "names"
    trained, characters = len(corpora.read("names").split().train), description.config.characters
    assert characters == pytest.approx(NAMES.epochs * trained, rel=0.01)
    assert replace(description.config, characters=0, epochs=60) == NAMES


def test_the_textbooks_preset_has_its_text_and_its_recipe_and_clipping_can_be_left_out(
    open_app: Open, started: list[runs.Description]
) -> None:
    app = pick_text(open_app("train"), "python-docs")
    assert "As in the textbook" not in app.button_group(key="train-preset").options
    app = pick_text(app, "timemachine")
    app.button_group(key="train-preset").set_value("textbook").run()
    assert "RNN, 512 hidden units" in page_words(app)
    assert "settings changed" not in page_words(app)
    app.button(key="train-start").click().run()
    app.button_group(key="train-more").set_value("settings").run()
    app.number_input(key="set-clip").set_value(0.0).run()
    app.text_input(key="set-name").set_value("unclipped").run()
    app.button_group(key="set-partition").set_value("random").run()
    assert app.slider(key="set-fresh_rows").disabled
    assert "settings changed" in page_words(app)
    app.button(key="train-start").click().run()
    plain, changed = started
    assert plain.text is not None
    assert (plain.corpus, len(plain.text)) == ("", TEXTBOOK_CHARACTERS)
    assert plain.config == replace(TEXTBOOK, epochs=plain.config.epochs, characters=5_000_000)
    assert changed.config == replace(plain.config, clip=None, partition="random")


@pytest.mark.usefixtures("troubled")
def test_settings_that_contradict_each_other_refuse_the_start(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = pick_text(open_app("train"), "python-docs")
    app.button_group(key="train-more").set_value("settings").run()
    app.text_input(key="set-name").set_value("../evil").run()
    app.button(key="train-start").click().run()
    assert "letters, digits" in app.error[0].value.replace("\\", "")
    app.text_input(key="set-name").set_value(" ").run()
    assert app.button(key="train-start").disabled
    assert "Give the run a name" in app.error[0].value
    monkeypatch.setattr(estimate, "available_memory", lambda: 1_000_000)
    app.text_input(key="set-name").set_value("good").run()
    assert app.button(key="train-start").disabled
    assert "of memory and" in app.error[0].value


def test_a_pasted_text_is_described_and_trained_on(open_app: Open, started: list[runs.Description]) -> None:
    app = pick_text(open_app("train"), training_text.PASTE)
    assert "Choose a text" in page_words(app)
    app.text_area(key="train-paste").set_value("aa " * 340 + "bb " * 20 + "cc " * 40).run()
    assert set(app.text_input(key="set-watch_text").value) == {"b", " "}, "not of the held-out text"
    app.text_area(key="train-paste").set_value(TEXT).run()
    assert "2 · Training time]  \nOne minute" in page_words(app), "a short text offers one time, so no choice"
    app.button_group(key="train-more").set_value("text").run()
    words = page_words(app)
    assert f"{len(TEXT):,} characters, {len(set(TEXT))} of them different" in words
    assert "measured once at the end" in words
    app.button(key="train-start").click().run()
    (description,) = started
    assert description.text == TEXT
    assert description.corpus == ""
    pick_text(app, "machine")
    assert "2 · Training time]  \nA few seconds" in page_words(app)
    assert not [group for group in app.button_group if group.key == "train-preset"], "one option is no choice"


NAMES_OF_ONE = [f"{first}{last}" for first in ("Ann", "Bell", "Cor") for last in ("a", "ie", "ette", "wyn")]


def start_named(app: AppTest, name: str) -> None:
    app.button_group(key="train-more").set_value("settings").run()
    app.text_input(key="set-name").set_value(name).run()
    app.button(key="train-start").click().run()


def test_pasted_lines_are_texts_that_end_by_a_tick(open_app: Open, started: list[runs.Description]) -> None:
    app = pick_text(open_app("train"), training_text.PASTE)
    app.text_area(key="train-paste").set_value("\n\n".join(NAMES_OF_ONE * 9)).run()
    assert "For short texts that end" not in page_words(app)
    app.checkbox(key="train-lines.paste").check().run()
    assert app.button_group(key="train-preset").value == "names"
    assert app.text_input(key="set-watch_text").value in NAMES_OF_ONE, "one text, not several in a row"
    app.button_group(key="train-more").set_value("text").run()
    assert "108 texts that end" in page_words(app)
    app.button(key="train-start").click().run()
    app.checkbox(key="train-lines.paste").uncheck().run()
    start_named(app, "plain")
    ends, plain = started
    assert (ends.text, ends.lines) == (corpora.from_texts(NAMES_OF_ONE * 9).text, True)
    assert (plain.text, plain.lines) == ("\n\n".join(NAMES_OF_ONE * 9), False)


def test_few_texts_that_end_are_read_once(open_app: Open, started: list[runs.Description]) -> None:
    app = pick_text(open_app("train"), training_text.PASTE)
    app.text_area(key="train-paste").set_value("Ann\nBob").run()
    app.checkbox(key="train-lines.paste").check().run()
    app.button_group(key="train-more").set_value("text").run()
    assert "nothing is held out" in page_words(app)
    assert "twice" not in page_words(app)
    app.button(key="train-start").click().run()
    assert [(run.text, run.watch_text) for run in started] == [("Ann\nBob\n", "Ann")]


@pytest.mark.usefixtures("troubled")
def test_a_table_is_asked_for_its_column_and_names_what_is_left_out(
    open_app: Open, started: list[runs.Description]
) -> None:
    head, *rows = "n,name", *(f"{n},{name}" for n, name in enumerate(NAMES_OF_ONE * 9))
    rows[3:3] = ["3,", "4"]
    app = pick_text(open_app("train"), training_text.UPLOAD)
    app.file_uploader(key="train-file").upload("girls.csv", "\n".join([head, *rows]).encode()).run()
    (column,) = (box for box in app.selectbox if box.label == "Column of the texts")
    assert column.options == ["n", "name", "none: read it as plain text"]
    column.select("name").run()
    told = app.warning[0].value.replace("\\", "")
    assert "Rows left out: 2." in told
    for row in ("row 3: it can't be trained on", "row 4: it has 1 fields"):
        assert row in told
    assert not app.checkbox, "of a column's rows it is known that they end"
    app.button(key="train-start").click().run()
    column = next(box for box in app.selectbox if box.label == column.label)
    column.select_index(2).run()
    assert not app.warning
    start_named(app, "plain")
    of_column, plain = started
    assert (of_column.text, of_column.lines) == (corpora.from_texts(NAMES_OF_ONE * 9).text, True)
    assert (plain.text, plain.lines) == ("\n".join([head, *rows]), False)
    assert of_column.title == "girls.csv"


def test_the_toy_is_of_the_language(open_app: Open, started: list[runs.Description]) -> None:
    app = open_app("train", locale="zh-CN")
    _name, word = training_text.TOYS["zh"]
    assert len(word) == len(set(word)) == len("machine"), "as the page says"
    assert app.text_input(key="set-watch_text").value == word
    assert f"**{word[0]}**" in (text := page_words(app))
    assert 2 * word in text
    assert "machine" not in text
    app.button(key="train-start").click().run()
    (description,) = started
    assert (description.text, description.name) == (2 * word, "chunjiang-rnn")
    assert description.config.hidden_size == 8


@pytest.mark.usefixtures("troubled")
def test_an_upload_may_be_in_any_encoding_and_a_picture_is_refused(open_app: Open) -> None:
    app = pick_text(open_app("train"), training_text.UPLOAD)
    app.file_uploader(key="train-file").upload("Größe.txt", ("Größe und Ärger. " * 60).encode("cp1252")).run()
    assert app.session_state["set-name"] == "gr-e-lstm"
    app = pick_text(open_app("train"), training_text.UPLOAD)
    app.file_uploader(key="train-file").upload("a.png", b"\x89PNG\r\n\x1a\n" + bytes(99)).run()
    assert "PNG" in app.error[0].value


@pytest.mark.usefixtures("troubled")
def test_a_download_says_what_it_is_and_what_went_wrong(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))

    online = threading.Event()

    def offline(name: str, progress: object = None) -> None:
        assert online.wait(20)
        raise DownloadError("raw.githubusercontent.com can't be reached; check the network")

    monkeypatch.setattr(corpora, "fetch", offline)
    app = pick_text(open_app("train"), "tinyshakespeare")
    text = page_words(app).replace("\\", "")
    assert [fact for fact in ("1.1 MB", "karpathy/char-rnn", "public domain") if fact not in text] == []
    app.button(key="fetch").click().run()
    jobs = app.run().session_state["train.jobs"]
    assert jobs.busy(), "it goes on while the page is drawn again"
    online.set()
    assert jobs.wait_until_idle(20)
    app.run()
    assert "can't be reached" in app.error[0].value.replace("\\", "")


def test_a_finished_run_is_shown_with_everything(open_app: Open) -> None:
    make_run("one", held_out=4.3)
    app = open_app("train")
    header, arrays = component_data(app)
    assert (header["run"], header["state"], header["alive"]) == ("one", "finished", False)
    assert header["steps"] == [0, 1, 3, 10, 30]
    assert header["watchText"] == WATCHED
    assert header["sample"] == "<b>time"
    assert "held-out perplexity 4.30" in header["progressLine"]
    assert "better than counting sequences of 6" in header["passed"]
    assert arrays["now.states"].shape == (len(WATCHED), 1, 12)
    assert arrays["now.next"].shape == (len(WATCHED) + 1, 8)
    assert np.all(arrays["now.chances"][:, 0] >= arrays["now.chances"][:, -1])
    assert arrays["now.nll"].shape == (len(WATCHED),)
    assert r"Tiny \<text\>" in page_words(app)
    assert header["fixed"]["words"]["ngram"] == "6-gram"


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"findings": [NAMED.to_json()]}, "Explore opens on the first of them."),
        ({"unanswered": {"quotes": "short"}}, "the text is too short"),
    ],
)
def test_a_finished_run_says_what_its_units_were_found_to_follow_or_why_nothing(
    open_app: Open, entry: dict[str, Any], sentence: str
) -> None:
    finished = RunFolder(make_run("one")).finished / "one.safetensors"
    checkpoint.save(tiny("lstm", card=tiny_card(**{model_card.UNITS_KEY: entry})), finished)
    assert sentence in page_words(open_app("train", run="one"))


def test_of_many_units_those_that_change_most_are_shown(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_view, "SHOWN_UNITS", 3)
    make_run("one")
    spread = runs.snapshot("one", None).hidden[:, 0].std(axis=0)
    header, arrays = component_data(open_app("train"))
    assert sorted(header["shownUnits"][0]) == sorted(np.argsort(-spread)[:3])
    assert arrays["now.states"].shape == (len(WATCHED), 1, 3)


def test_snapshots_are_sent_when_they_are_asked_for() -> None:
    make_run("one")
    subject = find("one")
    assert subject is not None
    picture = RunPicture(subject)
    picture.monitor.refresh(subject)
    picture._words = picture.words()

    def answer(ask: dict[str, Any] | None) -> dict[str, Any]:
        return unpack(picture.answer(ask))[0]

    first = answer(None)
    assert [f["key"] for f in first["frames"]] == ["now"]
    ask = {"client": "c", "run": "one", "digest": first["digest"], "held": [0, 1]}
    second = answer(ask)
    assert [f["step"] for f in second["frames"]] == [30, 3, 10, 30]
    assert "fixed" not in second
    assert "fixed" in answer({**ask, "digest": "old"})
    for odd in ({"run": "one", "held": "x"}, {"run": "one", "held": [[1]]}, {"run": "another"}, {}):
        assert answer(odd)["frames"]


@pytest.mark.parametrize(
    ("end", "fields", "words"),
    [
        ("stopped", {}, "Stopped at 100 %"),
        ("failed", {"reason": "It said so."}, "It said so."),
        ("failed", {"reason": "Memory ran out. …", "cause": "memory"}, "fewer hidden units"),
        (None, {}, "ended without a message"),
    ],
)
def test_a_run_that_ended_early_says_why_and_can_go_on(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, end: str | None, fields: dict[str, Any], words: str
) -> None:
    events = make_run("one", end) / "events.jsonl"
    if fields:
        event_log.append(events, {"event": end, **fields})
    resumed: list[str] = []
    monkeypatch.setattr(runs, "resume", resumed.append)
    app = open_app("train")
    assert words in component_data(app)[0]["progressLine"]
    app.button(key="train-resume").click().run()
    assert resumed == ["one"]


@pytest.fixture
def alive() -> Iterator[Callable[[str, str], None]]:
    """Let a run look as if its process were there: it holds its lock, has a ticket and told an event last."""
    with contextlib.ExitStack() as locks:

        def live(name: str, event: str) -> None:
            folder = RunFolder(make_run(name, None))
            event_log.append(folder.events, {"event": event, "total_characters": 3000})
            locks.enter_context(folder.take_lock())
            queue.take_ticket(folder)

        yield live


def test_a_run_that_trains_can_be_stopped_and_not_deleted(
    open_app: Open, alive: Callable[[str, str], None]
) -> None:
    alive("one", "start")
    app = open_app("train")
    header, _ = component_data(app)
    assert header["alive"]
    assert header["shownUnits"] == [list(range(12))], "in their order: none moves while it trains"
    assert "100 % · 3,000 of 3,000 characters" in header["progressLine"]
    assert {b.key for b in app.button if str(b.key).startswith("train-")} == {"train-start", "train-stop"}
    app.button(key="train-stop").click().run()
    assert RunFolder(runs.find("one").path).stop.exists()
    assert app.button(key="train-stop").disabled
    assert "stopping" in page_words(app)
    run_until_settled(pick_text(app, "python-docs"), "train")
    assert "characters a second" not in page_words(app), "no trial beside a run"


def test_the_queue_is_seen_and_its_limit_can_be_set(
    open_app: Open, alive: Callable[[str, str], None]
) -> None:
    with training("first"):
        alive("second", "queued")
        app = open_app("train", run="second")
        assert app.radio(key="run").value == "second"
        assert "1 run before it in the queue" in component_data(app)[0]["progressLine"]
    assert "next in the queue" in component_data(app.run())[0]["progressLine"]
    assert app.button(key="train-stop").label == "Leave the queue"
    app.number_input(key="train-limit").set_value(2).run()
    assert runs.limit() == 2


def test_the_first_run_on_a_book_needs_no_network(
    open_app: Open, started: list[runs.Description], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "nothing"))
    app = open_app("train")
    assert [o.split(" · ")[0] for o in app.selectbox(key="train-text").options[:2]] == [
        "“machine”, the toy",
        "H. G. Wells, The Time Machine (1898)",
    ]
    pick_text(app, "timemachine")
    app.button(key="train-start").click().run()
    assert (started[0].corpus, started[0].watch_text) == ("timemachine", settings.WATCH_TEXTS["timemachine"])


def test_runs_on_the_same_text_are_compared_in_a_chart_and_a_table(open_app: Open) -> None:
    make_run("one", created=1.0)
    make_run("other", created=2.0, text="another text, " * 30)
    app = open_app("train")
    assert not app.multiselect, "one run alone is compared with nothing"
    assert "on the same text" in page_words(app)
    make_run("two", "stopped", created=3.0)
    app.run()
    app.radio(key="run").set_value("two").run()
    assert app.multiselect(key="train-compare").options == ["two", "one"]
    assert app.multiselect(key="train-compare").value == ["two", "one"]
    assert app.get("plotly_chart")
    (frame,) = [frame for frame in app.dataframe if "hidden_size" in frame.value]
    assert json.loads(frame.proto.columns)["hidden_size"]["label"] == "Hidden units H"
    assert any("Validation perplexity: lower" in c.value for c in app.caption)
    rows = [run_comparison.row(run) for run in runs.listed() if run.id != "other"]
    table = list(csv.DictReader(io.StringIO(export.csv_text([*rows, {**rows[0], "Run": "=1+1"}]))))
    assert [row["Run"] for row in table] == ["two", "one", "'=1+1"]
    assert table[0]["Validation perplexity"] == "4.2"


def test_where_no_validation_text_is_the_comparison_says_training_perplexity(open_app: Open) -> None:
    for name in ("one", "two"):
        events = make_run(name, text="machine" * 30) / "events.jsonl"
        lines = events.read_text("utf-8").splitlines(keepends=True)
        events.write_text("".join(line for line in lines if json.loads(line)["event"] != "report"), "utf-8")
    captions = [caption.value for caption in open_app("train").caption]
    assert any(line.startswith("Training perplexity") for line in captions)
    assert not any(line.startswith("Validation perplexity") for line in captions)


def test_runs_are_compared_with_those_on_their_text_that_count_alike(open_app: Open) -> None:
    read = {
        "a": "",
        "b": "x " * 200,
        "c": "x " * 200,
        "d": "y " * 200,
        "e": "",
        "steps-1": "",
        "steps-2": "",
    }
    for n, (name, text) in enumerate(read.items()):
        make_run(name, created=float(n + 1), text=text)
        if name.startswith("steps"):
            last = runs.find(name).progress or {}
            event_log.append(runs.home() / name / "events.jsonl", {**last, "counted": "steps"})
    app = open_app("train", run="b")
    assert app.multiselect(key="train-compare").options == ["c", "b"], "not d, on a text of its own"
    app.radio(key="run").set_value("a").run()
    assert app.multiselect(key="train-compare").value == ["e", "a"]
    app.radio(key="run").set_value("steps-1").run()
    assert app.multiselect(key="train-compare").options == ["steps-2", "steps-1"]
    app.radio(key="run").set_value("d").run()
    assert not app.multiselect


@pytest.mark.usefixtures("troubled")
def test_a_strangers_checkpoint_is_checked_before_it_is_kept(
    open_app: Open, models_folder: Path, tmp_path: Path
) -> None:
    good = (models_folder / "tiny-gru.safetensors").read_bytes()
    app = open_app("train")
    for name, data in {"a": b"nonsense", "b": good[:-4], "c": good[:9] + b"\xff" + good[10:]}.items():
        app.file_uploader(key="train-add").upload(f"{name}.safetensors", data).run()
        app.button(key="train-add-save").click().run()
        assert app.error, name
    app.file_uploader(key="train-add").upload("../../GRU (1).safetensors", good).run()
    assert next(t for t in app.text_input if "train-add" in str(t.key)).value == "gru-1"
    app.button(key="train-add-save").click().run()
    assert not app.error
    assert "**gru\\-1**" in app.success[0].value
    assert checkpoint.load_numpy(tmp_path / "kept" / "gru-1.safetensors")
    for name in ("../x", "gru-1", "tiny-lstm", ""):
        with pytest.raises(CheckpointError):
            page.save_model(good, name)


@pytest.mark.parametrize(
    ("number", "words"), [(900, "900"), (52_000, "52 thousand"), (1_250_000, "1.2 million")]
)
def test_numbers_in_words(number: int, words: str) -> None:
    assert say.millions(number) == words


@pytest.mark.parametrize(("title", "name"), [("Größe & Co. <b>", "gr-e-co-b"), ("西游记", "own-text")])
def test_a_text_gives_a_run_a_name_of_letters(title: str, name: str) -> None:
    assert training_text.file_name(title) == name


def test_a_recipe_is_said_in_words() -> None:
    recipe = {"cell": "rnn", "activation": "relu", "hidden_size": 5, "layers": 1}
    assert say.kind(recipe) == "RNN (ReLU), 5 hidden units"
