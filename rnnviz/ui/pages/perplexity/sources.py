"""Which of the reader's texts are scored: the newest at first, the others beside them only when asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from rnnviz.ui.i18n import _, ngettext
from rnnviz.ui.pages.perplexity.text import Text

CHOICE = "sources"
_CHOSEN = "perplexity.sources"
_SEEN = "perplexity.sources.seen"  # the checksums of each source's texts at the last run


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
        )
    return [text for name in there if name in chosen for text in texts[name]]


def called(name: str, texts: Sequence[Text]) -> str:
    if name == "files":
        return ngettext("{n} uploaded file", "{n} uploaded files", len(texts)).format(n=len(texts))
    return _("Pasted text") if name == "paste" else texts[0].name if texts else ""
