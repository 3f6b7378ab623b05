"""Every public name of 1.0.0 is still there, or says what to write instead.

names.json has the names of each module by what replaces them: those under "" are there, those under
"warns: …" work with a DeprecationWarning that says so, others raise an AttributeError that says so.
"""

import importlib
import json
import re
from pathlib import Path

import pytest

NAMES = json.loads(Path(__file__).with_name("names.json").read_text("utf-8"))
WARNS = "warns: "
EACH = [
    (module, name, instead) for module, kinds in NAMES.items() for instead in kinds for name in kinds[instead]
]


def test_no_name_has_left_the_table() -> None:
    counts = {module: sum(map(len, kinds.values())) for module, kinds in NAMES.items()}
    assert counts == {
        "rnnviz": 54,
        "rnnviz.units": 76,
        "rnnviz.gradients": 33,
        "rnnviz.corpora": 12,
        "rnnviz.runs": 2,
    }


@pytest.mark.parametrize(("module", "name", "instead"), EACH)
def test_a_name_is_there_or_says_what_to_write(module: str, name: str, instead: str) -> None:
    room = importlib.import_module(module)
    if not instead:
        assert getattr(room, name) is not None
        assert name in room.__all__ or name == "runs"  # a module, whose own names warn
        return
    if instead.startswith(WARNS):
        with pytest.warns(DeprecationWarning, match=re.escape(instead.removeprefix(WARNS))) as warned:
            assert getattr(room, name) is not None
        assert warned[0].filename == __file__
        return
    with pytest.raises(AttributeError) as caught:
        getattr(room, name)
    assert instead in str(caught.value)
