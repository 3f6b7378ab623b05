"""The text in some bytes, as `open_text` reads it, and texts as sources of a score."""

import io
from types import SimpleNamespace

from rnnviz.text.decoding import SourceText, open_text


def decode(data: bytes, encoding: str | None = None, model_characters: str = "") -> SimpleNamespace:
    """The whole text, its encoding, and the certainty of that."""
    stream = open_text(io.BytesIO(data), encoding=encoding, model_characters=model_characters)
    return SimpleNamespace(text="".join(stream), encoding=stream.encoding, certainty=stream.certainty)


def source_of(text: str, normaliser: str = "newlines") -> SourceText:
    return SourceText(None, text, None, None, normaliser)
