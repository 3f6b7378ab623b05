"""All that a network is offered: the room's listener, over real sockets."""

import gzip
import json
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.networks import checkpoint
from rnnviz.page.responses import pack_file
from rnnviz.ui.serving import http_protocol
from rnnviz.ui.serving.room import listener as room_listener
from rnnviz.ui.serving.room import phones
from rnnviz.ui.serving.room.listener import ClassroomServer
from rnnviz.ui.serving.room.phones import PhoneApp, RateLimit, RoomPage
from rnnviz.ui.serving.room.room import Room
from tests.support.phones import COLOURS, SHUT, SOON, Phone, hang_up, shut
from tests.support.waiting import until


@pytest.fixture(autouse=True, scope="module")
def _ended() -> Iterator[None]:
    yield
    assert all(listener.wait(SOON) for listener in SHUT)


@pytest.fixture(autouse=True)
def _hung_up() -> Iterator[None]:
    yield
    hang_up()


@pytest.fixture
def room() -> Room:
    """A room that asks for a colour."""
    room = Room()
    room.ask(COLOURS)
    return room


@pytest.fixture
def served(room: Room, models_folder: Path) -> PhoneApp:
    """What the room's phones are served: the page of one network among it."""
    page = RoomPage()
    page.add([network(models_folder, "tiny-gru")])
    return PhoneApp(room, page)


def network(models_folder: Path, name: str) -> checkpoint.ModelInfo:
    return checkpoint.read_info(models_folder / f"{name}.safetensors")


@pytest.fixture
def listener(served: PhoneApp, room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassroomServer]:
    """What answers for the room."""
    monkeypatch.setattr(phones, "NEWS_DELAY_RANGE_S", (0.0, 0.0))
    monkeypatch.setattr(phones, "REFUSAL_DELAY_S", 0.0)
    server = ClassroomServer(served.app, "127.0.0.1", 0)
    yield server
    room.close()
    shut(server)


@pytest.fixture
def port(listener: ClassroomServer) -> int:
    """Where the room answers."""
    return listener.port


@pytest.fixture
def phone(port: int) -> Phone:
    """A phone that has joined."""
    return Phone(port).join()


# ---- files ----


def test_class_page_is_one_file_that_fetches_from_room_alone(port: int) -> None:
    response = Phone(port).request("GET", "/")
    page = response.body.decode()
    assert (response.status, response.headers["cache-control"]) == (200, "no-store")
    assert len(page) < 17_000
    assert re.findall(r"""(?:src|href)=["']?([^"' >{]+)""", page) == ["data:,"], "it asks for another file"
    assert not re.search(r"@import|url\(|import\(", page)
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    words = json.loads(page.split('id="words">')[1].split("</script>")[0])
    assert set(words) == {"en", "zh"}
    assert set(words["zh"]) == set(phones.PHONE_WORDS)


SCRIPT = re.compile(r'src="(page[.][^"]+[.]js)"')


def test_page_is_compressed_and_its_files_are_kept_by_their_digests(port: int, models_folder: Path) -> None:
    packed = Phone(port).request("GET", "/page/", **{"Accept-Encoding": "gzip, br"})
    page = gzip.decompress(packed.body).decode()
    assert (packed.headers["content-type"], packed.headers["cache-control"]) == (
        "text/html; charset=utf-8",
        "no-cache",
    )
    assert "frame-ancestors" not in packed.headers.get("content-security-policy", ""), (
        "the class's page frames it"
    )
    index = json.loads(page.split('id="index">')[1].split("</script>")[0])
    weights = Phone(port).request("GET", f"/page/{index['networks']['tiny-gru']['weights']}")
    assert weights.body == (models_folder / "tiny-gru.safetensors").read_bytes()
    assert weights.headers["cache-control"].endswith("immutable")
    script = Phone(port).request("GET", f"/page/{SCRIPT.findall(page)[0]}")
    assert "javascript" in script.headers["content-type"], "else no browser runs a module"


