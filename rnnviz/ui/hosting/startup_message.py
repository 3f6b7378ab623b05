"""The message of a hosted app when it starts: the addresses for visitors and for the lecturer."""

import sys
from urllib.parse import quote, urlsplit

import segno
import streamlit as st

from rnnviz.ui.hosting import environment

OURS = ("localhost", "127.0.0.1", "::1")


def addresses() -> list[str]:
    """The app's addresses, the likeliest first: RNNVIZ_ADDRESS, or one for each host that it answers to."""
    given = environment.address()
    if given:
        return [given]
    named = [host for host in st.get_option("server.allowedHosts") if host not in OURS and "*" not in host]
    scheme, usual = ("https", 443) if st.get_option("server.sslCertFile") else ("http", 80)
    port = st.get_option("server.port")
    rest = "" if port == usual else f":{port}"
    path = "/".join(["", *filter(None, (st.get_option("server.baseUrlPath") or "").split("/"))])
    return [
        f"{scheme}://{f'[{host}]' if ':' in host else host}{rest}{path}" for host in named or ["localhost"]
    ]


def outside(url: str) -> str:
    """The app's address for other computers, if a browser here has it open at `url`. localhost becomes a name
    that reaches this computer from others.

    >>> outside("http://192.168.1.20:8501/learn?scene=2")
    'http://192.168.1.20:8501'
    """
    parts = urlsplit(url)
    return addresses()[0] if parts.hostname in (None, *OURS) else f"{parts.scheme}://{parts.netloc}"


def text(places: list[str], *, tell: bool) -> str:
    """The message for these addresses; with `tell`, the key is in it.

    The visitors' address comes last, next to its QR code, so a lecturer can project these alone.
    """
    key = quote(environment.key(), safe="") if tell else "$RNNVIZ_KEY"
    others = [f"             or  {place}" for place in places[1:]]
    return "\n".join(
        [
            "",
            f"  The lecturer   {places[0]}/?key={key}",
            "",
            f"  Visitors       {places[0]}  ({environment.capacity()} at a time)",
            *others,
            "",
        ]
    )


def greet() -> None:
    """Print the message; in a terminal, with a QR code of the visitors' address."""
    out, places = sys.stdout, addresses()
    # A log file would keep the key. So it is printed there only if it is random and unknown otherwise.
    print(text(places, tell=out.isatty() or environment.key_is_made()), flush=True)
    if out.isatty() and (out.encoding or "").lower().startswith("utf"):
        segno.make(places[0], error="m", micro=False).terminal(out, border=2, compact=True)
