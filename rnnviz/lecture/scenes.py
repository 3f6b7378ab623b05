"""The nine scenes, in order, and the places of steps.

A scene's module is `scene_<number>_<name>`: its TITLE, and its steps in their order.
"""

import importlib
from dataclasses import dataclass
from functools import cache

from rnnviz.lecture.steps import Step, of_module

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

WENT = """
book book memory state any memory
prediction prediction hidden output differ differ
first first first parameters apart adjacent minibatch unit
joined joined one one word
labels softmax path why minibatch train train
game rain books length bits heart shannon
back flow dial clip cut random cut gap windows
outputs all_before dial greedy parameters game game books one prediction hundredth clipped mean heart \
temperature beams temperature far
points points points
""".strip().splitlines()
"""The name of each step of version 1's scenes, whose addresses had numbers: `?scene=3&step=4`."""


@dataclass(frozen=True)
class Scene:
    """A scene: its number from 1, its title (marked by N_), its stops, and its steps in the appendix."""

    number: int
    title: str
    stops: tuple[Step, ...]
    appendix: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps: the appendix last."""
        return self.stops + self.appendix


@cache
def scenes() -> tuple[Scene, ...]:
    """All scenes, in order."""
    found = []
    for number, name in enumerate(MODULES, start=1):
        module = importlib.import_module(f"rnnviz.lecture.{name}")
        steps = of_module(module.__name__)
        stops = tuple(one for one in steps if not one.appendix)
        found.append(Scene(number, module.TITLE, stops, tuple(one for one in steps if one.appendix)))
    return tuple(found)


def place(name: str) -> tuple[int, int] | None:
    """The place of the step called `name`: its scene from 1, and its number there from 0; None without such a
    step.
    """
    for scene in scenes():
        names = [one.name for one in scene.steps]
        if name in names:
            return scene.number, names.index(name)
    return None


def went(scene: int, step: int) -> tuple[int, int]:
    """The place of version 1's step, given by scene and step from 1: its scene from 1, and its number there
    from 0. The first step for unknown numbers.

    >>> went(1, 2)
    (1, 0)
    """
    if not 1 <= scene <= len(WENT):
        return 1, 0
    names = WENT[scene - 1].split()
    return place(names[min(max(step, 1), len(names)) - 1]) or (scene, 0)
