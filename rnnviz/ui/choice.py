"""Choices that outlast a visit to another page, in the session or in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st


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
    return pick(label, words, key, hidden=True, required=True, on_change=keep, args=(key,))


def adopt(key: str, options: Sequence[str], usual: str | None = None) -> None:
    """Start the widget from the address; on coming back, set the address to the earlier choice."""
    if key not in st.session_state:
        asked = st.query_params.get(key)
        st.session_state[key] = asked if asked in options else usual
    elif key not in st.query_params and st.session_state[key] != usual:
        keep(key)


def keep(key: str) -> None:
    """Write the widget's choice into the address."""
    chosen = st.session_state.get(key)
    if chosen:
        st.query_params[key] = chosen
    elif key in st.query_params:
        del st.query_params[key]
