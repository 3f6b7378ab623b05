"""Choices that outlast a visit to another page, in the session or in the address."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rnnviz.i18n import _
from rnnviz.ui import address
from rnnviz.ui.trouble import plain


def pick(label: str, words: Mapping[str, str], key: str, *, hidden: bool = False, **options: Any) -> str:
    """The chosen key of `words`, else `default`; `options` as in `st.segmented_control`."""
    chosen: str | None = st.segmented_control(
        label,
        list(words),
        key=key,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed" if hidden else "visible",
        **options,
    )
    return chosen or options.get("default") or next(iter(words))


def tab(label: str, words: Mapping[str, str], key: str, also: Mapping[str, str] | None = None) -> str:
    """The sub-page in view, at first the first; the address holds it as `key`. `also`: other names that an
    address may have for sub-pages, as those that they once had, in lower case.
    """
    if unknown := adopt(key, list(words), next(iter(words)), also):
        st.session_state[_missed(key)] = unknown, st.session_state[key]
    return pick(label, words, key, hidden=True, required=True)


def missed(key: str, words: Mapping[str, str]) -> None:
    """That the address asked a `tab` for another sub-page than is in view; until another one is chosen."""
    state, shown = st.session_state, st.session_state[key]
    asked, instead = state.get(_missed(key), ("", None))
    if instead != shown:
        state.pop(_missed(key), None)
        return
    said = _("This page has no part called **{asked}**.").format(asked=plain(asked[:100]))
    said += " " + _("This is **{shown}**.").format(shown=words[shown])
    st.warning(said, icon=":material/swap_horiz:")


def _missed(key: str) -> str:
    return f"{key}.missed"


def adopt(
    key: str, options: Sequence[str], usual: str | None = None, also: Mapping[str, str] | None = None
) -> str | None:
    """Choose for the widget of this key what the address asks for on arrival, at first else the usual one;
    call it before the widget: what is chosen goes into the address. Returns what it asks for in vain.
    """
    state, asked = st.session_state, address.asked(key)
    before = usual if address.went_back() else state.get(key, usual)
    named = {**(also or {}), **{option.lower(): option for option in options}}
    found = named.get(asked.lower()) if asked else None
    # Always said, so that the browser hears it: of a run that was cut off it may not have heard.
    state[key] = found or before
    address.say(**{key: state[key]})
    return None if found else asked
