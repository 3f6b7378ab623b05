"""Tables of characters, opened again with pandas and compared with what scoring says, value for value."""

import csv
import io
import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export
from rnnviz.networks.checkpoint import load
from rnnviz.scoring.record import Record
from tests.support.closeness import assert_states
from tests.support.models import TEXT
from tests.support.pieces import pieces
from tests.support.recorded import make_record, record_costs

# What a table could trip over: quotes, separators, line ends, NUL, formulas, the words for "nothing there".
NUL = "\0" if pd.__version__ >= "3.1" else ""  # older ones read none
AWKWARD = f'a,"b";\tc\n\n=1+1 {NUL}\x1a\u2028\u202e道🎉 \'" NA null -1\n'
FORMATS = ["csv", "parquet"]


def opened(path: Path) -> pd.DataFrame:
    """As someone would open it who knows nothing of it but that a character may be a quote or "NA"."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    exact = dict.fromkeys(("nll", "entropy"), float)  # older pandas reads some of them one digit off
    return pd.read_csv(path, keep_default_na=False, lineterminator="\n", converters=exact)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["tiny-gru", "tiny-lstm", "tiny-3gram"])
def test_a_table_holds_what_scoring_says_to_every_digit(
    name: str, format: str, models_folder: Path, tmp_path: Path
) -> None:
    text = TEXT + AWKWARD
    model = load(models_folder / f"{name}.safetensors")
    source = make_record(tmp_path, model, text)
    export.per_character(source, tmp_path / f"out.{format}")
    table = opened(tmp_path / f"out.{format}")
    (expected,) = pieces(model, text, piece_chars=len(text))
    assert tuple(table.columns) == (
        *("position", "character", "code_point", "nll", "rank", "entropy", "known", "index"),
    )
    assert table["position"].tolist() == list(range(1, len(text) + 1))
    assert table["index"].tolist() == list(range(len(text)))
    assert "".join(table["character"]) == expected.text == text
    assert table["code_point"].tolist() == [ord(c) for c in text]
    assert_states(table["nll"], expected.nll)
    assert table["known"].tolist() == expected.is_known.tolist()
    assert table["rank"].tolist() == expected.rank.tolist()  # type: ignore[union-attr]
    assert_states(table["entropy"], expected.entropy)
    # The column adds up to the perplexity, as a reader would add it.
    assert float(np.exp(table["nll"].mean())) == pytest.approx(source.score.perplexity, rel=1e-6)


def test_a_name_that_is_a_formula_is_text_in_a_spreadsheet() -> None:
    names = ('=HYPERLINK("http://example.org/?"&A1)', "@x", "\t=1", "＝1+1", "a=1", "-")
    table = export.csv_text([{"file": name, "perplexity": -1.5} for name in names])
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["file"] for row in rows] == [*(f"'{name}" for name in names[:4]), *names[4:]]
    assert {row["perplexity"] for row in rows} == {"-1.5"}


def of_length(n: int, folder: Path) -> Record:
    return record_costs(folder, "x" * n, np.ones(n))


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_a_table_is_written_a_stretch_at_a_time(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "ROWS_PER_GROUP", 4000)
    path = tmp_path / f"out.{format}"

    def peak(n: int) -> int:
        source = of_length(n, tmp_path)
        tracemalloc.start()
        try:
            export.per_character(source, path)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # imports
    assert peak(40_001) < peak(12_001) + 1_000_000
    assert opened(path)["index"].tolist() == list(range(12_001))
    if format == "parquet":
        assert pq.ParquetFile(path).metadata.num_row_groups == 4


@pytest.mark.parametrize(("format", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_a_file_object_gets_the_table_and_stays_open(
    format: Literal["csv", "parquet"], read: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    file = io.BytesIO()
    export.per_character(record_costs(tmp_path, "time", np.ones(4)), file, format)
    assert not file.closed
    file.seek(0)
    assert "".join(read(file)["character"]) == "time"


@pytest.mark.parametrize("format", FORMATS)
def test_interrupted_export_keeps_old_file(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"out.{format}"
    path.write_bytes(b"of yesterday")
    source = of_length(100, tmp_path)
    monkeypatch.setattr(export, "ROWS_PER_GROUP", 60)
    read = source.read

    def broken(column: str, start: int = 0, stop: int | None = None) -> object:
        if start:
            raise KeyboardInterrupt
        return read(column, start, stop)

    monkeypatch.setattr(source, "read", broken)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        export.per_character(source, path)
    assert path.read_bytes() == b"of yesterday"
    assert sorted(tmp_path.iterdir()) == before


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    export.per_character(of_length(3, tmp_path), tmp_path / "out.csv")
    readable = 0o644 if os.name == "posix" else 0o666  # Windows knows no others than everybody
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == readable


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="No space left on device; free some space"):
        export.per_character(of_length(9000, tmp_path), "/dev/full", "csv")


def test_without_pyarrow_parquet_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = of_length(3, tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for attempt in (export.table_format, lambda path: export.per_character(source, path)):
        with pytest.raises(ConfigError, match=r'needs pyarrow: pip install ".*\[app\]", or write a .csv'):
            attempt(tmp_path / "out.parquet")


def test_the_module_loads_neither_pandas_nor_pyarrow(tmp_path: Path) -> None:
    source = of_length(3, tmp_path)
    code = (
        "import sys\nfrom rnnviz.figures import export\nfrom rnnviz.scoring.column_files import ColumnFiles\n"
        f"export.per_character(ColumnFiles({str(source.folder)!r}), {str(tmp_path / 'out.csv')!r})\n"
        "heavy = {'pandas', 'pyarrow', 'plotly', 'jinja2', 'streamlit', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[]"
