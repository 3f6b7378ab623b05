"""The catalogues have what the package says while tests run: messages and errors the Chinese one, findings
`findings.toml`, with a value at every place. A mistake in a word, a code or a value's name fails whichever
test meets it.
"""

import gettext
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz import i18n, sentences
from rnnviz.errors import RnnvizError
from rnnviz.findings import Sentence
from tests.support.catalogue import entries, forms

PACKAGE = Path(i18n.__file__).parent
ENGLISH_ALONE = {PACKAGE / "cli", PACKAGE / "lab" / "cli"}
"""Commands print errors in English."""

CALLS = 8
"""Between a message and its check: `_`, the catalogues', and those that .ci/mutation puts in between."""

ABSENT = re.compile(r"\bNone\b(?! yet)")

unknown: list[object] = []
"""What was said and is in no catalogue."""


@cache
def messages() -> frozenset[str]:
    return frozenset(form for message in entries("zh") for form in forms(message))


@cache
def places(code: str) -> frozenset[str]:
    """The names of the values in a finding's sentence."""
    entry = sentences.catalogue()[code]
    templates = [form for language in sentences.LANGUAGES for form in forms(entry[language])]
    return frozenset(name for form in templates for _text, name, *_rest in Formatter().parse(form) if name)


def check_message(message: str) -> None:
    """Note a message that stands in the package's code, up to CALLS calls above, and in no catalogue."""
    if message == "" or message in messages():
        return
    frame = sys._getframe(1)
    for _call in range(CALLS):
        folders = Path(frame.f_code.co_filename).parents
        # Only what stands there: a name or a label that the code is handed is no message.
        if PACKAGE in folders and not ENGLISH_ALONE & {*folders} and message in frame.f_code.co_consts:
            unknown.append(message)
            return
        if frame.f_back is None:
            return
        frame = frame.f_back


class Untranslated(gettext.NullTranslations):
    """What a catalogue asks for a message that it doesn't have."""

    def gettext(self, message: str) -> str:
        check_message(message)
        return message

    def ngettext(self, singular: str, plural: str, n: int) -> str:
        check_message(plural)
        return super().ngettext(singular, plural, n)


def check_page(app: AppTest) -> None:
    """Note what the page says with a value that isn't there."""
    for element in app._tree:
        proto = getattr(element, "proto", None)
        said = [getattr(proto, name, "") for name in ("body", "label", "help")]
        unknown.extend(text for text in said if isinstance(text, str) and ABSENT.search(text))


@contextmanager
def checked() -> Iterator[None]:
    """Note what is said and is in no catalogue, in the list `unknown`."""
    make_error, make_sentence, run_page = RnnvizError.__init__, Sentence.__init__, AppTest._run
    messages()  # now: a test may measure the memory that an error takes

    def error(self: RnnvizError, message: str, /, **values: object) -> None:
        check_message(message)
        make_error(self, message, **values)

    def sentence(self: Sentence, *arguments: Any, **named: Any) -> None:
        make_sentence(self, *arguments, **named)
        if self.code not in sentences.catalogue():
            unknown.append(self.code)
        elif missing := [name for name in places(self.code) if self.values.get(name) is None]:
            unknown.append((self.code, missing))

    def run(self: AppTest, *arguments: Any, **named: Any) -> AppTest:
        app = run_page(self, *arguments, **named)
        check_page(app)
        return app

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AppTest, "_run", run)
        patch.setattr(RnnvizError, "__init__", error)
        patch.setattr(Sentence, "__init__", sentence)
        for language in sentences.LANGUAGES:
            patch.setattr(i18n.translations(language), "_fallback", Untranslated())
        yield
