"""Sources of longer texts for searches: corpora on this machine, the reader's files, and sample text."""

import hashlib
import io
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.lab.pages.inside.page_view import PageView
from rnnviz.scoring.sampling import sample_texts
from rnnviz.text import corpora
from rnnviz.text.decoding import open_text
from rnnviz.text.files import MAX_NAME_CHARS, printable
from rnnviz.ui.jobs import clear_data, store
from rnnviz.ui.shell.fields import Field

PAGE_TEXT, FILE, SAMPLED, CARD_TEXT, WHOLE = "own", "file", "sampled", "card", "whole"
SAMPLE_CHARS = 40_000  # of text that the network writes
MAX_SEARCH_CHARS = 50_000  # of a text on which units are ranked and measured
MAX_TOY_BYTES = 5_000  # a corpus of so few bytes is too short to search
# A key of st.session_state: a button of `render_proposals` was pressed, so the search begins at once.
SEARCH_NOW = "inside.search.now"


@dataclass(frozen=True)
class Source:
    """A text to search.

    kind  PAGE_TEXT (the page's), FILE, SAMPLED, CARD_TEXT (in the model's card), WHOLE (a corpus in its
          order) or "corpus" (a corpus, the held-out part first)
    name  a corpus's or a file's
    data  a file's bytes
    """

    kind: str
    name: str = ""
    data: bytes | None = None

    def key(self, view: PageView, result_name: str, *rest: Hashable) -> store.Key:
        """The key of a result on this text and the network in view."""
        text = view.text if self.kind == PAGE_TEXT else ""
        # The page's text is part of the key only where it is what is read.
        content = store.checksum(self.kind, self.name, self.data and hashlib.sha256(self.data).digest(), text)
        return store.Key(result_name, content, (view.model_digest, *rest))

    def read(self, view: PageView, max_chars: int) -> str:
        """The page's text and the card's whole, of others the first `max_chars` characters. A corpus begins
        with its held-out part, unless the kind is WHOLE.
        """
        if self.kind == PAGE_TEXT:
            return view.text
        if self.kind == CARD_TEXT:
            return str(view.context.info.card["text"])
        if self.kind == WHOLE:
            return corpora.read(self.name).text[:max_chars]
        if self.kind == FILE:
            return "".join(open_text(io.BytesIO(self.data or b"")))[:max_chars]
        if self.kind == SAMPLED:
            return _sample_text(view, max_chars)
        # Held-out text first: on what it was trained on, a network may only remember.
        split = corpora.read(self.name).split()
        text = split.held_out
        if len(text) < max_chars:
            text += split.validation + split.train[: max_chars - len(text)]
        return text[:max_chars]


PAGE = Source(PAGE_TEXT)


def list_searchable_corpora() -> list[corpora.CorpusInfo]:
    """The corpora on this machine that are long enough to search."""
    described = [corpora.describe(name) for name in corpora.names()]
    return [corpus for corpus in described if not corpus.needs_download and corpus.bytes > MAX_TOY_BYTES]


@cache
def _held_out(name: str) -> tuple[int, str]:
    """Length and SHA-256 of a corpus's held-out text. Cached: every run asks, and corpora don't change."""
    text = corpora.read(name).split().held_out
    return len(text), corpora.sha256(text)


def seen_text_sentence(card: Mapping[str, Any], name: str) -> str | None:
    """The sentence for a corpus whose held-out text is shorter than a search; None if all of it is new to the
    model, or if its training held out another text.
    """
    if name != card.get("corpus"):
        return None
    held_out_chars, digest = _held_out(name)
    # Another digest: the network was trained on another split, and what it has seen is not known.
    if held_out_chars >= MAX_SEARCH_CHARS or digest != card.get("sha256_held_out"):
        return None
    words = _("The first {n} characters are new to the network. It has seen the rest.")
    return words.format(n=f"{held_out_chars:,}")


