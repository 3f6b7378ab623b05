"""What the app's settings and addresses refuse: each in one plain sentence."""

import re
import zlib
from collections.abc import Callable
from functools import partial

import pytest

from rnnviz.errors import ConfigError, TextError
from rnnviz.ui.serving import entry
from rnnviz.ui.shell.address import MAX_ADDRESS_TEXT_CHARS, pack_text, unpack_text
from tests.support.apptest import url_letters
from tests.support.refused import assert_refused

INVALID_HOSTS = ("*", "https://hall.example", "hall.example:80", "a b", "a;b", "-.", "[::1]")
DAMAGED = (
    url_letters(zlib.compress("\u00e9".encode("latin-1"))),
    url_letters(zlib.compress(b"machine")[:-3]),
    url_letters(zlib.compress(b"machine") + b"more"),
    url_letters(zlib.compress(b"machine")[:-1] + b"\0"),
)


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        *(
            (f"RNNVIZ_{name}", "1", f"so RNNVIZ_{name} must be left")
            for name in ("HOSTED", "KEY", "CAPACITY", "TEXT_MB", "ADDRESS", "PROCESSES")
        ),
        *(
            ("RNNVIZ_HOSTS", f"hall.example, {host}", f"host names .* received '{re.escape(host)}'")
            for host in INVALID_HOSTS
        ),
    ],
)
def test_invalid_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert_refused(entry.app_parts, ConfigError, words)


@pytest.mark.parametrize(
    ("read_or_write", "text", "words"),
    [
        *((unpack_text, value, "damaged") for value in DAMAGED),
        (pack_text, "a" * (MAX_ADDRESS_TEXT_CHARS + 1), "2,000 characters of text; received 2,001"),
    ],
)
def test_damaged_or_long_text_of_address_is_refused(
    read_or_write: Callable[[str], str], text: str, words: str
) -> None:
    assert_refused(partial(read_or_write, text), TextError, words)
