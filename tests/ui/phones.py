"""Phones for the room's tests: a browser's requests over real sockets."""

import http.client
import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rnnviz.ui.room.listener import Listener

CODE = "abcde"
SOON = 10.0  # seconds, for a socket


@dataclass(frozen=True)
class Got:
    """An answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: str


class Phone:
    """A phone's browser: its address, its cookie, its stream."""

    def __init__(self, port: int, code: str = CODE) -> None:
        self.port, self.code = port, code
        self.cookie = ""
        self._stream: http.client.HTTPResponse | None = None

    def _ask(self, method: str, path: str, body: bytes | None = None) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON)
        connection.request(method, path, body, {"Cookie": self.cookie} if self.cookie else {})
        return connection

    def request(self, method: str, path: str, body: bytes | None = None) -> Got:
        """One request on a connection of its own."""
        with closing(self._ask(method, path, body)) as connection, connection.getresponse() as got:
            headers = {name.lower(): value for name, value in got.getheaders()}
            return Got(got.status, headers, got.read().decode())

    def open(self) -> Got:
        """Load the page, and keep its cookie."""
        got = self.request("GET", f"/{self.code}")
        if given := got.headers.get("set-cookie"):
            self.cookie = given.split(";")[0]
        return got

    def answer(self, body: Any) -> tuple[int, dict[str, Any]]:
        """Send an answer: a status, and what is said."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        got = self.request("POST", f"/{self.code}/answer", sent)
        return got.status, json.loads(got.body)

    def listen(self) -> dict[str, Any]:
        """Begin to listen to the room; the first that is heard."""
        connection = self._ask("GET", f"/{self.code}/events")
        self._stream = connection.getresponse()
        STREAMS.extend([self._stream, connection])
        assert self._stream.getheader("content-type", "").startswith("text/event-stream")
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """What is heard next; {} at the stream's end."""
        while line := self._stream.readline():
            if line.startswith(b"data: "):
                found: dict[str, Any] = json.loads(line[6:])
                return found
        return {}


STREAMS: list[Any] = []
"""What phones listen on; hung up after each test."""


def hang_up() -> None:
    """Every phone leaves its room."""
    while STREAMS:
        STREAMS.pop().close()


SHUT: list[Listener] = []


def shut(listener: Listener) -> None:
    """Close it: at the module's end all will have ended."""
    listener.close()
    SHUT.append(listener)
