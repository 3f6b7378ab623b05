"""What the page's script asks for by a name is there."""

import re
from pathlib import Path

from rnnviz.page import build, initial_data, text_numbers, text_viewer, training_words

FOLDER = Path(build.__file__).parent
NAMES = (
    r'data-(?:word|label)="([^"]+)"',
    r'phrase\(\s*"([\w.-]+)"',
    r'(?<![\w.])"((?:text|training)\.[\w.-]+)"',  # handed on, such as an error's
)


def test_names_in_the_script_and_the_markup_have_words() -> None:
    files = [*FOLDER.glob("*.js"), *FOLDER.glob("*.html")]
    text = "\n".join(path.read_text("utf-8") for path in files)
    asked = {name for pattern in NAMES for name in re.findall(pattern, text)}
    assert len(asked) > 90
    assert asked <= {
        *training_words.training_words(),
        *text_viewer.text_words(),
        *text_viewer.viewer_words(),
        *initial_data.live_words(),
        *build.page_words(),
        *text_numbers.number_words(),
    }


def test_look_has_the_fields_that_the_script_reads() -> None:
    declared = (FOLDER / "types.d.ts").read_text("utf-8")
    found = re.search(r"interface Look \{\n(.*?)\n\}", declared, re.DOTALL)
    assert found
    fields = [re.findall(r"\b(\w+):", line.split("//")[0]) for line in found[1].splitlines()]
    look = build.page_look()
    assert [first for first, *_rest in fields] == [*look]
    (nested,) = [rest for first, *rest in fields if first == "texts"]
    assert (
        nested == ["markup", "viewer", *look["texts"]["viewer"]] == ["markup", "viewer", "markup", "styles"]
    )
