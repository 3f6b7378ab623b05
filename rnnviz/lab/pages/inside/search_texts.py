"""Sources of longer texts for searches: corpora on this machine, the reader's files, and sample text."""

import hashlib
import io
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.lab.pages.inside.view import View
from rnnviz.scoring.sampling import stream
from rnnviz.text import corpora
from rnnviz.text.decoding import open_text
from rnnviz.text.files import MAX_NAME_CHARS, printable
from rnnviz.ui.jobs import clear_data, store
from rnnviz.ui.shell.fields import Field

OWN, FILE, SAMPLED, CARD, WHOLE = "own", "file", "sampled", "card", "whole"
WRITTEN = 40_000  # characters of sample text
SEARCHED = 50_000  # characters of a text on which units are ranked and measured
NOW = "inside.search.now"  # a key of st.session_state: a button of `propose` was pressed, so search at once
TOY = 5_000  # bytes of a corpus that is too short to search


@dataclass(frozen=True)
class Source:
    """A text to search.

    kind  OWN (the page's), FILE, SAMPLED, CARD (in the model's card), WHOLE (a corpus in its order) or
          "corpus" (a corpus, the held-out part first)
    name  a corpus's or a file's
    data  a file's bytes
    """

    kind: str
    name: str = ""
    data: bytes | None = None

    def key(self, view: View, what: str, *rest: Hashable) -> store.Key:
        """The key of a result `what` on this text and the network in view."""
        text = view.text if self.kind == OWN else ""
        content = store.checksum(self.kind, self.name, self.data and hashlib.sha256(self.data).digest(), text)
        return store.Key(what, content, (view.mark, *rest))

    def read(self, view: View, most: int) -> str:
        """The page's text, or the first `most` characters of another. A corpus begins with its held-out part,
        unless the kind is WHOLE.
        """
        if self.kind == OWN:
            return view.text
        if self.kind == CARD:
            return str(view.context.info.card["text"])
        if self.kind == WHOLE:
            return corpora.read(self.name).text[:most]
        if self.kind == FILE:
            return "".join(open_text(io.BytesIO(self.data or b"")))[:most]
        if self.kind == SAMPLED:
            return _written(view, most)
        split = corpora.read(self.name).split()
        text = split.held_out
        if len(text) < most:
            text += split.validation + split.train[: most - len(text)]
        return text[:most]


PAGE = Source(OWN)


def here() -> list[corpora.CorpusInfo]:
    """The corpora on this machine that are long enough to search."""
    found = [corpora.describe(name) for name in corpora.names()]
    return [c for c in found if not c.needs_download and c.bytes > TOY]


@cache
def _held_out(name: str) -> tuple[int, str]:
    """Length and SHA-256 of a corpus's held-out text. Cached: every run asks, and corpora don't change."""
    text = corpora.read(name).split().held_out
    return len(text), corpora.sha256(text)


def known(card: Mapping[str, Any], name: str) -> str | None:
    """The sentence for a corpus whose held-out text is shorter than a search; None if all of it is new to the
    model, or if its training held out another text.
    """
    if name != card.get("corpus"):
        return None
    held_out, digest = _held_out(name)
    if held_out >= SEARCHED or digest != card.get("sha256_held_out"):
        return None
    words = _("The first {n} characters are new to the network. The rest it has seen.")
    return words.format(n=f"{held_out:,}")


def pick(view: View, key: str, corpus: str = "corpus") -> Source | None:
    """Draw the choice of a source and return it; None while a file is awaited.

    `corpus` is the kind of a corpus's Source: WHOLE for its text in its order.
    """
    names = {c.name: c.title for c in here()}
    own = str(view.context.info.card.get("corpus"))
    words = {
        **dict(sorted(names.items(), key=lambda one: one[0] != own)),
        OWN: _("the text on this page"),
        SAMPLED: _("{n} characters that the network writes").format(n=f"{WRITTEN:,}"),
        FILE: _("a file of your own"),
    }
    usual = own if own in names else OWN  # no other corpus here resembles the model's
    kind = Field(key, OWN).choose(_("On which text"), words, usual, draw=st.selectbox)
    if kind in (OWN, SAMPLED):
        return Source(kind)
    if kind != FILE:
        if (said := known(view.context.info.card, kind)) is not None:
            st.caption(said)
        return Source(corpus, kind)
    file = st.file_uploader(
        _("A text file"),
        key=clear_data.fresh(f"{key}.file"),
        help=_("It stays on the machine that runs this app."),
    )
    if file is not None:
        return Source(FILE, printable(file.name, MAX_NAME_CHARS), file.getvalue())
    st.caption(_("Choose a file. A longer text gives a surer answer."))
    return None


def propose(view: View, source: Source, key: str) -> None:
    """Draw a button for each longer text than `source`: the model's corpus, if it is here, and sample text.

    `key` is that of `pick`.
    """
    own = next((c for c in here() if c.name == view.context.info.card.get("corpus")), None)
    offered = {}
    if own is not None and source.name != own.name:
        offered[own.name] = _("Search {title}").format(title=own.title), ":material/menu_book:"
    if source.kind != SAMPLED:
        words = _("Search {n} characters that the network writes").format(n=f"{WRITTEN:,}")
        offered[SAMPLED] = words, ":material/casino:"
    with st.container(horizontal=True):
        for kind, (label, icon) in offered.items():
            first = kind == next(iter(offered))
            st.button(
                label,
                key=f"{key}.propose.{kind}",
                icon=icon,
                type="primary" if first else "secondary",
                on_click=_choose,
                args=(key, kind),
            )


def _choose(key: str, kind: str) -> None:
    Field(key, OWN).request(kind)
    st.session_state[NOW] = True


def _written(view: View, most: int) -> str:
    """Sample text of the network, always the same (seed 0), shared by all requests and sessions."""
    most = min(most, WRITTEN)
    key = store.Key("written", rest=(view.mark, most))
    written: str | None = store.shared().get(key)
    if written is None:
        written = store.shared().put(key, "".join(stream(view.model, "", most, seed=0)))
    return written
