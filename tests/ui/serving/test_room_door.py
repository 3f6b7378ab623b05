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

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnviz.page.responses import pack_file
from rnnviz.ui.serving import http_protocol
from rnnviz.ui.serving.room import listener as room_listener
from rnnviz.ui.serving.room import phones
from rnnviz.ui.serving.room.listener import ClassroomServer
from rnnviz.ui.serving.room.phones import NetworkPages, PhoneApp, RateLimit
from rnnviz.ui.serving.room.room import Room
from tests.support.phones import COLOURS, SHUT, SOON, Phone, hang_up, shut
from tests.support.waiting import until

NETWORK = "<title>tiny</title>" + "the weights, " * 5_000


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
    made = Room()
    made.ask(COLOURS)
    return made


@pytest.fixture
def served(room: Room) -> PhoneApp:
    """What the room's phones are served: one network among it."""
    shown = NetworkPages()
    shown.add("tiny.html", "Tiny", pack_file(NETWORK.encode(), "tiny.html"))
    return PhoneApp(room, shown)


@pytest.fixture
def listener(served: PhoneApp, room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassroomServer]:
    """What answers for the room."""
    monkeypatch.setattr(phones, "NEWS_DELAY_RANGE_S", (0.0, 0.0))
    monkeypatch.setattr(phones, "REFUSAL_DELAY_S", 0.0)
    made = ClassroomServer(served.app, "127.0.0.1", 0)
    yield made
    room.close()
    shut(made)


@pytest.fixture
def port(listener: ClassroomServer) -> int:
    """Where the room answers."""
    return listener.port


@pytest.fixture
def one(port: int) -> Phone:
    """A phone that has joined."""
    return Phone(port).join()


# ---- files ----


def test_the_page_is_one_small_file_that_may_do_nothing_but_talk_to_its_room(port: int) -> None:
    got = Phone(port).request("GET", "/")
    page = got.body.decode()
    assert (got.status, got.headers["cache-control"]) == (200, "no-store")
    assert len(page) < 14_000
    assert re.findall(r"""(?:src|href)=["']?([^"' >{]+)""", page) == ["data:,"], "it asks for another file"
    assert not re.search(r"@import|url\(|import\(", page)
    policy = got.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    said = json.loads(page.split('id="words">')[1].split("</script>")[0])
    assert set(said) == {"en", "zh"}
    assert set(said["zh"]) == set(phones.PHONE_WORDS)


def test_a_network_is_sent_compressed_and_once(port: int, served: PhoneApp) -> None:
    browser = Phone(port)
    packed = browser.request("GET", "/tiny.html", **{"Accept-Encoding": "gzip, br"})
    assert (packed.status, packed.headers["content-encoding"]) == (200, "gzip")
    assert gzip.decompress(packed.body).decode() == NETWORK
    plain = browser.request("GET", "/tiny.html")
    assert plain.body.decode() == NETWORK
    known = browser.request("GET", "/tiny.html", **{"If-None-Match": plain.headers["etag"]})
    assert (known.status, known.body) == (304, b"")
    (listed,) = served._pages.listed()["pages"]
    assert (listed["title"], listed["bytes"]) == ("Tiny", len(packed.body))
    for address, kept in ((listed["href"], True), ("tiny.html?v=another", False)):
        headers = browser.request("GET", f"/{address}").headers
        assert headers["cache-control"].endswith("immutable") == kept


NOWHERE = (
    "/abcde /other.html /.html /../tiny.html /..%2ftiny.html /%2e%2e/%2e%2e/etc/passwd.html //tiny.html "
    "/tiny.html%00 /tiny%00.html /%E4%B8%AD.html /room/else /room/answers.csv /_stcore/health /learn "
    "/page/tiny.html /static/x.js"
)


@pytest.mark.parametrize("path", NOWHERE.split())
def test_there_is_nothing_else(one: Phone, path: str) -> None:
    got = one.request("GET", path)
    assert got.status == 404
    assert b"nothing at this address" in got.body


def test_a_page_is_asked_for_without_a_body(port: int) -> None:
    with line(port, b"GET /tiny.html HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nxx") as phone:
        answer = b"".join(iter(lambda: phone.recv(4096), b""))  # it ends: the rest is not waited for
    assert b" 400 " in answer
    assert b"the weights" not in answer


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/tiny.html", "/room/join", "/room/answer", "/room/events"])
def test_there_is_no_other_method(one: Phone, method: str, path: str) -> None:
    assert one.request(method, path).status == 405


