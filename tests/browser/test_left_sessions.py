"""What a reader who has left leaves behind: nothing, after a while."""

import os
from pathlib import Path

import requests
from playwright.sync_api import Browser, Page, expect

from tests.browser.driving import ROOT, serve
from tests.browser.test_perplexity import open_page, scored
from tests.training.processes import until


def uploaded(url: str) -> float:
    """Bytes of uploaded files that Streamlit holds."""
    with requests.Session() as asker:
        asker.trust_env = False
        metrics = asker.get(f"{url}/_stcore/metrics?families=cache_memory_bytes", timeout=30).text
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if "UploadedFileManager" in line)


def upload(page: Page, url: str, name: str) -> int:
    """Score a file on the Perplexity page; returns its bytes."""
    data = f"{name}: the time machine. ".encode() * 50
    open_page(page, url)
    scored(page, f"{name}.txt", data)
    return len(data)


def test_uploads_go_with_their_session_although_another_stays(browser: Browser, models_folder: Path) -> None:
    with serve(
        ROOT / "app.py",
        environment={**os.environ, "RNNVIZ_MODELS": str(models_folder)},
        options=("--server.address", "127.0.0.1", "--server.disconnectedSessionTTL", "4"),
    ) as url:
        stays, leaves = browser.new_page(), browser.new_page()
        kept, gone = upload(stays, url, "theirs"), upload(leaves, url, "mine")
        assert uploaded(url) == kept + gone
        leaves.close()
        until(lambda: uploaded(url) == kept)
        expect(stays.get_by_text("Perplexity of theirs")).to_be_visible()
        stays.close()
        until(lambda: uploaded(url) == 0)
