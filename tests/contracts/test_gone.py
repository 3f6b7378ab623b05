"""Options and arguments of 2.0.0 that are gone: each answers with one sentence."""

import pytest

from rnnviz import units
from rnnviz.cli import main
from rnnviz.errors import ConfigError
from tests.conftest import TEXT, tiny


def test_matchs_index_on_disk(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["match", "--text", "abc", "--span", "0:3", "--index", "kept"]
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "rnnviz: --index is gone: states stay in memory, and a folder of indexes is of no use any more: "
        "remove it\n"
    )
    with pytest.raises(ConfigError, match=r"^folder is gone: states stay in memory"):
        units.match(tiny("gru"), "the", 0, 3, TEXT, folder="kept")


def test_tensorboard(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["train", "--corpus", "machine", "--log-to", "tensorboard"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "rnnviz: --log-to is gone: a run's events.jsonl has every figure, a JSON object a line\n"
    )
