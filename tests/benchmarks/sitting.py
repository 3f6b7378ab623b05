"""What the programs here share: options, figures, a browser's page, a server's memory."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import mean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil
    from playwright.sync_api import Page


def figure(
    title: str, number: float, unit: str = "", *, most: float | None = None, least: float | None = None
) -> None:
    """Print one number: what it is, its unit, and its limit, if it has one."""
    limit = [
        f"\tat {name} {value:g}" for name, value in (("most", most), ("least", least)) if value is not None
    ]
    holds = (most is None or number <= most) and (least is None or number >= least)
    print(f"= {title}\t{written(number)} {unit}{''.join(limit)}{'' if holds else ': it is not'}", flush=True)


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


def ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The second times ÷ the first, and the 95 % interval: of the mean of the logarithms, by Student's t."""
    from scipy.stats import t

    logs = [math.log(second / first) for first, second in pairs]
    spread = stdev(logs) if len(logs) > 1 else math.nan  # one pair has no interval
    half_width = float(t.ppf(0.975, len(logs) - 1)) * spread / math.sqrt(len(logs))
    low, high = (math.exp(mean(logs) + side * half_width) for side in (-1, 1))
    return math.exp(mean(logs)), low, high


def written(number: float) -> str:
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
