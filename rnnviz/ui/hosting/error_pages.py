"""The middleware's own pages: no place is free, the key is wrong. Each is one file and loads no other."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from rnnviz import i18n, sentences
from rnnviz.i18n import N_

if TYPE_CHECKING:
    from jinja2 import Template

HERE = Path(__file__).parent

MODEL = "timemachine-gru"
"""The model whose page a visitor without a place can use."""

LOOKS_AGAIN = (15, 25)
"""Seconds until a page asks for a place again, at random between these: browsers don't come all at once."""

WORDS = {
    "full": (
        N_("Every place is taken"),
        N_("Visitors' places: {count}. As soon as one is free, the app opens here by itself."),
        N_("Until then, try the live view of one network. It runs in your browser alone and needs no place."),
        N_("Open the live view"),
    ),
    "wrong": (
        N_("This is not the lecturer's key"),
        N_("The key is in the address that was printed when the app was started."),
        N_("Everybody else opens the app without a key."),
        N_("Open the app"),
    ),
}
"""A page's title, its sentences, and its link's label."""

STATUS = {"full": 503, "wrong": 403}


def full(request: HTTPConnection, count: int) -> Response:
    """The answer while no place is free: 503, with a link to a model's page, which needs none."""
    again = random.randint(*LOOKS_AGAIN)
    link = f"{_up(request)}page/{quote(MODEL)}.html?lang={language(request)}"
    return _page(request, "full", link, again, count=str(count))


def wrong(request: HTTPConnection, link: str) -> Response:
    """The answer to a wrong key: 403, with a link to the same page without the key."""
    return _page(request, "wrong", link)


def language(request: HTTPConnection) -> str:
    """The language of sentences.LANGUAGES that the address asks for with `lang`; else the browser's first."""
    asked = request.query_params.get("lang")
    return sentences.match(asked) if asked else preferred(request.headers.get("accept-language", ""))


def preferred(header: str) -> str:
    """The first language of an Accept-Language header that the app has, else the default. Quality values are
    not read: browsers write the preferred language first.

    >>> preferred("fr, zh-CN;q=0.9, en;q=0.8"), preferred("zh_TW"), preferred("de"), preferred(";q=x")
    ('zh', 'zh', 'en', 'en')
    """
    names = (re.split("[-_;]", part.strip())[0].lower() for part in header[:1000].split(","))
    return next((name for name in names if name in sentences.LANGUAGES), sentences.DEFAULT)


def _up(request: HTTPConnection) -> str:
    """The relative path from a page's address to the app's root, which a proxy may serve under any path."""
    return "../" * request.scope["path"].lstrip("/").count("/") or "./"


def _page(request: HTTPConnection, name: str, link: str, again: int = 0, **values: str) -> Response:
    spoken = language(request)
    say = i18n.translations(spoken).gettext
    title, *said, called = (say(word).format_map(values) for word in WORDS[name])
    page = _template().render(
        language=spoken, title=title, said=said, link=link, called=called, again=again, style=_style()
    )
    wait = {"Retry-After": str(again)} if again else {}
    return HTMLResponse(page, STATUS[name], {**headers(style=_style()), **wait})


@cache
def _template() -> Template:
    from jinja2 import Environment  # here, as it takes 40 ms and only a refused request needs it

    return Environment(autoescape=True).from_string((HERE / "error_pages.html").read_text("utf-8"))


@cache
def _style() -> str:
    return (HERE / "error_pages.css").read_text("utf-8")


@cache
def headers(**inline: str) -> dict[str, str]:
    """The headers of a page in one file. Its policy allows the `inline` style and script by their hashes, and
    requests to its own origin alone.
    """
    allowed = "".join(
        f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'; "
        for kind, text in inline.items()
    )
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; {allowed}img-src data:; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
