"""The web application for phones, all that a network is offered. It serves these addresses and no other:

    GET  /             the class's page: the live view of a network, and the question when one is open
    GET  /page/        the page of the class's networks, in a frame of that one; and its files
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
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
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
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.page import folder, serving
from rnnviz.page.modules import PACKAGE, bundle
from rnnviz.page.responses import PackedFile, page_headers
from rnnviz.sentences import LANGUAGES
from rnnviz.ui.serving.room.room import Refused, Room

PHONE_FOLDER = Path(__file__).parent / "phone"
"""The class's page: one file of a few kilobytes, which frames the page of the networks."""

PHONE_WORDS = {
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

REFUSAL_NAMES = ("missing", "slowly")
"""Names of the sentences that a refusal may show."""


def phone_words(language: str) -> dict[str, str]:
    """PHONE_WORDS in a language of LANGUAGES."""
    translate = translations(language).gettext
    return {name: translate(message) for name, message in PHONE_WORDS.items()}


_SCRIPT = bundle((PHONE_FOLDER / "phone.js").relative_to(PACKAGE).as_posix()) + ";"


@cache
def class_page() -> bytes:
    """The page, with the words of all languages."""
    # "<" becomes an escape, so that no text in it can end the script element.
    words = json.dumps({language: phone_words(language) for language in LANGUAGES}, ensure_ascii=False)
    html = (
        _phone_file("phone.html")
        .replace("{{style}}", _phone_file("phone.css"))
        .replace("{{script}}", _SCRIPT)
    )
    return html.replace("{{words}}", words.replace("<", "\\u003c")).encode()


@cache
def refusal_page(why: str) -> bytes:
    """A refusal's page, with the sentence `why` in all languages; one not in REFUSAL_NAMES is "missing"."""
    name = why if why in REFUSAL_NAMES else "missing"
    lines = "".join(f"<p lang={language}>{escape(phone_words(language)[name])}</p>" for language in LANGUAGES)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>rnnviz</title><style>{_phone_file('phone.css')}</style><main>{lines}</main>"
    ).encode()


@cache
def _phone_file(name: str) -> str:
    return (PHONE_FOLDER / name).read_text("utf-8")


PAGE_HEADERS = page_headers(script=_SCRIPT, style=_phone_file("phone.css"))
"""Headers of every page."""


MAX_BUCKETS = 4_096
"""Buckets of `RateLimit` kept, at most; the least recently used goes first. It is then full again for its
owner, so more addresses than this get more than their rate: the bounds of `listener.py` hold even then.
"""


