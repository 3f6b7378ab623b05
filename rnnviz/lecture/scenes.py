"""The nine scenes, in order, and the places of steps.

A scene's module is `scene_<number>_<name>`: its TITLE, and its steps in their order.
"""

import importlib
from dataclasses import dataclass
from functools import cache

from rnnviz.lecture.steps import Step, module_steps

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

MOVED = {
    "joined": "one",
    "hundredth": "dial",
    "clipped": "clip",
    "mean": "random",
    "output": "softmax",
    "differ": "prediction",
    "length": "books",
    "unit": "first",
    "word": "first",
    "windows": "far",
}
"""Steps of earlier versions, whose addresses lead to the step that shows the same now."""


@dataclass(frozen=True)
class Scene:
    """A scene: its number from 1, its title (marked by N_), its main_steps, and its steps in the appendix."""

    number: int
    title: str
    main_steps: tuple[Step, ...]
    appendix: tuple[Step, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps: the appendix last."""
        return self.main_steps + self.appendix


@cache
def scenes() -> tuple[Scene, ...]:
    """All scenes, in order."""
    numbered = []
    for number, name in enumerate(MODULES, start=1):
        module = importlib.import_module(f"rnnviz.lecture.{name}")
        steps = module_steps(module.__name__)
        main_steps = tuple(item for item in steps if not item.appendix)
        numbered.append(
            Scene(number, module.TITLE, main_steps, tuple(item for item in steps if item.appendix))
        )
    return tuple(numbered)


def find_step(name: str) -> tuple[int, int] | None:
    """The place of the step called `name`: its scene from 1, and its number there from 0; None without such a
    step.
    """
    name = MOVED.get(name, name)
    for scene in scenes():
        names = [item.name for item in scene.steps]
        if name in names:
            return scene.number, names.index(name)
    return None
