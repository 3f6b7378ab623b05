"""The pages' controls, by their keys: limits, and which have a label, help, an example, a symbol."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.apptest import Open, run_until_settled
from tests.support.lab_pages import INSIDE_PARTS
from tests.support.models import TEXT
from tests.support.perplexity_page import open_section, upload

CONTROLS = json.loads(Path(__file__).with_name("controls.json").read_text("utf-8"))
WORDS = ("label", "help", "placeholder", "icon")
LIMITS = (
    "min", "max", "step", "max_chars", "max_selections", "multiple_files", "required", "disabled",
    "ignore_rerun",
)  # fmt: skip


def perplexity(open_app: Open) -> Iterator[AppTest]:
    app = upload(open_app("perplexity"), ("a.txt", TEXT))
    for section in ("origin", "against", "sum", "compression", "take"):
        yield open_section(app, section)


def inside(open_app: Open) -> Iterator[AppTest]:
    for part in INSIDE_PARTS:
        yield run_until_settled(open_app("inside", part=part, model="tiny-lstm"), "inside")


def train(open_app: Open) -> Iterator[AppTest]:
    yield open_app("train").button_group(key="train-more").set_value("settings").run()


@pytest.mark.usefixtures("started", "short_texts")
@pytest.mark.parametrize("page", [perplexity, inside, train])
def test_controls_keep_their_limits_and_their_help(
    page: Callable[[Open], Iterator[AppTest]], open_app: Open
) -> None:
    controls = {}
    element: Any
    for app in page(open_app):
        for element in app._tree:
            if key := getattr(element, "key", None):
                about = {field.name: value for field, value in element.proto.ListFields()}
                words = [name for name in WORDS if about.get(name)]
                hidden = ["hidden"] if "label_visibility" in about and about["label_visibility"].value else []
                limits = {name: about[name] for name in LIMITS if about.get(name)}
                controls[re.sub("[0-9a-f]{12,}", "…", key)] = [" ".join(words + hidden), limits]
    assert controls == CONTROLS[page.__name__], json.dumps(controls, ensure_ascii=False)