NOWHERE = (
    "/abcde /other.html /.html /../tiny.html /..%2ftiny.html /%2e%2e/%2e%2e/etc/passwd.html //tiny.html "
    "/tiny.html%00 /tiny%00.html /%E4%B8%AD.html /room/else /room/answers.csv /_stcore/health /learn "
    "/page/tiny.html /page/../x /page/..%2f..%2fetc%2fpasswd /page/index.html%00 "
    "/page/x/index.html /static/x.js"
)


@pytest.mark.parametrize("path", NOWHERE.split())
def test_unknown_path_is_404(phone: Phone, path: str) -> None:
    response = phone.request("GET", path)
    assert response.status == 404
    assert b"nothing at this address" in response.body


def test_page_request_with_body_is_400(port: int) -> None:
    with line(port, b"GET /page/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nxx") as phone:
        answer = b"".join(iter(lambda: phone.recv(4096), b""))  # it ends: the rest is not waited for
    assert b" 400 " in answer
    assert b'id="index"' not in answer


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/page/", "/room/join", "/room/answer", "/room/events"])
def test_other_method_is_405(phone: Phone, method: str, path: str) -> None:
    assert phone.request(method, path).status == 405


# ---- answers ----


def test_two_phones_hear_vote_and_hear_close(room: Room, port: int) -> None:
    phones = [Phone(port).join(), Phone(port).join()]
    for phone in phones:
        state = phone.listen()
        question = {"state": "open", "text": COLOURS.text, "options": list(COLOURS.options)}
        assert {name: state[name] for name in question} == question
        assert state["page"]["narrow"] == "tiny-gru"
    assert phones[0].answer(1, 2)[1]["mine"] == 2
    assert phones[1].answer(1, 2)[0] == 200
    assert phones[1].answer(1, 0)[0] == 200
    stage_state = room.stage_state()
    assert (stage_state["phones"], stage_state["question"]["counts"]) == (2, [1, 0, 1])
    room.reveal(1)
    assert [phone.hear()["state"] for phone in phones] == ["closed", "closed"]
    status, late = phones[0].answer(1, 0)
    assert (status, late["state"], late["mine"], late["missed"]) == (200, "closed", 2, True)
    room.ask(replace(COLOURS, key="next", text="The next?"))
    status, late = phones[0].answer(1, 0)
    assert (status, late["state"], late["number"], late["missed"]) == (200, "open", 2, True)
    assert late["text"] == phones[0].hear()["text"] == "The next?"
    assert "missed" not in phones[0].answer(2, 0)[1]
    room.ask(None)
    assert phones[0].hear()["state"] == "waiting"
    room.close()
    assert phones[0].hear()["state"] == "over"
    assert phones[0].hear() == {}


def test_phone_hears_chosen_network(room: Room, served: PhoneApp, phone: Phone, models_folder: Path) -> None:
    page, small, large = served._page, "tiny-gru", "tiny-lstm"
    before = phone.request("GET", "/page/").body.decode()
    assert phone.listen()["page"] == {"chosen": "", "narrow": small, "wide": small}
    page.add([network(models_folder, large)])
    page.chosen = large
    room.phones.ring()
    assert phone.hear()["page"] == {"chosen": large, "narrow": small, "wide": small}
    after = phone.request("GET", "/page/").body.decode()
    assert f"{large}." in after
    assert f'"first":{{"en":"{small}","zh":"{small}"}}' in after, (
        "the smallest, though it came first by chance"
    )
    (script,) = SCRIPT.findall(before)
    (words,) = re.findall(rf'"({small}[.]en[.][^"]+[.]json)"', before)
    assert {phone.request("GET", f"/page/{name}").status for name in (script, words)} == {200}, (
        "of the old page"
    )
    page.drop(large)
    room.phones.ring()
    assert phone.hear()["page"] == {"chosen": "", "narrow": small, "wide": small}
    assert f"{large}." not in phone.request("GET", "/page/").body.decode()
    page.drop(small)
    assert phone.request("GET", "/page/").status == 404


