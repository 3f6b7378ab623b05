"""Many visitors who upload a file at the same moment, and one who types meanwhile.

    OMP_NUM_THREADS=1 python tests/benchmarks/uploads.py --visitors 20 --megabytes 3

Each file has other words. First one visitor uploads a few, one after the other: all of them together should
take at most 1.3 times as long. Memory is that of the app's processes: at rest, at its highest, when the
last file is done and the visitors are still there, and when they have left. The typist is on Explore, without
a browser (crowd.py). The app runs as anyone starts it, so the number of threads is its own choice unless the
environment says otherwise; on a machine with other work, times are noisy: compare ratios.
"""

import asyncio
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil
from crowd import Tab, Tally
from sitting import figure, options_of

from rnnviz.text import corpora
from tests.browser.driving import ROOT, serve
from tests.ui.visitor import Visitor

REST = 0.1  # seconds between two looks at the memory
PACE = 4.0  # keys a second


class Memory(threading.Thread):
    """The resident memory of the app, its children among it, in MB: now and at its highest."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        here = psutil.Process().children()
        self.app = next(p for p in here if "streamlit" in " ".join(p.cmdline()))
        self.now = self.highest = 0.0
        self.look()
        self.start()

    def look(self) -> None:
        total = 0
        for process in [self.app, *self.app.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
        self.now = total / 1e6
        self.highest = max(self.highest, self.now)

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
def typing(url: str) -> Iterator[Tally]:
    """What a reader on Explore sees who types as long as this is open."""
    tally, over, ready = Tally(), threading.Event(), threading.Event()

    async def type_on() -> None:
        tab = Tab(url, "timemachine-gru", 0, tally)
        await tab.open()
        ready.set()
        await tab.type(over.is_set, PACE)
        await tab.leave()

    thread = threading.Thread(target=asyncio.run, args=(type_on(),))
    thread.start()
    ready.wait()
    yield tally
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
    parser.add_argument("--leaving", type=float, default=180.0, help="seconds that memory has to be freed")
    parser.add_argument("--timeout", type=float, default=3600.0)
    options = parser.parse_args()
    files = texts(options.visitors + options.alone, int(options.megabytes * 1e6))
    with serve(ROOT / "app.py") as url:
        memory = Memory()
        one_after_the_other(url, [b"what is imported is imported"], options.timeout)
        with typing(url) as tally:
            alone = one_after_the_other(url, files[options.visitors :], options.timeout)
            calm = len(tally.times)
            memory.look()
            idle, memory.highest = memory.now, memory.now
            visitors, took = all_at_once(url, files[: options.visitors], options.timeout)
        time.sleep(1)
        stays = memory.now
        for visitor in visitors:
            visitor.leave()
        end = time.monotonic() + options.leaving
        while time.monotonic() < end and memory.now > 1.1 * idle:
            time.sleep(REST)
        said = f"{idle:,.0f} MB at rest, {memory.highest:,.0f} at most, {stays:,.0f} when done"
        print(f"{said}, {memory.now:,.0f} when all had left")
    done = [one for one in took if one is not None]
    each = f"{options.visitors} files of {options.megabytes:g} MB"
    figure(f"files without an answer, of {each}", len(took) - len(done), most=0)
    at_once = max(done, default=float("nan")) / (statistics.mean(alone) * options.visitors)
    figure(f"{each} scored at once ÷ one after the other", at_once, "×", most=1.3)
    figure(
        f"a keystroke, key to answer, while one is scored, 95 % of the keys ({each})",
        high(tally.times[:calm]),
        "ms",
    )
    figure(
        f"a keystroke, key to answer, while all are, 95 % of the keys ({each})",
        high(tally.times[calm:]),
        "ms",
    )


if __name__ == "__main__":
    main()
