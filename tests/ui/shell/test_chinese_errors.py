"""With Chinese chosen, what a reader does wrong is said in Chinese, whichever room says it."""

from pathlib import Path

import numpy as np
import pytest

from rnnviz import i18n
from rnnviz.networks.checkpoint import save
from tests.support.apptest import Open, run_until_settled
from tests.support.catalogue import assert_chinese
from tests.support.models import tiny, tiny_card, with_tensors

pytestmark = pytest.mark.usefixtures("troubled")


@pytest.fixture(autouse=True)
def _widgets_read_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest asks a choice for its words outside of the session, where no language was chosen."""
    monkeypatch.setattr(i18n, "language", lambda: "zh")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty.txt", b"", "没有字符"),
        ("nul.txt", b"machine\0\0\0" * 30, "NUL"),
        ("cut.txt", "Grüße und Ärger ".encode() * 40 + b"\xc3", "utf-8"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
    ],
)
def test_unscorable_file_is_refused_in_chinese(open_app: Open, name: str, data: bytes, words: str) -> None:
    app = open_app("perplexity", locale="zh-CN")
    app.file_uploader[0].upload(name, data).run()
    assert_chinese(run_until_settled(app, "perplexity"), name, words)


def test_damaged_model_is_reported_in_chinese(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    broken = with_tensors(tiny("gru", card=tiny_card()), readout_bias=np.nan)
    path = save(broken, tmp_path / "tiny-broken.safetensors")
    (tmp_path / "tiny-cut.safetensors").write_bytes(path.read_bytes()[:99])
    app = open_app("explore", model="tiny-broken", locale="zh-CN")
    assert_chinese(app, "非有限")
    assert "不完整；请重新复制或下载" in next(c.value for c in app.sidebar.caption if "tiny" in c.value)