def test_disconnected_phone_leaves_room(room: Room, listener: ClassroomServer, phone: Phone) -> None:
    for phone_there in (phone, Phone(listener.port).join()):
        phone_there.listen()
    assert room.stage_state()["phones"] == 2
    hang_up()
    until(lambda: room.stage_state()["phones"] == 0)
    connection_class: Any = listener._server.config.http_protocol_class
    until(lambda: not connection_class.connections_by_address)  # of an address that has gone, nothing is kept


def test_phone_in_two_tabs_counts_once(room: Room, port: int, phone: Phone) -> None:
    again = Phone(port)
    again.id = phone.id
    phone.listen()
    again.listen()
    assert phone.hear() == {"state": "elsewhere"}
    assert room.stage_state()["phones"] == 1


@pytest.mark.parametrize("id", ["", f"{'0' * 16}.{'0' * 16}", "é.é", "." * 3000, "\ud800.x", None, ["a"]])
def test_foreign_phone_id_is_401(room: Room, phone: Phone, id: object) -> None:
    phone.id = id  # type: ignore[assignment]
    assert phone.answer() == (401, {"why": "stranger"})
    assert phone.request("POST", "/room/events", phone.body()).status == 401
    assert phone.join().answer()[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_foreign_origin_is_403(room: Room, phone: Phone, origin: str) -> None:
    for path in ("/room/join", "/room/answer", "/room/events"):
        response = phone.request("POST", path, phone.body(question=1, answer=0), Origin=origin)
        assert response.status == 403
    forged = phone.request(
        "POST", "/room/join", b"{}", Origin=origin, Host=origin.partition("//")[2] or origin
    )
    assert forged.status in (200, 403)  # whoever forges both is no browser, and gets an id like any other
    assert room.stage_state()["question"]["votes"] == 0
    same_origin = phone.request("POST", "/room/join", b"{}", Origin=f"http://127.0.0.1:{phone.port}")
    assert same_origin.status == 200


hostile = st.one_of(
    st.binary(max_size=400),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ).map(lambda value: json.dumps(value).encode()),
    st.binary(min_size=phones.MAX_BODY_BYTES + 1, max_size=phones.MAX_BODY_BYTES + 9),
    st.fixed_dictionaries(
        {
            "phone": st.just("own"),
            "question": st.none() | st.integers() | st.text(max_size=5),
            "answer": st.none() | st.integers() | st.floats() | st.lists(st.integers(), max_size=2),
        }
    ).map(lambda value: json.dumps(value).encode()),
)


@given(hostile)
@settings(max_examples=60)
def test_any_body_is_answered_and_counts_as_vote_at_most(room: Room, port: int, body: bytes) -> None:
    phone = Phone(port).join()
    before = room.stage_state()["question"]["counts"]
    body = body.replace(b'"own"', json.dumps(phone.id).encode())
    response = phone.request("POST", "/room/answer", body)
    after = room.stage_state()["question"]["counts"]
    if response.status == 200:
        taken = json.loads(body)
        assert taken["question"] == 1
        assert [n - m for n, m in zip(after, before, strict=True)] == [i == taken["answer"] for i in range(3)]
    else:
        assert response.status in (400, 401, 404, 413)
        assert set(response.json) == {"why"}
        assert after == before
    assert (response.status == 413) == (len(body) > phones.MAX_BODY_BYTES)


# ---- bounds ----


def line(port: int, sent: bytes) -> socket.socket:
    """A connection on which this was sent."""
    connection = socket.create_connection(("127.0.0.1", port), SOON)
    connection.sendall(sent)
    return connection


@pytest.mark.parametrize(("length", "sent", "status"), [(10**9, b"x" * 5000, b" 413 "), (20, b"", b" 408 ")])
def test_endless_or_missing_body_is_refused(
    port: int, monkeypatch: pytest.MonkeyPatch, length: int, sent: bytes, status: bytes
) -> None:
    monkeypatch.setattr(phones, "BODY_TIMEOUT_S", SOON if sent else 0.05)
    head = b"POST /room/answer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length
    with line(port, head + sent) as phone:
        assert status in phone.recv(4096)


