"""The eight scenes, in order, and what a scene's module offers.

A scene is a module `scene_<number>_<name>.py` here, whose functions `Scene` lists, and
a module `static/scene_<number>.js`, which exports `draw(board, data, ask)`
(`static/kit.js` says what a board can do). The server computes with
`rnnviz.lecture`; the browser draws and asks.

    state   a small dict that JSON can hold: all that the scene remembers. "step" is always in it,
            0 to STEPS - 1, and kept by the frame: Space and its like change nothing else.
    ask     what the browser wants changed: a dict of whatever it passed to `ask`. Asks made while
            one is on its way are merged, later keys win; so an ask says what should be ("text": …),
            never by how much. It comes from outside: take only what is valid, ignore the rest.
    data    what the browser draws: plain JSON; no infinities, no NaN.

A scene is put back from its address: `initial(query)` reads what `query(state)`
wrote, and takes anything else for its usual values.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from rnnviz.ui.i18n import _

if TYPE_CHECKING:
    from rnnviz.ui.pages.learn.context import Context

State = dict[str, Any]
Ask = Mapping[str, Any]


class Scene(Protocol):
    """What a scene's module offers. No function here may take longer than about 100 ms."""

    STEPS: int
    """How many steps Space goes through: the scene as it opens is the first."""

    def notice(self, state: State) -> str:
        """One sentence that says what to notice now."""

    def formula(self, state: State) -> str:
        """LaTeX that stands beside the title: one line, in the textbook's notation."""

    def initial(self, query: Mapping[str, str]) -> State:
        """The scene as its address says; as it opens, where that says nothing. Without "step"."""

    def answer(self, state: State, ask: Ask, context: Context) -> tuple[State, dict[str, Any]]:
        """The state after `ask` (empty if nothing but the step has changed), and what to draw."""

    def query(self, state: State) -> dict[str, str]:
        """What the address keeps: what differs from the usual, in short values."""


MODULES = (
    "scene_1_counts",
    "scene_2_memoryless",
    "scene_3_recurrence",
    "scene_4_product",
    "scene_5_word",
    "scene_6_perplexity",
    "scene_7_backwards",
    "scene_8_questions",
)


def titles() -> list[str]:
    """What each scene is called."""
    return [
        _("Why a state at all"),
        _("Without a hidden state"),
        _("With a hidden state"),
        _("One product"),
        _("A character model"),
        _("Perplexity"),
        _("Back through time"),
        _("Check yourself"),
    ][: len(MODULES)]


def scene(number: int) -> Scene:
    """The module of scene `number`, 1 to len(MODULES)."""
    return cast(Scene, importlib.import_module(f"rnnviz.ui.pages.learn.{MODULES[number - 1]}"))
