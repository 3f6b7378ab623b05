"""What a refusal is: an error of its class that says in one plain sentence what is wrong."""

import re
from collections.abc import Callable
from typing import Any

import pytest

Refusals = dict[str, tuple[Callable[[], Any], type[Exception], str]]
"""A refusal's name → what is called, the class of its error, and a key word of its sentence."""


def assert_one_sentence(message: str) -> None:
    """No traceback's words, no repr of an object, nothing on a second line."""
    assert re.fullmatch(r"[^\n]{15,400}", message), message
    assert not re.search(r"object at 0x|attribute|argument|NoneType|Traceback", message), message


def assert_refused(call: Callable[..., Any], error: type[Exception], words: str, *arguments: object) -> None:
    """A call with what is given raises the error, whose one sentence has the words or matches them."""
    with pytest.raises(error) as caught:
        call(*arguments)
    message = str(caught.value)
    assert_one_sentence(message)
    assert words in message or re.search(words, message), message
