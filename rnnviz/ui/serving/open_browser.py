"""Opens the browser once the app answers: Streamlit 1.67 does so for a script, not for an `st.App`."""

import asyncio
import contextlib
import webbrowser

import streamlit as st

TRIES = 200
PAUSE = 0.05  # seconds between two tries


def wanted() -> bool:
    """Whether to open a browser: not for a headless server."""
    return not st.get_option("server.headless")


async def open_browser() -> None:
    """Open the app's first page in this computer's browser as soon as its port accepts connections."""
    address, port = st.get_option("server.address") or "localhost", st.get_option("server.port")
    for _ in range(TRIES):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(address, port)
            writer.close()
            path = (st.get_option("server.baseUrlPath") or "").strip("/")
            scheme = "https" if st.get_option("server.sslCertFile") else "http"
            await asyncio.to_thread(webbrowser.open, f"{scheme}://{address}:{port}/{path}")
            return
        await asyncio.sleep(PAUSE)
