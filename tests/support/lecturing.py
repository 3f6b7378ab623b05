"""The Learn page as a lecturer drives it, for the browser tests and the benchmark."""

import re
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, expect

from rnnviz.lecture.scenes import find_step, scenes
from rnnviz.lecture.steps import Step

PATIENCE = 20_000  # milliseconds

# What is wrong with how the scene is laid out: words cut off, over one another, or off the page.
AUDIT = """
() => {
  const hosts = [...document.querySelectorAll('*')].filter((e) => e.shadowRoot);
  const root = hosts.map((e) => e.shadowRoot.querySelector('.rnnviz-learn')).find(Boolean);
  const wrong = [];
  const boxes = [];
  const say = (e) => (e.textContent || e.getAttribute('aria-label') || e.value || '?').trim().slice(0, 40);
  const rounded = (box) => [box.left, box.top, box.right, box.bottom].map(Math.round).join(' ');
  const inside = (box, area, name, by = 1.5) => {
    const [left, top] = [area.left - box.left, area.top - box.top];
    const [right, bottom] = [box.right - area.right, box.bottom - area.bottom];
    if (Math.max(left, top, right, bottom) > by)
      wrong.push(`${name} leaves its place: ${rounded(box)} of ${rounded(area)}`);
  };
  const add = (element, name, shrink = 0, box = element.getBoundingClientRect()) => {
    if (!box.width || !box.height) return;
    const by = box.height * shrink;
    const [top, bottom] = [box.top + by, box.bottom - by];
    boxes.push({ name, element, left: box.left, right: box.right, top, bottom });
  };
  const stage = root.querySelector('.ln-stage').getBoundingClientRect();
  // Enlarged to 200 % the lecture is higher than the window, and scrolls.
  const beyond = root.scrollHeight - root.clientHeight;
  if (beyond > 1 && innerHeight > 450) wrong.push(`the lecture scrolls by ${beyond}`);
  const [top, bottom] = [-root.scrollTop, innerHeight + beyond - root.scrollTop];
  const screen = { left: 0, top, right: innerWidth, bottom };
  const picture = root.querySelector('.kit-picture');
  for (const side of ['Width', 'Height']) {
    const by = picture[`scroll${side}`] - picture[`client${side}`];
    if (by > 1) wrong.push(`the picture's ${side.toLowerCase()} is cut by ${by}`);
  }
  // A line of type is higher than its letters: a quarter above and below may touch.
  const walk = document.createTreeWalker(root.querySelector('.kit'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { textContent, parentElement } = walk.currentNode;
    if (!textContent.trim() || !parentElement.checkVisibility() || parentElement.closest('.katex')) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    for (const box of range.getClientRects()) {
      inside(box, stage, `“${say(parentElement)}”`, 4);
      add(parentElement, `“${say(parentElement)}”`, 0.25, box);
    }
  }
  const set = '.kit-controls > *, .kit-title .katex-html, .kit-tex .katex-html';
  for (const control of root.querySelectorAll(set)) {
    inside(control.getBoundingClientRect(), stage, `control ${say(control)}`);
    if (control.matches('.katex-html')) add(control, `formula ${say(control)}`, 0.2);
  }
  const head = root.querySelector('.ln-head');
  const title = head.querySelector('h1');
  add(title, 'the title', 0.15);
  inside(title.getBoundingClientRect(), screen, 'the title');
  for (const formula of head.querySelectorAll('.katex-html')) {
    add(formula, 'the formula', 0.1);
    inside(formula.getBoundingClientRect(), screen, 'the formula');
  }
  for (const error of head.querySelectorAll('.katex-error')) wrong.push(`no formula: ${error.title}`);
  const foot = root.querySelector('.ln-foot');
  const notice = root.querySelector('.ln-notice');
  inside(foot.getBoundingClientRect(), screen, 'the foot');
  if (!notice.hidden) inside(notice.getBoundingClientRect(), foot.getBoundingClientRect(), 'the notice', 3);
  add(notice, 'the notice', 0.02);
  add(root.querySelector('.ln-asking'), "the room's line", 0.02);
  add(root.querySelector('.ln-tools'), 'the tools', 0.02);
  boxes.forEach((a, i) => {
    for (const b of boxes.slice(0, i)) {
      if (a.element === b.element) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 2 && high > 1) wrong.push(`${a.name} and ${b.name} overlap: ${wide | 0} × ${high | 0}`);
    }
  });
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
  const main = document.querySelector('[data-testid=stMain]');
  if (main.scrollHeight > main.clientHeight + 1) wrong.push(`the page scrolls by ${main.scrollHeight}`);
  return wrong;
}
"""

