"""The guard against other sites' pages: only the app's own pages, at a host that it answers to, may use it.

Any site's page can open a connection to this machine. With its own name pointed here (DNS rebinding), a
browser even treats the app as part of that site.

Streamlit checks WebSockets alone, and looks up this machine's external address before it refuses an origin.
Behind this middleware it has no origin to refuse. The environment variable RNNVIZ_HOSTS opens the app behind
somebody else's login.
"""

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config

from rnnviz.errors import ConfigError

REMOVED_VARIABLES = (
    "RNNVIZ_HOSTED", "RNNVIZ_KEY", "RNNVIZ_CAPACITY", "RNNVIZ_TEXT_MB", "RNNVIZ_ADDRESS", "RNNVIZ_PROCESSES",
)  # fmt: skip
"""Variables of version 2, whose app served a class."""

# A host name, perhaps with "*." before it: no "*" alone, no address with a port or a scheme.
_NAME = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")


def check_environment() -> None:
    """Raise ConfigError for an invalid variable. The app calls this before it serves anything.

    A variable of version 2 is refused, not ignored: who set RNNVIZ_KEY takes the app for protected.
    """
    if named := [name for name in REMOVED_VARIABLES if os.environ.get(name)]:
        raise ConfigError(
            "the app serves one person since version 3, so {names} must be left out: `rnnviz host` gives a "
            "class the live view and the questions, and docs/class.md says how to put the app on a server",
            names=", ".join(named),
        )
    hosts_from_environment()


def hosts_from_environment() -> list[str]:
    """RNNVIZ_HOSTS: further host names that the app answers to, in lower case, with commas between them.

    Raises ConfigError for an invalid name. So is `*`, which would let any site's page talk to the app.
    """
    variable = os.environ.get("RNNVIZ_HOSTS", "").lower()
    names = [name.strip() for name in variable.split(",") if name.strip()]
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(
                "RNNVIZ_HOSTS is a list of host names with commas between them, such as hall.example.org, "
                "without http:// and port; received {given}",
                given=repr(name),
            )
    return names


LOOPBACK = ("localhost", "127.0.0.1", "::1")


class AllowedHostsMiddleware:
    """The middleware that answers requests and WebSockets from other sites with 403 and a remedy.

    Streamlit's options `server.allowedHosts` and `server.corsAllowedOrigins` allow further hosts and origins.
    RNNVIZ_HOSTS allows both: behind a proxy, a page's origin may differ from the Host header.
    """

    # Starlette's TrustedHostMiddleware has the same purpose, but checks the Host header alone. A page of
    # another site that opens a WebSocket to localhost sends the right Host; only its Origin gives it away.
    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._named = hosts_from_environment()
        allowed = [host.strip() for host in st.get_option("server.allowedHosts")] or LOOPBACK
        self._hosts = list(dict.fromkeys([*allowed, *self._named]))
        config.set_option("server.allowedHosts", self._hosts)  # Streamlit's own check of WebSockets reads it
        self._origins = {origin.strip() for origin in st.get_option("server.corsAllowedOrigins")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            # A lifespan message comes from the server itself and has no headers.
            headers = Headers(scope=scope)
            refused = self._refusal(headers.get("host", ""), headers.get("origin"))
            if refused:
                answer = PlainTextResponse(f"{refused}\n", status_code=403)
                await (answer if scope["type"] == "http" else WebSocketClose(1008))(scope, receive, send)
                return
            if self._is_ours(headers.get("origin")):  # without the header, Streamlit has nothing to refuse
                scope = {**scope, "headers": [(k, v) for k, v in scope["headers"] if k != b"origin"]}
        await self._app(scope, receive, send)

    def _refusal(self, host: str, origin: str | None) -> str:
        name = hostname(host)
        if name is None or not is_allowed_host(name, self._hosts):
            return (
                f"rnnviz does not answer to the host {host!r}. If it should, start it with this name in "
                "RNNVIZ_HOSTS; see docs/class.md."
            )
        # No Origin: the browser's own navigation, or a program, which could send any. Equal to the Host: the
        # app's own page, whose scheme may be https before a proxy that speaks http to us.
        if origin is None or self._is_ours(origin) or origin.lower().partition("://")[2] == host.lower():
            return ""
        return (
            f"rnnviz at {host!r} was called by a page of {origin!r}. If that is its own address, behind a "
            "proxy, start it with the name in RNNVIZ_HOSTS; another site's page must be named in "
            "--server.corsAllowedOrigins."
        )

    def _is_ours(self, origin: str | None) -> bool:
        """Whether an option or RNNVIZ_HOSTS allows a page's origin."""
        if origin in self._origins:
            return True
        name = hostname((origin or "").partition("://")[2])
        return name is not None and is_allowed_host(name, self._named)


def hostname(host: str) -> str | None:
    """The name in a Host header, in lower case and without its port; None if it isn't a valid one.

    >>> hostname("LOCALHOST:8501"), hostname("[::1]:8501"), hostname("me@localhost"), hostname("localhost:x")
    ('localhost', '::1', None, None)
    """
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises ValueError if it is no number
    except ValueError:
        return None
    # urlsplit reads on past "/", "?" and "#", and takes "me@" for a user: none of these stands in a Host
    # header.
    if parts.netloc != host or parts.username is not None or not parts.hostname:
        return None
    return parts.hostname.rstrip(".")


def is_allowed_host(name: str, hosts: Iterable[str]) -> bool:
    """Whether a host's name is among `hosts`: `*.example.org` allows all subdomains, `*` all names."""
    for host in hosts:
        allowed = host.lower().rstrip(".")
        if allowed in ("*", name) or (allowed.startswith("*.") and name.endswith(allowed[1:])):
            return True
    return False
