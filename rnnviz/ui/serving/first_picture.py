"""The app's first answer to a browser: Streamlit's index, with the page's first picture in it.

Streamlit's own scripts take seconds until they have drawn anything. So the index has a layer over the page:
the sidebar's frame, and in Explore and Learn the view itself with its first answer, which its script draws at
once (browser/static/first_picture.js). Explore's answers keys over a connection of its own; Learn's keeps the
step that they ask for. The layer goes when the app's view stands below it.

What is in it depends on the address and Accept-Language alone, not on any session.

    <head>   the frame's style; the view's scripts, without Streamlit's
    <body>   the layer, outside Streamlit's element, which React clears, with the answer as base64; the names
             of Streamlit's scripts, and the line that starts them once the picture is painted
"""

from __future__ import annotations

import base64
import gzip
import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from rnnviz import registry
from rnnviz.i18n import _, language, speaking
from rnnviz.page.responses import PackedFile, pack_file
from rnnviz.ui.browser.view_socket import ViewSocket
from rnnviz.ui.browser.views import KIT_SCRIPT, script_address
from rnnviz.ui.serving.streamlit_files import element_scripts, streamlit_index

if TYPE_CHECKING:
    from rnnviz.networks.numpy_model import NumpyModel
    from rnnviz.page.live_session import LiveSession

log = logging.getLogger("rnnviz")

UI_FOLDER = Path(__file__).parents[1]
MAX_SESSIONS = 8
"""Networks, by language, whose session is kept for the next first picture."""

# Streamlit's browser side takes a page's address for the server's, and asks there in vain, unless it is told.
SERVER_ADDRESS_SCRIPT = (
    '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href }</script>'
)

# Where Streamlit keeps the theme that a reader has chosen in its menu (1.67).
_THEME_SCRIPT = """<script>{
let theme;
try { theme = JSON.parse(localStorage.getItem(`stActiveTheme-${location.pathname}-v2`)); } catch {}
const dark = theme === "Dark" || (theme !== "Light" && matchMedia("(prefers-color-scheme: dark)").matches);
document.documentElement.dataset.first = dark ? "dark" : "light";
}</script>"""

# Browser and server fetch, compile and run Streamlit's scripts for a second or two: after the picture, or
# after its failure.
_START_SCRIPT = """<template>{preloads}</template><script>{{
const {{ content }} = document.currentScript.previousElementSibling;
const start = () => {{ document.head.append(content); import("{streamlit}"); }};
import("{script}").then(({{ first }}) => first()).catch(console.error).finally(start);
}}</script>"""

VIEWS = {
    "explore": "live",
    "perplexity": "viewer",
    "inside": "dashboard",
    "train": "training",
    "learn": "learn",
}
"""The view of each page."""

ELEMENTS = ("BidiComponent", "Selectbox", "Html", "ButtonGroup")
"""Streamlit's elements on each page, by their scripts' names: the view, the sidebar's model and language."""

MARKS = (
    "<head>",
    "<body>",
    '<link rel="shortcut icon" href="./favicon.png" />',
    r'<script type="module" crossorigin src="(\./static/js/index\.[\w-]+\.js)"></script>',
)
"""Patterns of what Streamlit's index has once each, where it has the shape that is known."""
PRELOAD = r'<link rel="modulepreload" crossorigin href="([^"]+)">\s*'
"""The pattern of a script that Streamlit's own imports."""


def first_answer(page: str, spoken: str, query: Mapping[str, str]) -> PackedFile:
    """The first answer with a page: its name, its language, and the address's values, which a page without a
    picture ignores.
    """
    index = streamlit_index()
    head = "" if page == "explore" else SERVER_ADDRESS_SCRIPT
    if any(len(re.findall(mark, index)) != 1 for mark in MARKS):
        log.warning(
            "Streamlit's index has another shape than the one known: the app begins without its picture"
        )
        return pack_file(index.replace("<head>", f"<head>{head}", 1).encode(), "index.html")
    with speaking(spoken):
        try:
            answer = _answer(page, query)
        except Exception:  # the page itself says what is wrong
            log.debug("there is no first picture", exc_info=True)
            answer = b""
        layer = _layer(page, answer, "present" if query.get("present") == "1" else "")
        head, body = f"{head}{_head(VIEWS[page])}", f"{layer}{_start(VIEWS[page])}"
    icon = base64.b64encode((UI_FOLDER / "icon.svg").read_bytes()).decode()
    replacements = (
        f"<head>{head}",
        f"<body>{body}",
        f'<link rel="shortcut icon" href="data:image/svg+xml;base64,{icon}" />',
        "",
    )
    # By it, a browser chooses the shapes of Chinese letters. The address's view follows a change.
    index = re.sub(PRELOAD, "", index).replace('<html lang="en">', f'<html lang="{spoken}">')
    for mark, replacement in zip(MARKS, replacements, strict=True):
        index = re.sub(mark, lambda _match, text=replacement: text, index)  # type: ignore[misc]
    return pack_file(index.encode(), "index.html")


def _answer(page: str, query: Mapping[str, str]) -> bytes:
    """The first answer of a page's view; b"" if it has none."""
    if page == "learn":
        # By name: a page knows what serves it.
        return import_module("rnnviz.ui.pages.learn.page").first_answer(query)  # type: ignore[no-any-return]
    return _picture(query) if page == "explore" else b""


