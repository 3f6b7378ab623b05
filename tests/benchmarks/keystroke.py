"""A keystroke: its picture, and in the page without a server.

    python tests/benchmarks/keystroke.py [picture] [page] [--model timemachine-gru]

picture  in a browser, from the key to the first moment after it has painted a frame with the new character.
         One key at a time: pressed when the one before has been painted and the page has rested. Rounds go
         around Explore and the floor, the smallest Streamlit app that gives a live text back (echo.py). A
         screen of 60 Hz shows a frame every 16.7 ms: an answer that just misses one is shown so much later.
page     the model's page without a server, opened from a file, also by a Chromium that runs six times as slow

Times of a busy machine say little; what counts are the ratios, which are of things that took turns.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from playwright.sync_api import Page
from sitting import browser, figure, options_of

from tests.support.serving import ROOT, serve

FOLDER = Path(__file__).parent
REST = 60  # milliseconds between a painted key and the next
SENTENCE = "It was a long while before anyone spoke, and then the traveller laughed and told them of it. "
LETTERS = "the time machine stood still and nobody moved in the dark and silent room again "

# Watches the page: `bench.took` is the time of the last key once a text of the wanted length is painted.
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
  const length = () => live ? Number(live.dataset.painted)
    : (document.querySelector('[data-testid="stText"]')?.textContent ?? '').length - 1;
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
  // The live view sets its attribute after the frame; the other changes the document before it.
  const changed = live ? done : () => {
    if (length() === state.want) requestAnimationFrame(() => channel.port2.postMessage(0));
  };
  new MutationObserver(changed).observe(live ?? document.body,
    { subtree: !live, childList: !live, characterData: !live, attributes: true });
}
"""

# In the page without a server: a letter behind the text; milliseconds until the browser has painted it.
TYPE = """(letter) => new Promise((done) => {
  const root = document.querySelector('main').shadowRoot.querySelector('.rnnviz');
  const area = root.querySelector('textarea');
  const wanted = String(area.value.length + 1);
  const observer = new MutationObserver(() => {
    if (root.dataset.painted !== wanted) return;
    observer.disconnect();
    done(performance.now() - begun);
  });
  observer.observe(root, { attributeFilter: ['data-painted'] });
  const begun = performance.now();
  area.setRangeText(letter, area.value.length, area.value.length, 'end');
  area.dispatchEvent(new InputEvent('input', { bubbles: true, data: letter, inputType: 'insertText' }));
})"""


class App:
    """An app in its own page; `kind` is live or echo."""

    def __init__(self, page: Page, kind: str, address: str) -> None:
        self.page = page
        page.goto(address)
        page.wait_for_selector("#first-picture", state="detached")
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


def text(characters: int) -> str:
    return (SENTENCE * (characters // len(SENTENCE) + 1))[:characters]


def high(times: list[float]) -> float:
    """The 95th percentile."""
    return sorted(times)[int(0.95 * len(times))]


def print_times(title: str, times: list[float]) -> None:
    print(f"{title:44} median {median(times):6.1f} ms   95 % {high(times):6.1f} ms", flush=True)


def picture(options: argparse.Namespace) -> None:
    # A module reloaded in between would end the plain app.
    environment = {**os.environ, "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    times: dict[tuple[str, int], list[float]] = {}
    with ExitStack() as stack:
        first = stack.enter_context(browser())
        second = first.context.browser.new_page(viewport=first.viewport_size)  # type: ignore[union-attr]
        apps = {}
        for page, kind, script in ((first, "live", ROOT / "app.py"), (second, "echo", FOLDER / "echo.py")):
            url = stack.enter_context(serve(script, environment=environment))
            apps[kind] = App(page, kind, f"{url}/?model={options.model}")
        for number in range(options.rounds):
            for kind, length in (("live", 50), ("live", 500), ("echo", 500), ("live", 5000)):
                app = apps[kind]
                app.page.bring_to_front()
                app.fill(text(length))
                keys = [app.key(LETTERS[(number + i) % len(LETTERS)]) for i in range(2 + options.keys)]
                times.setdefault((kind, length), []).extend(keys[2:])  # the first ones pay for the paste
    for (kind, length), key_times in times.items():
        print_times(f"picture: {kind}, {length:,} characters", key_times)
    live, echo = times["live", 500], times["echo", 500]
    key = "a keystroke, from key to painted picture, 500 characters typed"
    figure(key, median(live), "ms")
    figure(f"{key} ÷ an app that only echoes the text", median(live) / median(echo), "×", most=1.5)
    longer = median(times["live", 5000]) / median(times["live", 50])
    figure("a keystroke after 5,000 characters ÷ after 50", longer, "×", most=1.1)


def page(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, browser() as opened:
        file = Path(folder, "page.html")
        command = [sys.executable, "-m", "rnnviz", "page", "--model", options.model, "--output", str(file)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        opened.goto(file.as_uri())
        opened.wait_for_selector("[data-painted]", state="attached")
        session = opened.context.new_cdp_session(opened)
        for slower in (1, 6):
            session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            lengths = (50, 500, 5000) if slower == 1 else (50, 500)  # slowed, 5,000 take a minute
            for characters in lengths:
                opened.get_by_role("textbox").first.fill(text(characters))
                opened.wait_for_selector(f"[data-painted='{characters}']")
                keys = options.rounds * options.keys
                times = [float(opened.evaluate(TYPE, LETTERS[n % len(LETTERS)])) for n in range(keys)]
                title = f"{characters:,} characters" + (f", {slower} times as slow" if slower > 1 else "")
                print_times(f"page: {title}", times)
                figure(f"a keystroke in the page that needs no server, {title}", median(times), "ms")


PARTS = {"picture": picture, "page": page}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--keys", type=int, default=20, help="of each round (default 20)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    began = time.monotonic()
    for part in options.parts or PARTS:
        PARTS[part](options)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
