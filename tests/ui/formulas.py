"""Every formula of the lecture, over the settings that may change it."""

from collections.abc import Iterator

from rnnviz.lecture import controls
from rnnviz.ui.pages.learn import scenes

# Values that some control takes: names of cells, cases and players, and small numbers.
VALUES = (
    *("mlp", "rnn", "gru", "lstm", "6gram", "zero", "certain", "uniform", "held_out", "tea", "memoryless"),
    *range(11),
    0.5,
)


def every_formula() -> Iterator[tuple[str, str]]:
    """Where a formula stands, and the formula."""
    for number in range(1, len(scenes.MODULES) + 1):
        scene = scenes.scene(number)
        for step in range(scene.STEPS):
            usual = {**controls.initial(scene.CONTROLS, {}), "step": step}
            states = [usual]
            for control in scene.CONTROLS:
                valid = (control.valid(value) for value in VALUES)
                states += [
                    {**usual, control.name: one} for one in valid if type(one) is type(control.default)
                ]
                if control.default is None:
                    states += [{**usual, control.name: control.valid(value)} for value in VALUES]
            found = dict.fromkeys(scene.formula(state) for state in states)
            yield from ((f"scene {number}, step {step + 1}", formula) for formula in found)
