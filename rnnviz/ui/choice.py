"""Choices that outlast a visit to another page, in the session or in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rnnviz.ui import address


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


def tab(label: str, words: Mapping[str, str], key: str) -> str:
    """The sub-page in view, at first the first; the address holds it as `key`."""
    adopt(key, list(words), next(iter(words)))
    return pick(label, words, key, hidden=True, required=True)


def adopt(key: str, options: Sequence[str], usual: str | None = None) -> None:
    """Choose for the widget of this key what the address asks for on arrival, at first else the usual one;
    call it before the widget: what is chosen goes into the address.
    """
    state, asked = st.session_state, address.asked(key)
    before = usual if address.went_back() else state.get(key, usual)
    # Always said, so that the browser hears it: of a run that was cut off it may not have heard.
    state[key] = asked if asked in options else before
    address.say(**{key: state[key]})
