"""Whether the lecture gets slower while a class is in the room, and whether every answer counts.

    taskset -c 0,1 python tests/benchmarks/room.py --phones 500 --rounds 2

A lecturer in a real browser walks through scenes 6 to 8, in turns without a room and with one in which every
phone listens to the stream and answers each question within a few seconds of hearing it. Then three questions
stay open until every answer has come, or a minute is over. The phones are another process, on the processors
that the first is not given. Times are taken inside the page, from the key to the painted answer; the ratio
is of the pairs of a step and a round.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Page, expect
from sitting import browser, figure, options_of, ratio, settled

from rnnviz.lecture.scenes import scenes
from tests.support.lecturing import Lectern
from tests.support.serving import ROOT, serve

THINKING = (0.3, 3.0)  # seconds that a phone's owner takes to answer
PACE = 1_500  # milliseconds that the lecturer stays at a step: half the class is still answering
QUESTIONS = ("outputs", "greedy", "temperature")  # steps of scene 8 that ask


# ---- the class -----------------------------------------------------------------------------------------


@asynccontextmanager
async def post(host: str, port: int, path: str, **fields: Any) -> AsyncIterator[asyncio.StreamReader]:
    """One request on a connection of its own; the answer's body."""
    body = json.dumps(fields)
    reader, writer = await asyncio.open_connection(host, port)
    lines = [f"POST /room/{path} HTTP/1.1", f"Host: {host}:{port}", f"Content-Length: {len(body)}", "", body]
    writer.write("\r\n".join(lines).encode())
    await writer.drain()
    while (await reader.readline()).strip():
        pass
    try:
        yield reader
    finally:
        writer.close()


async def phone(host: str, port: int, n: int) -> None:
    """One phone, until the room closes."""
    await asyncio.sleep(random.uniform(0, 5))  # nobody scans at the same moment
    async with post(host, port, "join") as answer:
        phone_id = json.loads(await answer.readline())["phone"]

    async def think(number: int, options: int) -> None:
        await asyncio.sleep(random.uniform(*THINKING))
        with suppress(OSError):  # the room has closed meanwhile
            async with post(
                host, port, "answer", phone=phone_id, question=number, answer=n % options
            ) as answer:
                await answer.readline()

    thinking: asyncio.Task[None] | None = None
    async with post(host, port, "events", phone=phone_id) as stream:
        while line := await stream.readline():
            if not line.startswith(b"{"):
                continue
            message = json.loads(line)
            if message["state"] == "over":
                return
            if message["state"] == "open" and message["mine"] is None:
                if thinking is not None:
                    thinking.cancel()
                thinking = asyncio.create_task(think(message["number"], len(message["options"])))


def own_processors() -> None:
    """Phones bring their own: where the app was given some of the machine's, take the others; on shared ones
    give way to the app and the lecturer's browser.
    """
    if hasattr(os, "nice"):
        os.nice(19)
    if hasattr(os, "sched_setaffinity"):
        processors = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
        os.sched_setaffinity(0, processors or os.sched_getaffinity(0))


async def whole_class(url: str, count: int) -> None:
    """So many phones."""
    parts = urlsplit(url)
    everyone = (phone(str(parts.hostname), parts.port or 80, n) for n in range(count))
    await asyncio.gather(*everyone, return_exceptions=True)


# ---- the lecturer --------------------------------------------------------------------------------------


def walk(lectern: Lectern, scene_numbers: list[int]) -> dict[str, float]:
    """Milliseconds of each step of some scenes."""
    times: dict[str, float] = {}
    for number in scene_numbers:
        lectern.open(
            step=scenes()[number - 1].main_steps[0].name, present=1
        ) if "step" not in lectern.query() else go(lectern, number)
        for step in range(1, len(scenes()[number - 1].main_steps)):
            lectern.press("ArrowDown")
            lectern.at(number, step)
            lectern.page.wait_for_timeout(PACE)
            times[f"{number}.{step + 1}"] = float(lectern.root.get_attribute("data-took") or "nan")
    return times


