"""The messages of a language."""

import re

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest

from rnnviz import i18n

Id = str | tuple[str, ...]


def forms(value: object) -> list[str]:
    """A message's texts: one, or one for each plural form."""
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


def catalogue(language: str) -> Catalog:
    with i18n.catalogue_path(language).open("rb") as file:
        return read_po(file, locale=language)


def entries(language: str) -> dict[Id, Message]:
    return {m.id if isinstance(m.id, str) else tuple(m.id): m for m in catalogue(language) if m.id}


def assert_chinese(app: AppTest, *parts: str, foreign: str = "") -> None:
    """The page's errors and warnings are Chinese: no English clause but `foreign`, another program's."""
    sentences = [str(e.value).replace("\\", "") for kind in ("error", "warning") for e in app.get(kind)]
    assert sentences
    for sentence in sentences:
        assert re.search("[\u4e00-\u9fff]", sentence), sentence
        assert not re.search(r"(?:\b[a-z]+\b[ ,;]+){3}", sentence.replace(foreign, "")), sentence
    for part in parts:
        assert any(part in sentence for sentence in sentences), (part, sentences)
