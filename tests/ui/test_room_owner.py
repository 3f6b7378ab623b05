"""Whose room it is: a session's own, as long as it is there."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import segno
from starlette.applications import Starlette

from rnnviz.errors import ConfigError
from rnnviz.ui.room import listener as room_listener
from rnnviz.ui.room import rooms
from rnnviz.ui.room.addresses import Address
from rnnviz.ui.room.listener import Listener
from tests.ui.phones import SHUT, SOON, Phone, hang_up, shut
from tests.ui.test_room_door import COLOURS


@pytest.fixture(autouse=True, scope="module")
def _ended() -> Iterator[None]:
    yield
    hang_up()
    assert all(listener.wait(SOON) for listener in SHUT)


@pytest.fixture
def networked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This computer has two addresses in a network."""
    found = [Address("127.0.0.1", "wlan0"), Address("127.0.0.2", "eth0")]
    monkeypatch.setattr(rooms, "addresses", lambda: found)
    monkeypatch.setattr(room_listener, "PORTS", range(0))  # another process of the suite takes those too
    yield
    rooms.close_all()


def look(key: str, seen: str = "") -> tuple[int, dict[str, Any]]:
    """What the app tells a stage."""
    listener = Listener(Starlette(routes=rooms.routes()), "127.0.0.1")
    got = Phone(listener.port).request("GET", f"/room/{key}?seen={seen}")
    shut(listener)
    return got.status, json.loads(got.body)


@pytest.mark.usefixtures("networked")
def test_a_session_has_one_room_and_no_other_can_see_or_close_it() -> None:
    mine = rooms.open_for("mine", "en")
    assert rooms.open_for("mine", "en") is mine
    theirs = rooms.open_for("theirs", "zh")
    assert theirs.key != mine.key
    assert theirs.phones.code != mine.phones.code
    assert theirs.listener.port != mine.listener.port
    mine.stage(COLOURS)
    theirs.stage(None)
    assert look(mine.key)[1]["question"]["key"] == "colour"
    assert look(theirs.key)[1]["question"] is None
    for key in ("x", mine.phones.code, mine.key[:-1], mine.key + "x"):
        assert look(key) == (200, {"closed": True})
    assert rooms.claim("a third", "x") is None
    assert rooms.claim("theirs", mine.key) is theirs, "who has a room keeps it"
    rooms.close_of(["a third", "theirs"])
    assert rooms.of("theirs") is None
    assert rooms.of("mine") is mine
    assert not mine.room.closed
    assert Phone(mine.listener.port, mine.phones.code).open().status == 200
    other = Phone(mine.listener.port, theirs.phones.code)
    assert other.open().status == 404


@pytest.mark.usefixtures("networked")
def test_a_closed_room_lets_go_of_its_port() -> None:
    opened = rooms.open_for("mine", "en")
    one = Phone(opened.listener.port, opened.phones.code)
    one.open()
    assert one.listen()["state"] == "waiting"
    rooms.close_of(["mine"])
    assert one.hear()["state"] == "over"
    assert opened.listener.wait(SOON)
    with pytest.raises(OSError, match="refused"):
        one.open()
    assert look(opened.key) == (200, {"closed": True})


@pytest.mark.usefixtures("networked")
def test_a_page_that_is_loaded_again_takes_its_room_over_with_the_key() -> None:
    opened = rooms.open_for("before", "en")
    assert rooms.claim("after", opened.key) is opened
    assert rooms.of("before") is None
    rooms.close_of(["before"])
    assert not opened.room.closed
    rooms.close_of(["after"])
    assert opened.room.closed
    assert rooms.claim("after", opened.key) is None


@pytest.mark.usefixtures("networked")
def test_another_of_this_computer_s_addresses_can_be_shown_and_no_other() -> None:
    opened = rooms.open_for("mine", "en")
    first = opened.door()
    assert first["url"] == f"http://127.0.0.1:{opened.listener.port}/{opened.phones.code}"
    assert first["qr"] == segno.make(first["url"], error="m", micro=False).svg_data_uri(
        border=4, dark="#000", light="#fff", omitsize=True
    )
    opened.move("127.0.0.2")
    assert opened.door()["url"].startswith("http://127.0.0.2:")
    assert opened.door()["qr"] != first["qr"]
    for no in ("evil.example", None, 5):
        opened.move(no)
    assert opened.door()["at"] == 1


@pytest.mark.usefixtures("networked")
def test_a_question_closes_when_nobody_looks_from_the_stage_and_opens_when_someone_does() -> None:
    opened = rooms.open_for("mine", "en")
    opened.stage(COLOURS)
    rooms.unseen(after=60)
    assert opened.room.heard("a")["state"] == "open"
    rooms.unseen(after=0)
    assert opened.room.heard("a")["state"] == "waiting"
    assert look(opened.key)[1]["question"]["key"] == "colour"
    assert opened.room.heard("a")["state"] == "open"


@pytest.mark.usefixtures("networked")
def test_a_look_waits_for_news_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = rooms.open_for("mine", "en")
    first = look(opened.key)[1]
    monkeypatch.setattr(rooms, "WAIT", 0.01)
    assert look(opened.key, str(first["edition"]))[1] == first
    opened.stage(COLOURS)
    monkeypatch.setattr(rooms, "WAIT", 60)
    assert look(opened.key, str(first["edition"]))[1]["question"]["answered"] == 0


def test_without_a_network_or_beyond_the_most_rooms_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "addresses", list)
    with pytest.raises(ConfigError, match="Wi-Fi"):
        rooms.open_for("mine", "en")
    monkeypatch.setattr(rooms, "addresses", lambda: [Address("127.0.0.1", "wlan0")])
    monkeypatch.setattr(rooms, "ROOMS", 0)
    with pytest.raises(ConfigError, match="close one of them"):
        rooms.open_for("mine", "en")
    monkeypatch.setattr(rooms, "ROOMS", 1)
    monkeypatch.setattr(socket, "create_server", lambda *_, **__: (_ for _ in ()).throw(OSError("no port")))
    with pytest.raises(ConfigError, match="no port"):
        rooms.open_for("mine", "en")
    assert rooms.of("mine") is None
