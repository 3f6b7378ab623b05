"""Where phones come: a second listener of the app's process, open to the local network while a room is."""

import socket
import threading
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from rnnviz.errors import ConfigError
from rnnviz.ui.http_protocol import BoundedHeaders
from rnnviz.ui.room.room import PHONES

PORTS = range(8600, 8620)
"""Tried first, so that a firewall can be opened for them beforehand; then any free one is taken."""

CONNECTIONS = 2 * PHONES + 100
"""Connections at a time: each phone has its stream, and another for answers."""


class PhoneLine(BoundedHeaders):
    """A phone's connection: one too many is cut."""

    longest = 16_384

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()


class Listener:
    """Serves an application on `host` and a free port, on a thread of its own, until `close`."""

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
        """Take no more connections and let go of the port; returns at once."""
        self._server.should_exit = True

    def wait(self, seconds: float | None = None) -> bool:
        """Whether the listener has ended within `seconds`."""
        self._thread.join(seconds)
        return not self._thread.is_alive()


def _free(host: str) -> socket.socket:
    for port in (*PORTS, 0):
        try:
            return socket.create_server((host, port), backlog=512)
        except OSError as error:
            refused = error
    raise ConfigError("no port could be opened for the room: {reason}", reason=str(refused))
