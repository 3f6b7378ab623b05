"""How long the page that needs no server takes for a keystroke: from the key to the frame that shows it.

    python tests/benchmarks/page.py [--model timemachine-gru] [--characters 500] [--slower 1 6]

The model's page is opened from a file; then single characters are typed behind a text. `--slower 6` has
Chromium run six times as slow, as a phone does.

    ms       median, 95 % and slowest, with the wait for the screen's next frame: up to 16.7 by itself
    frames   how many keys were painted by the first frame after them
    CPU      milliseconds of the page's thread for a key, of which JavaScript: steady on a busy machine, too
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from rnnviz.networks import checkpoint
from rnnviz.ui.standalone import build
from tests.benchmarks.figures import figure
from tests.benchmarks.keystroke import SENTENCE
from tests.browser.driving import browser_path, launch

KEYS = 60
# From the key's event to the first moment after the browser has painted the text with it.
TYPE = """(letter) => new Promise((done) => {
  const root = document.querySelector('main').shadowRoot.querySelector('.rnnviz');
  const area = root.querySelector('textarea');
  const wanted = String(area.value.length + 1);
  const observer = new MutationObserver(() => {
    if (root.dataset.painted !== wanted) return;
    observer.disconnect();
    done([performance.now() - begun, frames]);
  });
  let frames = 0;
  const count = () => {
    frames++;
    if (root.dataset.painted !== wanted) requestAnimationFrame(count);
  };
  observer.observe(root, { attributeFilter: ['data-painted'] });
  const begun = performance.now();
  area.setRangeText(letter, area.value.length, area.value.length, 'end');
  area.dispatchEvent(new InputEvent('input', { bubbles: true, data: letter, inputType: 'insertText' }));
  requestAnimationFrame(count);
})"""


def measure(page: Page, characters: int) -> list[tuple[float, int]]:
    """Milliseconds and frames of each of KEYS keystrokes behind so many characters."""
    area = page.get_by_role("textbox").first
    area.fill((SENTENCE * (characters // len(SENTENCE) + 1))[:characters])
    page.wait_for_selector(f"[data-painted='{characters}']")
    return [page.evaluate(TYPE, "the time "[n % 9]) for n in range(KEYS)]


def busy(session: CDPSession) -> tuple[float, float]:
    """Milliseconds that the page's thread has worked, and has spent in JavaScript."""
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * found["TaskDuration"], 1000 * found["ScriptDuration"]


def main() -> None:
    """Print a line for each length and speed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--characters", type=int, nargs="+", default=[50, 500, 5000])
    parser.add_argument("--slower", type=int, nargs="+", default=[1, 6])
    args = parser.parse_args()
    info = checkpoint.read_info(checkpoint.find(args.model))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        file.write_text(build.page(info, build.yardstick(info)), "utf-8")
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        page = launch(playwright, path).new_page(viewport={"width": 1280, "height": 720})
        page.goto(file.as_uri())
        page.wait_for_selector(".rv-plot svg", state="attached")  # the drawing library has been read, too
        print(
            f"{info.name}: {file.stat().st_size:,} bytes, of which the weights {info.bytes:,} before packing"
        )
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        for slower in args.slower:
            session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            for characters in args.characters:
                before = busy(session)
                found = measure(page, characters)
                task, script = ((now - then) / KEYS for now, then in zip(busy(session), before, strict=True))
                times = sorted(took for took, _frames in found)
                median, late = statistics.median(times), times[int(0.95 * len(times))]
                print(
                    f"{slower} × slower, {characters:>6,} characters: "
                    f"{median:6.1f} {late:6.1f} {times[-1]:6.1f} ms   "
                    f"{sum(frames == 1 for _took, frames in found)} of {KEYS} by the first frame   "
                    f"CPU {task:.1f} ms, JavaScript {script:.1f} ms"
                )
                processor = "" if slower == 1 else f", the processor slowed {slower} times"
                figure(
                    f"a keystroke in the page that needs no server, {characters:,} characters{processor}",
                    median, "ms", beside=f"95 % within {late:.0f} ms", front=characters == 500,
                )  # fmt: skip


if __name__ == "__main__":
    main()
