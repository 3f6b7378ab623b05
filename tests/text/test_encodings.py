"""Every encoding in a table: found where its bytes can tell, mended by its name where they can't.

And every kind of file that is no text: refused by name, with what to do.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sqlite3
import struct
import tarfile
import wave
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from rnnviz.errors import DecodingError
from rnnviz.reading.scoring import UniformModel, perplexity
from rnnviz.text.decoding import decode, open_text
from rnnviz.text.filetypes import binary_kind
from rnnviz.text.vocabulary import Vocabulary

# The first article of the Universal Declaration of Human Rights, and what comes close to it.
TEXTS = {
    "english": "It was a naïve idea – “let us meet at the café” – and nobody minded.\n",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren; größer ist schöner.\n",
    "french": "Les élèves étudient à l'école. Où êtes-vous allés cet été ? Nous fûmes déçus.\n",
    "spanish": "Todos los seres humanos nacen libres en dignidad y derechos. ¿Mañana? ¡Sí, señor, también!\n",
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.\n",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő jogokkal. Az őszi est hűvös.\n",
    "romanian": "Toate fiinţele umane se nasc libere şi egale în demnitate. Ele sînt cu raţiune.\n",
    "russian": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья по-своему.\n",
    "bulgarian": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум.\n",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.\n",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl sahibidirler.\n",
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.\n",
    "arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا.\n",
    "lithuanian": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas.\n",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ\n",
    "simplified": "道可道，非常道。名可名，非常名。无名天地之始；有名万物之母。\n",
    "traditional": "道可道，非常道。名可名，非常名。無名天地之始；有名萬物之母。\n",
    "japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n",
    "korean": "모든 국민은 인간으로서의 존엄과 가치를 가지며, 행복을 추구할 권리를 가진다.\n",
    "emoji": "A 🎉 stands outside the basic plane, and so does 𝄞.\n",
}

# text, the encoding its bytes are in, what it is found to be: a superset is as good.
FOUND = [
    ("english", "cp1252", "cp1252"),
    ("german", "cp1252", "cp1252"),
    ("german", "latin-1", "cp1252"),
    ("french", "cp1252", "cp1252"),
    ("french", "latin-1", "cp1252"),
    ("spanish", "latin-1", "cp1252"),
    ("polish", "cp1250", "cp1250"),
    ("polish", "iso8859-2", "iso8859_2"),
    ("hungarian", "cp1250", "cp1250"),
    ("hungarian", "iso8859-2", "cp1250"),
    ("romanian", "cp1250", "cp1250"),
    ("russian", "cp1251", "cp1251"),
    ("russian", "koi8-r", "koi8_r"),
    ("russian", "cp866", "cp866"),
    ("bulgarian", "cp1251", "cp1251"),
    ("greek", "cp1253", "cp1253"),
    ("greek", "iso8859-7", "cp1253"),
    ("turkish", "cp1254", "cp1254"),
    ("turkish", "iso8859-9", "cp1254"),
    ("hebrew", "cp1255", "cp1255"),
    ("hebrew", "iso8859-8", "cp1255"),
    ("arabic", "cp1256", "cp1256"),
    ("lithuanian", "cp1257", "cp1257"),
    ("thai", "cp874", "cp874"),
    ("simplified", "gb18030", "gb18030"),
    ("simplified", "gbk", "gb18030"),
    ("simplified", "gb2312", "gb18030"),
    ("traditional", "gb18030", "gb18030"),
    ("traditional", "big5", "big5"),
    ("traditional", "cp950", "big5"),
    ("japanese", "shift_jis", "cp932"),
    ("japanese", "cp932", "cp932"),
    ("japanese", "euc_jp", "euc_jp"),
    ("korean", "euc_kr", "cp949"),
    ("korean", "cp949", "cp949"),
]

# What the bytes alone don't tell, on a text of this length or any: the encoding must be named.
NAMED = [
    ("german", "cp850"),
    ("german", "mac_roman"),
    ("russian", "iso8859-5"),
    ("russian", "mac_cyrillic"),
    ("arabic", "iso8859-6"),
    ("simplified", "hz"),
    ("japanese", "iso2022_jp"),
    ("korean", "johab"),
    ("korean", "iso2022_kr"),
]
REFUSED = {"iso8859-5", "johab"}  # nothing else fits them either


@pytest.mark.parametrize("times", [1, 5, 60])
@pytest.mark.parametrize(("text", "codec", "encoding"), FOUND, ids=lambda value: str(value))
def test_an_encoding_is_found_by_its_bytes(text: str, codec: str, encoding: str, times: int) -> None:
    whole = TEXTS[text] * times
    found = decode(whole.encode(codec))
    assert (found.text, found.encoding, found.certainty) == (whole, encoding, "guessed")


@pytest.mark.parametrize("width", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", TEXTS)
def test_wide_unicode_needs_no_mark(text: str, width: str) -> None:
    found = decode(TEXTS[text].encode(width))
    assert (found.text, found.encoding, found.certainty) == (TEXTS[text], width, "guessed")


@pytest.mark.parametrize("width", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "道可道非常道名可名非常名無名天地之始",
        "吾輩は猫である。名前はまだ無い。",
        "모든국민은인간으로서의존엄을",
    ],
)
def test_wide_unicode_without_a_single_nul_byte(text: str, width: str) -> None:
    data = text.encode(width)
    assert 0 not in data
    found = decode(data)
    assert (found.text, found.encoding, found.certainty) == (text, width, "guessed")


# Every script whose UTF-16 has no byte beyond 0x7F, and what is short.
NARROW = {
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों में जन्मजात स्वतन्त्रता प्राप्त है।\n",
    "hindi in printable bytes": "नमन रमन नमन रमन\n",
    "punjabi": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ ਤੇ ਹੱਕਾਂ ਵਿੱਚ ਬਰਾਬਰ ਹੈ।\n",
    "malayalam": "മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടെ ജനിച്ചിട്ടുള്ളവരാണ്.\n",
    "a greeting": "你好\n",
    "two lines": "道可道，非常道\n名可名，非常名\n",
    "one word": "word",
    "numbers": "1\n2\n3\n",
    "letters": "a\nb",
    "rows": "a\tb\r\nc\td\r\n",
}


@pytest.mark.parametrize("width", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", NARROW)
def test_wide_unicode_of_bytes_like_ascii(text: str, width: str) -> None:
    found = decode(NARROW[text].encode(width))
    assert (found.text, found.encoding, found.certainty) == (NARROW[text], width, "guessed")


STRAY = {
    "between words": (b"abc\0def\n", 3),
    "in a line": (b"one line, and one stray byte\0 in it\n", 28),
    "at the end": (b"a text that was padded to a multiple of four bytes\n\0", 51),
    "after a long text": (b"It was a quiet evening. " * 9000 + b"\0\n", 216_000),
    "padded with many": (b"a record of fixed length, and then nothing at all" + b"\0" * 300, 49),
    "rows": (b"a,b\r\n1,\0\r\n3,4\r\n", 7),
    "few of many": (b"\0".join([b"a field", b"another", b"third\n"] * 50), 7),
}


@pytest.mark.parametrize("place", STRAY)
def test_a_text_with_stray_nul_bytes_is_not_taken_for_wide_unicode(place: str) -> None:
    data, position = STRAY[place]
    with pytest.raises(DecodingError, match=rf"byte {position:,} is NUL \(0x00\)"):
        decode(data)
    assert decode(data, encoding="ascii").text == data.decode()  # its reader may insist


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_mark_declares(text: str, codec: str) -> None:
    found = decode(("\ufeff" + TEXTS[text]).encode(codec))
    assert (found.text, found.encoding, found.certainty) == (TEXTS[text], codec, "declared")


@pytest.mark.parametrize("text", TEXTS)
def test_utf8_is_verified(text: str) -> None:
    found = decode(TEXTS[text].encode())
    assert (found.text, found.encoding, found.certainty) == (TEXTS[text], "utf-8", "verified")


@pytest.mark.parametrize(("text", "codec"), [*NAMED, *((text, codec) for text, codec, _ in FOUND)])
def test_a_name_overrides_every_guess(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec)
    found = decode(data, encoding=codec)
    assert (found.text, found.certainty) == (TEXTS[text], "declared")


@pytest.mark.parametrize(("text", "codec"), NAMED)
def test_a_wrong_guess_is_called_a_guess_or_refused(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec)
    if codec in REFUSED:
        with pytest.raises(DecodingError, match="say which encoding it is in"):
            decode(data)
        return
    # Seven-bit encodings look like ASCII: the bytes are UTF-8, and the text on the page shows what is wrong.
    assert decode(data).certainty == ("verified" if data.isascii() else "guessed")


@pytest.mark.parametrize(("text", "codec", "encoding"), FOUND)
def test_a_file_scores_the_same_in_every_encoding(
    text: str, codec: str, encoding: str, tmp_path: Path
) -> None:
    model = UniformModel(Vocabulary.from_text(TEXTS[text] + TEXTS["english"], min_count=1))
    (tmp_path / "a.txt").write_bytes(TEXTS[text].encode(codec))
    found = perplexity(model, tmp_path / "a.txt")
    named = perplexity(model, tmp_path / "a.txt", encoding=codec)
    plain = perplexity(model, text=TEXTS[text])
    assert found.perplexity == named.perplexity == plain.perplexity
    assert found.unknown == 0


# Files that are no text


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            method = zipfile.ZIP_STORED if name == "mimetype" else None
            archive.writestr(name, NAMES.get(name, "words " * 50), method)
    return buffer.getvalue()


NAMES = {"mimetype": "application/vnd.oasis.opendocument.text"}


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(4)))
        + chunk(b"IEND", b"")
    )


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo("notes.txt")
        entry.size = 5
        archive.addfile(entry, io.BytesIO(b"words"))
    return buffer.getvalue()


def sound() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setparams((1, 2, 8000, 0, "NONE", ""))
        out.writeframes(bytes(range(256)) * 4)
    return buffer.getvalue()


def sqlite() -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.execute("create table t (x)")
        data = database.serialize()
    database.close()
    return data


def parquet() -> bytes:
    return bytes(pd.DataFrame({"a": [1, 2, 3]}).to_parquet())


def compiled() -> bytes:
    import importlib.util

    return importlib.util.MAGIC_NUMBER + bytes(12) + b"\xe3" + bytes(40)


Make = Callable[[], bytes]
BINARY: dict[str, tuple[Make, str]] = {
    "png": (png, "a PNG image; choose a text file"),
    "jpg": (lambda: b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + bytes(50), "a JPEG image"),
    "exif.jpg": (lambda: b"\xff\xd8\xff\xe1\x1c\x45Exif\x00\x00II*\x00" + bytes(50), "a JPEG image"),
    "gif": (lambda: b"GIF89a\x10\x00\x10\x00\x91\x00\x00" + bytes(50), "a GIF image"),
    "webp": (lambda: b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(50), "a WebP image"),
    "bmp": (lambda: b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00" + bytes(50), "a bitmap image"),
    "ico": (lambda: b"\x00\x00\x01\x00\x01\x00\x10\x10" + bytes(50), "an icon"),
    "tif": (lambda: b"II*\x00\x08\x00\x00\x00" + bytes(50), "a TIFF image"),
    "psd": (lambda: b"8BPS\x00\x01" + bytes(50), "a Photoshop image"),
    "heic": (lambda: b"\x00\x00\x00\x24ftypheic" + bytes(50), "a film or a picture"),
    "zip": (lambda: zipped("notes.txt"), "a ZIP archive; unpack it and choose a text file inside"),
    "gz": (lambda: gzip.compress(b"words"), "a gzip archive; unpack it"),
    "bz2": (lambda: bz2.compress(b"words"), "a bzip2 archive; unpack it"),
    "xz": (lambda: lzma.compress(b"words"), "an xz archive; unpack it"),
    "lzma": (lambda: lzma.compress(b"words", lzma.FORMAT_ALONE), "an LZMA archive; unpack it"),
    "zst": (lambda: b"\x28\xb5\x2f\xfd\x04\x58" + bytes(20), "a Zstandard archive; unpack it"),
    "lz4": (lambda: b"\x04\x22\x4d\x18\x64\x40" + bytes(20), "an LZ4 archive; unpack it"),
    "Z": (lambda: b"\x1f\x9d\x90" + bytes(range(60)), r"a compress \(.Z\) archive; unpack it"),
    "7z": (lambda: b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(50), "a 7-Zip archive; unpack it"),
    "rar": (lambda: b"Rar!\x1a\x07\x01\x00" + bytes(50), "a RAR archive; unpack it"),
    "tar": (tar, "a tar archive; unpack it"),
    "cab": (lambda: b"MSCF" + bytes(50), "a cabinet archive; unpack it"),
    "pdf": (lambda: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "a PDF document; open it in its own program"),
    "docx": (lambda: zipped("[Content_Types].xml", "word/document.xml"), "a Word, Excel or PowerPoint"),
    "xlsx": (lambda: zipped("xl/workbook.xml", "[Content_Types].xml"), "a Word, Excel or PowerPoint"),
    "pptx": (lambda: zipped("_rels/.rels", "ppt/presentation.xml"), "a Word, Excel or PowerPoint"),
    "doc": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "an older Word, Excel or PowerPoint"),
    "odt": (lambda: zipped("mimetype", "content.xml"), "an EPUB book or an OpenDocument file; open it"),
    "rtf": (
        lambda: rb"{\rtf1\ansi\deff0 {\fonttbl {\f0 Times;}} words}",
        r"a Rich Text document \(RTF\); open it",
    ),
    "djvu": (lambda: b"AT&TFORM\x00\x00\x00\x60DJVU" + bytes(20), "a DjVu document; open it"),
    "exe": (lambda: b"MZ\x90\x00\x03\x00\x00\x00" + bytes(50), "a Windows program"),
    "elf": (lambda: b"\x7fELF\x02\x01\x01" + bytes(50), "a Linux program"),
    "macho": (lambda: b"\xcf\xfa\xed\xfe\x07\x00\x00\x01" + bytes(50), "a macOS program"),
    "universal": (lambda: b"\xca\xfe\xba\xbe\x00\x00\x00\x02" + bytes(50), "a macOS program"),
    "class": (lambda: b"\xca\xfe\xba\xbe\x00\x00\x00\x41\x00\x1d" + bytes(50), "a Java class"),
    "wasm": (lambda: b"\x00asm\x01\x00\x00\x00", "a WebAssembly program"),
    "pyc": (compiled, "compiled Python"),
    "sqlite": (sqlite, "an SQLite database"),
    "parquet": (parquet, "a Parquet table"),
    "arrow": (lambda: b"ARROW1\x00\x00" + bytes(50), "an Arrow or Feather table"),
    "avro": (lambda: b"Obj\x01\x04\x16avro.schema" + bytes(20), "an Avro table"),
    "h5": (lambda: b"\x89HDF\r\n\x1a\n" + bytes(50), "an HDF5 file"),
    "tagged.mp3": (lambda: b"ID3\x04\x00\x00\x00\x00\x00\x23TSSE" + bytes(50), "a sound"),
    "mp3": (lambda: b"\xff\xfb\x90\x64\x00\x0f\xf0" + bytes(400), r"a sound \(MP3\)"),
    "mid": (lambda: b"MThd\x00\x00\x00\x06\x00\x01" + bytes(50), "a sound"),
    "ogg": (lambda: b"OggS\x00\x02" + bytes(50), "a sound"),
    "flac": (lambda: b"fLaC\x00\x00\x00\x22" + bytes(50), "a sound"),
    "wav": (sound, "a sound or a film"),
    "mp4": (lambda: b"\x00\x00\x00\x20ftypisom" + bytes(50), "a film or a picture"),
    "mkv": (lambda: b"\x1aE\xdf\xa3\x01\x00" + bytes(50), "a film"),
    "woff": (lambda: b"wOFF\x00\x01\x00\x00" + bytes(50), "a font"),
    "woff2": (lambda: b"wOF2\x00\x01\x00\x00" + bytes(50), "a font"),
    "ttf": (lambda: b"\x00\x01\x00\x00\x00\x0f\x00\x80" + bytes(50), "a font"),
    "otf": (lambda: b"OTTO\x00\x0c\x00\x80" + bytes(50), "a font"),
    "unheard-of": (lambda: b"own format\x00" + bytes(range(256)), "byte 10 is NUL"),
}


@pytest.mark.parametrize("ending", BINARY)
def test_what_is_no_text_is_refused_by_name(ending: str, tmp_path: Path) -> None:
    make, message = BINARY[ending]
    path = tmp_path / "renamed.txt"  # what it is called makes no difference
    path.write_bytes(make())
    with pytest.raises(DecodingError, match=rf"renamed\.txt is not a text file: .*{message}"):
        open_text(path)


@pytest.mark.parametrize("codec", ["latin-1", "cp1251", "cp1252", "koi8-r", "utf-8", "utf-16-le"])
@pytest.mark.parametrize("text", TEXTS)
def test_no_text_is_taken_for_a_binary_file(text: str, codec: str) -> None:
    data = TEXTS[text].encode(codec, "ignore")
    # From every place on, as if the file began there.
    for start in range(0, len(data), 2 if codec.startswith("utf-16") else 1):
        assert binary_kind(data[start : start + 512] * 3) is None


@pytest.mark.parametrize(
    "text",
    [
        "BM is a name, and so is MThd, wOFF, OTTO and 8BPS.",
        "ARROW1, PAR1, Obj and Rar! begin sentences here.",
        "яы, as \xff\xfb reads in Windows-1251".replace("\xff\xfb", "яы"),
        "AT&TFORM without more",
        "{rtf1 without its backslash}",
        "] \x00"[:1] + " closes a bracket",
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "cp1251"])
def test_a_text_that_begins_like_a_signature_is_a_text(text: str, codec: str) -> None:
    assert binary_kind(text.encode(codec)) is None
