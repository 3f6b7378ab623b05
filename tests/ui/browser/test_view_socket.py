"""A view's own connection: what it answers, whom, and what it leaves to the page."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

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
    return served_socket()


def served_socket() -> ViewSocket:
    socket = ViewSocket()
    socket.serve(LiveSession(GRU, fixed=({"words": {}}, "d")))
    return socket


@contextmanager
def connected(token: str, **headers: str) -> Iterator[WebSocketTestSession]:
    connect = TestClient(Starlette(routes=view_socket.routes())).websocket_connect
    with connect(view_socket.ADDRESS, subprotocols=[token], headers=headers) as socket:
        yield socket


def answer(socket: WebSocketTestSession, **ask: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    socket.send_text(json.dumps({"client": "b", "seq": 1, "digest": "d", **ask}))
    return unpack(socket.receive_bytes())


def is_left_to_page(socket: WebSocketTestSession, text: str) -> bool:
    socket.send_text(text)
    return socket.receive_text() == view_socket.ASK_PAGE


NEWS = "The Time Traveller smiled. " * 8


def test_key_is_answered_by_one_small_message(live: ViewSocket) -> None:
    with connected(live.token) as socket:
        header, arrays = answer(socket, text=TEXT)
        costs, text = arrays["nll"], TEXT
        for n, letter in enumerate("Is it?", 2):
            text += letter
            ask = {"text": text, "client": "b", "seq": n, "digest": "d", "base": header["revision"]}
            socket.send_json(ask)
            message = socket.receive_bytes()
            assert len(message) < 2000
            header, arrays = unpack(message)
            assert (header["seq"], header["heldRows"]) == (n, len(text) - 1)
            costs = np.concatenate([costs[: header["heldRows"]], arrays["nll"]])
        assert is_left_to_page(socket, "[")  # no other message came before this one's answer
    np.testing.assert_allclose(costs, rnnviz.trace(GRU, TEXT + "Is it?").nll, rtol=1e-5)


def test_page_and_connection_share_a_text(open_app: Open) -> None:
    app = open_app("explore", model="tiny-gru")
    token = component_data(app)[0]["session"]
    with connected(token) as socket:
        assert answer(socket, text="mat")[0]["numbers"]["characters"] == 3
        app.run()
        assert (component_data(app)[0]["text"], component_data(app)[0]["session"]) == ("mat", token)
        app.selectbox(key="model").select("tiny-lstm").run()
        header, _ = answer(socket, text="mate", digest="")
        assert header["fixed"]["cell"] == "lstm"


def test_page_keeps_address_text_despite_a_key(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = page._fixed

    def meanwhile(session: LiveSession, *arguments: Any) -> tuple[dict[str, Any], str]:
        session.answer(LiveAsk(text="typed just before"))
        return fixed(session, *arguments)

    monkeypatch.setattr(page, "_fixed", meanwhile)
    header, _ = component_data(open_app("explore", model="tiny-gru", text=pack_text("of the address")))
    assert (header["text"], header["numbers"]["characters"]) == ("of the address", 14)


def test_asks_for_the_page_are_left_to_it(live: ViewSocket, caplog: pytest.LogCaptureFixture) -> None:
    long_text = "a" * view_socket.MAX_ASK_CHARS
    page_asks = ({"fresh": True}, {"model": "tiny-lstm"}, {"suggest": True}, {"text": long_text})
    with connected(live.token) as socket:
        for message in ("", "[", "[" * 100_000, *map(json.dumps, page_asks)):
            assert is_left_to_page(socket, message)
            assert answer(socket, text="on")[0]["length"] == 2
        assert not caplog.records, "whoever sends nonsense fills no log"
        socket.send_text('"a"')  # no object: an ask of nothing
        assert unpack(socket.receive_bytes())[0]["length"] == 0


def test_failed_answer_is_left_to_the_page(
    live: ViewSocket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(LiveSession, "answer", Mock(side_effect=RuntimeError("broken")))
    with connected(live.token) as socket:
        assert is_left_to_page(socket, json.dumps({"text": "on"}))
    assert "could not be answered" in caplog.text


def test_connection_needs_the_token_and_a_living_session() -> None:
    state = {"link": served_socket()}  # a session's state alone holds it
    token = state["link"].token
    with pytest.raises(WebSocketDisconnect), connected("another"):
        pass  # refused at once: nothing that comes over it is waited for
    with connected(token) as socket:
        answer(socket, text="here")
        del state
        gc.collect()
        assert is_left_to_page(socket, json.dumps({"text": "here"}))
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()


@pytest.mark.parametrize(
    ("ask", "quick"),
    [
        (LiveAsk(text=NEWS + "e", seq=7, base=1, digest="d", client="b"), True),
        (LiveAsk(text=NEWS[:-3]), True),
        (LiveAsk(text=NEWS + "e" * QUICK_CHARS), True),
        (LiveAsk(text=NEWS + "e" * (QUICK_CHARS + 1)), False),
        (LiveAsk(text="x" + NEWS), False),
        (LiveAsk(text=NEWS[:20]), False),  # another window
        (LiveAsk(text=NEWS, start=0), False),
        (LiveAsk(text=NEWS, quantity="update"), False),
        (LiveAsk(text=NEWS, write=True), False),
        (LiveAsk(text=NEWS, tree=0), False),
        (LiveAsk(text=NEWS, pin=3, why=True), False),
        (LiveAsk(text="e" * MAX_TEXT_CHARS), False),
    ],
)
def test_is_quick_for_few_new_characters_of_the_same_view(ask: LiveAsk, quick: bool) -> None:
    session = LiveSession(GRU)
    assert not session.is_quick(LiveAsk(text=NEWS))
    session.answer(LiveAsk(text=NEWS))
    assert session.is_quick(ask) is quick


def test_answer_at_once_waits_for_no_work_and_no_lock(live: ViewSocket) -> None:
    assert live.answer({"text": NEWS})
    assert live.answer({"text": NEWS}, at_once=True)
    assert live.answer({"text": "x" + NEWS}, at_once=True) is None
    with live.lock:
        assert live.answer({"text": NEWS}, at_once=True) is None


def test_long_asks_of_a_view_take_one_thread(live: ViewSocket, monkeypatch: pytest.MonkeyPatch) -> None:
    moments: list[str] = []

    def answer_slowly(ask_json: Any, *, at_once: bool = False) -> bytes | None:
        if at_once:
            return None
        moments.append("begin")
        threading.Event().wait(0.05)
        moments.append("end")
        return b""

    # In place of the answer with its lock, for which two threads would wait without any sign.
    monkeypatch.setattr(live, "answer", answer_slowly)

    async def ask_three_times() -> None:
        await asyncio.gather(*(view_socket._answer_json(live.token, "{}") for _ in range(3)))

    asyncio.run(ask_three_times())
    assert moments == ["begin", "end"] * 3


def test_flood_of_asks_lets_other_tasks_run(live: ViewSocket) -> None:
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

    async def other_task() -> None:
        turns.append("other")

    async def both() -> None:
        with suppress(WebSocketDisconnect):
            await asyncio.gather(view_socket._answer_asks(cast(Any, Socket()), live.token), other_task())

    assert live.answer({})
    assert live.answer({}, at_once=True)
    asyncio.run(both())
    assert turns == ["ask", "other", "ask", "ask"]


def test_view_limits_its_open_connections(live: ViewSocket) -> None:
    with ExitStack() as stack:
        for _ in range(view_socket.MAX_CONNECTIONS):
            stack.enter_context(connected(live.token))
        with pytest.raises(WebSocketDisconnect), connected(live.token):
            pass
    assert live.connections == 0
    with connected(live.token) as socket:
        assert answer(socket, text="again")[0]["length"] == 5


def test_lecture_answers_steps_and_leaves_the_room_to_the_page(
    open_app: Open,
) -> None:
    app = open_app("learn", locale="zh-CN")
    first = json.loads(components(app)[0].proto.bytes)
    ask = {"client": "b", "seq": 2, "scene": 1, "step": 1, "present": first["present"]}
    with connected(first["session"]) as socket:
        socket.send_text(json.dumps(ask))
        second = json.loads(socket.receive_bytes())
        assert (first["step"], second["step"], second["seq"]) == (0, 1, 2)
        assert second["titles"] == first["titles"]
        for page_fields in ({"room": {"open": True}}, {"present": not first["present"]}):
            assert is_left_to_page(socket, json.dumps({**ask, **page_fields}))
    app.run()  # its answer says to which ask it is the next: the browser may have asked since
    rerun = json.loads(components(app)[0].proto.bytes)
    assert (rerun["step"], rerun["client"], rerun["seq"]) == (1, "b", 2)


def test_viewer_and_run_answer_over_their_connections(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_run("one")
    app = open_app("train", run="one")  # kept: its session holds the connection
    header, _ = component_data(app)
    with connected(header["session"]) as socket:
        run_answer, _ = answer(socket, run="one", digest=header["digest"], held=[])
        assert len(run_answer["frames"]) > len(header["frames"])
        assert "fixed" not in run_answer
    app = run_until_settled(open_app("perplexity", text=pack_text(TEXT)), "perplexity")
    header, _ = component_data(app)
    with connected(header["session"]) as socket:
        _, arrays = answer(socket, chunks=[0], digest=header["digest"])
        assert "".join(map(chr, arrays["codes"])) == TEXT
