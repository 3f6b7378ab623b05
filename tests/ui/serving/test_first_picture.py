"""The app's first answer to a browser: what it holds, and what it depends on."""

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

import rnnviz
from rnnviz.lecture.scenes import scenes
from rnnviz.page.payload import unpack
from rnnviz.page.responses import PackedFile
from rnnviz.ui.browser import view_socket
from rnnviz.ui.serving import entry, first_picture
from rnnviz.ui.serving.first_picture import first_answer

MAX_BYTES = 30_000  # as sent, with the picture's data


@pytest.fixture(autouse=True)
def _no_network_kept() -> Iterator[None]:
    """A test may have other networks than the one before."""
    yield
    first_picture._network_session.cache_clear()
    st.cache_resource.clear()


def html(file: PackedFile) -> str:
    return gzip.decompress(file.data).decode()


def answer(file: PackedFile) -> bytes:
    """The answer that the layer's view draws."""
    packed = re.search(r'<script type="text/plain">([^<]+)</script></div>', html(file))
    assert packed, "there is no picture"
    return gzip.decompress(base64.b64decode(packed[1]))


def picture(file: PackedFile) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of the live view's answer."""
    return unpack(answer(file))


def has_picture(file: PackedFile) -> bool:
    return '<script type="text/plain"></script>' not in html(file)


def test_index_of_streamlit_has_known_shape() -> None:
    assert st.__version__.startswith("1.67."), "look at the frame's measures, and where the theme is kept"
    index = first_picture.streamlit_index()
    assert [len(re.findall(mark, index)) for mark in first_picture.MARKS] == [1, 1, 1, 1]
    assert len(re.findall(first_picture.PRELOAD, index)) == index.count("modulepreload") > 50
    assert '<div id="root"></div>' in index


