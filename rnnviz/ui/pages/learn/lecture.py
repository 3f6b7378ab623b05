"""One session's lecture: the current step, and the values of its controls.

A browser's ask states the whole aim (the step, the values), so asks may be dropped or repeated: the last one
is right. Values belong to a scene: two of its steps with a control of the same name share its value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from rnnviz.errors import RnnvizError
from rnnviz.i18n import _, language
from rnnviz.lecture import controls, symbols
from rnnviz.lecture.controls import ControlValues, whole
from rnnviz.lecture.scenes import Scene, find_step, scenes
from rnnviz.lecture.steps import OPEN, PICK, Step
from rnnviz.ui.serving.room.room import RoomQuestion

MAX_ADDRESS_CHARS = 500
"""Characters of a step's address, at most."""

MAX_CHANGES_CHARS = 100_000
"""Characters of an ask's changes as JSON, at most; longer changes are ignored. The connection has a limit of
its own, MAX_ASK_CHARS, but an ask may also come by way of Streamlit."""


class Lecture:
    """The lecture of one session. `query` has the address's values by name, which choose the first step."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.number, at = find_step(query.get("step", "")) or (1, 0)
        self.present = query.get("present") == "1"
        self.code = query.get("code") == "1"
        # Each scene keeps its step and its values while others are shown: the lecturer may come back.
        self._at = {self.number: at}
        self._set: dict[tuple[int, str], Any] = {}
        # A rerun of the page asks nothing: its answer says with this which asks it has seen.
        self._newest_ask: dict[str, str | int] = {"client": "", "seq": 0}
        self.still: Mapping[str, str] = {}  # what the class's phones show of the last answer
        for name, control in self.step.controls.items():
            self._set[self._key(name)] = control.valid(query.get(name)) if control.in_address else None

    @property
    def scene(self) -> Scene:
        """The current scene."""
        return scenes()[self.number - 1]

    @property
    def at(self) -> int:
        """The current step's number in its scene, from 0."""
        return self._at.setdefault(self.number, 0)

    @property
    def step(self) -> Step:
        """The current step."""
        return self.scene.steps[self.at]

    def _key(self, control: str) -> tuple[int, str]:
        # A scene's questions all have a control PICK, but each its own answer; other controls are shared.
        return self.number, f"{PICK}.{self.step.name}" if control == PICK else control

    @property
    def chosen_values(self) -> ControlValues:
        """The values that the lecturer has set for the current step; None for those not set."""
        return {name: self._set.get(self._key(name)) for name in self.step.controls}

    @property
    def values(self) -> ControlValues:
        """The values of the current step's controls, defaults included."""
        return controls.with_defaults(self.step.controls, self.chosen_values)

    def go_to_step(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Go to the step that an ask names. Returns the values that it sets there; {} if invalid."""
        self.number = whole(1, len(scenes()))(fields.get("scene")) or self.number
        if isinstance(present := fields.get("present"), bool):
            self.present = present
        if isinstance(code := fields.get("code"), bool):
            self.code = code
        if type(step := fields.get("step")) is int:
            self._at[self.number] = min(max(step, 0), len(self.scene.steps) - 1)
        if isinstance(named := fields.get("go"), str) and (target := find_step(named)):
            self.number, self._at[target[0]] = target
        changes = fields.get("changes")
        return changes if isinstance(changes, dict) and len(json.dumps(changes)) <= MAX_CHANGES_CHARS else {}

    def answer(
        self, ask_json: object, static: Mapping[str, Any], error_words: Callable[[Exception], str]
    ) -> bytes:
        """The answer to an ask, None for a first drawing: JSON in UTF-8, with the entries of `static`.

        For a RnnvizError the answer has its sentence, made by `error_words`, and the values stay as they
        were. The step that was gone to stays.
        """
        # The step comes first: the values that the ask sets are of the step that it goes to.
        fields = ask_json if isinstance(ask_json, Mapping) else {}
        changes = self.go_to_step(fields)
        step = self.step
        if "client" in fields and type(fields.get("seq")) is int:
            self._newest_ask = {"client": str(fields["client"])[:64], "seq": fields["seq"]}
        sent: dict[str, Any] = {
            **self._newest_ask,
            "scene": self.number,
            "step": self.at,
            "steps": len(self.scene.main_steps),
            "present": self.present,
            "titles": [_(scene.title) for scene in scenes()],
            **static,
        }
        try:
            chosen_values = controls.apply_changes(step.controls, self.chosen_values, changes)
            values = controls.with_defaults(step.controls, chosen_values)
            sent |= _picture_data(step, values) | {"formula": symbols.typeset(step.formula_at(values))}
            # Last, so that values which raise an error aren't kept: the next picture would raise it again.
            self._set |= {self._key(name): value for name, value in chosen_values.items()}
        except RnnvizError as error:
            sent |= {"error": error_words(error), "notice": "", "code": None, "formula": ""}
        self.still = {"title": _(step.title), "says": sent["notice"], "formula": sent["formula"]}
        sent["note"] = self._note(fields.get("notes") is True)
        sent["query"] = self.query()
        data = json.dumps(sent, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return data.encode(errors="replace")  # a client's id may contain half a surrogate pair

    def room_question(self) -> RoomQuestion | None:
        """The step's question to the room; None if it has none. `over` once its picture is shown."""
        step = self.step
        if step.room_question and (letter := step.room_question(**self.values)):
            return RoomQuestion(**{**vars(letter), "options": tuple(letter.options)}, letters=True)
        if step.question is None:
            return None
        over = self.values[PICK] != OPEN
        options = tuple(_(option) for option in step.question.options)
        return RoomQuestion(
            step.key, _(step.question.text), options, right=step.question.right if over else None, over=over
        )

    def _note(self, preview: bool) -> dict[str, Any]:
        """The notes for the lecturer's window: the step's title, lines to say and ask, when it should begin,
        and the next step, drawn if `preview`.
        """
        step, scene = self.step, self.scene
        # Behind a scene's last step comes the next scene's first, named by "next_scene"; at the end neither.
        following = scene.main_steps[self.at + 1 : self.at + 2]
        next_scenes = scenes()[self.number : self.number + 1] if not following else ()
        next_steps = following or (next_scenes[0].main_steps[:1] if next_scenes else ())
        question = step.question
        right = f"{'ABCDEF'[question.right]} " + _(question.options[question.right]) if question else ""
        return {
            "title": _(step.title),
            "plan": [] if step.appendix else [_plan(step, "minutes"), _plan(step, "minutes_of_90")],
            "right": right,
            "preview": _preview(next_steps[0].name, language()) if preview and next_steps else None,
            "lines": [_(step.say), _(step.question.text if step.question else str(step.prompt))],
            "next": _(next_steps[0].title) if next_steps else "",
            "next_scene": _(next_scenes[0].title) if next_scenes else "",
            "appendix": [[extra.name, _(extra.title)] for extra in scene.appendix],
        }

    def query(self) -> dict[str, str]:
        """The address's values for the current step, at most MAX_ADDRESS_CHARS; values that don't fit are
        left out.
        """
        query = {"step": self.step.name}
        if self.present:
            query["present"] = "1"
        if self.code:
            query["code"] = "1"
        # Only values other than the default, and each only if the address stays short enough to be shared.
        for name, control in self.step.controls.items():
            value = self.chosen_values[name]
            longer = query | {name: str(value)}
            if (
                value not in (None, control.default)
                and control.in_address
                and len(urlencode(longer)) <= MAX_ADDRESS_CHARS
            ):
                query = longer
        return query


def _picture_data(step: Step, values: ControlValues) -> dict[str, Any]:
    """The step's picture, its sentence on where to look and its code; or the question before these."""
    data: dict[str, Any] = {"key": step.key, "controls": []}
    if step.question:
        options = [_(option) for option in step.question.options]
        data["question"] = {"text": _(step.question.text), "options": options, "again": _("Ask again")}
        if values[PICK] == OPEN and step.question.shows:
            data["exhibit"] = step.question.shows()
        if values[PICK] == OPEN:
            return {"data": data, "notice": _("What do you think?"), "code": None}
    picture, notice = step.draw(values)
    data["controls"] = [
        {"name": name, **control.widget_at(values[name])}
        for name, control in step.controls.items()
        if control.widget
    ]
    data["picture"] = picture
    if step.question:
        data["question"] |= {"right": step.question.right, "predicted": values[PICK]}
    code = step.code(values)
    return {"data": data, "notice": notice, "code": {"code": code} if code else None}


@lru_cache(maxsize=64)
def _preview(name: str, _language: str) -> dict[str, Any] | None:
    """A step's drawing as it opens; None where it can't be drawn. Cached, as a dragged slider asks often."""
    step = next(step for scene in scenes() for step in scene.steps if step.name == name)
    with suppress(RnnvizError):
        return dict(_picture_data(step, step.initial_values)["data"])
    return None


def _plan(step: Step, lasts: str) -> list[float]:
    """The minute at which a stop should begin, and its minutes; `lasts` is the step's attribute of these."""
    stops = [stop for scene in scenes() for stop in scene.main_steps]
    return [sum(getattr(stop, lasts) for stop in stops[: stops.index(step)]), getattr(step, lasts)]
