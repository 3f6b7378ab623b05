"""The room's listener: a second server of the process, in a thread of its own, open to the network.

Anyone in the network may connect, so everything that a connection can hold is bounded: bytes, time and
number. `tests/benchmarks/attacks.py` sends floods of each kind and measures the app meanwhile.
"""

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
from rnnviz.ui.serving.room.room import MAX_PHONES

FIRST_PORTS = range(8600, 8620)
"""Ports tried first, so that a firewall can allow them beforehand; then any free one."""

MAX_CONNECTIONS = 6 * MAX_PHONES + 200
"""Connections at a time, at most: a phone that fetches the page's files opens six, and keeps one."""

MAX_CONNECTIONS_PER_ADDRESS = 3_100
"""Of these from one address, at most: a class of 500 may share one, and one computer can't take all."""

MAX_UNREAD_BYTES = 16 << 10
"""Bytes that wait in memory for a connection that doesn't read."""

RECEIVE_BUFFER_BYTES = 8_192
"""Bytes that the system keeps for a connection before they are read: phones send little, and without a bound
a thousand requests at a time on each connection take 256 kB each.
"""

STALLED_TIMEOUT_S = 30.0
"""Seconds after which such a connection is cut."""


# Python has one lock for all threads (the GIL), and a thread that computes gives it up only at this interval.
SWITCH_INTERVAL_S = 1e-3
"""Seconds after which a thread must let others compute. At Python's own 5 ms, an attack on the room would
keep the app waiting for half a second.
"""

# uvicorn warns of each invalid request: any visitor could write into the lecturer's terminal.
log = logging.getLogger("rnnviz.room")
log.setLevel(logging.ERROR)


class PhoneConnection(BoundedHeaders):
    """A phone's connection; beyond the bounds it is cut at once."""

    max_header_bytes = 16_384
    # Counts all connections of one listener. uvicorn makes an object for each connection and passes it
    # nothing of ours, so `ClassroomServer` makes a subclass that has the counter.
    connections_by_address: Counter[str]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.logger = log
        self._stalled: Any = None
        self._from = (transport.get_extra_info("peername") or ("",))[0]
        self.connections_by_address[self._from] += 1
        transport.set_write_buffer_limits(MAX_UNREAD_BYTES)
        if (
            len(self.connections) > MAX_CONNECTIONS
            or self.connections_by_address[self._from] > MAX_CONNECTIONS_PER_ADDRESS
        ):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        # Addresses without a connection go: a visitor with many IPv6 addresses could else fill the memory.
        self.connections_by_address[self._from] -= 1
        if not self.connections_by_address[self._from]:
            del self.connections_by_address[self._from]
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        # asyncio calls this once more than MAX_UNREAD_BYTES wait, and `resume_writing` when they have gone.
        self._stalled = self.loop.call_later(STALLED_TIMEOUT_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class ClassroomServer:
    """A server of an application on `host` and `port` until `close`. Without a port: one of FIRST_PORTS, or
    any free one.

    Raises ConfigError if no port can be opened.
    """

    def __init__(self, app: ASGIApp, host: str = "0.0.0.0", port: int | None = None) -> None:
        self._socket = _open_socket(host, (*FIRST_PORTS, 0) if port is None else (port,))
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=type("Line", (PhoneConnection,), {"connections_by_address": Counter()}),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        # `Server.run` outside the main thread leaves the signals alone: Ctrl-C ends the app's own server,
        # whose lifespan closes this one.
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="rnnviz-room", daemon=True
        )
        self._thread.start()
        sys.setswitchinterval(SWITCH_INTERVAL_S)

    def close(self) -> None:
        """Refuse new connections and free the port; returns at once, before the thread ends."""
        self._server.should_exit = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the listener's end, at most `seconds`; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


def _open_socket(host: str, ports: Iterable[int]) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in ports:
        try:
            server_socket = socket.create_server((host, port), family=family, backlog=512)
            server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            return server_socket
        except OSError as error:
            refused = error
    raise ConfigError("no port could be opened for the room: {reason}", reason=str(refused))
