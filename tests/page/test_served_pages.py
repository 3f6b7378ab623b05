"""Networks' pages as the app serves them."""

import asyncio
import threading
from pathlib import Path

import httpx2
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.page import CELLS, serving
from rnnviz.page.responses import CHUNK_BYTES, PackedFile, pack_file
from rnnviz.sentences import LANGUAGES
from rnnviz.ui.serving import entry


@pytest.fixture
def info(only_tiny_models: Path) -> ModelInfo:
    return checkpoint.read_info(only_tiny_models / "tiny-gru.safetensors")


def test_page_is_served_compressed_and_cached(info: ModelInfo) -> None:
    with TestClient(Starlette(routes=[*serving.routes()])) as browser:
        response = browser.get(serving.page_address("tiny-gru", "gru"))
        assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip")
        assert "<title>tiny-gru · rnnviz</title>" in response.text
        cached_headers = {"If-None-Match": response.headers["etag"]}
        assert browser.get(serving.page_address("tiny-gru", "gru"), headers=cached_headers).status_code == 304
        assert browser.get("/page/tiny-gru.html?lang=zh", headers=cached_headers).status_code == 200
        plain = browser.get(serving.page_address("tiny-gru", "gru"), headers={"Accept-Encoding": "identity"})
        assert (plain.text, "content-encoding" in plain.headers) == (response.text, False)
        assert int(plain.headers["content-length"]) == len(plain.content) > CHUNK_BYTES
        typed = browser.get("/page/tiny-gru.html", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
        assert '<html lang="zh">' in typed.text
        assert "Accept-Language" in typed.headers["vary"]
        for none in ("nobody", "tiny-3gram", "..%2Fapp"):
            assert browser.get(f"/page/{none}.html").status_code == 404


def test_cache_holds_shipped_pages_in_all_languages() -> None:
    shipped = checkpoint.folders()[-1]
    shipped_networks = [
        network
        for network in checkpoint.available()[0]
        if network.kind in CELLS and network.path.parent == shipped
    ]
    assert 0 < len(shipped_networks) * len(LANGUAGES) <= serving.MAX_CACHED_PAGES


def test_failed_page_hides_folder(
    info: ModelInfo, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_arguments: object) -> PackedFile:
        raise FileNotFoundError(2, "No such file", str(info.path))

    monkeypatch.setattr(serving, "network_page", fail)
    with TestClient(Starlette(routes=[*serving.routes()])) as browser:
        response = browser.get(serving.page_address("tiny-gru", "gru"))
    assert response.status_code == 404
    assert str(info.path.parent) not in response.text
    assert str(info.path) in caplog.text


def test_waiting_requests_take_no_threads(info: ModelInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    file, at_work, most_at_work = pack_file(b"", "a.html"), 0, 0

    def build_slowly(*_arguments: object) -> PackedFile:
        nonlocal at_work, most_at_work
        at_work += 1
        most_at_work = max(most_at_work, at_work)
        threading.Event().wait(0.02)
        at_work -= 1
        return file

    async def request_statuses() -> list[int]:
        app = Starlette(routes=[*serving.routes()])
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://here") as browser:
            responses = await asyncio.gather(
                *(browser.get(serving.page_address("tiny-gru", "gru")) for _ in range(5))
            )
            return [response.status_code for response in responses]

    monkeypatch.setattr(serving, "network_page", build_slowly)
    assert asyncio.run(request_statuses()) == [200] * 5
    assert most_at_work == 1


@pytest.mark.parametrize("base", ["", "foo", "/foo/bar/"])
def test_page_below_base_path_names_server(monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    """Else Streamlit asks below the page's own address, and a console shows two 404s."""
    option = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: base if name == "server.baseUrlPath" else option(name))
    below = f"/{base.strip('/')}".rstrip("/")
    with TestClient(Starlette(routes=entry.app_parts(watched=False)["routes"])) as browser:
        for page in entry.PAGE_NAMES[1:]:
            assert "BACKEND_BASE_URL" in browser.get(f"{below}/{page}").text
        moved = browser.get(f"{below}/Learn?step=book", follow_redirects=False)
        assert (moved.status_code, moved.headers["location"]) == (307, "./learn?step=book")
        first = browser.get(f"{below}/EXPLORE", follow_redirects=False)
        assert (first.status_code, first.headers["location"]) == (307, "./")
