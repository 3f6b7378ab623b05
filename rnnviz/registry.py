"""What another house adds to look: commands and pages; its engine goes to `rnnviz.networks.engines`.

The lab enters its own in `rnnviz.lab`. Look imports nothing of it: it asks here, and the first question
imports the lab by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

Command = Callable[..., "int | None"]

# Look's one mention of the lab beside its facades; a string, as it is imported only when somebody asks.
HOUSES = ("rnnviz.lab",)

_pages: list[Page] = []
_commands: list[Callable[[], tuple[Command, ...]]] = []
_dev_commands: list[Callable[[], tuple[Command, ...]]] = []


@dataclass(frozen=True)
class Page:
    """A page of the app: its address, the module with its function `page`, its words in the navigation."""

    name: str
    module: str
    title: str
    icon: str
    about: str
    of_model: bool
    """Whether `page` takes the sidebar's choices; else it takes a place in the sidebar and Explore's page."""


def register(
    *pages: Page,
    commands: Callable[[], tuple[Command, ...]],
    dev_commands: Callable[[], tuple[Command, ...]],
) -> None:
    """Add pages, and commands for `rnnviz.cli.bind`, which are imported when they are asked for."""
    _pages.extend(pages)
    _commands.append(commands)
    _dev_commands.append(dev_commands)


@cache
def fill() -> None:
    """Import the houses that enter here what they have."""
    for house in HOUSES:
        import_module(house)


def pages() -> list[Page]:
    """The other houses' pages, in the order of the navigation."""
    fill()
    return _pages


def commands() -> list[Command]:
    """Their commands."""
    fill()
    return [command for listed in _commands for command in listed()]


def dev_commands() -> list[Command]:
    """Their commands for maintainers, under `rnnviz dev`."""
    fill()
    return [command for listed in _dev_commands for command in listed()]
