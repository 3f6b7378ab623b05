"""A text in an address: it comes back, and nothing that somebody puts there does harm."""

import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnviz.errors import TextError
from rnnviz.ui.shell.address import MAX_PACKED_CHARS, MAX_TEXT_CHARS, pack_text, unpack_text
from tests.support.apptest import url_letters

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


@given(TEXTS)
def test_a_text_comes_back_and_needs_no_quoting(text: str) -> None:
    packed = pack_text(text)
    assert unpack_text(packed) == text
    assert packed.replace("-", "").replace("_", "").isalnum()


def test_the_longest_text_fits_whatever_it_holds() -> None:
    dense = "".join(map(chr, range(0x10000, 0x10FFFF, 500)))[:MAX_TEXT_CHARS]
    assert len(dense) > 1_990
    for text in (dense, "鿿" * MAX_TEXT_CHARS, ""):
        assert unpack_text(pack_text(text)) == text
        assert len(pack_text(text)) <= MAX_PACKED_CHARS


@given(st.text(max_size=60) | st.binary(max_size=60).map(url_letters))
def test_anything_else_is_a_sentence(value: str) -> None:
    said, text = "the text in the address is", ""
    try:
        text = unpack_text(value)
    except TextError as error:
        said = str(error)
    assert len(text) <= MAX_TEXT_CHARS
    assert said.startswith("the text in the address is")


@pytest.mark.parametrize(
    "value",
    [
        url_letters(zlib.compress(b"a" * (MAX_TEXT_CHARS + 1))),
        url_letters(zlib.compress(b"a" * (4 * MAX_TEXT_CHARS + 1))),
        url_letters(zlib.compress(b"\0" * 100_000_000, 9)[:12_000]),
        "A" * 1_000_000,
    ],
)
def test_a_text_too_long_and_a_bomb_are_not_unpacked(value: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(TextError, match="longer than 2,000"):
            unpack_text(value)
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
