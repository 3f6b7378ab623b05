"""The lecture's plan: made from its steps, and all of the textbook's section."""

from pathlib import Path

from docs.lecture_steps import ITEMS, plan
from rnnviz.lecture.scenes import scenes

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_steps_is_made_from_the_steps() -> None:
    made = "\n".join(plan()) + "\n"
    assert (DOCS / "lecture-steps.md").read_text("utf-8") == made, (
        "python docs/lecture_steps.py > docs/lecture-steps.md"
    )


def test_45_minutes_are_27_stops_and_every_item_has_its_steps() -> None:
    stops = [step for scene in scenes() for step in scene.stops]
    assert sum(step.minutes for step in stops) == 45
    assert sum(step.minutes > 0 for step in stops) == 27
    assert len(stops) + sum(len(scene.appendix) for scene in scenes()) == 47
    assert {item for scene in scenes() for step in scene.steps for item in step.covers} == set(ITEMS)
