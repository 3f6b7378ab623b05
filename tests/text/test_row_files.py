"""Files of rows: which there are, which column holds the texts, and what is wrong with a row or a file."""

import codecs
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rnnviz.errors import DecodingError, TextError
from rnnviz.text import files, row_files
from rnnviz.text.decoding import CHUNK_BYTES
from rnnviz.text.files import gathered
from rnnviz.text.row_files import RowFile, format_of, is_packed_rows, open_rows
from tests.support import needs
from tests.support.rows import ROWS, comma, json_lines, opened_rows, parquet, zstandard

TEXTS = [str(row["text"]) for row in ROWS]


def texts(file: RowFile) -> list[str]:
    return [text for rows in file.batches() for text in rows.texts]


def faults(file: RowFile) -> list[str]:
    """The kind of each row's fault, or "" """
    return [fault.kind if fault else "" for rows in file.batches() for fault in rows.faults]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", json_lines(ROWS)),
        ("a.ndjson", b"\xef\xbb\xbf" + json_lines(ROWS) + b"\n\n"),
        ("a.jsonl.gz", gzip.compress(json_lines(ROWS), mtime=0)),
        ("a.JSONL.zst", zstandard(json_lines(ROWS))),
        ("a.csv", comma(ROWS)),
        ("a.csv", comma(ROWS, ";")),
        ("a.csv", comma(ROWS).decode().encode("utf-16")),
        ("a.csv.gz", gzip.compress(comma(ROWS).decode().encode("utf-16"), mtime=0)),
        ("a.csv", comma(ROWS).replace(b"\r\n", b"\r")),
        ("a.jsonl", json_lines(ROWS).replace(b"\n", b"\r")),
        ("a.csv", b"sep=;\r\n" + comma(ROWS, ";")),
        ("a.csv", b'\xef\xbb\xbf"sep=|"\n' + comma(ROWS, "|")),
        ("a.csv", "sep=\t\n".encode("utf-16") + comma(ROWS, "\t").decode().encode("utf-16-le")),
        ("a.jsonl", json_lines(ROWS).decode().replace("\n", "\r\n").encode("utf-16")),
        ("a.jsonl", json_lines(ROWS).decode().encode("utf-16-le")),
        ("a.jsonl", codecs.BOM_UTF16_BE + json_lines(ROWS).decode().encode("utf-16-be")),
        ("a.jsonl.gz", gzip.compress(json_lines(ROWS).decode().encode("utf-16"), mtime=0)),
        ("a.jsonl", json_lines(ROWS).decode().encode("utf-32")),
        ("a.tsv", comma(ROWS, "\t")),
        ("a.csv.gz", gzip.compress(b"\xef\xbb\xbf" + comma(ROWS), mtime=0)),
        ("a.csv.zst", zstandard(comma(ROWS))),
        ("a.parquet", parquet(ROWS)),
        ("a.parquet", parquet(ROWS, row_group_size=2, compression="zstd")),
        ("a.parquet", parquet(ROWS, use_dictionary=False)),
    ],
)
def test_the_same_rows_in_every_format(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    for source in (io.BytesIO(data), tmp_path / name):
        file = open_rows(source, name=name)
        assert (file.column, file.found) == ("text", True), "the one with blanks in it"
        assert texts(file) == TEXTS
        assert texts(file) == TEXTS, "again, from the beginning"
        assert file.bytes_read <= file.bytes_total == len(data)
        full = [row for rows in file.batches(full=True) for row in _dicts(rows.full_rows)]
        assert [str(row["label"]) for row in full] == [row["label"] for row in ROWS]


def _dicts(rows: Any) -> list[dict[str, Any]]:
    return rows if isinstance(rows, list) else rows.to_pylist()


@pytest.mark.parametrize(
    ("row", "options", "column"),
    [
        ({"anything": "word"}, {}, "anything"),
        ({"id": 3, "said": "word"}, {}, "said"),
        ({"id": "a7", "said": "two words"}, {}, "said"),
        ({"id": "a7", "said": "一二三"}, {}, "said"),
        ({"prompt": "two words", "said": "two words"}, {"context": "prompt"}, "said"),
        ({"id": "a7", "said": "two words"}, {"column": "id"}, "id"),
    ],
)
def test_only_possible_text_column_is_found(
    row: dict[str, Any], options: dict[str, str], column: str
) -> None:
    for data, name in ((json_lines([row]), "a.jsonl"), (parquet([row]), "a.parquet")):
        file = opened_rows(data, name, **options)
        assert (file.column, file.found) == (column, "column" not in options)


def test_faulty_row_is_left_out_alone() -> None:
    bad = [
        b'{"text": null}', b'{"text": 3}', b'{"text": ["a"]}', b'{"other": "a"}', b'{"text": "a"', b"[1]",
        b'"text"', b'{"text": "\\ud800"}', b"\xff\xfe", b"[" * 100_000, b'{"text": ' + b"9" * 5000 + b"}",
        b"NaN", b"\0", b'{"text": "\xff"}',
    ]  # fmt: skip
    data = b"\n".join(part for row in bad for part in (row, b'{"text": "good"}'))
    file = opened_rows(data, "a.jsonl", column="text")
    assert faults(file)[::2] == [
        "null", "type", "type", "missing", "broken", "broken", "broken", "surrogate", "broken", "broken",
        "broken", "broken", "broken", "broken",
    ]  # fmt: skip
    assert not any(faults(file)[1::2])
    assert texts(file)[1::2] == ["good"] * len(bad)
    messages = [str(fault.error) for rows in file.batches() for fault in rows.faults if fault]
    assert messages[1] == "its text is a number, not a text"
    assert messages[4].startswith("line 9 is not JSON: Expecting")
    assert messages[-1] == "line 27 is not UTF-8"
    assert all("\n" not in message and len(message) < 250 for message in messages)
    assert faults(opened_rows(b'{"text": "a", "before": null}', "a.jsonl", context="before")) == ["null"]


def test_faulty_record_is_left_out_alone() -> None:
    data = b'id,text\n1,good one\n2\n3,"quoted, ""twice""\nand broken"\n\n4,a,b\n5,\n6,a\rb\n7,a b\n'
    file = opened_rows(data, "a.csv")
    assert texts(file) == ["good one", "", 'quoted, "twice"\nand broken', "", "", "", "a b"]
    assert faults(file) == ["", "broken", "", "broken", "", "broken", ""]
    unclosed = opened_rows(b'id,text\n1,a b\n2,"no end\n3,c\n', "a.csv")
    assert texts(unclosed) == ["a b", "no end\n3,c\n"], "as CSV has it"


@pytest.mark.parametrize(
    ("data", "column", "count"),
    [
        ("id;text, in English\n1;Yes, it is\n2;No, and no, and no\n", "text, in English", 2),
        ("id,note; text\n1,a; b; c\n2,d e\n", "note; text", 2),
        ("name;price, EUR, net\na b;1\nc d;2\n", "name", 2),
        ("text|a,b|c,d\nx y|1|2\nz w|3|4\n", "text", 2),
        ("text\nHello, world; and all\nBye\n", "text", 2),
        ('text\n"Hello, world"\n"Bye, now"\n', "text", 2),
        ("a,text\n1,one two\nbroken\n2,three four\n", "text", 3),
        ('id;text\n1;"a, b\nc, d"\n2;"e; f"\n', "text", 2),
        ("id, text\n1, a b\n2, c d\n", "text", 2),
        ("id\ttext\n1\tone, two\n2\tthree, four\n", "text", 2),
        ("text\n", "text", 0),
    ],
)
def test_the_separator_is_what_all_rows_have(data: str, column: str, count: int) -> None:
    assert len(texts(opened_rows(data.encode(), "a.csv", column=column))) == count


def test_line_ends_are_found_wherever_a_file_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for end in ("\r", "\n", "\r\n"):
        data = end.join(["id,text", "1,one two", '2,"a', 'b"', "3,", ""]).encode()
        for chunk in range(1, 20):
            monkeypatch.setattr(row_files, "CHUNK_BYTES", chunk)
            assert texts(opened_rows(data, "a.csv", column="text")) == ["one two", f"a{end}b", ""]


def test_columns_of_one_name_get_numbers() -> None:
    file = opened_rows(b"text,text, text \na b,c d,e f\n", "a.csv", column="text (2)")
    assert (file.columns, texts(file)) == (("text", "text (2)", "text (3)"), ["c d"])


def test_a_row_too_long_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "MAX_ROW_CHARS", 1000)
    long = {"text": "x " * 2000}
    file = opened_rows(json_lines([ROWS[0], long, ROWS[1]]), "a.jsonl")
    assert (texts(file), faults(file)) == ([TEXTS[0], "", TEXTS[1]], ["", "long", ""])
    file = opened_rows(parquet([{"text": "a b"}, long]), "a.parquet")
    assert faults(file) == ["", "long"]
    batches = opened_rows(comma([{"text": "a b"}, long]), "a.csv").batches()
    assert next(batches).texts == ["a b"], "a line of CSV may hide where the next begins"
    with pytest.raises(TextError, match=r"a\.csv has a line longer than 1,000 characters"):
        next(batches)
    endless = opened_rows(b"text\n" + b"x" * 400_000 + b"\nafter", "b.jsonl", column="text")
    lines = endless.lines("strict")
    assert [len(next(lines)), 1000 < len(next(lines)) < 100_000] == [5, True], "it is never held whole"
    assert endless.bytes_read < 100_000, "it is told at once"
    assert list(lines) == ["after"]


