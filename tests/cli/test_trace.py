"""`trace`: what it writes, in every format, is what the Trace holds."""

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnnviz import cli
from rnnviz.cli import trace as command
from rnnviz.networks.checkpoint import load, save
from rnnviz.scoring.trace import Trace
from rnnviz.scoring.tracer import trace
from tests.support.closeness import assert_states, close
from tests.support.commands import Run
from tests.support.models import tiny

TEXT = 'T"i,\nm道🎉'
STATES = ["--quantity", "hidden", "--quantity", "forget"]


@pytest.fixture
def model(models_folder: Path, tmp_path: Path) -> Path:
    return save(tiny("lstm", layers=2), tmp_path / "deep.safetensors")


def table(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, keep_default_na=False, dtype={"value": np.float32})


def test_prediction_table_has_columns_of_trace(run: Run, models_folder: Path) -> None:
    expected = trace(load(models_folder / "tiny-gru.safetensors"), TEXT)
    head, *rows = csv.reader(io.StringIO(run("trace --model tiny-gru", TEXT).out))
    assert head == ["position", "character", "nll", "rank", "entropy", "index"]
    assert [row[0] for row in rows] == [str(n + 1) for n in range(len(TEXT))]
    assert [row[5] for row in rows] == [str(n) for n in range(len(TEXT))]
    (values,) = run("trace --model tiny-gru --format json", TEXT).objects
    kinds = (int, str, float, int, float, int)
    typed = [[kind(cell) for kind, cell in zip(kinds, row, strict=True)] for row in rows]
    assert close([list(row.values()) for row in values["characters"]], typed)
    assert [row["nll"] for row in values["characters"]] == pytest.approx(expected.nll.tolist(), rel=1e-5)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("layer", [None, 1])
@pytest.mark.parametrize("rows", [1, 50, 1 << 18])
@pytest.mark.parametrize("text", [TEXT, ""])
def test_states_table_equals_states_frame(
    text: str,
    ending: str,
    layer: int | None,
    rows: int,
    run: Run,
    model: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "ROWS_PER_CHUNK", rows)
    chosen = [] if layer is None else ["--layer", str(layer)]
    out = model.with_name(f"states.{ending}")
    done = run("trace", text, "-m", str(model), *STATES, *chosen, "--output", str(out))
    assert done == (0, f"Wrote {out} ({out.stat().st_size:,} bytes): {len(text)} characters\n", "")
    expected = trace(load(model), text).states_frame("hidden", "forget", layer=layer)
    pd.testing.assert_frame_equal(table(out), expected, check_dtype=False, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("text", [TEXT, ""])
def test_prediction_file_has_trace_nll(text: str, ending: str, run: Run, model: Path) -> None:
    out = model.with_name(f"a.{ending}")
    assert run("trace", text, "-m", str(model), "--output", str(out)).code == 0
    values = table(out)
    assert "".join(values["character"]) == text
    assert values["nll"].tolist() == pytest.approx(trace(load(model), text).nll.tolist(), rel=1e-5)


@pytest.mark.parametrize(
    "options",
    [["-o", "a.npz"], ["--format", "npz", "--output", "a.dat"], ["--output=a.npz"]],
)
def test_npz_holds_whole_trace(options: list[str], run: Run, model: Path) -> None:
    done = run("trace", TEXT, "-m", str(model), "--quantity", "forget", *options)
    assert (done.code, done.err) == (0, "")
    expected, path = trace(load(model), TEXT), model.with_name(options[-1].rpartition("=")[2])
    values = Trace.load(path)
    assert values.text == TEXT
    assert_states(values.hidden, expected.hidden)
    assert_states(values.nll, expected.nll)
    assert_states(np.load(path)["forget"], expected.gates["forget"])


def test_states_json_names_layers(run: Run, model: Path) -> None:
    (values,) = run("trace --format json --layer 1", TEXT, "-m", str(model), *STATES).objects
    expected = trace(load(model), TEXT)
    assert (values["layers"], values["text"]) == ([1], TEXT)
    assert_states(values["quantities"]["hidden"], expected.hidden[:, [1]])
    assert list(values["quantities"]) == ["hidden", "forget"]


def test_binary_format_is_refused_on_terminal(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    options = ["trace", TEXT, "-m", str(model), "--format", "npz"]
    assert cli.main(options) == 0
    assert Trace.load(io.BytesIO(capfdbinary.readouterr().out)).text == TEXT
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for kind in ("npz", "parquet"):
        done = run("trace", TEXT, "-m", str(model), "--format", kind)
        assert (done.code, done.out) == (1, "")
        assert "name a file with --output" in done.err
    assert run("trace", TEXT, "-m", str(model)).code == 0
