"""Every word of the app, its errors included, is in the Chinese catalogue, with the same placeholders."""

import ast
import re
import warnings
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir

from rnnviz import errors as known
from rnnviz import i18n, sentences
from tests.support.catalogue import Id, catalogue, entries, forms

PACKAGE = Path(i18n.__file__).resolve().parent
ENGLISH_ALONE = ("cli/", "lab/cli/")
"""Commands print their errors in English, so these may be in the catalogue, but need not be."""


@pytest.fixture(scope="module")
def used() -> dict[Id, str]:
    """Every message in the code, with the file it stands in."""
    found: dict[Id, str] = {}
    errors = {name: None for name in vars(known) if name == "Phrase" or name.endswith("Error")}
    for file, _, message, _, _ in extract_from_dir(PACKAGE, keywords={**DEFAULT_KEYWORDS, **errors}):
        found[message] = file
    assert len(found) > 100
    return found


def test_the_catalogue_holds_what_the_code_says_and_nothing_else(used: dict[Id, str]) -> None:
    there = entries("zh")
    missing = {
        f"{file}: {message}"
        for message, file in used.items()
        if message not in there and not Path(file).as_posix().startswith(ENGLISH_ALONE)
    }
    assert not missing, "extract the messages again, as CONTRIBUTING.md says"
    assert not there.keys() - used.keys()
    assert not catalogue("zh").obsolete


def test_no_word_hides_in_an_f_string() -> None:
    """The extraction does not look into them."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                called = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
                assert not [one for one in called if isinstance(one, ast.Name) and one.id == "_"], path


def untranslated() -> list[Id]:
    return [name for name, message in entries("zh").items() if not all(forms(message.string))]


@pytest.mark.filterwarnings("default:no Chinese yet")
def test_what_has_no_chinese_yet_is_warned_of() -> None:
    """English is shown meanwhile; whoever speaks no Chinese leaves it empty for others to fill in."""
    assert not [message.id for message in entries("zh").values() if message.fuzzy]
    if missing := untranslated():
        warnings.warn(f"no Chinese yet: {missing}", stacklevel=1)


@pytest.mark.slow
def test_every_chinese_entry_is_complete() -> None:
    assert not untranslated()


def test_placeholders_and_markup_are_the_same() -> None:
    def marks(text: str) -> list[str]:
        fields = [
            f"{name}!{kind}:{spec}" for _, name, spec, kind in Formatter().parse(text) if name is not None
        ]
        return sorted([*fields, *re.findall(r"\*\*|`[^`]*`", text)])

    for message in entries("zh").values():
        wanted = marks(forms(message.id)[-1])
        for text in filter(None, forms(message.string)):
            assert marks(text) == wanted, message.id


def test_chinese_words_are_chinese() -> None:
    untouched = [
        m.id
        for m in entries("zh").values()
        if re.search(
            r"[^\W\d_]", re.sub(r"\{\w+\}", "", forms(m.id)[0])
        )  # it has words, not only places for them
        and forms(m.string)[0]
        and not re.search(r"[\u3000-\u9fff\uff00-\uffef]", forms(m.string)[0])
    ]
    assert untouched == []


def test_a_catalogue_speaks_after_compiling_in_memory() -> None:
    chinese, english = i18n.translations("zh"), i18n.translations("en")
    assert chinese.gettext("Perplexity") == "困惑度"
    assert english.gettext("Perplexity") == "Perplexity"
    assert chinese.gettext("no such message") == "no such message"
    singular, plural = "Training took {n} minute.", "Training took {n} minutes."
    assert english.ngettext(singular, plural, 1) == singular
    assert english.ngettext(singular, plural, 2) == plural
    assert chinese.ngettext(singular, plural, 1) == chinese.ngettext(singular, plural, 2) != singular


def test_catalogues_are_read_once() -> None:
    assert i18n.translations("zh") is i18n.translations("zh")


def test_no_compiled_catalogue_lies_in_the_package() -> None:
    assert not list(PACKAGE.rglob("*.mo"))


@pytest.mark.parametrize(
    ("locale", "language"),
    [(None, "en"), ("", "en"), ("zh", "zh"), ("zh-Hans-CN", "zh"), ("ZH_tw", "zh"), ("fr-FR", "en")],
)
def test_a_locale_finds_its_language(locale: str | None, language: str) -> None:
    assert sentences.match_language(locale) == language


def test_a_session_without_a_language_reads_english() -> None:
    assert i18n._("Perplexity") == "Perplexity"
