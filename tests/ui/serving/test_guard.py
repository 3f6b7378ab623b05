"""Who may talk to the running app, as seen from a socket."""

import base64
import os
import select
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from urllib.parse import urlsplit

import psutil
import pytest

from rnnviz.ui.browser.views import ADDRESS
from rnnviz.ui.serving.guard import hostname, is_allowed_host
from tests.support.serving import ROOT, serve

WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}",
    "Sec-WebSocket-Protocol: streamlit",
)
PAGES = ("/", "/perplexity", "/_stcore/health", "/_stcore/host-config", f"{ADDRESS}/plotly/plotly.min.js")


@pytest.fixture(scope="module")
def app() -> Iterator[tuple[int, socket.socket]]:
    """The port of the app as anyone starts it, and a proxy that would have to answer for other machines."""
    with socket.create_server(("127.0.0.1", 0)) as proxy, ExitStack() as stack:
        proxies = dict.fromkeys(("http_proxy", "https_proxy"), f"http://127.0.0.1:{proxy.getsockname()[1]}")
        environment = {k: v for k, v in os.environ.items() if k.lower() != "no_proxy"} | proxies
        with ExitStack() as few_files:
            if sys.platform == "linux":  # what starts here may open 256 files
                limit = partial(psutil.Process().rlimit, psutil.RLIMIT_NOFILE)
                few_files.callback(limit, limit())
                limit((256, limit()[1]))
            url = stack.enter_context(serve(ROOT / "app.py", environment=environment, options=()))
        port = urlsplit(url).port
        assert port is not None
        yield port, proxy


def answer(port: int, path: str, host: str, origin: str | None = None) -> tuple[int, str]:
    """The status of the answer to a request, or to a handshake if it is for the stream, and what it says."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
    lines += [] if origin is None else [f"Origin: {origin}"]
    stream = path == "/_stcore/stream"
    lines += WEBSOCKET if stream else ("Connection: close",)
    with socket.create_connection(("127.0.0.1", port), 30) as sent:
        sent.sendall("\r\n".join([*lines, "", ""]).encode())
        received = b""
        while (piece := sent.recv(1 << 16)) and not (stream and b"\r\n\r\n" in received + piece):
            received += piece
        head, _, body = (received + piece).decode(errors="replace").partition("\r\n\r\n")
    return int(head.split()[1]), body


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LocalHost"])
def test_own_pages_are_answered(app: tuple[int, socket.socket], name: str) -> None:
    port, _ = app
    host = f"{name}:{port}"
    assert [answer(port, page, host)[0] for page in PAGES] == [200] * len(PAGES)
    for origin in (None, f"http://{host.lower()}", f"https://{host}"):
        assert answer(port, "/_stcore/stream", host, origin)[0] == 101


@pytest.mark.parametrize("name", ["evil.example", "192.0.2.7", "localhost.evil.example", "me@localhost", ""])
def test_foreign_host_is_403(app: tuple[int, socket.socket], name: str) -> None:
    port, _ = app
    for host in (name, f"{name}:{port}"):
        for page in PAGES:
            status, body = answer(port, page, host)
            assert status == 403
            assert repr(host) in body
            assert "RNNVIZ_HOSTS" in body
        assert answer(port, "/_stcore/stream", host)[0] == 403
        assert answer(port, "/_stcore/stream", host, f"http://{host}")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:1", "null", "http://localhost"])
@pytest.mark.parametrize("path", [*PAGES, "/_stcore/stream"])
def test_foreign_origin_is_403_without_lookup(app: tuple[int, socket.socket], origin: str, path: str) -> None:
    port, proxy = app
    assert answer(port, path, f"localhost:{port}", origin)[0] == 403
    assert select.select([proxy], [], [], 0)[0] == [], "it asked another machine"


def test_app_listens_on_localhost_alone(app: tuple[int, socket.socket]) -> None:
    port, _ = app
    # Every 127.… is this machine's, but not localhost; a Mac has no such address until it is told of one.
    with pytest.raises(OSError, match=r"refused|reach|assign|timed out"):
        socket.create_connection(("127.0.0.2", port), 5)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of another process")
def test_app_raises_open_file_limit(app: tuple[int, socket.socket]) -> None:
    started = [p for p in psutil.Process().children() if str(app[0]) in p.cmdline()]
    assert [p.rlimit(psutil.RLIMIT_NOFILE)[0] > 256 for p in started] == [True]


def test_allowed_hosts_and_origins_are_served() -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        variables = {"no_proxy": "", "RNNVIZ_HOSTS": "Named.Example, *.club.example"}
        proxies = {"http_proxy": f"http://127.0.0.1:{proxy.getsockname()[1]}"}
        environment = {**os.environ, **proxies, **variables}
        options = [
            "--server.address", "0.0.0.0", "--browser.serverAddress", "hall.example",
            "--server.allowedHosts", "hall.example", "--server.allowedHosts", "*.school.example",
            "--server.allowedHosts", "127.0.0.1",
            "--server.corsAllowedOrigins", "https://proxy.example",
        ]  # fmt: skip
        with serve(ROOT / "app.py", environment=environment, options=options, warm=False) as url:
            port = urlsplit(url).port
            assert port is not None
            local, named = f"127.0.0.1:{port}", ("named.example", f"room.club.example:{port}")
            for host in (f"hall.example:{port}", "hall.example", "room.school.example", *named, local):
                assert answer(port, "/", host)[0] == 200
                assert answer(port, "/_stcore/stream", host, f"http://{host}")[0] == 101
            for host, origin in (
                ("hall.example", "https://proxy.example"),
                *((host, f"https://{host}") for host in named),
                (local, "https://named.example:8443"),  # a proxy may hand on a Host header of its own
            ):
                assert answer(port, "/_stcore/stream", host, origin)[0] == 101
            for host, origin in (
                ("localhost", None), ("school.example", None), ("club.example", None), ("evil.example", None),
                ("hall.example.evil.example", None), ("named.example.evil.example", None),
                ("named.example", "https://named.example.evil.example"), (local, "https://evil.example"),
                (local, "http://localhost:1"), (local, "null"),
            ):  # fmt: skip
                assert answer(port, "/_stcore/stream", host, origin)[0] == 403
        assert select.select([proxy], [], [], 0)[0] == [], "it asked another machine"


@pytest.mark.parametrize(
    ("host", "name"),
    [
        *((invalid, None) for invalid in ("", ":80", "a b/c", "a?b", "a#b", "a:x", "a:99999", "[::1")),
        ("Hall.Example.:80", "hall.example"),
    ],
)
def test_valid_host_has_hostname(host: str, name: str | None) -> None:
    assert hostname(host) == name


@pytest.mark.parametrize(
    ("name", "pattern", "allowed"),
    [("anything", "*", True), ("::1", "::1", True), ("evilschool.example", "*.school.example", False)],
)
def test_allowed_hosts_match_by_name(name: str, pattern: str, allowed: bool) -> None:
    assert is_allowed_host(name, [pattern]) == allowed