# Words and numbers on the stage that the last row can't read, on axes too: below 17 pixels. What stands below
# or above a letter is smaller, as in every formula.
SMALL = """
() => {
  const hosts = [...document.querySelectorAll('*')].filter((e) => e.shadowRoot);
  const root = hosts.map((e) => e.shadowRoot.querySelector('.rnnviz-learn')).find(Boolean);
  const wrong = [];
  const check = (element, words) => {
    const unit = element.ownerSVGElement ? element.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(element).fontSize) * unit;
    if (size && size < 16.95) wrong.push(`“${words.slice(0, 40)}” is ${size.toFixed(1)} pixels high`);
  };
  const walk = document.createTreeWalker(root.querySelector('.ln-stage'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const words = walk.currentNode.textContent.trim();
    const element = walk.currentNode.parentElement;
    if (!/[\\p{L}\\p{N}]/u.test(words) || element.closest('.katex') || !element.checkVisibility()) continue;
    check(element, words);
  }
  for (const input of root.querySelectorAll('.ln-stage input:not([type=range])')) check(input, input.value);
  return [...new Set(wrong)];
}
"""

# Resolves as soon as the lecture's attributes are these: polling would take longer than the lecture does.
REACHED = """
(root, wanted) => new Promise((resolve) => {
  const there = () => Object.entries(wanted).every(([name, value]) => root.dataset[name] === value);
  if (there()) return resolve(true);
  const observer = new MutationObserver(() => there() && done(true));
  const timer = setTimeout(() => done(false), 20000);
  const done = (result) => {
    observer.disconnect();
    clearTimeout(timer);
    resolve(result);
  };
  observer.observe(root, { attributes: true });
})
"""

# A frame drawn, and what its sizes lead to.
NEXT_FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


class Lectern:
    """The Learn page, open."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        page.emulate_media(reduced_motion="reduce")  # what moves into its place is there at once
        self.root = page.get_by_test_id("rnnviz-learn")

    def open(self, **query: object) -> None:
        """Go to an address of the page, and wait for its picture."""
        address = "&".join(f"{name}={value}" for name, value in query.items())
        self.page.goto(f"{self.url}/learn?{address}")
        expect(self.root).to_have_attribute("data-rest", "true", timeout=3 * PATIENCE)
        self.formula()

    def tour(self, **query: object) -> Iterator[tuple[Step, bool]]:
        """Every step, before its question is answered and then answered (True): the stops by a clicker's
        key, those of the appendix by their addresses.
        """
        stops = [step for scene in scenes() for step in scene.main_steps]
        for step in (*stops, *(step for scene in scenes() for step in scene.appendix)):
            if step is stops[0] or step not in stops:
                self.open(step=step.name, **query)
            else:
                self.press("PageDown")
                self.at(*(find_step(step.name) or (0, 0)))
                self.formula()
            if step.question:
                yield step, False
                self.press("Space")
                self.rest()
            yield step, True

    def formula(self) -> None:
        """Wait for the formula."""
        expect(self.root.locator(".ln-formula .katex-html").first).to_be_visible(timeout=PATIENCE)

    def at(self, scene: int, step: int) -> None:
        """Wait until a step of a scene, counted from 0, is on the screen."""
        attributes = {"scene": str(scene), "step": str(step), "rest": "true"}
        assert self.root.evaluate(REACHED, attributes), f"not there: {attributes}"

    def at_step(self, name: str) -> None:
        """Wait until the step of this name is on the screen."""
        place = find_step(name)
        assert place, f"no such step: {name}"
        self.at(*place)

    def rest(self) -> None:
        """Wait until nothing is on its way."""
        assert self.root.evaluate(REACHED, {"rest": "true"}), "an answer is still on its way"

    def press(self, key: str) -> None:
        """A key, pressed where nothing has the keys for itself."""
        self.page.keyboard.press(key)

    def wrong(self) -> list[str]:
        """What is wrong with the layout."""
        return list(self.page.evaluate(AUDIT))

    def small(self) -> list[str]:
        """Words on the stage that are too small, presenting at 1280 × 720."""
        return list(self.page.evaluate(SMALL))

    def notes(self) -> Page:
        """The lecturer's window, opened."""
        self.rest()
        with self.page.expect_popup() as window:
            self.press("n")
        expect(window.value.locator("#title")).not_to_be_empty()
        return window.value

    def control(self, name: str) -> Any:
        """A control of the scene, by the name its module gives it."""
        return self.root.locator(f"[data-name='{name}']")

    def query(self) -> dict[str, str]:
        """The address's names and values."""
        return dict(re.findall(r"[?&]([^=]+)=([^&]*)", self.page.url))
