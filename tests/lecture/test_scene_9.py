"""Scene 9: a point's number is seen at the step that it leads to, as that step opens."""

import json
import re

import pytest

from rnnviz.lecture.primitives import Node
from rnnviz.lecture.scene_9_summary import points
from tests.support.lecture import nodes_of, shown_values, step_of

LINKS = [link for link in nodes_of(points()[0], "button") if link["step"] != "dial"]  # ρ⁴⁰ is no number of it


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link["step"])
def test_a_points_number_is_where_it_leads_to(link: Node) -> None:
    step = step_of(link["step"])
    picture, notice = step.draw(shown_values(step))
    sizes = [f"{len(m['values'])} × {len(m['values'][0])}" for m in nodes_of(picture, "matrix")]
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', json.dumps(picture, ensure_ascii=False))
    page_text = "\n".join([notice, *sizes, *words])
    assert re.search(rf"(?<![\d.,]){re.escape(link['words'])}(?![\d,]|\.\d)", page_text)
