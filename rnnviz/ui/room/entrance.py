"""A way in for phones: a listener, and the short address and QR code that lead to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import segno

from rnnviz.errors import ConfigError
from rnnviz.ui.room.addresses import Address, addresses
from rnnviz.ui.room.listener import Listener


@dataclass(eq=False)
class Entrance:
    """A listener under the word `code`, and this computer's addresses; `at` says which of them is shown."""

    code: str
    listener: Listener
    places: list[Address]
    at: int = field(default=0, kw_only=True)

    @property
    def short(self) -> str:
        """What is typed: address, port and code."""
        return f"{self.places[self.at].address}:{self.listener.port}/{self.code}"

    @property
    def url(self) -> str:
        """What the QR code holds."""
        return f"http://{self.short}"

    def move(self, address: object) -> None:
        """Show another of this computer's addresses; one that it hasn't got is ignored."""
        for i, one in enumerate(self.places):
            if one.address == address:
                self.at = i

    def close(self) -> None:
        """Let nobody in any more."""
        self.listener.close()


def here() -> list[Address]:
    """Where phones may find this computer. Raises ConfigError without a network."""
    found = addresses()
    if not found:
        raise ConfigError(
            "this computer has no address in a local network; connect it to the Wi-Fi that the phones use"
        )
    return found


@lru_cache(maxsize=20)
def qr(text: str) -> str:
    """A QR code as the address of an SVG picture, dark on white with its margin, on any background."""
    code = segno.make(text, error="m", micro=False)
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True))
