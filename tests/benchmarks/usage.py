"""What a server uses: its processor time, and what it holds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import psutil

WARM = 15.0  # seconds after which the server has loaded what it loads when its first visitor is served
SETTLED, AT_MOST = 2.0, 40.0  # seconds of rest, and how long it may take to come to it


@dataclass
class Usage:
    """What the server has used so far, and holds now."""

    cpu: float  # seconds
    rss: float  # MB, its child processes among it, as the others here
    descriptors: int
    threads: int
    scratch: int  # files

    NAMES = ("rss", "descriptors", "threads", "scratch")


class Server:
    """The app's process, or the one of which several are children."""

    def __init__(self, url: str, scratch: Path, pid: int | None = None) -> None:
        self.url, self.scratch, self.began = url, scratch, time.monotonic()
        own = (p for p in psutil.Process().children() if "streamlit" in " ".join(p.cmdline()))
        self.process = psutil.Process(pid) if pid else next(own)

    def usage(self) -> Usage:
        cpu, rss, descriptors, threads = 0.0, 0.0, 0, 0
        for one in [self.process, *self.process.children(recursive=True)]:
            try:
                with one.oneshot():
                    times = one.cpu_times()
                    cpu += times.user + times.system
                    rss += one.memory_info().rss / 1e6
                    descriptors += one.num_fds() if hasattr(one, "num_fds") else 0
                    threads += one.num_threads()
            except psutil.Error:
                continue
        scratch = sum(1 for file in self.scratch.glob("rnnviz-*/**/*") if file.is_file())
        return Usage(cpu, rss, descriptors, threads, scratch)

    def settle(self) -> None:
        """Wait until it rests."""
        time.sleep(max(0.0, self.began + WARM - time.monotonic()))
        end, before = time.monotonic() + AT_MOST, self.usage().cpu
        while time.monotonic() < end:
            time.sleep(SETTLED)
            now = self.usage().cpu
            if now - before < 0.05 * SETTLED:
                return
            before = now
