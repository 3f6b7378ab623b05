"""Whose room it is: a session's own, as long as it is there."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import segno
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from starlette.websockets import WebSocketDisconnect

from rnnviz.errors import ConfigError
from rnnviz.ui import entry
from rnnviz.ui.hosting import startup_message
from rnnviz.ui.room import listener as room_listener
from rnnviz.ui.room import phones as room_phones
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
    listener = vars(rooms)["_listener"]
    rooms.close_all()
    assert listener is None or listener.wait(SOON)


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
    assert theirs.code != mine.code
    assert theirs.port == mine.port, "one listener for all"
    mine.stage(COLOURS)
    theirs.stage(None)
    assert look(mine.key)[1]["question"]["key"] == "colour"
    assert look(theirs.key)[1]["question"] is None
    for key in ("x", mine.code, mine.key[:-1], mine.key + "x"):
        assert look(key) == (200, {"closed": True})
    rooms.claim("a third", "x")
    assert rooms.of("a third") is None
    rooms.claim("theirs", mine.key)
    assert rooms.of("theirs") is theirs, "who has a room keeps it"
    rooms.close_of(["a third", "theirs"])
    assert rooms.of("theirs") is None
    assert rooms.of("mine") is mine
    assert not mine.room.closed
    assert Phone(mine.port, mine.code).open().status == 200
    other = Phone(mine.port, theirs.code)
    assert other.open().status == 404


@pytest.mark.usefixtures("networked")
def test_the_last_room_that_closes_lets_go_of_the_port() -> None:
    opened, listener = rooms.open_for("mine", "en"), vars(rooms)["_listener"]
    one = Phone(opened.port, opened.code)
    one.open()
    assert one.listen()["state"] == "waiting"
    rooms.close_of(["mine"])
    assert one.hear()["state"] == "over"
    assert listener.wait(SOON)
    with pytest.raises(ConnectionRefusedError):
        one.open()
    assert look(opened.key) == (200, {"closed": True})


@pytest.mark.usefixtures("networked")
def test_a_page_that_is_loaded_again_takes_its_room_over_with_the_key() -> None:
    opened = rooms.open_for("before", "en")
    rooms.claim("after", opened.key)
    assert rooms.of("after") is opened
    assert rooms.of("before") is None
    rooms.close_of(["before"])
    assert not opened.room.closed
    rooms.close_of(["after"])
    assert opened.room.closed
    rooms.claim("after", opened.key)
    assert rooms.of("after") is None


@pytest.mark.usefixtures("networked")
def test_another_of_this_computer_s_addresses_can_be_shown_and_no_other() -> None:
    opened = rooms.open_for("mine", "en")
    first = opened.door()
    assert first["url"] == f"http://127.0.0.1:{opened.port}/{opened.code}"
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


@pytest.fixture
def hall(hosted: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ASGIApp]:
    """What meets a request to a hosted app in which no visitor has a place."""
    monkeypatch.setenv("RNNVIZ_CAPACITY", "0")
    monkeypatch.setattr(
        startup_message, "addresses", lambda: ["http://192.168.1.5:8501", "http://10.0.0.3:8501"]
    )
    monkeypatch.setattr(room_phones, "TARRY", 0.0)
    app: ASGIApp = Starlette(
        routes=[*rooms.routes(), Route("/{path:path}", lambda _: PlainTextResponse("the app"))]
    )
    for one in reversed(entry.parts(watched=False)["middleware"]):
        app = one.cls(app, *one.args, **one.kwargs)
    yield app
    rooms.close_all()


def test_where_the_app_is_hosted_its_own_port_has_the_room_and_phones_get_nothing_more(hall: ASGIApp) -> None:
    opened = rooms.open_for("mine", "en")
    opened.stage(COLOURS)
    assert vars(rooms)["_listener"] is None, "no other port"
    assert opened.door()["url"] == f"http://192.168.1.5:8501/r/{opened.code}"
    assert [place["address"] for place in opened.door()["places"]] == [
        "http://192.168.1.5:8501/r",
        "http://10.0.0.3:8501/r",
    ], "the lecturer may show another of the app's addresses"
    opened.move("http://10.0.0.3:8501/r")
    assert opened.door()["url"] == f"http://10.0.0.3:8501/r/{opened.code}"
    html = {"Accept": "text/html"}  # as a browser asks for a page
    phone = TestClient(hall, base_url="http://localhost", headers=html, follow_redirects=False)
    page = phone.get(f"/r/{opened.code}")
    assert (page.status_code, "The lecture's room" in page.text) == (200, True)
    assert page.headers["set-cookie"].endswith(f"HttpOnly; Path=/r/{opened.code}; SameSite=strict")
    assert list(phone.cookies) == [room_phones.COOKIE], "a phone is no visitor"
    answer = {"question": 1, "answer": 2}
    assert phone.post(f"/r/{opened.code}/answer", json=answer).json()["mine"] == 2
    assert opened.room.shown()["question"]["counts"] == [0, 0, 1]
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        assert phone.post(f"/r/{opened.code}/answer", json=answer, headers=headers).status_code == 403
    for path in (
        "/r/",
        "/r/learn",
        "/r/_stcore/metrics",
        f"/r/{opened.code}/_stcore/stream",
        "/r/page/x.html",
    ):
        refused = phone.get(path, headers={"X-Rnnviz-Person": "lecturer a"})
        assert (refused.status_code, "nothing at this address" in refused.text) == (404, True), path
    for path in ("/", "/r", f"/{opened.code}", "/learn"):  # the door's, as without the room
        assert phone.get(path).status_code == 503, path
    with pytest.raises(WebSocketDisconnect), phone.websocket_connect("/r/_stcore/stream"):
        pass


def test_a_room_s_cookie_goes_by_https_alone_where_its_page_did(hall: ASGIApp) -> None:
    opened = rooms.open_for("mine", "en")
    page = TestClient(hall, base_url="https://localhost").get(f"/r/{opened.code}")
    assert page.headers["set-cookie"].endswith("; Secure")
