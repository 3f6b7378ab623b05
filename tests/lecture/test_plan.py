"""The lecture's plan: made from its steps, and all of the textbook's section."""

from pathlib import Path

from docs.lecture_steps import ITEMS, plan
from rnnviz.lecture.scenes import scenes

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_steps_is_made_from_the_steps() -> None:
    page = "\n".join(plan()) + "\n"
    assert (DOCS / "lecture-steps.md").read_text("utf-8") == page, (
        "python docs/lecture_steps.py > docs/lecture-steps.md"
    )


def test_every_item_of_the_textbooks_section_has_its_steps() -> None:
    assert {item for scene in scenes() for step in scene.steps for item in step.covers} == set(ITEMS)