# ---- answers ----


def test_no_two_phones_have_the_same_id(port: int) -> None:
    assert len({Phone(port).join().id for _ in range(20)}) == 20


def test_two_phones_hear_the_question_answer_it_and_hear_that_it_closes(room: Room, port: int) -> None:
    phones = [Phone(port).join(), Phone(port).join()]
    for one in phones:
        heard = one.listen()
        told = (heard["state"], heard["text"], heard["options"])
        assert told == ("open", COLOURS.text, list(COLOURS.options))
        assert heard["pages"][0]["title"] == "Tiny"
    assert phones[0].answer(1, 2)[1]["mine"] == 2
    assert phones[1].answer(1, 2)[0] == 200
    assert phones[1].answer(1, 0)[0] == 200
    shown = room.stage_state()
    assert (shown["phones"], shown["question"]["counts"]) == (2, [1, 0, 1])
    room.reveal(1)
    assert [one.hear()["state"] for one in phones] == ["closed", "closed"]
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


def test_a_phone_hears_which_network_the_lecturer_has_chosen(
    room: Room, served: PhoneApp, one: Phone
) -> None:
    shown = served._pages
    assert one.listen()["chosen"] == -1
    shown.add("other.html", "Other", pack_file(b"x", "other.html"))
    shown.chosen = "other.html"
    room.phones.ring()
    assert one.hear()["chosen"] == 1
    shown.drop("other.html")
    room.phones.ring()
    heard = one.hear()
    assert (heard["chosen"], len(heard["pages"])) == (-1, 1)
    assert one.request("GET", "/other.html").status == 404


def test_a_phone_that_hangs_up_is_there_no_longer(room: Room, port: int, one: Phone) -> None:
    for phone_there in (one, Phone(port).join()):
        phone_there.listen()
    assert room.stage_state()["phones"] == 2
    hang_up()
    until(lambda: room.stage_state()["phones"] == 0)


def test_a_phone_in_two_tabs_is_one_phone(room: Room, port: int, one: Phone) -> None:
    again = Phone(port)
    again.id = one.id
    one.listen()
    again.listen()
    assert one.hear() == {"state": "elsewhere"}
    assert room.stage_state()["phones"] == 1
    one.answer(1, 0)
    again.answer(1, 1)
    assert room.stage_state()["question"]["counts"] == [0, 1, 0]


