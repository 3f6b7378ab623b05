"""Bytes to text: every encoding found or refused, in chunks of any size."""

import errno
import gzip
import io
import os
import threading
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import DecodingError, TextError
from rnnviz.text.characters import NORMALISERS, normalise
from rnnviz.text.decoding import binary_format, open_text
from rnnviz.text.row_files import open_rows
from tests.support import needs
from tests.support.decoded import decode, source_of
from tests.support.rows import zstandard

ENGLISH = "It was a naïve idea – “let us meet at the café” – and nobody minded.\r\nThe next line says less.\n"
FRENCH = "Les élèves étudient à l'école. Où êtes-vous allés cet été ? Nous fûmes déçus.\n"
CODECS = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "gb18030"]


def test_byte_order_mark_is_no_character() -> None:
    assert decode("\ufeffmachine".encode(), encoding="utf-8").text == "machine"
    assert decode(b"\xef\xbb\xbf").text == ""
    assert decode("ma\ufeffchine".encode()).text == "ma\ufeffchine"


@given(st.text(), st.sampled_from(CODECS), st.data())
def test_chunks_of_any_size_give_the_same_text(text: str, codec: str, data: st.DataObject) -> None:
    encoded = text.encode(codec)
    chunk = data.draw(st.integers(1, max(len(encoded), 1)))
    stream = open_text(io.BytesIO(encoded), encoding=codec, chunk=chunk)
    # Without a mark of its own, a text that begins with U+FEFF has one.
    expected = text if codec in ("utf-8-sig", "utf-16", "utf-32", "gb18030") else text.removeprefix("\ufeff")
    pieces = list(stream)
    assert "".join(pieces) == expected
    assert all(pieces)
    assert stream.bytes_read == stream.bytes_total == len(encoded)


def test_a_stream_can_be_read_again_and_leaves_its_file_open() -> None:
    file = io.BytesIO(FRENCH.encode())
    stream = open_text(file, chunk=10)
    assert next(iter(stream)) == FRENCH[:8]
    assert "".join(stream) == FRENCH
    assert not file.closed


def test_a_path_is_closed_after_reading(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "a.txt"
    path.write_bytes(FRENCH.encode())
    stream = open_text(path, chunk=7)
    iterator, process = iter(stream), psutil.Process()
    next(iterator)
    assert str(path) in [file.path for file in process.open_files()]
    del iterator
    assert str(path) not in [file.path for file in process.open_files()]
    assert "".join(stream) == FRENCH


def test_a_rare_letter_far_down_the_file_is_part_of_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    text = "Nothing beyond ASCII for a long while.\n" * 20_000 + ENGLISH.replace("\r", "")
    path.write_bytes(text.encode("cp1252"))
    stream = open_text(path)
    assert (stream.encoding, stream.certainty) == ("cp1252", "guessed")
    assert "".join(stream) == text


def test_failing_guess_gives_way_to_the_next() -> None:
    # 0x81 is no character of Windows-1252; Latin-1 has one for every byte.
    data = FRENCH.encode("cp1252") * 5_000 + b"\x81\n"
    decoded = decode(data)
    assert decoded.certainty == "guessed"
    assert decoded.encoding != "cp1252"
    assert decoded.text.encode(decoded.encoding) == data


def test_file_changed_while_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "changing.txt"
    path.write_bytes(b"machine")
    stream = open_text(path)
    path.write_bytes(b"mach\xefne")
    with pytest.raises(DecodingError, match=r"changing\.txt is not utf-8: byte 4 \(0xEF\)"):
        list(stream)


def test_too_long_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="can't be opened"):
        open_text(tmp_path / ("long" * 100))


def test_file_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal is the test's own: root may read everything, and Windows has no mode that forbids it."""

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = tmp_path / "secret.txt"
    path.write_bytes(b"machine")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(TextError, match=r"^you may not read .*secret\.txt; change its permissions"):
        open_text(path)


class _FailingDisk(io.BytesIO):
    """A file whose reads fail, as those of a disk with a bad sector do."""

    def read(self, size: int | None = -1) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_disk_error_is_a_text_error() -> None:
    with pytest.raises(TextError, match=r"^this text can't be read \(Input/output error\); copy it"):
        open_text(_FailingDisk(bytes(1000)))


