"""A file or a text, read as normalised pieces of equal length."""

from __future__ import annotations

from collections.abc import Iterator

from rnnviz.errors import ConfigError
from rnnviz.text.checked import check_text
from rnnviz.text.decoding import Source, TextStream, open_text
from rnnviz.text.normalising import Normaliser
from rnnviz.text.vocabulary import code_points

# Bytes of a file, or characters of a text, per step: few, so that `bytes_read` keeps pace with the model.
CHUNK = 1 << 13


class SourceText:
    """Exactly one of a file and a text; `encoding` and `certainty` are None for a text."""

    def __init__(
        self, path: Source | None, text: str | None, encoding: str | None, name: str | None, normaliser: str
    ) -> None:
        if path is None and text is None:
            raise ConfigError("give either a file or text=…; received neither")
        if path is not None and text is not None:
            raise ConfigError("give either a file or text=…; received both")
        self.normaliser = Normaliser(normaliser)
        self._stream: TextStream | None = None
        self._text, self._read = text if isinstance(text, str) else "", 0
        if path is not None:
            self._stream = open_text(path, encoding=encoding, chunk=CHUNK)
            self.encoding: str | None = self._stream.encoding
            self.certainty: str | None = self._stream.certainty
            self.bytes_total = self._stream.bytes_total
            self.name = name or self._stream.name
        else:
            if encoding is not None:
                raise ConfigError(
                    "text=… has no encoding, it is decoded already; received {encoding!r}", encoding=encoding
                )
            code_points(check_text(text))  # refuses half a surrogate pair, naming its place in the whole text
            self.encoding = self.certainty = None
            self.bytes_total = len(self._text.encode("utf-8"))
            self.name = name or "this text"

    @property
    def bytes_read(self) -> int:
        """Bytes of the file, or of the text in UTF-8, read so far."""
        return self._stream.bytes_read if self._stream else self._read

    def _chunks(self) -> Iterator[str]:
        if self._stream is not None:
            yield from self._stream
            return
        for start in range(0, len(self._text), CHUNK):
            chunk = self._text[start : start + CHUNK]
            self._read += len(chunk.encode("utf-8"))
            yield chunk

    def pieces(self, length: int) -> Iterator[str]:
        """The normalised text, `length` characters at a time; the last piece may be shorter."""
        buffer = ""
        for chunk in self._chunks():
            buffer += self.normaliser.feed(chunk)
            whole = len(buffer) // length * length
            for start in range(0, whole, length):
                yield buffer[start : start + length]
            buffer = buffer[whole:]
        buffer += self.normaliser.finish()
        if buffer:
            yield buffer
