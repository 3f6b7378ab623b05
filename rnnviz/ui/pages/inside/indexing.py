"""The index of a source, as a job: of a corpus in the user's cache, of a reader's own text with the
session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from rnnviz import units
from rnnviz.text import corpora
from rnnviz.text.normalising import normalise
from rnnviz.ui.hosting import allowed
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import sources, words
from rnnviz.ui.pages.inside.common import View, done, done_on_request, kept
from rnnviz.ui.pages.inside.sources import Source
from rnnviz.units import Index, Target, index_cache
from rnnviz.units.indexing import fingerprint

INDEXED = 1_000_000  # characters of a corpus
AT_ONCE = 20_000  # characters that are read before anybody could press a button


@dataclass(frozen=True, eq=False)
class Indexed:
    """An index, the length of the `whole` text, of which it may have only the beginning, and the targets that
    hold or not over what it has, by name.
    """

    index: Index
    whole: int
    targets: Mapping[str, Target]


def of(view: View, source: Source) -> Indexed | None:
    """The index of a source; while None, its progress is shown, or a button that starts it."""
    key = source.key(view, "index")
    if source.kind != "corpus":
        store.shared().hold(store.holder(), [key.text])
    found: Indexed | None = store.shared().get(key)
    if found is not None:
        return found

    title = _("Indexing the text")
    if kept(replace(key, what="indexed at once"), lambda: _is_quick(view, source)):
        made: Indexed | None = done(key, title, lambda check: _indexing(view, source, key), "index")
    elif not allowed.to_index():
        st.info(
            _("Only the lecturer can index a long text. Choose one of at most {n} characters.").format(
                n=f"{AT_ONCE:,}"
            ),
            icon=":material/database:",
        )
        return None
    else:
        made = done_on_request(
            key,
            title,
            lambda check: _indexing(view, source, key),
            "index",
            label=_("Index the text"),
            icon=":material/database:",
            said=_(
                "Keeps the states of up to {n} characters on this machine: {size} MB at most for this "
                "network. A million characters take from half a minute to a few minutes, only once."
            ).format(
                n=f"{INDEXED:,}",
                size=f"{2 * INDEXED * view.H * int(view.model.config.layers) // 10**6:,}",
            ),
        )
    return made


def _read(view: View, source: Source) -> str:
    """The whole text, in its order."""
    if source.kind == "corpus":
        return normalise(corpora.read(source.name).text, view.model.normaliser)
    return normalise(source.read(view, sources.EVERYTHING), view.model.normaliser)


def _is_quick(view: View, source: Source) -> bool:
    """Whether the text is short, or its index is in the cache already."""
    text = _read(view, source)
    if len(text) <= AT_ONCE:
        return True
    if source.kind != "corpus":
        return False
    return index_cache.place(fingerprint(view.model), corpora.sha256(text[:INDEXED])).exists()


def _indexing(view: View, source: Source, key: Key) -> Steps[Indexed]:
    yield Step(0.0)
    text = _read(view, source)
    whole, text = len(text), text[:INDEXED]
    folder = None if source.kind == "corpus" else store.shared().folder()
    steps = units.index(view.model, text, folder)
    index = yield from as_steps(steps, lambda now: Step(0.9 * now.fraction, now.characters))
    kinds = (*units.KINDS, *(units.PYTHON_KINDS if view.python else ()))
    names, targets = [name for name in kinds if name not in words.GRADED], {}
    for number, name in enumerate(names):
        yield Step(0.9 + 0.1 * number / len(names))
        targets[name] = units.target(name, text, unclosed=view.unclosed)
    made = Indexed(index, whole, targets)
    return made if folder is None else store.shared().put(key, made, folder)
