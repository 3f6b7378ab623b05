"""A version beside an older one: a keystroke, scoring and training, in turns.

    python tests/benchmarks/gates.py OLD/bin/python NEW/bin/python [--pairs 15] [--parts keystroke …]

Each Python has its rnnviz installed (its checkout may be another). Both stay open from the first pair to the
last: a server and a page for the keystroke, a process for each network that scores or trains. In each pair
both do the same piece of work, and who begins changes. Printed is the time of the second ÷ the first, a
geometric mean with its 95 % interval over the pairs; a gate is missed where the interval lies wholly above
the limit.

keystroke  20 keys behind 500 characters in Explore, timemachine-gru: from the view's ask to the answer
scoring    `rnnviz.perplexity` of 100,000 characters
training   `rnnviz.train`, batch 32 × 64 with dropout, from one report to the next
"""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from keystroke import LETTERS, App, text
from playwright.sync_api import Page
from sitting import browser, options_of, ratio

from tests.support.serving import serve

LIMIT = 1.05
CHARACTERS = 100_000
STEPS = {256: 30, 512: 10}  # of a piece of training: a second or two
LINES = "It was a long while before anyone spoke, and then the traveller told them. "

# Times each ask over the view's own connection: `asks` has the milliseconds until its answer.
ASK_TIMES = """
(() => {
  window.asks = [];
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener('message', () => this.sent && window.asks.push(performance.now() - this.sent));
    }
    send(data) {
      this.sent = this.url.includes('/live') && performance.now();
      super.send(data);
    }
  };
})()
"""

# What a version's own process does: it scores or trains once for each line that it gets.
# Started with -EP: it imports the rnnviz of its own environment, wherever it is started.
WORK = f"""
import random, sys, time
import rnnviz
part, cell, units, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
draw = random.Random(0)
words = {LINES!r}.split()
text = " ".join(draw.choice(words) for _ in range({CHARACTERS} // 4))[:{CHARACTERS}]
config = rnnviz.TrainConfig(
    cell=cell, hidden_size=units, batch=32, steps=64, evaluate_every=steps, epochs=1000, dropout_weight=0.4,
    dropout_embedding=0.1, dropout_output=0.4,
)
reports = rnnviz.train(config, text, sample_length=0)
model = next(reports).model
work = {{"scoring": lambda: rnnviz.perplexity(model, text), "training": lambda: next(reports)}}[part]
work()
print("ready", flush=True)
for _ in sys.stdin:
    began = time.perf_counter()
    work()
    print(time.perf_counter() - began, flush=True)
"""


@contextmanager
def worker(python: str, part: str, cell: str, units: int) -> Iterator[Callable[[], float]]:
    """A process of a version; the call is one piece of its work, in seconds."""
    command = [python, "-EPc", WORK, part, cell, str(units), str(STEPS[units])]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdin is not None
    assert process.stdout is not None
    lines, ask = process.stdout, process.stdin

    def piece() -> float:
        print(file=ask, flush=True)
        return float(lines.readline())

    try:
        assert lines.readline() == "ready\n"
        yield piece
    finally:
        process.kill()
        process.wait()


@contextmanager
def typist(python: str, page: Page) -> Iterator[Callable[[], float]]:
    """A version's app, open in a page; the call types 20 keys: the median of their answers, in seconds."""
    where = subprocess.check_output([python, "-EPc", "import rnnviz; print(rnnviz.__file__)"], text=True)
    root = Path(where.strip()).parents[1]  # the checkout, where app.py is
    with serve(root / "app.py", folder=root, root=root, python=python) as url:
        page.add_init_script(ASK_TIMES)
        app = App(page, "live", f"{url}/?model=timemachine-gru")

        def piece() -> float:
            page.bring_to_front()
            app.fill(text(500))
            page.evaluate("() => { window.asks = [] }")
            for n in range(20):
                app.key(LETTERS[n % len(LETTERS)])
            return median(page.evaluate("() => window.asks")) / 1000

        piece()
        yield piece


def compared(title: str, older: Callable[[], float], newer: Callable[[], float], pairs: int) -> None:
    """Print the ratio of both's times, with its interval."""
    times = []
    for n in range(pairs):
        turns = (newer, older) if n % 2 else (older, newer)
        first, second = turns[0](), turns[1]()
        times.append((second, first) if n % 2 else (first, second))
    middle, low, high = ratio(times)
    old, new = (median(column) for column in zip(*times, strict=True))
    verdict = f"above {LIMIT}: missed" if low > LIMIT else "holds"
    interval = f"{middle:.3f} × [{low:.3f}, {high:.3f}]"
    print(f"= {title}\t{interval}\t{old * 1000:.4g} → {new * 1000:.4g} ms\t{verdict}", flush=True)


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("python", nargs=2, help="the older version's and the newer's")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--parts", nargs="+", default=["keystroke", "scoring", "training"])
    options = parser.parse_args()
    for part in options.parts:
        shapes = [("", 0)] if part == "keystroke" else [(c, u) for c in ("gru", "lstm") for u in (256, 512)]
        for cell, units in shapes:
            with ExitStack() as stack:
                if units:
                    versions = [worker(python, part, cell, units) for python in options.python]
                else:
                    pages = stack.enter_context(browser()).context.browser
                    versions = [typist(python, pages.new_page()) for python in options.python]
                opened = [stack.enter_context(version) for version in versions]
                compared(" ".join(filter(None, (part, cell, str(units or "")))), *opened, options.pairs)


if __name__ == "__main__":
    main()
