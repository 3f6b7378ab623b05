"""Many visitors who upload a file at the same moment, and one who types meanwhile.

    OMP_NUM_THREADS=1 python tests/benchmarks/uploads.py --visitors 20 --megabytes 3

Each file has other words. First one visitor uploads a few, one after the other: all of them together should
take at most 1.3 times as long. Memory is that of the app's processes: at rest, at its highest, when the
last file is done and the visitors are still there, and when they have left. The typist is a real browser on
Explore. The app runs as anyone starts it, so the number of threads is its own choice unless the environment
says otherwise; on a machine with other work, times are noisy: compare ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from playwright.sync_api import sync_playwright

from rnnviz.text import corpora
from tests.benchmarks.figures import figure
from tests.benchmarks.keystroke import KEYS, SENTENCE, App
from tests.browser.driving import ROOT, browser_path, launch, serve
from tests.ui.visitor import Visitor

REST = 0.1  # seconds between two looks at the memory
LEAVING = 180  # seconds that what visitors held may stay after they have left


class Memory(threading.Thread):
    """The resident memory of the app, its children among it, in MB: now and at its highest."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        here = psutil.Process().children()
        self.app = next(p for p in here if "streamlit" in " ".join(p.cmdline()))
        self.now = self.highest = 0.0
        self.children = 0
        self.look()
        self.start()

    def look(self) -> None:
        total, count = 0, 0
        for process in [self.app, *self.app.children(recursive=True)]:
            try:
                total += process.memory_info().rss
                count += 1
            except psutil.NoSuchProcess:
                continue
        self.now = total / 1e6
        self.highest = max(self.highest, self.now)
        self.children = max(self.children, count - 1)

    def run(self) -> None:
        while self.app.is_running():
            self.look()
            time.sleep(REST)


def texts(count: int, size: int) -> list[bytes]:
    """So many texts of `size` bytes, each with other words."""
    source = corpora.read("python-source").text.encode("ascii", "ignore")
    source *= 1 + (size + count * 1000) // len(source)
    return [source[n * 1000 : n * 1000 + size] for n in range(count)]


def answered(visitor: Visitor, name: str, timeout: float) -> None:
    visitor.wait(lambda: visitor.find("metric", f"Perplexity of {name}"), timeout)


def one_after_the_other(url: str, files: list[bytes], timeout: float) -> list[float]:
    """Seconds that each takes."""
    took = []
    for number, data in enumerate(files):
        visitor = Visitor(url, "perplexity")
        answered(visitor, "an example", timeout)
        began = time.monotonic()
        visitor.upload(f"alone{number}", data)
        answered(visitor, f"alone{number}", timeout)
        took.append(time.monotonic() - began)
        visitor.leave()
    return took


def all_at_once(url: str, files: list[bytes], timeout: float) -> tuple[list[Visitor], list[float | None]]:
    """The visitors, still there, and the seconds after which each had the answer; None for never."""
    visitors = [Visitor(url, "perplexity") for _ in files]
    for visitor in visitors:
        answered(visitor, "an example", timeout)
    took: list[float | None] = [None] * len(files)
    began = time.monotonic()

    def upload(number: int) -> None:
        try:
            visitors[number].upload(f"file{number}x", files[number])
            answered(visitors[number], f"file{number}x", timeout)
            took[number] = time.monotonic() - began
        except TimeoutError:
            pass

    threads = [threading.Thread(target=upload, args=(n,)) for n in range(len(files))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return visitors, took


@contextmanager
def typing(url: str) -> Iterator[list[float]]:
    """A reader on Explore who types as long as this is open: milliseconds of each key."""
    times: list[float] = []
    over, ready = threading.Event(), threading.Event()

    def type_on() -> None:
        with sync_playwright() as playwright:
            path = browser_path(playwright)
            if path is None:
                ready.set()
                return
            browser = launch(playwright, path)
            app = App(browser.new_page(viewport={"width": 1280, "height": 720}), "live", url)
            app.fill((SENTENCE * 6)[:500])
            ready.set()
            while not over.is_set():
                times.append(app.key(KEYS[len(times) % len(KEYS)]))
                over.wait(0.2)
            browser.close()

    thread = threading.Thread(target=type_on)
    thread.start()
    ready.wait()
    yield times
    over.set()
    thread.join()


def high(times: list[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(0.95 * len(times))] if times else float("nan")


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--megabytes", type=float, default=3.0)
    parser.add_argument("--alone", type=int, default=2, help="files scored one after the other (default 2)")
    parser.add_argument("--timeout", type=float, default=3600.0)
    options = parser.parse_args()
    files = texts(options.visitors + options.alone, int(options.megabytes * 1e6))
    with serve(ROOT / "app.py") as url:
        memory = Memory()
        one_after_the_other(url, [b"what is imported is imported"], options.timeout)
        with typing(url) as times:
            alone = one_after_the_other(url, files[options.visitors :], options.timeout)
            calm = list(times)
            memory.look()
            idle, memory.highest = memory.now, memory.now
            visitors, took = all_at_once(url, files[: options.visitors], options.timeout)
            busy = times[len(calm) :]
        done = [one for one in took if one is not None]
        time.sleep(1)
        stays = memory.now
        for visitor in visitors:
            visitor.leave()
        end = time.monotonic() + LEAVING
        while time.monotonic() < end and memory.now > 1.1 * idle:
            time.sleep(REST)
        found = {
            "one_after_the_other_s": round(statistics.mean(alone) * options.visitors, 1),
            "all_at_once_s": round(max(done), 1) if len(done) == len(took) else None,
            "done": len(done),
            "first_s": round(min(done, default=float("nan")), 1),
            "idle_mb": round(idle),
            "peak_mb": round(memory.highest),
            "when_done_mb": round(stays),
            "when_left_mb": round(memory.now),
            "left_for_s": round(LEAVING - (end - time.monotonic())),
            "key_p95_one_upload_ms": round(high(calm)),
            "key_median_ms": round(statistics.median(busy or [float("nan")])),
            "key_p95_ms": round(high(busy)),
            "keys": len(busy),
        }
    print(json.dumps(found))
    each = f"{options.visitors} files of {options.megabytes:g} MB"
    at_once = max(done) if len(done) == len(took) else math.inf
    alone_s = statistics.mean(alone) * options.visitors
    figure(f"{each} scored at once ÷ one after the other", at_once / alone_s, "×", at_most=1.3)
    figure(f"a keystroke meanwhile, 95 % of the keys ({each})", high(busy), "ms")


if __name__ == "__main__":
    main()
