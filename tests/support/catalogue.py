"""The messages of a language."""

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

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
