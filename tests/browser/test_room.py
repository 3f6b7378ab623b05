"""The class answers in real browsers: a lecturer's stage, and phones each in a browser context of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from rnnviz.lecture.scene_6_perplexity import SENTENCES
from rnnviz.lecture.scenes import scenes
from tests.support.driving import box_of
from tests.support.lecturing import NEXT_FRAME, Lectern
from tests.support.serving import ROOT

(GREEDY,) = (step.question for step in scenes()[7].steps if step.name == "greedy")
OPTIONS = GREEDY.options if GREEDY else ()

Join = Callable[[], Page]

# With window.deaf a phone doesn't hear what its room says unasked.
HEARING = """
const read = ReadableStreamDefaultReader.prototype.read;
ReadableStreamDefaultReader.prototype.read = async function () {
  const got = await read.call(this);
  while (window.deaf) await new Promise((done) => setTimeout(done, 20));
  return got;
};
"""


@pytest.fixture
def join(browser: Browser, lectern: Lectern) -> Iterator[Join]:
    """Take out another phone, and open the address that the stage shows."""
    contexts = []
    wrong: list[str] = []

    def phone() -> Page:
        address = lectern.root.locator(".ln-sheet .ln-room-address").text_content() or ""
        context = browser.new_context(viewport={"width": 390, "height": 760}, locale="en-GB")
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(HEARING)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"http://127.0.0.1:{address.rpartition(':')[2]}")
        return page

    yield phone
    close(lectern)
    for context in contexts:
        context.close()
    assert [problems for problems in wrong if "INTERNET_DISCONNECTED" not in problems] == []


def ask(lectern: Lectern, **query: object) -> None:
    """Open a step, and the room."""
    lectern.open(present=1, **query)
    lectern.root.get_by_role("button", name="Ask the room").click()
    expect(lectern.root.locator(".ln-sheet .ln-room-address")).to_have_text(re.compile(r":\d+$"))


def close(lectern: Lectern) -> None:
    """Close the room, if it is open."""
    button = lectern.root.locator(".ln-ask")
    if lectern.page.url.startswith("http") and "ln-on" in (button.get_attribute("class") or ""):
        if not lectern.root.locator(".ln-sheet").is_visible():
            button.click()
        lectern.root.get_by_role("button", name="Close the room").click()
        expect(button).to_have_text("Ask the room")


def tap(phone: Page, answer: int | str) -> None:
    """Choose an answer, and wait until the room has it: the phone shows it as chosen at once."""
    buttons = phone.locator("#options button")
    with phone.expect_response("**/answer"):
        (buttons.nth(answer) if isinstance(answer, int) else buttons.get_by_text(answer, exact=True)).click()


SIZES = ((1440, 900), (1280, 720))


def wrong(lectern: Lectern) -> list[str]:
    """What is wrong with the layout on a projector, and on a smaller one."""
    faults = []
    for width, height in SIZES:
        lectern.page.set_viewport_size({"width": width, "height": height})
        lectern.page.evaluate(NEXT_FRAME)
        faults += lectern.wrong()
    return faults


def test_two_phones_answer_and_space_reveals_counts(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="books")
    code = lectern.root.locator("img.ln-room-code")
    for width, height in SIZES:
        lectern.page.set_viewport_size({"width": width, "height": height})
        assert box_of(code)["height"] > height / 2, "the last row scans it"
    first, two = join(), join()
    expect(lectern.root.locator(".ln-room-count b")).to_have_text("2")
    lectern.press("Space")
    expect(lectern.root.locator(".ln-sheet")).to_be_hidden()
    lectern.at_step("books")
    question = lectern.root.locator(".kit-question h2").inner_text()
    expect(first.get_by_role("heading", level=1)).to_have_text(question)
    assert Axe().run(first).response["violations"] == []
    tap(first, 0)
    tap(two, 1)
    expect(two.get_by_text("Your answer counts")).to_be_visible()
    tap(two, 0)
    expect(lectern.root.locator(".ln-asking")).to_contain_text("2 of 2")
    assert "%" not in lectern.root.inner_text(), "counts are not shown before they are revealed"
    assert wrong(lectern) == []
    lectern.press("Space")
    expect(lectern.root.locator("[data-key='option.0']")).to_contain_text("100 %")
    expect(lectern.root.locator("[data-key='option.1']")).to_contain_text("0 %")
    lectern.at_step("books")
    assert wrong(lectern) == []
    expect(first.get_by_text("Closed. Look at the screen.")).to_be_visible()
    expect(first.get_by_role("button").nth(1)).to_be_disabled()
    lectern.press("Space")
    expect(lectern.root.locator(".kit-right")).to_have_text(re.compile("^✓ [A-D] "))
    expect(two.get_by_text(re.compile("^Right: [A-D] · "))).to_be_visible()
    lectern.rest()
    assert wrong(lectern) == []
    lectern.press("Space")
    lectern.at_step("game")
    expect(two.get_by_role("heading", level=1)).not_to_have_text(question)
    nothing_chosen(two)


def nothing_chosen(phone: Page) -> None:
    """Wait until a phone shows no answer of its own."""
    expect(phone.locator("#options [aria-pressed=true]")).to_have_count(0)


def test_phone_shows_lecturers_step(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="first")
    phone = join()
    phone.set_viewport_size({"width": 390, "height": 844})
    lectern.press("Space")
    shown, heading = phone.locator("#still"), phone.locator("#still h2")
    expect(heading).to_have_text("The same definition at every step")
    expect(shown).to_contain_text("Ht = ϕ(XtWxh + bh)")
    slider = lectern.control("t").get_by_role("slider")
    slider.press("ArrowRight")
    slider.blur()
    expect(shown).to_contain_text("One more term than without a state")
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert Axe().run(phone).response["violations"] == []
    lectern.press("PageDown")
    expect(phone.locator("#options button")).to_have_count(3)
    expect(shown).to_be_hidden()  # the question alone
    lectern.press("Space")  # nobody has answered: the picture at once
    expect(heading).to_have_text("Parameters do not grow")
    expect(shown).to_contain_text("Every step uses the same 83 numbers")
    lectern.press("Space")
    expect(heading).to_have_text("Three steps side by side")


def test_question_is_asked_again_and_room_closes(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="greedy")
    phone = join()
    lectern.press("Space")
    tap(phone, 2)
    expect(lectern.root.locator(".ln-asking")).to_contain_text("1 of 1")
    desk = lectern.notes()  # hears what the room says
    counts, room = desk.locator("#room .count"), desk.locator("#room")
    expect(counts).to_have_text(["0", "0", "1"])
    expect(room).to_contain_text("1 of 1 answered")
    tap(phone, 1)
    expect(counts).to_have_text(["0", "1", "0"])
    lectern.root.get_by_role("button", name="Reveal").click()
    lectern.root.get_by_role("button", name="Ask again").click()
    expect(lectern.root.locator(".ln-asking")).to_contain_text("0 of 1")
    expect(phone.get_by_role("button").nth(1)).to_be_enabled()
    nothing_chosen(phone)
    tap(phone, 0)
    phone.reload()
    expect(phone.locator("[aria-pressed=true]")).to_have_text(OPTIONS[0])
    lectern.press("ArrowLeft")  # a scene that asks nothing
    expect(phone.get_by_text("You are in. Questions appear here.")).to_be_visible()
    assert Axe().run(phone).response["violations"] == []
    close(lectern)
    expect(phone.get_by_text("The room is closed. Thank you.")).to_be_visible()
    expect(room).to_be_hidden()
    desk.close()
    lectern.rest()
    assert lectern.root.locator(".ln-asking").is_hidden()


def test_lost_answer_is_resent_and_late_answer_meets_next_question(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="books")
    phone = join()
    lectern.press("Space")
    tap(phone, 1)
    expect(phone.get_by_text("Your answer counts")).to_be_visible()
    phone.route("**/answer", lambda route: route.fulfill(body=""))
    tap(phone, 2)
    expect(phone.get_by_text("Sending …")).to_be_visible()
    phone.get_by_role("button").nth(0).click()  # the last choice is the one that is sent
    phone.unroute("**/answer")
    expect(phone.get_by_text("Your answer counts")).to_be_visible()
    pressed = [button.get_attribute("aria-pressed") for button in phone.get_by_role("button").all()]
    assert pressed == ["true", "false", "false"]
    # The stage gathers answers before it tells them: Space goes on while it says that nobody has answered.
    expect(lectern.root.locator(".ln-asking")).to_contain_text("1 of 1")
    lectern.press("Space")
    expect(lectern.root.locator("[data-key='option.0']")).to_contain_text("100 %")
    ask_next(lectern, "game", "Space")
    heading = phone.get_by_role("heading", level=1)
    expect(heading).to_have_text(lectern.root.locator(".kit-question h2").inner_text())
    before = heading.inner_text()
    tap(phone, 0)
    expect(lectern.root.locator(".ln-asking")).to_contain_text("1 of 1")
    phone.evaluate("window.deaf = true")
    lectern.press("Space")
    expect(lectern.root.locator("[data-key='option.0']")).to_contain_text("100 %")
    ask_next(lectern, "dial", "ArrowRight", "ArrowDown")
    expect(heading).to_have_text(before)
    tap(phone, 2)
    expect(heading).to_have_text(lectern.root.locator(".kit-question h2").inner_text())
    expect(phone.get_by_text("Too late: that question has closed. Answer this one.")).to_be_visible()
    nothing_chosen(phone)
    tap(phone, 1)
    expect(lectern.root.locator(".ln-asking")).to_contain_text("1 of 1")


def ask_next(lectern: Lectern, name: str, *keys: str) -> None:
    """Go on from a question that is closed to that of the step `name`, by these keys."""
    lectern.rest()
    lectern.press("Space")
    expect(lectern.root.locator(".kit-right")).to_be_visible()
    for key in keys:
        lectern.rest()
        lectern.press(key)
    lectern.at_step(name)
    expect(lectern.root.locator(".ln-asking")).to_contain_text("0 of 1")


SLEEP = """ms => {
  Object.defineProperty(document, "hidden", { value: true, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
  const now = Date.now;
  Date.now = () => now() + ms;
  delete document.hidden;
  document.dispatchEvent(new Event("visibilitychange"));
  Date.now = now;
}"""


def test_class_guesses_letters_beside_models(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="shannon")
    phone_1, phone_2 = join(), join()
    lectern.press("Space")
    beginning, hidden = SENTENCES[0]
    for n, (first, second) in enumerate([("h", "h"), ("e", "a")]):
        expect(lectern.root.locator(".ln-asking")).to_contain_text("0 of 2")  # not the letter's before
        for phone, letter in ((phone_1, first), (phone_2, second)):
            expect(phone.get_by_role("heading", level=1)).to_contain_text(f"“{beginning}{hidden[:n]}_”")
            tap(phone, letter)
        expect(lectern.root.locator(".ln-asking")).to_contain_text("2 of 2")
        assert lectern.wrong() == []
        lectern.press("Space")
        expect(lectern.root.get_by_role("button", name="Next letter")).to_be_visible()
        lectern.rest()
        assert lectern.wrong() == []
        expect(phone_1.get_by_text(f"Right: {hidden[n]}")).to_be_visible()
        lectern.press("Space")
    lectern.at_step("shannon")
    expect(phone_1.get_by_role("heading", level=1)).to_contain_text(f"“{beginning}{hidden[:2]}_”")
    assert lectern.query()["history"] == "ha"
    lectern.press("ArrowUp")  # the step is left
    expect(phone_1.get_by_text("You are in.")).to_be_visible()


def test_phone_reconnects_after_sleep_and_resends_answer(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="greedy")
    phone, other = join(), join()
    expect(phone.get_by_role("button").nth(0)).to_be_enabled()
    urls: list[str] = []
    phone.on("request", lambda request: urls.append(request.url))
    phone.evaluate(SLEEP, 1_000)
    assert urls == []
    with phone.expect_request("**/events"):
        phone.evaluate(SLEEP, 60_000)
    lectern.press("Space")
    expect(phone.get_by_text("Choose one.")).to_be_visible()
    other.close()
    expect(lectern.root.locator(".ln-asking")).to_contain_text("0 of 1")
    phone.context.set_offline(True)
    expect(phone.get_by_text("No connection. Trying again …")).to_be_visible()
    phone.get_by_role("button").nth(2).click()
    expect(phone.get_by_text("No connection. Your answer is sent as soon as there is one.")).to_be_visible()
    phone.context.set_offline(False)
    expect(phone.get_by_text("Your answer counts")).to_be_visible()
    expect(lectern.root.locator(".ln-asking")).to_contain_text("1 of 1")


def test_room_survives_reload_and_is_in_every_tab(lectern: Lectern, join: Join) -> None:
    ask(lectern, step="outputs")
    phone = join()
    lectern.press("Space")
    tap(phone, 0)
    asking = lectern.root.locator(".ln-asking")
    expect(asking).to_contain_text("1 of 1")
    lectern.page.reload()
    expect(lectern.root.locator(".ln-ask")).to_have_text("Room: 1")
    expect(asking).to_contain_text("1 of 1")
    other = lectern.page.context.new_page()
    other.goto(f"{lectern.url}/learn?step=outputs")
    expect(other.get_by_role("button", name="Room: 1")).to_be_visible()
    other.close()
    lectern.press("Space")
    expect(lectern.root.locator("[data-key='option.0']")).to_contain_text("100 %")
    lectern.root.locator(".ln-ask").click()
    with lectern.page.expect_download() as download:
        lectern.root.get_by_role("link", name="Answers as CSV").click()
    assert download.value.path().read_text("utf-8").startswith("question,option,count,time\n")


@pytest.mark.slow
def test_host_serves_network_and_questions_to_phones(browser: Browser, tmp_path: Path) -> None:
    """`rnnviz host` in any folder, a lecturer's window, two phones and a laptop."""
    command = [sys.executable, "-m", "rnnviz", "host", "--no-browser", "--address", "127.0.0.1"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as host:
        try:
            assert host.stdout is not None
            assert host.stderr is not None
            output = "".join(until_opened(host.stdout))
            app, room = re.findall(r"http://\S+", output)
            phones = [
                browser.new_page(viewport={"width": width, "height": 844}) for width in (390, 390, 1280)
            ]
            for phone in phones:
                phone.goto(room)
                view = phone.frame_locator("#view")
                expect(view.locator("[data-painted]").first).to_be_attached()
            names = [phone.frame_locator("#view").get_by_label("Network").input_value() for phone in phones]
            assert names == ["timemachine-gru"] * 2 + ["holmes-lstm"]
            view = phones[0].frame_locator("#view")
            view.get_by_role("textbox").first.press_sequentially("x")
            lectern = Lectern(browser.new_page(viewport={"width": 1280, "height": 720}), app)
            lectern.open(step="greedy", present=1)
            expect(lectern.root.locator(".ln-ask")).to_have_text("Room: 3")
            for phone in phones:
                expect(phone.locator("#question button").first).to_be_enabled()
                assert "x" in (view.get_by_role("textbox").first.input_value()), "no reload"
            lectern.page.close()
            expect(phones[0].get_by_text("You are in. Questions appear here.")).to_be_visible()
        finally:
            host.terminate()
            host.wait(30)
        assert "config option" not in host.stderr.read(), "Streamlit takes ours for a change"
    expect(phones[0].get_by_text(re.compile("^The room is closed|^No connection"))).to_be_visible()
    for phone in phones:
        phone.close()


def until_opened(lines: Iterable[str]) -> Iterator[str]:
    """What `rnnviz host` prints until the class's address is there."""
    for line in lines:
        yield line
        if "The class opens" in line:
            return
