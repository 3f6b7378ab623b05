"""What the servers of pages in one file share: the reader's language, and a page's headers."""

import base64
import hashlib
import re
from functools import cache

from starlette.requests import HTTPConnection

from rnnviz import sentences


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


@cache
def headers(**inline: str) -> dict[str, str]:
    """The headers of a page in one file. Its policy allows the `inline` style and script by their hashes,
    and requests to, and frames from, its own origin alone.
    """
    allowed = "".join(
        f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'; "
        for kind, text in inline.items()
    )
    return {
        "Content-Security-Policy": (
            f"default-src 'none'; {allowed}img-src data:; connect-src 'self'; frame-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