@dataclass(frozen=True, eq=False)
class SourcePicker:
    """The choice of a source, by a field of this `key`.

    `corpus_kind` is the kind of a corpus's Source: WHOLE for its text in its order. `selected` knows the
    choice before `render` has drawn it.
    """

    view: PageView
    key: str
    corpus_kind: str = "corpus"

    @cached_property
    def labels(self) -> dict[str, str]:
        """What can be chosen: the network's own corpus first."""
        names = {corpus.name: corpus.title for corpus in list_searchable_corpora()}
        return {
            **dict(sorted(names.items(), key=lambda item: item[0] != self._own_corpus)),
            PAGE_TEXT: _("the text on this page"),
            SAMPLED: _("{n} characters that the network writes").format(n=f"{SAMPLE_CHARS:,}"),
            FILE: _("a file of your own"),
        }

    @property
    def _own_corpus(self) -> str:
        return str(self.view.context.info.card.get("corpus"))

    @property
    def _usual(self) -> str:
        return (
            self._own_corpus if self._own_corpus in self.labels else PAGE_TEXT
        )  # no other corpus resembles it

    @property
    def _field(self) -> Field[str]:
        return Field(self.key, PAGE_TEXT)

    def selected(self) -> Source | None:
        """The source chosen; None while a file is awaited."""
        return self._make_source(self._field.resolve(self.labels, self._usual))

    def _make_source(self, kind: str) -> Source | None:
        if kind in (PAGE_TEXT, SAMPLED):
            return Source(kind)
        if kind != FILE:
            return Source(self.corpus_kind, kind)
        file = st.session_state.get(self._uploader_key)  # the uploader's own value, even before it is drawn
        return None if file is None else Source(FILE, printable(file.name, MAX_NAME_CHARS), file.getvalue())

    @property
    def _uploader_key(self) -> str:
        return clear_data.upload_key(f"{self.key}.file")

    def render(self) -> Source | None:
        """Draw the choice, with the uploader of a file. Returns the source, as `selected`."""
        kind = self._field.choose(_("On which text"), self.labels, self._usual, draw=st.selectbox)
        if kind == FILE:
            file = st.file_uploader(
                _("A text file"),
                key=self._uploader_key,
                help=_("It stays on the machine that runs this app."),
            )
            if file is None:
                st.caption(_("Choose a file. A longer text gives a surer answer."))
        elif (sentence := seen_text_sentence(self.view.context.info.card, kind)) is not None:
            st.caption(sentence)
        return self._make_source(kind)


def render_proposals(view: PageView, source: Source, key: str) -> None:
    """Draw a button for each longer text than `source`: the model's corpus, if it is here, and sample text.

    `key` is that of the source's picker.
    """
    card_corpus = view.context.info.card.get("corpus")
    corpus = next((corpus for corpus in list_searchable_corpora() if corpus.name == card_corpus), None)
    offered = {}
    if corpus is not None and source.name != corpus.name:
        offered[corpus.name] = _("Search {title}").format(title=corpus.title), ":material/menu_book:"
    if source.kind != SAMPLED:
        words = _("Search {n} characters that the network writes").format(n=f"{SAMPLE_CHARS:,}")
        offered[SAMPLED] = words, ":material/casino:"
    with st.container(horizontal=True):
        for kind, (label, icon) in offered.items():
            # The corpus, where it is here: real text says more than what the network writes itself.
            first = kind == next(iter(offered))
            st.button(
                label,
                key=f"{key}.propose.{kind}",
                icon=icon,
                type="primary" if first else "secondary",
                on_click=_choose_and_search,
                args=(key, kind),
            )


def _choose_and_search(key: str, kind: str) -> None:
    Field(key, PAGE_TEXT).request(kind)
    st.session_state[SEARCH_NOW] = True


def _sample_text(view: PageView, max_chars: int) -> str:
    """Sample text of the network, always the same (seed 0), shared by all requests and sessions."""
    length = min(max_chars, SAMPLE_CHARS)
    # Writing 40,000 characters takes seconds, and every part that reads them needs the same ones.
    key = store.Key("written", rest=(view.model_digest, length))
    sample: str | None = store.shared().get(key)
    if sample is None:
        sample = store.shared().put(key, sample_texts(view.model, "", length, temperature=1.0, seed=0))
    return sample
