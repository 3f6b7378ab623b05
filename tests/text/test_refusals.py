"""What the room of texts refuses, and in which words."""

import codecs
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rnnviz.errors import ConfigError, CorpusError, DecodingError, DownloadError, TextError
from rnnviz.text import corpora
from rnnviz.text.characters import normalise
from rnnviz.text.corpora import as_corpus
from rnnviz.text.decoding import open_text
from rnnviz.text.files import gathered
from rnnviz.text.row_files import open_rows
from rnnviz.text.vocabulary import Vocabulary, code_points
from tests.support.decoded import decode
from tests.support.refused import assert_refused
from tests.support.rows import ROWS, comma, json_lines, opened_rows, parquet
from tests.support.texts import RUSSIAN, TEXTS

CUT_OFF = "道".encode()[:2]
LONG_RUSSIAN = (RUSSIAN * 50).encode()
UNDECODABLE: list[tuple[bytes, str, str]] = [
    (b"abc\xffdef", "utf-8", r"is not utf-8: byte 3 \(0xFF\)"),
    ("naïve".encode(), "ascii", r"is not ascii: byte 2 \(0xC3\)"),
    (
        "machine".encode("utf-16-le")[:-1],
        "utf-16-le",
        r"was cut off inside its last character: byte 12 \(0x65\)",
    ),
    (b"\xe2\x82", "utf-8", r"was cut off inside its last character: byte 0 \(0xE2\) begins .*, in utf-8"),
    (b"\x80a", "euc-jp", r"is not euc_jp: byte 0"),
    *(("machine".encode(f"{codec}-le"), codec, f"is not {codec} .*BOM") for codec in ("utf-16", "utf-32")),
]
NO_ENCODINGS = ("klingon", "", "rot13", "base64", "zlib", "idna", "utf-7", "unicode_escape", "a\0b")
IN_DOUBT: list[tuple[dict[str, Any], dict[str, str], str]] = [
    ({"a": "two words", "b": "two words"}, {}, r"more than one column of texts: 'a', 'b'; say which"),
    ({"a": 1, "b": None}, {}, r"has no column of texts; it has 'a', 'b'"),
    ({"a": "word"}, {"context": "a"}, r"has no column of texts"),
]
NO_VOCABULARY: list[tuple[tuple[str, ...], str]] = [
    ((), "at least one character"),
    (("ab",), "single characters; received 'ab'"),
    (("",), "single characters"),
    (("\ud800",), "single characters"),
    (("b", "a"), "sorted by code point"),
    (("a", "a"), "each once"),
]


