"""The HTTP protocol class of the app's servers: h11, with bounds on a request's header.

uvicorn uses httptools if another package has installed it. There, a header has no bound: each received piece
copies it anew, and the server answers nobody meanwhile (40 s for 120 MB).
"""

import asyncio
from typing import Any

import h11
from uvicorn.config import HTTP_PROTOCOLS
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_TIMEOUT_S = 10.0
"""Seconds until a request's header must end, from the connection or a later request's first byte on."""


class BoundedHeaders(H11Protocol):
    """A connection whose headers are bounded in bytes (`max_header_bytes`) and in time (HEADER_TIMEOUT_S)."""

    max_header_bytes = 65_536
    """Bytes of a header, at most: an address may contain a text, and cookies follow."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # uvicorn has made a connection with h11's own bound; nothing has been read into it yet.
        self.conn = h11.Connection(h11.SERVER, self.max_header_bytes)
        self._cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch_header()

    # uvicorn has a timeout between requests (keep-alive), but none for a header that began and never ends.
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_header()

    def _watch_header(self) -> None:
        waiting = self.conn.their_state is h11.IDLE  # the header has not begun, or not ended
        if waiting and self._cut is None:
            self._cut = self.loop.call_later(HEADER_TIMEOUT_S, self.transport.close)
        elif not waiting and self._cut is not None:
            self._cut.cancel()
            self._cut = None


def install() -> None:
    """Make BoundedHeaders uvicorn's default in this process. Streamlit has no option for the class, so this
    replaces the "auto" entry of uvicorn's table.
    """
    HTTP_PROTOCOLS["auto"] = f"{BoundedHeaders.__module__}:{BoundedHeaders.__qualname__}"
