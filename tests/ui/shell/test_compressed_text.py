"""A text in an address: it comes back, and nothing that somebody puts there does harm."""

import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import TextError
from rnnviz.ui.shell.address import MAX_ADDRESS_TEXT_CHARS, MAX_PACKED_CHARS, pack_text, unpack_text
from tests.support.apptest import url_letters

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(TEXTS)
def test_packed_text_round_trips_url_safe(text: str) -> None:
    packed = pack_text(text)
    assert unpack_text(packed) == text
    assert packed.replace("-", "").replace("_", "").isalnum()


def test_longest_text_fits_packed_limit() -> None:
    dense = "".join(map(chr, range(0x10000, 0x10FFFF, 500)))[:MAX_ADDRESS_TEXT_CHARS]
    assert len(dense) > 1_990
    for text in (dense, "鿿" * MAX_ADDRESS_TEXT_CHARS, ""):
        assert unpack_text(pack_text(text)) == text
        assert len(pack_text(text)) <= MAX_PACKED_CHARS


@given(st.text(max_size=60) | st.binary(max_size=60).map(url_letters))
def test_any_value_unpacks_or_raises_text_error(value: str) -> None:
    message, text = "the text in the address is", ""
    try:
        text = unpack_text(value)
    except TextError as error:
        message = str(error)
    assert len(text) <= MAX_ADDRESS_TEXT_CHARS
    assert message.startswith("the text in the address is")


@pytest.mark.parametrize(
    "value",
    [
        url_letters(zlib.compress(b"a" * (MAX_ADDRESS_TEXT_CHARS + 1))),
        url_letters(zlib.compress(b"a" * (4 * MAX_ADDRESS_TEXT_CHARS + 1))),
        url_letters(zlib.compress(b"\0" * 100_000_000, 9)[:12_000]),
        "A" * 1_000_000,
    ],
)
def test_long_text_is_refused_within_memory(value: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TextError, match="longer than 2,000"):
            unpack_text(value)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
