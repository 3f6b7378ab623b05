"""How untrained copies begin is said before they are looked at."""

from copy import copy
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.analysis.built import built, quoted
from tests.cli.conftest import Run


@pytest.mark.parametrize("command", ["probe", "units"])
def test_how_copies_of_a_network_begin_is_said_where_it_may_have_begun_otherwise(
    command: str, run: Run
) -> None:
    elsewhere, here = built(), copy(built())
    here.card = {"recipe": {"cell": "gru"}}
    Path("book.txt").write_text(quoted(500), encoding="utf-8")
    for model, more, said in (
        (elsewhere, ["1"], "untrained copies have torch's default initial weights\n"),
        (elsewhere, ["1", "--quiet"], ""),
        (elsewhere, ["0"], ""),
        (here, ["1"], ""),
    ):
        save(model, "./model.safetensors")
        asked = f"{command} --model model.safetensors --file book.txt --target quotes --untrained"
        done = run(asked, *more)
        assert (done.code, done.err) == (0, said)
