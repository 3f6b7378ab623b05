"""The app's one room: open to a class's phones, or closed.

Phones use a listener of their own (listener.py), which runs while the room is open and serves the networks'
page and the lecture's questions. The app itself stays on this computer.

`rnnviz host` opens the room with the app. Without it, *Ask the room* on Learn and *Show on phones* do.
"""

import asyncio
import ipaddress
import re
import socket
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
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
from rnnviz.ui.serving.room.listener import ClassroomServer
from rnnviz.ui.serving.room.phones import PhoneApp, RoomPage
from rnnviz.ui.serving.room.room import Room, RoomQuestion

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


def list_addresses() -> list[Address]:
    """The addresses by which phones may reach this computer, the likeliest first; [] without a network."""
    up = {name for name, stats in psutil.net_if_stats().items() if stats.isup}
    addresses = [
        Address(interface_address.address, name)
        for name, interface_addresses in psutil.net_if_addrs().items()
        if name in up
        for interface_address in interface_addresses
        if interface_address.family == socket.AF_INET
    ]
    return order_addresses(addresses, default_route())


def order_addresses(addresses: Iterable[Address], route: str | None = None) -> list[Address]:
    """The addresses of a local network, the likeliest first: real interfaces before virtual ones, then the
    one whose address is `route`, then private addresses, then wireless interfaces.

    >>> addresses = [Address("172.17.0.1", "docker0"), Address("192.168.1.5", "wlan0"),
    ...              Address("127.0.0.1", "lo"), Address("169.254.3.3", "eth1")]
    >>> [address.interface for address in order_addresses(addresses)]
    ['wlan0', 'docker0']
    """

    def rank(address: Address) -> tuple[bool, bool, bool, bool]:
        return (
            bool(_VIRTUAL.match(address.interface)),
            address.address != route,
            not ipaddress.ip_address(address.address).is_private,
            not _WIRELESS.match(address.interface),
        )

    def reachable(address: Address) -> bool:
        ip = ipaddress.ip_address(address.address)
        return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast)

    return sorted((address for address in dict.fromkeys(addresses) if reachable(address)), key=rank)


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


# `stage_poll` waits so long for news. Short, because a server that stops waits for its open requests.
LOOK_WAIT_S = 4.0
# Answers that arrive within this time go to the stage together, which draws once for all of them.
ANSWERS_GATHER_S = 0.15
# Without a poll for this long, a stage counts as left: an open one asks anew as soon as it has an answer.
STAGE_LEFT_AFTER_S = 15.0


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


startup_options: RoomOptions | None = None
"""Set before the server starts, by `rnnviz host`: the room then opens with the app."""


@dataclass(eq=False)
class OpenRoom:
    """The open room.

    addresses        addresses by which phones may come, the likeliest first: whole ones, or this computer's
    asks_questions   whether the lecture's questions are asked; else it shows networks alone
    address_index    the index of the address shown
    staged_question  the current step's question
    staged_still     what phones show of that step
    last_look        the time of the last `stage_poll`, by time.monotonic()
    """

    room: Room
    page: RoomPage
    listener: ClassroomServer
    addresses: list[Address]
    asks_questions: bool = False
    address_index: int = 0
    staged_question: RoomQuestion | None = None
    staged_still: Mapping[str, str] = field(default_factory=dict)
    last_look: float = field(default_factory=time.monotonic)

    @property
    def url(self) -> str:
        """The address that phones open."""
        return self.urls()[self.address_index]

    def urls(self) -> list[str]:
        """The whole address for each of `addresses`."""
        port = self.listener.port
        return [
            address.address if "://" in address.address else f"http://{address.address}:{port}"
            for address in self.addresses
        ]

    def choose_address(self, address: object) -> None:
        """Show another of `addresses`; an unknown one is ignored."""
        for i, candidate in enumerate(self.addresses):
            if candidate.address == address:
                self.address_index = i

    def join_info(self) -> dict[str, Any]:
        """The room's address, QR code and other addresses, as JSON for the stage."""
        return {
            "short": self.url.partition("://")[2],
            "url": self.url,
            "qr": qr_code(self.url),
            "places": [vars(candidate) for candidate in self.addresses],
            "at": self.address_index,
        }

    def stage_question(self, question: RoomQuestion | None, still: Mapping[str, str] | None = None) -> None:
        """Ask the current step's question, or none, and show its `still`."""
        self.staged_question, self.staged_still = question, still or {}
        self.room.ask(question, self.staged_still)

    def record_look(self) -> None:
        """Record a poll of the stage, and ask the question again if `close_abandoned_question` closed it."""
        self.last_look = time.monotonic()
        self.room.ask(self.staged_question, self.staged_still)

    def choose(self, name: str) -> None:
        """Put the network of this name on all phones; "": each takes the one that suits its screen."""
        self.page.chosen = name
        self.room.phones.ring()


