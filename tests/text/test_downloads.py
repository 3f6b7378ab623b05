"""Downloads from a real server on this machine, in all the ways they fail."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rnnviz.errors import CorpusError, DownloadError
from rnnviz.text import corpora
from rnnviz.text.corpora import cache_folder

TEXT = b"The Time Traveller asked his guests to stand back from the machine.\n" * 4_000
SHA256 = hashlib.sha256(TEXT).hexdigest()

PAGES = (*("right", "moved", "altered", "too_large", "stalling", "dying", "half", "missing", "circle"),)

# The length that is promised, what is sent, and how.
SENT: dict[str, tuple[Any, ...]] = {
    "right": (len(TEXT), TEXT),
    "altered": (len(TEXT), TEXT[:-1] + b"!"),
    "too_large": (None, TEXT * 2),
    "dying": (len(TEXT), TEXT[:1000]),
    "stalling": (len(TEXT), TEXT[:1000]),  # and then nothing
    "half": (None, TEXT[:1000]),  # no length was promised: only the size that is known can tell
    "moved": (0, b"", 302, "/right.txt"),
    "circle": (0, b"", 302, "/circle.txt"),
}


class _Handler(http.server.BaseHTTPRequestHandler):
    ended: threading.Event
    requests: list[str]

    def do_GET(self) -> None:
        self.requests.append(self.path)
        page = self.path.rsplit("/")[-1].removesuffix(".txt")
        self._send(*SENT.get(page, (0, b"", 404)))
        if page == "stalling":
            self.ended.wait(60)

    def _send(self, promised: int | None, body: bytes = b"", status: int = 200, to: str = "") -> None:
        self.send_response(status)
        if to:
            self.send_header("Location", to)
        if promised is not None:
            self.send_header("Content-Length", str(promised))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *args: object) -> None:
        pass


class _QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args: object) -> None:
        """A client that gives up is what these tests are about."""


@pytest.fixture
def server() -> Iterator[SimpleNamespace]:
    """A web server on this machine whose every address fails in its own way, and what was asked of it."""
    ended = threading.Event()
    requests: list[str] = []
    handler = type("Handler", (_Handler,), {"ended": ended, "requests": requests})
    with _QuietServer(("127.0.0.1", 0), handler) as http_server:
        thread = threading.Thread(target=http_server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield SimpleNamespace(url=f"http://127.0.0.1:{http_server.server_port}", requests=requests)
        ended.set()
        http_server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a server is a corpus of its name; the cache is empty and waits are short."""
    about = ("The Time Traveller", "public domain", "a test", "en")
    for page in PAGES:
        remote = corpora.Remote(about, f"{page}.txt", len(TEXT), SHA256)
        monkeypatch.setitem(corpora.REMOTE, page, remote)
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def cached_files(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


def test_a_corpus_is_fetched_once_and_then_read_from_this_machine(
    server: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RNNVIZ_CORPORA_URL", server.url + "/")
    assert corpora.describe("moved").needs_download
    with pytest.raises(
        CorpusError, match=r"not on this machine yet; .*fetch\('moved'\) .*0\.3 MB from 127\.0\.0\.1"
    ):
        corpora.read("moved")
    assert server.requests == [], "reading fetches nothing"
    steps: list[tuple[int, int]] = []
    corpus = corpora.fetch("moved", lambda *step: steps.append(step))
    assert corpus.text == TEXT.decode()
    assert corpus.sha256 == SHA256
    assert steps[-1] == (len(TEXT), len(TEXT))
    assert steps == sorted(steps)
    assert cached_files(tmp_path) == [TEXT]
    assert not corpora.describe("moved").needs_download
    assert corpora.fetch("moved") == corpora.read("moved") == corpora.open_corpus("moved") == corpus
    assert server.requests == ["/moved.txt", "/right.txt"], "a redirection was followed, then nothing asked"


def test_an_altered_cache_is_noticed_and_restored(server: SimpleNamespace, tmp_path: Path) -> None:
    corpora.fetch("right", base_url=server.url)
    (file,) = (f for f in tmp_path.rglob("*") if f.is_file())
    file.write_bytes(TEXT[:-5])
    with pytest.raises(CorpusError, match="was altered since it was fetched; fetch right again"):
        corpora.read("right")
    assert corpora.fetch("right", base_url=server.url).text == TEXT.decode()


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("altered", "arrived altered or cut off, with 272,000 bytes"),
        ("too_large", "arrived altered or cut off, with 27[2-9],[0-9]+ bytes where there should be 272,000"),
        ("stalling", r"needs a connection to 127\.0\.0\.1: are you offline"),
        ("dying", "needs a connection to"),
        ("half", "arrived altered or cut off, with 1,000 bytes"),
        ("missing", "can't be fetched .*404"),
        ("circle", "can't be fetched .*redirect"),
    ],
)
def test_failed_download_names_the_reason_and_keeps_the_cache(
    page: str, message: str, server: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page == "stalling":  # a busy machine may answer late
        monkeypatch.setattr(corpora, "STALL_S", 1.0)
    old = corpora.REMOTE[page].path
    old.parent.mkdir(parents=True)
    old.write_bytes(b"an older edition")
    with pytest.raises(DownloadError, match=f"{page}.txt {message}.*[Tt]ry again, or save the file yourself"):
        corpora.fetch(page, base_url=server.url)
    assert cached_files(tmp_path) == [b"an older edition"]


def test_a_slow_download_ends_at_the_limit(server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "TOTAL_S", 0.0)
    with pytest.raises(
        DownloadError, match=f"with {corpora.DOWNLOAD_BLOCK_BYTES:,} bytes where there should be 272,000"
    ):
        corpora.fetch("right", base_url=server.url)


def test_unreachable_server_is_refused() -> None:
    with pytest.raises(DownloadError, match=r"needs a connection to 127\.0\.0\.1: are you offline\?"):
        corpora.fetch("right", base_url="http://127.0.0.1:1")


def test_stopped_download_keeps_nothing(server: SimpleNamespace, tmp_path: Path) -> None:
    def stop(received: int, size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corpora.fetch("right", stop, base_url=server.url)
    assert cached_files(tmp_path) == []


def test_unwritable_cache_is_refused(server: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    with pytest.raises(DownloadError, match=r"can't be written .*set RNNVIZ_CACHE"):
        corpora.fetch("right", base_url=server.url)


def test_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("RNNVIZ_CACHE")
    assert cache_folder().is_absolute()
    assert "rnnviz" in cache_folder().parts


def test_a_mirror_has_the_paths_of_github(server: SimpleNamespace) -> None:
    with pytest.raises(DownloadError, match=r"data/tinyshakespeare/input\.txt can't be fetched .*404"):
        corpora.fetch("tinyshakespeare", base_url=server.url)
    assert server.requests == ["/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"]
