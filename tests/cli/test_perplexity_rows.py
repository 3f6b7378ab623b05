"""`rnnviz perplexity` on files of rows, folders and patterns, and the table of scored rows."""

import csv
import gzip
import json
import math
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.commands import Run
from tests.support.models import TEXT

ROWS = [{"id": n, "asked": TEXT[n : n + 9], "text": TEXT[n + 9 : 3 * n + 40]} for n in range(0, 90, 3)]
FIGURES = ["file", "row", "characters", "unknown", "nll", "perplexity", "words", "word_perplexity"]
MODEL = ["-m", "tiny-gru", "--json"]


def written(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def scored(run: Run, tmp_path: Path) -> Run:
    """Run `perplexity` in a folder of rows in all formats."""
    (tmp_path / "a.jsonl").write_text(written(ROWS), "utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(written(ROWS).encode()))
    with (tmp_path / "c.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(ROWS[0]), *(row.values() for row in ROWS)])
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "d.parquet")
    (tmp_path / "e.txt").write_text(TEXT, "utf-8")
    return partial(run, "perplexity")


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("file", ["a.jsonl", "b.jsonl.gz", "c.csv", "d.parquet"])
def test_output_has_perplexity_of_each_row(scored: Run, file: str, ending: str, tmp_path: Path) -> None:
    options = ["--column", "text", "--given", "asked", "--compare", "tiny-lstm", "--output", f"out.{ending}"]
    (score,) = scored(file, *options, *MODEL).objects
    expected = {"rows": len(ROWS), "rows_scored": len(ROWS), "column": "text", "given": "asked"}
    expected |= {"interval": None, "interval_why_not": "rows"}
    assert {name: score[name] for name in expected} == expected
    assert [item["name"] for item in score["compared"]] == ["tiny-gru", "tiny-lstm", "tiny-3gram"]
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True)}
    table = read[ending](tmp_path / f"out.{ending}")
    assert list(table.columns) == ["id", "asked", "text", *FIGURES, "given_characters", "error"]
    assert table["text"].tolist() == [row["text"] for row in ROWS]
    assert table["id"].astype(int).tolist() == [row["id"] for row in ROWS]
    total = table["nll"].sum() / table["characters"].sum()
    assert math.exp(total) == pytest.approx(score["perplexity"], rel=1e-5)


