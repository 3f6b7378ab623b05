"""Networks for others: the buttons that share one, and the room of `rnnviz host`."""

import io
import logging
import sys
from html import escape

import segno
import streamlit as st

from rnnviz import i18n
from rnnviz.errors import RnnvizError
from rnnviz.i18n import _
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.page import serving
from rnnviz.ui.serving.room import classroom
from rnnviz.ui.serving.room.classroom import OpenRoom
from rnnviz.ui.shell import error_messages

log = logging.getLogger("rnnviz")


def share_buttons(info: ModelInfo) -> None:
    """Draw both buttons, if the model can have a page."""
    page = serving.page_address(info.path.stem, info.kind)
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
        # Decorated here, not where it is defined: the title is in the language of the session.
        st.dialog(_("This model on your phone"), width="large")(phones_dialog)(info)


def phones_dialog(info: ModelInfo) -> None:
    """Put the model on the class's phones, and draw the room's QR code and address, large."""
    try:
        opened = classroom.open_room(i18n.language())
        opened.page.add([info])
    except RnnvizError as error:
        error_messages.show_error(error)
        return
    # Only now, as phones open a chosen network at once.
    opened.choose(info.path.stem)
    if len(opened.addresses) > 1:
        listed = [place.address for place in opened.addresses]
        opened.choose_address(
            st.selectbox(_("Another address of this computer"), listed, index=opened.address_index)
        )
    poster(opened.url)
    st.caption(
        _(
            "Phones must be on the same network as this computer. A firewall or a guest Wi-Fi may keep them "
            "out."
        )
    )
    if st.button(_("Stop"), icon=":material/close:", help=_("Phones that have the page keep it.")):
        remove_network(info.path.stem)
        st.rerun()


def remove_network(name: str) -> None:
    """Show a network on phones no more; close the room unless the lecture uses it."""
    opened = classroom.open_room_now()
    if opened is not None:
        if not opened.asks_questions:
            classroom.close()
            return
        opened.page.drop(name)
        opened.room.phones.ring()


def poster(url: str) -> None:
    """Draw a QR code and the address to type, readable from the last row."""
    # The scheme is left out: browsers add it, and each character less is typed by a whole class.
    short = url.partition("://")[2]
    name, scan = _("QR code"), _("Scan this, or type the address:")
    st.html(
        "<div style='display:flex;flex-wrap:wrap;gap:1.5rem;align-items:center;justify-content:center'>"
        f"<img src='{escape(classroom.qr_code(url))}' alt='{escape(name)}' style='width:min(52vh,100%)'>"
        "<div style='text-align:center;overflow-wrap:anywhere'>"
        f"<div style='font-size:1.2rem'>{escape(scan)}</div>"
        f"<div style='font:600 clamp(1.6rem,3vw,3rem) var(--st-code-font,monospace)'>{escape(short)}</div>"
        "</div></div>"
    )


def open_at_start() -> None:
    """Open the room that `rnnviz host` asks for, and print its address, in a terminal with a QR code."""
    assert classroom.startup_options is not None
    try:
        opened = classroom.open_room("en")
        opened.asks_questions = True
        _print_now(host_message(opened))
        listed = {info.path.stem: info for info in checkpoint.available()[0]}
        # The address stands in the terminal before the page is built, which takes a second for each network.
        opened.page.add([listed[name] for name in classroom.startup_options.networks if name in listed])
        opened.room.phones.ring()
    except RnnvizError as error:  # the app goes on: Learn opens the room once there is a network
        _print_now(f"rnnviz: {error}")
    except Exception:
        log.exception("the room could not be opened")


def _print_now(message: str) -> None:
    sys.stdout.write(f"{message}\n")
    sys.stdout.flush()


def host_message(opened: OpenRoom) -> str:
    """The message of `rnnviz host`: the class's addresses; in a terminal, with a QR code of the first."""
    first, *further = opened.urls()
    lines = ["", f"  The class opens   {first}", *(f"  or                {url}" for url in further), ""]
    # Drawn in half blocks, two rows of the code a line: an encoding without them would raise an error.
    if sys.stdout.isatty() and (sys.stdout.encoding or "").lower().startswith("utf"):
        out = io.StringIO()
        segno.make(first, error="m", micro=False).terminal(out, border=2, compact=True)
        lines.append(out.getvalue())
    return "\n".join(lines)
