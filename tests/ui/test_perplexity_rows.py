"""Uploaded files of rows: their column, their figures, and every row's perplexity to take away."""

import gzip
import io
import json
import math
import os
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import perplexity
from rnnviz.ui.formatting import column_format, rounded
from rnnviz.ui.jobs import store
from rnnviz.ui.pages.perplexity import scored_rows
from rnnviz.ui.pages.perplexity.scored_rows import RowsScored
from tests.conftest import TEXT
from tests.ui.apptest import settled
from tests.ui.conftest import Open, everything, turn

ROWS = [{"id": n, "asked": TEXT[n : n + 9], "text": TEXT[n + 9 : 2 * n + 40]} for n in range(20)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
ONE = "".join(json.dumps({"text": row["text"], "id": row["id"]}) + "\n" for row in ROWS)


def upload(app: AppTest, name: str, data: bytes | str) -> AppTest:
    app.file_uploader[0].upload(name, data if isinstance(data, bytes) else data.encode())
    app.run()
    return settled(app, "perplexity")


def found() -> RowsScored:
    """What the store holds of the last file of rows."""
    results = [result for result, _folder, _size in store.shared()._results.values()]
    return [result for result in results if isinstance(result, RowsScored)][-1]


def words(app: AppTest) -> str:
    """All words on the page, as a reader sees them."""
    return everything(app).replace("\\", "")


def figure(app: AppTest) -> str:
    return next(m.value for m in app.metric if m.label.startswith("Perplexity of"))


def test_a_file_of_rows_is_scored_row_by_row(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), "a.jsonl.gz", gzip.compress(ONE.encode(), mtime=0))
    model = load(models_folder / "tiny-gru.safetensors")
    score = found().score
    assert figure(app) == rounded(score.perplexity)
    assert (score.column, score.rows) == ("text", 20)
    assert f"20 rows, {score.characters:,} characters, 0 of them unknown" in words(app)
    assert "Perplexity per word:" in words(app)
    (table,) = [frame.value for frame in app.dataframe]
    for row, value in zip(ROWS, table["Perplexity"], strict=True):
        assert value == pytest.approx(perplexity(model, text=str(row["text"])).perplexity, rel=1e-4)


def test_the_column_and_the_context_are_chosen(open_app: Open, models_folder: Path) -> None:
    app = upload(open_app("perplexity"), "a.jsonl", LINES)
    assert "More than one column of a.jsonl may hold the texts" in words(app)
    assert not app.dataframe
    model = load(models_folder / "tiny-gru.safetensors")
    assert figure(app) == rounded(perplexity(model, text=LINES).perplexity), "the whole file's comes first"
    assert "The whole file as one text" in words(app)
    column, given = (box for box in app.selectbox if box.label.startswith("Column with the"))
    column.select("text")
    app.run()
    given = next(box for box in app.selectbox if box.label == "Column with the context")
    given.select("asked")
    app.run()
    app = settled(app, "perplexity")
    assert "Given the context in **asked**, 180 characters" in words(app)
    assert "The whole file as one text" not in words(app)
    (table,) = [frame.value for frame in app.dataframe]
    for row, value in zip(ROWS, table["Perplexity"], strict=True):
        alone = perplexity(model, text=str(row["text"]), given=str(row["asked"])).perplexity
        assert value == pytest.approx(alone, rel=1e-4)


def test_every_row_is_taken_away_with_its_perplexity(open_app: Open) -> None:
    upload(open_app("perplexity"), "a.csv", "id,text\n1,The time\n2,\n3,was quiet\n")
    scored = found()
    for format, read in (("parquet", pd.read_parquet), ("csv", pd.read_csv)):
        table = read(io.BytesIO(scored.written(format)))
        assert list(table.columns[:4]) == ["id", "text", "file", "row"]
        assert table["perplexity"].isna().tolist() == [False, True, False]
    lines = [json.loads(line) for line in scored.written("jsonl").splitlines()]
    assert [line["error"] for line in lines] == [None, "it has no characters", None]
    if os.name == "posix":
        assert all(path.stat().st_mode & 0o077 == 0 for path in scored.folder.iterdir()), "its owner's alone"