def test_parquet_output_keeps_column_types(scored: Run, tmp_path: Path) -> None:
    table = pa.table(
        {
            "text": pa.array(["one two", "three"], pa.large_string()),
            "when": pa.array([datetime(2020, 1, 2), None], pa.timestamp("ns")),
            "tags": [["a"], []],
            "small": pa.array([1, 2], pa.int8()),
            "kind": pa.array(["x y", "z"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "typed.parquet")
    assert scored("typed.parquet", "--column", "text", "--output", "out.parquet", *MODEL).code == 0
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.select(table.schema.names).schema.types == table.schema.types
    assert out.select(table.schema.names).to_pylist() == table.to_pylist()
    assert scored("typed.parquet", "--column", "kind", "--output", "out.csv", *MODEL).code == 0
    assert pd.read_csv(tmp_path / "out.csv")["tags"].tolist() == ['["a"]', "[]"]


def test_rows_of_several_files_share_one_table(scored: Run, tmp_path: Path) -> None:
    done = scored("a.jsonl", "e.txt", "d.parquet", "--column", "text", "--output", "out.parquet", *MODEL)
    assert done.code == 0
    table = pd.read_parquet(tmp_path / "out.parquet")
    assert table["file"].value_counts().to_dict() == {"a.jsonl": 30, "e.txt": 1, "d.parquet": 30}
    (text,) = table[table["file"] == "e.txt"].to_dict("records")
    assert text["perplexity"] == pytest.approx(done.objects[1]["perplexity"], rel=1e-5)


def test_mixed_values_are_written_as_json(scored: Run, tmp_path: Path) -> None:
    values = [1, 2.5, "a", None, [1], {"b": None}, 2**70, True]
    rows = [{"text": "one two", "mixed": v, "number": n} for n, v in enumerate(values)]
    rows[3]["number"] = 0.5
    rows[4]["file"] = "=SUM(A1)"
    rows[5]["odd"] = "\ud800"
    (tmp_path / "m.jsonl").write_text(written(rows), "utf-8")
    assert scored("m.jsonl", "--column", "text", "--output", "out.parquet", *MODEL).code == 0
    table = pq.read_table(tmp_path / "out.parquet").to_pydict()
    assert [v if v is None else json.loads(v) for v in table["mixed"]] == values
    assert table["number"] == [0, 1, 2, 0.5, 4, 5, 6, 7]
    assert table["rnnviz_file"] == ["m.jsonl"] * 8, "the name was taken"
    assert table["file"][4] == "=SUM(A1)"
    assert table["odd"][5] == "\\ud800"
    for ending in ("csv", "jsonl"):
        assert scored("m.jsonl", "--column", "text", "--output", f"out.{ending}", *MODEL).code == 0
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        assert [row["file"] for row in csv.DictReader(file)][4] == "'=SUM(A1)", "no formula for a spreadsheet"
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [line["mixed"] for line in lines] == values
    assert lines[5]["odd"] == "\ud800"


def test_bad_rows_are_counted_and_left_out(scored: Run, tmp_path: Path) -> None:
    bad = ["{", '{"text": null}', '{"text": 7}', "", '{"text": ""}', '{"text": "\\udfff"}', "[1, 2]", "{{"]
    good = '{"text": "The Time Traveller"}'
    (tmp_path / "bad.jsonl").write_text("\n".join([good, *bad, good]), "utf-8")
    done = scored("bad.jsonl", "--column", "text", "--output", "out.jsonl", *MODEL)
    assert done.code == 0
    (score,) = done.objects
    assert score["rows_left_out"] == {"broken": 3, "null": 1, "type": 1, "empty": 1, "surrogate": 1}
    messages = done.err.splitlines()
    assert len(messages) == 6, "five rows by name, and all of them counted"
    assert messages[1] == "rnnviz: bad.jsonl, row 2: its text is null"
    assert messages[-1].startswith(
        "rnnviz: bad.jsonl: 7 of 9 rows were left out (not readable 3, null 1, no text 1"
    )
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert [line["perplexity"] is None for line in lines] == [False, *[True] * 7, False]
    assert lines[2]["error"] == "its text is null"


@pytest.mark.slow
def test_damaged_file_gives_earlier_rows_and_exits_1(scored: Run, tmp_path: Path) -> None:
    lines = "".join(f'{{"text": "{n} {n * 7919 % 1000} words"}}\n' for n in range(9000))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(lines.encode())[:-2000])
    done = scored(
        "cut.jsonl.gz", "a.jsonl", "--column", "text", "--output", "out.csv", "-m", "tiny-3gram", "--json"
    )
    assert done.code == 1
    cut, _whole = done.objects
    assert 1000 < cut["rows"] < 9000
    assert "cut.jsonl.gz is damaged or cut off" in cut["damage"]
    assert f"the {cut['rows']:,} rows before that were read" in done.err
    assert len(pd.read_csv(tmp_path / "out.csv")) == cut["rows"] + len(ROWS)


def test_folders_and_patterns_are_expanded(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "f.txt").write_text("The time", "utf-8")
    (tmp_path / "deep" / "a.jsonl").write_text(written(ROWS), "utf-8")
    done = scored("deep", "*.txt", "no*", "--column", "text", *MODEL)
    files = [Path(item["file"]).as_posix() for item in done.objects]
    assert files == ["deep/a.jsonl", "deep/er/f.txt", "e.txt"]
    assert (done.code, done.err) == (1, "rnnviz: no file fits no*; check the folder that it begins with\n")


def test_as_sets_format_of_standard_input(scored: Run, tmp_path: Path) -> None:
    for kind, file in (("csv", "c.csv"), ("parquet", "d.parquet")):
        options = ["--as", kind, "--column", "text", "--output", "out.parquet", *MODEL]
        (score,) = scored("-", *options, data=(tmp_path / file).read_bytes()).objects
        assert score["rows"] == len(pq.read_table(tmp_path / "out.parquet")) == len(ROWS)


CUT = [{"text": "The lever| of us"}, {"text": "half|of|us|jumped."}, {"text": None}]


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_output_has_the_nats_of_each_region(scored: Run, ending: str, tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl").write_text(written(CUT), "utf-8")
    (tmp_path / "short.jsonl").write_text(written(CUT[:1]), "utf-8")
    out = f"out.{ending}"
    options = ["--column", "text", "--separator", "|", "--output", out, *MODEL]
    assert scored("short.jsonl", "cut.jsonl", *options).code == 0
    read = {"parquet": pd.read_parquet, "csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True)}
    table = read[ending](tmp_path / out)
    regions = table[[f"nll_region_{n}" for n in range(1, 5)]]
    assert regions.notna().sum(axis=1).tolist() == [2, 2, 4, 0]
    assert regions.sum(axis=1).tolist()[:3] == pytest.approx(table["nll"].tolist()[:3])
    again = scored(out, "--column", "text", "--separator", "|", "--output", "again.csv", *MODEL)
    assert again.code == 0
    table = pd.read_csv(tmp_path / "again.csv")
    assert table["rnnviz_nll_region_1"].tolist() == pytest.approx(table["nll_region_1"].tolist(), nan_ok=True)


def test_columns_are_regions_and_blanks_count_as_said(scored: Run, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("region_1,region_2\nThe,lever\n", "utf-8")
    nats = {}
    for blanks in ("next", "previous"):
        options = ["--column", "region_*", "--blanks", blanks, "--output", "out.csv", *MODEL]
        (score,) = scored("items.csv", *options).objects
        assert (score["column"], score["characters"]) == ("region_1, region_2", 9)
        nats[blanks] = pd.read_csv(tmp_path / "out.csv")["nll_region_1"].item()
    assert nats["next"] < nats["previous"]
    named = ["--column", "region_1", "--column", "region_2", "--join", "", *MODEL]
    assert scored("items.csv", *named).objects[0]["characters"] == len("Thelever")
    one = scored("items.csv", "e.txt", *MODEL)
    assert "say which with --column (column=… in Python), or all that have regions" in one.err
    refused = scored("e.txt", "--separator", "|", *MODEL)
    assert (refused.code, "e.txt is one text without columns" in refused.err) == (1, True)
