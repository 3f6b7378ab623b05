"""The app's one room: open to a class's phones, or closed.

Phones use a listener of their own (listener.py), which runs while the room is open and serves networks' pages
and the lecture's questions. The app itself stays on this computer.

`rnnviz host` opens the room with the app. Without it, *Ask the room* on Learn and *Show on phones* do.
"""

import asyncio
import ipaddress
import re
import socket
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import psutil
import segno
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rnnviz.errors import ConfigError
from rnnviz.ui.serving.room import NETWORKS
from rnnviz.ui.serving.room.listener import Listener
from rnnviz.ui.serving.room.phones import Phones, Shown
from rnnviz.ui.serving.room.room import Question, Room

# Interfaces of containers, virtual machines and private networks, which phones in the room can't reach.
_VIRTUAL = re.compile(
    r"docker|br-|veth|virbr|vmnet|vmware|vbox|virtualbox|vethernet|hyper-v|utun|tun|tap|wg|zt|tailscale|podman|lxc|cni",
    re.IGNORECASE,
)
_WIRELESS = re.compile(r"wl|wi-?fi|en0$|wireless|无线", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """An IPv4 address, and the interface that has it."""

    address: str
    interface: str


def addresses() -> list[Address]:
    """The addresses by which phones may reach this computer, the likeliest first; [] without a network."""
    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    found = [
        Address(one.address, name)
        for name, all_of in psutil.net_if_addrs().items()
        if name in up
        for one in all_of
        if one.family == socket.AF_INET
    ]
    return ordered(found, default_route())


def ordered(found: Iterable[Address], route: str | None = None) -> list[Address]:
    """The addresses of a local network, the likeliest first: real interfaces before virtual ones, then the
    one whose address is `route`, then private addresses, then wireless interfaces.

    >>> [a.interface for a in ordered([Address("172.17.0.1", "docker0"), Address("192.168.1.5", "wlan0"),
    ...                                Address("127.0.0.1", "lo"), Address("169.254.3.3", "eth1")])]
    ['wlan0', 'docker0']
    """

    def rank(one: Address) -> tuple[bool, bool, bool, bool]:
        return (
            bool(_VIRTUAL.match(one.interface)),
            one.address != route,
            not ipaddress.ip_address(one.address).is_private,
            not _WIRELESS.match(one.interface),
        )

    def reachable(one: Address) -> bool:
        ip = ipaddress.ip_address(one.address)
        return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast)

    return sorted((one for one in dict.fromkeys(found) if reachable(one)), key=rank)


def default_route() -> str | None:
    """The address from which this computer would reach others; None without a route.

    `connect` on a datagram socket sends nothing: the system only chooses the interface.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # TEST-NET-1, RFC 5737: nobody's address
        except OSError:
            return None
        return str(probe.getsockname()[0])


WAIT = 4.0  # seconds that `look` waits for news; short, because a stopping server waits for open requests
GATHER = 0.15  # seconds of answers that go to the stage together
UNSEEN = 15.0  # seconds without `look` until a stage counts as left


@dataclass(frozen=True)
class RoomOptions:
    """What `rnnviz host` asks for.

    address   which of this computer's addresses to listen on; "": all
    port      of the listener; None: the first free one of listener.PORTS
    names     further names that phones open it by; a whole address where a proxy answers to it
    networks  names of the models that the class sees
    """

    address: str = ""
    port: int | None = None
    names: Sequence[str] = ()
    networks: Sequence[str] = NETWORKS


at_start: RoomOptions | None = None
"""Set before the server starts, by `rnnviz host`: the room then opens with the app."""


@dataclass(eq=False)
class OpenRoom:
    """The open room.

    places  addresses by which phones may come, the likeliest first: whole ones, or this computer's
    asks    whether the lecture's questions are asked; else it shows networks alone
    at      the index of the place shown
    staged  the current step's question
    looked  the time of the last `look`, by time.monotonic()
    """

    room: Room
    shown: Shown
    listener: Listener
    places: list[Address]
    asks: bool = False
    at: int = 0
    staged: Question | None = None
    looked: float = field(default_factory=time.monotonic)

    @property
    def url(self) -> str:
        """The address that phones open."""
        return self.urls()[self.at]

    def urls(self) -> list[str]:
        """The address by each of the places."""
        port = self.listener.port
        return [
            place.address if "://" in place.address else f"http://{place.address}:{port}"
            for place in self.places
        ]

    def move(self, address: object) -> None:
        """Show another of the places; an unknown address is ignored."""
        for i, place in enumerate(self.places):
            if place.address == address:
                self.at = i

    def door(self) -> dict[str, Any]:
        """The room's address, QR code and other places, as JSON for the stage."""
        return {
            "short": self.url.partition("://")[2],
            "url": self.url,
            "qr": qr(self.url),
            "places": [{"address": place.address, "interface": place.interface} for place in self.places],
            "at": self.at,
        }

    def stage(self, question: Question | None) -> None:
        """Ask the current step's question, or none."""
        self.staged = question
        self.room.ask(question)

    def seen(self) -> None:
        """Record a `look`, and ask the question again that `unseen` may have closed."""
        self.looked = time.monotonic()
        self.room.ask(self.staged)

    def choose(self, name: str) -> None:
        """Put the page of this name on all phones; "": each takes the one that suits its screen."""
        self.shown.chosen = name
        self.room.phones.ring()


