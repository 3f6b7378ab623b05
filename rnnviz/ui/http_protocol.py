"""A browser's connection, as our own servers read it.

uvicorn reads with httptools wherever another package has brought that. A header that never ends has no bound
there: it is copied anew with every piece that comes, and nobody else is answered meanwhile (40 s for 120 MB).
"""

import asyncio
from typing import Any

import h11
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds within which a request's header has to end, from the connection or its first byte on."""


class BoundedHeaders(H11Protocol):
    """A connection whose headers end, soon and before they are long."""

    longest = 65_536
    """Bytes of a header: an address with a text in it, and cookies."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.conn = h11.Connection(h11.SERVER, self.longest)
        self._cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._mind()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._mind()

    def _mind(self) -> None:
        waiting = self.conn.their_state is h11.IDLE  # for a header, or for its end
        if waiting and self._cut is None:
            self._cut = self.loop.call_later(PATIENCE, self.transport.close)
        elif not waiting and self._cut is not None:
            self._cut.cancel()
            self._cut = None


def take() -> None:
    """Have this process's servers use it unless they are told otherwise: Streamlit hands uvicorn no class."""
    HTTP_PROTOCOLS["auto"] = f"{BoundedHeaders.__module__}:{BoundedHeaders.__qualname__}"
