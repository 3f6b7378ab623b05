"""Visitors of the Explore page without a browser: what the view sends, at the pace of a typist.

Each is a text and two WebSockets, one of Streamlit's protocol and the view's own. As in `view_socket.js` at
most one ask is in flight, it is the whole wish, and the last wish wins; as in `store.js` answers
continue one another. A key's time is from its moment to the answer that covers it.
"""

import argparse
import asyncio
import json
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psutil
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from rnnviz.ui.browser.payload import unpack

SENTENCE = "It was a long while before anyone spoke, and then the traveller laughed and told them of it. "
LETTERS = "the time machine stood still and nobody moved in the dark and silent room again "
BEFORE = 300  # characters that stand there when the typing begins
COLUMNS = 120
PATIENCE = 10.0  # seconds after which a lost ask is repeated
AT_ONCE = 8  # visitors that open the page at the same moment
GRACE = 15.0  # seconds that the last answers may take


@dataclass
class Tally:
    """What the crowd has seen."""

    times: list[float] = field(default_factory=list)  # milliseconds from a key to the answer that covers it
    keys: int = 0
    answers: int = 0
    repeated: int = 0


class Tab:
    """One visitor's tab."""

    def __init__(self, url: str, model: str, number: int, tally: Tally) -> None:
        self.url, self.model, self.tally = url, model, tally
        self.client, self.seq, self.waiting, self.wanted = f"crowd{number}", 0, 0, False
        start = 7 * number % len(SENTENCE)
        self.text = (SENTENCE * 8)[start : start + BEFORE]
        self.typed: deque[tuple[int, float]] = deque()  # the text's length with each key, and when that was
        self.nll = np.empty(0, np.float32)
        self.revision, self.digest = 0, ""
        self.direct = self.asked = ""
        self.opened, self.up_to_date = asyncio.Event(), asyncio.Event()
        self._ways: list[ClientConnection] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self) -> None:
        """Come, and wait for the picture."""
        cookie = await asyncio.to_thread(cookies, self.url)
        await self._way("/_stcore/stream", "streamlit", cookie, self._streamlit)
        message = BackMsg()
        message.rerun_script.query_string = f"model={self.model}"
        message.rerun_script.context_info.locale = "en-GB"
        await self._ways[0].send(message.SerializeToString())
        await asyncio.wait_for(self.opened.wait(), 120)
        await self._way("/live", self.direct, cookie, self._directly)
        if self._ways[-1].subprotocol is None:  # version 1.0.0 wants the token as the first message
            await self._ways[-1].send(self.direct)
        self._ask()
        await asyncio.wait_for(self.up_to_date.wait(), 60)

    async def leave(self) -> None:
        for way in self._ways:
            await way.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _way(self, path: str, known: str, cookie: str, hear: Any) -> None:
        way = await connect(
            f"ws://{urlsplit(self.url).netloc}{path}",
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=[known],  # type: ignore[list-item]
            additional_headers={"Cookie": cookie},
            max_size=None,
            compression=None,
            proxy=None,
        )
        self._ways.append(way)
        self._tasks.append(asyncio.create_task(hear(way)))

    def _ask(self) -> None:
        self.wanted = True
        self.up_to_date.clear()
        if not self.waiting:
            self._go()

    def _go(self) -> None:
        self.wanted = False
        self.seq += 1
        self.waiting, self.asked = self.seq, self.text
        wish = {
            "client": self.client, "seq": self.seq, "text": self.text,
            "start": max(0, len(self.text) - COLUMNS), "columns": COLUMNS,
            "quantity": "hidden", "layer": 0, "order": "steady", "unit": None,
            "temperature": 1, "top_k": None, "top_p": None,
            "base": self.revision, "static": self.digest, "write": 0, "at": 0, "model": "", "glance": False,
        }  # fmt: skip
        asyncio.get_running_loop().call_later(PATIENCE, self._late, self.seq)
        self._tasks.append(asyncio.create_task(self._ways[-1].send(json.dumps(wish))))
        del self._tasks[2:-1]  # those that have sent

    def _late(self, seq: int) -> None:
        if self.waiting == seq:
            self.tally.repeated += 1
            self._go()

    async def _streamlit(self, way: ClientConnection) -> None:
        async for data in way:
            message = ForwardMsg()
            message.ParseFromString(data)  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component":
                component = message.delta.new_element.bidi_component
                if component.component_name == "rnnviz.live":
                    self._take(component.bytes)
            elif kind == "script_finished" and self.direct:
                self.opened.set()

    async def _directly(self, way: ClientConnection) -> None:
        async for data in way:
            if isinstance(data, bytes):  # else it leaves the ask to the page
                self._take(data)

    def _take(self, data: bytes) -> None:
        header, arrays = unpack(data)
        if "text" in header:
            self.direct = header.get("session", "")
        elif header["client"] != self.client or header["seq"] < self.waiting:
            return
        assert header["known"] <= len(self.nll), "an answer continues one that never came"
        self.nll = np.concatenate([self.nll[: header["known"]], arrays["nll"]])
        self.revision, self.digest = header["revision"], header["digest"]
        if header["client"] != self.client or header["seq"] != self.waiting:
            return
        now, self.waiting = time.monotonic(), 0
        self.tally.answers += 1
        while self.typed and self.typed[0][0] <= len(self.asked):
            self.tally.times.append(1000 * (now - self.typed.popleft()[1]))
        if self.wanted:
            self._go()
        else:
            self.up_to_date.set()

    async def type(self, over: Callable[[], bool], pace: float) -> None:
        """So many keys a second until it is over, whether or not answers have come."""
        await asyncio.sleep(random.random() / pace)
        begin, number = time.monotonic(), 0
        while not over():
            self.text += LETTERS[number % len(LETTERS)]
            number += 1
            self.tally.keys += 1
            self.typed.append((len(self.text), time.monotonic()))
            self._ask()
            await asyncio.sleep(max(0.0, begin + number / pace - time.monotonic()))


