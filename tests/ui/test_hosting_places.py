"""How many there is room for, what the others are told, and what may come over the wire."""

import re
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from rnnviz.ui.hosting import permissions, request_limits, uploads
from rnnviz.ui.hosting.auth import Auth
from tests.ui.conftest import HALL as KEY

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def page(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())), headers={"Cache-Control": "no-cache"})


async def stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("welcome")
    with suppress(WebSocketDisconnect):
        while True:
            await websocket.send_bytes(await websocket.receive_bytes())


@pytest.fixture
def door(hosted: None, monkeypatch: pytest.MonkeyPatch) -> Auth:
    """The way into an app with one place."""
    monkeypatch.setenv("RNNVIZ_CAPACITY", "1")
    return Auth(
        Starlette(
            routes=[
                WebSocketRoute("/_stcore/stream", stream),
                WebSocketRoute("/live", stream),
                Route("/{path:path}", page, methods=["GET", "PUT", "POST"]),
            ]
        ),
        beside=("/live",),
    )


@pytest.fixture
def full(door: Auth) -> Iterator[Auth]:
    """The same, with somebody in its place."""
    with TestClient(door).websocket_connect("/_stcore/stream") as socket:
        assert socket.receive_text() == "welcome"
        yield door


@pytest.mark.parametrize(
    ("path", "accepted", "language", "title"),
    [
        ("/", "en-GB,en;q=0.9", "en", "Every place is taken"),
        ("/learn", "zh-CN,zh;q=0.9,en;q=0.8", "zh", "名额已满"),
        ("/learn?lang=zh", "en", "zh", "名额已满"),
        ("/a/b/", "de", "en", "Every place is taken"),
    ],
)
def test_where_there_is_no_place_a_page_says_so(
    full: Auth, path: str, accepted: str, language: str, title: str
) -> None:
    client = TestClient(full)
    answer = client.get(path, headers={**HTML, "Accept-Language": accepted})
    assert answer.status_code == 503
    again = int(answer.headers["retry-after"])
    assert 15 <= again <= 25
    for part in (f'<html lang="{language}">', f"<h1>{title}</h1>", f'http-equiv="refresh" content="{again}"'):
        assert part in answer.text
    link = re.search('<a href="([^"]+)"', answer.text)
    assert answer.url.join(link[1]).path == "/page/timemachine-gru.html"
    assert client.get(str(answer.url.join(link[1])), headers=HTML).status_code == 200
    assert "{" not in re.sub("<style>.*</style>", "", answer.text, flags=re.DOTALL)
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"(src|href)=.?(https?:|//)|@import|url\(|<script", answer.text)


def test_what_an_address_says_is_text_on_the_page(full: Auth) -> None:
    evil = '"><script>alert(1)</script>'
    for path in (f"/{evil}?lang={evil}", f"/x?key={evil}&text={evil}"):
        said = TestClient(full).get(path, headers={**HTML, "Accept-Language": evil}).text
        assert "<script" not in said
        assert "alert(1)</" not in said
    said = TestClient(full).get("/x?key=wrong&a=1&copy=2").text
    assert '<a href="./x?a=1&amp;copy=2">' in said


def test_who_is_here_may_load_the_page_again_and_who_leaves_makes_room(door: Auth) -> None:
    client, other = TestClient(door), TestClient(door)
    for _ in range(115):  # to ask for a page takes no place, and without a cookie each is somebody new
        assert TestClient(door).get("/", headers=HTML).status_code == 200
    client.get("/", headers=HTML)  # for the cookie
    with client.websocket_connect("/_stcore/stream"):
        assert client.get("/", headers=HTML).status_code == 200
        assert client.get("/_stcore/health").status_code == 200
        assert other.get("/", headers=HTML).status_code == 503
        with pytest.raises(WebSocketDisconnect) as refused, other.websocket_connect("/_stcore/stream"):
            pass
        assert refused.value.code == 1013
        with client.websocket_connect("/live"), client.websocket_connect("/live"):
            pass  # a tab's second connection has no place of its own
    assert other.get("/", headers=HTML).status_code == 200
    with other.websocket_connect("/_stcore/stream"):
        assert client.get("/", headers=HTML).status_code == 503
    assert not vars(door)["_here"], "nobody is remembered"


def message(kind: str) -> bytes:
    made = BackMsg()
    if kind in ("rerun_script", "file_urls_request", "backend_operation_request"):
        getattr(made, kind).SetInParent()
    else:
        setattr(made, kind, True)
    return made.SerializeToString()