_current_room: OpenRoom | None = None
# Held while the room opens or closes: the start's thread, Learn's script and Explore's dialog may do so at a
# time.
_lock = threading.Lock()


def open_room_now() -> OpenRoom | None:
    """The open room; None while it is closed."""
    return _current_room


def open_room(language: str, options: RoomOptions | None = None) -> OpenRoom:
    """The open room, opened if it is closed; its phones show the `language`, "en" or "zh".

    Raises ConfigError without an address in a local network, or without a free port.
    """
    global _current_room
    options = options or startup_options or RoomOptions()
    with _lock:
        if _current_room is not None:
            return _current_room
        local = [Address(options.address, "")] if options.address else list_addresses()
        room_addresses = [*(Address(name, "") for name in options.names), *local]
        if not room_addresses:
            raise ConfigError(
                "this computer has no address in a local network; connect it to the Wi-Fi that the phones use"
            )
        room, page = Room(language), RoomPage()
        _current_room = OpenRoom(
            room,
            page,
            ClassroomServer(PhoneApp(room, page).app, options.address or "0.0.0.0", options.port),
            room_addresses,
        )
        return _current_room


def close() -> None:
    """Close the room, whose phones hear of it, and its listener."""
    global _current_room
    with _lock:
        opened, _current_room = _current_room, None
        if opened is not None:
            opened.room.close()
            opened.listener.close()


def close_abandoned_question(after: float = STAGE_LEFT_AFTER_S) -> None:
    """Close the question of a room whose stage has not polled for `after` seconds: it shows another page."""
    opened = _current_room
    if opened is not None and time.monotonic() - opened.last_look > after:
        opened.room.ask(None)


async def stage_poll(request: Request) -> Response:
    """A long poll: the room's state as JSON, once its edition differs from the query's `seen`, or after
    LOOK_WAIT_S seconds.
    """
    opened = _current_room
    if opened is None:
        return JSONResponse({"closed": True}, headers={"Cache-Control": "no-store"})
    opened.record_look()
    room = opened.room
    # The event is made before the edition is compared: news in between would otherwise wait for the next
    # poll.
    with room.stage.listen() as news:
        if request.query_params.get("seen") == str(room.edition):
            try:
                await asyncio.wait_for(news.wait(), LOOK_WAIT_S)
                await asyncio.sleep(ANSWERS_GATHER_S)
            except TimeoutError:
                pass
    return JSONResponse(room.stage_state() | {"closed": room.closed}, headers={"Cache-Control": "no-store"})


async def answers_csv(request: Request) -> Response:
    """The answers to all revealed questions as a CSV file."""
    from rnnviz.figures import export

    rows = _current_room.room.table() if _current_room is not None else []
    named = {"Content-Disposition": 'attachment; filename="answers.csv"', "Cache-Control": "no-store"}
    return Response(export.csv_text(rows) if rows else "", media_type="text/csv", headers=named)


@lru_cache(maxsize=20)
def qr_code(text: str) -> str:
    """A QR code as the data URI of an SVG, dark on white with a margin, so that any background will do."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))


def routes() -> list[Route]:
    """The stage's routes, on the app's own port."""
    return [Route("/room", stage_poll), Route("/room/answers.csv", answers_csv)]
