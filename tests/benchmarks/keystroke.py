"""From a key going down to the picture of its character on the screen, side by side with two other apps.

    python tests/benchmarks/keystroke.py --model timemachine-gru [--training]

    live    the Explore page
    echo    the floor: the smallest Streamlit app that gives a live text back, in this project's configuration
    plain   st.text_input and three st.plotly_chart in Streamlit's default configuration

One key at a time: pressed when the one before has been painted and the page
has rested. Rounds go around the apps, so that a busy machine is busy for all
of them. Times are taken inside the page: from the keydown event to the first
moment after the browser has painted a frame with the new character in it (all
three charts, for the plain build). What counts are the ratios. A screen of 60 Hz
shows a frame every 16.7 ms: an answer that just misses one is shown so much
later. With --training the live page is also timed while a run trains on the
same machine, in turns with the machine at rest.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from rnnviz.runs import api as runs
from rnnviz.runs.folder import Description
from rnnviz.training.presets import preset
from tests.benchmarks.figures import figure
from tests.browser.driving import ROOT, browser_path, launch, serve

APPS = Path(__file__).with_name("apps")
REST = 60  # milliseconds between a painted key and the next
SENTENCE = "It was a long while before anyone spoke, and then the traveller laughed and told them of it. "
KEYS = "the time machine stood still and nobody moved in the dark and silent room again "

# Watches the page: `painted(length)` is called after the frame that shows a text of that length.
WATCH = """
(kind) => {
  const deep = (root, found) => {
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) {
      const hit = element.shadowRoot.querySelector(found) ?? deep(element.shadowRoot, found);
      if (hit) return hit;
    }
    return null;
  };
  const live = kind === 'live' ? deep(document, '[data-testid="rnnviz-live"]') : null;
  const length = {
    live: () => Number(live.dataset.painted),
    echo: () => (document.querySelector('[data-testid="stText"]')?.textContent ?? '').length - 1,
    plain: () => {
      const titles = [...document.querySelectorAll('.gtitle')].map((t) => Number(t.textContent.slice(5)));
      return titles.length === 3 && titles.every((n) => n === titles[0]) ? titles[0] : -1;
    },
  }[kind];
  const state = (window.bench = { start: 0, want: -1, took: null, seen: length() });
  const pressed = (event) => { if (event.key.length === 1) state.start = performance.now(); };
  addEventListener('keydown', pressed, true);
  const channel = new MessageChannel();
  const done = () => {
    const now = performance.now();
    state.seen = length();
    if (state.want >= 0 && state.seen === state.want) { state.took = now - state.start; state.want = -1; }
  };
  channel.port1.onmessage = done;
  // The live view sets its attribute after the frame; the others change the document before it.
  const changed = kind === 'live' ? done : () => {
    if (length() === state.want) requestAnimationFrame(() => channel.port2.postMessage(0));
  };
  new MutationObserver(changed).observe(live ?? document.body,
    { subtree: !live, childList: !live, characterData: !live, attributes: true });
}
"""


class App:
    """One app in its own page; `kind` is live, echo or plain."""

    def __init__(self, page: Page, kind: str, address: str) -> None:
        self.page, self.kind = page, kind
        page.goto(address)
        self.box = page.locator(".rv-text" if kind == "live" else "input[type=text]").first
        self.box.wait_for(timeout=60_000)
        if kind == "live":
            page.locator("[data-testid='rnnviz-live'][data-painted]").wait_for(timeout=60_000)
        page.evaluate(WATCH, kind)

    def fill(self, text: str) -> None:
        """Put a text there as if pasted, and wait for its picture."""
        self.page.evaluate("n => { window.bench.want = n }", len(text))
        self.box.fill(text)
        self.page.wait_for_function("n => window.bench.seen === n", arg=len(text), timeout=60_000)
        self.length = len(text)
        self.box.press("End")

    def key(self, character: str) -> float:
        """Milliseconds from the key to the paint."""
        self.length += 1
        self.page.evaluate("n => { window.bench.took = null; window.bench.want = n }", self.length)
        self.page.keyboard.press("Space" if character == " " else character)
        self.page.wait_for_function("() => window.bench.took !== null", timeout=30_000)
        took = float(self.page.evaluate("() => window.bench.took"))
        self.page.wait_for_timeout(REST)
        return took

    def hold(self, keys: int, per_second: float) -> tuple[bool, int]:
        """Keys at a steady rate: whether the last picture stood 300 ms later, and how far behind it was."""
        begin = time.monotonic()
        for i in range(keys):
            self.page.keyboard.press("a")
            self.page.wait_for_timeout(max(0.0, (begin + (i + 1) / per_second - time.monotonic()) * 1000))
        self.length += keys
        self.page.wait_for_timeout(300)
        painted = int(self.page.evaluate("() => window.bench.seen"))
        return painted == self.length, self.length - painted


@contextmanager
def training() -> Iterator[None]:
    """The five-minute preset's run on The Time Machine, in the middle of its work."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RNNVIZ_RUNS"] = folder
        config, minutes = preset("five-minutes", 170_000, os.cpu_count() or 1)
        id = runs.start(Description("beside", config, corpus="timemachine", minutes=minutes))
        while (runs.find(id).last or {"step": 0})["step"] < 50:
            time.sleep(0.1)
        yield
        runs.stop(id)
        while runs.find(id).alive:
            time.sleep(0.1)


