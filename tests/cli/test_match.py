"""`python -m rnnviz match`: where its passage comes from."""

from functools import partial
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.analysis.built import built, quoted
from tests.cli.conftest import Run

SAID = "ab “cde” f"


@pytest.fixture
def asked(run: Run) -> Run:
    """Ask for a passage, in a folder with the network and the text that are known."""
    save(built(), "./built.safetensors")
    Path("book.txt").write_text(quoted(4000), encoding="utf-8")
    return partial(run, "match -m built.safetensors -f book.txt --span 3:7 --threshold 0.9 --text")


def test_the_passage_can_come_through_a_pipe(asked: Run) -> None:
    first = asked(SAID)
    assert first.code == 0
    assert asked("-", data=SAID.encode()) == first
