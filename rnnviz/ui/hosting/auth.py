"""Authentication of a hosted app: each request gets its user, and `?key=` makes a lecturer.

The answer to an address with the lecturer's key is a cookie and a redirect to the same address without the
key. So the key stays in no address bar, history or Referer. Every other browser gets a random id in a cookie.

The middleware passes the user on as one header and removes any such header that a client has sent. No code
behind it reads cookies.
"""

import hmac
from collections import Counter
from urllib.parse import parse_qsl, quote, urlencode

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from rnnviz.errors import ConfigError
from rnnviz.ui.hosting import environment, error_pages, request_limits, user
from rnnviz.ui.hosting.cookies import LECTURER, VISITOR, Cookies, header, new_id
from rnnviz.ui.hosting.user import User

QUIET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
"""Headers of an answer to an address with a key in it."""

PRIVATE = ("/_stcore/metrics", "/_stcore/script-health-check")
"""Paths for the lecturer alone: they tell about all sessions."""

PLACELESS = ("/page/", "/_stcore/")
"""Paths that need no connection, so no place: models' pages, and the server's health check."""


class Auth:
    """The middleware of a hosted app, inside Guard.

    `beside` has the paths of further connections of a tab. They authenticate by its token and take no place.
    Raises ConfigError if Streamlit doesn't read the user's header.
    """

    def __init__(self, app: ASGIApp, beside: tuple[str, ...] = ()) -> None:
        named = st.get_option("server.trustedUserHeaders") or {}
        if {name.lower(): field for name, field in named.items()}.get(user.HEADER) != user.FIELD:
            raise ConfigError(
                "serving others needs server.trustedUserHeaders with {header}, as in .streamlit/config.toml",
                header=user.HEADER,
            )
        self._app, self._beside = app, beside
        self._key = environment.key().encode()
        self._cookies = Cookies(environment.key())
        self._capacity = environment.capacity()
        self._here: Counter[str] = Counter()  # open sessions by visitor's id, a place each

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        who, fresh = self._who(request)
        headers = [(name, value) for name, value in scope["headers"] if name != user.HEADER.encode()]
        scope = {**scope, "headers": [*headers, (user.HEADER.encode(), who.said().encode())]}
        if scope["type"] == "websocket":
            await self._connect(who, scope, receive, send)
            return
        answer = self._answer(request, who)
        if fresh:
            send = telling(send, header(VISITOR, fresh, secure=is_secure(scope)))
        if answer is None and not who.lecturer:
            most = request_limits.most(scope["path"])
            try:
                receive = request_limits.bounded(receive, request.headers.get("content-length"), most)
            except HTTPException as refused:
                text = f"A visitor's text has at most {environment.megabytes()} MB."
                more = " If it has less, remove others first.\n"
                answer = PlainTextResponse(text + more, refused.status_code)
        await (answer or self._app)(scope, receive, send)

    def _who(self, request: HTTPConnection) -> tuple[User, str]:
        """The request's user, and the visitor's cookie to set; "" if the browser has a valid one."""
        found = self._cookies.read(VISITOR, request.cookies.get(VISITOR))
        id = found or new_id()
        lecturer = self._cookies.read(LECTURER, request.cookies.get(LECTURER)) is not None
        return User(id, lecturer), "" if found else self._cookies.sign(VISITOR, id)

    def _answer(self, request: HTTPConnection, who: User) -> Response | None:
        """The middleware's own answer to a request; None if the request goes on to the app."""
        path, looks = request.scope["path"], request.scope["method"] in ("GET", "HEAD")
        given = request.query_params.get("key") if looks else None
        if given is not None:
            return self._unlock(request, given)
        upload = request_limits.upload_of(path)
        if upload is not None and request_limits.owner(upload[0]) != who.said():
            return PlainTextResponse("This session is somebody else's.\n", 403)
        if who.lecturer:
            return None
        if path.rstrip("/").endswith(PRIVATE):
            return PlainTextResponse("This is for the lecturer.\n", 403)
        # A visitor with a place may be reloading a page, whose old session has not ended yet.
        if looks and is_page(request) and self._is_full() and not self._here[who.id]:
            return error_pages.full(request, self._capacity)
        return None

    def _is_full(self) -> bool:
        return self._here.total() >= self._capacity

    async def _connect(self, who: User, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a tab's connection, which takes a place as long as it lasts; refuse it if all are taken."""
        if who.lecturer or scope["path"].endswith(self._beside):
            await self._app(scope, receive, send)
        elif self._is_full():
            await WebSocketClose(1013)(scope, receive, send)  # "try again later"
        else:
            self._here[who.id] += 1
            try:
                await self._app(scope, request_limits.usual(receive, send), send)
            finally:
                self._here -= Counter([who.id])  # `-=` removes ids with no session left; subtract() would not

    def _unlock(self, request: HTTPConnection, given: str) -> Response:
        link = without_key(request.scope)
        # A comparison in constant time: the answer's delay must not reveal how many characters are right.
        if not hmac.compare_digest(given.encode(errors="replace"), self._key):
            return error_pages.wrong(request, link)
        value = self._cookies.sign(LECTURER, new_id())
        known = {"Set-Cookie": header(LECTURER, value, secure=is_secure(request.scope))}
        return Response(None, 303, {**QUIET, **known, "Location": link})


def is_page(request: HTTPConnection) -> bool:
    """Whether the request opens a page of the app, which will need a connection; a model's page won't."""
    path = request.scope["path"]
    return "text/html" in request.headers.get("accept", "") and not any(one in path for one in PLACELESS)


def telling(send: Send, cookie: str) -> Send:
    """`send`, with a cookie on each answer that caches may not share."""

    async def tell(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if "no-cache" in headers.get("cache-control", ""):
                headers["Cache-Control"] = "private, no-cache"
                headers.append("Set-Cookie", cookie)
        await send(message)

    return tell


def is_secure(scope: Scope) -> bool:
    """Whether the browser uses https; behind a trusted proxy the server has set the scheme."""
    return scope["scheme"] in ("https", "wss")


def without_key(scope: Scope) -> str:
    """A request's address without its key. It is relative, so the redirect never leads to another site.

    >>> without_key({"path": "//evil.example", "query_string": b"key=a&lang=zh&text=%0D%0A"})
    './evil.example?lang=zh&text=%0D%0A'
    >>> without_key({"path": "/", "query_string": b"key=a"})
    './'
    """
    last = quote(scope["path"].rpartition("/")[2], safe="")
    said = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    rest = urlencode([(name, value) for name, value in said if name != "key"], encoding="latin-1")
    return f"./{last}" + (f"?{rest}" if rest else "")