@pytest.mark.parametrize("read", ["text", "rows"])
def test_a_pipe_is_read_once_into_a_copy(tmp_path: Path, read: str) -> None:
    path, data = needs.pipe(tmp_path / "pipe.jsonl"), b'{"text": "one two"}\n' * 3
    writer = threading.Thread(target=path.write_bytes, args=(data,), daemon=True)
    writer.start()
    if read == "text":
        stream = open_text(path)
        for _ in range(2):
            assert "".join(stream) == data.decode()
        assert (stream.name, stream.bytes_total) == (str(path), len(data))
    else:
        rows = open_rows(path)
        for _ in range(2):
            assert [batch.texts for batch in rows.batches()] == [["one two"] * 3]
    writer.join()


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_text_is_unpacked(tmp_path: Path, ending: str) -> None:
    content = "行者笑道：“师父莫怕！”\r\n".encode("gb18030") * 20_000
    data = gzip.compress(content) if ending == ".gz" else zstandard(content)
    (path := tmp_path / f"a.TXT{ending}").write_bytes(data)
    for source in (path, io.BytesIO(data)):
        stream = open_text(source, name=path.name)
        assert "".join(stream) == content.decode("gb18030")
        assert (stream.encoding, stream.bytes_total) == ("gb18030", len(content))
    path.write_bytes(data[:-20])
    with pytest.raises(TextError, match="is damaged or cut off"):
        open_text(path)
    pack = gzip.compress if ending == ".gz" else zstandard
    path.write_bytes(pack(b"\x89PNG\r\n\x1a\n" + bytes(50)))
    with pytest.raises(DecodingError, match="is not a text file"):
        open_text(path)


def test_unseekable_file_is_refused() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    with os.fdopen(reader, "rb") as file, pytest.raises(TextError, match="pass a seekable file"):
        open_text(file)


@pytest.mark.parametrize(
    ("text", "expected", "changed"),
    [
        ("", "", 0),
        ("a\nb", "a\nb", 0),
        ("a\r\nb", "a\nb", 1),
        ("a\rb", "a\nb", 1),
        ("\r\r\n\n\r", "\n\n\n\n", 3),
        ("a\u2028b\x85c\tNFD e\u0301", "a\u2028b\x85c\tNFD e\u0301", 0),
    ],
)
def test_line_ends_become_lf_and_nothing_else_changes(text: str, expected: str, changed: int) -> None:
    source = source_of(text)
    assert "".join(source.pieces(3)) == expected == normalise(text)
    assert (source.normaliser.line_ends, source.normaliser.replaced) == (changed, 0)


def test_typography_replaces_quotes_and_dashes_one_for_one() -> None:
    typed = "‘Wait…’ – “I know — she’s late,”\r\nhe said. «No»"
    read = "'Wait.' - \"I know - she's late,\"\nhe said. «No»"
    source = source_of(typed, "typography")
    assert "".join(source.pieces(4)) == read == normalise(typed, "typography")
    replaced = sum(a != b for a, b in zip(typed.replace("\r", ""), read, strict=True))
    assert (source.normaliser.line_ends, source.normaliser.replaced) == (1, replaced)
    assert normalise(typed) == typed.replace("\r", "")
    assert normalise("「他說『走』。」", "corner-brackets") == "“他說‘走’。”"


@given(
    st.text(alphabet="a“道\r\n"), st.integers(1, 5), st.integers(1, 9), st.sampled_from(sorted(NORMALISERS))
)
def test_cuts_leave_reading_and_byte_count_unchanged(text: str, length: int, chunk: int, name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rnnviz.text.decoding.PIECE_BYTES", chunk)
        source = source_of(text, name)
        pieces, raw = list(source.pieces(length)), list(source_of(text, name).raw_pieces(length))
    read = normalise(text, name)
    assert "".join(pieces) == read
    assert [len(piece) for piece in pieces[:-1]] == [length] * (len(pieces) - 1)
    assert [len(piece) for piece in pieces] == [len(piece) for piece in raw]
    counts = (source.bytes, source.normaliser.line_ends, source.normaliser.replaced)
    assert counts == (len(text.encode()), text.count("\r"), sum(map(text.count, NORMALISERS[name])))
    assert "\r" not in read


@given(st.text(alphabet="a道\r\n"), st.integers(1, 5), st.integers(1, 9))
def test_pieces_of_any_length_end_after_max_characters(text: str, length: int, limit: int) -> None:
    source, expected = source_of(text), normalise(text)[:limit]
    assert "".join(source.pieces(length, limit)) == expected
    assert len("".join(source_of(text).raw_pieces(length, limit))) == len(expected)
    if len(normalise(text)) > limit:
        assert source.bytes < len(text.encode())


@given(st.binary(max_size=400))
def test_any_bytes_are_a_text_without_half_characters_or_a_decoding_error(data: bytes) -> None:
    try:
        decoded = decode(data)
    except DecodingError:
        # Never for a text: UTF-8 without NUL is one.
        with pytest.raises((UnicodeDecodeError, AssertionError)):  # noqa: PT012
            assert "\0" not in data.decode("utf-8")
            assert binary_format(data) is None
        return
    decoded.text.encode("utf-8")
    assert len(decoded.text) <= len(data)
