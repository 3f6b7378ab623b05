"""Every public name of 2.0.0 is still there, or says what to write instead.

names.json has the names of each module: those under "" are there; others stand under words of the
AttributeError that says what to write.
"""

import importlib
import json
from pathlib import Path

import pytest

NAMES = json.loads(Path(__file__).with_name("names.json").read_text("utf-8"))
EVERY_NAME = [
    (module, name, instead) for module, kinds in NAMES.items() for instead in kinds for name in kinds[instead]
]


@pytest.mark.parametrize(("module", "name", "instead"), EVERY_NAME)
def test_a_name_is_there_or_says_what_to_write(module: str, name: str, instead: str) -> None:
    room = importlib.import_module(module)
    if not instead:
        assert getattr(room, name) is not None
        assert name in room.__all__
        return
    with pytest.raises(AttributeError) as caught:
        getattr(room, name)
    assert instead in str(caught.value)
