"""A hall's phones fetch a model's page at the same time: how long they wait, and what it costs this process.

    python tests/benchmarks/handout.py [--model timemachine-gru] [--phones 100]

The phones are threads of another process, each with a connection of its own. A thread of this process, which
does a little every 5 ms, stands for what a typist's answer waits for.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import statistics
import threading
import time
from contextlib import closing
from multiprocessing.queues import Queue

import psutil

from rnnviz.networks import checkpoint
from rnnviz.ui.room.listener import Listener
from rnnviz.ui.standalone import handout, serving

CODE = "abcde"


def fetch(port: int, phones: int, results: Queue[tuple[float, list[float], int]]) -> None:
    """Fetch the page with so many phones: seconds in all, of each, and the bytes of one answer."""
    seconds: list[float] = []
    sizes: list[int] = []

    def one() -> None:
        begun = time.perf_counter()
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            connection.request("GET", f"/{CODE}", headers={"Accept-Encoding": "gzip"})
            sizes.append(len(connection.getresponse().read()))
        seconds.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=one) for _ in range(phones)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((time.perf_counter() - begun, sorted(seconds), sizes[0]))


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--phones", type=int, default=100)
    args = parser.parse_args()
    begun = time.perf_counter()
    page = serving.made(checkpoint.read_info(checkpoint.find(args.model)), "en")
    print(f"built once, in {time.perf_counter() - begun:.1f} s")
    listener = Listener(handout.Handout(page, CODE).app)
    late: list[float] = []
    done = threading.Event()

    def beside() -> None:
        while not done.is_set():
            begun = time.perf_counter()
            time.sleep(0.005)
            late.append(1000 * (time.perf_counter() - begun) - 5)

    threading.Thread(target=beside, daemon=True).start()
    time.sleep(1)
    alone = sorted(late)
    context = multiprocessing.get_context("spawn")
    results: Queue[tuple[float, list[float], int]] = context.Queue()
    process = context.Process(target=fetch, args=(listener.port, args.phones, results))
    this = psutil.Process()
    memory, cpu = this.memory_info().rss, time.process_time()
    process.start()
    late.clear()
    total, seconds, size = results.get()
    process.join()
    print(
        f"{args.phones} phones, {size:,} bytes each: {total:.2f} s; "
        f"one of them {statistics.median(seconds):.2f} s, the last {seconds[-1]:.2f} s"
    )
    print(
        f"this process: {time.process_time() - cpu:.2f} s of CPU, "
        f"{(this.memory_info().rss - memory) / 2**20:+.0f} MB"
    )
    for name, times in (("before", alone), ("meanwhile", sorted(late))):
        print(f"late {name}: {statistics.median(times):.1f} ms, 95 % {times[int(0.95 * len(times))]:.1f} ms")
    done.set()
    cpu = time.process_time()
    time.sleep(2)
    print(f"after it: {1000 * (time.process_time() - cpu):.0f} ms of CPU in 2 s")
    listener.close()


if __name__ == "__main__":
    main()
