"""The eight scenes, in order, and what a scene's module offers.

A scene is a module `scene_<number>_<name>.py` here, as `Scene` says, and
its twin `static/scene_<number>_<name>.js`, which exports `draw(board, data, ask)`
(`static/board.js` says what a board can do). The server computes with
`rnnviz.lecture.<name>`; the browser draws and asks.

    state    all that the scene remembers: the value of each of its CONTROLS, and "step", 0 to STEPS - 1,
             kept by the frame: Space and its like change nothing else
    ask      what the browser wants changed: a dict of whatever it passed to `ask`, by the controls' names.
             Asks made while one is on its way are merged, later keys win; so an ask says what should be
             ("text": …), never by how much
    picture  what the browser draws: plain JSON; no infinities, no NaN
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

from rnnviz.ui.i18n import _
from rnnviz.ui.pages.learn import controls
from rnnviz.ui.pages.learn.controls import Ask, Controls, State


class Scene(Protocol):
    """What a scene's module offers. No function here may take longer than about 100 ms.

    A module may also have a function `take(state, ask)`, for what no control can say.
    """

    STEPS: int
    """How many steps Space goes through: the scene as it opens is the first."""

    CONTROLS: Controls
    """What can be set, in the order in which it is taken from an ask."""

    def notice(self, state: State) -> str:
        """One sentence that says what to notice now."""

    def formula(self, state: State) -> str:
        """LaTeX that stands beside the title: one line, in the textbook's notation."""

    def picture(self, state: State) -> dict[str, Any]:
        """What to draw."""


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
    ]


def scene(number: int) -> Scene:
    """The module of scene `number`, 1 to len(MODULES)."""
    return cast(Scene, importlib.import_module(f"rnnviz.ui.pages.learn.{MODULES[number - 1]}"))


def taken(scene: Scene, state: State, ask: Ask) -> State:
    """The state of a scene after what is valid in `ask`."""
    state = controls.taken(scene.CONTROLS, state, ask)
    take = getattr(scene, "take", None)
    return state if take is None else cast(State, take(state, ask))
