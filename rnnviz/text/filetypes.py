"""What bytes that are not UTF-8 may be: another encoding, or no text at all."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

import filetype

from rnnviz.errors import DecodingError

# What the library doesn't know, or knows by letters that a text may begin with.
_SIGNATURES = (
    (rb"%PDF-\d", "PDF"),
    (rb"\{\\rtf1", "RTF"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office"),
    (rb"AT&TFORM[\s\S]{4}DJV", "DjVu"),
    (rb"PK\x03\x04[\s\S]{26,200}(?:\[Content_Types\]|word/|xl/|ppt/|_rels/)", "Office"),
    (rb"\x5d\x00\x00[\s\S]{2}", "LZMA"),
    (rb"\x1aE\xdf\xa3", "Matroska or WebM"),
    # The two share a signature; a Java class then has its version, from 45 on, a program a small count.
    (rb"\xca\xfe\xba\xbe[\s\S]{2}\x00[\x2d-\xff]", "Java class"),
    (rb"[\xce\xcf]\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe", "macOS program"),
    (rb"[\s\S]\x0d\x0d\x0a[\x00-\x03]\x00\x00\x00", "compiled Python"),
    (rb"\x93NUMPY", "NumPy"),
    (rb"\x89HDF\r\n", "HDF5"),
    (rb"PAR1[\x00-\x1f]", "Parquet"),
    (rb"ARROW1\x00\x00", "Arrow or Feather"),
    (rb"Obj\x01", "Avro"),
    (rb"\x80[\x02-\x05][\x00-\x7f\x95]", "Python pickle"),
    (rb"[\s\S]{6}\x00\x00\{\"", "safetensors"),
)
_COMPILED = tuple((re.compile(pattern), name) for pattern, name in _SIGNATURES)
_ARCHIVES = {
    "7Z", "AR", "BR", "BZ2", "CAB", "CRX", "DEB", "GZ", "LZ", "LZ4", "LZMA", "LZO", "RAR", "RPM", "TAR", "XZ",
    "Z", "ZIP", "ZST",
}  # fmt: skip
_DOCUMENTS = {
    "PDF", "RTF", "PS", "EPUB", "DjVu", "DOC", "DOCX", "ODT", "XLS", "XLSX", "ODS", "PPT", "PPTX", "ODP",
    "Office",
}  # fmt: skip
_IN_TEXTS = bytes(range(0x20, 0x100)) + b"\t\n\v\f\r\x1b"


def binary_format(head: bytes) -> str | None:
    r"""The format of a file that begins with `head` (some 500 bytes), if it is no text.

    >>> binary_format(b"GIF89a\x10\x00\x10\x00"), binary_format(b"GIF89a is a format.")
    ('GIF', None)
    """
    for pattern, name in _COMPILED:
        if pattern.match(head):
            return name
    # Some signatures are two letters: beside them there must be a byte that no text has.
    found = filetype.guess(head) if head.translate(None, _IN_TEXTS) else None
    return found and found.extension.upper()


def refuse_binary(head: bytes, name: str) -> None:
    """Raise DecodingError if the file called `name`, which begins with `head`, is no text."""
    found = binary_format(head)
    if found is None:
        return
    if found in _ARCHIVES:
        raise DecodingError(
            "{name} is not a text file: it looks like an archive ({format}); unpack it and choose a text "
            "file inside",
            name=name,
            format=found,
        )
    if found in _DOCUMENTS:
        raise DecodingError(
            "{name} is not a text file: it looks like a document ({format}); open it in its own program and "
            "save it as plain text (.txt)",
            name=name,
            format=found,
        )
    if found == "safetensors":
        raise DecodingError(
            "{name} is not a text file: it looks like a model (safetensors); choose it as the model, and "
            "a text file as the text",
            name=name,
        )
    raise DecodingError(
        "{name} is not a text file: it looks like {format} data; choose a text file",
        name=name,
        format=found,
    )


def explain_nul_bytes(sample: bytes, before: bytes = b"") -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, if `sample` reads as text in one of them, else None.

    `sample` starts at a multiple of 4 bytes, less than 4 before the file's first NUL; `before` are some 64
    bytes ahead of it. Wrong byte orders decode, too, but into control characters, unassigned code points or a
    jumble without blanks: the order with the most blanks wins. ASCII with a stray NUL gives None.
    """
    if _is_ascii_text(sample) or (len(before) >= _ENOUGH and _is_ascii_text(before)):
        return None
    best, most = None, -1
    for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        width = 4 if "32" in encoding else 2
        try:
            text = sample[: len(sample) // width * width].decode(encoding)
        except UnicodeDecodeError as error:
            # A sample may end in half a surrogate pair; anything earlier is no text in this encoding.
            if width == 4 or error.start < len(sample) - 3:
                continue
            text = sample[: error.start].decode(encoding)
        if not text or any(_implausible(c) for c in set(text)):
            continue
        blanks = sum(map(text.count, " \n\u3000")) + width  # UTF-32 before UTF-16 where neither has any
        letters = sum(c.isascii() for c in text)
        if blanks + letters > most:
            best, most = encoding, blanks + letters
    return best


_ASCII = bytes(range(0x20, 0x7F))
_ENOUGH = 32  # bytes; 16 characters of two bytes each that are printable by chance: never seen


def _is_ascii_text(data: bytes) -> bool:
    """Whether `data` is printable ASCII, but for a few NUL bytes.

    In UTF-16 every second byte names the script: NUL for English, 4 for Russian, but for Hindi that of a tab,
    for Punjabi of a line feed, for Malayalam of a carriage return. Texts in ASCII have fewer of these.
    """
    blanks = sum(map(data.count, (b"\t", b"\n", b"\r")))
    return (
        not data.translate(None, _ASCII + b"\t\n\r\0")
        and 4 * data.count(0) < len(data)
        and 3 * blanks <= len(data)
    )


def explain_without_nul(sample: bytes) -> str | None:
    """UTF-16 without a byte order mark, of a text without ASCII, not even a line end: Chinese, say.

    Other encodings soon make an impossible character of it; the wrong byte order uses many more blocks.
    """
    best, fewest = None, 256
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = sample[: len(sample) // 2 * 2].decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(sample) - 3:
                continue
            text = sample[: error.start].decode(encoding)
        letters = sum(unicodedata.category(c) == "Lo" for c in text)
        blocks = len({ord(c) >> 8 for c in text})
        if letters > 0.6 * len(text) and blocks < fewest and not any(_implausible(c) for c in set(text)):
            best, fewest = encoding, blocks
    return best


def _implausible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cn", "Co") and character not in "\t\n\r\f\v\x85"


def is_damaged_utf8(sample: bytes) -> bool:
    """Whether a text is UTF-8 but for a few bytes: any other guess would be wrong.

    In other encodings bytes beyond ASCII form UTF-8 sequences by chance: of 15 languages in the encodings of
    `guesses`, 0.75 for each broken one at most in 30 characters, fewer in more, up to 3 in ten characters.
    """
    text = sample.decode("utf-8", errors="replace")
    replaced = text.count("\ufffd")
    beyond = sum(not c.isascii() for c in text) - replaced
    return beyond >= max(2 * replaced, 10)


# What files outside UTF-8 are in today's practice. Left to all of Python's 90 codecs, the detector prefers
# rare code pages on short texts.
_IN_USE = (
    "gb18030 big5 cp932 euc_jp cp949 cp1251 koi8_r cp1253 iso8859_7 cp1255 cp1256 cp874 cp866 cp437 mac_roman"
)

# The Latin code pages differ in a few letters, too few for the detector to tell them apart on most texts.
# Beside each, the letters that its languages write: the page that explains the most of the text as one of its
# languages wins, the earlier one in a tie.
_CENTRAL = (
    "ąćęłńóśźż",  # Polish
    "áäčďéěíĺľňóôŕřšťúůýž",  # Czech, Slovak
    "áéíóöőúüű",  # Hungarian
    "âăîşţ",  # Romanian
    "čćđšž",  # Croatian, Slovene
)
_LATIN = {
    # Western Europe: no language has both õ and û, which stand where Hungarian has its own two letters.
    "cp1252": ("àáâãäåæçèéêëìíîïñòóôöøùúûüßœÿ", "áâãàçéêíóôõúü", "äöõüšž"),
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": ("çğıiöşüâîû",),  # Turkish
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž"),  # Latvian, Lithuanian, Estonian
}
_PUNCTUATION = "‘’‚“”„–—…«»‹›•·°§¡¿£€©®\xa0"


def guesses(sample: bytes) -> Iterator[str]:
    """charset-normalizer's encodings of `sample`, the likeliest first."""
    from charset_normalizer import from_bytes  # costs 50 ms, and most texts are UTF-8

    matches = from_bytes(sample, cp_isolation=[*_IN_USE.split(), *_LATIN], enable_fallback=False)
    latin = sorted(_LATIN, key=lambda encoding: -_share_explained(sample, encoding))
    order = [e for match in matches for e in (latin if match.encoding in _LATIN else [match.encoding])]
    if order and _is_euc_jp(sample):
        order.insert(0, "euc_jp")
    elif order and order[0] == "cp1251" and _is_hebrew(sample):
        order.insert(0, "cp1255")
    yield from dict.fromkeys([*order, "latin_1"] if order else [])


def _is_euc_jp(sample: bytes) -> bool:
    """Whether `sample` is valid EUC-JP with kana in every few characters, as only Japanese has.

    GB2312 has kana at the same places: the detector sees Chinese or, in a short text, Korean.
    """
    try:
        beyond = [c for c in sample.decode("euc_jp") if not c.isascii()]
    except UnicodeDecodeError:
        return False
    return sum("\u3041" <= c <= "\u30fe" for c in beyond) > len(beyond) / 5


def _is_hebrew(sample: bytes) -> bool:
    """Whether what looks like Windows-1251 has neither capitals nor any of its last five letters.

    Hebrew has one case and 27 letters; no Russian or Bulgarian text does without those for long.
    """
    letters = [byte for byte in sample if byte >= 0xC0]
    return len(letters) >= 30 and all(0xE0 <= byte <= 0xFA for byte in letters)


def _share_explained(sample: bytes, encoding: str) -> float:
    beyond = Counter(c for c in sample.decode(encoding, errors="replace").lower() if not c.isascii())
    explained = max(sum(beyond[c] for c in letters + _PUNCTUATION) for letters in _LATIN[encoding])
    return explained / max(beyond.total(), 1)
