"""What bytes that are not UTF-8 may be: another encoding, or no text at all.

This module knows nothing of files, models or the rest of the package.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_UNPACK = "unpack it and choose a text file inside"
_EXPORT = "open it in its own program and save it as plain text (.txt)"
_CHOOSE = "choose a text file"


class Kind(NamedTuple):
    """What a binary file seems to be, and what its owner can do about it."""

    what: str
    advice: str


# Each signature holds a byte that no text begins with, or enough bytes to be sure.
_SIGNATURES: tuple[tuple[bytes, Kind], ...] = (
    (rb"\x89PNG\r\n", Kind("a PNG image", _CHOOSE)),
    (rb"\xff\xd8\xff", Kind("a JPEG image", _CHOOSE)),
    (rb"GIF8[79]a[\s\S][\x00-\x08]", Kind("a GIF image", _CHOOSE)),
    (rb"II\*\x00|MM\x00\*", Kind("a TIFF image", _CHOOSE)),
    (rb"RIFF[\s\S]{4}WEBP", Kind("a WebP image", _CHOOSE)),
    (rb"RIFF[\s\S]{4}(?:WAVE|AVI )", Kind("a sound or a film (RIFF)", _CHOOSE)),
    (rb"OggS\x00|fLaC\x00|ID3[\x02-\x04]", Kind("a sound", _CHOOSE)),
    (rb"\x00\x00[\s\S]{2}ftyp", Kind("a film or a picture (MP4 family)", _CHOOSE)),
    (rb"%PDF-\d", Kind("a PDF document", _EXPORT)),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind("an older Word, Excel or PowerPoint document", _EXPORT)),
    (
        rb"PK\x03\x04[\s\S]{26,200}(?:mimetypeapplication/epub|mimetypeapplication/vnd\.oasis)",
        Kind("an EPUB book or an OpenDocument file", _EXPORT),
    ),
    (
        rb"PK\x03\x04[\s\S]{26,200}(?:\[Content_Types\]|word/|xl/|ppt/|_rels/)",
        Kind("a Word, Excel or PowerPoint document", _EXPORT),
    ),
    (rb"PK(?:\x03\x04|\x05\x06)", Kind("a ZIP archive", _UNPACK)),
    (rb"\x1f\x8b", Kind("a gzip archive", _UNPACK)),
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", Kind("a bzip2 archive", _UNPACK)),
    (rb"\xfd7zXZ\x00", Kind("an xz archive", _UNPACK)),
    (rb"\x28\xb5\x2f\xfd", Kind("a Zstandard archive", _UNPACK)),
    (rb"7z\xbc\xaf\x27\x1c", Kind("a 7-Zip archive", _UNPACK)),
    (rb"Rar!\x1a\x07", Kind("a RAR archive", _UNPACK)),
    (rb"\x7fELF", Kind("a Linux program (ELF)", _CHOOSE)),
    (rb"MZ[\s\S]{0,250}?\x00", Kind("a Windows program", _CHOOSE)),
    (
        rb"\xcf\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe",
        Kind("a macOS program or Java class", _CHOOSE),
    ),
    (rb"\x00asm", Kind("a WebAssembly program", _CHOOSE)),
    (rb"SQLite format 3\x00", Kind("an SQLite database", _CHOOSE)),
    (rb"\x93NUMPY", Kind("a NumPy array", _CHOOSE)),
    (rb"\x89HDF\r\n", Kind("an HDF5 file", _CHOOSE)),
    (rb"PAR1[\x00-\x1f]", Kind("a Parquet table", _CHOOSE)),
    (rb"\x80[\x02-\x05][\x00-\x7f\x95]", Kind("a Python pickle", _CHOOSE)),
    (
        rb"[\s\S]{6}\x00\x00\{\"",
        Kind("a model file (safetensors)", "pass it as the model, and a text file as the text"),
    ),
)
_COMPILED = tuple((re.compile(pattern), kind) for pattern, kind in _SIGNATURES)


def binary_kind(head: bytes) -> Kind | None:
    """What a file that begins with `head` (some 300 bytes) is, if it is no text."""
    return next((kind for pattern, kind in _COMPILED if pattern.match(head)), None)


def explain_nul_bytes(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, if `sample` reads as text in one of them.

    `sample` starts at a multiple of 4 bytes. Wrong byte orders decode, too,
    but into control characters, unassigned code points or a jumble without a
    single space or line end: the order with the most blanks wins.
    """
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


def _implausible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cn", "Co") and character not in "\t\n\r\f\v\x85"


def is_damaged_utf8(sample: bytes) -> bool:
    """Whether a text that is not all UTF-8 is UTF-8 but for a few bytes: any other guess would be wrong.

    In other encodings bytes beyond ASCII form UTF-8 sequences by chance, but not ten times as often as not.
    """
    text = sample.decode("utf-8", errors="replace")
    replaced = text.count("\ufffd")
    beyond = sum(not c.isascii() for c in text) - replaced
    return beyond >= 10 * max(replaced, 1)  # the sample may lack the only damaged place


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
    "cp1252": ("àáâãäåæçèéêëìíîïñòóôõöøùúûüßœÿ",),  # western Europe
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": ("çğıiöşüâîû",),  # Turkish
    "cp1257": ("āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž"),  # Latvian, Lithuanian, Estonian
}
_PUNCTUATION = "‘’‚“”„–—…«»‹›•·°§¡¿£€©®\xa0"


def guesses(sample: bytes) -> Iterator[str]:
    """Encodings that `sample` may be in, by charset-normalizer, the likeliest first."""
    from charset_normalizer import from_bytes  # costs 50 ms, and most texts are UTF-8

    matches = from_bytes(sample, cp_isolation=[*_IN_USE.split(), *_LATIN], enable_fallback=False)
    latin = sorted(_LATIN, key=lambda encoding: -_share_explained(sample, encoding))
    order = [e for match in matches for e in (latin if match.encoding in _LATIN else [match.encoding])]
    yield from dict.fromkeys([*order, "latin_1"] if order else [])


def _share_explained(sample: bytes, encoding: str) -> float:
    """The share of the characters beyond ASCII that one language of a Latin code page writes."""
    beyond = Counter(c for c in sample.decode(encoding, errors="replace").lower() if not c.isascii())
    explained = max(sum(beyond[c] for c in letters + _PUNCTUATION) for letters in _LATIN[encoding])
    return explained / max(beyond.total(), 1)