class RateLimit:
    """A rate limit, a token bucket for each key, such as an address.

    At most `burst` requests at once for a key, and `rate` a second on average; `clock` returns seconds.

    >>> limit = RateLimit(burst=2, rate=1, clock=lambda: 0.0)
    >>> [limit.allows("a"), limit.allows("a"), limit.allows("a"), limit.allows("b")]
    [True, True, False, True]
    """

    def __init__(self, burst: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst, self._rate, self._clock = burst, rate, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # (tokens, at this time)

    def allows(self, key: str) -> bool:
        """Whether one more request is allowed for this key now; if so, it is counted."""
        now = self._clock()
        tokens, last_time = self._buckets.pop(key, (self._burst, now))
        # The tokens since then are computed when they are needed, so no timer runs for any bucket.
        tokens = min(self._burst, tokens + (now - last_time) * self._rate)
        allowed = tokens >= 1
        self._buckets[key] = (tokens - allowed, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return allowed


MAX_BODY_BYTES = 4_096
"""Bytes of a request's body, at most."""

BODY_TIMEOUT_S = 10.0  # until a body must be complete: a slow sender else holds a connection for ever
REFUSAL_DELAY_S = 1.0  # a refusal is delayed: whoever tries in a loop is slowed down
HEARTBEAT_S = 15.0  # until a silent stream sends an empty line: proxies cut idle connections
NEWS_DELAY_RANGE_S = (
    0.15,
    0.8,
)  # seconds, at random, until a phone hears news: the stage's request comes first


class RoomPage:
    """The page (`rnnviz.page.build`) of the networks that a class sees.

    chosen  the network that the lecturer has put on the phones; "": each phone takes the one that suits its
            screen
    """

    def __init__(self) -> None:
        self.chosen = ""
        self._networks: dict[str, ModelInfo] = {}  # by name
        self._files: Mapping[str, PackedFile] = {}
        self._lock = threading.Lock()

    def add(self, infos: Iterable[ModelInfo]) -> None:
        """Show these networks too. Raises as `serving.folder_page` does."""
        with self._lock:
            self._build(self._networks | {info.path.stem: info for info in infos})

    def drop(self, name: str) -> None:
        """Show a network no more. Raises as `serving.folder_page` does."""
        with self._lock:
            self._build({other: info for other, info in self._networks.items() if other != name})
        if self.chosen == name:
            self.chosen = ""

    def file(self, name: str) -> PackedFile | None:
        """A file of the page."""
        return self._files.get(name)

    def page_state(self) -> dict[str, Any]:
        """As JSON, which networks a phone opens the page with: the chosen one, or that of a narrow or a wide
        screen; {} if there are none.
        """
        networks = self._networks
        if not networks:
            return {}
        return {"page": {"chosen": self.chosen, "narrow": _smallest(networks), "wide": next(iter(networks))}}

    def _build(self, networks: dict[str, ModelInfo]) -> None:
        # The smallest first: phones open it, and its first answer stands in the document.
        built = serving.folder_page(networks.values(), _smallest(networks)) if networks else {}
        # A phone that has the page before this one may still ask for its files. New dicts, as the listener's
        # thread reads them.
        self._files = {**self._files, **built} if networks else {}
        self._networks = networks


def _smallest(networks: Mapping[str, ModelInfo]) -> str:
    return min(networks, key=lambda name: networks[name].bytes)


class PhoneApp:
    """The web application `app` for the phones of a room, which show this page."""

    def __init__(self, room: Room, page: RoomPage) -> None:
        self._room, self._page = room, page
        self._secret = secrets.token_bytes(16)
        # By address, which a whole class may share: 1,000 phones open both pages, join, and fetch the page's
        # files and a network's at once, some 14 requests each.
        self._looks = RateLimit(burst=15_000, rate=500)
        # By phone: a reader who tries every option quickly stays below it.
        self._answers = RateLimit(burst=8, rate=2)
        self.app = Starlette(
            routes=[
                Route("/", self._class),
                Route("/page/", self._file),
                Route("/page/{name}", self._file),
                Route("/room/join", self._join, methods=["POST"]),
                Route("/room/events", self._events, methods=["POST"]),
                Route("/room/answer", self._answer, methods=["POST"]),
            ],
            exception_handlers={HTTPException: answer_refusal, ClientDisconnect: _answer_disconnected},
        )

    # ---- routes ----

    def _look(self, request: Request) -> None:
        """Count a look at a page. Raises Refused past the limit, and for a request with a body, which nobody
        would read: the connection has to end with the answer.
        """
        _check_rate(self._looks, client_address(request))
        if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
            raise Refused(400, "missing")

    async def _class(self, request: Request) -> Response:
        self._look(request)
        return HTMLResponse(class_page(), headers=PAGE_HEADERS)

    async def _file(self, request: Request) -> Response:
        self._look(request)
        file = self._page.file(request.path_params.get("name", folder.INDEX))
        if file is None:
            raise HTTPException(404)
        return file.answer(request)

    async def _join(self, request: Request) -> Response:
        await _json_fields(request)
        _check_rate(self._looks, client_address(request))
        name = secrets.token_hex(8)
        return JSONResponse({"phone": f"{name}.{self._signature(name)}"}, headers=NO_STORE)

    async def _events(self, request: Request) -> Response:
        phone, _fields = await self._identify(request)
        # These keep proxies from buffering the stream, or from compressing it.
        headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(phone), media_type="application/x-ndjson", headers=headers)

    async def _answer(self, request: Request) -> Response:
        phone, fields = await self._identify(request)
        missed = {}
        try:
            self._room.vote(phone, fields.get("question"), fields.get("answer"))
        except Refused as refused:
            if refused.detail != "closed":
                raise
            missed = {"missed": True}
        return JSONResponse(self._state(phone) | missed, headers=NO_STORE)

    # ---- a phone ----

    async def _identify(self, request: Request) -> tuple[str, Mapping[str, Any]]:
        """A request's phone, and the fields of its body. Raises Refused without a valid id, or past the
        limit.
        """
        fields = await _json_fields(request)
        name, _, signature = str(fields.get("phone"))[:100].partition(".")
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), self._signature(name).encode()):
            raise Refused(401, "stranger")
        _check_rate(self._answers, name)
        return name, fields

    def _signature(self, name: str) -> str:
        return hmac.digest(self._secret, name.encode("utf-8", "replace"), "sha256").hex()[:16]

    def _state(self, phone: str) -> dict[str, Any]:
        return self._room.phone_state(phone) | self._page.page_state()

    # One line for each change of the phone's state. The state is computed anew at each ring and sent only if
    # it differs: several rings in quick succession become one line, and the last line is always right.
    async def _stream(self, phone: str) -> AsyncIterator[str]:
        room, stream = self._room, object()
        try:
            room.join(phone, stream)
        except Refused as refused:  # a full room: the live view needs no slot in it
            yield _json_line({"state": refused.detail, **self._page.page_state()})
            return
        with room.phones.listen() as rings:
            try:
                last_line, last_page_state = "", dict[str, Any]()
                while True:
                    rings.clear()
                    if not room.is_current_stream(phone, stream):
                        yield _json_line({"state": "elsewhere"})
                        return
                    closed = room.closed  # read before `_state`: a room that closes later gets one more round
                    page_state = self._page.page_state()
                    line = _json_line(
                        room.phone_state(phone) | (page_state if page_state != last_page_state else {})
                    )
                    if line != last_line:
                        yield line
                        last_line, last_page_state = line, page_state
                    if closed:
                        return
                    try:
                        await asyncio.wait_for(rings.wait(), HEARTBEAT_S)
                        await asyncio.sleep(random.uniform(*NEWS_DELAY_RANGE_S))
                    except TimeoutError:
                        yield "\n"
            finally:
                room.leave(phone, stream)


