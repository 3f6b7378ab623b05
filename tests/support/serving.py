"""A running app, for tests and benchmarks."""

import functools
import http.server
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]

COOL = (
    "from rnnviz.ui.serving import warm_up; warm_up.LATER = 1e6; from streamlit.web.cli import main; main()"
)

STARTS_WITHIN = 60.0  # seconds


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and writes no log."""

    def log_message(self, *_arguments: object) -> None:
        """Nothing: a test's output is for failures."""


@contextmanager
def serve_files(root: Path) -> Iterator[int]:
    """The port of a plain web server of a folder's files."""
    handler = functools.partial(QuietHandler, directory=root)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@contextmanager
def serve(
    script: Path,
    *,
    folder: Path = ROOT,
    root: Path = ROOT,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    options: Sequence[str] = ("--server.address", "127.0.0.1"),
    port: int | None = None,
    warm: bool = True,
) -> Iterator[str]:
    """The address of `streamlit run script`, started in `folder` (whose .streamlit/config.toml counts).

    `root` is the checkout whose rnnviz it imports, with that checkout's `python`.
    Without `warm` it doesn't make ready, in its idle time, what some reader may ask for.
    """
    port = port or free_port()
    command = [
        python, *(("-m", "streamlit") if warm else ("-c", COOL)), "run", str(script),
        "--server.port", str(port), "--server.headless", "true", *options,
    ]  # fmt: skip
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**(environment or os.environ), "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _is_healthy(process, f"{address}/_stcore/health"), within=STARTS_WITHIN, every=0.05)
        yield address
    finally:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _is_healthy(process: subprocess.Popen[bytes], url: str) -> bool:
    """Whether the app answers; its own words where it has stopped instead."""
    if process.poll() is not None:
        raise RuntimeError(
            f"the app stopped at its start:\n{process.communicate()[1].decode(errors='replace')}"
        )
    with suppress(OSError), urllib.request.urlopen(url, timeout=1) as answer:
        return bool(answer.status == 200)
    return False
