"""A lecture hall that types: how long a key takes, and what a visitor costs, for 1 to 100 at a time.

    python tests/benchmarks/hall.py [--visitors 1 10 25 50 100] [--app app.py] [--json]
    python tests/benchmarks/hall.py --visitors 25 --uploads 3 --starts 2
    python tests/benchmarks/hall.py --visitors 25 --soak 600

One visitor is a real browser, the others (crowd.py) speak its protocol. All are on Explore and type four
characters a second whether answers come or not; every fifth leaves in between and comes back to its
text. The server has two processors (`--cores`), the visitors the others; each number of visitors has a
server of its own, or all have the one at `--url`. A key's time is, in the browser, from the key going down
to the first painted frame with its character; for the others to the answer that covers it. The ratios are
those to the first row: times of a busy machine say little, ratios and the server's CPU time for an answer
(`ms each`) more. `--uploads` visitors have files scored, one after the other, and `--starts` start toy runs.

After the last row all but the browser leave: the memory two minutes later (`--after`) should be within 10 %
of that before they came. `--soak` has one crowd after another come and go, and says by how much memory,
descriptors, threads and scratch files grow an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, Playwright, sync_playwright
from playwright.sync_api import TimeoutError as TooLong

from tests.benchmarks.crowd import BEFORE, LETTERS, SENTENCE
from tests.benchmarks.figures import figure
from tests.benchmarks.keystroke import App
from tests.benchmarks.usage import Server, Usage
from tests.browser.driving import ROOT, browser_path, launch, serve
from tests.ui.visitor import Visitor

GRACE = 15.0  # seconds that the last pictures may take
OFTEN = 5.0  # seconds between two looks, at the server in a soak, or whether a file has been scored
TYPIST = """() => {
  const deep = (root) => {
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) {
      const hit = element.shadowRoot.querySelector('[data-testid="rnnviz-live"]') ?? deep(element.shadowRoot);
      if (hit) return hit;
    }
    return document.querySelector('[data-testid="rnnviz-live"]');
  };
  const live = deep(document);
  const area = live.querySelector('textarea');
  const hall = (window.hall = { open: [], times: [], painted: 0 });
  addEventListener('keydown', (event) => {
    if (event.key.length === 1) hall.open.push([area.value.length + 1, performance.now()]);
  }, true);
  new MutationObserver(() => {
    const now = performance.now(), painted = Number(live.dataset.painted);
    hall.painted++;
    while (hall.open.length && hall.open[0][0] <= painted) hall.times.push(now - hall.open.shift()[1]);
  }).observe(live, { attributeFilter: ['data-painted'] });
}"""


@contextmanager
def serving(options: argparse.Namespace) -> Iterator[Server]:
    """The app on the first processors; this process goes to the others. Or what serves at `--url` already."""
    app, cores = options.app, options.cores
    if options.url:
        yield Server(options.url, Path(os.devnull), options.pid)
        return
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hall-")))
        environment = {**os.environ, "TMPDIR": str(scratch), "RNNVIZ_RUNS": str(scratch / "runs")}
        if len(own) > cores:
            os.sched_setaffinity(0, own[:cores])
            stack.callback(os.sched_setaffinity, 0, own)
        url = stack.enter_context(serve(app, folder=app.parent, environment=environment))
        if len(own) > cores:
            os.sched_setaffinity(0, own[cores:])
        yield Server(url, scratch)


class Crowd:
    """The visitors without a browser, as another process."""

    def __init__(self, url: str, options: argparse.Namespace, count: int) -> None:
        self.count = count
        if not count:
            return
        here = [sys.executable, str(Path(__file__).with_name("crowd.py")), url, "--model", options.model]
        numbers = ["--visitors", count, "--seconds", options.seconds, "--pace", options.pace]
        self._process = subprocess.Popen(
            [*here, *map(str, numbers)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._line()

    def _line(self) -> str:
        line = str(self._process.stdout.readline()) if self._process.stdout else ""
        if not line:
            raise SystemExit("the crowd has failed: see above")
        return line

    def _say(self, word: str) -> None:
        if self._process.stdin:
            self._process.stdin.write(word + "\n")
            self._process.stdin.flush()

    def go(self) -> None:
        if self.count:
            self._say("go")

    def seen(self) -> dict[str, Any]:
        return json.loads(self._line()) if self.count else {"times": [], "keys": 0, "answers": 0}

    def leave(self) -> None:
        if self.count:
            self._say("leave")
            self._process.wait(60)


class Typist:
    """The one with a real browser."""

    def __init__(self, playwright: Playwright, url: str, model: str) -> None:
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        self.browser = launch(playwright, path)
        self.page: Page = self.browser.new_page(viewport={"width": 1280, "height": 720})
        self.app = App(self.page, "live", f"{url}/?model={model}")
        self.app.fill((SENTENCE * 8)[:BEFORE])
        self.page.evaluate(TYPIST)

    def type(self, seconds: float, pace: float) -> tuple[list[float], dict[str, int]]:
        """Milliseconds of each key; how many keys and pictures there were, and keys that came into none."""
        begin, keys = time.monotonic(), 0
        while time.monotonic() < begin + seconds:
            letter = LETTERS[keys % len(LETTERS)]
            self.page.keyboard.press("Space" if letter == " " else letter)
            keys += 1
            self.page.wait_for_timeout(max(0.0, (begin + keys / pace - time.monotonic()) * 1000))
        with suppress(TooLong):
            self.page.wait_for_function("!window.hall.open.length", timeout=1000 * GRACE)
        lost, painted = self.page.evaluate("[window.hall.open.length, window.hall.painted]")
        return self.page.evaluate("window.hall.times"), {"keys": keys, "painted": painted, "lost": lost}


def beside(url: str, options: argparse.Namespace, over: threading.Event) -> list[threading.Thread]:
    """Visitors who upload and start, until `over`."""

    def upload(number: int) -> None:
        visitor, times = Visitor(url, "perplexity"), 0
        while not over.is_set():
            name, times = f"file{number}x{times}", times + 1
            visitor.upload(name, (f"{number} {times} " + SENTENCE * 3000).encode())
            while not over.is_set():
                with suppress(TimeoutError):
                    visitor.wait(lambda name=name: visitor.find("metric", f"Perplexity of {name}"), OFTEN)
                    break
        visitor.leave()

    def start(number: int) -> None:
        visitor = Visitor(url, "train")
        while not over.wait(0.5):
            button = visitor.find("button", "Start")
            if button is not None and not button.disabled:
                visitor.press(button.id)
                over.wait(10)
        visitor.leave()

    kinds: list[tuple[Callable[[int], None], int]] = [(upload, options.uploads), (start, options.starts)]
    threads = [threading.Thread(target=f, args=(n,)) for f, count in kinds for n in range(count)]
    for thread in threads:
        thread.start()
    return threads


def spread(times: list[float]) -> tuple[float | None, float | None]:
    """Median and 95th percentile."""
    if not times:
        return None, None
    return round(statistics.median(times), 1), round(sorted(times)[int(0.95 * len(times))], 1)


def measure(options: argparse.Namespace, count: int, last: bool) -> dict[str, Any]:
    """One row of the table."""
    with serving(options) as server, sync_playwright() as playwright:
        typist = Typist(playwright, server.url, options.model)
        server.settle()
        alone = server.usage()
        crowd = Crowd(server.url, options, count - 1)
        came = server.usage()
        server.settle()
        over = threading.Event()
        others = beside(server.url, options, over)
        before, began = server.usage(), time.monotonic()
        crowd.go()
        times, own = typist.type(options.seconds, options.pace)
        took, after = time.monotonic() - began, server.usage()
        seen = crowd.seen()
        over.set()
        for other in others:
            other.join()
        crowd.leave()
        answers = own["painted"] + seen["answers"]
        row = {
            "visitors": count,
            "browser_median_ms": spread(times)[0],
            "browser_p95_ms": spread(times)[1],
            "others_median_ms": spread(seen["times"])[0],
            "others_p95_ms": spread(seen["times"])[1],
            "keys": own["keys"] + seen["keys"],
            "lost": own["lost"] + seen.get("lost", 0),
            "answers_per_s": round(answers / took, 1),
            "cpu_share": round((after.cpu - before.cpu) / took, 2),
            "cpu_ms_per_answer": round(1000 * (after.cpu - before.cpu) / answers, 2),
            "cpu_ms_to_open": round(1000 * (came.cpu - alone.cpu) / (count - 1), 1) if count > 1 else None,
            "rss_mb": round(after.rss),
            "mb_a_visitor": round((after.rss - alone.rss) / (count - 1), 2) if count > 1 else None,
        }
        for name in ("messages", "bytes", "repeated", "returned", "forgotten", "wrong"):
            row[name] = seen.get(name, 0)
        if last and options.after and count > 1:
            row |= left(server, alone, options.after)
        typist.browser.close()
    return row


def left(server: Server, alone: Usage, after: float) -> dict[str, Any]:
    """The memory when all but the browser have left, and when it was back."""
    begin, back = time.monotonic(), None
    while (gone := time.monotonic() - begin) < after:
        rss = server.usage().rss
        if rss <= 1.1 * alone.rss and back is None:
            back = round(gone)
        time.sleep(1)
    return {"rss_before_mb": round(alone.rss), "rss_after_mb": round(rss), "back_after_s": back}


def soak(options: argparse.Namespace, count: int) -> dict[str, Any]:
    """One crowd after another, and by how much an hour what the server holds grows in the second half."""
    looks: list[tuple[float, Usage]] = []
    totals = {"keys": 0, "lost": 0, "wrong": 0, "forgotten": 0, "returned": 0}
    with serving(options) as server:
        over, begin = threading.Event(), time.monotonic()

        def look() -> None:
            while not over.wait(OFTEN):
                looks.append((time.monotonic() - begin, server.usage()))

        watching = threading.Thread(target=look)
        watching.start()
        others = beside(server.url, options, over)
        while time.monotonic() < begin + options.soak:
            crowd = Crowd(server.url, options, count)
            crowd.go()
            seen = crowd.seen()
            crowd.leave()
            totals = {name: number + seen[name] for name, number in totals.items()}
            print(f"  {time.monotonic() - begin:5.0f} s  {totals}  {looks[-1][1]}", flush=True)
        over.set()
        for thread in (watching, *others):
            thread.join()
    late = [(t / 3600, usage) for t, usage in looks if t > options.soak / 2]
    hours = np.array([t for t, _usage in late])
    slopes = {
        f"{name}_an_hour": round(float(np.polyfit(hours, [getattr(u, name) for _t, u in late], 1)[0]), 1)
        for name in Usage.NAMES
    }
    return {"visitors": count, **totals, **slopes, "rss_mb": round(looks[-1][1].rss)}


HEAD = (
    "    N   browser ms: median   95 %   ratios     others ms: median   95 %   answers/s  lost  "
    "CPU  ms each   RSS MB  MB each"
)


def line(row: dict[str, Any], first: dict[str, Any]) -> str:
    """A row of the table."""

    def number(name: str, width: int, digits: int = 0) -> str:
        return f"{row[name]:{width}.{digits}f}" if row[name] is not None else " " * (width - 1) + "–"

    ratios = [row[f"browser_{name}_ms"] / first[f"browser_{name}_ms"] for name in ("median", "p95")]
    return (
        f"{row['visitors']:5}{number('browser_median_ms', 21)}{number('browser_p95_ms', 7)}"
        f"  {ratios[0]:4.2f} {ratios[1]:4.2f}{number('others_median_ms', 23)}{number('others_p95_ms', 7)}"
        f"{number('answers_per_s', 12)}{row['lost']:6}  {100 * row['cpu_share']:3.0f} %"
        f"{number('cpu_ms_per_answer', 8, 1)}{number('rss_mb', 9)}{number('mb_a_visitor', 9, 2)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 10, 25, 50, 100])
    parser.add_argument(
        "--app", type=Path, default=ROOT / "app.py", help="app.py, here or of another checkout"
    )
    parser.add_argument("--url", default="", help="instead: where one is served already, as by processes.py")
    parser.add_argument("--pid", type=int, help="of the process that serves there, or started what does")
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--seconds", type=float, default=20.0, help="of typing (default 20)")
    parser.add_argument("--pace", type=float, default=4.0, help="characters a second (default 4)")
    parser.add_argument("--cores", type=int, default=2, help="the server's (default 2)")
    parser.add_argument("--uploads", type=int, default=0, help="visitors who have files scored")
    parser.add_argument("--starts", type=int, default=0, help="visitors who start toy runs")
    parser.add_argument("--after", type=float, default=125.0, help="seconds to wait when all have left")
    parser.add_argument("--soak", type=float, default=0.0, help="instead: seconds of coming and going")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    if bool(options.url) != bool(options.pid):
        parser.error("--url needs --pid, and the other way round")
    options.app = options.app.resolve()
    load = f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{options.app}, {os.cpu_count()} processors, {load}", flush=True)
    if options.soak:
        found: Any = soak(options, max(options.visitors))
        print(json.dumps(found))
        return
    print(HEAD, flush=True)
    rows: list[dict[str, Any]] = []
    for number, count in enumerate(options.visitors):
        rows.append(measure(options, count, number == len(options.visitors) - 1))
        print(line(rows[-1], rows[0]), flush=True)
    one = rows[-1]
    print("wrong answers {wrong}, came back {returned}, without their text {forgotten}".format(**one))
    if "rss_after_mb" in one:
        print("memory: {rss_before_mb} MB before, {rss_mb} with all".format(**one), end=", ")
        print("{rss_after_mb} when they had left; back after {back_after_s} s".format(**one))
    who = f"{one['visitors']} people type, four characters a second each"
    times = f"{one['browser_median_ms']:.0f} ms, 95 % within {one['browser_p95_ms']:.0f} ms"
    slower = one["browser_p95_ms"] / rows[0]["browser_p95_ms"]
    figure(f"a keystroke while {who} ÷ alone, 95 % of the keys", slower, "×", beside=times, front=True)
    figure(f"keys lost while {who}", one["lost"], at_most=0)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
