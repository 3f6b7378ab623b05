"""The web application for phones. It serves these addresses and no other:

    GET  /CODE            a room's page, with a random id as its cookie
    GET  /CODE/events     server-sent events: the phone's state, whenever it changes
    POST /CODE/answer     {"question": 3, "answer": 0}; the answer is the phone's state
    GET  /page/NAME.html  the live view of a network, while the lecturer shows it on phones

An answer to a question that has just closed is no HTTP error, which a browser's console would log. The phone
gets its state, with "missed": true.

An id is signed for its room, so the server stores nothing of a phone that doesn't answer.
"""

import asyncio
import hmac
import json
import random
import secrets
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnviz.ui.room import phone
from rnnviz.ui.room.rate_limit import Limit
from rnnviz.ui.room.room import Refused, Room

COOKIE = "rnnviz-room"
BODY = 200
"""Bytes of an answer's body, at most."""

PATIENCE = 10.0  # seconds until a body must be complete
TARRY = 1.0  # seconds that a refusal is delayed, which slows down guesses of codes
HEARTBEAT = 15.0  # seconds until a silent stream sends a comment: proxies cut idle connections
SPREAD = (0.15, 0.8)  # seconds, at random, until a phone hears news: the stage's request comes first

Page = Callable[[Request], Response]


class Phones:
    """The web application `app` for phones.

    room  finds the room of a code, or None
    page  finds the function that answers a request for a network's page, by the network's name, or None
    """

    def __init__(self, room: Callable[[str], Room | None], page: Callable[[str], Page | None]) -> None:
        self._rooms, self._shown = room, page
        self._secret = secrets.token_bytes(16)
        self._pages = Limit(burst=300, rate=20)  # by address, which a whole class may share
        self._answers = Limit(burst=8, rate=2)
        self.app = Starlette(
            routes=[
                Route("/{code}", self._page),
                Route("/{code}/events", self._events),
                Route("/{code}/answer", self._answer, methods=["POST"]),
                Route("/page/{name}.html", self._network),
            ],
            exception_handlers={HTTPException: refused, ClientDisconnect: _gone},
        )

    # ---- a request's room and phone ----

    def _asked(self, request: Request) -> tuple[Room, str]:
        """A request's room, and its code. Raises 404 for an unknown code; guesses count against the limit."""
        code = request.path_params["code"].lower()
        room = self._rooms(code)
        if room is None:
            _slowly(self._pages, address(request))
            raise HTTPException(404)
        return room, code

    def _known(self, request: Request) -> tuple[Room, str]:
        """A request's room, and its phone's id. Raises Refused without such an id, or past the limit."""
        room, code = self._asked(request)
        who = self._phone(request, code)
        if who is None:
            raise Refused(401, "stranger")
        _slowly(self._answers, who)
        return room, who

    def _phone(self, request: Request, code: str) -> str | None:
        name, _, signature = request.cookies.get(COOKIE, "")[:100].partition(".")
        known = hmac.compare_digest(signature.encode(), self._signature(code, name).encode())
        return name if known else None

    def _signature(self, code: str, name: str) -> str:
        return hmac.digest(self._secret, f"{code}.{name}".encode(), "sha256").hex()[:16]

    # ---- routes ----

    async def _page(self, request: Request) -> Response:
        _room, code = self._asked(request)
        _slowly(self._pages, address(request))
        answer = HTMLResponse(phone.page(), headers=phone.HEADERS)
        if self._phone(request, code) is None:
            name, url = secrets.token_hex(8), request.url
            signed, secure = f"{name}.{self._signature(code, name)}", url.scheme == "https"
            answer.set_cookie(COOKIE, signed, path=url.path, httponly=True, samesite="strict", secure=secure)
        return answer

    async def _network(self, request: Request) -> Response:
        _slowly(self._pages, address(request))
        answer = self._shown(request.path_params["name"])
        if answer is None:
            raise HTTPException(404)
        return answer(request)

    async def _events(self, request: Request) -> Response:
        # These keep proxies from buffering the stream, or from compressing it.
        headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        stream = _stream(*self._known(request))
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def _answer(self, request: Request) -> Response:
        room, who = self._known(request)
        try:
            given = json.loads(await asyncio.wait_for(_body(request), PATIENCE))
        except TimeoutError:
            raise Refused(408, "late") from None
        except (ValueError, RecursionError):
            raise Refused(400, "invalid") from None
        if not isinstance(given, dict):
            raise Refused(400, "invalid")
        missed = {}
        try:
            room.vote(who, given.get("question"), given.get("answer"))
        except Refused as refused:
            if refused.detail != "closed":
                raise
            missed = {"missed": True}
        return JSONResponse(room.heard(who) | missed, headers={"Cache-Control": "no-store"})


async def _stream(room: Room, who: str) -> AsyncIterator[str]:
    place = object()
    try:
        room.come(who, place)
    except Refused as refused:
        yield f"retry: 20000\n{_event({'state': refused.detail})}"
        return
    with room.phones.heard() as rings:
        try:
            said = ""
            while True:
                rings.clear()
                if not room.is_at(who, place):
                    yield _event({"state": "elsewhere"})
                    return
                over = room.closed  # read before `heard`: a room that closes later gets one more round
                say = _event(room.heard(who))
                if say != said:
                    yield say
                    said = say
                if over:
                    return
                try:
                    await asyncio.wait_for(rings.wait(), HEARTBEAT)
                    await asyncio.sleep(random.uniform(*SPREAD))
                except TimeoutError:
                    yield ":\n\n"
        finally:
            room.go(who, place)


async def _body(request: Request) -> bytes:
    """A request's body. Raises Refused (413) as soon as it is longer than BODY."""
    found = b""
    async for piece in request.stream():
        found += piece
        if len(found) > BODY:
            raise Refused(413, "long")
    return found


def _slowly(limit: Limit, place: str) -> None:
    if not limit.allows(place):
        raise Refused(429, "slowly")


def _event(said: dict[str, Any]) -> str:
    return f"data: {json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n\n"


def address(request: Request) -> str:
    return request.client.host if request.client else ""


async def refused(request: Request, error: Exception) -> Response:
    """The response to a refused request: a page for a browser's address bar, JSON for the page's script."""
    assert isinstance(error, HTTPException)
    status, why = error.status_code, error.detail if isinstance(error, Refused) else "missing"
    await asyncio.sleep(TARRY)
    # On an open connection, the unread rest of a body would be taken for the next request.
    extra = {**(error.headers or {}), **({"Connection": "close"} if request.method == "POST" else {})}
    if request.method == "GET" and not request.url.path.endswith("/events"):
        return HTMLResponse(phone.refusal(why), status, headers={**phone.HEADERS, **extra})
    return JSONResponse({"why": why}, status, headers={**extra, "Cache-Control": "no-store"})


async def _gone(request: Request, error: Exception) -> Response:
    """The response to a phone that has disconnected before its body was complete; nobody reads it."""
    return Response(status_code=400)
