"""A text as an address holds it: UTF-8, in zlib's format (RFC 1950; its checksum tells a damaged one), in the
letters that addresses may have (base64url, RFC 4648, no padding).
`browser/static/compressed_text.js` writes the same.
"""

import base64
import binascii
import re
import zlib

from rnnviz.errors import TextError

LONGEST = 2_000
"""Characters of a text that an address holds."""

MOST = 16_384
"""Characters that a packed text has at most: LONGEST of any kind take fewer."""

_BYTES = 4 * LONGEST  # UTF-8 has at most 4 for a character
_PACKED = re.compile(r"e[A-P][A-Za-z0-9_-]{9,}=*", re.ASCII)  # as zlib begins, as short as its shortest


def pack(text: str) -> str:
    """The text as an address holds it. Raises TextError for one of more than LONGEST characters.

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
    """The text that was packed, or one that somebody wrote into the address as it is. Whatever arrives,
    no more than LONGEST characters are unpacked: raises TextError for a packed text that is damaged, and for
    a longer one.

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
