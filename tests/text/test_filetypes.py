"""Every kind of file that is no text is refused by name, with what to do; no text is taken for one."""

import bz2
import gzip
import importlib.util
import io
import lzma
import pickle
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnnviz.errors import DecodingError
from rnnviz.text.decoding import binary_format, open_text
from tests.support.decoded import decode
from tests.support.texts import TEXTS


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            kind, _, name = name.rpartition("=")
            archive.writestr(name, kind or "words " * 50, zipfile.ZIP_STORED if kind else None)
    return buffer.getvalue()


NUL = bytes(50)
ARCHIVE, DOCUMENT = ("an archive (%s); unpack it and choose a text file inside", "a document (%s); open it")
BINARY: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + NUL, "PNG data; choose a text file"),
    "jpg": (b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + NUL, "JPG"),
    "exif.jpg": (b"\xff\xd8\xff\xe1\x1c\x45Exif\x00\x00II*\x00" + NUL, "JPG"),
    "gif": (b"GIF89a\x10\x00\x10\x00\x91\x00\x00" + NUL, "GIF"),
    "webp": (b"RIFF\x24\x00\x00\x00WEBPVP8 " + NUL, "WEBP"),
    "bmp": (b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00" + NUL, "BMP"),
    "ico": (b"\x00\x00\x01\x00\x01\x00\x10\x10" + NUL, "ICO"),
    "tif": (b"II*\x00\x08\x00\x00\x00" + NUL, "TIF"),
    "psd": (b"8BPS\x00\x01" + NUL, "PSD"),
    "heic": (b"\x00\x00\x00\x24ftypheic" + NUL, "HEIC"),
    "zip": (lambda: zipped("notes.txt"), ARCHIVE % "ZIP"),
    "gz": (lambda: gzip.compress(b"words"), ARCHIVE % "GZ"),
    "bz2": (lambda: bz2.compress(b"words"), ARCHIVE % "BZ2"),
    "xz": (lambda: lzma.compress(b"words"), ARCHIVE % "XZ"),
    "lzma": (lambda: lzma.compress(b"words", lzma.FORMAT_ALONE), ARCHIVE % "LZMA"),
    "zst": (b"\x28\xb5\x2f\xfd\x04\x58" + bytes(20), ARCHIVE % "ZST"),
    "lz4": (b"\x04\x22\x4d\x18\x64\x40" + bytes(20), ARCHIVE % "LZ4"),
    "Z": (b"\x1f\x9d\x90" + bytes(range(60)), ARCHIVE % "Z"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04" + NUL, ARCHIVE % "7Z"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + NUL, ARCHIVE % "RAR"),
    "tar": (tarfile.TarInfo("notes.txt").tobuf() + bytes(9728), ARCHIVE % "TAR"),
    "cab": (b"MSCF" + NUL, ARCHIVE % "CAB"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", DOCUMENT % "PDF"),
    "docx": (lambda: zipped("[Content_Types].xml", "word/document.xml"), DOCUMENT % "Office"),
    "xlsx": (lambda: zipped("xl/workbook.xml", "[Content_Types].xml"), DOCUMENT % "Office"),
    "pptx": (lambda: zipped("_rels/.rels", "ppt/presentation.xml"), DOCUMENT % "Office"),
    "doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), DOCUMENT % "Office"),
    "odt": (lambda: zipped("application/vnd.oasis.opendocument.text=mimetype", "a.xml"), DOCUMENT % "ODT"),
    "epub": (lambda: zipped("application/epub+zip=mimetype", "book.xhtml"), DOCUMENT % "EPUB"),
    "rtf": (rb"{\rtf1\ansi\deff0 {\fonttbl {\f0 Times;}} words}", DOCUMENT % "RTF"),
    "djvu": (b"AT&TFORM\x00\x00\x00\x60DJVU" + bytes(20), DOCUMENT % "DjVu"),
    "exe": (b"MZ\x90\x00\x03\x00\x00\x00" + NUL, "EXE"),
    "elf": (b"\x7fELF\x02\x01\x01" + NUL, "ELF"),
    "macho": (b"\xcf\xfa\xed\xfe\x07\x00\x00\x01" + NUL, "macOS program"),
    "universal": (b"\xca\xfe\xba\xbe\x00\x00\x00\x02" + NUL, "macOS program"),
    "class": (b"\xca\xfe\xba\xbe\x00\x00\x00\x41\x00\x1d" + NUL, "Java class"),
    "wasm": (b"\x00asm\x01\x00\x00\x00", "WASM"),
    "pyc": (importlib.util.MAGIC_NUMBER + bytes(12) + b"\xe3" + NUL, "compiled Python"),
    "sqlite": (b"SQLite format 3\x00\x10\x00" + NUL, "SQLITE"),
    "npy": (b"\x93NUMPY\x01\x00v\x00{'descr': '<i8'" + NUL, "NumPy"),
    "pickle": (lambda: pickle.dumps({"weights": [1, 2, 3]}), "Python pickle"),
    "safetensors": (struct.pack("<Q", 40) + b'{"__metadata__":{}}' + NUL, "safetensors"),
    "parquet": (lambda: bytes(pd.DataFrame({"a": [1, 2, 3]}).to_parquet()), "Parquet"),
    "arrow": (b"ARROW1\x00\x00" + NUL, "Arrow or Feather"),
    "avro": (b"Obj\x01\x04\x16avro.schema" + bytes(20), "Avro"),
    "h5": (b"\x89HDF\r\n\x1a\n" + NUL, "HDF5"),
    "tagged.mp3": (b"ID3\x04\x00\x00\x00\x00\x00\x23TSSE" + NUL, "MP3"),
    "mp3": (b"\xff\xfb\x90\x64\x00\x0f\xf0" + bytes(400), "MP3"),
    "mid": (b"MThd\x00\x00\x00\x06\x00\x01" + NUL, "MIDI"),
    "ogg": (b"OggS\x00\x02" + NUL, "OGG"),
    "flac": (b"fLaC\x00\x00\x00\x22" + NUL, "FLAC"),
    "wav": (b"RIFF\x24\x04\x00\x00WAVEfmt \x10\x00\x00\x00" + NUL, "WAV"),
    "mp4": (b"\x00\x00\x00\x20ftypisom" + NUL, "MP4"),
    "mkv": (b"\x1aE\xdf\xa3\x01\x00" + NUL, "Matroska or WebM"),
    "woff": (b"wOFF\x00\x01\x00\x00" + NUL, "WOFF"),
    "woff2": (b"wOF2\x00\x01\x00\x00" + NUL, "WOFF2"),
    "ttf": (b"\x00\x01\x00\x00\x00\x0f\x00\x80" + NUL, "TTF"),
    "otf": (b"OTTO\x00\x0c\x00\x80" + NUL, "OTF"),
    "unheard-of": (b"own format\x00" + bytes(range(256)), "byte 10 is NUL"),
    "numbers": (lambda: np.random.default_rng(0).normal(size=500).tobytes(), " is NUL"),
}


@pytest.mark.parametrize("ending", BINARY)
def test_binary_file_is_refused_by_format(ending: str, tmp_path: Path) -> None:
    content, message = BINARY[ending]
    path = tmp_path / "renamed.txt"  # what it is called makes no difference
    path.write_bytes(content if isinstance(content, bytes) else content())
    with pytest.raises(DecodingError, match=rf"renamed\.txt is not a text file: .*{re.escape(message)}"):
        open_text(path)


@pytest.mark.parametrize("codec", ["latin-1", "cp1251", "cp1252", "koi8-r", "utf-8", "utf-16-le"])
@pytest.mark.parametrize("text", TEXTS)
def test_no_text_is_taken_for_a_binary_file(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec, "ignore")
    # From every place on, as if the file began there.
    for start in range(0, len(data), 2 if codec.startswith("utf-16") else 1):
        assert binary_format(data[start : start + 512] * 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "BM is a name, and so is MThd, wOFF, OTTO and 8BPS.",
        "ARROW1, PAR1, Obj and Rar! begin sentences here.",
        "яы, as FF FB reads in Windows-1251",
        "AT&TFORM without more",
        "{rtf1 without its backslash}",
        "] closes a bracket",
        "GIF89a is a format.",
        "PK fire!",
        "%PDF- is how they begin",
        "MZ, a name",
        "BZh is none",
        "RIFF raff",
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "cp1251"])
def test_a_text_that_begins_like_a_signature_is_a_text(text: str, codec: str) -> None:
    assert binary_format(text.encode(codec)) is None
    assert decode(text.encode(codec), codec).text == text