def beside_training(app: App, keys: int, rounds: int) -> dict[str, list[float]]:
    """Times of keys after 500 characters, at rest and while a run trains, in turns."""
    times: dict[str, list[float]] = {"at rest": [], "training": []}
    for _ in range(rounds):
        for name, state in (("at rest", nullcontext()), ("training", training())):
            with state:
                times[name] += measure({"live": app}, ["live"], 500, keys // rounds, 1)["live"]
    return times


@contextmanager
def opened(model: str) -> Iterator[dict[str, App]]:
    """The three apps, each served and opened."""
    environment = {
        **os.environ,
        "RNNVIZ_BENCHMARK_MODEL": model,
        # The one setting that the plain build doesn't leave alone: a module reloaded in between would end it.
        "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
    }
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        browser = launch(playwright, path)
        stack.callback(browser.close)
        elsewhere = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sources = {
            "live": (ROOT / "app.py", ROOT, f"/?model={model}"),
            "echo": (APPS / "echo.py", ROOT, ""),
            "plain": (APPS / "plain.py", elsewhere, ""),
        }
        apps = {}
        for kind, (script, folder, query) in sources.items():
            address = stack.enter_context(serve(script, folder=folder, environment=environment))
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            apps[kind] = App(page, kind, address + query)
        yield apps


def measure(
    apps: dict[str, App], kinds: list[str], length: int, keys: int, rounds: int
) -> dict[str, list[float]]:
    """Times of `keys` keys after `length` characters, the apps taking turns `rounds` times."""
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds):
        for kind in kinds:
            apps[kind].page.bring_to_front()
            apps[kind].fill((SENTENCE * (length // len(SENTENCE) + 1))[:length])
            for i in range(2 + keys // rounds):
                took = apps[kind].key(KEYS[(number + i) % len(KEYS)])
                if i >= 2:  # the first ones pay for the paste
                    times[kind].append(took)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--keys", type=int, default=60, help="keys per app and length (default 60)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--training", action="store_true", help="measure beside a run, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with opened(options.model) as apps:
        for length, kinds in ((50, ["live"]), (500, ["live", "echo", "plain"]), (5000, ["live"])):
            for kind, times in measure(apps, kinds, length, options.keys, options.rounds).items():
                ordered = sorted(times)
                middle, high = statistics.median(ordered), ordered[int(0.95 * len(ordered))]
                found[f"{kind} {length}"] = {"median_ms": round(middle, 1), "p95_ms": round(high, 1)}
                print(f"{kind:6} {length:5,} characters  median {middle:6.1f} ms   95 % {high:6.1f} ms")
        apps["live"].page.bring_to_front()
        apps["live"].fill(SENTENCE[:50])
        caught, behind = apps["live"].hold(90, 30)
        found["hold"] = {"caught_up": caught, "behind": behind}
        if options.training:
            beside = beside_training(apps["live"], options.keys, options.rounds)
            for name, times in beside.items():
                print(f"live     500 characters, {name:8}  median {statistics.median(times):6.1f} ms")
            slower = statistics.median(beside["training"]) / statistics.median(beside["at rest"])
            print(f"live, while training / at rest: {slower:.2f} (at most 1.5)")
            figure("a keystroke while a run trains on the same machine ÷ at rest", slower, "×", at_most=1.5)
        stood = "the last picture stood" if caught else f"{behind} characters behind"
        print(f"held at 30 keys a second: {stood} after 300 ms")

    def ratio(one: str, other: str) -> float:
        return found[one]["median_ms"] / found[other]["median_ms"]

    echo, plain, longer = (
        ratio("live 500", "echo 500"),
        ratio("plain 500", "live 500"),
        ratio("live 5000", "live 50"),
    )
    print(f"live / echo, 500 characters: {echo:.2f} (at most 1.5)")
    print(f"plain / live, 500 characters: {plain:.2f} (at least 3)")
    print(f"live, 5,000 / 50 characters: {longer:.2f} (at most 1.1)")
    live, floor = found["live 500"], found["echo 500"]
    times = f"{live['median_ms']:.0f} ms, 95 % within {live['p95_ms']:.0f} ms; {floor['median_ms']:.0f} ms"
    key = "a keystroke, from key to painted picture, 500 characters typed"
    figure(f"{key} ÷ an app that only echoes the text", echo, "×", at_most=1.5, beside=times, front=True)
    figure(f"three `st.plotly_chart` ÷ {key}", plain, "×", at_least=3, front=True)
    figure("a keystroke after 5,000 characters ÷ after 50", longer, "×", at_most=1.1, front=True)
    figure("a keystroke, 95 % of the keys ÷ the median", live["p95_ms"] / live["median_ms"], "×", at_most=1.4)
    figure("30 keys a second for three seconds: characters missing 300 ms later", behind, at_most=0)
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
