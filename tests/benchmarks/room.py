"""Whether the lecture's steps get slower while a class is in the room.

    taskset -c 0,1 python tests/benchmarks/room.py --phones 200 --rounds 4

A lecturer in a real browser walks through scenes 6 to 8, in turns without a room and with one in which every
phone listens to the stream and answers each question within a few seconds of hearing it. The phones are
another process, on the processors that the first is not given. Times are taken inside the page, from the key
to the painted answer; the ratio is that of the medians, with the interval of a paired bootstrap over steps
and rounds.
"""

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import Page, expect
from sitting import browser, figure, options_of

from rnnviz.lecture.scenes import scenes
from tests.browser.driving import ROOT, serve
from tests.browser.lecturing import Lectern

THINKING = (0.3, 3.0)  # seconds that a phone's owner takes to answer
HOSTED = {"RNNVIZ_HOSTED": "1", "RNNVIZ_KEY": "the key of a benchmark"}
PACE = 1_500  # milliseconds that the lecturer stays at a step: half the class is still answering


# ---- the class -----------------------------------------------------------------------------------------


@asynccontextmanager
async def request(
    host: str, port: int, head: str, cookie: str = "", body: str = ""
) -> AsyncIterator[asyncio.StreamReader]:
    """One request on a connection of its own; the answer from its first line on."""
    reader, writer = await asyncio.open_connection(host, port)
    lines = [f"{head} HTTP/1.1", f"Host: {host}:{port}", f"Content-Length: {len(body)}"]
    writer.write("\r\n".join([*lines, *([f"Cookie: {cookie}"] if cookie else []), "", body]).encode())
    await writer.drain()
    try:
        yield reader
    finally:
        writer.close()


async def phone(host: str, port: int, path: str, n: int) -> None:
    """One phone, until the room closes."""
    await asyncio.sleep(random.uniform(0, 5))  # nobody scans at the same moment
    cookie = ""
    async with request(host, port, f"GET {path}") as answer:
        while (line := await answer.readline()).strip():
            if line.lower().startswith(b"set-cookie:"):
                cookie = line.split(b":", 1)[1].split(b";")[0].decode().strip()

    async def think(number: int, options: int) -> None:
        await asyncio.sleep(random.uniform(*THINKING))
        said = json.dumps({"question": number, "answer": n % options})
        async with request(host, port, f"POST {path}/answer", cookie, said) as answer:
            await answer.readline()

    thinking: asyncio.Task[None] | None = None
    async with request(host, port, f"GET {path}/events", cookie) as stream:
        while line := await stream.readline():
            if not line.startswith(b"data: "):
                continue
            heard = json.loads(line[6:])
            if thinking is not None:
                thinking.cancel()
            if heard["state"] == "over":
                return
            if heard["state"] == "open" and heard["mine"] is None:
                thinking = asyncio.create_task(think(heard["number"], len(heard["options"])))


def own_processors() -> None:
    """Phones bring their own: where the app was given some of the machine's, take the others."""
    if hasattr(os, "sched_setaffinity"):
        others = set(range(os.cpu_count() or 1)) - os.sched_getaffinity(0)
        os.sched_setaffinity(0, others or os.sched_getaffinity(0))


async def whole_class(url: str, count: int) -> None:
    """So many phones."""
    parts = urlsplit(url)
    everyone = (phone(str(parts.hostname), parts.port or 80, parts.path, n) for n in range(count))
    await asyncio.gather(*everyone, return_exceptions=True)


# ---- the lecturer --------------------------------------------------------------------------------------


def walk(lectern: Lectern, wanted: list[int]) -> dict[str, float]:
    """Milliseconds of each step of some scenes."""
    found: dict[str, float] = {}
    for number in wanted:
        lectern.open(
            step=scenes()[number - 1].stops[0].name, present=1
        ) if "step" not in lectern.query() else go(lectern, number)
        for step in range(1, len(scenes()[number - 1].stops)):
            lectern.press("ArrowDown")
            lectern.at(number, step)
            lectern.page.wait_for_timeout(PACE)
            found[f"{number}.{step + 1}"] = float(lectern.root.get_attribute("data-took") or "nan")
    return found


