"""The phones' listener: a second server of the process, open to the local network while a room is open."""

import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from rnnviz.errors import ConfigError
from rnnviz.ui.http_protocol import BoundedHeaders
from rnnviz.ui.room.room import PHONES

PORTS = range(8600, 8620)
"""Ports tried first, so that a firewall can allow them beforehand; then any free one."""

CONNECTIONS = 2 * PHONES + 100
"""Connections at a time, at most: each phone has one for its stream and one for answers."""


class PhoneLine(BoundedHeaders):
    """A phone's connection; beyond CONNECTIONS it is cut at once."""

    longest = 16_384

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()


class Listener:
    """A server of an application on `host` and a free `port`, in its own thread, until `close`.

    Raises ConfigError if no port can be opened.
    """

    def __init__(self, app: ASGIApp, host: str = "0.0.0.0") -> None:
        self._socket = _free(host)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=PhoneLine,
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

    def close(self) -> None:
        """Refuse new connections and free the port; returns at once, before the thread ends."""
        self._server.should_exit = True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the listener's end, at most `seconds`; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


def _free(host: str) -> socket.socket:
    for port in (*PORTS, 0):
        try:
            return socket.create_server((host, port), backlog=512)
        except OSError as error:
            refused = error
    raise ConfigError("no port could be opened for the room: {reason}", reason=str(refused))