def written(path: Path, content: str | bytes = b"") -> Path:
    """A file that holds this."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    # corpora
    **{
        f"shares {shares}": (
            lambda _, s=shares: corpora.from_text("a" * 1000).split(*s),
            ConfigError,
            "shares of",
        )
        for shares in ((-0.1, 0.1), (0.5, 0.5), (0.1, float("nan")), (0, 1.5))
    },
    **{
        f"{ask.__name__}: a name that there is not": (
            lambda _, ask=ask: ask("ulysses"),
            CorpusError,
            r"no corpus is called 'ulysses'.*corpora are python-source, .*path",
        )
        for ask in (corpora.read, corpora.describe, corpora.fetch, corpora.named_or_file)
    },
    **{
        f"{ask.__name__}: a file": (
            lambda tmp, ask=ask: ask(str(written(tmp / "diary.txt", "Dear diary, " * 30))),
            CorpusError,
            r"diary\.txt' is a file, and no corpus .*open_corpus",
        )
        for ask in (corpora.read, corpora.describe, corpora.fetch)
    },
    "no text": (lambda _: corpora.from_text(""), CorpusError, "is empty"),
    "no text to train on": (lambda _: as_corpus(""), CorpusError, "is empty"),
    "half a character": (lambda _: corpora.from_text("a\ud83c"), TextError, "half of a surrogate pair"),
    "no such book": (lambda tmp: corpora.from_file(tmp / "book.txt"), TextError, "there is no file"),
    "an empty book": (lambda tmp: corpora.from_file(written(tmp / "book.txt")), CorpusError, "is empty"),
    "a book as PDF": (
        lambda tmp: corpora.from_file(written(tmp / "book.txt", b"%PDF-1.7")),
        DecodingError,
        r"a document \(PDF\)",
    ),
    **{
        f"to train on: {name}": (lambda _, name=name: as_corpus(name), TextError, r"write pathlib\.Path")
        for name in ("absent.txt", "books/absent", "C:\\books\\absent")
    },
    "a file's name for its text": (
        lambda tmp: corpora.open_corpus(str(written(tmp / "diary", "Dear diary, " * 30))),
        TextError,
        r"is the name of a file.*write pathlib\.Path",
    ),
    **{
        f"a word, or almost a name: {name}": (
            lambda _, name=name: corpora.open_corpus(name),
            CorpusError,
            rf"no corpus is called '{name}'; write one of .*timemachine, .* pathlib\.Path",
        )
        for name in ("timemachin", "The timemachine", "holmes", "War-and_peace2")
    },
    "an address that is none": (
        lambda _: corpora.fetch("tinyshakespeare", base_url="no-such-scheme://there"),
        DownloadError,
        "can't be fetched",
    ),
    # bytes
    **{
        f"UTF-8 cut off after {len(text)} characters": (
            lambda _, text=text: decode(text.encode() + CUT_OFF),
            DecodingError,
            rf"was cut off inside its last character: byte {len(text.encode()):,} \(0xE9\)",
        )
        for text in (
            TEXTS["simplified"] * 3,
            RUSSIAN,
            TEXTS["japanese"] * 30_000,
            "plain\n" * 50_000 + TEXTS["korean"] * 9,
        )
    },
    "a stray byte in UTF-8": (
        lambda _: decode(LONG_RUSSIAN + b"caf\xe9\n" + LONG_RUSSIAN * 40),
        DecodingError,
        rf"is UTF-8 but damaged: byte {len(LONG_RUSSIAN) + 3:,} ",
    ),
    "UTF-8 that lost many bytes": (
        lambda _: decode(bytes(byte for n, byte in enumerate((RUSSIAN * 40).encode()) if n % 7)),
        DecodingError,
        "is UTF-8 but damaged: byte 0 ",
    ),
    "what no encoding explains": (
        lambda _: decode(TEXTS["simplified"].encode("gb18030") * 2000 + b"\xff\xff\n"),
        DecodingError,
        r"this text is not UTF-8 \(byte 0 is 0xB5\) and no other encoding",
    ),
    "a mark that is cut off": (
        lambda _: decode(codecs.BOM_UTF16_LE + b"a"),
        DecodingError,
        "was cut off inside its last character: byte 2",
    ),
    **{
        f"no {encoding}: {data!r} by {chunk}": (
            lambda _, data=data, encoding=encoding, chunk=chunk: list(
                open_text(io.BytesIO(data), encoding=encoding, chunk=chunk)
            ),
            DecodingError,
            f"this text {words}",
        )
        for data, encoding, words in UNDECODABLE
        for chunk in (1, 2, 100)
    },
    **{
        f"an encoding called {name!r}": (
            lambda _, name=name: decode(b"machine", encoding=name),
            ConfigError,
            "no text encoding is called",
        )
        for name in NO_ENCODINGS
    },
    "a normaliser": (
        lambda _: normalise("Machine", "lowercase"),
        ConfigError,
        "no normaliser is called 'lowercase'; there are newlines, typography, corner-brackets",
    ),
    # files
    **{
        f"called {ending} and none": (
            lambda tmp, ending=ending: open_text(
                written(tmp / f"book.txt{ending}", "Plain text, not packed at all.")
            ),
            DecodingError,
            r"book\.txt\.\w+ has the ending of a compressed file, but begins as",
        )
        for ending in (".gz", ".zst")
    },
    "no such file": (
        lambda tmp: open_text(tmp / "absent.txt"),
        TextError,
        r"there is no file .*absent\.txt; check its name",
    ),
    "a folder": (lambda tmp: open_text(str(tmp)), TextError, r"^.+ is a folder; choose a text file in it"),
    "a name with NUL": (lambda _: open_text("a\0b"), TextError, "can't be opened"),
    "a device": (
        lambda _: open_text(os.devnull),
        TextError,
        r"^\S+ is a device, or a pipe that can't be read",
    ),
    "a folder without files": (
        lambda tmp: gathered(str(tmp)),
        TextError,
        "is a folder without files",
    ),
    "a pattern of no file": (lambda tmp: gathered(str(tmp / "*.md")), TextError, "no file fits"),
    # rows
    **{
        f"columns of {row} as {name}": (
            lambda _, row=row, options=options, name=name, kind=kind: opened_rows(
                kind([row]), name, **options
            ),
            ConfigError,
            words,
        )
        for row, options, words in IN_DOUBT
        for name, kind in (("a.jsonl", json_lines), ("a.parquet", parquet))
    },
    **{
        f"no such {option} in {name}": (
            lambda _, data=data, name=name, option=option: opened_rows(data, name, **{option: "body"}),
            ConfigError,
            rf"{name} has no column 'body'; it has 'id', 'text'",
        )
        for name, data in (("a.csv", comma(ROWS)), ("a.parquet", parquet(ROWS)))
        for option in ("column", "context")
    },
    "rows in a .txt": (
        lambda _: opened_rows(b"", "a.txt"),
        ConfigError,
        r"a\.txt is not a file of rows by its ending",
    ),
    "no such file of rows": (lambda tmp: open_rows(tmp / "absent.jsonl"), TextError, "there is no file"),
    "rows in UTF-16": (
        lambda _: opened_rows(json_lines(ROWS), "a.jsonl", encoding="utf-16"),
        DecodingError,
        "is not utf-16",
    ),
    **{
        f"{name} in no encoding": (
            lambda _, name=name, data=data: opened_rows(data, name, encoding="rot13"),
            ConfigError,
            "no text encoding is called 'rot13'",
        )
        for name, data in (("a.jsonl", json_lines(ROWS)), ("a.csv.gz", gzip.compress(comma(ROWS))))
    },
    "an encoding of Parquet": (
        lambda _: opened_rows(parquet(ROWS), "a.parquet", encoding="utf-8"),
        ConfigError,
        "a Parquet file has no encoding to name",
    ),
    # vocabularies
    "the half of a character": (
        lambda _: code_points("ab\ud83c"),
        TextError,
        r"character 3 is U\+D83C, half of a surrogate pair",
    ),
    "a vocabulary of halves": (
        lambda _: Vocabulary.from_text("ab\udf89", min_count=1),
        TextError,
        "half of a surrogate pair",
    ),
    "a half to encode": (
        lambda _: Vocabulary(("a",)).encode("\udf89"),
        TextError,
        "half of a surrogate pair",
    ),
    **{
        f"a vocabulary of {characters}": (lambda _, c=characters: Vocabulary(c), ConfigError, words)
        for characters, words in NO_VOCABULARY
    },
    "a vocabulary of no text": (lambda _: Vocabulary.from_text(""), TextError, "needs a text"),
    "a vocabulary of what comes -1 times": (
        lambda _: Vocabulary.from_text("a", min_count=-1),
        ConfigError,
        "0 for as many as suit the text; received -1",
    ),
    "a vocabulary of one": (lambda _: Vocabulary.from_text("a", size=1), ConfigError, "at least 2 symbols"),
    **{
        f"a vocabulary from {value!r}": (
            lambda _, v=value: Vocabulary.from_json(v),
            ConfigError,
            "list of code points",
        )
        for value in (None, "abc", {"a": 1}, ["a"], [97.0], [True], [-1], [0x110000])
    },
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusal_says_what_is_wrong(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RNNVIZ_CACHE", str(tmp_path))
    assert_refused(*REFUSED[case], tmp_path)
