"""What a lecture step cannot show is refused in one plain sentence."""

import pytest

from rnnviz.errors import ConfigError, ModelNotFoundError
from rnnviz.lecture import readers
from rnnviz.lecture.machine import Machine
from tests.support.refused import Refusals, assert_refused

REFUSED: Refusals = {
    "Machine: letters": (lambda: Machine(text="cat"), ConfigError, "'at', with 't'"),
    "Machine: empty": (lambda: Machine(text=""), ConfigError, "received"),
    "Machine: one letter": (lambda: Machine(text="m"), ConfigError, "received"),
    "Machine: no steps": (lambda: Machine(steps=0), ConfigError, "received 0"),
    "Machine: too many steps": (lambda: Machine(steps=7), ConfigError, "received 7"),
    "Machine.uncut_pairs: too many": (lambda: Machine(steps=3).uncut_pairs(cut=4), ConfigError, "received 4"),
    "Machine.uncut_pairs": (lambda: Machine(steps=3).uncut_pairs(cut=0), ConfigError, "received 0"),
    "load": (lambda: readers.load("nobody"), ModelNotFoundError, "no model called nobody"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_argument_is_refused_in_one_sentence(name: str) -> None:
    assert_refused(*REFUSED[name])
