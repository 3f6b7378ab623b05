"""Streamlit's scripts and style sheets, as the app sends them."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit import file_util

from rnnviz.ui.serving.streamlit_files import CompressedFilesMiddleware

STATIC = Path(file_util.get_static_dir())


@pytest.fixture
def browser() -> TestClient:
    """A browser at an app that says what came through the middleware."""
    elsewhere = Route("/{path:path}", lambda request: PlainTextResponse("elsewhere"), methods=["GET", "POST"])
    middleware = [Middleware(CompressedFilesMiddleware, base="/hall")]
    return TestClient(Starlette(routes=[elsewhere], middleware=middleware))


def test_scripts_and_styles_are_sent_compressed_for_good(browser: TestClient) -> None:
    for kind, named in (("js", "javascript"), ("css", "text/css")):
        path = max(STATIC.glob(f"static/{kind}/index.*.{kind}"), key=lambda file: file.stat().st_size)
        address = f"/hall/static/{kind}/{path.name}"
        answer = browser.get(address)
        assert answer.content == path.read_bytes()
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) < path.stat().st_size / 2
        assert "immutable" in answer.headers["cache-control"]
        assert named in answer.headers["content-type"]
        assert browser.get(address, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        assert browser.get(address, headers={"Accept-Encoding": "identity"}).content == path.read_bytes()


def test_other_addresses_go_on_to_app(browser: TestClient) -> None:
    script = next(STATIC.glob("static/js/index.*.js")).name
    font = next(STATIC.glob("static/media/*.woff2")).name
    for address in (
        f"/static/js/{script}",
        f"/hall/static/media/{font}",
        "/hall/static/js/../index.html",
        "/hall",
    ):
        assert browser.get(address).text == "elsewhere"
    assert browser.post(f"/hall/static/js/{script}").text == "elsewhere"
