"""How fast a file of short rows is scored from the command line, beside a plain loop; and its peak memory.

    python tests/benchmarks/rows.py [--rows N] [--models A,B] [--format F] [--scheduler ADDRESS]

The rows are cuts of 20 to 180 characters from *The Time Machine*. `perplexity --output scored.parquet` reads
them and writes each with its figures; peak memory is that of its process, once with a tenth of the rows and
once with all. The loop calls `rnnviz.perplexity` on one row after the other, for the first rows alone; the
last column is the largest relative difference of a row's perplexity between the two.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import rnnviz
from tests.benchmarks.figures import figure

LOOP = 300  # rows of the loop

MEASURED = (
    "import atexit, resource, runpy, sys\n"
    "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    "atexit.register(lambda: print(peak(), file=sys.stderr))\n"
    "runpy.run_module('rnnviz', run_name='__main__', alter_sys=True)"
)


def rows(count: int) -> list[dict[str, Any]]:
    """Cuts from a book, each with a number and a label."""
    text = rnnviz.corpora.read("timemachine").text
    rng = np.random.default_rng(0)
    begins, lengths = rng.integers(0, len(text) - 200, count), rng.integers(20, 181, count)
    cuts = zip(begins.tolist(), lengths.tolist(), strict=True)
    return [{"id": n, "label": "train", "text": text[a : a + b]} for n, (a, b) in enumerate(cuts)]


def write(table: list[dict[str, Any]], path: Path) -> None:
    """The rows as a file of the format that its name says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(table), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([list(table[0]), *(row.values() for row in table)])
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")


def scored(path: Path, out: Path, model: str, options: list[str]) -> tuple[dict[str, Any], float]:
    """The command's report, and its peak memory in MB."""
    command = [sys.executable, "-c", MEASURED, "perplexity", str(path), "--model", model, "--json", "--quiet"]
    command += ["--output", str(out), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout), int(done.stderr.split()[-1]) / 1024


def main() -> None:
    """Print one line per model."""
    parser = argparse.ArgumentParser(description="Scoring speed of short rows beside a plain loop.")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--models", default="timemachine-gru,timemachine-lstm,timemachine-6gram")
    parser.add_argument("--format", choices=("jsonl", "csv", "parquet"), default="jsonl")
    parser.add_argument("--scheduler")
    arguments = parser.parse_args()
    options = ["--scheduler", arguments.scheduler] if arguments.scheduler else []
    table = rows(arguments.rows)
    with tempfile.TemporaryDirectory() as folder:
        out, few, all_rows = (Path(folder) / f"{n}.{arguments.format}" for n in ("out", "few", "all"))
        out = out.with_suffix(".parquet")
        write(table[: len(table) // 10], few)
        write(table, all_rows)
        print(
            "model                  rows/s   characters/s   loop rows/s   ÷ loop   peak, tenth      all   "
            "differs"
        )
        for model in arguments.models.split(","):
            _, small = scored(few, out, model, options)
            report, large = scored(all_rows, out, model, options)
            written = pq.read_table(out, columns=["perplexity"]).to_pydict()["perplexity"]
            network = rnnviz.load(model)
            began = time.perf_counter()
            loop = [rnnviz.perplexity(network, text=row["text"]).perplexity for row in table[:LOOP]]
            slow = LOOP / (time.perf_counter() - began)
            worst = max(abs(a / b - 1) for a, b in zip(written, loop, strict=False))
            speed = report["rows"] / report["seconds"]
            print(
                f"{model:20} {speed:8,.0f} {report['characters'] / report['seconds']:14,.0f} {slow:13,.0f} "
                f"{speed / slow:8.1f} {small:10,.0f} MB {large:5,.0f} MB   {worst:.0e}",
                flush=True,
            )
            figure(
                f"scoring {arguments.rows:,} rows of 100 characters ({model})", speed, "rows a second",
                beside=f"{speed / slow:.1f} × a loop; {large:,.0f} MB, {small:,.0f} with a tenth of them",
                front=model == "timemachine-gru",
            )  # fmt: skip


if __name__ == "__main__":
    main()
