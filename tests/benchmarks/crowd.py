"""Visitors of the Explore page without a browser, for hall.py: what the view sends, at the pace of a typist.

Each is a text and a WebSocket that speaks Streamlit's protocol; a second one where the page offers it, as in
`direct.js`. As in `link.js` at most one ask is in flight, it is the whole wish, and the last wish wins; as in
`store.js` answers continue one another. A key's time is from its moment to the answer that covers it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from rnnviz.ui.browser.payload import unpack

SENTENCE = "It was a long while before anyone spoke, and then the traveller laughed and told them of it. "
LETTERS = "the time machine stood still and nobody moved in the dark and silent room again "
BEFORE = 300  # characters that stand there when the typing begins
COLUMNS = 120
AWAY = 2.0  # seconds that somebody who comes back is away
PATIENCE = 10.0  # seconds after which a lost ask is repeated
AT_ONCE = 8  # visitors that open the page at the same moment
GRACE = 15.0  # seconds that the last answers may take


@dataclass
class Tally:
    """What the crowd has seen."""

    times: list[float] = field(default_factory=list)  # seconds from a key to the answer that covers it
    keys: int = 0
    answers: int = 0
    bytes: int = 0  # of all messages that came while typing
    messages: int = 0
    repeated: int = 0
    returned: int = 0
    forgotten: int = 0  # those who came back and did not find their text


class Tab:
    """One visitor's tab."""

    def __init__(self, url: str, model: str, number: int, tally: Tally) -> None:
        self.url, self.model, self.tally = url, model, tally
        self.client, self.seq, self.waiting, self.wanted = f"crowd{number}", 0, 0, False
        start = 7 * number % len(SENTENCE)
        self.text = (SENTENCE * 8)[start : start + BEFORE]
        self.typed: deque[tuple[int, float]] = (
            deque()
        )  # the text's length with each key, and when it was pressed
        self.nll = np.empty(0, np.float32)
        self.revision, self.digest, self.covered = 0, "", 0
        self.live = self.fragment = self.session = self.page = self.direct = ""
        self.shown = self.asked = self.cookie = ""
        self.opened, self.up_to_date = asyncio.Event(), asyncio.Event()
        self._ways: list[ClientConnection] = []
        self._tasks: list[asyncio.Task[None]] = []

    # ---- coming and going ----

    async def open(self) -> None:
        """Come, or come back, and wait for the picture."""
        self.opened.clear()
        self.waiting = self.revision = 0
        self.live = self.direct = ""
        if not self.cookie:
            self.cookie = await asyncio.to_thread(cookie, self.url)
        known = ["streamlit", "none", self.session] if self.session else ["streamlit"]
        await self._way("/_stcore/stream", known, self._streamlit)
        message = BackMsg()
        message.rerun_script.query_string = f"model={self.model}"
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.context_info.locale = "en-GB"
        await self._ways[0].send(message.SerializeToString())
        await asyncio.wait_for(self.opened.wait(), 120)
        if self.direct:
            await self._way("/live", [self.direct], self._directly)

    async def leave(self) -> None:
        for way in self._ways:
            await way.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ways, self._tasks = [], []

    async def _way(self, path: str, known: Any, hear: Any) -> None:
        host = urlsplit(self.url).netloc
        way = await connect(
            f"ws://{host}{path}",
            origin=self.url,  # type: ignore[arg-type]
            subprotocols=known,
            additional_headers={"Cookie": self.cookie},
            max_size=None,
            compression=None,
            proxy=None,
        )
        self._ways.append(way)
        self._tasks.append(asyncio.create_task(hear(way)))

    async def come_back(self) -> None:
        """Leave, and come back to the same session: the text has to stand there."""
        before = self.text
        await self.leave()
        await asyncio.sleep(AWAY)
        await self.open()
        self.tally.returned += 1
        self.tally.forgotten += self.shown != before
        self.ask()

    # ---- asking ----

    def ask(self) -> None:
        self.wanted = True
        self.up_to_date.clear()
        if not self.waiting:
            self._go()

    def _go(self) -> None:
        if not self._ways:
            return
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
        self._tasks.append(asyncio.create_task(self._send(wish)))
        del self._tasks[2:-1]  # those that have sent

    async def _send(self, wish: dict[str, Any]) -> None:
        if self.direct:
            await self._ways[-1].send(json.dumps(wish))
            return
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.fragment_id = f"model={self.model}", self.fragment
        state.page_script_hash = self.page
        said = json.dumps([{"event": "ask", "value": wish}])
        id = f"$$STREAMLIT_INTERNAL_KEY_{self.live}__events"
        state.widget_states.widgets.append(WidgetState(id=id, json_trigger_value=said))
        state.context_info.locale = "en-GB"
        await self._ways[0].send(message.SerializeToString())

    def _late(self, seq: int) -> None:
        if self.waiting == seq:
            self.tally.repeated += 1
            self._go()

    # ---- hearing ----

    async def _streamlit(self, way: ClientConnection) -> None:
        async for data in way:
            if self.opened.is_set():
                self.tally.messages += 1
                self.tally.bytes += len(data)
            message = ForwardMsg()
            message.ParseFromString(data)  # type: ignore[arg-type]
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
            elif kind == "navigation":
                self.page = message.navigation.page_script_hash
            elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "bidi_component":
                component = message.delta.new_element.bidi_component
                if component.component_name == "rnnviz.live":
                    self.live, self.fragment = component.id, message.delta.fragment_id
                    self._take(component.bytes)
            elif kind == "script_finished" and self.live:
                self.opened.set()

    async def _directly(self, way: ClientConnection) -> None:
        async for data in way:
            self.tally.messages += 1
            self.tally.bytes += len(data)
            if isinstance(data, bytes):  # else it leaves the ask to the page
                self._take(data)

    def _take(self, data: bytes) -> None:
        header, arrays = unpack(data)
        if "text" in header:
            self.shown = header["text"]
            self.direct = header.get("session", "")
        elif header["client"] != self.client or header["seq"] < self.waiting:
            return
        if header["known"] > len(self.nll):
            raise AssertionError("an answer continues one that never came")
        self.nll = np.concatenate([self.nll[: header["known"]], arrays["nll"]])
        self.revision, self.digest = header["revision"], header["digest"]
        if header["client"] != self.client or header["seq"] != self.waiting:
            return
        now = time.monotonic()
        self.tally.answers += 1
        self.waiting, self.covered = 0, len(self.asked)
        while self.typed and self.typed[0][0] <= self.covered:
            self.tally.times.append(now - self.typed.popleft()[1])
        if self.wanted:
            self._go()
        else:
            self.up_to_date.set()

    # ---- typing ----

    async def type(self, end: float, pace: float, returns: bool) -> None:
        """So many keys a second until `end`, whether or not answers have come."""
        await asyncio.sleep(random.random() / pace)
        begin = time.monotonic()
        away = begin + (end - begin) * random.uniform(0.2, 0.8) if returns else end
        number = 0
        while (now := time.monotonic()) < end:
            if now >= away:
                await asyncio.wait_for(self.up_to_date.wait(), GRACE)
                await self.come_back()
                away, begin, number = end, time.monotonic(), 0
            self.text += LETTERS[self.tally.keys % len(LETTERS)]
            self.tally.keys += 1
            self.typed.append((len(self.text), time.monotonic()))
            self.ask()
            number += 1
            await asyncio.sleep(max(0.0, begin + number / pace - time.monotonic()))


