"""docs/words.md holds for pages and findings: its Chinese, what it gave up, and that sentences are short."""

import re
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir

from rnnviz import i18n
from rnnviz.sentences import catalogue
from tests.support.catalogue import entries, forms

PACKAGE = Path(i18n.__file__).resolve().parent
GLOSSARY = PACKAGE.parent / "docs" / "words.md"
MAX_WORDS = 25  # words in a sentence on a page


def rows() -> list[list[str]]:
    lines = [line for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] != "term" and not row[0].startswith("---")]


@pytest.fixture(scope="module")
def page_sentences() -> list[str]:
    """What the pages and the findings say."""
    sentences = extract_from_dir(PACKAGE / "ui")
    pages = {form for _file, _line, message, _comments, _context in sentences for form in forms(message)}
    english = [entry["en"] for entry in catalogue().values()]
    return sorted(pages.union(*(form if isinstance(form, list) else [form] for form in english)))


def test_terms_are_unique_and_explained() -> None:
    terms = [row[0] for row in rows()]
    assert len(terms) == len(set(terms)) > 40
    assert all(len(row) == 5 and all(row[:4]) for row in rows())


@pytest.mark.parametrize("row", [row for row in rows() if row[4]], ids=lambda row: row[0])
def test_given_up_words_are_absent(page_sentences: list[str], row: list[str]) -> None:
    for old in row[4].split("; "):
        assert [text for text in page_sentences if old.lower() in text.lower()] == []


def test_chinese_terms_match_catalogue() -> None:
    pages = [form for message in entries("zh").values() for form in forms(message.string)]
    chinese = "\n".join([*pages, *(entry["zh"] for entry in catalogue().values())])
    missing = [term for row in rows() for term in row[1].split(", ") if term not in chinese]
    assert missing == []


def test_page_sentences_are_short(page_sentences: list[str]) -> None:
    sentences = [part for text in page_sentences for part in re.split(r"(?<=[.!?:])[\s*”]+|\n", text)]
    assert [sentence for sentence in sentences if len(re.findall(r"\S*\w\S*", sentence)) > MAX_WORDS] == []
