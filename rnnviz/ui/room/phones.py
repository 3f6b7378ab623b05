"""What a room's phones may ask: a page, a stream of what is asked now, an answer, a network's own page.
Nothing else is served.

    GET  /CODE            the page, with a random id as its cookie
    GET  /CODE/events     server-sent events: what the phone should show, as often as that changes
    POST /CODE/answer     {"question": 3, "answer": 0}; what the phone should show now
    GET  /page/NAME.html  the live view of a network, while it is shown on phones

An answer to a question that has just closed is no error, which a browser's console would name: the phone
gets what is asked now, and "missed": true.

An id is signed by its room, so that nothing has to be kept of those who only look.
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
from rnnviz.ui.room.limits import Limit
from rnnviz.ui.room.room import Refused, Room

COOKIE = "rnnviz-room"
BODY = 200
"""Bytes that an answer may have."""

PATIENCE = 10.0  # seconds for a body to come
TARRY = 1.0  # seconds that a refusal takes: whoever sends many gets few
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is there
SPREAD = (0.15, 0.8)  # seconds after which a phone is told, so that the lecturer's step comes first


class Phones:
    """The web application for one room's phones, under its code."""

    def __init__(self, room: Room, code: str) -> None:
        self.room, self.code = room, code
        self.pages: dict[str, Callable[[Request], Response]] = {}
        """The answers to who asks for a network's page, by its name, while it is shown."""
        self._secret = secrets.token_bytes(16)
        self._pages = Limit(burst=300, rate=20)  # a whole class may have one address
        self._answers = Limit(burst=8, rate=2)
        self.app = Starlette(
            routes=[
                Route("/{code}", self._page),
                Route("/{code}/events", self._events),
                Route("/{code}/answer", self._answer, methods=["POST"]),
                Route("/page/{name}.html", self._network),
            ],
            exception_handlers={HTTPException: refused, Refused: refused, ClientDisconnect: _gone},
        )

    # ---- ids ----

    def new_id(self) -> str:
        """An id for a phone, signed."""
        name = secrets.token_hex(8)
        return f"{name}.{self._signature(name)}"

    def _signature(self, name: str) -> str:
        return hmac.digest(self._secret, name.encode(), "sha256").hex()[:16]

    def _phone(self, request: Request) -> str | None:
        """The id that a request brings; None without one of this room."""
        name, _, signature = request.cookies.get(COOKIE, "")[:100].partition(".")
        known = hmac.compare_digest(signature.encode(), self._signature(name).encode())
        return name if known else None

    def _known(self, request: Request) -> str:
        found = self._phone(request)
        if found is None:
            raise Refused(401, "stranger")
        return found

    def _here(self, request: Request) -> None:
        """404 for another code: guesses are counted like pages."""
        code = request.path_params["code"]
        if not hmac.compare_digest(code.lower().encode(), self.code.encode()):
            if not self._pages.allows(address(request)):
                raise Refused(429, "slowly")
            raise HTTPException(404)

    # ---- what is served ----

    async def _page(self, request: Request) -> Response:
        self._here(request)
        if not self._pages.allows(address(request)):
            raise Refused(429, "slowly")
        answer = HTMLResponse(phone.page(), headers=phone.HEADERS)
        if self._phone(request) is None:
            path = f"/{request.path_params['code']}"
            answer.set_cookie(COOKIE, self.new_id(), path=path, httponly=True, samesite="strict")
        return answer

    async def _network(self, request: Request) -> Response:
        if not self._pages.allows(address(request)):
            raise Refused(429, "slowly")
        answer = self.pages.get(request.path_params["name"])
        if answer is None:
            raise HTTPException(404)
        return answer(request)

    async def _events(self, request: Request) -> Response:
        self._here(request)
        who = self._known(request)
        if not self._answers.allows(who):
            raise Refused(429, "slowly")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(who), media_type="text/event-stream", headers=headers)

    async def _stream(self, who: str) -> AsyncIterator[str]:
        place = object()
        try:
            self.room.come(who, place)
        except Refused as refused:
            yield f"retry: 20000\n{_event({'state': refused.why})}"
            return
        rings = self.room.phones.hang()
        try:
            said = ""
            while True:
                rings.clear()
                if not self.room.is_at(who, place):
                    yield _event({"state": "elsewhere"})
                    return
                over = self.room.closed  # before what is said: it may close while that is being sent
                say = _event(self.room.heard(who))
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
            self.room.phones.take_down(rings)
            self.room.go(who, place)

    async def _answer(self, request: Request) -> Response:
        self._here(request)
        who = self._known(request)
        if not self._answers.allows(who):
            raise Refused(429, "slowly")
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
            self.room.vote(who, given.get("question"), given.get("answer"))
        except Refused as refused:
            if refused.why != "closed":
                raise
            missed = {"missed": True}
        return JSONResponse(self.room.heard(who) | missed, headers={"Cache-Control": "no-store"})


async def _body(request: Request) -> bytes:
    """A request's body; Refused as soon as it is longer than BODY."""
    found = b""
    async for piece in request.stream():
        found += piece
        if len(found) > BODY:
            raise Refused(413, "long")
    return found


def _event(said: dict[str, Any]) -> str:
    return f"data: {json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n\n"


def address(request: Request) -> str:
    return request.client.host if request.client else ""


async def refused(request: Request, error: Exception) -> Response:
    """Why not: a page for whoever opens a wrong address, JSON for the page's script."""
    status = error.status if isinstance(error, Refused) else getattr(error, "status_code", 500)
    why = error.why if isinstance(error, Refused) else "missing"
    extra = getattr(error, "headers", None) or {}
    await asyncio.sleep(TARRY)
    # What has not been read of a body would be taken for the next request.
    extra = {**extra, "Connection": "close"} if request.method == "POST" else extra
    if request.method == "GET" and not request.url.path.endswith("/events"):
        return HTMLResponse(phone.refusal(why), status, headers={**phone.HEADERS, **extra})
    return JSONResponse({"why": why}, status, headers={**extra, "Cache-Control": "no-store"})


async def _gone(request: Request, error: Exception) -> Response:
    """The phone has left before its answer was whole: nobody reads this."""
    return Response(status_code=400)