def go(lectern: Lectern, number: int) -> None:
    """To the first step of a scene, in the same session."""
    while (now := int(lectern.root.get_attribute("data-scene") or 0)) != number:
        lectern.press("ArrowRight" if now < number else "ArrowLeft")
        lectern.rest()
    while lectern.root.get_attribute("data-step") != "0":
        lectern.press("ArrowUp")
        lectern.rest()


def with_class(lectern: Lectern, wanted: list[int], phones: int) -> dict[str, float]:
    """The same walk while the class is in the room, and how many answers came."""
    page: Page = lectern.page
    lectern.root.locator(".ln-ask").click()
    address = lectern.root.locator(".ln-sheet .ln-room-address")
    expect(lectern.root.locator(".ln-sheet")).to_be_visible()
    port = str(address.text_content()).partition(":")[2]  # and the path behind it
    script = [sys.executable, __file__, "--join", f"http://127.0.0.1:{port}", "--phones", str(phones)]
    everyone = subprocess.Popen(script, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
    expect(lectern.root.locator(".ln-room-count b")).to_have_text(str(phones), timeout=120_000)
    page.evaluate(HEAR)
    lectern.press("Escape")
    lectern.rest()
    found = walk(lectern, wanted)
    answers = page.evaluate("[...window.most.values()]")
    print(f"  answers to each question while it was open: {answers}", flush=True)
    lectern.root.locator(".ln-ask").click()
    lectern.root.get_by_role("button", name="Close the room").click()
    expect(lectern.root.locator(".ln-ask")).to_have_text("Ask the room")
    everyone.wait(30)
    return found


HEAR = """() => {
  window.most = new Map();
  const post = BroadcastChannel.prototype.postMessage;
  BroadcastChannel.prototype.postMessage = function (data) {
    const question = data?.kind === "room" && data.room?.question;
    if (question) window.most.set(question.key, question.answered);
    post.call(this, data);
  };
}"""


def ratio(without: list[dict[str, float]], with_room: list[dict[str, float]]) -> tuple[float, float, float]:
    """The medians' ratio, and its 95 % interval: whole rounds and steps are drawn anew, in pairs."""
    steps = list(without[0])
    pairs = np.array([[[a[s], b[s]] for s in steps] for a, b in zip(without, with_room, strict=True)])
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        rounds, of = rng.integers(len(pairs), size=len(pairs)), rng.integers(len(steps), size=len(steps))
        sample = pairs[rounds][:, of].reshape(-1, 2)
        drawn.append(np.median(sample[:, 1]) / np.median(sample[:, 0]))
    flat = pairs.reshape(-1, 2)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(np.median(flat[:, 1]) / np.median(flat[:, 0])), float(low), float(high)


def main() -> None:
    """Print the two walks and their ratio."""
    parser = options_of(__doc__)
    parser.add_argument("--phones", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--scenes", type=int, nargs="+", default=[6, 7, 8])
    parser.add_argument("--hosted", action="store_true", help="through a hosted app's own port")
    parser.add_argument("--join", help="be the class, at this address")
    options = parser.parse_args()
    if options.join:
        own_processors()
        asyncio.run(whole_class(options.join, options.phones))
        return
    without: list[dict[str, float]] = []
    with_room: list[dict[str, float]] = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **(HOSTED if options.hosted else {})}
    with serve(ROOT / "app.py", environment=environment) as url, browser() as page:
        page.goto(f"{url}/learn?key={HOSTED['RNNVIZ_KEY']}")
        lectern = Lectern(page, url)
        lectern.open(step=scenes()[options.scenes[0] - 1].stops[0].name, present=1)
        walk(lectern, options.scenes)  # the first one loads everything
        print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {options.phones} phones")
        for _ in range(options.rounds):
            without.append(walk(lectern, options.scenes))
            with_room.append(with_class(lectern, options.scenes, options.phones))
            pair = (statistics.median(one.values()) for one in (without[-1], with_room[-1]))
            print("  median: without {:.0f} ms, with {:.0f} ms".format(*pair), flush=True)
    middle, low, high = ratio(without, with_room)
    print(f"ratio of the medians {middle:.2f} [{low:.2f}, {high:.2f}]")
    figure(f"a step of the lecture while {options.phones} phones listen and answer ÷ without", middle, "×")


if __name__ == "__main__":
    main()
