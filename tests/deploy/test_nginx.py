"""nginx as it is shipped, in front of processes that only say who they are: who is sent where, what is kept,
what is logged. Without nginx these are skipped, or fail if RNNVIZ_REQUIRE_NGINX is 1.
"""

from __future__ import annotations

import gzip
import http.client
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.deploy.shipped import DEPLOY, serve
from tests.needs import missing

PROCESSES = 3


class Process:
    """A process of the app that answers with its port; `answers` says otherwise by path."""

    def __init__(self, port: int = 0) -> None:
        process = self
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                process.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                usual = (200, {"Cache-Control": "no-cache"}, b"%d" % process.port)
                status, headers, body = process.answers.get(self.path.partition("?")[0], usual)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_PUT(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Answer)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def die(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Front:
    """nginx, and a visitor's browser in front of it."""

    def __init__(
        self, port: int, folder: Path, processes: list[Process], nginx: subprocess.Popen[bytes]
    ) -> None:
        self.port, self.folder, self.processes, self.nginx = port, folder, processes, nginx

    def get(
        self, path: str = "/", seat: str = "", method: str = "GET", body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if seat:
            sent["Cookie"] = f"rnnviz_seat={seat}"
        connection.request(method, path, body or None, sent)
        answer = connection.getresponse()
        found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def sit(self) -> tuple[int, str]:
        """A newcomer: the process that answered, and the seat."""
        _, headers, body = self.get()
        return int(body), seat_in(headers)


def seat_in(headers: dict[str, str]) -> str:
    found = re.fullmatch(
        r"rnnviz_seat=(\d+\.[0-9a-f]{32}); Path=/; HttpOnly; SameSite=Lax", headers["set-cookie"]
    )
    assert found
    return found[1]


@pytest.fixture(scope="module")
def program() -> str:
    try:
        found: str = serve.nginx()
    except SystemExit as error:
        missing("NGINX", error)
    return found


@pytest.fixture
def front(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("nginx")
    for place in (folder, *folder.parents):  # where root tests, nginx's workers are somebody else
        if place.name.startswith(("nginx", "popen-", "pytest-")):
            place.chmod(0o711)
    processes = [Process() for _ in range(PROCESSES)]
    port, packer = serve.free(2)
    ports = [process.port for process in processes]
    listen = f"127.0.0.1:{port}"
    main = serve.write(folder, serve.configuration(ports, address=listen, packer=packer, folder=folder))
    nginx = subprocess.Popen([program, "-e", "stderr", "-c", str(main)])
    found = Front(port, folder, processes, nginx)
    for _ in range(500):
        try:
            found.get("/up")
            break
        except OSError:
            assert nginx.poll() is None
            time.sleep(0.01)
    for process in processes:
        process.asked.clear()
    yield found
    nginx.terminate()
    nginx.wait()
    for process in processes:
        process.die()


def test_what_is_shipped_is_sound(program: str, tmp_path: Path) -> None:
    text = (DEPLOY / "nginx" / "rnnviz.conf").read_text("utf-8")
    for place in ("/var/log/nginx", "/var/cache/nginx"):
        text = text.replace(place, str(tmp_path))
    main = serve.write(tmp_path, text.replace("listen 80;", "listen 8080;"))
    subprocess.run([program, "-t", "-q", "-e", "stderr", "-c", str(main)], check=True)


def test_newcomers_take_turns_and_stay_where_their_session_is(front: Front) -> None:
    seats = [front.sit() for _ in range(2 * PROCESSES)]
    assert sorted(port for port, _ in seats) == sorted(2 * [p.port for p in front.processes])
    for port, seat in seats:
        for path in ("/", "/learn?scene=2", "/_stcore/health", "/_stcore/stream", "/media/1.png"):
            _, headers, body = front.get(path, seat)
            assert int(body) == port
            assert "set-cookie" not in headers  # it says so already


def test_whose_process_dies_is_elsewhere_with_all_tabs_and_stays_there(front: Front) -> None:
    port, seat = front.sit()
    dead = next(p for p in front.processes if p.port == port)
    dead.die()
    found = [front.get(path, seat) for path in ("/_stcore/health", "/_stcore/stream", "/") * 2]
    (other,) = {int(body) for _, _, body in found}
    assert other != port
    (moved,) = {seat_in(headers) for _, headers, _ in found}
    assert moved == f"{other}{seat[seat.index('.') :]}"
    front.processes[front.processes.index(dead)] = Process(port)
    assert int(front.get("/media/1.png", moved)[2]) == other
    assert int(front.get("/", seat)[2]) == port  # another visitor's may begin there again


def test_a_seat_that_nobody_gave_is_as_good_as_none(front: Front) -> None:
    for seat in ("22." + "a" * 32, "1234." + "a" * 32, "example.org:80", f"{front.processes[0].port}.x"):
        status, headers, body = front.get("/", seat)
        assert status == 200
        assert int(seat_in(headers).partition(".")[0]) == int(body)
        assert int(body) in [p.port for p in front.processes]


def test_where_a_process_is_full_another_has_room(front: Front) -> None:
    first, *others = front.processes
    seat = f"{first.port}." + "b" * 32
    first.answers = {"/": (503, {}, b"full"), "/_stcore/stream": (403, {}, b"")}
    for path in ("/", "/_stcore/stream"):
        assert int(front.get(path, seat)[2]) in [p.port for p in others]
        assert front.get(path, "")[0] == 200
    for process in others:
        process.answers = first.answers
    assert front.get("/", seat)[::2] == (503, b"full")
    assert front.get("/", "")[::2] == (503, b"full")
    assert front.get("/_stcore/stream", seat)[0] == 403


def test_what_is_the_same_for_everybody_is_asked_for_and_packed_once(front: Front) -> None:
    text = b"const a = 1;\n" * 1000
    about = {
        "Content-Type": "text/javascript",
        "Cache-Control": "public, immutable, max-age=31536000",
        "Set-Cookie": "rnnviz_visitor=one",
    }
    for process in front.processes:
        process.answers = {"/static/js/a.js": (200, about, text)}
    for _ in range(3):
        status, headers, body = front.get("/static/js/a.js?x=1", Accept_Encoding="gzip, br")
        assert (status, headers.get("content-encoding")) == (200, "gzip"), body
        assert headers["cache-control"] == about["Cache-Control"]
        assert "set-cookie" not in headers
        assert gzip.decompress(body) == text
        _, headers, body = front.get("/static/js/a.js")
        assert "content-encoding" not in headers
        assert body == text
    assert sum(len(process.asked) for process in front.processes) == 2  # packed, and as it is


def test_a_process_hears_what_the_visitor_said_and_where_from(front: Front) -> None:
    _, seat = front.sit()
    front.get("/", seat, Host="hall.example.org:8080", X_Forwarded_For="1.2.3.4", X_Forwarded_Proto="https")
    (said,) = [h for p in front.processes for path, h in p.asked if h["host"] == "hall.example.org:8080"]
    assert (said["x-forwarded-for"], said["x-forwarded-proto"]) == ("127.0.0.1", "http")
    front.get("/_stcore/stream", seat, Connection="Upgrade", Upgrade="websocket")
    (said,) = [h for p in front.processes for path, h in p.asked if path == "/_stcore/stream"]
    assert (said["connection"], said["upgrade"]) == ("upgrade", "websocket")


def test_uploads_are_taken_up_to_the_app_s_own_limit(front: Front) -> None:
    _, seat = front.sit()
    assert front.get("/_stcore/upload_file/s/f", seat, "PUT", bytes(3 << 20))[0] == 200
    said = (DEPLOY.parent / ".streamlit" / "config.toml").read_text("utf-8")
    own = re.search(r"maxUploadSize = (\d+)", said)
    nginx = re.search(r"client_max_body_size (\d+)m;", (DEPLOY / "nginx" / "rnnviz.conf").read_text("utf-8"))
    assert own is not None
    assert nginx is not None
    assert int(own[1]) < int(nginx[1]) < int(own[1]) + 10


def test_neither_the_key_nor_what_visitors_write_is_logged(front: Front) -> None:
    secret = "hush-hush-0123456789"
    front.get(f"/?key={secret}", Referer=f"http://localhost/?text={secret}")
    for process in front.processes:
        process.die()
    assert front.get(f"/learn?key={secret}")[0] == 502
    front.nginx.send_signal(signal.SIGQUIT)  # once all is logged
    front.nginx.wait()
    logs = {path.name: path.read_text("utf-8") for path in front.folder.glob("*.log")}
    assert "GET /learn 502" in logs["rnnviz.log"]
    assert secret not in "".join(logs.values())
