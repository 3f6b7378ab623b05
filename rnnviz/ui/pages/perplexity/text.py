"""One text that a reader chose."""

import io
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Check


@dataclass(frozen=True)
class Text:
    """A file's bytes or a text; `content` is the SHA-256, `encoding` the reader's choice or None, `most` the
    characters after which the reader stopped, or None.
    """

    name: str
    content: str
    data: bytes | None = None
    text: str | None = None
    encoding: str | None = None
    example: bool = False
    most: int | None = None

    @property
    def identity(self) -> Hashable:
        """What decides its figures, beside the model."""
        return self.content, self.encoding, self.data is None

    def key(self, what: str, *rest: Hashable) -> Key:
        """The key of what is made of it; the `rest` decides that too, as a model's digest."""
        return Key(what, self.content, (self.encoding, self.data is None, self.most, *rest))

    @property
    def size(self) -> int:
        """Bytes of the file or characters of the text."""
        return len(self.data) if self.data is not None else len(self.text or "")

    def source(self, check: Check) -> dict[str, Any]:
        """As keyword arguments of `rnnviz.perplexity`; `check` is called at each read of the file."""
        file = _Named(self.data, self.name, check) if self.data is not None else None
        return {"path": file, "text": self.text, "encoding": self.encoding, "name": self.name}


class _Named(io.BytesIO):
    """Bytes as a file with a name, for messages about it; `check` may end the reading."""

    def __init__(self, data: bytes, name: str, check: Check) -> None:
        super().__init__(data)
        self.name, self._check = name, check

    def read(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        self._check()
        return super().readline(size)
