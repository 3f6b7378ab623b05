"""One lecture: the scene, the step, and the state of each scene.

An ask is the whole wish (scene, step, changes), so asks may be dropped or repeated: the last one is right.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from rnnviz.errors import RnnvizError
from rnnviz.lecture import controls, symbols
from rnnviz.lecture.controls import State
from rnnviz.ui.pages.learn import notes, scenes, snippets
from rnnviz.ui.pages.learn.scenes import Scene

if TYPE_CHECKING:
    from rnnviz.ui.room.room import Question

ADDRESS = 500
"""Characters of the address that a scene may fill."""

ANSWERS = 100_000
"""Characters of an ask that are read at all."""


class Lecture:
    """The lecture of one session, begun at an address."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.number: int = _number(query) or 1
        self.present = query.get("present") == "1"
        self.code = query.get("code") == "1"
        self._states: dict[int, State] = {}
        step = controls.whole(1, self.scene.STEPS)(query.get("step")) or 1
        self._states[self.number] = {**controls.initial(self.scene.CONTROLS, query), "step": step - 1}

    @property
    def scene(self) -> Scene:
        """The current scene."""
        return scenes.scene(self.number)

    @property
    def state(self) -> State:
        """The current scene's state, as the scene uses it."""
        return controls.shown(self.scene.CONTROLS, self._set)

    @property
    def _set(self) -> State:
        """The current scene's state: None where the session's language decides."""
        if self.number not in self._states:
            self._states[self.number] = {**controls.initial(self.scene.CONTROLS, {}), "step": 0}
        return self._states[self.number]

    def take(self, wish: object) -> Mapping[str, Any]:
        """Go where a browser's wish says. Returns what it asks of that scene; {} if invalid."""
        fields = wish if isinstance(wish, Mapping) else {}
        self.number = _number(fields) or self.number
        if isinstance(present := fields.get("present"), bool):
            self.present = present
        if isinstance(code := fields.get("code"), bool):
            self.code = code
        step = fields.get("step")
        if type(step) is int:
            step = min(max(step, 0), self.scene.STEPS - 1)
            self._states[self.number] = controls.at_step(self.scene.CONTROLS, self._set, step)
        ask = fields.get("ask")
        if not isinstance(ask, dict) or len(json.dumps(ask)) > ANSWERS:
            return {}
        return ask

    def answer(self, wish: object, static: Mapping[str, Any], describe: Callable[[Exception], str]) -> bytes:
        """What the browser draws after `wish`, None if it hasn't asked: JSON in UTF-8, with `static`.

        An error becomes `describe`'s sentence and leaves the scene's state as it was.
        """
        fields = wish if isinstance(wish, Mapping) else {}
        ask = self.take(wish)
        self._borrow()
        sent: dict[str, Any] = {
            "client": fields.get("client", ""),
            "seq": fields.get("seq", 0),
            "scene": self.number,
            "module": scenes.MODULES[self.number - 1],
            "step": self.state["step"],
            "steps": self.scene.STEPS,
            "present": self.present,
            **static,
        }
        try:
            state = scenes.taken(self.scene, self._set, ask)
            shown = controls.shown(self.scene.CONTROLS, state)
            sent["data"] = self.scene.picture(shown)
            self._states[self.number] = state
            sent["code"] = self._code(shown, sent["data"])
            sent["notice"] = self.scene.notice(shown)
        except RnnvizError as error:
            sent |= {"error": describe(error), "notice": "", "code": None}
        room = bool(static.get("room", {}).get("door"))
        sent["formula"] = symbols.typeset(self.scene.formula({**self.state, "room": room}))
        sent["note"] = notes.said(self.number, self.state["step"])
        sent["query"] = self.query()
        return json.dumps(sent, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def asked(self) -> Question | None:
        """What the step asks the room, if the scene's module has an `asked` and asks something here."""
        asks = getattr(self.scene, "asked", None)
        return None if asks is None else cast("Question | None", asks(self.state))

    def _borrow(self) -> None:
        """A scene that shows what was done in another has it of that one's state, if it was seen."""
        borrowed: dict[str, str] = getattr(self.scene, "BORROWS", {})
        for name, module in borrowed.items():
            other = self._states.get(scenes.MODULES.index(module) + 1)
            if other is not None:
                self._states[self.number] = {**self._set, name: other[name]}

    def _code(self, state: State, shown: dict[str, Any]) -> dict[str, str] | None:
        """The step's code and what it prints: None if it has none, empty as long as nobody looks at it."""
        step = scenes.MODULES[self.number - 1], self.scene.NAMES[state["step"]]
        if not snippets.has(*step):
            return None
        found = snippets.cell(*step, state, shown) if self.code else None
        return {} if found is None else {"code": found.code, "printed": found.printed}

    def query(self) -> dict[str, str]:
        """The lecture as an address, of at most ADDRESS characters."""
        found = {"scene": str(self.number)}
        if self.present:
            found["present"] = "1"
        if self.code:
            found["code"] = "1"
        if self.state["step"]:
            found["step"] = str(self.state["step"] + 1)
        for name, value in controls.query(self.scene.CONTROLS, self._set).items():
            if len(urlencode({**found, name: value})) <= ADDRESS:
                found[name] = value
        return found


def _number(fields: Mapping[str, Any]) -> int | None:
    found: int | None = controls.whole(1, len(scenes.MODULES))(fields.get("scene"))
    return found
