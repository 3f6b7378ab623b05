"""The buttons that share a model's page: a link to save and send it, and a QR code for a class's phones."""

from functools import partial
from html import escape

import streamlit as st

from rnnviz import i18n
from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.ui import error_messages
from rnnviz.ui.hosting import environment, permissions, startup_message, user
from rnnviz.ui.room import rooms
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
        st.dialog(_("This model on your phone"), width="large")(shown)(info, page)


def shown(info: ModelInfo, page: str) -> None:
    """Draw the QR code and the address, large: of a hosted app, or of the session's room."""
    if environment.hosted():
        poster(startup_message.outside(st.context.url or "") + page)
        return
    session = user.session()
    try:
        way = show(session, info)
    except RnnvizError as error:
        error_messages.show(error)
        return
    if len(way.places) > 1:
        listed = [one.address for one in way.places]
        way.move(st.selectbox(_("Another address of this computer"), listed, index=way.at))
    poster(way.base + page)
    st.caption(
        _(
            "Phones must be in the same network as this computer. "
            "A firewall or a guest Wi-Fi may keep them out."
        )
    )
    if st.button(_("Stop"), icon=":material/close:", help=_("Phones that have the page keep it.")):
        stop(session)
        st.rerun()


def show(session: str, info: ModelInfo) -> rooms.Opened:
    """Serve the model's page to phones through the session's room, which is opened if there is none.

    Raises ConfigError without permission, and as `rooms.open_for` and `build.page` do.
    """
    permissions.insist(permissions.to_ask_the_room())
    page = serving.made(info, i18n.language())
    found = rooms.open_for(session, i18n.language())
    found.pages[info.path.stem] = partial(serving.answer, page=page)
    return found


def stop(session: str) -> None:
    """Serve no page to phones any more; close the session's room unless the lecture uses it."""
    found = rooms.of(session)
    if found is not None:
        found.pages.clear()
        if not found.asks:
            rooms.close_of([session])


def poster(url: str) -> None:
    """Draw a QR code and the address to type, readable from the last row."""
    short = url.partition("://")[2].partition("?")[0]  # without `lang`, the page takes the phone's language
    name, scan = _("QR code"), _("Scan this, or type the address:")
    st.html(
        "<div style='display:flex;flex-wrap:wrap;gap:1.5rem;align-items:center;justify-content:center'>"
        f"<img src='{escape(rooms.qr(url))}' alt='{escape(name)}' style='width:min(52vh,100%)'>"
        "<div style='text-align:center;overflow-wrap:anywhere'>"
        f"<div style='font-size:1.2rem'>{escape(scan)}</div>"
        f"<div style='font:600 clamp(1.6rem,3vw,3rem) var(--st-code-font,monospace)'>{escape(short)}</div>"
        "</div></div>"
    )
