"""The web application for phones, all that a network is offered. It serves these addresses and no other:

    GET  /             the class's page: the live view of a network, and the question when one is open
    GET  /NAME.html    a network's live view in one file
    POST /room/join    a new phone's id, {"phone": …}
    POST /room/events  {"phone": …}; the answer is a stream of lines, the phone's state in JSON at each change
    POST /room/answer  {"phone": …, "question": 3, "answer": 0}; the answer is the phone's state

An answer to a question that has just closed is no HTTP error, which a browser's console would log. The phone
gets its state, with "missed": true.

No cookie: it would reach the app too, as cookies ignore ports. A phone sends its id, which is signed, in the
body. So the server stores nothing of a phone that doesn't answer.
"""

import asyncio
import hmac
import json
import random
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from rnnviz.i18n import N_, translations
from rnnviz.page.responses import Packed, headers
from rnnviz.sentences import LANGUAGES
from rnnviz.ui.serving.room.room import Refused, Room

PHONE = Path(__file__).parent / "phone"
"""The class's page: one file of a few kilobytes, which frames the pages of networks."""

WORDS = {
    "title": N_("The lecture's room"),
    "network": N_("Network"),
    "waiting": N_("You are in. Questions appear here."),
    "open": N_("Choose one. You can change it until the question closes."),
    "given": N_("Your answer counts. You can change it until the question closes."),
    "sending": N_("Sending …"),
    "missed": N_("Too late: that question has closed. Answer this one."),
    "closed": N_("Closed. Look at the screen."),
    "right": N_("Right: {answer}"),
    "over": N_("The room is closed. Thank you."),
    "lost": N_("No connection. Trying again …"),
    "unsent": N_("No connection. Your answer is sent as soon as there is one."),
    "full": N_("The room is full: you can look, but not answer."),
    "elsewhere": N_("This room is open in another tab. Tap here to go on in this one."),
    "slowly": N_("Too many at once. Wait a moment, then load the page again."),
    "missing": N_("There is nothing at this address. Compare it with the one on the screen."),
    "space": N_("space"),
}
"""The page's sentences; a phone shows them in the lecture's language."""

SAID = ("missing", "slowly")
"""Names of the sentences that a refusal may show."""


def phone_words(language: str) -> dict[str, str]:
    """WORDS in a language of LANGUAGES."""
    say = translations(language).gettext
    return {name: say(message) for name, message in WORDS.items()}


@cache
def class_page() -> bytes:
    """The page, with the words of all languages."""
    # "<" becomes an escape, so that no text in it can end the script element.
    said = json.dumps({language: phone_words(language) for language in LANGUAGES}, ensure_ascii=False)
    whole = (
        _file("phone.html").replace("{{style}}", _file("phone.css")).replace("{{script}}", _file("phone.js"))
    )
    return whole.replace("{{words}}", said.replace("<", "\\u003c")).encode()


@cache
def refusal(why: str) -> bytes:
    """A refusal's page, with the sentence `why` of SAID in all languages; others become "missing"."""
    name = why if why in SAID else "missing"
    lines = "".join(f"<p lang={language}>{escape(phone_words(language)[name])}</p>" for language in LANGUAGES)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>rnnviz</title><style>{_file('phone.css')}</style><main>{lines}</main>"
    ).encode()


@cache
def _file(name: str) -> str:
    return (PHONE / name).read_text("utf-8")


HEADERS = headers(script=_file("phone.js"), style=_file("phone.css"))
"""Headers of every page."""


PLACES = 4_096
"""Buckets of `Limit` kept, at most; the least recently used goes first."""


