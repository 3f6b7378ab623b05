"""The buttons that share a model's page: a link to save and send it, and a QR code for a class's phones."""

from html import escape

import streamlit as st

from rnnviz import i18n
from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.ui import error_messages
from rnnviz.ui.room import classroom
from rnnviz.ui.standalone import serving


def buttons(info: ModelInfo) -> None:
    """Draw both buttons, if the model can have a page."""
    page = serving.address(info.path.stem, info.kind)
    if not page:
        return
    st.link_button(
        _("Share as a page"),
        page,
        help=_("The live view of this model as one HTML file. Save it, send it: it needs no server."),
        icon=":material/share:",
    )
    if st.button(
        _("Show on phones"),
        help=_("A QR code: every phone fetches the live view once, then runs it on its own."),
        icon=":material/qr_code_2:",
    ):
        st.dialog(_("This model on your phone"), width="large")(shown)(info)


def shown(info: ModelInfo) -> None:
    """Put the model on the class's phones, and draw the room's QR code and address, large."""
    try:
        opened = classroom.open_room(i18n.language())
        name = opened.show(info, i18n.language())
    except RnnvizError as error:
        error_messages.show(error)
        return
    opened.choose(name)
    if len(opened.places) > 1:
        listed = [place.address for place in opened.places]
        opened.move(st.selectbox(_("Another address of this computer"), listed, index=opened.at))
    poster(opened.url)
    st.caption(
        _(
            "Phones must be in the same network as this computer. "
            "A firewall or a guest Wi-Fi may keep them out."
        )
    )
    if st.button(_("Stop"), icon=":material/close:", help=_("Phones that have the page keep it.")):
        stop(name)
        st.rerun()


def stop(name: str) -> None:
    """Show a page on phones no more; close the room unless the lecture uses it."""
    opened = classroom.current()
    if opened is not None:
        opened.shown.drop(name)
        opened.room.phones.ring()
        if not opened.asks:
            classroom.close()


def poster(url: str) -> None:
    """Draw a QR code and the address to type, readable from the last row."""
    short = url.partition("://")[2]
    name, scan = _("QR code"), _("Scan this, or type the address:")
    st.html(
        "<div style='display:flex;flex-wrap:wrap;gap:1.5rem;align-items:center;justify-content:center'>"
        f"<img src='{escape(classroom.qr(url))}' alt='{escape(name)}' style='width:min(52vh,100%)'>"
        "<div style='text-align:center;overflow-wrap:anywhere'>"
        f"<div style='font-size:1.2rem'>{escape(scan)}</div>"
        f"<div style='font:600 clamp(1.6rem,3vw,3rem) var(--st-code-font,monospace)'>{escape(short)}</div>"
        "</div></div>"
    )
