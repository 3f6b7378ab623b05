"""How long the lecture takes to answer: every step, every control and every way in, of every scene.

    python tests/benchmarks/lecture.py [--scenes 1 2 …] [--steps]

Times are taken inside the page: from what the lecturer does to the first moment
after the browser has painted the answer. One table, a row for each scene; the
milliseconds are the median and the slowest of all its interactions of a kind.
`--steps` leaves out the controls.
"""

import os
import random
import statistics

from playwright.sync_api import Locator
from sitting import browser, figure, options_of

from rnnviz.lecture.scenes import scenes
from tests.support.lecturing import Lectern
from tests.support.serving import ROOT, serve

LIMIT = 200  # milliseconds that the class may wait
STEP = 100  # and for the median step of a scene
FILMS = ("play",)  # controls that begin something to watch, which takes seconds by intent


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


def measure(
    lectern: Lectern, number: int, alone: bool = False
) -> tuple[list[float], list[float], list[float]]:
    """Of one scene: coming in, its steps, and its controls at each, unless the steps are measured `alone`."""
    entering: list[float] = []
    stepping: list[float] = []
    using: list[float] = []
    stops = scenes()[number - 1].main_steps
    lectern.open(step=stops[0].name)
    is_last = number == len(scenes())
    away, back = ("ArrowLeft", "ArrowRight") if is_last else ("ArrowRight", "ArrowLeft")
    for _ in range(2):
        press(lectern, away, [])
        press(lectern, back, entering)
    for n in (*range(1, len(stops)), *range(1, len(stops))):  # twice from the first to the last
        if n == 1 and stepping:
            lectern.open(step=stops[0].name)
        lectern.press("Space")
        lectern.rest()
        if lectern.root.get_attribute("data-step") != str(n):  # it has shown which answer is right
            lectern.press("Space")
        stepping.append(took(lectern))
        if alone or len(stepping) >= len(stops):
            continue
        names = lectern.root.locator("[data-name]").evaluate_all("all => all.map(e => e.dataset.name)")
        for name in names:
            control = lectern.control(name)
            leads_away = name.startswith("go")
            if name not in FILMS and not leads_away and control.count():
                use(lectern, control, using)
        lectern.at(number, n)
    return entering, stepping, using


def median_and_slowest(times: list[float]) -> str:
    """Median and slowest."""
    times_taken = [t for t in times if t == t]
    return f"{statistics.median(times_taken):5.0f} {max(times_taken):5.0f}" if times_taken else "    –     –"


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__)
    parser.add_argument("--scenes", type=int, nargs="*", default=range(1, len(scenes()) + 1))
    parser.add_argument("--steps", action="store_true", help="no controls")
    options = parser.parse_args()
    random.seed(0)
    medians: list[float] = []
    with serve(ROOT / "app.py", environment={**os.environ, "OMP_NUM_THREADS": "1"}) as url, browser() as page:
        lectern = Lectern(page, url)
        lectern.open(present=1)  # the first visit, which loads everything, is not what is measured
        print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'milliseconds: median, slowest':<34}{'come in':>13}{'step':>14}{'control':>14}   asked")
        for number in options.scenes:
            groups = measure(lectern, number, options.steps)
            every = [t for group in groups for t in group if t == t]
            late = f", {sum(t > LIMIT for t in every)} above {LIMIT}"
            title = scenes()[number - 1].title
            cells = "   ".join(median_and_slowest(group) for group in groups)
            print(f"{number}  {title:<31}{cells}   {len(every)}{late}", flush=True)
            if groups[1]:  # the last scene has one step alone
                medians.append(statistics.median(t for t in groups[1] if t == t))
                figure(f"a step of the lecture, scene {number}", medians[-1], "ms", most=STEP)
    figure("a step of the lecture, in the slowest scene", max(medians), "ms", most=STEP)


if __name__ == "__main__":
    main()