def test_only_what_a_page_sends_goes_on(door: Auth) -> None:
    with TestClient(door).websocket_connect("/_stcore/stream") as socket:
        socket.receive_text()
        hostile = [
            message(field.name)
            for field in BackMsg.DESCRIPTOR.fields
            if field.name not in request_limits.USUAL
        ]
        assert len(hostile) >= 5
        for sent in (*hostile, b"", message("app_heartbeat") + message("clear_cache")):
            socket.send_bytes(sent)
        for kind in sorted(request_limits.USUAL):
            socket.send_bytes(message(kind))
            assert socket.receive_bytes() == message(kind)  # and none of those before
        socket.send_bytes(b"\xff no message")  # is Streamlit's to refuse
        assert socket.receive_bytes() == b"\xff no message"


def test_text_ends_the_connection(door: Auth) -> None:
    with TestClient(door).websocket_connect("/_stcore/stream") as socket:
        socket.receive_text()
        socket.send_text("text")
        with pytest.raises(WebSocketDisconnect) as ended:
            socket.receive_bytes()
        assert ended.value.code == 1003


def test_the_lecturer_always_gets_in_takes_nobodys_place_and_may_send_anything(full: Auth) -> None:
    lecturer = TestClient(full)
    assert lecturer.get("/", params={"key": KEY}, headers=HTML).status_code == 200  # after the redirect
    with lecturer.websocket_connect("/_stcore/stream") as socket:
        assert socket.receive_text() == "welcome"
        assert vars(full)["_here"].total() == 1
        socket.send_bytes(message("clear_cache"))
        assert socket.receive_bytes() == message("clear_cache")


MOST = 1_000_000 + request_limits.AROUND


def test_a_body_has_an_end(door: Auth) -> None:
    client = TestClient(door)
    assert client.put("/x", content=bytes(MOST)).text == str(MOST)
    refused = client.put("/x", content=bytes(MOST + 1))
    assert (refused.status_code, refused.text[:41]) == (413, "A visitor's text has at most 1 MB. If it ")
    pieces = (bytes(2**18) for _ in range(7))  # no length said beforehand
    assert client.put("/x", content=pieces).status_code == 413
    for length in ("x", "-1", "²", "9" * 30):
        assert client.put("/x", content=b"", headers={"Content-Length": length.encode()}).status_code == 413
    client.get("/", params={"key": KEY})
    assert client.put("/x", content=bytes(MOST + 1)).text == str(MOST + 1)


def test_a_session_s_uploads_have_an_end(door: Auth, monkeypatch: pytest.MonkeyPatch) -> None:
    held, client = {"a": SimpleNamespace(data=bytes(10_000_000 - 99))}, TestClient(door)
    files = SimpleNamespace(file_storage={"mine": held}, remove_file=lambda session, file: held.pop(file))
    server = SimpleNamespace(uploaded_file_mgr=files, get_client=lambda session: None)
    monkeypatch.setattr(uploads.runtime, "exists", lambda: True)
    monkeypatch.setattr(uploads.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(uploads.user, "session", lambda: "mine")
    monkeypatch.setattr(Auth, "_answer", lambda *given, **more: None)
    assert permissions.held_bytes() == 10_000_000
    put = "/_stcore/upload_file/mine/b"
    assert client.put(put, content=bytes(99 + request_limits.AROUND)).status_code == 200
    assert client.put(put, content=bytes(100 + request_limits.AROUND)).status_code == 413
    held["c"] = SimpleNamespace(data=bytes(5_000))  # two that came at once
    assert client.delete(put).status_code == 405  # the door lets it pass
    uploads.drop("a")
    assert client.put(put, content=bytes(100 + request_limits.AROUND)).status_code == 200


def test_a_session_is_its_owners_alone(door: Auth, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(door)
    said: list[str] = []

    def owner(session: str) -> str | None:
        return {"mine": said[0], "theirs": "visitor 0000"}.get(session)

    with client.websocket_connect("/_stcore/stream"):
        pass
    client.get("/")
    signed = vars(door)["_cookies"].read("rnnviz_visitor", client.cookies["rnnviz_visitor"])
    said.append(f"visitor {signed}")
    monkeypatch.setattr(request_limits, "owner", owner)
    got = [
        client.put(f"/_stcore/upload_file/{session}/f", content=b"x").status_code
        for session in ("mine", "theirs", "nobodys", "mi%6Ee")
    ]
    assert got == [200, 403, 403, 200]
