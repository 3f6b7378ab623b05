"""Several processes of the app behind one address, on this machine and without root: needs nginx, and the
Python that the app runs with.

    python deploy/serve.py --processes 3 --port 8080 --name hall.example.org

Fills its ports and folders into deploy/nginx/rnnviz.conf, starts nginx and the processes, and starts again
what dies. Ctrl-C ends all; training runs go on. Options after `--` are those of `python -m rnnviz host`.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHIPPED = ("8501", "8502", "8503")
"""The processes' ports in the files as they are shipped."""

PACKER = "127.0.0.1:8500"
LOOK = 0.2  # seconds between two looks whether all are alive
AGAIN = 2.0  # seconds from a start to the next one at least
FIRST = 10.0  # seconds: what ends in them with an error, as it was started, can't start
PATIENCE = 10.0  # seconds that a process has to end


def configuration(ports: Sequence[int], *, address: str, packer: int, folder: Path) -> str:
    """deploy/nginx/rnnviz.conf for processes at these ports; nginx listens at `address`, and at the port
    `packer` for itself, and keeps its files in `folder`.
    """
    lines: list[str] = []
    for line in (HERE / "nginx" / "rnnviz.conf").read_text("utf-8").splitlines():
        if SHIPPED[0] in line:
            lines += [line.replace(SHIPPED[0], str(port)) for port in ports]
        elif not any(port in line for port in SHIPPED[1:]):
            lines.append(line)
    text = "\n".join([*lines, ""])
    for shipped, own in {
        "listen 80;": f"listen {address};",
        PACKER: f"127.0.0.1:{packer}",
        "/var/log/nginx": str(folder),
        "/var/cache/nginx": str(folder),
    }.items():
        text = text.replace(shipped, own)
    return text


def write(folder: Path, configured: str) -> Path:
    """Put nginx's files into `folder`; returns the main one."""
    (folder / "rnnviz.conf").write_text(configured, "utf-8")
    main = folder / "nginx.conf"
    main.write_text(
        (HERE / "nginx" / "alone.conf").read_text("utf-8").replace("FOLDER", str(folder)), "utf-8"
    )
    return main


def nginx() -> str:
    """The program; Debian has it where only root looks."""
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/opt/homebrew/bin")
    if found is None:
        raise SystemExit("nginx is missing: apt-get install nginx, or brew install nginx")
    return found


def free(count: int) -> list[int]:
    """Ports of this machine that nobody listens at."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


class Program:
    """A process that is started again when it has died."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command, self._starts = command, 0
        self.start()

    def start(self) -> None:
        self._began = time.monotonic()
        self._starts += 1
        # A session of its own: Ctrl-C at the terminal comes here alone.
        self.process = subprocess.Popen(self._command, cwd=HERE.parent, start_new_session=True)

    def look(self) -> None:
        """Start it again if it has ended. SystemExit if it can't start: a wrong setting, a port in use."""
        status, lived = self.process.poll(), time.monotonic() - self._began
        if status is not None and status > 0 and self._starts == 1 and lived < FIRST:
            raise SystemExit(f"it can't start: {' '.join(self._command[:4])} ended with {status}")
        if status is not None and lived > AGAIN:
            sys.stderr.write(f"process {self.process.pid} ended ({self.process.returncode}), started anew\n")
            self.start()

    def end(self) -> None:
        """Wait until it has ended, which it was told to."""
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def app(port: int, names: Sequence[str], more: Sequence[str] = ()) -> list[str]:
    """The command of one process, which answers nginx alone, to requests that name one of `names`; the first
    is the whole address that visitors open.
    """
    said = [word for name in names for word in ("--name", name)]
    ours = ("--address", "127.0.0.1", "--trust-proxy", "127.0.0.1", "--port", str(port))
    return [sys.executable, "-m", "rnnviz", "host", *ours, *said, *more]


def environment(processes: int) -> str:
    """Settle in the environment what all processes must have the same; returns the lecturer's key."""
    os.environ["RNNVIZ_PROCESSES"] = str(processes)
    os.environ["RNNVIZ_KEY"] = os.environ.get("RNNVIZ_KEY") or secrets.token_urlsafe(18)
    return os.environ["RNNVIZ_KEY"]


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line, or `words`, asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=3, choices=range(1, 65), metavar="N")
    parser.add_argument("--port", type=int, default=8080, help="where visitors come in (default 8080)")
    parser.add_argument(
        "--address", default="127.0.0.1", help="0.0.0.0 for other computers too (default 127.0.0.1)"
    )
    parser.add_argument(
        "--name",
        action="append",
        help="a name or address that visitors type (default localhost); again for more",
    )
    parser.add_argument("more", nargs="*", metavar="-- OPTION", help="of rnnviz host")
    return parser.parse_args(words)


def main() -> None:
    asked = options()
    name, *others = asked.name or ["localhost"]
    address = f"http://{name}:{asked.port}"
    given = bool(os.environ.get("RNNVIZ_KEY"))
    key = environment(asked.processes)
    packer, *ports = free(1 + asked.processes)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="nginx-") as made:
        folder = Path(made)
        folder.chmod(0o711)  # where root starts it, nginx's workers are somebody else
        listen = f"{asked.address}:{asked.port}"
        config = write(folder, configuration(ports, address=listen, packer=packer, folder=folder))
        commands = [[nginx(), "-e", "stderr", "-c", str(config)]]
        commands += [app(port, [address, *others], asked.more) for port in ports]
        programs = [Program(command) for command in commands]
        print(f"Visitors: {address}", flush=True)
        print(f"The lecturer: {address}/?key={'$RNNVIZ_KEY' if given else key}", flush=True)
        try:
            while True:
                time.sleep(LOOK)
                for program in programs:
                    program.look()
        except KeyboardInterrupt:
            pass
        finally:
            for program in programs:
                program.process.terminate()
            for program in programs:
                program.end()


if __name__ == "__main__":
    main()
