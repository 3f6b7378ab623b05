"""What a hosted app prints when it starts: where visitors find it, and where the lecturer does, once."""

import sys
from urllib.parse import quote, urlsplit

import segno
import streamlit as st

from rnnviz.ui.hosting import environment

OURS = ("localhost", "127.0.0.1", "::1")


def addresses() -> list[str]:
    """Where the app is found, the likeliest first: RNNVIZ_ADDRESS, or each host that it answers to."""
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
    """Where other computers find the app that a browser here has open at `url`: localhost is each one's own.

    >>> outside("http://192.168.1.20:8501/learn?scene=2")
    'http://192.168.1.20:8501'
    """
    parts = urlsplit(url)
    return addresses()[0] if parts.hostname in (None, *OURS) else f"{parts.scheme}://{parts.netloc}"


def text(places: list[str], *, tell: bool) -> str:
    """The greeting; without the key unless it may be told. The visitors' address comes last, beside its code:
    a hall can be shown these alone.
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
    """Print it, with a QR code for the visitors where somebody looks at a terminal."""
    out, places = sys.stdout, addresses()
    # Where the output is kept, so would the key be: it is told there only if nobody knows it yet.
    print(text(places, tell=out.isatty() or environment.key_is_made()), flush=True)
    if out.isatty() and (out.encoding or "").lower().startswith("utf"):
        segno.make(places[0], error="m", micro=False).terminal(out, border=2, compact=True)
