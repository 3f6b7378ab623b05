"""Which of the reader's texts are scored: the newest, or those of the tab that is looked at; others beside
them only when asked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rnnviz.i18n import _, ngettext
from rnnviz.ui import address
from rnnviz.ui.pages.perplexity.text import Text
from rnnviz.ui.trouble import plain

CHOICE = "sources"
_TAB = "perplexity.source"  # the label of the tab in view
_CHOSEN = "perplexity.sources"
_SEEN = "perplexity.sources.seen"  # the checksums of each source's texts at the last run


def tabs() -> Sequence[Any]:
    """A tab for each of "files", "paste" and "corpus"; at first that of what is scored is in view."""
    state, labels = st.session_state, _labels()
    if state.get(_TAB) not in labels.values():  # the reader has come back, or speaks another language now
        asked = ["corpus"] if address.asked("corpus") else state.get(_CHOSEN)
        state[_TAB] = labels[asked[0] if asked else "files"]
    return st.tabs(list(labels.values()), key=_TAB, on_change=_turned)


def _labels() -> dict[str, str]:
    return {"files": _("Upload files"), "paste": _("Paste a text"), "corpus": _("Pick a corpus")}


def _in_view() -> str:
    return next(name for name, label in _labels().items() if label == st.session_state[_TAB])


def _turned() -> None:
    """Score the texts of the tab that was turned to, if it has any."""
    state, name = st.session_state, _in_view()
    if name in state.get(_SEEN, {}) and name not in state[_CHOSEN]:
        state[CHOICE] = state[_CHOSEN] = [name]


def _follow() -> None:
    """Turn to a tab of the texts that were chosen."""
    chosen = st.session_state[CHOICE]
    if chosen and _in_view() not in chosen:
        st.session_state[_TAB] = _labels()[chosen[0]]


def scored(texts: Mapping[str, Sequence[Text]]) -> list[Text]:
    """The texts to score, of those from "files", "paste" and "corpus". A source whose texts are new takes the
    place of the others, unless it was chosen together with them.
    """
    state, there = st.session_state, [name for name in texts if texts[name]]
    seen = state.get(_SEEN, {})
    state[_SEEN] = {name: {text.content for text in texts[name]} for name in there}
    fresh = [name for name in there if state[_SEEN][name] - seen.get(name, set())]
    chosen = [name for name in state.get(CHOICE, state.get(_CHOSEN, [])) if name in there]
    if not set(fresh) <= set(chosen):
        chosen = fresh
    state[_CHOSEN] = chosen = chosen or there[:1]
    if len(there) > 1:
        state[CHOICE] = chosen
        st.pills(
            _("Texts to score"),
            there,
            key=CHOICE,
            selection_mode="multi",
            format_func=lambda name: called(name, texts[name]),
            help=_("New texts are scored alone. Choose the others here to score them too."),
            on_change=_follow,
        )
    elif there and _in_view() not in there:
        name = plain(called(there[0], texts[there[0]]))
        st.markdown(_("**{name}**, until you choose a text here:").format(name=name))
    return [text for name in there if name in chosen for text in texts[name]]


def called(name: str, texts: Sequence[Text]) -> str:
    if name == "files":
        return ngettext("{n} uploaded file", "{n} uploaded files", len(texts)).format(n=len(texts))
    return _("Pasted text") if name == "paste" else texts[0].name if texts else ""
