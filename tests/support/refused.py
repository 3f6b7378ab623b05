"""What a refusal is: an error of its class that says in one plain sentence what is wrong."""

import re
from collections.abc import Callable
from typing import Any

import pytest

Refusals = dict[str, tuple[Callable[[], Any], type[Exception], str]]
"""A refusal's name → what is called, the class of its error, and a key word of its sentence."""


def assert_one_sentence(said: str) -> None:
    """No traceback's words, no repr of an object, nothing on a second line."""
    assert re.fullmatch(r"[^\n]{15,400}", said), said
    assert not re.search(r"object at 0x|attribute|argument|NoneType|Traceback", said), said


def assert_refused(call: Callable[..., Any], error: type[Exception], words: str, *given: object) -> None:
    """A call with what is given raises the error, whose one sentence has the words or matches them."""
    with pytest.raises(error) as caught:
        call(*given)
    said = str(caught.value)
    assert_one_sentence(said)
    assert words in said or re.search(words, said), said