def cookie(url: str) -> str:
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


async def heard(word: str) -> None:
    """Wait until hall.py says so."""
    while (await asyncio.to_thread(sys.stdin.readline)).strip() != word:
        pass


async def crowd(url: str, model: str, count: int, seconds: float, pace: float) -> None:
    """Open, say so, type when told, say what was seen, leave when told."""
    tally = Tally()
    tabs = [Tab(url, model, number, tally) for number in range(count)]
    places = asyncio.Semaphore(AT_ONCE)

    async def come(tab: Tab) -> None:
        async with places:
            await tab.open()
            tab.ask()
            await asyncio.wait_for(tab.up_to_date.wait(), 60)

    await asyncio.gather(*map(come, tabs))
    print("ready", flush=True)
    await heard("go")
    before = tally.answers, tally.messages, tally.bytes
    end = time.monotonic() + seconds
    # Every fifth leaves in between and comes back.
    await asyncio.gather(*(tab.type(end, pace, number % 5 == 4) for number, tab in enumerate(tabs)))
    answers, messages, size = (
        now - was for now, was in zip((tally.answers, tally.messages, tally.bytes), before, strict=True)
    )
    for tab in tabs:
        try:
            await asyncio.wait_for(tab.up_to_date.wait(), GRACE)
        except TimeoutError:
            continue
    found = {
        "keys": tally.keys,
        "answers": answers,
        "messages": messages,
        "bytes": size,
        "lost": sum(len(tab.typed) for tab in tabs),
        "repeated": tally.repeated,
        "returned": tally.returned,
        "forgotten": tally.forgotten,
        "wrong": wrong(tabs, model),
        "times": [round(1000 * one, 1) for one in tally.times],
    }
    print(json.dumps(found), flush=True)
    await heard("leave")
    await asyncio.gather(*(tab.leave() for tab in tabs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--model", default="timemachine-gru")
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pace", type=float, default=4.0)
    given = parser.parse_args()
    asyncio.run(crowd(given.url, given.model, given.visitors, given.seconds, given.pace))
