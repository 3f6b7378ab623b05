"""A text in an address: UTF-8, compressed by zlib (RFC 1950, whose checksum reveals damage), then base64url
(RFC 4648) without padding. `browser/static/compressed_text.js` writes the same format.
"""

import base64
import binascii
import re
import zlib

from rnnviz.errors import TextError

LONGEST = 2_000
"""Characters of a text that an address holds, at most."""

MOST = 16_384
"""Characters of a packed text, at most: LONGEST characters of any script take fewer."""

_BYTES = 4 * LONGEST  # UTF-8 takes at most 4 bytes a character
_PACKED = re.compile(r"e[A-P][A-Za-z0-9_-]{9,}=*", re.ASCII)  # zlib's first byte, 0x78; 8 bytes at least


def pack(text: str) -> str:
    """The text, compressed for an address. Raises TextError for more than LONGEST characters.

    >>> pack("machine")
    'eJzLTUzOyMxLBQALUwLW'
    """
    if len(text) > LONGEST:
        raise TextError(
            "an address holds {most:,} characters of text; received {count:,}", most=LONGEST, count=len(text)
        )
    squeezed = zlib.compress(text.encode("utf-8", "replace"))
    return base64.urlsafe_b64encode(squeezed).decode("ascii").rstrip("=")


def unpack(value: str) -> str:
    """The text of an address's value, which is packed or, typed by hand, plain.

    Decompression stops after _BYTES bytes, so a small value can't fill the memory. Raises TextError for a
    damaged packed text, and for more than LONGEST characters.

    >>> unpack("eJzLTUzOyMxLBQALUwLW"), unpack("Hello")
    ('machine', 'Hello')
    """
    if len(value) > (MOST if _PACKED.fullmatch(value) else LONGEST):
        raise _too_long()
    if not _PACKED.fullmatch(value):
        return value
    damaged = TextError("the text in the address is damaged; ask for the address again, or copy it whole")
    value = value.rstrip("=")
    reader = zlib.decompressobj()
    try:
        found = reader.decompress(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)), _BYTES + 1)
        if len(found) > _BYTES:
            raise _too_long()
        text = found.decode("utf-8")
    except (binascii.Error, zlib.error, UnicodeDecodeError):
        raise damaged from None
    if not reader.eof or reader.unused_data:
        raise damaged
    if len(text) > LONGEST:
        raise _too_long()
    return text


def _too_long() -> TextError:
    return TextError(
        "the text in the address is longer than {most:,} characters; open it as a file", most=LONGEST
    )