NO_STORE = {"Cache-Control": "no-store"}


async def _json_fields(request: Request) -> Mapping[str, Any]:
    """The JSON object in a request's body.

    Raises Refused: 403 from another site's page, 408 and 413 for a slow and a long body, 400 for any other.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != request.headers.get("host", "").lower():
        raise Refused(403, "missing")
    try:
        value = json.loads(await asyncio.wait_for(_read_body(request), BODY_TIMEOUT_S))
    except TimeoutError:
        raise Refused(408, "late") from None
    except (ValueError, RecursionError):
        raise Refused(400, "invalid") from None
    if not isinstance(value, dict):
        raise Refused(400, "invalid")
    return value


async def _read_body(request: Request) -> bytes:
    """A request's body. Raises Refused (413) as soon as it is longer than MAX_BODY_BYTES."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise Refused(413, "long")
    return body


def _check_rate(limit: RateLimit, key: str) -> None:
    if not limit.allows(key):
        raise Refused(429, "slowly")


def _json_line(values: dict[str, Any]) -> str:
    return f"{json.dumps(values, ensure_ascii=False, separators=(',', ':'))}\n"


def client_address(request: Request) -> str:
    return request.client.host if request.client else ""


async def answer_refusal(request: Request, error: Exception) -> Response:
    """The response to a refused request: a page for a browser's address bar, JSON for the page's script."""
    assert isinstance(error, HTTPException)
    status, why = error.status_code, error.detail if isinstance(error, Refused) else "missing"
    await asyncio.sleep(REFUSAL_DELAY_S)
    # On an open connection, the unread rest of a body would be taken for the next request.
    extra_headers = {**(error.headers or {}), "Connection": "close"}
    if request.method == "GET":
        return HTMLResponse(refusal_page(why), status, headers={**PAGE_HEADERS, **extra_headers})
    return JSONResponse({"why": why}, status, headers={**NO_STORE, **extra_headers})


async def _answer_disconnected(request: Request, error: Exception) -> Response:
    """The response to a phone that has disconnected before its body was complete; nobody reads it."""
    return Response(status_code=400)
