"""Scene 7: gradients on their way back: one word's, and what makes them vanish, explode, or stop.

The steps are told in `scene_7_*.py`, one function each for what is drawn, what to notice, and the formula.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rnnviz.lecture import backwards, cost, long_gap, machine
from rnnviz.lecture.controls import Ask, Control, State, Valid, number, numbers, one_of, text, whole
from rnnviz.lecture.questions import SEED, TEXT
from rnnviz.lecture.word import LONGEST
from rnnviz.ui.pages.learn import (
    scene_7_cost,
    scene_7_gap,
    scene_7_linear,
    scene_7_powers,
    scene_7_truncation,
    scene_7_word,
)


@dataclass(frozen=True)
class Step:
    """A step of the scene: three functions of its state."""

    picture: Callable[[State], dict[str, Any]]
    notice: Callable[[State], str]
    formula: Callable[[State], str]


SHOWN = {
    "word": Step(scene_7_word.walk, scene_7_word.walk_notice, scene_7_word.walk_formula),
    "flow": Step(scene_7_powers.flow, scene_7_powers.flow_notice, scene_7_powers.flow_formula),
    "dial": Step(scene_7_powers.dial, scene_7_powers.dial_notice, scene_7_powers.dial_formula),
    "clip": Step(scene_7_truncation.clip, scene_7_truncation.clip_notice, scene_7_truncation.clip_formula),
    "cut": Step(scene_7_word.cut, scene_7_word.cut_notice, scene_7_word.cut_formula),
    "random": Step(
        scene_7_truncation.random, scene_7_truncation.random_notice, scene_7_truncation.random_formula
    ),
    "cost": Step(scene_7_cost.picture, scene_7_cost.notice, scene_7_cost.formula),
    "gap": Step(scene_7_gap.picture, scene_7_gap.notice, scene_7_gap.formula),
    "linear": Step(scene_7_linear.picture, scene_7_linear.notice, scene_7_linear.formula),
}
NAMES = tuple(SHOWN)
STEPS = len(NAMES)
WORD, FLOW, DIAL, CLIP, CUT, RANDOM, COST, GAP, LINEAR = range(STEPS)


def _among(values: tuple[int, ...]) -> Valid:
    """One of a few numbers."""
    number = whole(min(values), max(values))
    return lambda value: found if (found := number(value)) in values else None


MOST = len(machine.WORD) - 1

CONTROLS = (
    Control("steps", whole(2, MOST), 3, address="T", steps=[WORD, CLIP], resets=("walked",)),
    Control("length", whole(2, MOST), MOST, address="T", steps=[CUT]),
    Control("walked", whole(0, MOST), 0, steps=[WORD]),
    Control("net", one_of(scene_7_word.NETS), scene_7_word.NETS[0], steps=[WORD]),
    Control("tau", whole(1, MOST), 2, steps=[CUT]),
    Control("text", text(scene_7_powers.LONGEST, least=2), TEXT, steps=[FLOW]),
    Control("radius", number(scene_7_powers.LEAST, scene_7_powers.MOST), 0.9, steps=[DIAL]),
    Control("power", whole(1, backwards.LAGS), 8, steps=[DIAL]),
    Control("seed", whole(0, 999), SEED, steps=[DIAL, RANDOM]),
    Control("threshold", number(0.1, 100), 1.0, address="theta", steps=[CLIP]),
    Control("gradient", numbers(-5, 5, count=2), [3.0, 2.0], address=""),
    Control("cut", whole(1, backwards.STEPS), 4, steps=[RANDOM]),
    Control("keep", number(0.3, 1.0), 0.7, address="pi", steps=[RANDOM]),
    Control("draw", whole(0, 999), 1, steps=[RANDOM]),
    Control("piece", _among(cost.CUTS), cost.CUTS[1], steps=[COST]),
    Control("gap", _among(long_gap.GAPS), long_gap.GAPS[-1], address="k", steps=[GAP]),
    Control("gates", one_of(scene_7_gap.GATES), scene_7_gap.GATES[0], steps=[GAP]),
    Control("clipping", one_of(scene_7_gap.CLIPPING), scene_7_gap.CLIPPING[0], steps=[GAP]),
    Control("updates", whole(0, scene_7_gap.LAST), scene_7_gap.LAST, steps=[GAP]),
    Control("cued", text(LONGEST, least=3), scene_7_linear.WORD, "word", steps=[LINEAR], resets=("place",)),
    Control("place", whole(1, LONGEST - 1), None, "t", steps=[LINEAR]),
    Control("against", one_of(scene_7_linear.AGAINST), scene_7_linear.AGAINST[0], steps=[LINEAR]),
    Control("learned", one_of(scene_7_linear.LEARNED), scene_7_linear.LEARNED[0], steps=[LINEAR]),
    Control("cued_unit", whole(1, machine.UNITS), 1, "unit", steps=[LINEAR]),
)


def notice(state: State) -> str:
    """What to notice: where it could go either way, said of the numbers that are shown."""
    return _step(state).notice(state)


def formula(state: State) -> str:
    """The step's formula."""
    return _step(state).formula(state)


def picture(state: State) -> dict[str, Any]:
    """The current step's data."""
    return {"show": NAMES[state["step"]], **_step(state).picture(state)}


def take(state: State, ask: Ask) -> State:
    """What was measured is kept from ask to ask."""
    return scene_7_cost.take(state, ask)


def _step(state: State) -> Step:
    return SHOWN[NAMES[state["step"]]]
