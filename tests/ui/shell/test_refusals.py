"""What the app's settings, addresses and scenes refuse: each in one plain sentence."""

import os
import re
import zlib
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from rnnviz.errors import ConfigError, RnnvizError, TextError
from rnnviz.ui.serving import entry
from rnnviz.ui.shell.address import MAX_TEXT_CHARS, pack_text, unpack_text
from tests.support.apptest import url_letters
from tests.support.refused import assert_refused


def under(call: Callable[[], Any], **settings: str) -> Callable[[], Any]:
    """A call on a machine with these settings."""

    def call_with_settings() -> Any:
        with mock.patch.dict(os.environ, {f"RNNVIZ_{name}": value for name, value in settings.items()}):
            return call()

    return call_with_settings


DAMAGED = (
    url_letters(zlib.compress("\u00e9".encode("latin-1"))),
    url_letters(zlib.compress(b"machine")[:-3]),
    url_letters(zlib.compress(b"machine") + b"more"),
    url_letters(zlib.compress(b"machine")[:-1] + b"\0"),
)  # fmt: skip

REFUSED: dict[str, tuple[Callable[[], Any], type[RnnvizError], str]] = {
    **{
        f"RNNVIZ_{name}": (
            under(entry.app_parts, **{name: "1"}),
            ConfigError,
            f"so RNNVIZ_{name} must be left",
        )
        for name in ("HOSTED", "KEY", "CAPACITY", "TEXT_MB", "ADDRESS", "PROCESSES")
    },
    **{
        f"host {value}": (
            under(entry.app_parts, HOSTS=f"hall.example, {value}"),
            ConfigError,
            f"host names .* received '{re.escape(value)}'",
        )
        for value in ("*", "https://hall.example", "hall.example:80", "a b", "a;b", "-.", "[::1]")
    },
    "a text too long for an address": (
        lambda: pack_text("a" * (MAX_TEXT_CHARS + 1)), TextError, "2,000 characters of text; received 2,001"),
    **{
        f"an address's text {value}": (lambda value=value: unpack_text(value), TextError, "damaged")  # type: ignore[misc]
        for value in DAMAGED
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_setting_is_refused_in_one_sentence(name: str) -> None:
    assert_refused(*REFUSED[name])