@pytest.mark.parametrize(
    "id", ["", "x", "a.b", f"{'0' * 16}.{'0' * 16}", "é.é", "." * 3000, "\ud800.x", None, 5, ["a"]]
)
def test_an_id_that_this_room_did_not_give_is_none(room: Room, one: Phone, id: object) -> None:
    one.id = id  # type: ignore[assignment]
    assert one.answer() == (401, {"why": "stranger"})
    assert one.request("POST", "/room/events", one.body()).status == 401
    assert one.join().answer()[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://["])
def test_another_site_s_page_can_neither_join_nor_answer(room: Room, one: Phone, origin: str) -> None:
    for path in ("/room/join", "/room/answer", "/room/events"):
        got = one.request("POST", path, one.body(question=1, answer=0), Origin=origin)
        assert got.status == 403
    forged = one.request("POST", "/room/join", b"{}", Origin=origin, Host=origin.partition("//")[2] or origin)
    assert forged.status in (200, 403)  # whoever forges both is no browser, and gets an id like any other
    assert room.stage_state()["question"]["votes"] == 0
    own = one.request("POST", "/room/join", b"{}", Origin=f"http://127.0.0.1:{one.port}")
    assert own.status == 200


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
def test_whatever_is_sent_is_answered_and_counts_only_if_it_is_an_answer(
    room: Room, port: int, body: bytes
) -> None:
    one = Phone(port).join()
    before = room.stage_state()["question"]["counts"]
    body = body.replace(b'"own"', json.dumps(one.id).encode())
    got = one.request("POST", "/room/answer", body)
    after = room.stage_state()["question"]["counts"]
    if got.status == 200:
        taken = json.loads(body)
        assert taken["question"] == 1
        assert [n - m for n, m in zip(after, before, strict=True)] == [i == taken["answer"] for i in range(3)]
    else:
        assert got.status in (400, 401, 404, 413)
        assert set(got.json) == {"why"}
        assert after == before
    assert (got.status == 413) == (len(body) > phones.MAX_BODY_BYTES)


# ---- bounds ----


def line(port: int, sent: bytes) -> socket.socket:
    """A connection on which this was sent."""
    made = socket.create_connection(("127.0.0.1", port), SOON)
    made.sendall(sent)
    return made


@pytest.mark.parametrize(("length", "sent", "status"), [(10**9, b"x" * 5000, b" 413 "), (20, b"", b" 408 ")])
def test_a_body_without_end_and_one_that_never_comes_are_not_waited_for(
    port: int, monkeypatch: pytest.MonkeyPatch, length: int, sent: bytes, status: bytes
) -> None:
    monkeypatch.setattr(phones, "BODY_TIMEOUT_S", SOON if sent else 0.05)
    head = b"POST /room/answer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length
    with line(port, head + sent) as phone:
        assert status in phone.recv(4096)


ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


ENDLESS = b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000


@pytest.mark.parametrize(
    "sent", [b"", ASKED[:16], ASKED + ASKED[:16], b"\x16\x03\x01\x02\x00\x01\x00", ENDLESS]
)
def test_a_line_on_which_nothing_is_asked_to_its_end_is_cut(
    listener: ClassroomServer, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 0.05)
    listener._server.config.timeout_keep_alive = 0  # seconds after an answer, else 5
    with line(listener.port, sent) as phone, suppress(ConnectionError):
        while phone.recv(4096):  # what can be answered is; then it ends, or this takes too long
            pass


@pytest.mark.parametrize("bound", ["MAX_CONNECTIONS", "MAX_CONNECTIONS_PER_ADDRESS"])
def test_lines_beyond_the_most_are_cut_and_leave_room_again(
    listener: ClassroomServer, one: Phone, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(room_listener, bound, 3)
    monkeypatch.setattr(http_protocol, "HEADER_TIMEOUT_S", 10 * SOON)
    one.listen()
    with ExitStack() as held:
        lines = [held.enter_context(line(listener.port, b"")) for _ in range(6)]
        until(lambda: is_cut(lines[-1]))
        assert not is_cut(lines[0])
    until(lambda: len(listener._server.server_state.connections) == 1)
    assert one.answer(1, 1)[0] == 200


def is_cut(phone: socket.socket) -> bool:
    """Whether the other end has closed a line on which nothing is sent."""
    phone.settimeout(0.2)
    try:
        return phone.recv(1) == b""
    except OSError as error:
        return not isinstance(error, TimeoutError)


def test_a_line_that_reads_nothing_is_cut(
    served: PhoneApp, listener: ClassroomServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_listener, "STALLED_TIMEOUT_S", 0.05)
    served._pages.add("large.html", "Large", pack_file(os.urandom(8_000_000), "large.html"))
    with line(listener.port, b"GET /large.html HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"):
        until(lambda: len(listener._server.server_state.connections) == 1)
        until(lambda: not listener._server.server_state.connections)
    assert Phone(listener.port).request("GET", "/").status == 200


def test_a_phone_that_floods_is_told_to_wait_and_others_are_not(
    served: PhoneApp, room: Room, port: int, one: Phone
) -> None:
    served._answers = RateLimit(burst=8, rate=0)
    statuses = [one.answer(1, n % 3)[0] for n in range(20)]
    assert statuses == [200] * 8 + [429] * 12
    assert one.request("POST", "/room/events", one.body()).status == 429
    assert Phone(port).join().answer(1, 2)[0] == 200
    assert room.stage_state()["question"]["counts"] == [0, 1, 1]


def test_one_address_has_only_so_many_pages_a_second(served: PhoneApp, port: int) -> None:
    served._looks = RateLimit(burst=3, rate=0)
    one = Phone(port)
    got = [one.request("GET", path) for path in ("/", "/tiny.html", "/none.html", "/")]
    assert [each.status for each in got] == [200, 200, 404, 429]
    assert b"Too many at once" in got[-1].body
    assert one.request("POST", "/room/join", b"{}").status == 429


def test_a_phone_too_many_can_look_but_not_answer(one: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.ui.serving.room.room.MAX_PHONES", 0)
    heard = one.listen()
    assert (heard["state"], len(heard["pages"])) == ("full", 1)
    assert one.answer() == (503, {"why": "full"})
    assert one.request("GET", "/tiny.html").status == 200


def test_nothing_is_written(room: Room, one: Phone) -> None:
    opened: list[object] = []
    hooked = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        flags = arguments[2] if hooked and event == "open" else 0
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(arguments)

    sys.addaudithook(hook)
    assert one.answer(1, 1)[0] == 200
    one.listen()
    room.reveal(1)
    one.hear()
    hooked = False
    assert opened == []
