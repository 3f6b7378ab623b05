"""The way in where the app serves others: each request gets its person, and `?key=` makes a lecturer.

An address with the lecturer's key is answered by a cookie and the same address without the key, so that
the key stays in no address bar, history or Referer. Everybody else gets a random id in a cookie. What
the cookies say goes on as one header, which a client's own is taken away for: nothing behind the door
looks at cookies again.
"""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting import person, setting
from rnnviz.ui.hosting.cookies import LECTURER, VISITOR, Cookies, header, new_id
from rnnviz.ui.hosting.person import Person
from rnnviz.ui.room.limits import Limit

QUIET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""Of an answer to an address with a key in it."""

PRIVATE = ("/_stcore/metrics", "/_stcore/script-health-check")
"""What tells about everybody: the lecturer's alone."""


class Door:
    """The middleware; `streamlit run` puts it inside Guard where the app is hosted."""

    def __init__(self, app: ASGIApp) -> None:
        named = st.get_option("server.trustedUserHeaders") or {}
        if {name.lower(): field for name, field in named.items()}.get(person.HEADER) != person.FIELD:
            raise ConfigError(
                "serving others needs server.trustedUserHeaders with {header}, as in .streamlit/config.toml",
                header=person.HEADER,
            )
        self._app = app
        self._key = setting.key().encode()
        self._cookies = Cookies(setting.key())
        self._guesses = Limit(burst=10, rate=1 / 6)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        who, fresh = self._who(request)
        answer = self._answer(request, who)
        if answer is not None:
            await answer(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != person.HEADER.encode()]
        scope = {**scope, "headers": [*headers, (person.HEADER.encode(), who.said().encode())]}
        if fresh and scope["type"] == "http":
            send = telling(send, header(VISITOR, fresh, secure=is_secure(scope)))
        await self._app(scope, receive, send)

    def _who(self, request: HTTPConnection) -> tuple[Person, str]:
        """Whose request this is, and the value of the visitor's cookie if that has to be set."""
        found = self._cookies.read(VISITOR, request.cookies.get(VISITOR))
        id = found or new_id()
        lecturer = self._cookies.read(LECTURER, request.cookies.get(LECTURER)) is not None
        return Person(id, lecturer), "" if found else self._cookies.sign(VISITOR, id)

    def _answer(self, request: HTTPConnection, who: Person) -> Response | None:
        """What the door answers itself; None for what goes on to the app."""
        if request.scope["type"] == "http" and request.scope["method"] in ("GET", "HEAD"):
            given = request.query_params.get("key")
            if given is not None:
                return self._unlock(request, given)
        if request.scope["path"].rstrip("/").endswith(PRIVATE) and not who.lecturer:
            return PlainTextResponse("This is for the lecturer.\n", 403)
        return None

    def _unlock(self, request: HTTPConnection, given: str) -> Response:
        place = request.client.host if request.client else ""
        if not self._guesses.allows(place):
            return PlainTextResponse(
                "Too many keys were tried from your address. Wait a minute, then open the address again.\n",
                429,
                {**QUIET, "Retry-After": "60"},
            )
        if not hmac.compare_digest(given.encode(errors="replace"), self._key):
            return PlainTextResponse(
                "This is not the lecturer's key. The key is in the address that was printed when the app "
                "started; everybody else opens the address without a key.\n",
                403,
                QUIET,
            )
        value = self._cookies.sign(LECTURER, new_id())
        known = {"Set-Cookie": header(LECTURER, value, secure=is_secure(request.scope))}
        return Response(None, 303, {**QUIET, **known, "Location": without_key(request.scope)})


def telling(send: Send, cookie: str) -> Send:
    """`send`, with a cookie on answers that no cache keeps for others."""

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if "no-cache" in headers.get("cache-control", ""):
                headers["Cache-Control"] = "private, no-cache"
                headers.append("Set-Cookie", cookie)
        await send(message)

    return tell


def is_secure(scope: Scope) -> bool:
    """Whether the browser came by https; behind a proxy the server has set the scheme, if it trusts it."""
    return scope["scheme"] in ("https", "wss")


def without_key(scope: Scope) -> str:
    """A request's own address without its key, relative to itself: so it is never another site's.

    >>> without_key({"path": "//evil.example", "query_string": b"key=a&lang=zh&text=%0D%0A"})
    './evil.example?lang=zh&text=%0D%0A'
    >>> without_key({"path": "/", "query_string": b"key=a"})
    './'
    """
    last = quote(scope["path"].rpartition("/")[2], safe="")
    said = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    rest = urlencode([(name, value) for name, value in said if name != "key"], encoding="latin-1")
    return f"./{last}" + (f"?{rest}" if rest else "")
