"""The longer texts that units are searched on: corpora of this machine, and files of one's own."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from rnnviz import units
from rnnviz.errors import RnnvizError
from rnnviz.reading.trace import Tracer
from rnnviz.text import corpora
from rnnviz.text.decoding import open_text
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs.worker import Check, Step
from rnnviz.ui.pages.perplexity.work import Steps

if TYPE_CHECKING:
    from rnnviz.ui.pages.inside.common import Look

OWN, FILE = "own", "file"
SEARCHED = 50_000  # characters that are ranked and measured on
SCANNED = 300_000  # characters that are read for contexts
ABLATED = 2_000  # characters that are read without each unit
PIECE = 1_000
FIRST = 1.0  # seconds that the page has to itself: a reader looks at it before the answer
TOY = 5_000  # bytes: shorter corpora are no place to search
_FILE = "inside.file"


@dataclass(frozen=True)
class Source:
    """A text to search: the one on the page, a corpus by name, or an uploaded file's bytes."""

    kind: str
    name: str
    data: bytes | None = None

    @property
    def identity(self) -> Hashable:
        """What tells it from others."""
        return self.kind, self.name, self.data and hashlib.sha256(self.data).hexdigest()

    def read(self, most: int) -> str:
        """Its beginning; of a corpus that of the part held out from training, then of all of it."""
        if self.kind == FILE:
            return "".join(open_text(io.BytesIO(self.data or b"")))[:most]
        split = corpora.read(self.name).split()
        text = split.held_out
        if len(text) < most:
            text += split.validation + split.train[: most - len(text)]
        return text[:most]


def here() -> list[corpora.CorpusInfo]:
    """The corpora on this machine that are long enough."""
    found = [corpora.describe(name) for name in corpora.names()]
    return [c for c in found if not c.needs_download and c.bytes > TOY]


def pick(look: Look, key: str, *, own: bool) -> Source | None:
    """A choice; `own`: the text on the page is offered too. None while a file is awaited."""
    names = {c.name: c.title for c in here()}
    corpus = str(look.context.info.card.get("corpus"))
    offered = [*sorted(names, key=lambda n: n != corpus), *([OWN] if own else []), FILE]
    words = {**names, OWN: _("the text on this page"), FILE: _("a file of your own")}
    if own and corpus not in names:  # nothing here is like what the model has read
        offered.sort(key=lambda n: n != OWN)
    label = _("On which text")
    kind = st.selectbox(
        label,
        offered,
        key=f"{key}.{'-'.join(offered)}",
        persist_state="session",
        format_func=words.__getitem__,
    )
    if kind == OWN:
        return Source(OWN, "")
    if kind != FILE:
        return Source("corpus", kind)
    file = st.file_uploader(
        _("A text file"), key=f"{key}.file", help=_("It stays on the machine that runs this app.")
    )
    if file is not None:
        return Source(FILE, file.name, file.getvalue())
    st.caption(_("Choose a file: the longer, the surer the answer."))
    return None


def searching(
    look: Look, source: Source, quantity: str, first: Callable[[str, units.Searcher], Any], check: Check
) -> Steps:
    """A job: read SEARCHED characters, and rank the units for any number of searches.

    `first` is the search that is asked for: what it has to rank is kept for all others.
    """
    yield Step(0.0)
    time.sleep(FIRST)
    text = source.read(SEARCHED)
    tracer = Tracer(look.model)
    traced = tracer.extend("")
    for end in range(PIECE, len(text) + PIECE, PIECE):
        traced = tracer.extend(text[:end])
        yield Step(0.9 * min(end, len(text)) / max(1, len(text)), min(end, len(text)))
    check()
    searcher = units.Searcher(traced, layer=look.layer, quantity=quantity)
    with suppress(RnnvizError):  # the page searches again, and says why nothing can be found
        first(traced.text, searcher)
    return traced.text, searcher


def scanning(look: Look, source: Source, quantity: str) -> Generator[Step, None, Any]:
    """A job: what every unit of the layer does over the whole source."""
    text = look.text if source.kind == OWN else source.read(SCANNED)
    steps = units.scan(
        look.model, text=text, layer=look.layer, quantity=quantity, contexts=6, before=48, after=24
    )
    while True:
        try:
            now = next(steps)
        except StopIteration as end:
            return end.value
        yield Step(now.fraction, now.characters)


def ablating(look: Look, source: Source, to: Any) -> Generator[Step, None, Any]:
    """A job: what every unit of the layer is worth."""
    text = look.text if source.kind == OWN else source.read(ABLATED)
    steps = units.ablate(look.model, text, layer=look.layer, to=to, batch=32)
    while True:
        try:
            now = next(steps)
        except StopIteration as end:
            return end.value
        yield Step(now.fraction, now.done)