def go(lectern: Lectern, number: int) -> None:
    """To the first step of a scene, in the same session."""
    while (now := int(lectern.root.get_attribute("data-scene") or 0)) != number:
        lectern.press("ArrowRight" if now < number else "ArrowLeft")
        lectern.rest()
    while lectern.root.get_attribute("data-step") != "0":
        lectern.press("ArrowUp")
        lectern.rest()


@contextmanager
def in_room(lectern: Lectern, phones: int) -> Iterator[None]:
    """So many phones are in the room."""
    lectern.root.locator(".ln-ask").click()
    address = lectern.root.locator(".ln-sheet .ln-room-address")
    expect(lectern.root.locator(".ln-sheet")).to_be_visible()
    port = str(address.text_content()).rpartition(":")[2]
    script = [sys.executable, __file__, "--join", f"http://127.0.0.1:{port}", "--phones", str(phones)]
    everyone = subprocess.Popen(script, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    expect(lectern.root.locator(".ln-room-count b")).to_have_text(str(phones), timeout=120_000)
    lectern.press("Escape")
    lectern.rest()
    yield
    lectern.root.locator(".ln-ask").click()
    lectern.root.get_by_role("button", name="Close the room").click()
    expect(lectern.root.locator(".ln-ask")).to_have_text("Ask the room")
    everyone.wait(60)


def votes(page: Page) -> int:
    """The answers to the open question, as the stage's own poll gives them."""
    status = page.evaluate("fetch('/room').then((got) => got.json())")
    return int((status.get("question") or {}).get("votes", 0))


def missing(lectern: Lectern, phones: int) -> int:
    """The answers of so many phones to three questions that have not come after a minute each."""
    missing_votes = 0
    for step in QUESTIONS:
        lectern.open(step=step, present=1)
        end = time.monotonic() + 60
        while (vote_count := votes(lectern.page)) < phones and time.monotonic() < end:
            lectern.page.wait_for_timeout(200)
        print(f"  {step}: {vote_count} answers after {60 - end + time.monotonic():.1f} s", flush=True)
        missing_votes += phones - vote_count
    return missing_votes


def main() -> None:
    """Print the two walks and their ratio."""
    parser = options_of(__doc__)
    parser.add_argument("--phones", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--scenes", type=int, nargs="+", default=[6, 7, 8])
    parser.add_argument("--join", help="be the class, at this address")
    options = parser.parse_args()
    if options.join:
        own_processors()
        asyncio.run(whole_class(options.join, options.phones))
        return
    without: list[dict[str, float]] = []
    with_room: list[dict[str, float]] = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with serve(ROOT / "app.py", environment=environment) as url, browser() as page:
        app = next(p for p in psutil.Process().children() if "streamlit" in " ".join(p.cmdline()))
        lectern = Lectern(page, url)
        lectern.open(step=scenes()[options.scenes[0] - 1].main_steps[0].name, present=1)
        walk(lectern, options.scenes)  # the first one loads everything
        before = highest_mb = settled(app)
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {options.phones} phones")
        for _ in range(options.rounds):
            without.append(walk(lectern, options.scenes))
            with in_room(lectern, options.phones):
                with_room.append(walk(lectern, options.scenes))
                highest_mb = max(highest_mb, app.memory_info().rss / 1e6)
            pair = (statistics.median(times.values()) for times in (without[-1], with_room[-1]))
            print("  median: without {:.0f} ms, with {:.0f} ms".format(*pair), flush=True)
        with in_room(lectern, options.phones):
            lost = missing(lectern, options.phones)
            highest_mb = max(highest_mb, app.memory_info().rss / 1e6)
    figure(f"answers of {options.phones} phones to three questions that were not counted", lost, most=0)
    title = f"memory of the app with {options.phones} phones beyond without"
    figure(title, highest_mb - before, "MB", most=60)
    rounds = zip(without, with_room, strict=True)
    middle, low, high = ratio([(before[step], after[step]) for before, after in rounds for step in before])
    print(f"ratio {middle:.2f} [{low:.2f}, {high:.2f}]")
    title = f"a step of the lecture while {options.phones} phones listen and answer ÷ without"
    figure(title, middle, "×", most=1.5)


if __name__ == "__main__":
    main()
