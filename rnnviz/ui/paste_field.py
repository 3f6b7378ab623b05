"""The field for a pasted text. Streamlit cuts off what is beyond its end, whoever sent it, without a word."""

import streamlit as st

from rnnviz.i18n import _

LONGEST = 1_000_000


def field(key: str, *, height: int, placeholder: str) -> str:
    """What was pasted, its beginning if it is too long, which is said."""
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
