"""How long the page Inside takes to answer, on its own example of some 450 characters.

    python tests/benchmarks/inside.py [--model timemachine-gru] [--rounds 12]

From a click on a character (for Cause also: from an arrow key on the slider of a
held unit) to the first moment after the browser has painted the answer, as far as
the window shows it: figures below it follow. A row for each part, in milliseconds.
"""

import os
import statistics
from collections.abc import Callable

from playwright.sync_api import Page, expect
from sitting import browser, figure, options_of

from tests.support.driving import letter
from tests.support.serving import ROOT, serve

LIMIT, MEDIAN = 200, 120  # milliseconds that an answer may take: 95 in 100, and the median
REST = 250  # milliseconds between an answer and the next key
PARTS = ("units", "memory", "match", "cause")

WATCH = """
(dashboard) => {
  const state = (window.bench = { start: 0, took: null });
  for (const kind of ['keydown', 'pointerdown'])
    addEventListener(kind, () => { state.start = performance.now(); state.took = null; }, true);
  const channel = new MessageChannel();
  channel.port1.onmessage = () => { state.took = performance.now() - state.start; };
  new MutationObserver(() => requestAnimationFrame(() => channel.port2.postMessage(0)))
    .observe(dashboard, { attributes: true, attributeFilter: ['data-shown'] });
}
"""


def answers(page: Page, act: Callable[[int], None], rounds: int) -> list[float]:
    """Milliseconds from what is done to its painted answer; the first two, which prepare, don't count."""
    times = []
    for number in range(rounds + 2):
        act(number)
        page.wait_for_function("() => window.bench.took !== null", timeout=60_000)
        times.append(float(page.evaluate("() => window.bench.took")))
        page.wait_for_timeout(REST)
    return times[2:]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    clicks: list[float] = []
    medians: list[float] = []
    with serve(ROOT / "app.py", environment={**os.environ, "OMP_NUM_THREADS": "1"}) as url, browser() as page:
        print(f"{options.model}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for part in options.parts:
            page.goto(f"{url}/inside?model={options.model}&part={part}")
            dashboard = page.locator("[data-testid=rnnviz-dashboard][data-drawn]:has(.dash-open)").first
            dashboard.wait_for(timeout=120_000)
            expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=120_000)
            expect(page.get_by_test_id("stSpinner")).to_have_count(0, timeout=120_000)
            page.wait_for_load_state("networkidle")
            # The card's text has been read when the histogram is there; gates stand before the predictions.
            if (figure_of := {"units": "histogram", "memory": "reach"}.get(part)) is not None:
                page.locator(f"[data-name={figure_of}]").wait_for(timeout=120_000)
            dashboard.evaluate(WATCH)
            places = [letter(dashboard.locator(".dash-open").first, t) for t in (200, 205, 210)]
            rows = {
                "a click": answers(page, lambda n, at=places: page.mouse.click(*at[n % 3]), options.rounds)
            }
            clicks += rows["a click"]
            medians.append(statistics.median(rows["a click"]))
            if part == "cause":
                slider = page.get_by_role("slider", name="value")
                rows["a step of the slider"] = answers(
                    page, lambda _, handle=slider: handle.press("ArrowLeft"), options.rounds
                )
            for name, times in rows.items():
                figure(f"{name} on Inside, {part}", statistics.median(times), "ms", most=MEDIAN)
    figure("a click on Inside, 95 % of all parts'", sorted(clicks)[int(0.95 * len(clicks))], "ms", most=LIMIT)
    figure("a click on Inside, in the slowest part", max(medians), "ms", most=MEDIAN)


if __name__ == "__main__":
    main()
