"""The app's one room: who opens and closes it, and what it then shows."""

import csv
from collections.abc import Iterator
from functools import partial
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
from rnnviz.ui.serving.room.classroom import Address, RoomOptions
from tests.support.apptest import Open, open_card, page_words
from tests.support.phones import COLOURS, SOON, Phone, hang_up


@pytest.fixture(autouse=True)
def _networked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This computer has two addresses in a network."""
    addresses = (Address("127.0.0.1", "wlan0"), Address("127.0.0.2", "eth0"))
    monkeypatch.setattr(classroom, "list_addresses", partial(list, addresses))
    # Another process of the suite takes those too.
    monkeypatch.setattr(room_listener, "FIRST_PORTS", range(0))
    monkeypatch.setattr(room_phones, "REFUSAL_DELAY_S", 0.0)
    yield
    hang_up()
    opened = classroom.open_room_now()
    classroom.close()
    assert opened is None or opened.listener.wait(SOON)


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


@pytest.fixture
def stage() -> Iterator[TestClient]:
    """The lecturer's browser at the app's own port."""
    with TestClient(Starlette(routes=classroom.routes())) as client:
        yield client


def poll(stage: TestClient, edition: object = "") -> dict[str, Any]:
    return dict(stage.get(f"/room?seen={edition}").json())


def test_room_opens_once_and_close_frees_port(stage: TestClient) -> None:
    assert poll(stage) == {"closed": True}
    opened = classroom.open_room("en")
    assert classroom.open_room("zh") is opened
    opened.stage_question(COLOURS)
    assert poll(stage)["question"]["key"] == "colour"
    phone = Phone(opened.listener.port).join()
    assert phone.listen()["state"] == "open"
    classroom.close()
    assert phone.hear()["state"] == "over"
    assert opened.listener.wait(SOON)
    with pytest.raises(ConnectionRefusedError):
        phone.request("GET", "/")
    assert poll(stage) == {"closed": True}


def test_choose_address_takes_known_addresses_alone() -> None:
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


def test_abandoned_question_closes_until_next_poll(
    stage: TestClient,
) -> None:
    opened, still = classroom.open_room("en"), {"title": "Colours", "says": "", "formula": ""}
    opened.stage_question(COLOURS, still)
    classroom.close_abandoned_question(after=60)
    assert opened.room.phone_state("a")["state"] == "open"
    classroom.close_abandoned_question(after=0)
    assert opened.room.phone_state("a") == {"language": "en", "state": "waiting"}
    assert poll(stage)["question"]["key"] == "colour"
    assert opened.room.phone_state("a")["state"] == "open"
    assert opened.room.phone_state("a")["still"] == still


def test_stage_poll_waits_for_news_or_timeout(stage: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = classroom.open_room("en")
    first = poll(stage)
    monkeypatch.setattr(classroom, "LOOK_WAIT_S", 0.01)
    assert poll(stage, first["edition"]) == first
    opened.stage_question(COLOURS)
    monkeypatch.setattr(classroom, "LOOK_WAIT_S", 60)
    assert poll(stage, first["edition"])["question"]["answered"] == 0


def test_answers_csv_lists_revealed_counts(stage: TestClient) -> None:
    assert stage.get("/room/answers.csv").text == ""
    opened = classroom.open_room("en")
    opened.stage_question(COLOURS)
    Phone(opened.listener.port).join().answer(1, 2)
    opened.room.reveal(1)
    response = stage.get("/room/answers.csv")
    assert response.headers["content-disposition"] == 'attachment; filename="answers.csv"'
    rows = list(csv.DictReader(response.text.splitlines()))
    assert [(row["question"], row["option"], row["count"]) for row in rows] == [
        (COLOURS.text, "red", "0"), (COLOURS.text, "green", "0"), (COLOURS.text, "blue", "1"),
    ]  # fmt: skip


def test_open_room_on_taken_port_raises() -> None:
    taken = classroom.open_room("en").listener.port
    vars(classroom)["_current_room"], first_room = None, classroom.open_room_now()
    with pytest.raises(ConfigError, match="no port could be opened"):
        classroom.open_room("en", RoomOptions(port=taken))
    vars(classroom)["_current_room"] = first_room


# ---- what the lecturer does ----


def test_learn_opens_reveals_and_closes_room() -> None:
    assert page.apply_room_ask({}, str) == {"door": None}
    door = page.apply_room_ask({"room": {"open": True}}, str)["door"]
    assert door == page.apply_room_ask(None, str)["door"]
    page.stage_question(COLOURS, {})
    opened = classroom.open_room("en")
    Phone(opened.listener.port).join().answer(1, 0)
    assert page.apply_room_ask({"room": {"address": "127.0.0.2", "reveal": 1}}, str)["door"]["at"] == 1
    assert opened.room.stage_state()["question"]["revealed"]
    page.apply_room_ask({"room": {"again": 1}}, str)
    assert opened.room.stage_state()["question"]["votes"] == 0
    assert page.apply_room_ask({"room": {"open": False}}, str) == {"door": None}
    assert opened.room.closed
    page.stage_question(COLOURS, {})  # without a room, nothing to do


def test_show_on_phones_adds_page_until_stop(info: ModelInfo, open_app: Open) -> None:
    app = open_app("explore", model="tiny-gru")
    open_card(app)
    next(button for button in app.button if button.label == "Show on phones").click().run()
    assert "Phones must be on the same network" in page_words(app)
    opened = classroom.open_room("en")
    phone = Phone(opened.listener.port).join()
    phone_state = phone.listen()
    assert (phone_state["state"], phone_state["page"]["chosen"]) == ("waiting", "tiny-gru")
    assert b'"tiny-gru":{"weights"' in phone.request("GET", "/page/").body
    assert page.apply_room_ask({}, str)["door"] is None, "the stage has asked nothing"
    sharing.remove_network("tiny-gru")
    assert opened.listener.wait(SOON)


def test_stop_keeps_room_of_lecture(info: ModelInfo) -> None:
    page.apply_room_ask({"room": {"open": True}}, str)
    opened = classroom.open_room("en")
    opened.page.add([info])
    opened.choose("tiny-gru")
    assert opened.page.page_state()["page"]["chosen"] == "tiny-gru"
    sharing.remove_network("tiny-gru")
    assert classroom.open_room_now() is opened
    assert opened.page.page_state() == {}


def test_host_opens_room_with_listed_networks(
    info: ModelInfo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = RoomOptions(address="127.0.0.1", names=("hall.example.org",), networks=("tiny-gru", "none"))
    monkeypatch.setattr(classroom, "startup_options", options)
    sharing.open_at_start()
    opened = classroom.open_room("en")
    assert opened.asks_questions
    port = opened.listener.port
    assert capsys.readouterr().out.split() == [
        "The", "class", "opens", f"http://hall.example.org:{port}", "or", f"http://127.0.0.1:{port}",
    ]  # fmt: skip
    assert Phone(port).join().listen()["page"] == {"chosen": "", "narrow": "tiny-gru", "wide": "tiny-gru"}
    classroom.close()
    assert classroom.open_room("en").addresses == opened.addresses, "Learn opens it where host had it"


def test_learn_and_host_name_remedy_without_network(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(classroom, "startup_options", RoomOptions())
    monkeypatch.setattr(classroom, "list_addresses", list)
    sharing.open_at_start()
    assert "connect it to the Wi-Fi" in capsys.readouterr().out
    assert "Wi-Fi" in page.apply_room_ask({"room": {"open": True}}, str)["trouble"]
    assert classroom.open_room_now() is None
