"""The lecture's steps and the section's items, in English and Chinese: `python docs/lecture_steps.py`."""

from collections.abc import Iterator
from pathlib import Path

from rnnviz.i18n import _, speaking
from rnnviz.lecture.scenes import scenes

ITEMS = range(1, 30)
"""Of the textbook's section."""


WORDS = {
    "en": (
        "The lecture, step by step",
        "Made from the steps themselves by `python docs/lecture_steps.py`. [中文](lecture-steps.zh.md)",
        "In 45 minutes: {0:g} to {1:g}. In 90: {2:g} to {3:g}.",
        ("step", "45", "90", "say", "ask"),
        "appendix",
        "The section's items, and where they are shown",
        ("item", "steps"),
    ),
    "zh": (
        "讲课的每一步",
        "由各步生成：`python docs/lecture_steps.py`。[English](lecture-steps.md)",
        "45 分钟：第 {0:g} 到 {1:g} 分钟。90 分钟：第 {2:g} 到 {3:g} 分钟。",
        ("步", "45", "90", "说", "问"),
        "附录",
        "教材这一节的各条，以及在哪里展示",
        ("条", "步"),
    ),
}
"""Words of the page by language."""


def page(language: str) -> str:
    """The page of steps in a language of WORDS."""
    with speaking(language):
        return "\n".join(_lines(*WORDS[language])) + "\n"


def _lines(
    title: str,
    made: str,
    times: str,
    head: tuple[str, ...],
    appendix: str,
    items: str,
    item_head: tuple[str, ...],
) -> Iterator[str]:
    """A table of each scene's steps, then the items and the steps that show them."""
    yield f"# {title}"
    yield ""
    yield made
    begin = [0.0, 0.0]
    for scene in scenes():
        stops = scene.main_steps
        end = [
            begin[0] + sum(step.minutes for step in stops),
            begin[1] + sum(step.minutes_of_90 for step in stops),
        ]
        yield ""
        yield f"## {scene.number} {_(scene.title)}"
        yield ""
        yield times.format(begin[0], end[0], begin[1], end[1])
        yield ""
        yield _row(*head)
        yield _row(*["---"] * len(head))
        for step in scene.steps:
            minutes = (step.minutes, step.minutes_of_90)
            shown = [appendix, ""] if step.appendix else [f"{m:g}" if m else "" for m in minutes]
            prompt = step.question.text if step.question else str(step.prompt)
            yield _row(f"`{step.name}` {_(step.title)}", *shown, _(step.say), _(prompt))
        begin = end
    yield ""
    yield f"## {items}"
    yield ""
    yield _row(*item_head)
    yield _row("---", "---")
    steps = [step for scene in scenes() for step in scene.steps]
    for item in ITEMS:
        yield _row(str(item), ", ".join(f"`{step.name}`" for step in steps if item in step.covers))


def _row(*cells: str) -> str:
    return "|" + "|".join(f" {cell} ".replace("|", r"\|") if cell != "---" else cell for cell in cells) + "|"


if __name__ == "__main__":
    for language, end in (("en", ""), ("zh", ".zh")):
        Path(__file__).with_name(f"lecture-steps{end}.md").write_text(page(language), "utf-8")