WHOLE_REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


ENDLESS = b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000


@pytest.mark.parametrize(
    "sent",
    [b"", WHOLE_REQUEST[:16], WHOLE_REQUEST + WHOLE_REQUEST[:16], b"\x16\x03\x01\x02\x00\x01\x00", ENDLESS],
)
def test_unfinished_header_ends_connection(
    listener: ClassroomServer, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 0.05)
    listener._server.config.timeout_keep_alive = 0  # seconds after an answer, else 5
    with line(listener.port, sent) as phone, suppress(ConnectionError):
        while phone.recv(4096):  # what can be answered is; then it ends, or this takes too long
            pass


@pytest.mark.parametrize("bound", ["MAX_CONNECTIONS", "MAX_CONNECTIONS_PER_ADDRESS"])
def test_connections_beyond_bound_are_cut(
    listener: ClassroomServer, phone: Phone, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(room_listener, bound, 3)
    monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 10 * SOON)
    phone.listen()
    with ExitStack() as stack:
        lines = [stack.enter_context(line(listener.port, b"")) for _ in range(6)]
        until(lambda: is_cut(lines[-1]))
        assert not is_cut(lines[0])
    until(lambda: len(listener._server.server_state.connections) == 1)
    assert phone.answer(1, 1)[0] == 200


def is_cut(phone: socket.socket) -> bool:
    """Whether the other end has closed a line on which nothing is sent."""
    phone.settimeout(0.2)
    try:
        return phone.recv(1) == b""
    except OSError as error:
        return not isinstance(error, TimeoutError)


def test_stalled_connection_is_cut(
    served: PhoneApp, listener: ClassroomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_listener, "STALLED_TIMEOUT_S", 0.05)
    large = pack_file(os.urandom(8_000_000), "large.data")
    vars(served._page)["_files"] = {"large.data": large}
    with line(listener.port, b"GET /page/large.data HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"):
        until(lambda: len(listener._server.server_state.connections) == 1)
        until(lambda: not listener._server.server_state.connections)
    assert Phone(listener.port).request("GET", "/").status == 200


def test_flooding_phone_is_429_and_others_vote(served: PhoneApp, room: Room, port: int, phone: Phone) -> None:
    served._answers = RateLimit(burst=8, rate=0)
    statuses = [phone.answer(1, n % 3)[0] for n in range(20)]
    assert statuses == [200] * 8 + [429] * 12
    assert phone.request("POST", "/room/events", phone.body()).status == 429
    assert Phone(port).join().answer(1, 2)[0] == 200
    assert room.stage_state()["question"]["counts"] == [0, 1, 1]


def test_looks_are_limited_by_address(served: PhoneApp, port: int) -> None:
    served._looks = RateLimit(burst=3, rate=0)
    phone = Phone(port)
    responses = [phone.request("GET", path) for path in ("/", "/page/", "/page/none.js", "/")]
    assert [response.status for response in responses] == [200, 200, 404, 429]
    assert b"Too many at once" in responses[-1].body
    assert phone.request("POST", "/room/join", b"{}").status == 429


def test_phone_beyond_full_room_sees_pages_alone(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.ui.serving.room.room.MAX_PHONES", 0)
    state = phone.listen()
    assert (state["state"], state["page"]["chosen"]) == ("full", "")
    assert phone.answer() == (503, {"why": "full"})
    assert phone.request("GET", "/page/").status == 200


def test_votes_are_written_to_no_file(room: Room, phone: Phone) -> None:
    opened: list[object] = []
    hooked = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if hooked and event == "open" else 0
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(arguments)

    sys.addaudithook(hook)
    assert phone.answer(1, 1)[0] == 200
    phone.listen()
    room.reveal(1)
    phone.hear()
    hooked = False
    assert opened == []
