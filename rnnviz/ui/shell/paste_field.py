"""The field for a pasted text. Streamlit cuts a longer text silently, so the field warns at its limit."""

import streamlit as st

from rnnviz.i18n import _

LONGEST = 1_000_000


def field(key: str, *, height: int, placeholder: str) -> str:
    """Draw the field. Returns the pasted text, or its first LONGEST characters with a warning on the page."""
    text = st.text_area(
        _("Text"),
        key=key,
        persist_state="session",
        height=height,
        max_chars=LONGEST,
        placeholder=placeholder,
    )
    if len(text or "") >= LONGEST:
        st.warning(
            _(
                "This field holds {n} characters. Whatever came after them was cut off: "
                "upload a longer text as a file."
            ).format(n=f"{LONGEST:,}"),
            icon=":material/content_cut:",
        )
    return text or ""
