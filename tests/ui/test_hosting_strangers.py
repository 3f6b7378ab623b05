"""What a stranger, who has neither a cookie nor a token, can send to a hosted app: as a socket meets it."""

import base64
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import httptools
import psutil
import pytest
import requests

from tests.browser.driving import ROOT

SOON = 10.0  # seconds, for a socket
PIECE = bytes(2**20)


@dataclass(frozen=True)
class Hall:
    """A running `rnnviz host`."""

    process: int
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), SOON)

    def is_well(self) -> bool:
        with requests.Session() as browser:
            browser.trust_env = False
            address = f"http://127.0.0.1:{self.port}/_stcore/health"
            return browser.get(address, timeout=SOON).status_code == 200

    def memory(self) -> float:
        """In megabytes."""
        return psutil.Process(self.process).memory_info().rss / 1e6


@pytest.fixture(scope="module")
def hall(models_folder: Path) -> Iterator[Hall]:
    """As a machine starts it on which a package has brought httptools, which uvicorn would take."""
    assert httptools.HttpRequestParser
    started = subprocess.Popen(
        [sys.executable, "-m", "rnnviz", "host", "--port", "0", "--address", "127.0.0.1"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "RNNVIZ_MODELS": str(models_folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        assert started.stdout is not None
        port = next(found[1] for line in started.stdout if (found := re.search(r"Visitors .*:(\d+) ", line)))
        yield Hall(started.pid, int(port))
    finally:
        started.terminate()
        started.communicate(timeout=20)


@pytest.mark.parametrize("megabytes", [2, pytest.param(120, marks=pytest.mark.slow)])
def test_a_header_that_does_not_end_is_cut_and_others_are_answered(hall: Hall, megabytes: int) -> None:
    with hall.connect() as line:
        with suppress(ConnectionError):  # what was on its way when it was cut
            line.sendall(b"GET / HTTP/1.1\r\nX-Long: ")
            for _ in range(megabytes):
                line.sendall(PIECE.replace(b"\0", b"a"))
        with suppress(ConnectionError):
            assert line.recv(4096)[:12] in (b"HTTP/1.1 400", b"")
        assert hall.is_well()


@pytest.mark.parametrize(("path", "status"), [("/live", b"403"), ("/_stcore/stream", b"101")])
@pytest.mark.parametrize("megabytes", [20, pytest.param(190, marks=pytest.mark.slow)])
def test_six_sockets_whose_messages_do_not_end_hold_little(
    hall: Hall, path: str, status: bytes, megabytes: int
) -> None:
    key = base64.b64encode(bytes(16)).decode()
    lines = (
        f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{hall.port}", "Connection: Upgrade", "Upgrade: websocket",
        "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Protocol: streamlit",
    )  # fmt: skip
    asked = "\r\n".join([*lines, "", ""]).encode()
    begin, more = (bytes([kind, 0x80 | 127]) + struct.pack("!Q4x", len(PIECE)) + PIECE for kind in (2, 0))
    before = hall.memory()
    with ExitStack() as stack:
        for _ in range(6):
            line = stack.enter_context(hall.connect())
            line.sendall(asked)
            assert line.recv(4096).split()[1] == status
            with pytest.raises(ConnectionError):
                line.sendall(begin + more * megabytes)
        assert hall.is_well()
        assert hall.memory() - before < 400  # most of it for pages that are made ready meanwhile
