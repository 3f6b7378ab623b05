"""What a visitor of a hosted app can do to others: nothing. Two visitors and the lecturer, every action of
one tried on the other's things; and every control of every page is known here, with who may use it.

An attack is a browser's message of a control that it was not shown: the page was drawn for somebody who may
use it, and the click comes from somebody who may not.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.errors import RnnvizError
from rnnviz.networks.config import TrainConfig
from rnnviz.runs import api as runs
from rnnviz.runs import deleted, visitors
from rnnviz.runs.folder import VISITOR, Description, RunFolder
from rnnviz.text import corpora
from rnnviz.ui import trouble
from rnnviz.ui.hosting import allowed, person
from rnnviz.ui.hosting.person import NOBODY, Person
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.worker import Jobs
from rnnviz.ui.pages.inside import indexing
from rnnviz.ui.pages.learn import asking
from rnnviz.ui.pages.perplexity import take
from rnnviz.ui.pages.train import listing, subject
from rnnviz.ui.room import rooms
from tests.runs.made_runs import made
from tests.ui.apptest import components, settled
from tests.ui.conftest import Open, everything
from tests.ui.controls import CONTROLS, found, guarded
from tests.ui.test_perplexity import paste, section, upload

LECTURER, ANN, BOB = Person("l", lecturer=True), Person("ann", lecturer=False), Person("bob", lecturer=False)
NAMES = {LECTURER: "lecturer", ANN: "ann", BOB: "bob", NOBODY: "nobody"}

Is = Callable[[Person], None]


@pytest.fixture
def now_is(started: object, monkeypatch: pytest.MonkeyPatch) -> Is:
    """Who runs the script from now on. Runs have no processes."""
    who = [LECTURER]
    monkeypatch.setattr(person, "current", lambda: who[0])

    def start(description: Description) -> str:
        made(description.name.removesuffix(visitors.tag(description.owner)), owner=description.owner)
        return f"{VISITOR}{description.name}" if description.owner else description.name

    monkeypatch.setattr(runs, "start", start)

    def become(other: Person) -> None:
        who[0] = other

    return become


@pytest.fixture
def locked() -> Iterator[Callable[[Path], None]]:
    """Let a run look as if its process were there."""
    with contextlib.ExitStack() as locks:
        yield lambda path: locks.enter_context(RunFolder(path).take_lock())


# ---- actions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """What a control does. `may` may do it to what is `owner`'s; `shown` who sees the control drawn at first;
    `press` uses it; `done` says whether it has happened.
    """

    page: str
    press: Callable[[AppTest], object]
    done: Callable[[], object]
    may: tuple[Person, ...] = (LECTURER,)
    owner: Person = LECTURER
    end: str | None = "finished"
    before: Callable[[AppTest], object] = lambda app: app


def key(name: str) -> Callable[[AppTest], object]:
    """Press the button whose key begins so."""
    return lambda app: next(b for b in app.button if b.key and b.key.startswith(name)).click()


def label(words: str) -> Callable[[AppTest], object]:
    return lambda app: next(b for b in app.button if b.label == words).click()


def of(owner: Person) -> str:
    return f"{VISITOR}one{visitors.tag(owner.id)}" if owner is not LECTURER else "one"


def gone(owner: Person = LECTURER) -> Callable[[], object]:
    return lambda: not any(run.id == of(owner) for run in (*runs.listed(), *visitors.listed()))


def asked_to_stop(owner: Person = LECTURER) -> Callable[[], object]:
    return lambda: RunFolder(runs.find(of(owner)).path).stop.exists()


def kept(name: str) -> Callable[[], object]:
    from rnnviz.networks import checkpoint

    return lambda: (checkpoint.folders()[0] / f"{name}.safetensors").exists()


def delete_first(app: AppTest) -> None:
    key("train-delete-really")(app)
    app.run()


def bring(app: AppTest) -> None:
    from rnnviz.networks import checkpoint

    data = (checkpoint.folders()[1] / "tiny-gru.safetensors").read_bytes()
    app.file_uploader(key="train-bring").upload("mine.safetensors", data).run()


CALLED: list[str] = []

ACTIONS = {
    "stop": Action("train", key("train-stop"), asked_to_stop(), end=None),
    "stop a visitor's": Action(
        "train", key("train-stop"), asked_to_stop(ANN), (ANN, LECTURER), owner=ANN, end=None
    ),
    "delete": Action("train", key("train-delete-really"), gone()),
    "delete a visitor's": Action("train", key("train-delete-really"), gone(ANN), (ANN, LECTURER), owner=ANN),
    "resume": Action("train", key("train-resume"), lambda: "resume" in CALLED, end="stopped"),
    "resume a visitor's": Action(
        "train", key("train-resume"), lambda: "resume" in CALLED, owner=ANN, end="stopped"
    ),
    "keep": Action("train", label("Save among the models"), kept("one")),
    "keep a visitor's": Action(
        "train", label("Save among the models"), kept(f"one{visitors.tag(ANN.id)}"), owner=ANN
    ),
    "keep to explore": Action("train", key("train-explore"), kept("one")),
    "undo": Action("train", key("train-undo"), lambda: not deleted.deleted(), before=delete_first),
    "restore": Action("train", key("train-restore"), lambda: not deleted.deleted(), before=delete_first),
    "delete for good": Action(
        "train", key("train-remove"), lambda: not deleted.deleted(), before=delete_first
    ),
    "limit": Action(
        "train", lambda app: app.number_input(key="train-limit").set_value(3), lambda: runs.limit() == 3
    ),
    "bring": Action(
        "train",
        lambda app: [b for b in app.button if b.label == "Save among the models"][-1].click(),
        kept("mine"),
        before=bring,
    ),
    "fetch": Action(
        "perplexity",
        key("fetch"),
        lambda: "fetch" in CALLED,
        before=lambda app: app.selectbox(key="corpus").select("tinyshakespeare").run(),
    ),
    "fetch to train": Action(
        "train",
        key("fetch"),
        lambda: "fetch" in CALLED,
        before=lambda app: app.selectbox(key="train-text").select("tinyshakespeare").run(),
    ),
}


@pytest.fixture
def tried(
    open_app: Open,
    now_is: Is,
    locked: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[[str, Person], bool]:
    """Whether an action happens when its control was drawn for the lecturer and a person presses it."""
    CALLED.clear()
    monkeypatch.setattr(runs, "resume", lambda id: CALLED.append("resume"))
    monkeypatch.setattr(corpora, "fetch", lambda name, progress=None: CALLED.append("fetch"))
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))

    def happens(name: str, who: Person) -> bool:
        action = ACTIONS[name]
        path = made("one", action.end, owner="" if action.owner is LECTURER else action.owner.id)
        if action.end is None:
            locked(path)
        now_is(LECTURER)
        app = open_app(action.page, **({"run": of(action.owner)} if action.page == "train" else {}))
        action.before(app)
        assert not action.done()
        action.press(app)
        now_is(who)
        app.run()
        settled(app, action.page)
        assert not app.exception
        return bool(action.done())

    return happens


@pytest.mark.parametrize(
    ("name", "who"),
    [
        (name, who)
        for name, action in ACTIONS.items()
        for who in ((BOB, LECTURER) if action.owner is LECTURER else (BOB, NOBODY, ANN, LECTURER))
    ],
    ids=lambda value: NAMES.get(value, value),
)
def test_who_may_not_does_nothing(name: str, who: Person, tried: Callable[[str, Person], bool]) -> None:
    assert tried(name, who) == (who in ACTIONS[name].may)


# ---- what is seen --------------------------------------------------------------------------------------


def test_a_visitors_run_is_seen_by_its_owner_and_the_lecturer(open_app: Open, now_is: Is) -> None:
    hers = made("hers", owner=ANN.id).name
    made("class")
    for who, sees in ((ANN, True), (LECTURER, True), (BOB, False), (NOBODY, False)):
        now_is(who)
        assert (subject.find(VISITOR + hers) is not None) == sees
        assert (VISITOR + hers in [run.id for run in listing.visible()]) == sees
        app = open_app("train", run=VISITOR + hers)  # its address
        assert not app.exception
        assert bool(app.radio(key="run").value == VISITOR + hers) == sees
        assert subject.find("class") is not None
    now_is(LECTURER)
    app = open_app("train")
    assert app.radio(key="run").value == "class", "another's run is for who asks for it"
    assert app.radio(key="run").options == ["class"]
    app.toggle(key="train-visitors").set_value(True).run()
    assert {label.replace("\\", "") for label in app.radio(key="run").options} == {hers, "class"}


def test_a_page_drawn_for_its_owner_shows_nothing_to_the_next(open_app: Open, now_is: Is) -> None:
    hers = made("hers", owner=ANN.id).name
    now_is(ANN)
    app = open_app("train", run=VISITOR + hers)
    assert components(app)
    now_is(BOB)
    app.run()
    assert not components(app)
    assert "Tiny" not in everything(app)


def test_nobody_owns_nothing(now_is: Is) -> None:
    run = runs.find(f"{VISITOR}{made('one', owner=NOBODY.id).name}")
    for who in (NOBODY, BOB):
        now_is(who)
        assert not allowed.to_change(run)
        assert not allowed.to_see(run)
    now_is(LECTURER)
    assert allowed.to_change(run)


def test_runs_are_compared_with_ones_own_alone(open_app: Open, now_is: Is) -> None:
    for name in ("one", "two"):
        made(name)
        made(f"hers-{name}", owner=ANN.id)
    now_is(BOB)
    app = open_app("train")
    assert set(app.multiselect(key="train-compare").options) == {"one", "two"}
    assert not app.get("download_button")
    app.session_state["train-compare"] = ["one", f"{VISITOR}hers-one{visitors.tag(ANN.id)}"]
    app.run()
    assert app.multiselect(key="train-compare").value == ["one"]


def test_a_visitor_is_told_what_only_the_lecturer_does(open_app: Open, now_is: Is) -> None:
    made("one")
    now_is(BOB)
    app = open_app("train", run="one")
    shown = [b.key for b in app.button if b.key and not b.key.startswith("train-story")]
    assert shown == ["train-start"]
    assert not app.get("download_button")
    assert not [n for n in app.number_input if n.key == "train-limit"]
    words = everything(app)
    assert "the lecturer's" in words
    assert "Only the lecturer can save" in words
    assert "two minutes at most" in words


def test_a_visitor_is_told_no_folders(now_is: Is) -> None:
    path = made("one", owner=ANN.id)
    for who, told in ((LECTURER, True), (ANN, False)):
        now_is(who)
        error = RnnvizError("there is no {what} in {home} nor {text}", what="a/b", home=path, text=str(path))
        assert trouble.sentence(RnnvizError("{error}.", error=error)) == (
            f"there is no a/b in {path if told else path.name} nor {path if told else path.name}."
        )


# ---- a run of one's own --------------------------------------------------------------------------------


def test_a_visitor_has_one_small_run_and_sees_it(open_app: Open, now_is: Is) -> None:
    now_is(ANN)
    app, tab = open_app("train"), open_app("train")
    app.button(key="train-start").click().run()
    assert not app.error
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
    assert app.button_group(key="train-preset").options == ["One minute"]
    app.button_group(key="train-more").set_value("settings").run()
    for name, largest in allowed.SIZES.items():
        assert app.number_input(key=f"set-{name}").max == largest
    assert app.number_input(key="set-minutes").max == allowed.MINUTES


SMALL = Description("a", TrainConfig(hidden_size=8), corpus="machine")


@pytest.mark.parametrize(
    "large",
    [
        *(replace(SMALL, config=replace(SMALL.config, **{n: v + 1})) for n, v in allowed.SIZES.items()),
        replace(SMALL, minutes=2.0),
        replace(SMALL, corpus="", text="a" * (allowed.BYTES + 1)),
    ],
)
def test_a_visitors_run_is_small_whatever_the_page_let_through(now_is: Is, large: Description) -> None:
    now_is(ANN)
    mine = allowed.their_run(SMALL)
    assert (mine.owner, mine.longest, mine.threads, mine.device) == (ANN.id, allowed.SECONDS, 1, "cpu")
    with pytest.raises(RnnvizError, match="a visitor's run"):
        allowed.their_run(large)
    now_is(NOBODY)
    with pytest.raises(RnnvizError, match="only the lecturer"):
        allowed.their_run(SMALL)
    now_is(LECTURER)
    assert allowed.their_run(large) is large


# ---- texts ---------------------------------------------------------------------------------------------


def test_a_visitors_texts_are_few_and_short(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowed, "BYTES", 100)
    now_is(ANN)
    app = upload(open_app("perplexity"), a__txt="a" * 60, b__txt="b" * 30, c__txt="c" * 40, d__gz=b"x")
    assert "Left out: a.txt, d.gz" in app.warning[0].value.replace("\\", "")
    assert app.session_state["perplexity.uploads"], "they may be chosen again"
    app = upload(open_app("perplexity"), **{f"{n}__txt": f"text {n}" for n in range(allowed.FILES + 2)})
    assert "Left out: 0.txt, 1.txt" in app.warning[0].value.replace("\\", "")
    app = paste(open_app("perplexity"), "é" * 60)
    assert "at most" in app.warning[0].value
    assert "pasted text" not in [m.label for m in app.metric]
    for one in app.get("file_uploader"):
        assert one.proto.max_upload_size_mb == allowed.MEGABYTES
    now_is(LECTURER)
    assert not upload(open_app("perplexity"), a__txt="a" * 60, b__txt="b" * 60).warning


@pytest.mark.parametrize("which", ["train-file", "train-paste"])
def test_a_visitors_text_to_train_on_is_short(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    monkeypatch.setattr(allowed, "BYTES", 2000)
    now_is(ANN)
    app = open_app("train")
    app.selectbox(key="train-text").select("own:upload" if which == "train-file" else "own:paste").run()
    if which == "train-file":
        app.file_uploader(key=which).upload("a.txt", b"The time. " * 201).run()
    else:
        app.text_area(key=which).set_value("The time. " * 201).run()
    assert "A visitor's text has at most 5 MB" in app.error[0].value.replace("\\", "")
    assert not [b for b in app.button if b.key == "train-start"]


def test_visitors_take_nothing_away(open_app: Open, now_is: Is) -> None:
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
        app = upload(open_app("perplexity"), rows__csv="text\nThe Time\nTraveller\n")
        assert bool(app.get("download_button")) == files
        assert ("Only the lecturer can download" in everything(app)) != files


def test_no_file_is_offered_by_whoever_asks_for_the_button(
    now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []
    monkeypatch.setattr(take.st, "download_button", lambda label, *rest, **more: offered.append(label))
    for who in (ANN, NOBODY, LECTURER):
        now_is(who)
        take.button(NAMES[who], bytes, "a.csv", "text/csv")
    assert offered == ["lecturer"]


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


def test_a_visitors_jobs_are_counted() -> None:
    jobs = Jobs(places=None, most=2)
    hold = __import__("threading").Event()

    def make(check: Callable[[], None]) -> Iterator[Any]:
        hold.wait(60)
        yield from ()

    jobs.ask("a", "a", make)  # type: ignore[arg-type]
    jobs.ask("b", "b", make)  # type: ignore[arg-type]
    jobs.ask("a", "a", make)  # type: ignore[arg-type]
    with pytest.raises(RnnvizError, match="2 jobs of yours"):
        jobs.ask("c", "c", make)  # type: ignore[arg-type]
    hold.set()
    assert jobs.wait(["a", "b"], 60)


def test_a_visitors_turns_are_one_persons_in_all_tabs(open_app: Open, now_is: Is) -> None:
    for who, owner in ((ANN, ANN.id), (LECTURER, None)):
        now_is(who)
        jobs = open_app("perplexity").session_state["perplexity.jobs"]
        assert jobs._owner in (owner, "test session id")
        assert (jobs._owner == ANN.id) == (who is ANN)
        assert jobs._most == (allowed.JOBS if who is ANN else None)
        assert jobs._first == (who is LECTURER)


def test_a_visitor_has_no_speed_tried(open_app: Open, now_is: Is) -> None:
    for who, tries in ((ANN, False), (LECTURER, True)):
        now_is(who)
        app = open_app("train")
        app.selectbox(key="train-text").select("python-docs").run()
        assert bool(app.session_state["train.jobs"]._jobs) == tries


# ---- inside --------------------------------------------------------------------------------------------


def on(app: AppTest, text: str) -> AppTest:
    return next(b for b in app.selectbox if b.label == "On which text").set_value(text).run()


def test_a_visitor_indexes_short_texts_alone(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(allowed, "BYTES", 1000)
    monkeypatch.setattr(indexing, "_is_quick", lambda view, source: False)
    for who, starts in ((LECTURER, True), (ANN, False)):
        now_is(who)
        app = settled(open_app("inside", model="tiny-gru", part="match"), "inside")
        app.slider(key="inside.match.threshold.0.5").set_value(0.05).run()
        app = settled(on(app, "own"), "inside")
        assert bool([b for b in app.button if b.key == "inside.index.start"]) == starts
        assert ("Only the lecturer can index" in everything(app)) != starts


def test_a_visitors_files_are_short_inside_too(
    open_app: Open, now_is: Is, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowed, "BYTES", 1000)
    now_is(ANN)
    app = settled(open_app("inside", model="tiny-gru", part="match"), "inside")
    app.slider(key="inside.match.threshold.0.5").set_value(0.05).run()
    app = settled(on(app, "own"), "inside")
    app.file_uploader(key="inside.match.annotations").upload(
        "a.csv", b"start,stop,label\n" + b"0,1,x\n" * 300
    )
    app.run()
    assert "at most" in app.warning[0].value
    app = on(app, "file")
    key = next(f.key for f in app.file_uploader if f.label == "A text file")
    app.file_uploader(key=key).upload("a.txt", b"The time. " * 101).run()
    assert "A visitor's text has at most" in everything(app)


# ---- the lecture ---------------------------------------------------------------------------------------


def test_only_the_lecturer_asks_the_room(now_is: Is, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(rooms, "open_for", lambda session, language: opened.append(session))
    monkeypatch.setattr(rooms, "claim", lambda session, key: opened.append(key))
    monkeypatch.setattr(rooms, "close_of", lambda sessions: opened.append("closed"))
    for who in (ANN, NOBODY):
        now_is(who)
        assert asking.taken(None, str) == {"door": None, "watches": True}
        for wish in ({"open": True}, {"key": "k"}, {"open": False}, {"reveal": 1}, {"address": "x"}):
            answer = asking.taken({"room": wish}, str)
            assert answer["trouble"].startswith("only the lecturer")
            json.dumps(answer)
    assert not opened
    now_is(LECTURER)
    asking.taken({"room": {"open": True}}, str)
    assert opened


# ---- every control -------------------------------------------------------------------------------------


def test_every_control_is_known_with_who_may_use_it() -> None:
    assert found() == CONTROLS.keys(), "a new control stands in tests/ui/controls.py with who may use it"


def test_what_acts_on_others_things_asks_first() -> None:
    assert guarded() == []


def test_all_who_may_is_tried() -> None:
    assert {action for who in CONTROLS.values() if isinstance(who, tuple) for action in who} <= ACTIONS.keys()
