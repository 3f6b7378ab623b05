"""The room's listener: a second server of the process, in a thread of its own, open to the network."""

import logging
import socket
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from rnnviz.errors import ConfigError
from rnnviz.ui.serving.http_protocol import BoundedHeaders
from rnnviz.ui.serving.room.room import PHONES

PORTS = range(8600, 8620)
"""Ports tried first, so that a firewall can allow them beforehand; then any free one."""

CONNECTIONS = 3 * PHONES + 200
"""Connections at a time, at most: each phone has one for its stream, and others for pages and answers."""

FROM_ONE_ADDRESS = 1_500
"""Of these from one address, at most: a class of 800 may share one, and one computer can't take all."""

UNREAD = 16 << 10
"""Bytes that wait in memory for a connection that doesn't read."""

RECEIVED = 8_192
"""Bytes that the system keeps for a connection before they are read: phones send little, and without a bound
a thousand requests at a time on each connection take 256 kB each.
"""

STALLED = 30.0
"""Seconds after which such a connection is cut."""


SWITCH = 1e-3
"""Seconds after which a thread must let others compute. At Python's own 5 ms, an attack on the room would
keep the app waiting for half a second.
"""

log = logging.getLogger("rnnviz.room")
log.setLevel(
    logging.ERROR
)  # uvicorn warns of each invalid request: strangers' lines in the lecturer's terminal


class PhoneLine(BoundedHeaders):
    """A phone's connection; beyond the bounds it is cut at once."""

    longest = 16_384
    by_address: Counter[str]  # of all of a listener's connections: `Listener` makes a class with its own

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.logger = log
        self._stalled: Any = None
        self._from = (transport.get_extra_info("peername") or ("",))[0]
        self.by_address[self._from] += 1
        transport.set_write_buffer_limits(UNREAD)
        if len(self.connections) > CONNECTIONS or self.by_address[self._from] > FROM_ONE_ADDRESS:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.by_address[self._from] -= 1
        if not self.by_address[self._from]:
            del self.by_address[self._from]
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class Listener:
    """A server of an application on `host` and `port`, until `close`; None: one of PORTS, or any free one.

    Raises ConfigError if no port can be opened.
    """

    def __init__(self, app: ASGIApp, host: str = "0.0.0.0", port: int | None = None) -> None:
        self._socket = _opened(host, (*PORTS, 0) if port is None else (port,))
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=type("Line", (PhoneLine,), {"by_address": Counter()}),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="rnnviz-room", daemon=True
        )
        self._thread.start()
        sys.setswitchinterval(SWITCH)

    def close(self) -> None:
        """Refuse new connections and free the port; returns at once, before the thread ends."""
        self._server.should_exit = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the listener's end, at most `seconds`; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


def _opened(host: str, ports: Iterable[int]) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in ports:
        try:
            made = socket.create_server((host, port), family=family, backlog=512)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
            return made
        except OSError as error:
            refused = error
    raise ConfigError("no port could be opened for the room: {reason}", reason=str(refused))
