"""A model's page on phones: what the room's door gives, to whom, and when it is gone; real sockets."""

import asyncio
import gzip
import http.client
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.errors import ConfigError
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.sentences import LANGUAGES
from rnnviz.ui.hosting import user
from rnnviz.ui.pages.learn import poll
from rnnviz.ui.room import phones as room_phones
from rnnviz.ui.room import rooms
from rnnviz.ui.room.addresses import Address
from rnnviz.ui.room.rate_limit import Limit
from rnnviz.ui.standalone import CELLS, serving, sharing
from tests.ui.phones import SOON

PAGE = "/page/tiny-gru.html"


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


@pytest.fixture(autouse=True)
def _networked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rooms, "addresses", lambda: [Address("127.0.0.1", "wlan0")])
    monkeypatch.setattr(room_phones, "TARRY", 0.0)
    yield
    rooms.close_all()


def get(way: rooms.Opened, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """What a phone gets at an address."""
    with closing(http.client.HTTPConnection("127.0.0.1", way.port, timeout=SOON)) as connection:
        connection.request("GET", path, headers=headers)
        got = connection.getresponse()
        return got.status, {name.lower(): value for name, value in got.getheaders()}, got.read()


def test_the_rooms_door_gives_the_pages_that_are_shown_and_no_other(
    info: ModelInfo, only_tiny_models: Path
) -> None:
    way = sharing.show("mine", info)
    status, headers, body = get(way, PAGE, **{"Accept-Encoding": "gzip, br"})
    assert (status, headers["content-encoding"]) == (200, "gzip")
    page = gzip.decompress(body).decode()
    assert page.startswith("<!doctype html>")
    assert "<title>tiny-gru · rnnviz</title>" in page
    assert get(way, f"{PAGE}?lang=zh")[2].decode() == page  # a phone that unpacks nothing
    assert (get(way, PAGE, **{"If-None-Match": headers["etag"]})[::2]) == (304, b"")
    for path in ("/", "/page/tiny-lstm.html", "/page/tiny-gru", "/tiny-gru.html", "/_stcore/health"):
        status, _, body = get(way, path)
        assert status == 404, path
        assert b"weights" not in body
    other = checkpoint.read_info(only_tiny_models / "tiny-lstm.safetensors")
    assert sharing.show("mine", other) is way
    assert b"<title>tiny-lstm" in get(way, "/page/tiny-lstm.html")[2]


def test_the_door_closes_with_the_last_page_unless_the_lecture_asks_there(info: ModelInfo) -> None:
    way, listener = sharing.show("mine", info), vars(rooms)["_listener"]
    assert poll.taken({}, str)["door"] is None, "the stage has opened none"
    sharing.stop("mine")
    assert listener.wait(SOON)
    with pytest.raises(ConnectionRefusedError):
        get(way, PAGE)
    lecture = rooms.open_for("mine", "en")
    lecture.asks = True
    assert sharing.show("mine", info) is lecture
    assert get(lecture, PAGE)[0] == 200
    sharing.stop("mine")
    assert get(lecture, PAGE)[0] == 404
    assert rooms.of("mine") is lecture


def test_a_visitor_opens_no_door(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "current", lambda: user.User("v", lecturer=False))
    with pytest.raises(ConfigError, match="only the lecturer"):
        sharing.show("mine", info)
    assert rooms.of("mine") is None


def test_too_many_from_one_place_are_refused(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    way = sharing.show("mine", info)
    monkeypatch.setattr(rooms.phones, "_pages", Limit(burst=2, rate=0))
    assert [get(way, path)[0] for path in ("/page/x.html", PAGE, PAGE)] == [404, 200, 429]


def test_the_app_gives_the_page_compressed_and_once(info: ModelInfo) -> None:
    with TestClient(Starlette(routes=[*serving.routes()])) as browser:
        given = browser.get(serving.address("tiny-gru", "gru"))
        assert (given.status_code, given.headers["content-encoding"]) == (200, "gzip")
        assert "<title>tiny-gru · rnnviz</title>" in given.text
        known = {"If-None-Match": given.headers["etag"]}
        assert browser.get(serving.address("tiny-gru", "gru"), headers=known).status_code == 304
        assert browser.get("/page/tiny-gru.html?lang=zh", headers=known).status_code == 200
        plain = browser.get(serving.address("tiny-gru", "gru"), headers={"Accept-Encoding": "identity"})
        assert (plain.text, "content-encoding" in plain.headers) == (given.text, False)
        assert int(plain.headers["content-length"]) == len(plain.content) > serving.PIECE
        typed = browser.get("/page/tiny-gru.html", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
        assert '<html lang="zh">' in typed.text
        assert "Accept-Language" in typed.headers["vary"]
        for none in ("nobody", "tiny-3gram", "..%2Fapp"):
            assert browser.get(f"/page/{none}.html").status_code == 404


def test_a_page_of_each_shipped_network_is_kept_in_each_language() -> None:
    shipped = checkpoint.folders()[-1]
    found = [one for one in checkpoint.available()[0] if one.kind in CELLS and one.path.parent == shipped]
    assert 0 < len(found) * len(LANGUAGES) <= serving.KEPT


def test_what_a_page_fails_at_names_no_folder(
    info: ModelInfo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(*given: object) -> serving.Made:
        raise FileNotFoundError(2, "No such file", str(info.path))

    monkeypatch.setattr(serving, "made", gone)
    with TestClient(Starlette(routes=[*serving.routes()])) as browser:
        given = browser.get(serving.address("tiny-gru", "gru"))
    assert given.status_code == 404
    assert str(info.path.parent) not in given.text
    assert str(info.path) in caplog.text


def test_those_who_wait_for_a_page_take_no_threads(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    made, at_work, most = serving.Made(b"", 0, '"a"'), 0, 0

    def slowly(*given: object) -> serving.Made:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        threading.Event().wait(0.02)
        at_work -= 1
        return made

    async def asked() -> list[int]:
        app = Starlette(routes=[*serving.routes()])
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://here") as browser:
            given = await asyncio.gather(*(browser.get(serving.address("tiny-gru", "gru")) for _ in range(5)))
            return [one.status_code for one in given]

    monkeypatch.setattr(serving, "made", slowly)
    assert asyncio.run(asked()) == [200] * 5
    assert most == 1
