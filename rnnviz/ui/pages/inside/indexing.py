"""The index of a source, as a job; a reader's own text's goes with the session."""

from dataclasses import replace

import streamlit as st

from rnnviz import units
from rnnviz.text import corpora
from rnnviz.text.characters import normalise
from rnnviz.ui.hosting import allowed
from rnnviz.ui.i18n import _
from rnnviz.ui.jobs import store
from rnnviz.ui.jobs.store import Key
from rnnviz.ui.jobs.worker import Step, Steps, as_steps
from rnnviz.ui.pages.inside import sources
from rnnviz.ui.pages.inside.common import View, done, done_on_request, kept
from rnnviz.ui.pages.inside.sources import Source
from rnnviz.units import Index

INDEXED = 1_000_000  # characters of a corpus
AT_ONCE = 20_000  # characters that are read before anybody could press a button


def of(view: View, source: Source) -> Index | None:
    """The index of a source; while None, its progress is shown, or a button that starts it."""
    key = source.key(view, "index")
    if source.kind != "corpus":
        store.shared().hold(store.holder(), [key.text])
    found: Index | None = store.shared().get(key)
    if found is not None:
        return found

    title = _("Indexing the text")
    if kept(replace(key, what="short"), lambda: len(_read(view, source)) <= AT_ONCE):
        made: Index | None = done(key, title, lambda check: _indexing(view, source, key), "index")
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
                "Keeps the states of up to {n} characters on this machine while the app runs: {size} MB at "
                "most for this network. A million characters take from half a minute to a few minutes."
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


def _indexing(view: View, source: Source, key: Key) -> Steps[Index]:
    yield Step(0.0)
    folder = store.shared().folder()
    steps = units.index(view.model, _read(view, source)[:INDEXED], folder)
    made = yield from as_steps(steps, lambda now: Step(now.fraction, now.characters))
    return store.shared().put(key, made, folder)
