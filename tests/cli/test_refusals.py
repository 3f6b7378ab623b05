"""What a command refuses: exit code 1; nothing on standard output, one plain line on
standard error.
"""

import json
from pathlib import Path

import pytest

from rnnviz.networks.checkpoint import save
from tests.support.commands import Run, refuse
from tests.support.models import TEXT, tiny

DEEP = ["-m", "deep.safetensors"]
GRU = ["-m", "tiny-gru"]
COUNTS = ["-m", "tiny-3gram"]
ROWS = ["perplexity", "rows.jsonl", "--column", "text", *GRU, "--json"]
SCORED = ["perplexity", "book.txt", *GRU]
STATES = ["trace", "a text", *DEEP, "--quantity", "hidden"]

NO_STATE = "counts n-grams"

REFUSED: dict[str, tuple[list[str], str]] = {
    "trace: a gate": (
        ["trace", "a text", *DEEP, "--quantity", "update", "--output", "a.csv"], "received 'update'",
    ),
    "trace: a layer": ([*STATES, "--layer", "2", "--output", "a.csv"], "2 layers, 0 to 1; received 2"),
    "trace: below 0": ([*STATES, "--layer=-1", "--output", "a.csv"], "0 to 1; received -1"),
    "trace: json": ([*STATES, "--layer", "2", "--format", "json", "--output", "a.json"], "received 2"),
    "trace: no quantity": (
        ["trace", "a text", *DEEP, "--layer", "1", "--output", "a.csv"], "add --quantity hidden",
    ),
    "trace: npz": ([*STATES, "--layer", "0", "--output", "a.npz"], "leave out --layer 0"),
    "trace: a folder": (["trace", "a text", *DEEP, "--output", "absent/a.csv"], "there is no folder for it"),
    "trace: counts": (["trace", "x", *COUNTS], "no hidden state"),
    "sample: temperature": (["sample", *GRU, "--temperature=-1"], "temperature"),
    "sample: a long name": (["sample", "--model", "x" * 300 + ".safetensors"], "no model file at"),
    "sample: a home": (["sample", "--model", "~nobody-here/x.safetensors"], "no model file at"),
    "sample: device": (["sample", *GRU, "--device", "tpu"], "device 'tpu' "),
    "sample: cut off": (["sample", "--model", "cut.safetensors"], "copy or download it again"),
    **{
        f"{command}: {model}": ([*command.split(), "--model", model], said)
        for command in ("perplexity book.txt", "sample", "trace x")
        for model, said in (
            ("nobody", "no model is called 'nobody'"),
            ("../tiny-gru", "tiny-gru"),
            ("gone.safetensors", "no model file at"),
        )
    },
    "perplexity: table": ([*SCORED, "--per-character", "out.xlsx"], "csv or parquet; received 'xlsx'"),
    "perplexity: table's folder": (
        [*SCORED, "--per-character", "absent/out.csv"], "there is no folder for it",
    ),
    "perplexity: page's folder": ([*SCORED, "--html", "absent/out.html"], "there is no folder for it"),
    "perplexity: a long page": ([*SCORED, "--html", "x" * 260 + ".html"], "too long"),
    "perplexity: compare": ([*SCORED, "--compare", "nobody"], "nobody"),
    "rows: given": (
        [*SCORED, "--given", "asked"], "are for texts in columns, and book.txt is one text",
    ),
    "rows: a page": ([*ROWS, "--html", "out.html"], "--per-word and --html are for one text"),
    "rows: a table": ([*ROWS, "--output", "out.xlsx"], "as .parquet, .jsonl or .csv; received 'xlsx'"),
    "rows: a table's folder": ([*ROWS, "--output", "absent/out.csv"], "there is no folder for it"),
    "rows: no parquet": (
        ["perplexity", "book.txt", "--as", "parquet", "--column", "text", *GRU], "is not a Parquet file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusal_is_one_line(name: str, run: Run, tmp_path: Path, models_folder: Path) -> None:
    Path("book.txt").write_text(TEXT, "utf-8")
    Path("rows.jsonl").write_text(json.dumps({"asked": "a machine", "text": "The Time"}) + "\n", "utf-8")
    save(tiny("lstm", layers=2), tmp_path / "deep.safetensors")
    Path("cut.safetensors").write_bytes((models_folder / "tiny-gru.safetensors").read_bytes()[:900])
    refuse(run, tmp_path, *REFUSED[name])