def test_unknown_index_is_served_plain(
    only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = "<html><head></head><body class='app'><div id='root'></div></body></html>"
    monkeypatch.setattr(first_picture, "streamlit_index", lambda: other)
    plain = first_answer("explore", "en", {})
    assert (html(plain), plain.kind) == (other, "text/html")
    assert "another shape" in caplog.text
    train = html(first_answer("train", "en", {}))
    assert train == other.replace("<head>", f"<head>{first_picture.SERVER_ADDRESS_SCRIPT}")


def test_picture_is_what_network_reads(only_tiny_models: Path) -> None:
    header, arrays = picture(first_answer("explore", "en", {"model": "tiny-lstm"}))
    model = rnnviz.load(only_tiny_models / "tiny-lstm.safetensors")
    trace = rnnviz.trace(model, header["text"])
    assert header["fixed"]["model"] == "tiny-lstm"
    np.testing.assert_allclose(arrays["nll"], trace.nll, atol=2e-4)
    ids, chances = trace.top_at(len(trace), len(trace) + 1, header["fixed"]["listedNext"])
    np.testing.assert_array_equal(arrays["next"][-1], ids[0])
    np.testing.assert_allclose(arrays["chances"][-1], chances[0], atol=1e-6)
    shown = {header["fixed"]["symbols"][n - 1] for n in arrays["next"].ravel() if n}
    assert "" not in shown


def test_address_has_first_word(only_tiny_models: Path) -> None:
    query = {"model": "tiny-gru", "text": "machine", "at": "3", "quantity": "update", "order": "index"}
    header, _ = picture(first_answer("explore", "en", query))
    assert (header["text"], header["arrival"]["caret"], header["quantity"]) == ("machine", 3, "update")
    assert header["opening"] != "machine"
    damaged, _ = picture(first_answer("explore", "en", {"model": "tiny-gru", "text": "eJzLTUzOyMxLBQ"}))
    assert damaged["text"] == damaged["opening"]
    assert "damaged" in damaged["arrival"]["wrong"]


@pytest.mark.parametrize("model", ["nobody", "tiny-3gram", "../tiny-gru"])
def test_network_that_is_not_there_has_no_picture(only_tiny_models: Path, model: str) -> None:
    file = first_answer("explore", "en", {"model": model})
    assert not has_picture(file)
    assert 'id="first-picture"' in html(file)


def test_broken_network_leaves_frame(only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_query: object) -> str:
        raise ValueError("a bug")

    monkeypatch.setattr(first_picture, "_picture", fail)
    assert not has_picture(first_answer("explore", "en", {}))


def test_answer_is_same_after_somebody_typed(only_tiny_models: Path) -> None:
    query = {"model": "tiny-gru"}
    header, before = picture(first_answer("explore", "en", query))
    ask = {"text": "a secret", "base": header["revision"], "digest": header["digest"]}
    with TestClient(Starlette(routes=view_socket.routes())).websocket_connect(
        view_socket.ADDRESS, [header["session"]]
    ) as socket:
        socket.send_json(ask)
        answered, arrays = unpack(socket.receive_bytes())
        assert (answered["length"], len(arrays["ids"])) == (8, 8)
    header_after, after = picture(first_answer("explore", "en", query))
    assert "secret" not in str(header_after)
    assert header_after.keys() == header.keys()
    assert (header_after["revision"], header_after["text"]) == (header["revision"], header["text"])
    for name, array in before.items():  # read in other steps, which round otherwise
        np.testing.assert_allclose(after[name], array, atol=2e-4)


def test_lecture_has_step_of_address_and_nothing_of_session() -> None:
    query = {"step": "softmax", "code": "1", "present": "1", "lang": "zh"}
    shown = json.loads(answer(first_answer("learn", "zh", query)))
    assert (shown["scene"], shown["note"]["title"], shown["language"]) == (5, "每一步都有损失", "zh")
    assert shown["query"] == {"step": "softmax", "present": "1", "code": "1"}
    assert shown["data"]["picture"]
    assert shown["room"] == {"door": None}
    assert "session" not in shown
    unknown = json.loads(answer(first_answer("learn", "en", {"step": "nobody"})))
    assert (unknown["scene"], unknown["step"]) == (1, 0)


def test_languages_come_from_address_or_browser(only_tiny_models: Path) -> None:
    browser = TestClient(Starlette(routes=entry.app_parts()["routes"]), base_url="http://localhost")
    chinese = {"Accept-Language": "zh-CN,zh;q=0.9"}
    for address, headers, word in (
        ("/perplexity", {}, "Perplexity of your texts"),
        ("/perplexity", chinese, "你的文本的困惑度"),
        ("/train?lang=zh", {}, "训练"),
        ("/inside?lang=en", chinese, "Inside the network"),
        ("/learn", {}, "This page needs JavaScript."),
    ):
        answer = browser.get(address, headers=headers)
        assert word in answer.text
        assert answer.headers["cache-control"] == "no-cache"
        assert "Accept-Language" in answer.headers["vary"]
        current = re.findall(r'<a href="([^"]+)" aria-current=page>', answer.text)
        assert current == [f".{address.partition('?')[0]}"]
        again = browser.get(address, headers=headers | {"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304
    assert browser.get("/?lang=zh").text.count('lang="zh"') == 1


def test_streamlits_scripts_wait_for_picture(only_tiny_models: Path) -> None:
    """The browser begins with them once the picture is painted; then with all, those of the elements too."""
    document = html(first_answer("explore", "en", {}))
    before, _, after = document.partition("<template>")
    assert "/static/js/" not in before
    assert before.index("SourceCodeVF") < before.index("<style>")
    later, _, start = after.partition("</template>")
    scripts = re.findall(r'href="(\./static/js/[^"]+)"', later)
    assert re.findall(r'import\("(\./[^"]+)"\)', start) == [
        script for script in scripts if "/index." in script and script == scripts[0]
    ]
    assert len(scripts) == len(set(scripts))
    names = {script.rpartition("/")[2].partition(".")[0] for script in scripts}
    assert {"react-dom", "protobuf", *first_picture.ELEMENTS} <= names
    assert "favicon.png" not in document


STEPS = [{"step": step.name} for scene in scenes() for step in scene.steps]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("page", "queries"), [("explore", [{}]), ("learn", STEPS)])
def test_shipped_answer_is_small(page: str, queries: list[dict[str, str]], language: str) -> None:
    for query in queries:
        file = first_answer(page, language, query)
        assert has_picture(file), query
        assert len(file.data) <= MAX_BYTES, query
