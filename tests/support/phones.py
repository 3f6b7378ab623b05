"""Phones for the room's tests: a browser's requests over real sockets."""

import http.client
import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from rnnviz.ui.serving.room.listener import ClassroomServer
from rnnviz.ui.serving.room.room import RoomQuestion

SOON = 10.0  # seconds, for a socket


@dataclass(frozen=True)
class Got:
    """An answer, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Phone:
    """A phone's browser: its id, its stream."""

    def __init__(self, port: int) -> None:
        self.port, self.id = port, ""
        self._stream: http.client.HTTPResponse | None = None

    def _ask(self, method: str, path: str, body: bytes | None, headers: Any) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SOON)
        connection.request(method, path, body, headers)
        return connection

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Got:
        """One request on a connection of its own."""
        with (
            closing(self._ask(method, path, body, headers)) as connection,
            connection.getresponse() as response,
        ):
            message = {name.lower(): value for name, value in response.getheaders()}
            assert "set-cookie" not in message
            return Got(response.status, message, response.read())

    def join(self) -> "Phone":
        """Get an id."""
        self.id = self.request("POST", "/room/join", b"{}").json["phone"]
        return self

    def body(self, **fields: Any) -> bytes:
        return json.dumps({"phone": self.id, **fields}).encode()

    def answer(self, question: Any = 1, answer: Any = 0) -> tuple[int, dict[str, Any]]:
        """Send an answer: a status, and what is said."""
        response = self.request("POST", "/room/answer", self.body(question=question, answer=answer))
        return response.status, response.json

    def listen(self) -> dict[str, Any]:
        """Begin to listen to the room; the first that is heard."""
        connection = self._ask("POST", "/room/events", self.body(), {})
        self._stream = connection.getresponse()
        STREAMS.extend([self._stream, connection])
        assert self._stream.getheader("content-type", "").startswith("application/x-ndjson")
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """What is heard next; {} at the stream's end."""
        while line := self._stream.readline():
            if line.strip():
                message: dict[str, Any] = json.loads(line)
                return message
        return {}


STREAMS: list[Any] = []
"""What phones listen on; hung up after each test."""


def hang_up() -> None:
    """Every phone leaves its room."""
    while STREAMS:
        STREAMS.pop().close()


SHUT: list[ClassroomServer] = []


def shut(listener: ClassroomServer) -> None:
    """Close it: at the module's end all will have ended."""
    listener.close()
    SHUT.append(listener)


COLOURS = RoomQuestion("colour", "Which <b>colour</b>?", ("red", "green", "blue"))
