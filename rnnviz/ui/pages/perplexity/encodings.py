"""A file's encoding: its certainty, and the choice of another one."""

import streamlit as st

from rnnviz.i18n import _
from rnnviz.text.decoding import binary_format
from rnnviz.ui.pages.perplexity.text_sources import ENCODINGS, Text
from rnnviz.ui.shell.error_messages import plain

# Labels by Python's names of encodings; after the dot, the languages that use it.
COMMON = {
    "utf-8": "UTF-8",
    "gb18030": "GB18030 / GBK · 简体中文",
    "big5": "Big5 · 繁體中文",
    "shift_jis": "Shift-JIS · 日本語",
    "euc_jp": "EUC-JP · 日本語",
    "euc_kr": "EUC-KR · 한국어",
    "cp1252": "Windows-1252 · Western",
    "iso8859-1": "Latin-1 · Western",
    "cp1250": "Windows-1250 · Central European",
    "cp1251": "Windows-1251 · Кириллица",
    "koi8-r": "KOI8-R · Кириллица",
    "cp1253": "Windows-1253 · Ελληνικά",
    "cp1254": "Windows-1254 · Türkçe",
    "cp1255": "Windows-1255 · עברית",
    "cp1256": "Windows-1256 · العربية",
    "utf-16-le": "UTF-16 LE",
    "utf-16-be": "UTF-16 BE",
    "utf-32-le": "UTF-32 LE",
    "utf-32-be": "UTF-32 BE",
}


def control(text: Text, found: str | None, certainty: str | None) -> None:
    """Draw the encoding `found` of a file, its certainty ("declared", "verified" or "guessed"), and the
    choice of another.
    """
    if text.data is None:
        return
    how, why = {
        "declared": (
            _("declared"),
            _("The file begins with a byte order mark, which names its encoding."),
        ),
        "verified": (
            _("verified"),
            _(
                "Every byte is valid UTF-8. A text in another encoding hardly ever is, unless it is plain "
                "ASCII."
            ),
        ),
        "guessed": (
            _("guessed"),
            _(
                "The file doesn't name its encoding, and this one fits best. "
                "Choose another if the text looks wrong."
            ),
        ),
    }[str(certainty)]
    label = COMMON.get(str(found), str(found)).split(" · ")[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="encoding"):
        st.markdown(
            _("Encoding **{encoding}**, {how}").format(encoding=plain(label), how=how),
            help=why if text.encoding is None else _("You chose this encoding."),
            width="content",
        )
        picker(text, beside=True)


def mend(text: Text) -> None:
    """Draw the choice of an encoding for a file that could not be read; nothing for a binary one."""
    if text.data and not binary_format(text.data[:512]):
        picker(text)


def picker(text: Text, *, beside: bool = False) -> None:
    key = f"encoding-{text.content[:16]}-{text.name}"
    words = {"": _("Detect automatically")}
    for encoding in (*COMMON, *filter(None, [text.encoding])):
        words[encoding] = _("Read as {encoding}").format(encoding=COMMON.get(encoding, encoding))

    def picked(content: str) -> None:  # Streamlit keeps a callback's arguments: the checksum, not the text
        st.session_state.setdefault(ENCODINGS, {})[content] = st.session_state[key] or None

    st.session_state[key] = text.encoding or ""
    st.selectbox(
        _("Encoding") if beside else _("Encoding of {name}").format(name=plain(text.name)),
        list(words),
        key=key,
        format_func=words.__getitem__,
        on_change=picked,
        args=(text.content,),
        label_visibility="collapsed" if beside else "visible",
        width=300,
    )
