"""A room's door, as phones and worse meet it: real sockets."""

import asyncio
import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rnnviz.ui.room.rooms import new_code

from rnnviz.ui import http_protocol as connections
from rnnviz.ui.room import listener as room_listener
from rnnviz.ui.room import phone
from rnnviz.ui.room import phones as room_phones
from rnnviz.ui.room.listener import Listener
from rnnviz.ui.room.phones import COOKIE, Phones
from rnnviz.ui.room.rate_limit import Limit
from rnnviz.ui.room.room import Question, Room
from tests.training.processes import until
from tests.ui.phones import CODE, SHUT, SOON, Phone, hang_up, shut

COLOURS = Question("colour", "Which <b>colour</b>?", ("red", "green", "blue"))


@pytest.fixture(autouse=True, scope="module")
def _ended() -> Iterator[None]:
    yield
    assert all(listener.wait(SOON) for listener in SHUT)


@pytest.fixture(autouse=True)
def _hung_up() -> Iterator[None]:
    yield
    hang_up()


def serving(room: Room, **others: Room) -> Phones:
    """What serves phones a room under CODE, and others."""
    return Phones({CODE: room, **others}.get, lambda name: None)


@pytest.fixture
def room() -> Room:
    """A room that asks for a colour."""
    made = Room()
    made.ask(COLOURS)
    return made


@pytest.fixture
def served(room: Room) -> Phones:
    """What the room's phones are served."""
    return serving(room)


