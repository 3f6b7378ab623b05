"""What cannot be drawn or written is refused in a sentence."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export
from rnnviz.text.files import check_output
from tests.support.recorded import record_costs
from tests.support.refused import assert_refused

REFUSED: dict[str, tuple[str, str, type[Exception], str]] = {
    "write another kind": ("write", "out.xlsx", ConfigError, "is csv or parquet; received '"),
    "format of no kind": ("format", "out", ConfigError, "is csv or parquet; received '"),
    "format of a packed one": ("format", "out.csv.gz", ConfigError, "is csv or parquet; received '"),
    "write in no folder": ("write", "absent/out.csv", ExportError, "can't be written"),
    "check in no folder": ("check", "absent/out.csv", ExportError, "can't be written"),
    "write over a folder": ("write", "folder.csv", ExportError, "can't be written"),
    "check over a folder": ("check", "folder.csv", ExportError, "can't be written"),
}


@pytest.mark.parametrize("refusal", REFUSED)
def test_wrong_output_is_refused_in_one_sentence(refusal: str, tmp_path: Path) -> None:
    write = partial(export.per_character, record_costs(tmp_path, "time", np.ones(4)))
    (tmp_path / "folder.csv").mkdir()
    way, name, error, words = REFUSED[refusal]
    ways = {"write": write, "format": export.table_format, "check": partial(check_output, kind=".csv")}
    assert_refused(ways[way], error, words, tmp_path / name)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]