def cookies(url: str) -> str:
    """By what the server knows a browser again, which it says with its first page."""
    with requests.Session() as browser:
        browser.trust_env = False
        browser.get(url, timeout=60)
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def wrong(tabs: list[Tab], model: str) -> int:
    """In how many of some tabs what was answered is not what the core says."""
    import rnnviz

    network = rnnviz.load(model)
    found = 0
    for tab in tabs[:: max(1, len(tabs) // 5)]:
        expected = rnnviz.trace(network, tab.text).nll
        found += len(expected) != len(tab.nll) or not np.allclose(tab.nll, expected, atol=1e-4)
    return found


async def crowd(given: argparse.Namespace) -> dict[str, Any]:
    """Some open the page, the first of them type; what they saw, and the server's share of a processor."""
    tally, places = Tally(), asyncio.Semaphore(AT_ONCE)
    tabs = [Tab(given.url, given.model, number, tally) for number in range(given.open)]
    typists = tabs[: given.typing]

    async def come(tab: Tab) -> None:
        async with places:
            await tab.open()

    await asyncio.gather(*map(come, tabs))
    await asyncio.sleep(given.rest)
    before, answers = psutil.Process(given.pid).cpu_times(), tally.answers
    end = time.monotonic() + given.seconds
    await asyncio.gather(*(tab.type(lambda: time.monotonic() >= end, given.pace) for tab in typists))
    after, answered = psutil.Process(given.pid).cpu_times(), tally.answers - answers
    await asyncio.wait([asyncio.create_task(tab.up_to_date.wait()) for tab in typists], timeout=GRACE)
    found = {
        "times": tally.times,
        "keys": tally.keys,
        "lost": sum(len(tab.typed) for tab in typists),
        "repeated": tally.repeated,
        "wrong": wrong(typists, given.model),
        "answers": answered / given.seconds,
        "share": (after.user + after.system - before.user - before.system) / given.seconds,
        "mb": psutil.Process(given.pid).memory_info().rss / 1e6,
    }
    await asyncio.gather(*(tab.leave() for tab in tabs))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("pid", type=int, help="the server's")
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--open", type=int, default=10)
    parser.add_argument("--typing", type=int, default=10)
    parser.add_argument("--rest", type=float, default=10.0, help="seconds before the typing")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--pace", type=float, default=4.0)
    print(json.dumps(asyncio.run(crowd(parser.parse_args()))))
