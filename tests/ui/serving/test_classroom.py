"""The app's one room: who opens and closes it, and what it then shows."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import segno
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.errors import ConfigError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.ui.pages.learn import page
from rnnviz.ui.serving import sharing
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room import listener as room_listener
from rnnviz.ui.serving.room import phones as room_phones
from rnnviz.ui.serving.room.classroom import Address, OpenRoom, RoomOptions
from tests.support.apptest import Open, page_words
from tests.support.phones import COLOURS, SOON, Phone, hang_up


@pytest.fixture(autouse=True)
def _networked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This computer has two addresses in a network."""
    found = [Address("127.0.0.1", "wlan0"), Address("127.0.0.2", "eth0")]
    monkeypatch.setattr(classroom, "list_addresses", lambda: found)
    monkeypatch.setattr(
        room_listener, "FIRST_PORTS", range(0)
    )  # another process of the suite takes those too
    monkeypatch.setattr(room_phones, "REFUSAL_DELAY_S", 0.0)
    yield
    hang_up()
    opened = classroom.open_room_now()
    classroom.close()
    assert opened is None or opened.listener.wait(SOON)


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


def on_phone(opened: OpenRoom) -> Phone:
    return Phone(opened.listener.port)


@pytest.fixture
def stage() -> Iterator[TestClient]:
    """The lecturer's browser at the app's own port."""
    with TestClient(Starlette(routes=classroom.routes())) as client:
        yield client


def look(stage: TestClient, seen: object = "") -> dict[str, Any]:
    found: dict[str, Any] = stage.get(f"/room?seen={seen}").json()
    return found


def now() -> OpenRoom:
    """The room that is open."""
    opened = classroom.open_room_now()
    assert opened is not None
    return opened


def test_a_room_opens_once_asks_and_lets_go_of_its_port(stage: TestClient) -> None:
    assert look(stage) == {"closed": True}
    opened = classroom.open_room("en")
    assert classroom.open_room("zh") is opened
    opened.stage_question(COLOURS)
    assert look(stage)["question"]["key"] == "colour"
    phone = on_phone(opened).join()
    assert phone.listen()["state"] == "open"
    classroom.close()
    assert phone.hear()["state"] == "over"
    assert opened.listener.wait(SOON)
    with pytest.raises(ConnectionRefusedError):
        phone.request("GET", "/")
    assert look(stage) == {"closed": True}
    assert classroom.open_room_now() is None


def test_another_of_this_computer_s_addresses_can_be_shown_and_no_other() -> None:
    opened = classroom.open_room("en", RoomOptions(names=("hall.example.org", "https://room.example.org")))
    port = opened.listener.port
    assert opened.urls() == [
        f"http://hall.example.org:{port}", "https://room.example.org",
        f"http://127.0.0.1:{port}", f"http://127.0.0.2:{port}",
    ]  # fmt: skip
    first = opened.join_info()
    assert first["url"] == f"http://hall.example.org:{port}"
    assert first["qr"] == segno.make(first["url"], error="m", micro=False).svg_data_uri(
        border=4, dark="#000", light="#fff", omitsize=True
    )
    opened.choose_address("127.0.0.2")
    assert (opened.join_info()["at"], opened.join_info()["short"]) == (3, f"127.0.0.2:{port}")
    assert opened.join_info()["qr"] != first["qr"]
    for no in ("evil.example", None, 5):
        opened.choose_address(no)
    assert opened.join_info()["at"] == 3


def test_a_question_closes_when_nobody_looks_from_the_stage_and_opens_when_someone_does(
    stage: TestClient,
) -> None:
    opened = classroom.open_room("en")
    opened.stage_question(COLOURS)
    classroom.close_abandoned_question(after=60)
    assert opened.room.phone_state("a")["state"] == "open"
    classroom.close_abandoned_question(after=0)
    assert opened.room.phone_state("a")["state"] == "waiting"
    assert look(stage)["question"]["key"] == "colour"
    assert opened.room.phone_state("a")["state"] == "open"


