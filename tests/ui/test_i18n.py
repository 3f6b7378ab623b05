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


@pytest.fixture(scope="module")
def used() -> dict[Id, str]:
    """Every message in the code, with its file. What only commands say is printed in English: left out."""
    messages: dict[Id, str] = {}
    errors = {name: None for name in vars(known) if name == "Phrase" or name.endswith("Error")}
    for file, _, message, _, _ in extract_from_dir(
        PACKAGE,
        keywords={**DEFAULT_KEYWORDS, **errors},
        directory_filter=lambda path: Path(path).name != "cli",
    ):
        messages[message] = file
    assert len(messages) > 100
    return messages


def test_catalogue_has_messages_of_code_alone(used: dict[Id, str]) -> None:
    catalogued = entries("zh")
    missing = {f"{file}: {message}" for message, file in used.items() if message not in catalogued}
    assert not missing, "extract the messages again, as CONTRIBUTING.md says"
    assert not catalogued.keys() - used.keys()
    assert not catalogue("zh").obsolete


def test_f_strings_hold_no_message() -> None:
    """The extraction does not look into them."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                called = [node.func for node in ast.walk(node) if isinstance(node, ast.Call)]
                assert not [node for node in called if isinstance(node, ast.Name) and node.id == "_"], path


def untranslated() -> list[Id]:
    return [name for name, message in entries("zh").items() if not all(forms(message.string))]


@pytest.mark.filterwarnings("default:no Chinese yet")
def test_untranslated_messages_warn() -> None:
    """English is shown meanwhile; whoever speaks no Chinese leaves it empty for others to fill in."""
    assert not [message.id for message in entries("zh").values() if message.fuzzy]
    if missing := untranslated():
        warnings.warn(f"no Chinese yet: {missing}", stacklevel=1)


@pytest.mark.slow
def test_chinese_entries_are_complete() -> None:
    assert not untranslated()


def test_translations_keep_placeholders_and_markup() -> None:
    def marks(text: str) -> list[str]:
        fields = [
            f"{name}!{kind}:{spec}" for _, name, spec, kind in Formatter().parse(text) if name is not None
        ]
        return sorted([*fields, *re.findall(r"\*\*|`[^`]*`", text)])

    for message in entries("zh").values():
        expected = marks(forms(message.id)[-1])
        for text in filter(None, forms(message.string)):
            assert marks(text) == expected, message.id


def test_chinese_entries_have_chinese_characters() -> None:
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


def test_catalogue_translates_after_compiling() -> None:
    chinese, english = i18n.translations("zh"), i18n.translations("en")
    assert chinese.gettext("Perplexity") == "困惑度"
    assert english.gettext("Perplexity") == "Perplexity"
    assert chinese.gettext("no such message") == "no such message"
    singular, plural = "Training took {n} minute.", "Training took {n} minutes."
    assert english.ngettext(singular, plural, 1) == singular
    assert english.ngettext(singular, plural, 2) == plural
    assert chinese.ngettext(singular, plural, 1) == chinese.ngettext(singular, plural, 2) != singular


def test_catalogues_are_cached() -> None:
    assert i18n.translations("zh") is i18n.translations("zh")


def test_package_has_no_compiled_catalogue() -> None:
    assert not list(PACKAGE.rglob("*.mo"))


@pytest.mark.parametrize(
    ("locale", "language"),
    [(None, "en"), ("", "en"), ("zh", "zh"), ("zh-Hans-CN", "zh"), ("ZH_tw", "zh"), ("fr-FR", "en")],
)
def test_locale_matches_language(locale: str | None, language: str) -> None:
    assert sentences.match_language(locale) == language


def test_session_without_language_is_english() -> None:
    assert i18n._("Perplexity") == "Perplexity"
