"""The lecturer's notes: each step has some, short enough to be read at a glance."""

import pytest

from rnnviz.ui.pages.learn import notes, scenes
from rnnviz.ui.pages.learn.session import Lecture
from tests.ui.test_learn import ALL, answered


@pytest.mark.parametrize("number", ALL)
def test_every_step_has_notes_and_knows_the_next_one(number: int) -> None:
    names = scenes.scene(number).NAMES
    for step, name in enumerate(names):
        said = answered(Lecture({"scene": str(number), "step": str(step + 1)}))["note"]
        assert said["title"], name
        assert len(said["lines"]) == 2, name
        for line in (*said["lines"], said["title"]):
            assert 0 < len(line.split()) <= 30, line
        last = step + 1 == len(names)
        assert bool(said["opens"]) == (last and number < len(ALL))
        if last:
            assert bool(said["next"]) == (number < len(ALL))
        else:
            assert (
                said["next"]
                == answered(Lecture({"scene": str(number), "step": str(step + 2)}))["note"]["title"]
            )


def test_no_notes_are_kept_for_a_step_that_there_is_not() -> None:
    steps = {(module, name) for n, module in enumerate(scenes.MODULES, 1) for name in scenes.scene(n).NAMES}
    assert notes.noted() - steps == set()


def test_a_lecturer_is_asked_to_ask() -> None:
    for module, name in notes.noted():
        found = notes.note(module, name)
        assert found is not None
        assert found.ask.rstrip(".").endswith("?") or "?" in found.ask, name
        assert max(len(part.split()) for part in (found.say + " " + found.ask).split(". ")) <= 25, name