def test_a_look_waits_for_news_but_not_for_ever(stage: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = classroom.open_room("en")
    first = look(stage)
    monkeypatch.setattr(classroom, "LOOK_WAIT_S", 0.01)
    assert look(stage, first["edition"]) == first
    opened.stage_question(COLOURS)
    monkeypatch.setattr(classroom, "LOOK_WAIT_S", 60)
    assert look(stage, first["edition"])["question"]["answered"] == 0


def test_answers_come_as_csv_in_which_nothing_is_computed(stage: TestClient) -> None:
    assert stage.get("/room/answers.csv").text == ""
    opened = classroom.open_room("en")
    opened.stage_question(COLOURS)
    on_phone(opened).join().answer(1, 2)
    assert stage.get("/room/answers.csv").text == "", "hidden until they are shown"
    opened.room.reveal(1)
    got = stage.get("/room/answers.csv")
    assert got.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    rows = list(csv.DictReader(got.text.splitlines()))
    assert [(row["question"], row["option"], row["count"]) for row in rows] == [
        (COLOURS.text, "red", "0"), (COLOURS.text, "green", "0"), (COLOURS.text, "blue", "1"),
    ]  # fmt: skip


def test_where_no_network_is_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "list_addresses", list)
    with pytest.raises(ConfigError, match="Wi-Fi"):
        classroom.open_room("en")
    assert "Wi-Fi" in page.answer_room({"room": {"open": True}}, str)["trouble"]


def test_where_the_port_is_taken_it_is_said_why() -> None:
    taken = classroom.open_room("en").listener.port
    vars(classroom)["_current_room"], kept = None, classroom.open_room_now()
    with pytest.raises(ConfigError, match="no port could be opened"):
        classroom.open_room("en", RoomOptions(port=taken))
    vars(classroom)["_current_room"] = kept


# ---- what the lecturer does ----


def test_learn_opens_reveals_and_closes_the_room() -> None:
    assert page.answer_room({}, str) == {"door": None}
    door = page.answer_room({"room": {"open": True}}, str)["door"]
    assert door == page.answer_room(None, str)["door"]
    page.stage_question(COLOURS)
    opened = now()
    on_phone(opened).join().answer(1, 0)
    assert page.answer_room({"room": {"address": "127.0.0.2", "reveal": 1}}, str)["door"]["at"] == 1
    assert opened.room.stage_state()["question"]["revealed"]
    page.answer_room({"room": {"again": 1}}, str)
    assert opened.room.stage_state()["question"]["votes"] == 0
    assert page.answer_room({"room": {"open": False}}, str) == {"door": None}
    assert opened.room.closed
    page.stage_question(COLOURS)  # without a room, nothing to do


def test_show_on_phones_puts_a_network_on_them_and_stop_takes_it_away(
    info: ModelInfo, open_app: Open
) -> None:
    app = open_app("explore", model="tiny-gru")
    next(button for button in app.button if button.label == "Show on phones").click().run()
    assert "Phones must be in the same network" in page_words(app)
    opened = now()
    phone = on_phone(opened).join()
    heard = phone.listen()
    assert (heard["state"], heard["chosen"]) == ("waiting", 0)
    assert [page["title"] for page in heard["pages"]] == ["tiny-gru"]
    body = phone.request("GET", f"/{heard['pages'][0]['href']}").body
    assert b"<title>tiny-gru" in body
    assert page.answer_room({}, str)["door"] is None, "the stage has asked nothing"
    sharing.remove_network_page("tiny-gru.html")
    assert opened.listener.wait(SOON)


def test_stop_leaves_the_room_to_the_lecture(info: ModelInfo) -> None:
    page.answer_room({"room": {"open": True}}, str)
    opened = now()
    opened.choose(sharing.add_network_page(opened, info, "en"))
    sharing.remove_network_page("tiny-gru.html")
    assert classroom.open_room_now() is opened
    assert opened.pages.listed() == {"pages": [], "chosen": -1}


def test_host_opens_the_room_with_the_networks_that_are_there(
    info: ModelInfo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = RoomOptions(address="127.0.0.1", names=("hall.example.org",), networks=("tiny-gru", "none"))
    monkeypatch.setattr(classroom, "startup_options", options)
    sharing.open_at_start()
    opened = now()
    assert opened.asks_questions
    port = opened.listener.port
    assert capsys.readouterr().out.split() == [
        "The", "class", "opens", f"http://hall.example.org:{port}", "or", f"http://127.0.0.1:{port}",
    ]  # fmt: skip
    assert [page["title"] for page in on_phone(opened).join().listen()["pages"]] == ["tiny-gru"]
    classroom.close()
    assert classroom.open_room("en").addresses == opened.addresses, "Learn opens it where host had it"


def test_host_goes_on_without_a_network(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(classroom, "startup_options", RoomOptions())
    monkeypatch.setattr(classroom, "list_addresses", list)
    sharing.open_at_start()
    assert classroom.open_room_now() is None
    assert "connect it to the Wi-Fi" in capsys.readouterr().out