class Limit:
    """A rate limit, a token bucket for each place, such as an address.

    At most `burst` requests at once from a place, and `rate` a second on average; `clock` returns seconds.

    >>> limit = Limit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.allows("a"), limit.allows("a"), limit.allows("a"), limit.allows("b")]
    [True, True, False, True]
    """

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._places: OrderedDict[str, tuple[float, float]] = OrderedDict()  # (tokens, at this time)

    def allows(self, place: str) -> bool:
        """Whether a place may send one more request now; if so, it is counted."""
        now = self._clock()
        tokens, then = self._places.pop(place, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._places[place] = (tokens - allowed, now)
        if len(self._places) > PLACES:
            self._places.popitem(last=False)
        return allowed


BODY = 4_096
"""Bytes of a request's body, at most."""

PATIENCE = 10.0  # seconds until a body must be complete
TARRY = 1.0  # seconds that a refusal is delayed: whoever tries in a loop is slowed down
HEARTBEAT = 15.0  # seconds until a silent stream sends an empty line: proxies cut idle connections
SPREAD = (0.15, 0.8)  # seconds, at random, until a phone hears news: the stage's request comes first


class Shown:
    """The networks' pages that a class sees, by their file's name: `title`, and the file as it is sent.

    chosen  the name of the page that the lecturer has put on the phones; "": each phone takes the one that
            suits its screen
    """

    def __init__(self) -> None:
        self.chosen = ""
        self._pages: dict[str, tuple[str, Packed]] = {}

    def put(self, name: str, title: str, file: Packed) -> None:
        """Show a page, in place of an older one of the same name."""
        self._pages = {**self._pages, name: (title, file)}

    def drop(self, name: str) -> None:
        """Show a page no more."""
        self._pages = {other: page for other, page in self._pages.items() if other != name}
        if self.chosen == name:
            self.chosen = ""

    def find(self, name: str) -> Packed | None:
        """A page's file."""
        return self._pages[name][1] if name in self._pages else None

    def listed(self) -> dict[str, Any]:
        """The pages as JSON for a phone."""
        pages = [
            {"href": f"{name}?v={file.digest}", "title": title, "bytes": len(file.data)}
            for name, (title, file) in self._pages.items()
        ]
        names = list(self._pages)
        return {"pages": pages, "chosen": names.index(self.chosen) if self.chosen in names else -1}


class Phones:
    """The web application `app` for the phones of a room, which show these pages."""

    def __init__(self, room: Room, shown: Shown) -> None:
        self._room, self._shown = room, shown
        self._secret = secrets.token_bytes(16)
        self._looks = Limit(burst=3_000, rate=100)  # by address, which a whole class may share
        self._answers = Limit(burst=8, rate=2)  # by phone
        self.app = Starlette(
            routes=[
                Route("/", self._class),
                Route("/{name}.html", self._page),
                Route("/room/join", self._join, methods=["POST"]),
                Route("/room/events", self._events, methods=["POST"]),
                Route("/room/answer", self._answer, methods=["POST"]),
            ],
            exception_handlers={HTTPException: refused, ClientDisconnect: _gone},
        )

    # ---- routes ----

    def _look(self, request: Request) -> None:
        """Count a look at a page. Raises Refused past the limit, and for a request with a body, which nobody
        would read: the connection has to end with the answer.
        """
        _slowly(self._looks, address(request))
        if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
            raise Refused(400, "missing")

    async def _class(self, request: Request) -> Response:
        self._look(request)
        return HTMLResponse(class_page(), headers=HEADERS)

    async def _page(self, request: Request) -> Response:
        self._look(request)
        file = self._shown.find(f"{request.path_params['name']}.html")
        if file is None:
            raise HTTPException(404)
        return file.answer(request)

    async def _join(self, request: Request) -> Response:
        await _fields(request)
        _slowly(self._looks, address(request))
        name = secrets.token_hex(8)
        return JSONResponse({"phone": f"{name}.{self._signature(name)}"}, headers=_FRESH)

    async def _events(self, request: Request) -> Response:
        who, _fields = await self._known(request)
        # These keep proxies from buffering the stream, or from compressing it.
        headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(who), media_type="application/x-ndjson", headers=headers)

    async def _answer(self, request: Request) -> Response:
        who, given = await self._known(request)
        missed = {}
        try:
            self._room.vote(who, given.get("question"), given.get("answer"))
        except Refused as refused:
            if refused.detail != "closed":
                raise
            missed = {"missed": True}
        return JSONResponse(self._heard(who) | missed, headers=_FRESH)

    # ---- a phone ----

    async def _known(self, request: Request) -> tuple[str, Mapping[str, Any]]:
        """A request's phone, and the fields of its body. Raises Refused without a valid id, or past the
        limit.
        """
        fields = await _fields(request)
        name, _, signature = str(fields.get("phone"))[:100].partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signature(name).encode()):
            raise Refused(401, "stranger")
        _slowly(self._answers, name)
        return name, fields

    def _signature(self, name: str) -> str:
        return hmac.digest(self._secret, name.encode("utf-8", "replace"), "sha256").hex()[:16]

    def _heard(self, who: str) -> dict[str, Any]:
        return self._room.heard(who) | self._shown.listed()

    async def _stream(self, who: str) -> AsyncIterator[str]:
        room, place = self._room, object()
        try:
            room.come(who, place)
        except Refused as refused:  # the live view needs no place
            yield _line({"state": refused.detail, **self._shown.listed()})
            return
        with room.phones.heard() as rings:
            try:
                said, pages = "", dict[str, Any]()
                while True:
                    rings.clear()
                    if not room.is_at(who, place):
                        yield _line({"state": "elsewhere"})
                        return
                    over = room.closed  # read before `_heard`: a room that closes later gets one more round
                    listed = self._shown.listed()
                    say = _line(room.heard(who) | (listed if listed != pages else {}))
                    if say != said:
                        yield say
                        said, pages = say, listed
                    if over:
                        return
                    try:
                        await asyncio.wait_for(rings.wait(), HEARTBEAT)
                        await asyncio.sleep(random.uniform(*SPREAD))
                    except TimeoutError:
                        yield "\n"
            finally:
                room.go(who, place)


_FRESH = {"Cache-Control": "no-store"}


async def _fields(request: Request) -> Mapping[str, Any]:
    """The JSON object in a request's body.

    Raises Refused: 403 from another site's page, 408 and 413 for a slow and a long body, 400 for any other.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != request.headers.get("host", "").lower():
        raise Refused(403, "missing")
    try:
        found = json.loads(await asyncio.wait_for(_body(request), PATIENCE))
    except TimeoutError:
        raise Refused(408, "late") from None
    except (ValueError, RecursionError):
        raise Refused(400, "invalid") from None
    if not isinstance(found, dict):
        raise Refused(400, "invalid")
    return found


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


def _line(said: dict[str, Any]) -> str:
    return f"{json.dumps(said, ensure_ascii=False, separators=(',', ':'))}\n"


def address(request: Request) -> str:
    return request.client.host if request.client else ""


async def refused(request: Request, error: Exception) -> Response:
    """The response to a refused request: a page for a browser's address bar, JSON for the page's script."""
    assert isinstance(error, HTTPException)
    status, why = error.status_code, error.detail if isinstance(error, Refused) else "missing"
    await asyncio.sleep(TARRY)
    # On an open connection, the unread rest of a body would be taken for the next request.
    more = {**(error.headers or {}), "Connection": "close"}
    if request.method == "GET":
        return HTMLResponse(refusal(why), status, headers={**HEADERS, **more})
    return JSONResponse({"why": why}, status, headers={**_FRESH, **more})


async def _gone(request: Request, error: Exception) -> Response:
    """The response to a phone that has disconnected before its body was complete; nobody reads it."""
    return Response(status_code=400)
