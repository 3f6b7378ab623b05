"""The lecture's plan: made from its steps, and all of the textbook's section."""

from pathlib import Path

import pytest

from docs.lecture_steps import ITEMS, page
from rnnviz.lecture.scenes import scenes

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("language", "end"), [("en", ""), ("zh", ".zh")])
def test_the_page_of_steps_is_made_from_the_steps(language: str, end: str) -> None:
    made = (DOCS / f"lecture-steps{end}.md").read_text("utf-8")
    assert made == page(language), "python docs/lecture_steps.py"


def test_every_item_of_the_textbooks_section_has_its_steps() -> None:
    assert {item for scene in scenes() for step in scene.steps for item in step.covers} == set(ITEMS)
