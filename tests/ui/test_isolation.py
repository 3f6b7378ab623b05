"""What a visitor of a hosted app can do to others: nothing. Two visitors and the lecturer, every action of
one tried on the other's things; and every control of every page is known here, with who may use it.

An attack is a browser's message of a control that it was not shown: the page was drawn for somebody who may
use it, and the click comes from somebody who may not.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.errors import RnnvizError
from rnnviz.text import corpora
from rnnviz.training import runs, visitors
from rnnviz.training.folder import VISITOR, RunFolder
from rnnviz.ui import error_messages
from rnnviz.ui.hosting import permissions
from rnnviz.ui.hosting.user import NOBODY, User
from rnnviz.ui.pages.train import listing, selected_run
from tests.training.made_runs import made
from tests.ui.apptest import components, settled
from tests.ui.conftest import Open, everything
from tests.ui.controls import CONTROLS, found, guarded
from tests.ui.persons import ANN, BOB, LECTURER, NAMES, Is


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
    may: tuple[User, ...] = (LECTURER,)
    owner: User = LECTURER
    end: str | None = "finished"
    before: Callable[[AppTest], object] = lambda app: app


def key(name: str) -> Callable[[AppTest], object]:
    """Press the button whose key begins so."""
    return lambda app: next(b for b in app.button if b.key and b.key.startswith(name)).click()


def of(owner: User) -> str:
    return f"{VISITOR}one{visitors.tag(owner.id)}" if owner is not LECTURER else "one"


def gone(owner: User = LECTURER) -> Callable[[], object]:
    return lambda: not any(run.id == of(owner) for run in (*runs.listed(), *visitors.listed()))


def asked_to_stop(owner: User = LECTURER) -> Callable[[], object]:
    return lambda: RunFolder(runs.find(of(owner)).path).stop.exists()


def kept(name: str) -> Callable[[], object]:
    from rnnviz.networks import checkpoint

    return lambda: (checkpoint.folders()[0] / f"{name}.safetensors").exists()


def bring(app: AppTest) -> None:
    from rnnviz.networks import checkpoint

    data = (checkpoint.folders()[1] / "tiny-gru.safetensors").read_bytes()
    app.file_uploader(key="train-add").upload("mine.safetensors", data).run()


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
    "keep": Action("train", key("train-explore"), kept("one")),
    "keep a visitor's": Action("train", key("train-explore"), kept(f"one{visitors.tag(ANN.id)}"), owner=ANN),
    "limit": Action(
        "train", lambda app: app.number_input(key="train-limit").set_value(3), lambda: runs.limit() == 3
    ),
    "bring": Action(
        "train",
        key("train-add-save"),
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
) -> Callable[[str, User], bool]:
    """Whether an action happens when its control was drawn for the lecturer and a person presses it."""
    CALLED.clear()
    monkeypatch.setattr(runs, "resume", lambda id: CALLED.append("resume"))
    monkeypatch.setattr(corpora, "fetch", lambda name, progress=None: CALLED.append("fetch"))
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))

    def happens(name: str, who: User) -> bool:
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
@pytest.mark.usefixtures("troubled")
def test_who_may_not_does_nothing(name: str, who: User, tried: Callable[[str, User], bool]) -> None:
    assert tried(name, who) == (who in ACTIONS[name].may)


# ---- what is seen --------------------------------------------------------------------------------------


def test_a_visitors_run_is_seen_by_its_owner_and_the_lecturer(open_app: Open, now_is: Is) -> None:
    hers = made("hers", owner=ANN.id).name
    made("class")
    for who, sees in ((ANN, True), (LECTURER, True), (BOB, False), (NOBODY, False)):
        now_is(who)
        assert (selected_run.find(VISITOR + hers) is not None) == sees
        assert (VISITOR + hers in [run.id for run in listing.visible()]) == sees
        app = open_app("train", run=VISITOR + hers)  # its address
        assert bool(app.radio(key="run").value == VISITOR + hers) == sees
        assert selected_run.find("class") is not None
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
        assert not permissions.to_change(run)
        assert not permissions.to_see(run)
    now_is(LECTURER)
    assert permissions.to_change(run)


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
    shown = [b.key for b in app.button if b.key and b.key != "train-replay"]
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
        assert error_messages.sentence(RnnvizError("{error}.", error=error)) == (
            f"there is no a/b in {path if told else path.name} nor {path if told else path.name}."
        )


# ---- every control -------------------------------------------------------------------------------------


def test_every_control_is_known_with_who_may_use_it() -> None:
    assert found() == CONTROLS.keys(), "a new control stands in tests/ui/controls.py with who may use it"


def test_what_acts_on_others_things_asks_first() -> None:
    assert guarded() == []


def test_all_who_may_is_tried() -> None:
    assert {action for who in CONTROLS.values() if isinstance(who, tuple) for action in who} <= ACTIONS.keys()
