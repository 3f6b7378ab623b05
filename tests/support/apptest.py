"""What tests of several pages do with the app in AppTest."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from rnnviz.networks import checkpoint
from rnnviz.page.payload import unpack
from rnnviz.ui.shell import address

Open = Callable[..., AppTest]
SHIPPED = checkpoint.folders()[-1]
SCRIPT = Path(__file__).resolve().parents[2] / "rnnviz" / "ui" / "script" / "main.py"


def open_page(page: str, *, locale: str = "en-GB", **query: str) -> AppTest:
    """The app as somebody finds it who comes to a page, with a browser's locale and query parameters."""
    app = AppTest.from_file(SCRIPT, default_timeout=120)
    app.context = {"locale": locale}
    app.query_params.update(query)
    app._page_hash = calc_hash(page)  # switch_page knows files only, and our pages are functions
    return app.run()


def visit_address(app: AppTest, *, back: bool = False, **query: str) -> AppTest:
    """Come to an address in the same session; `back`: by the browser's Back."""
    app.query_params.clear()
    app.query_params.update(query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(address, "is_history_navigation", lambda: back)
        return app.run()


def run_until_settled(app: AppTest, page: str) -> AppTest:
    """Run until nothing is at work any more on a page."""
    for _ in range(50):
        jobs = app.session_state[f"{page}.jobs"] if f"{page}.jobs" in app.session_state else None  # noqa: SIM401
        busy = [job.key for job in jobs.busy()] if jobs else []
        if not busy:
            return app.run()
        assert jobs.wait(busy[:1], 60)
        app.run()
    raise AssertionError("the page never came to rest")


def components(app: AppTest) -> list[Any]:
    """What is on the page of our own, but for what every page has: the address."""
    return [
        component
        for component in app.get("bidi_component")
        if component.proto.component_name != "rnnviz.address"
    ]


def address_fields(app: AppTest) -> dict[str, str | None]:
    """What the page says belongs in its address."""
    (component,) = [
        component
        for component in app.get("bidi_component")
        if component.proto.component_name == "rnnviz.address"
    ]
    fields: dict[str, str | None] = unpack(component.proto.bytes)[0]["fields"]
    return fields


def component_data(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the first component on the page was given."""
    component, *_rest = components(app)
    return unpack(component.proto.bytes)


def switch_page(app: AppTest, page: str) -> AppTest:
    """Go to another page in the same session, as by a click in the sidebar: the address begins anew."""
    app._page_hash = calc_hash(page)
    app.query_params.clear()
    return app.run()


def page_words(app: AppTest) -> str:
    """All words on the page, to say what must not be among them."""
    parts = []
    for kind in ("title", "header", "subheader", "markdown", "caption", "error", "warning", "info", "code"):
        parts += [str(element.value) for element in app.get(kind)]
    return "\n".join(parts)


def open_card(app: AppTest) -> None:
    """Open "About this model" in the sidebar, whose words come only then."""
    app.session_state["about"] = True
    app.run()


def url_letters(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def warning_text(app: AppTest) -> str:
    """The one warning on the page, without Markdown's escapes; "" without any."""
    return " ".join(warning.value for warning in app.warning).replace("\\", "")
