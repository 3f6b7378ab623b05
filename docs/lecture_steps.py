"""The lecture's steps and the section's items: `python docs/lecture_steps.py > docs/lecture-steps.md`."""

import sys
from collections.abc import Iterator

from rnnviz.lecture.scenes import Scene, scenes
from rnnviz.lecture.steps import Step

ITEMS = range(1, 30)
"""Of the textbook's section."""


def plan() -> Iterator[str]:
    """The lines: a table of each scene's steps, then the items and the steps that show them."""
    begin = 0.0
    yield "# The lecture, step by step"
    yield ""
    yield "Made from the steps themselves by `python docs/lecture_steps.py > docs/lecture-steps.md`."
    for scene in scenes():
        minutes = sum(step.minutes for step in scene.main_steps)
        yield ""
        yield f"## {scene.number} {scene.title}"
        yield ""
        yield f"In 45 minutes: {begin:g} to {begin + minutes:g}."
        yield ""
        yield "| step | minutes | say | ask |"
        yield "|---|---|---|---|"
        yield from (_row(scene, step) for step in scene.steps)
        begin += minutes
    yield ""
    yield "## The section's items, and where they are shown"
    yield ""
    yield "| item | steps |"
    yield "|---|---|"
    steps = [step for scene in scenes() for step in scene.steps]
    for item in ITEMS:
        names = ", ".join(f"`{step.name}`" for step in steps if item in step.covers)
        yield f"| {item} | {names} |"


def _row(scene: Scene, step: Step) -> str:
    minutes = "appendix" if step.appendix else f"{step.minutes:g}" if step.minutes else ""
    prompt = step.question.text if step.question else str(step.prompt)
    words = [line.replace("|", r"\|") for line in (step.say, prompt)]
    return f"| `{step.name}` {step.title} | {minutes} | {words[0]} | {words[1]} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(plan()) + "\n")