def _picture(query: Mapping[str, str]) -> bytes:
    """The live view's first answer; b"" if there is no such network."""
    from rnnviz.page.build import visible_answer
    from rnnviz.page.initial_data import first_heat_map, opening_text
    from rnnviz.page.live_session import LiveAsk
    from rnnviz.page.shown_units import named_units
    from rnnviz.ui.shell import model_cache
    from rnnviz.ui.shell.bookmark import BOOKMARKED, read_bookmark

    networks = [info for info in model_cache.list_models()[0] if info.kind != "ngram"]
    name = query.get("model") or (model_cache.first_model(networks).path.stem if networks else "")
    info = next((info for info in networks if info.path.stem == name), None)
    if info is None:
        return b""
    session, socket = _network_session(model_cache.version(info), language())
    opening, extra = opening_text(session.model), dict[str, Any]()
    text, ask = opening, LiveAsk(**first_heat_map(named_units(session.model)))
    if not query.keys().isdisjoint(BOOKMARKED):
        bookmark = read_bookmark(session.model, query)
        text = opening if bookmark.text is None else bookmark.text
        ask, extra = bookmark.ask, {"arrival": bookmark.view}
    extra |= {"text": text, "offer": 1, "opening": opening, "session": socket.token}
    with socket.lock:
        return visible_answer(session, replace(ask, text=text, fresh=True), **extra)


@lru_cache(MAX_SESSIONS)
def _network_session(version: tuple[str, int, int], spoken: str) -> tuple[LiveSession, ViewSocket]:
    """The session that answers all first pictures of a network in a language, and the socket that leads to
    it. Each ask states everything, so they don't disturb one another.
    """
    from rnnviz.networks import checkpoint
    from rnnviz.page.build import START_TEMPERATURE
    from rnnviz.page.initial_data import fixed_part
    from rnnviz.page.live_session import LiveSession
    from rnnviz.ui.shell import model_cache

    info, listed = checkpoint.read_info(Path(version[0])), model_cache.list_models()[0]
    networks = [other for other in listed if other.kind != "ngram"]
    model = cast("NumpyModel", model_cache.load_reader(info))
    models = model, model_cache.load_ngram_model(info, listed)
    memoryless = model_cache.load_memoryless(model, networks)
    fixed = fixed_part(*models, START_TEMPERATURE, networks, memoryless)
    session = LiveSession(*models, memoryless, temperature=START_TEMPERATURE, fixed=fixed)
    socket = ViewSocket()
    socket.serve(session)
    return session, socket


def _head(view: str) -> str:
    scripts = [script_address(KIT_SCRIPT), script_address(view)]
    preloads = "".join(f'<link rel="modulepreload" href="{script}">' for script in scripts)
    for font in re.findall(r'url\("([^"]+)"\)', _fonts()):
        preloads += f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>'
    return f"{preloads}<style>{_style()}</style>{_THEME_SCRIPT}"


@cache
def _start(view: str) -> str:
    index = streamlit_index()
    (streamlit,) = re.findall(MARKS[-1], index)
    scripts = (streamlit, *re.findall(PRELOAD, index), *element_scripts(ELEMENTS))
    preloads = "".join(f'<link rel="modulepreload" crossorigin href="{file}">' for file in scripts)
    return _START_SCRIPT.format(preloads=preloads, streamlit=streamlit, script=script_address(view))


def _layer(page: str, answer: bytes, mode: str) -> str:
    """The layer's elements: the sidebar's frame, the page's title, and the answer that its view draws."""
    # Compressed here too: base64 hides from the document's compression what repeats.
    data = base64.b64encode(gzip.compress(answer, 9, mtime=0)).decode() if answer else ""
    titles = {"explore": _("Explore"), "perplexity": _("Perplexity")}
    titles |= {entry.name: _(entry.title) for entry in registry.pages()} | {"learn": _("Learn")}
    links = "".join(
        f'<a href="./{"" if name == "explore" else name}"{" aria-current=page" if name == page else ""}>'
        f"{escape(title)}</a>"
        for name, title in titles.items()
    )
    headings = {
        "perplexity": _("Perplexity of your texts"),
        "inside": _("Inside the network"),
        "train": _("Train your own"),
    }
    heading = f"<h1>{escape(headings[page])}</h1>" if page in headings else ""
    without_script = escape(_("This page needs JavaScript."))
    logo = base64.b64encode((UI_FOLDER / "logo.svg").read_bytes()).decode()
    return (
        f'<div id="first-picture" data-key="{VIEWS[page]}" data-mode="{mode}">'
        f'<aside><img src="data:image/svg+xml;base64,{logo}" alt="rnnviz"><nav>{links}</nav></aside>'
        f"<main>{heading}<noscript><p>{without_script}</p></noscript></main>"
        f'<script type="text/plain">{data}</script></div>'
    )


@cache
def _style() -> str:
    """The frame's style: Streamlit's measures (1.67), and the colours and fonts of the app's settings."""
    colours = "".join(
        f'html[data-first="{theme}"] {{ {_variables(theme)} }}\n' for theme in ("light", "dark")
    )
    return _fonts() + colours + Path(__file__).with_suffix(".css").read_text("utf-8")


@cache
def _fonts() -> str:
    from rnnviz.page.build import font_css

    return font_css(lambda file: f"./static/media/{file.name}")


_VARIABLES = {
    "background-color": "backgroundColor",
    "secondary-background-color": "secondaryBackgroundColor",
    "text-color": "textColor",
    "border-color": "borderColor",
    "primary-color": "primaryColor",
    "link-color": "linkColor",
}


def _variables(theme: str) -> str:
    values = {name: st.get_option(f"theme.{theme}.{option}") for name, option in _VARIABLES.items()}
    values["sidebar-color"] = st.get_option(f"theme.{theme}.sidebar.backgroundColor")
    return " ".join(f"--first-{name}: {value};" for name, value in values.items())
