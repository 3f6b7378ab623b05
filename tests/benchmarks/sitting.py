"""What the programs here share, and a sitting: one program with several Pythons, in turns.

    python tests/benchmarks/sitting.py --python OLD/bin/python NEW/bin/python -- scoring.py --units 256

Each Python runs the program with the rnnviz that is installed there, so a checkout of another version with an
environment of its own is measured by the same program. Printed are, as rows of a table, the medians of every
figure by Python, and those of the last beside the first's.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil
    from playwright.sync_api import Page


def figure(
    what: str, number: float, unit: str = "", *, most: float | None = None, least: float | None = None
) -> None:
    """Print one number: what it is, its unit, and its limit, if it has one."""
    limit = [
        f"\tat {name} {value:g}" for name, value in (("most", most), ("least", least)) if value is not None
    ]
    holds = (most is None or number <= most) and (least is None or number >= least)
    print(f"= {what}\t{shown(number)} {unit}{''.join(limit)}{'' if holds else ': it is not'}", flush=True)


def options_of(described: str | None) -> argparse.ArgumentParser:
    """The options of a program, whose help is its docstring."""
    return argparse.ArgumentParser(
        description=described, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def settled(server: psutil.Process) -> float:
    """The server's memory in MB once it grows no more: the app loads its models in the background."""
    before, now = 0.0, server.memory_info().rss / 1e6
    while now - before > 2:
        time.sleep(10)
        before, now = now, server.memory_info().rss / 1e6
    return now


def shown(number: float) -> str:
    """Four digits, or all before the point."""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.4g}"


@contextmanager
def browser() -> Iterator[Page]:
    """A page of a headless Chromium."""
    from playwright.sync_api import sync_playwright

    from tests.support.driving import browser_path, launch

    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        opened = launch(playwright, path)
        yield opened.new_page(viewport={"width": 1280, "height": 720})
        opened.close()


def measured(python: str, program: list[str]) -> dict[str, tuple[float, str]]:
    """What one run of a program has printed by `figure`: numbers and units."""
    script = Path(__file__).parent / program[0]
    command = [python, script, *program[1:]]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    cells = [line[2:].split("\t") for line in done.stdout.splitlines() if line.startswith("= ")]
    return {
        cell[0]: (float(cell[1].split()[0].replace(",", "")), cell[1].partition(" ")[2]) for cell in cells
    }


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--python", nargs="+", required=True, help="as many as are compared")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("program", nargs="+", help="behind --: a program's file, and its options")
    options = parser.parse_args()
    rounds = [[measured(python, options.program) for python in options.python] for _ in range(options.rounds)]
    print(f"| figure | {' | '.join(options.python)} | ratio |")
    print("| --- " * (len(options.python) + 2) + "|")
    for what, (_number, unit) in rounds[0][0].items():
        medians = [median(one[n][what][0] for one in rounds) for n in range(len(options.python))]
        cells = [f"{shown(value)} {unit}".strip() for value in medians]
        print(f"| {what} | {' | '.join(cells)} | {shown(medians[-1] / medians[0]) if medians[0] else '–'} |")


if __name__ == "__main__":
    main()