def test_a_long_first_row_does_not_choose_the_column_alone() -> None:
    first, later = {"id": "x" * row_files.BATCH_CHARS}, [{"id": str(n), "text": "a b"} for n in range(10)]
    assert opened_rows(json_lines([first, *later]), "a.jsonl", column=None).column == "text"


def test_batches_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "BATCH_ROWS", 10)
    monkeypatch.setattr(row_files, "BATCH_CHARS", 100)
    rows = [{"text": "a " * (n % 40)} for n in range(200)]
    for data, name in ((json_lines(rows), "a.jsonl"), (parquet(rows), "a.parquet")):
        file, start = opened_rows(data, name), 0
        for batch in file.batches(full=True):
            assert batch.start == start
            assert sum(map(len, batch.texts[:-1])) < 100, "the row that fills it is its last"
            assert len(_dicts(batch.full_rows)) == len(batch.texts)
            start += len(batch.texts)
        assert start == 200


# ---- damage ------------------------------------------------------------------------------------------------

PLAIN = parquet(ROWS, use_dictionary=False)
MANY_ROWS = [{"text": f"{n} {n * 7919 % 1000} words"} for n in range(20_000)]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_that_was_cut_off_gives_what_comes_before(ending: str) -> None:
    data = (gzip.compress if ending == ".gz" else zstandard)(json_lines(MANY_ROWS))
    for name in ("a.jsonl", "a.csv"):
        file = opened_rows(data[: len(data) * 2 // 3], f"{name}{ending}", column=None)
        read: list[str] = []
        steps = file.batches()
        with pytest.raises(TextError, match=rf"{name}{ending} is damaged or cut off: after [\d,]+ bytes"):
            read.extend(text for rows in steps for text in rows.texts)
        assert 1000 < len(read) < len(MANY_ROWS)
        if ending == ".gz":
            content = zlib.decompressobj(31).decompress(data[: len(data) * 2 // 3])
            lost = len(content) - sum(len(json.dumps({"text": text})) + 1 for text in read)
            assert lost <= CHUNK_BYTES, "all that can be unpacked but for one piece"
            assert opened_rows(data[:3000], f"{name}.gz", column=None).columns, "however short"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl.gz", b"no gzip", "can't be unpacked as gzip"),
        ("a.jsonl.zst", b"no zst!", "can't be unpacked as Zstandard"),
        ("a.jsonl.gz", gzip.compress(json_lines(ROWS), mtime=0)[:20], "can't be unpacked as gzip"),
        ("a.parquet", parquet(ROWS)[:-40], "is not a Parquet file, or it is damaged or cut off"),
        ("a.parquet", PLAIN[:100] + bytes(20) + PLAIN[120:], "is not a Parquet file, or it is damaged"),
        ("a.parquet", b"PAR1", "is not a Parquet file"),
        ("a.csv", b'"' + (b"a" * 9_000_000 + b"\n") * 2, "has no head of columns: "),
        ("a.csv", b"a," * 1000 + b"a\n", "has 1,001 columns, and at most 1,000 are read"),
        ("a.parquet", b"", "is not a Parquet file"),
        ("a.csv", bytes(100), "is NUL"),
        ("a.csv.gz", gzip.compress(b"text\n\xff\xff", mtime=0), "is not utf-8"),
    ],
)
def test_damaged_file_is_refused_in_one_line(name: str, data: bytes, message: str) -> None:
    with pytest.raises((TextError, DecodingError), match=message) as error:
        texts(opened_rows(data, name))
    assert str(error.value).startswith(name)
    assert "\n" not in str(error.value)


def test_values_unknown_to_python_stop_no_row(tmp_path: Path) -> None:
    bad = pa.array([b"\xff", b"ok"]).view(pa.string())
    table = pa.table({
        "text": ["one two", "three"],
        "odd": bad,
        "nested": pa.ListArray.from_arrays([0, 1, 2], bad),
        "late": pa.array([10**18, 0], pa.timestamp("us")),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    file = open_rows(tmp_path / "a.parquet", column="text")
    assert texts(file) == ["one two", "three"]
    (full,) = (rows.full_rows for rows in file.batches(full=True))
    cells = {name: row_files.values(full.column(name)) for name in table.schema.names}
    assert cells["odd"] == [b"\xff", "ok"]
    assert cells["nested"][1] == ["ok"]
    assert "1000000000000000000" in cells["late"][0], "beyond Python's last year"
    file.choose("odd", None)
    assert [str(fault.error) for rows in file.batches() for fault in rows.faults if fault] == [
        "its odd is not UTF-8"
    ]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_decompression_bomb_is_noticed_early(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FREE_BYTES", 1 << 20)
    bomb = (gzip.compress if ending == ".gz" else zstandard)(b" " * (8 << 20))
    with pytest.raises(TextError, match="unpacks to more than 300 times its size"):
        texts(opened_rows(bomb, f"a.csv{ending}"))


def test_a_parquet_bomb_is_noticed_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_files, "MAX_TEXT_BYTES", 1 << 20)
    bomb = parquet([{"text": "x " * 5000}] * 1000)
    assert len(bomb) < 10_000
    with pytest.raises(TextError, match=r"unpacks to more than 1 MB of text in 1,?\d* rows"):
        texts(opened_rows(bomb, "a.parquet"))


# ---- names -------------------------------------------------------------------------------------------------


def test_the_name_says_the_format(tmp_path: Path) -> None:
    assert [format_of(n) for n in ("a.txt", "a.gz", "a.parquet.gz", "a.tar.gz", "jsonl")] == [None] * 5
    assert [is_packed_rows(n) for n in ("a.jsonl", "a.jsonl.gz", "a.parquet")] == [False, True, True]
    assert texts(opened_rows(json_lines(ROWS), "a.txt", format="jsonl")) == TEXTS


def test_an_encoding_is_declared_where_a_file_has_one() -> None:
    latin = comma([{"text": "Größe und Ärger"}]).decode().encode("cp1252")
    for name, data in (("a.csv", latin), ("a.csv.gz", gzip.compress(latin, mtime=0))):
        file = opened_rows(data, name, encoding="cp1252")
        assert texts(file) == ["Größe und Ärger"]
        assert (file.encoding, file.certainty) == ("cp1252", "declared")
    for encoding in ("latin-1", "utf-16"):
        line = '{"text": "Größe und"}'.encode(encoding)
        assert texts(opened_rows(line, "a.jsonl", encoding=encoding)) == ["Größe und"]


def test_folders_and_patterns_stand_for_their_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a.jsonl", "sub/c.txt", ".hidden/d.txt", ".e.txt", "sub/[1].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir()

    def names(named: str) -> list[str]:
        return [Path(path).relative_to(tmp_path).as_posix() for path in gathered(str(tmp_path / named))]

    assert names("") == ["a.jsonl", "b.txt", "sub/[1].txt", "sub/c.txt"]
    assert names("*.txt") == ["b.txt"]
    assert names("**/*.txt")[:2] == ["b.txt", "sub/[1].txt"]
    assert names("sub/[1].txt") == ["sub/[1].txt"], "a file is itself before it is a pattern"
    assert names("absent.txt") == ["absent.txt"]


def test_a_link_that_leads_round_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    needs.link(tmp_path / "round", tmp_path)
    assert gathered(str(tmp_path)) == [str(tmp_path / "a.txt")]


def test_columns_are_bounded_and_any_named_column_is_read() -> None:
    data = json_lines([{f"c{n}": "a" for n in range(row_files.MAX_COLUMNS + 5)}])
    file = opened_rows(data, "a.jsonl", column=(last := f"c{row_files.MAX_COLUMNS + 4}"))
    assert (len(file.columns), file.columns[0]) == (row_files.MAX_COLUMNS, "c0")
    assert [rows.texts for rows in file.batches()] == [["a"]], last
