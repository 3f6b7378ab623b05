"""What other houses add to look: commands, pages and engines, entered here by `rnnviz.lab`.

look imports nothing of the lab. It asks here, and the first question imports the lab by its name.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from rnnviz.errors import Phrase


@dataclass(frozen=True)
class Page:
    """A page of the app: its address, the module with its function `page`, its words in the navigation."""

    name: str
    module: str
    title: Phrase
    icon: str
    about: Phrase


pages: list[Page] = []
"""The lab's pages, in the order of the navigation."""

commands: list[str] = []
"""Modules with COMMANDS and DEV, functions for `rnnviz.cli.bind`."""


@cache
def fill() -> None:
    """Import the lab, which enters here what it has."""
    import_module("rnnviz.lab")
