"""A view's own connection: what it answers, whom, and what it leaves to the page."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

import rnnviz
from rnnviz.page.live_session import MAX_TEXT_CHARS, QUICK_CHARS, LiveAsk, LiveSession
from rnnviz.page.payload import unpack
from rnnviz.ui.browser import view_socket
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.pages.explore import page
from rnnviz.ui.shell.address import pack_text
from tests.support.apptest import Open, component_data, components, run_until_settled
from tests.support.made_runs import make_run
from tests.support.models import tiny

GRU = tiny("gru", layers=2)
TEXT = "The Time Traveller smiled. "


@pytest.fixture
def live() -> ViewSocket:
    """The live view's, of a page that has run."""
    return linked()


def linked() -> ViewSocket:
    socket = ViewSocket()
    socket.serve(LiveSession(GRU, static=({"words": {}}, "d")))
    return socket


@contextmanager
def connected(token: str, **headers: str) -> Iterator[WebSocketTestSession]:
    client = TestClient(Starlette(routes=view_socket.routes()))
    with client.websocket_connect(view_socket.ADDRESS, subprotocols=[token], headers=headers) as socket:
        yield socket


def refused(token: str, **headers: str) -> bool:
    """Whether no connection is made: nothing that comes over it is waited for."""
    with pytest.raises(WebSocketDisconnect), connected(token, **headers):
        return False
    return True


