"""How much a visitor of a hosted app may do: one small run, a few short texts, nothing to take away."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.errors import RnnvizError
from rnnviz.networks.config import TrainConfig
from rnnviz.training import runs, visitors
from rnnviz.training.folder import VISITOR, Description
from rnnviz.ui.hosting import limits, permissions
from rnnviz.ui.hosting.user import ALONE, NOBODY
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.inside import match
from rnnviz.ui.pages.learn import poll
from rnnviz.ui.room import rooms
from tests import needs
from tests.ui.apptest import settled
from tests.ui.conftest import Open, everything
from tests.ui.persons import ANN, BOB, LECTURER, Is
from tests.ui.test_perplexity import paste, section, upload

# ---- a run of one's own --------------------------------------------------------------------------------


def test_the_lecturer_alone_reads_who_they_are(open_app: Open, now_is: Is) -> None:
    for who, reads in ((LECTURER, True), (ANN, False), (ALONE, False)):
        now_is(who)
        captions = [caption.value for caption in open_app("train").sidebar.caption]
        assert ("You are the lecturer: visitors see fewer buttons." in captions) is reads


def test_a_visitor_has_one_small_run_and_sees_it(open_app: Open, now_is: Is) -> None:
    now_is(ANN)
    app, tab = open_app("train"), open_app("train")
    app.button(key="train-start").click().run()
    (run,) = visitors.listed()
    assert (run.owner, run.id.startswith(VISITOR)) == (ANN.id, True)
    assert not runs.listed()
    assert app.radio(key="run").value == run.id
    assert app.button(key="train-start").disabled
    assert "You have a run already" in everything(app)
    assert app.radio(key="run").options == [r"machine\-rnn (yours)"]
    assert visitors.tag(ANN.id) not in everything(app)
    tab.button(key="train-start").click().run()  # drawn before
    assert len(visitors.listed()) == 1
    now_is(BOB)
    other = open_app("train")
    other.button(key="train-start").click().run()
    assert {run.owner for run in visitors.listed()} == {ANN.id, BOB.id}
    now_is(LECTURER)
    listed = open_app("train")  # none of the lecturer's own: a sentence, not an empty choice
    assert "None yet" in everything(listed)
    assert not [choice for choice in listed.radio if choice.key == "run"]
    assert "Visitors' runs (2)" in [toggle.label for toggle in listed.toggle]


def test_what_a_browser_says_of_a_recipe_is_looked_at_again(open_app: Open, now_is: Is) -> None:
    now_is(ANN)
    app = open_app("train")
    app.selectbox(key="train-text").select("python-docs").run()
    assert app.button_group(key="train-preset").options == ["One minute", "One minute, minGRU"]
    assert not app.session_state["train.jobs"]._jobs, "a visitor has no speed tried"
    app.button_group(key="train-more").set_value("settings").run()
    for name, largest in limits.SIZES.items():
        assert app.number_input(key=f"set-{name}").max == largest
    assert app.number_input(key="set-minutes").max == limits.MINUTES
    now_is(LECTURER)
    app.run()
    assert app.session_state["train.jobs"]._jobs


SMALL = Description("a", TrainConfig(hidden_size=8), corpus="machine")


@pytest.mark.parametrize(
    "large",
    [
        *(replace(SMALL, config=replace(SMALL.config, **{n: v + 1})) for n, v in limits.SIZES.items()),
        replace(SMALL, minutes=2.0),
        replace(SMALL, corpus="", text="a" * (permissions.text_bytes() + 1)),
    ],
)
def test_a_visitors_run_is_small_whatever_the_page_let_through(now_is: Is, large: Description) -> None:
    now_is(ANN)
    mine = permissions.their_run(SMALL)
    assert (mine.owner, mine.longest, mine.threads, mine.device) == (ANN.id, limits.SECONDS, 1, "cpu")
    with pytest.raises(RnnvizError, match="a visitor's run"):
        permissions.their_run(large)
    now_is(NOBODY)
    with pytest.raises(RnnvizError, match="only the lecturer"):
        permissions.their_run(SMALL)
    now_is(LECTURER)
    assert permissions.their_run(large) is large


# ---- texts ---------------------------------------------------------------------------------------------


def test_a_visitors_texts_are_few_and_short(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "text_bytes", lambda: 70)
    now_is(ANN)
    app = upload(open_app("perplexity"), a__txt="a" * 71, b__txt="b" * 30, c__txt="c" * 70, d__gz=b"x")
    assert "Left out: a.txt, d.gz" in app.warning[0].value.replace("\\", "")
    assert "5 files of 1 MB each." in everything(app)
    assert app.session_state["perplexity.uploads"], "they may be chosen again"
    app = upload(open_app("perplexity"), **{f"{n}__txt": f"text {n}" for n in range(limits.FILES + 2)})
    assert "Left out: 0.txt, 1.txt" in app.warning[0].value.replace("\\", "")
    app = paste(open_app("perplexity"), "é" * 60)
    assert "at most" in app.warning[0].value
    assert "pasted text" not in [m.label for m in app.metric]
    for one in app.get("file_uploader"):
        assert one.proto.max_upload_size_mb == limits.MEGABYTES == 1
    now_is(LECTURER)
    assert not upload(open_app("perplexity"), a__txt="a" * 60, b__txt="b" * 60).warning


@pytest.mark.usefixtures("troubled")
def test_a_visitors_text_to_train_on_is_short(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permissions, "text_bytes", lambda: 2000)
    now_is(ANN)
    app = open_app("train")
    for text in ("own:upload", "own:paste"):
        app.selectbox(key="train-text").select(text).run()
        if text == "own:upload":
            app.file_uploader(key="train-file").upload("a.txt", b"The time. " * 201).run()
        else:
            app.text_area(key="train-paste").set_value("The time. " * 201).run()
        assert "A visitor's text has at most 1 MB" in app.error[0].value.replace("\\", "")
        assert not [b for b in app.button if b.key == "train-start"]


def test_visitors_take_nothing_away(open_app: Open, now_is: Is) -> None:
    needs.coder()
    for who, files in ((LECTURER, True), (ANN, False)):
        now_is(who)
        app = section(upload(open_app("perplexity"), a__txt="The Time Traveller"), "take")
        assert bool(app.get("download_button")) == files
        assert ("Only the lecturer can download" in everything(app)) != files
        app = section(app, "compression")
        for pack in [b for b in app.button if b.key == "pack"]:  # what one has packed, others needn't
            pack.click().run()
            app = settled(app, "perplexity")
        assert bool(app.get("download_button")) == files


def test_what_one_scored_another_does_not_see(open_app: Open, now_is: Is) -> None:
    now_is(ANN)
    hers = upload(open_app("perplexity"), secret__txt="A letter of mine")
    now_is(BOB)
    for page in ("perplexity", "inside", "explore", "train"):
        words = str(open_app(page))
        assert "secret" not in words
        assert "A letter of mine" not in words
    his = upload(
        open_app("perplexity"), known__txt="A letter of mine"
    )  # who has the text may know its figures
    assert "secret" not in str(his)
    assert "secret.txt" in str(hers)
    assert store.shared()


def test_a_visitors_turns_are_one_persons_in_all_tabs(open_app: Open, now_is: Is) -> None:
    for who, owner in ((ANN, ANN.id), (LECTURER, None)):
        now_is(who)
        jobs = open_app("perplexity").session_state["perplexity.jobs"]
        assert jobs.owner in (owner, "test session id")
        assert (jobs.owner == ANN.id) == (who is ANN)
        assert jobs.first == (who is LECTURER)


# ---- inside --------------------------------------------------------------------------------------------


def on(app: AppTest, text: str) -> AppTest:
    return next(b for b in app.selectbox if b.label == "On which text").set_value(text).run()


def test_a_visitor_indexes_short_texts_alone(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "AT_ONCE", 10)
    monkeypatch.setattr(permissions, "text_bytes", lambda: 1000)
    for who, starts in ((LECTURER, True), (ANN, False)):
        now_is(who)
        app = settled(open_app("inside", model="tiny-gru", part="match"), "inside")
        app.slider(key="inside.match.threshold").set_value(0.05).run()
        app = settled(on(app, "own"), "inside")
        assert bool([b for b in app.button if b.key == "inside.index.start"]) == starts
        assert ("Only the lecturer can index" in everything(app)) != starts
    app = on(app, "file")
    key = next(f.key for f in app.file_uploader if f.label == "A text file")
    app.file_uploader(key=key).upload("a.txt", b"The time. " * 101).run()
    assert "A visitor's text has at most" in everything(app)


# ---- the lecture ---------------------------------------------------------------------------------------


def test_only_the_lecturer_asks_the_room(now_is: Is, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    room = SimpleNamespace(asks=False)
    monkeypatch.setattr(rooms, "open_for", lambda session, language: opened.append(session) or room)
    monkeypatch.setattr(rooms, "claim", lambda session, key: opened.append(key))
    monkeypatch.setattr(rooms, "close_of", lambda sessions: opened.append("closed"))
    for who in (ANN, NOBODY):
        now_is(who)
        assert poll.taken(None, str) == {"door": None, "watches": True}
        for wish in ({"open": True}, {"key": "k"}, {"open": False}, {"reveal": 1}, {"address": "x"}):
            answer = poll.taken({"room": wish}, str)
            assert answer["trouble"].startswith("only the lecturer")
            json.dumps(answer)
    assert not opened
    now_is(LECTURER)
    poll.taken({"room": {"open": True}}, str)
    assert opened
    assert room.asks
