"""How untrained copies begin is said before they are looked at."""

from copy import copy
from pathlib import Path

import pytest

from rnnviz.cli import main
from rnnviz.networks.checkpoint import save
from tests.units.built import built, quoted


@pytest.mark.parametrize("command", ["probe", "units"])
def test_how_copies_of_a_network_begin_is_said_where_it_may_have_begun_otherwise(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere, here = built(), copy(built())
    here.card = {"recipe": {"cell": "gru"}}
    (tmp_path / "book.txt").write_text(quoted(500), encoding="utf-8")
    for model, more, said in (
        (elsewhere, ["1"], "untrained copies have torch's default initial weights\n"),
        (elsewhere, ["1", "--quiet"], ""),
        (elsewhere, ["0"], ""),
        (here, ["1"], ""),
    ):
        file = save(model, tmp_path / "model.safetensors")
        asked = [command, "--model", str(file), "--file", str(tmp_path / "book.txt"), "--target", "quotes"]
        assert main([*asked, "--untrained", *more]) == 0
        assert capsys.readouterr().err == said