def answer(socket: WebSocketTestSession, **wish: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    socket.send_text(json.dumps({"client": "b", "seq": 1, "static": "d", **wish}))
    return unpack(socket.receive_bytes())


def left_to_the_page(socket: WebSocketTestSession, said: str) -> bool:
    socket.send_text(said)
    return socket.receive_text() == view_socket.ASK_PAGE


NEWS = "The Time Traveller smiled. " * 8


def test_a_key_brings_one_small_message_and_the_cores_numbers(live: ViewSocket) -> None:
    with connected(live.token) as socket:
        header, arrays = answer(socket, text=TEXT)
        costs, text = arrays["nll"], TEXT
        for n, letter in enumerate("Is it?", 2):
            text += letter
            wish = {"text": text, "client": "b", "seq": n, "static": "d", "base": header["revision"]}
            socket.send_text(json.dumps(wish))
            message = socket.receive_bytes()
            assert len(message) < 2000
            header, arrays = unpack(message)
            assert (header["seq"], header["known"]) == (n, len(text) - 1)
            costs = np.concatenate([costs[: header["known"]], arrays["nll"]])
        assert left_to_the_page(socket, "[")  # no other message came before this one's answer
    np.testing.assert_allclose(costs, rnnviz.trace(GRU, TEXT + "Is it?").nll, rtol=1e-5)


def test_the_page_offers_it_and_keeps_one_text_with_it(open_app: Open) -> None:
    app = open_app("explore", model="tiny-gru")
    token = component_data(app)[0]["session"]
    with connected(token) as socket:
        assert answer(socket, text="mat")[0]["numbers"]["characters"] == 3
        app.run()
        assert (component_data(app)[0]["text"], component_data(app)[0]["session"]) == ("mat", token)
        app.selectbox(key="model").select("tiny-lstm").run()
        header, _ = answer(socket, text="mate", static="")
        assert header["static"]["cell"] == "lstm"


def test_a_key_that_is_answered_while_the_page_runs_does_not_take_its_texts_place(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    static = page._static

    def meanwhile(session: LiveSession, *more: Any) -> tuple[dict[str, Any], str]:
        session.answer(LiveAsk(text="typed just before"))
        return static(session, *more)

    monkeypatch.setattr(page, "_static", meanwhile)
    header, _ = component_data(open_app("explore", model="tiny-gru", text=pack_text("of the address")))
    assert (header["text"], header["numbers"]["characters"]) == ("of the address", 14)


def test_what_only_the_page_can_answer_is_left_to_it(
    live: ViewSocket, caplog: pytest.LogCaptureFixture
) -> None:
    wishes = (
        {"fresh": True},
        {"model": "tiny-lstm"},
        {"glance": True},
        {"text": "a" * view_socket.MAX_ASK_CHARS},
    )
    with connected(live.token) as socket:
        for said in ("", "[", "[" * 100_000, *map(json.dumps, wishes)):
            assert left_to_the_page(socket, said)
            assert answer(socket, text="on")[0]["length"] == 2
        assert not caplog.records, "whoever sends nonsense fills no log"
        socket.send_text('"a"')  # no object: an ask of nothing
        assert unpack(socket.receive_bytes())[0]["length"] == 0


def test_what_fails_is_left_to_the_page_which_says_so(
    live: ViewSocket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*given: object, **more: object) -> bytes:
        raise RuntimeError("broken")

    monkeypatch.setattr(LiveSession, "answer", broken)
    with connected(live.token) as socket:
        assert left_to_the_page(socket, json.dumps({"text": "on"}))
    assert "could not be answered" in caplog.text


def test_nobody_is_answered_without_the_token_or_after_the_session_is_gone() -> None:
    state = {"link": linked()}  # a session's state alone holds it
    token = state["link"].token
    assert refused("another")
    with connected(token) as socket:
        answer(socket, text="here")
        del state
        gc.collect()
        assert left_to_the_page(socket, json.dumps({"text": "here"}))
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()


@pytest.mark.parametrize(
    ("ask", "quick"),
    [
        (LiveAsk(text=NEWS + "e", seq=7, base=1, static="d", client="b"), True),
        (LiveAsk(text=NEWS[:-3]), True),
        (LiveAsk(text=NEWS + "e" * QUICK_CHARS), True),
        (LiveAsk(text=NEWS + "e" * (QUICK_CHARS + 1)), False),
        (LiveAsk(text="x" + NEWS), False),
        (LiveAsk(text=NEWS[:20]), False),  # another window
        (LiveAsk(text=NEWS, start=0), False),
        (LiveAsk(text=NEWS, quantity="update"), False),
        (LiveAsk(text=NEWS, write=1), False),
        (LiveAsk(text="e" * MAX_TEXT_CHARS), False),
    ],
)
def test_only_what_takes_no_time_is_answered_where_others_wait(ask: LiveAsk, quick: bool) -> None:
    session = LiveSession(GRU)
    assert not session.is_quick(LiveAsk(text=NEWS))
    session.answer(LiveAsk(text=NEWS))
    assert session.is_quick(ask) is quick


def test_at_once_only_what_is_quick_is_said_and_only_while_no_other_thread_is_at_it(live: ViewSocket) -> None:
    assert live.answer({"text": NEWS})
    assert live.answer({"text": NEWS}, at_once=True)
    assert live.answer({"text": "x" + NEWS}, at_once=True) is None
    with live.lock:
        assert live.answer({"text": NEWS}, at_once=True) is None


def test_one_views_long_asks_take_one_thread(live: ViewSocket) -> None:
    at_work, most = 0, 0

    class SlowSession:
        def answer_ask(self, ask_json: Any, /, *, at_once: bool) -> bytes | None:
            nonlocal at_work, most
            if at_once:
                return None
            at_work += 1
            most = max(most, at_work)
            threading.Event().wait(0.05)
            at_work -= 1
            return b""

    live.serve(SlowSession())

    async def asked() -> None:
        await asyncio.gather(*(view_socket._answer_text(live.token, "{}") for _ in range(3)))

    asyncio.run(asked())
    assert most == 1


def test_one_who_asks_without_waiting_leaves_others_their_turn(live: ViewSocket) -> None:
    turns: list[str] = []

    class Socket:
        """Asks are there already, and answers go at once: it waits for nothing."""

        async def receive_text(self) -> str:
            if turns.count("ask") == 3:
                raise WebSocketDisconnect
            turns.append("ask")
            return "{}"

        async def send_bytes(self, data: bytes) -> None:
            pass

    async def other() -> None:
        turns.append("other")

    async def both() -> None:
        with suppress(WebSocketDisconnect):
            await asyncio.gather(view_socket._answer_asks(cast(Any, Socket()), live.token), other())

    assert live.answer({})
    assert live.answer({}, at_once=True)
    asyncio.run(both())
    assert turns == ["ask", "other", "ask", "ask"]


def test_a_tab_has_few_connections_and_gets_back_those_that_end(live: ViewSocket) -> None:
    with ExitStack() as stack:
        for _ in range(view_socket.MAX_CONNECTIONS):
            stack.enter_context(connected(live.token))
        assert refused(live.token)
    assert live.connections == 0
    with connected(live.token) as socket:
        assert answer(socket, text="again")[0]["length"] == 5


def test_a_step_of_the_lecture_is_answered_in_its_language_and_the_room_is_left_to_the_page(
    open_app: Open,
) -> None:
    app = open_app("learn", locale="zh-CN")
    said = json.loads(components(app)[0].proto.bytes)
    wish = {"client": "b", "seq": 2, "scene": 1, "step": 1, "present": said["present"]}
    with connected(said["session"]) as socket:
        socket.send_text(json.dumps(wish))
        got = json.loads(socket.receive_bytes())
        assert (said["step"], got["step"], got["seq"]) == (0, 1, 2)
        assert got["titles"] == said["titles"]
        for more in ({"room": {"open": True}}, {"present": not said["present"]}):
            assert left_to_the_page(socket, json.dumps({**wish, **more}))
    app.run()
    assert json.loads(components(app)[0].proto.bytes)["step"] == 1


def test_a_texts_chunks_and_a_runs_snapshots_need_no_run_of_the_page(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run("one")
    app = open_app("train", run="one")  # kept: its session holds the connection
    header, _ = component_data(app)
    with connected(header["session"]) as socket:
        got, _ = answer(socket, run="one", static=header["digest"], held=[])
        assert len(got["frames"]) > len(header["frames"])
        assert "static" not in got
    app = run_until_settled(open_app("perplexity", text=pack_text(TEXT)), "perplexity")
    header, _ = component_data(app)
    with connected(header["session"]) as socket:
        _, arrays = answer(socket, chunks=[0], static=header["digest"])
        assert "".join(map(chr, arrays["codes"])) == TEXT