@pytest.fixture
def port(served: Phones, room: Room, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Where the room answers."""
    monkeypatch.setattr(room_phones, "SPREAD", (0.0, 0.0))
    monkeypatch.setattr(room_phones, "TARRY", 0.0)
    listener = Listener(served.app, "127.0.0.1")
    yield listener.port
    room.close()
    shut(listener)


@pytest.fixture
def one(port: int) -> Phone:
    """A phone that has loaded the page."""
    found = Phone(port)
    found.open()
    return found


# ---- what is served ----


def test_the_page_is_one_small_file_that_may_do_nothing_but_talk_to_its_room(port: int) -> None:
    got = Phone(port).open()
    page = got.body
    assert len(page) < 9_000
    assert re.findall(r"""(?:src|href)=["']?([^"' >]+)""", page) == ["data:,"], "it asks for another file"
    assert not re.search(r"@import|url\(|import\(", page)
    policy = got.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    cookie = got.headers["set-cookie"]
    assert re.fullmatch(
        rf"{COOKIE}=[0-9a-f]{{16}}\.[0-9a-f]{{16}}; HttpOnly; Path=/{CODE}; SameSite=strict", cookie
    )
    assert got.headers["cache-control"] == "no-store"
    said = json.loads(page.split('id="words">')[1].split("</script>")[0])
    assert set(said) == {"en", "zh"}
    assert set(said["zh"]) == set(phone.WORDS)


def test_an_id_is_given_once_and_no_two_phones_have_the_same(port: int, one: Phone) -> None:
    assert "set-cookie" not in one.open().headers
    cookies = set()
    for _ in range(20):
        other = Phone(port)
        other.open()
        cookies.add(other.cookie)
    assert len(cookies) == 20


NOWHERE = (
    "/ /abcdf /abcdf/events /abcde/else /abcde/../etc /_stcore/health /learn /plotly/plotly.min.js "
    "/page/timemachine-gru.html /page/.html "
    "/room/abcde /static/x.js /%61bcdf /abcde%00 /%E4%B8%AD"
)


@pytest.mark.parametrize("path", NOWHERE.split())
def test_there_is_nothing_else(port: int, one: Phone, path: str) -> None:
    got = one.request("GET", path)
    said = got.body
    assert got.status == 404
    assert "nothing at this address" in said or json.loads(said) == {"why": "missing"}
    assert COOKIE not in str(got.headers)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS", "TRACE"])
def test_there_is_no_other_method(one: Phone, method: str) -> None:
    assert one.request(method, f"/{CODE}").status == 405
    if method != "POST":
        assert one.request(method, f"/{CODE}/answer").status == 405


def test_the_address_may_be_typed_in_capitals(port: int) -> None:
    shouting = Phone(port, CODE.upper())
    assert shouting.open().status == 200
    assert shouting.answer({"question": 1, "answer": 0})[0] == 200


# ---- answers ----


def test_two_phones_hear_the_question_answer_it_and_hear_that_it_closes(room: Room, port: int) -> None:
    phones = [Phone(port), Phone(port)]
    for one in phones:
        one.open()
        heard = one.listen()
        assert (heard["state"], heard["text"], heard["options"]) == (
            "open",
            COLOURS.text,
            list(COLOURS.options),
        )
    assert phones[0].answer({"question": 1, "answer": 2})[1]["mine"] == 2
    assert phones[1].answer({"question": 1, "answer": 2})[0] == 200
    assert phones[1].answer({"question": 1, "answer": 0})[0] == 200
    shown = room.shown()
    assert (shown["phones"], shown["question"]["counts"]) == (2, [1, 0, 1])
    room.reveal(1)
    assert [one.hear()["state"] for one in phones] == ["closed", "closed"]
    status, late = phones[0].answer({"question": 1, "answer": 0})
    assert (status, late["state"], late["mine"], late["missed"]) == (200, "closed", 2, True)
    room.ask(replace(COLOURS, key="next", text="The next?"))
    status, late = phones[0].answer({"question": 1, "answer": 0})
    assert (status, late["state"], late["number"], late["missed"]) == (200, "open", 2, True)
    assert late["text"] == phones[0].hear()["text"] == "The next?"
    assert "missed" not in phones[0].answer({"question": 2, "answer": 0})[1]
    room.ask(None)
    assert phones[0].hear() == {"language": "en", "state": "waiting"}
    room.close()
    assert phones[0].hear()["state"] == "over"
    assert phones[0].hear() == {}


def test_a_room_that_closes_while_a_phone_is_told_something_else_still_says_so(room: Room) -> None:
    async def heard() -> list[str]:
        stream = room_phones._stream(room, "somebody")
        said = [await anext(stream)]
        room.close()
        return said + [event async for event in stream]

    assert ['"open"' in event or '"over"' in event for event in asyncio.run(heard())] == [True, True]


def test_a_phone_that_hangs_up_is_there_no_longer(room: Room, port: int, one: Phone) -> None:
    other = Phone(port)
    other.open()
    for phone_there in (one, other):
        phone_there.listen()
    assert room.shown()["phones"] == 2
    hang_up()
    until(lambda: room.shown()["phones"] == 0)


def test_a_phone_in_two_tabs_is_one_phone(room: Room, port: int, one: Phone) -> None:
    again = Phone(port)
    again.cookie = one.cookie
    one.listen()
    again.listen()
    assert one.hear() == {"state": "elsewhere"}
    assert room.shown()["phones"] == 1
    one.answer({"question": 1, "answer": 0})
    again.answer({"question": 1, "answer": 1})
    assert room.shown()["question"]["counts"] == [0, 1, 0]


@pytest.mark.parametrize(
    "cookie", ["", "x", "=", "a.b", f"{'0' * 16}.{'0' * 16}", "é.é", "." * 5000, "0" * 5000]
)
def test_an_id_that_this_room_did_not_give_is_none(room: Room, one: Phone, cookie: str) -> None:
    one.cookie = f"{COOKIE}={cookie}".encode().decode("latin-1")
    assert one.answer({"question": 1, "answer": 0}) == (401, {"why": "stranger"})
    assert one.request("GET", f"/{CODE}/events").status == 401
    assert "set-cookie" in one.open().headers, "it gets one that is"
    assert one.answer({"question": 1, "answer": 0})[0] == 200


def test_another_room_s_id_is_none(room: Room) -> None:
    other = Room()
    other.ask(COLOURS)
    listener = Listener(serving(room, edcba=other).app, "127.0.0.1")
    one, elsewhere = Phone(listener.port), Phone(listener.port, "edcba")
    one.open()
    elsewhere.cookie = one.cookie
    assert elsewhere.answer({"question": 1, "answer": 0})[0] == 401
    elsewhere.open()
    assert elsewhere.answer({"question": 1, "answer": 0})[0] == 200
    assert (room.shown()["question"]["answered"], other.shown()["question"]["answered"]) == (0, 1)
    shut(listener)


hostile = st.one_of(
    st.binary(max_size=400),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    ).map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {
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
    one = Phone(port)
    one.open()
    before = room.shown()["question"]["counts"]
    status, said = one.answer(body)
    after = room.shown()["question"]["counts"]
    if status == 200:
        taken = json.loads(body)
        assert taken["question"] == 1
        assert [n - m for n, m in zip(after, before, strict=True)] == [i == taken["answer"] for i in range(3)]
    else:
        assert status in (400, 404, 413)
        assert set(said) == {"why"}
        assert after == before
    assert status == 413 if len(body) > room_phones.BODY else status != 413


def head(one: Phone, length: int) -> bytes:
    """The beginning of an answer whose body is still to come."""
    lines = f"POST /{CODE}/answer HTTP/1.1", "Host: x", f"Cookie: {one.cookie}", f"Content-Length: {length}"
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(("length", "sent", "status"), [(10**9, b"x" * 5000, b" 413 "), (20, b"", b" 408 ")])
def test_a_body_without_end_and_one_that_never_comes_are_not_waited_for(
    port: int, one: Phone, monkeypatch: pytest.MonkeyPatch, length: int, sent: bytes, status: bytes
) -> None:
    monkeypatch.setattr(room_phones, "PATIENCE", SOON if sent else 0.05)
    with socket.create_connection(("127.0.0.1", port), SOON) as line:
        line.sendall(head(one, length) + sent)
        assert status in line.recv(4096)


ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", ASKED[:16], ASKED + ASKED[:16], b"\x16\x03\x01\x02\x00\x01\x00"])
def test_a_line_on_which_nothing_is_asked_to_its_end_is_cut(
    room: Room, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    monkeypatch.setattr(room_phones, "TARRY", 0.0)
    listener = Listener(serving(room).app, "127.0.0.1")
    listener._server.config.timeout_keep_alive = 0  # seconds after an answer, else 5
    with socket.create_connection(("127.0.0.1", listener.port), SOON) as line:
        line.sendall(sent)
        with suppress(ConnectionError):
            while line.recv(4096):  # what can be answered is; then it ends, or this takes too long
                pass
    shut(listener)


def test_lines_beyond_the_most_are_cut_and_leave_room_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_listener, "CONNECTIONS", 3)
    monkeypatch.setattr(connections, "PATIENCE", 10 * SOON)
    listener = Listener(serving(room).app, "127.0.0.1")
    one = Phone(listener.port)
    one.open()
    one.listen()
    held = [socket.create_connection(("127.0.0.1", listener.port), SOON) for _ in range(6)]
    end = time.monotonic() + SOON
    while time.monotonic() < end:  # the first page's line may still be there
        try:
            held[-1].settimeout(0.2)
            assert held[-1].recv(1) == b""
            break
        except TimeoutError:
            continue
        except ConnectionError:
            break
    else:
        pytest.fail("the last line is still open")
    for line in held:
        line.close()
    assert one.answer({"question": 1, "answer": 1})[0] == 200
    room.close()
    shut(listener)


def test_a_phone_that_floods_is_told_to_wait_and_others_are_not(
    served: Phones, room: Room, port: int, one: Phone
) -> None:
    served._answers = Limit(burst=8, rate=0)
    other = Phone(port)
    other.open()
    statuses = [one.answer({"question": 1, "answer": n % 3})[0] for n in range(20)]
    assert statuses == [200] * 8 + [429] * 12
    assert one.request("GET", f"/{CODE}/events").status == 429
    assert other.answer({"question": 1, "answer": 2})[0] == 200
    assert room.shown()["question"]["counts"] == [0, 1, 1]


def test_guessing_codes_is_slowed(served: Phones, port: int) -> None:
    served._pages = Limit(burst=5, rate=0)
    guesser = Phone(port)
    assert [guesser.request("GET", f"/{n:05d}").status for n in range(7)] == [404] * 5 + [429] * 2
    page = guesser.request("GET", f"/{CODE}")
    assert (page.status, "Too many at once" in page.body) == (429, True)


def test_a_phone_too_many_hears_that_the_room_is_full(
    room: Room, one: Phone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.ui.room.room.PHONES", 0)
    assert one.listen() == {"state": "full"}
    assert one.answer({"question": 1, "answer": 0}) == (503, {"why": "full"})


def test_codes_are_letters_that_can_be_told_apart_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) > 190
    letters = iter("aaaaabbbbb")
    monkeypatch.setattr("rnnviz.ui.room.rooms.secrets.choice", lambda _: next(letters))
    monkeypatch.setattr("rnnviz.ui.room.rooms._room", {"aaaaa": Room()}.get)
    assert new_code() == "bbbbb", "one that is taken is another room's"
    assert all(re.fullmatch("[abcdefghjkmnpqrstuvwxyz]{5}", code) for code in codes)


def test_nothing_is_written(room: Room, one: Phone) -> None:
    opened: list[object] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if (
            hooked
            and event == "open"
            and isinstance(arguments[2], int)
            and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        ):
            opened.append(arguments)

    hooked = True
    sys.addaudithook(hook)
    try:
        assert one.answer({"question": 1, "answer": 1})[0] == 200
        one.listen()
        room.reveal(1)
        one.hear()
    finally:
        hooked = False
    assert opened == []
