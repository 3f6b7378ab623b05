"""A choice that stands in the page's address and survives a reload; the same in every language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st


def adopt(key: str, options: Sequence[str], usual: str | None = None) -> None:
    """Let the widget of this key begin with what the address says, where that is an option.

    Where a reader comes back to the page, the address says again what was chosen before.
    """
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
