"""Tables of characters, opened again with pandas and compared with what scoring says, value for value."""

import io
import os
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from rnnviz.errors import ConfigError, ExportError
from rnnviz.figures import export
from rnnviz.networks.checkpoint import load
from rnnviz.reading.scoring import LanguageModel, Piece, pieces
from tests.conftest import TEXT
from tests.reports.recorded import recorded

# What a table could trip over: quotes, separators, line ends, NUL, formulas, the words for "nothing there".
NUL = "\0" if pd.__version__ >= "3.1" else ""  # older ones read none
AWKWARD = f'a,"b";\tc\n\n=1+1 {NUL}\x1a\u2028\u202e道🎉 \'" NA null -1\n'
MODELS = ["tiny-gru", "tiny-lstm", "tiny-3gram"]
FORMATS = ["csv", "parquet"]


def scored(model: LanguageModel, text: str) -> Piece:
    """The whole text as one piece."""
    parts = list(pieces(model, text=text, details=True))
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("nll", "known", "rank", "entropy")
    }
    return Piece(0, "".join(part.text for part in parts), bytes_read=0, **joined)


def opened(path: Path) -> pd.DataFrame:
    """As someone would open it who knows nothing of it but that a character may be a quote or "NA"."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    exact = dict.fromkeys(("nll", "entropy"), float)  # older pandas reads some of them one digit off
    return pd.read_csv(path, keep_default_na=False, lineterminator="\n", converters=exact)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "text", [TEXT, AWKWARD, "\n", "道"], ids=["english", "awkward", "newline", "unknown"]
)
def test_a_table_of_pieces_holds_what_scoring_says(
    name: str, format: str, text: str, models_folder: Path, tmp_path: Path
) -> None:
    model = load(models_folder / f"{name}.safetensors")
    expected = scored(model, text)
    path = tmp_path / f"out.{format}"
    parts = pieces(model, text=text, piece=37, details=True)
    assert export.per_character(parts, path) == len(expected.text)
    table = opened(path)
    assert tuple(table.columns) == export.COLUMNS
    assert table["position"].tolist() == list(range(1, len(text) + 1))
    assert table["index"].tolist() == list(range(len(text)))
    assert "".join(table["character"]) == expected.text
    assert table["code_point"].tolist() == [ord(c) for c in expected.text]
    np.testing.assert_allclose(table["nll"], expected.nll, rtol=1e-6)  # pieces of 37 round in another order
    assert table["known"].tolist() == expected.known.tolist()
    assert expected.rank is not None
    assert expected.entropy is not None
    assert table["rank"].tolist() == expected.rank.tolist()
    np.testing.assert_allclose(table["entropy"], expected.entropy, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("format", FORMATS)
def test_every_digit_arrives(format: str, models_folder: Path, tmp_path: Path) -> None:
    model = load(models_folder / "tiny-gru.safetensors")
    expected = scored(model, TEXT)
    export.per_character([expected], tmp_path / f"out.{format}")
    table = opened(tmp_path / f"out.{format}")
    assert table["nll"].tolist() == expected.nll.tolist()
    assert table["entropy"].astype(np.float32).tolist() == expected.entropy.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", MODELS)
def test_a_table_of_a_record_holds_what_scoring_says(
    name: str, format: str, models_folder: Path, tmp_path: Path
) -> None:
    model = load(models_folder / f"{name}.safetensors")
    text = TEXT + AWKWARD
    source = recorded(tmp_path, model, text)
    export.per_character(source, tmp_path / f"out.{format}")
    table, expected = opened(tmp_path / f"out.{format}"), scored(model, text)
    assert "".join(table["character"]) == text
    assert table["nll"].astype(np.float32).tolist() == expected.nll.astype(np.float32).tolist()
    assert expected.rank is not None
    assert table["rank"].tolist() == expected.rank.tolist()
    assert table["known"].tolist() == expected.known.tolist()
    # The column adds up to the perplexity, as a reader would add it.
    assert float(np.exp(table["nll"].mean())) == pytest.approx(source.report.perplexity, rel=1e-6)


@pytest.mark.parametrize("format", FORMATS)
def test_without_details_rank_and_entropy_are_empty(format: str, models_folder: Path, tmp_path: Path) -> None:
    model = load(models_folder / "tiny-gru.safetensors")
    path = tmp_path / f"out.{format}"
    export.per_character(pieces(model, text="time"), path)
    table = pd.read_csv(path) if format == "csv" else opened(path)
    assert table["rank"].isna().all()
    assert table["entropy"].isna().all()
    assert table["nll"].notna().all()


@pytest.mark.parametrize("format", FORMATS)
def test_no_characters_are_a_table_without_rows(format: str, tmp_path: Path) -> None:
    assert export.per_character([], tmp_path / f"out.{format}") == 0
    table = opened(tmp_path / f"out.{format}")
    assert (tuple(table.columns), len(table)) == (export.COLUMNS, 0)


def many(count: int) -> Iterator[Piece]:
    """`count` pieces of 4,096 characters."""
    for n in range(count):
        ones = np.ones(4096)
        yield Piece(n * 4096, "x" * 4096, ones, ones > 0, 0, ones.astype(np.int32), ones.astype(np.float32))


def test_parquet_is_written_by_row_groups(tmp_path: Path) -> None:
    export.per_character(many(40), tmp_path / "out.parquet")
    described = pq.ParquetFile(tmp_path / "out.parquet").metadata
    assert (described.num_rows, described.num_row_groups) == (40 * 4096, 3)
    assert opened(tmp_path / "out.parquet")["index"].tolist() == list(range(40 * 4096))


def test_csv_counts_on_from_stretch_to_stretch(tmp_path: Path) -> None:
    export.per_character(many(20), tmp_path / "out.csv")
    table = opened(tmp_path / "out.csv")
    assert table["index"].tolist() == list(range(20 * 4096))
    assert table["position"].tolist() == list(range(1, 20 * 4096 + 1))


@pytest.mark.parametrize("format", FORMATS)
def test_memory_does_not_grow_with_the_text(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "ROWS", 2 * 4096)

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            export.per_character(many(count), tmp_path / f"out.{format}")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # imports
    assert peak(12) < peak(4) + 1_000_000


def test_a_file_object_gets_the_table_and_stays_open(models_folder: Path) -> None:
    model = load(models_folder / "tiny-gru.safetensors")
    for format, read in (("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        file = io.BytesIO()
        export.per_character(pieces(model, text="time", details=True), file, format)  # type: ignore[arg-type]
        assert not file.closed
        file.seek(0)
        assert "".join(read(file)["character"]) == "time"
    file = io.BytesIO()
    export.per_character(pieces(model, text="time"), file)
    assert file.getvalue().startswith(b"position,character,")


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_stopped_leaves_what_was_there(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"out.{format}"
    path.write_bytes(b"of yesterday")

    def broken() -> Iterator[Piece]:
        yield from many(20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export.per_character(broken(), path)
    assert path.read_bytes() == b"of yesterday"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_can_be_read_by_others(tmp_path: Path) -> None:
    export.per_character(many(1), tmp_path / "out.csv")
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o644


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence() -> None:
    with pytest.raises(ExportError, match="No space left on device; free some space"):
        export.per_character(many(1), "/dev/full", "csv")


def test_without_pyarrow_parquet_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for attempt in (export.check, lambda path: export.per_character(many(1), path)):
        with pytest.raises(ConfigError, match=r'needs pyarrow: pip install ".*\[app\]", or write a .csv'):
            attempt(tmp_path / "out.parquet")
    assert export.per_character(many(1), tmp_path / "out.csv") == 4096


def test_the_module_loads_neither_pandas_nor_pyarrow(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\nfrom rnnviz.figures import export\n"
        "from rnnviz.reading.scoring import Piece\n"
        "piece = Piece(0, 'a', np.ones(1), np.ones(1, bool), 0)\n"
        f"export.per_character([piece], {str(tmp_path / 'out.csv')!r})\n"
        "print([m for m in ('pandas', 'pyarrow', 'plotly', 'streamlit', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "[]"
