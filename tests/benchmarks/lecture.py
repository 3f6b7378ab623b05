"""How long the lecture takes to answer: every step, every control and every way in, of every scene.

    python tests/benchmarks/lecture.py

Times are taken inside the page: from what the lecturer does to the first moment
after the browser has painted the answer. One table, a row for each scene; the
milliseconds are the median and the slowest of all its interactions of a kind.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics

from playwright.sync_api import Locator, sync_playwright

from rnnviz.ui.pages.learn import scenes
from tests.benchmarks.figures import figure
from tests.browser.driving import ROOT, browser_path, launch, serve
from tests.browser.lecturing import Lectern

LIMIT = 200  # milliseconds that the class may wait
STEP = 100  # and for the median step of a scene
FILMS = ("train", "play", "measure")  # controls that begin something to watch, which takes seconds by intent


def took(lectern: Lectern) -> float:
    """Milliseconds of what has just been asked, once its answer is painted."""
    lectern.rest()
    return float(lectern.root.get_attribute("data-took") or "nan")


def press(lectern: Lectern, key: str, times: list[float]) -> None:
    """One key on the page."""
    lectern.press(key)
    times.append(took(lectern))


def use(lectern: Lectern, control: Locator, times: list[float]) -> None:
    """Whatever a control can do, once: it writes, slides, presses or picks."""
    kind = control.evaluate("e => e.className")
    if "ln-field" in kind:
        field = control.locator("input")
        text = field.input_value()
        for letter in random.sample("teatime", 3):
            field.fill(text[:-1] + letter)
            times.append(took(lectern))
    elif "ln-slider" in kind:
        slider = control.get_by_role("slider")
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            slider.press(key)
            times.append(took(lectern))
    elif "ln-choice" in kind:
        for button in control.get_by_role("radio").all():
            button.click()
            times.append(took(lectern))
    elif "ln-button" in kind and control.is_enabled():
        control.click()
        times.append(took(lectern))
    lectern.press("Escape")


def point(lectern: Lectern, key: str, times: list[float]) -> None:
    """What answers the pointer in the picture: a click on it, or a drag by a few pixels."""
    place = lectern.root.locator(f"[data-hit='{key}']")
    box = place.bounding_box() if place.count() else None
    if box is None:
        return
    if place.get_attribute("role") == "button":
        place.click()
        times.append(took(lectern))
        return
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lectern.page.mouse.move(x, y)
    lectern.page.mouse.down()
    for move in (40, -60, 110):
        lectern.page.mouse.move(x + move, y + move)
        times.append(took(lectern))
    lectern.page.mouse.up()
    lectern.rest()


def measure(
    lectern: Lectern, number: int, alone: bool = False
) -> tuple[list[float], list[float], list[float]]:
    """Of one scene: coming in, its steps, and its controls at each, unless the steps are measured `alone`."""
    entering: list[float] = []
    stepping: list[float] = []
    using: list[float] = []
    lectern.open(scene=number)
    for there, back in (
        (("ArrowRight", "ArrowLeft"),) if number < len(scenes.MODULES) else (("ArrowLeft", "ArrowRight"),)
    ):
        for _ in range(2):
            press(lectern, there, [])
            press(lectern, back, entering)
    for _ in range(scenes.scene(number).STEPS - 1):
        press(lectern, "Space", stepping)
        if alone:
            continue
        names = lectern.root.locator("[data-name]").evaluate_all("all => all.map(e => e.dataset.name)")
        for name in names:
            control = lectern.control(name)
            leads_away = name.startswith("go")
            if name not in FILMS and not leads_away and control.count():
                use(lectern, control, using)
        keys = lectern.root.locator("[data-hit]").evaluate_all(
            "all => all.filter((e) => e.style.cursor !== 'text').map((e) => e.dataset.hit)"
        )
        for key in random.sample(keys, min(len(keys), 4)):
            point(lectern, key, using)
        lectern.at(number, len(stepping))
    return entering, stepping, using


def shown(times: list[float]) -> str:
    """Median and slowest."""
    known = [t for t in times if t == t]
    return f"{statistics.median(known):5.0f} {max(known):5.0f}" if known else "    –     –"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, nargs="*", default=range(1, len(scenes.MODULES) + 1))
    parser.add_argument("--steps", action="store_true", help="no controls")
    options = parser.parse_args()
    chosen = options.scenes
    random.seed(0)
    with (
        serve(ROOT / "app.py", environment={**os.environ, "OMP_NUM_THREADS": "1"}) as url,
        sync_playwright() as playwright,
    ):
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no Chromium here: install one, or name it in RNNVIZ_BROWSER")
        browser = launch(playwright, path)
        lectern = Lectern(browser.new_page(viewport={"width": 1280, "height": 720}), url)
        lectern.open(present=1)  # the first visit, which loads everything, is not what is measured
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'milliseconds: median, slowest':<34}{'come in':>13}{'step':>14}{'control':>14}   asked")
        medians: list[float] = []
        for number in chosen:
            groups = measure(lectern, number, options.steps)
            medians.append(statistics.median(t for t in groups[1] if t == t))
            slowest = f"slowest {max(t for t in groups[1] if t == t):.0f} ms"
            figure(f"a step of the lecture, scene {number}", medians[-1], "ms", at_most=STEP, beside=slowest)
            every = [t for group in groups for t in group if t == t]
            late = sum(t > LIMIT for t in every)
            verdict = f"{late} of {len(every)} above {LIMIT}" if late else f"{len(every)}"
            title = lectern.page.locator("h1").inner_text().removeprefix(str(number)).strip()
            cells = "   ".join(shown(group) for group in groups)
            print(f"{number}  {title:<31}{cells}   {verdict}", flush=True)
        browser.close()
    figure(
        "a step of the lecture, in the slowest scene", max(medians), "ms", at_most=STEP, front=True,
        beside=f"{min(medians):.0f} ms in the fastest; medians of {len(medians)} scenes",
    )  # fmt: skip


if __name__ == "__main__":
    main()
