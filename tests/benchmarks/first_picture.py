"""How long a visitor waits for the first picture, beside the text field of a bare Streamlit app (echo.py).

    python tests/benchmarks/first_picture.py [--starts N] [--busy] [--page learn]

Both apps are started in turns, and visited twice with an empty cache: after the start, and once more. From
the navigation to the picture, and to the app's own view in its place; and the browser's own entries: the
first and the largest contents (FCP, LCP), and shifts (CLS). `--busy`: other programs keep all cores busy.
"""

import os
import subprocess
import sys
from collections import defaultdict
from statistics import median

from playwright.sync_api import Page
from sitting import browser, figure, options_of, ratio

from tests.support.serving import ROOT, serve

APPS = {"rnnviz": ROOT / "app.py", "bare": ROOT / "tests/benchmarks/echo.py"}

# Milliseconds since the navigation. The layer of the first picture goes when the app's view is painted.
WATCH = """
window.took = { cls: 0 };
const note = (type, act) =>
  new PerformanceObserver((list) => list.getEntries().forEach(act)).observe({ type, buffered: true });
note("paint", ({ name, startTime }) => { if (name === "first-contentful-paint") took.fcp = startTime; });
note("largest-contentful-paint", ({ startTime }) => { took.lcp = startTime; });
note("layout-shift", ({ value, hadRecentInput }) => { if (!hadRecentInput) took.cls += value; });
let layer = null;
const timer = setInterval(() => {
  layer ??= document.getElementById("first-picture");
  const painted = layer?.querySelector("main")?.shadowRoot?.querySelector("[data-painted], [data-drawn]");
  if (painted ?? document.querySelector("input[type=text]")) took.picture ??= performance.now();
  if (!layer || layer.isConnected || !took.picture) return;
  took.view = performance.now();
  clearInterval(timer);
}, 10);
"""


def visit(page: Page, url: str, wanted: str) -> dict[str, float]:
    """What a first visit took, in milliseconds, with the requests and their megabytes."""
    assert page.context.browser
    context = page.context.browser.new_context(viewport={"width": 1280, "height": 720}, locale="en-GB")
    opened = context.new_page()
    opened.add_init_script(WATCH)
    sizes: list[float] = []
    session = context.new_cdp_session(opened)
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    session.send("Network.enable")
    opened.goto(url, wait_until="commit")
    opened.wait_for_function(f"() => took.{wanted}", timeout=600_000)
    opened.wait_for_timeout(500)  # what is painted and shifted last
    took: dict[str, float] = opened.evaluate("took")
    context.close()
    fetched = [size for size in sizes if size > 0]  # not what stands in the page itself
    return took | {"requests": len(fetched), "MB": sum(fetched) / 1e6}


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--starts", type=int, default=5, help="of each app (default 5)")
    parser.add_argument("--busy", action="store_true", help="with all cores kept busy")
    parser.add_argument("--page", default="", help="of ours, by its address: Explore, or learn")
    options = parser.parse_args()
    environment = {**os.environ, "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    cores = os.cpu_count() or 1
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy * cores)
    ]
    visits = defaultdict[tuple[str, str], list[dict[str, float]]](list)
    try:
        with browser() as page:
            for _ in range(options.starts):
                for name, script in APPS.items():
                    with serve(script, environment=environment) as url:
                        for which in ("first", "later"):
                            wanted, path = ("view", options.page) if name == "rnnviz" else ("picture", "")
                            visits[name, which].append(visit(page, f"{url}/{path}", wanted))
    finally:
        for other in others:
            other.kill()
    busy = ", all cores busy" if options.busy else ""
    for which in ("first", "later"):
        ours, bare = visits["rnnviz", which], visits["bare", which]
        for what, most in (("picture", 0.4 if options.busy else 0.3), ("view", 1.15)):
            pairs = [(b["picture"], o[what]) for b, o in zip(bare, ours, strict=True)]
            mean, low, high = ratio(pairs)
            title = f"{which} visit{busy}: the {what} ÷ a bare app's text field"
            times = f"{median(o for _, o in pairs):,.0f} ms; {median(b for b, _ in pairs):,.0f} ms"
            print(f"{title:60} {mean:.2f} × [{low:.2f}, {high:.2f}]   {times}", flush=True)
            figure(title, mean, "×", most=most)
        for what, unit in (("fcp", "ms"), ("lcp", "ms"), ("cls", "")):
            most = 0.02 if what == "cls" else None
            figure(f"{which} visit{busy}: {what.upper()}", median(o[what] for o in ours), unit, most=most)
    later = visits["rnnviz", "later"]
    figure("requests of a visit", median(o["requests"] for o in later), most=95)
    figure("megabytes of a visit", median(o["MB"] for o in later), "MB", most=1.1)


if __name__ == "__main__":
    main()