_opened: OpenRoom | None = None
_lock = threading.Lock()  # of opening and closing


def current() -> OpenRoom | None:
    """The open room; None while it is closed."""
    return _opened


def open_room(language: str, ask: RoomOptions | None = None) -> OpenRoom:
    """The open room, opened if it is closed; its phones show the `language`, "en" or "zh".

    Raises ConfigError without an address in a local network, or without a free port.
    """
    global _opened
    ask = ask or at_start or RoomOptions()
    with _lock:
        if _opened is not None:
            return _opened
        here = [Address(ask.address, "")] if ask.address else addresses()
        places = [*(Address(name, "") for name in ask.names), *here]
        if not places:
            raise ConfigError(
                "this computer has no address in a local network; connect it to the Wi-Fi that the phones use"
            )
        room, shown = Room(language), Shown()
        _opened = OpenRoom(
            room, shown, Listener(Phones(room, shown).app, ask.address or "0.0.0.0", ask.port), places
        )
        return _opened


def close() -> None:
    """Close the room, whose phones hear of it, and its listener."""
    global _opened
    with _lock:
        opened, _opened = _opened, None
        if opened is not None:
            opened.room.close()
            opened.listener.close()


def unseen(after: float = UNSEEN) -> None:
    """Close the question of a room without a `look` for `after` seconds: its stage shows another page."""
    opened = _opened
    if opened is not None and time.monotonic() - opened.looked > after:
        opened.room.ask(None)


async def look(request: Request) -> Response:
    """A long poll: the room's state as JSON, once its edition differs from the query's `seen`, or after WAIT
    seconds.
    """
    opened = _opened
    if opened is None:
        return JSONResponse({"closed": True}, headers={"Cache-Control": "no-store"})
    opened.seen()
    room = opened.room
    with room.stage.heard() as news:
        if request.query_params.get("seen") == str(room.edition):
            try:
                await asyncio.wait_for(news.wait(), WAIT)
                await asyncio.sleep(GATHER)
            except TimeoutError:
                pass
    return JSONResponse(room.shown() | {"closed": room.closed}, headers={"Cache-Control": "no-store"})


async def answers(request: Request) -> Response:
    """The answers to all revealed questions as a CSV file."""
    from rnnviz.figures import export

    rows = _opened.room.table() if _opened is not None else []
    named = {"Content-Disposition": 'attachment; filename="answers.csv"', "Cache-Control": "no-store"}
    return Response(export.csv_text(rows) if rows else "", media_type="text/csv", headers=named)


@lru_cache(maxsize=20)
def qr(text: str) -> str:
    """A QR code as the data URI of an SVG, dark on white with a margin, so that any background will do."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))


def routes() -> list[Route]:
    """The stage's routes, on the app's own port."""
    return [Route("/room", look), Route("/room/answers.csv", answers)]
