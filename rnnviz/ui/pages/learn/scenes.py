"""The scenes, in order, and what a scene's module offers.

`scene_<number>_<name>.py` computes with `rnnviz.lecture.<name>`; its twin `static/scene_<number>_<name>.js`
exports `draw(board, data, ask)` (board: `static/board.js`).

    state    the value of each of the scene's CONTROLS, and "step", 0 to STEPS - 1, kept by the frame
    ask      what the browser wants changed: a dict by the controls' names. Asks made while one is on its way
             are merged, later keys win; so an ask says what should be, never by how much
    picture  what the browser draws: plain JSON, without infinities or NaN
"""

import importlib
from typing import Any, Protocol, cast

from rnnviz.i18n import _
from rnnviz.lecture import controls
from rnnviz.lecture.controls import Ask, Controls, State


class Scene(Protocol):
    """What a scene's module offers, about 100 ms a call; also `take(state, ask)` where controls don't do,
    `asked(state)` where a step has a question for the room: a ui/room/room.py `Question`, or None; and
    BORROWS, controls whose values are another scene's: {name: module}."""

    NAMES: tuple[str, ...]
    """A name for each step, which stays when another is put before it: what belongs to a step (its code, the
    lecturer's notes, links to it) is kept by it."""

    STEPS: int
    """Steps that Space goes through, the opening one included: len(NAMES)."""

    CONTROLS: Controls
    """In the order in which they are taken from an ask."""

    def notice(self, state: State) -> str:
        """One sentence: what to notice now."""

    def formula(self, state: State) -> str:
        """LaTeX beside the title: one line, in the textbook's notation."""

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
    "scene_9_summary",
)


def titles() -> list[str]:
    """The scenes' titles."""
    return [
        _("Why a state at all"),
        _("Without a hidden state"),
        _("With a hidden state"),
        _("One product"),
        _("A character model"),
        _("Perplexity"),
        _("Back through time"),
        _("Check yourself"),
        _("What to take home"),
    ]


def scene(number: int) -> Scene:
    """The module of scene `number`, from 1."""
    return cast(Scene, importlib.import_module(f"rnnviz.ui.pages.learn.{MODULES[number - 1]}"))


def place(module: str, name: str) -> dict[str, int]:
    """Where the step called `name` is: the number of its scene, from 1, and its step, from 0."""
    number = MODULES.index(module) + 1
    return {"scene": number, "step": scene(number).NAMES.index(name)}


def taken(scene: Scene, state: State, ask: Ask) -> State:
    """A scene's state after the valid part of `ask`."""
    state = controls.taken(scene.CONTROLS, state, ask)
    take = getattr(scene, "take", None)
    return state if take is None else cast(State, take(state, ask))
