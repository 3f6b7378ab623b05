"""This computer's addresses in the local network, the likeliest first, found without any request."""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

import psutil

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