def test_rows_left_out_are_counted(open_app: Open) -> None:
    app = upload(open_app("perplexity"), "a.jsonl", '{"text": "The time"}\n{"text": null}\n{\n')
    said = words(app)
    assert "2 of 3 rows were left out (null 1, not readable 1)." in said
    assert "The first was row 1: Its text is null." in said
    (table,) = [frame.value for frame in app.dataframe]
    assert table["Beginning"][1] == "(its text is null)"


@pytest.mark.usefixtures("troubled")
def test_a_bad_file_is_a_sentence_and_names_stay_text(open_app: Open) -> None:
    app = open_app("perplexity")
    for name, data in {
        "a.parquet": b"no parquet",
        "a.jsonl.gz": gzip.compress(LINES.encode(), mtime=0)[:30],
        "a.jsonl": b'{"text": ""}\n',
        "a.csv": b"\0\0",
        "*a* <i>.jsonl": b'{"**t** <b>": "<script>alert(1)</script> and *so*"}\n',
    }.items():
        app.file_uploader[0].upload(name, data)
    app = settled(app.run(), "perplexity")
    for message in (
        "a.parquet is no Parquet file, or it is damaged",
        "is damaged or cut off",
        "No column of a.jsonl seems to hold texts",
        "NUL",
        "*a* <i>",
    ):
        assert message in " ".join([words(app), *(m.label.replace("\\", "") for m in app.metric)])
    assert "<script>" not in everything(app)
    assert "*a* <i>" not in everything(app)


def test_a_file_of_rows_can_be_read_as_one_text(open_app: Open) -> None:
    data = "id,text\n1,The time\n"
    app = upload(open_app("perplexity"), "a.csv", data)
    next(button for button in app.button if button.label == "Score it as one text").click()
    app.run()
    app = settled(app, "perplexity")
    assert f"{len(data)}" in words(app)
    assert any(choice.label == "Section" for choice in app.get("button_group"))


def test_beside_texts_rows_have_their_own_place_and_stay(open_app: Open) -> None:
    app = open_app("perplexity")
    app.file_uploader[0].upload("b.txt", TEXT.encode())
    app = upload(app, "a.jsonl", ONE)
    assert {m.label.replace("\\", "") for m in app.metric} == {"Perplexity of a.jsonl", "Perplexity of b.txt"}
    before = found()
    app = settled(turn(turn(app, "explore"), "perplexity"), "perplexity")
    assert found() is before


def test_a_file_of_many_rows_lists_the_first(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scored_rows, "SHOWN", 5)
    app = upload(open_app("perplexity"), "a.jsonl", ONE)
    (table,) = [frame.value for frame in app.dataframe]
    assert table["Row"].tolist() == [0, 1, 2, 3, 4]
    assert "The first 5 of 20 rows. The files below hold all of them." in words(app)


def test_what_was_found_goes_with_the_file(open_app: Open) -> None:
    app = upload(open_app("perplexity"), "a.jsonl", ONE)
    folder = found().folder
    assert folder.is_dir()
    app.file_uploader[0].set_value([("b.jsonl", LINES.encode(), "text/plain")])
    app.run()
    assert not folder.exists()


def test_a_folder_is_uploaded_without_its_hidden_files(open_app: Open) -> None:
    app = open_app("perplexity")
    next(toggle for toggle in app.toggle if toggle.label == "Upload a folder").set_value(True)
    app.run()
    assert app.file_uploader[0].label == "A folder with text files"
    for name, data in (
        ("c/.git/x.txt", "hidden"),
        ("c/a.jsonl", ONE),
        ("c/.b.txt", "hidden"),
        ("c/b.txt", TEXT),
    ):
        app.file_uploader[0].upload(name, data.encode())
    app.run()
    app = settled(app, "perplexity")
    assert {m.label.replace("\\", "") for m in app.metric} == {
        "Perplexity of c/a.jsonl",
        "Perplexity of c/b.txt",
    }


@pytest.mark.parametrize(
    ("largest", "form"), [(9e5, "%.2f"), (1e6, "compact"), (1e12, "scientific"), (math.inf, "scientific")]
)
def test_a_column_of_huge_perplexities_is_written_short(largest: float, form: str) -> None:
    assert column_format([2.5, largest]) == form
