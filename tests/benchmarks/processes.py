"""Several processes of the app behind nginx, by the files in deploy/: how soon a visitor goes on whose
process is killed.

    python tests/benchmarks/processes.py --processes 3 --tries 5
    python tests/benchmarks/processes.py --processes 3 --serve   # prints what hall.py needs

A reader in a real browser is on Explore; the process that has the session gets SIGKILL, and is started again
after two seconds. Timed is how long it takes until the picture shows all that was typed, before and after.

    typing   the process is killed in the middle of a word; from the signal on
    resting  while nothing happens after a text was typed; the next key follows at once; from the signal on
    reading  the reader has typed nothing yet, and does so four seconds later; from that key on

Afterwards the reader must be where the session is, though the process from before is back.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

from tests.benchmarks.figures import figure
from tests.browser.driving import browser_path, launch
from tests.deploy.shipped import serve

WRITTEN = "the machine that was written while the server lived"
MORE = " and went on"
STARTS_WITHIN = 120.0
KINDS = ("typing", "resting", "reading")
AWAY = 4_000  # milliseconds after which a reader who has typed nothing yet does
LIMIT = 5.0
"""Seconds within which a visitor is back."""


@dataclass
class Hall:
    """nginx and the processes, by their ports."""

    address: str
    key: str
    nginx: Any
    processes: dict[int, Any]

    def look(self) -> None:
        """Start again what died."""
        for program in self.processes.values():
            program.look()


@contextmanager
def hall(count: int) -> Iterator[Hall]:
    """`count` processes behind nginx, all on free ports, with a folder of runs of their own."""
    with tempfile.TemporaryDirectory(prefix="rnnviz-hall-") as place:
        folder = Path(place)
        folder.chmod(0o711)
        os.environ["RNNVIZ_RUNS"] = str(folder / "runs")
        key = serve.environment(count)
        public, packer, *ports = serve.free(2 + count)
        listen = f"127.0.0.1:{public}"
        main = serve.write(folder, serve.configuration(ports, address=listen, packer=packer, folder=folder))
        nginx = serve.Program([serve.nginx(), "-e", "stderr", "-c", str(main)])
        processes = {port: serve.Program(serve.app(port, [f"http://{listen}"])) for port in ports}
        try:
            for port in ports:
                answering(port)
            yield Hall(f"http://{listen}", key, nginx, processes)
        finally:
            for program in (nginx, *processes.values()):
                program.end()


def answering(port: int) -> None:
    """Wait until a process answers."""
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"the process at port {port} did not answer within {STARTS_WITHIN:.0f} s")


def seat(page: Page) -> int:
    """The port of the process that has the visitor's session."""
    (found,) = [c["value"] for c in page.context.cookies() if c["name"] == "rnnviz_seat"]
    return int(found.partition(".")[0])


def one(hall: Hall, page: Page, kind: str) -> float:
    """Seconds from the death of a visitor's process until the picture shows all that was typed."""
    page.goto(f"{hall.address}/?model=timemachine-gru")
    live, area = page.get_by_test_id("rnnviz-live"), page.get_by_role("textbox", name="Your text")
    expect(live).to_have_attribute("data-painted", re.compile("[1-9]"))
    text = area.input_value()
    if kind != "reading":
        text = WRITTEN
        area.fill(WRITTEN)
        expect(live).to_have_attribute("data-painted", str(len(WRITTEN)))
    before = seat(page)
    area.press("End")
    if kind == "typing":
        area.press_sequentially(MORE, delay=20)  # not in the address yet, perhaps not answered
        text += MORE
    os.kill(hall.processes[before].process.pid, signal.SIGKILL)
    if kind == "reading":
        page.wait_for_timeout(AWAY)
    began = time.monotonic()
    area.press("!")
    text += "!"
    expect(live).to_have_attribute("data-painted", str(len(text)))
    took = time.monotonic() - began
    assert area.input_value() == text, area.input_value()
    after = seat(page)
    assert after != before
    while hall.processes[before].process.poll() is not None:
        hall.look()
        time.sleep(0.05)
    answering(before)
    area.press("?")
    expect(live).to_have_attribute("data-painted", str(len(text) + 1))
    assert area.input_value() == text + "?"
    assert seat(page) == after, "the visitor was sent back to a process that knows nothing of the session"
    return took


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--tries", type=int, default=5, help="of each kind (default 5)")
    parser.add_argument("--serve", action="store_true", help="serve until Ctrl-C; kills nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    expect.set_options(timeout=60_000)
    with hall(options.processes) as found:
        print(f"{found.address} (the lecturer: {found.address}/?key={found.key})", flush=True)
        print(f"hall.py --url {found.address} --pid {os.getpid()}", flush=True)
        if options.serve:
            while True:
                found.look()
                time.sleep(0.2)
        with sync_playwright() as playwright:
            path = browser_path(playwright)
            if path is None:
                raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
            browser = launch(playwright, path)
            times: dict[str, list[float]] = {kind: [] for kind in KINDS}
            for n in range(len(KINDS) * options.tries):
                kind = KINDS[n % len(KINDS)]
                context = browser.new_context(locale="en-GB")
                times[kind].append(one(found, context.new_page(), kind))
                context.close()
                print(f"killed while {kind:8}: back after {times[kind][-1]:.2f} s, with the text", flush=True)
            browser.close()
    for kind, took in times.items():
        print(
            f"{kind:8}  median {statistics.median(took):.2f} s   longest {max(took):.2f} s"
            f" (at most {LIMIT:g})"
        )
        what = f"a visitor goes on whose process was killed, {kind}: the longest of {len(took)}"
        figure(what, max(took), "s", at_most=LIMIT, beside=f"median {statistics.median(took):.2f} s")
    if options.json:
        print(json.dumps(times))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt):
        main()
