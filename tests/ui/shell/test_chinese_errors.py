"""With Chinese chosen, what a reader does wrong is said in Chinese, whichever room says it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from rnnviz import i18n
from rnnviz.errors import ConfigError
from rnnviz.lab.fit import estimate
from rnnviz.lab.run import event_log
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.process import explained
from rnnviz.networks.checkpoint import save
from rnnviz.networks.config import TrainConfig
from rnnviz.page.payload import unpack
from tests.support.apptest import Open, components, settled
from tests.support.made_runs import made
from tests.support.models import tiny, tiny_card

pytestmark = pytest.mark.usefixtures("troubled")


@pytest.fixture(autouse=True)
def _widgets_read_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest asks a choice for its words outside of the session, where no language was chosen."""
    monkeypatch.setattr(i18n, "language", lambda: "zh")


def chinese(app: AppTest, *parts: str, foreign: str = "") -> None:
    """The page's errors and warnings are Chinese: no English clause but `foreign`, another program's."""
    shown = [str(e.value).replace("\\", "") for kind in ("error", "warning") for e in app.get(kind)]
    assert shown
    for sentence in shown:
        assert re.search("[\u4e00-\u9fff]", sentence), sentence
        assert not re.search(r"(?:\b[a-z]+\b[ ,;]+){3}", sentence.replace(foreign, "")), sentence
    for part in parts:
        assert any(part in sentence for sentence in shown), (part, shown)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.txt", b"", "没有字符"),
        ("nul.txt", b"machine\0\0\0" * 30, "NUL"),
        ("cut.txt", "Grüße und Ärger ".encode() * 40 + b"\xc3", "utf-8"),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
    ],
)
def test_a_file_without_a_perplexity(open_app: Open, name: str, data: bytes, said: str) -> None:
    app = open_app("perplexity", locale="zh-CN")
    app.file_uploader[0].upload(name, data).run()
    jobs = app.session_state["perplexity.jobs"]
    jobs.wait([job.key for job in jobs.busy()], 60)
    chinese(app.run(), name, said)


def test_a_pattern_that_is_none(open_app: Open) -> None:
    app = open_app("inside", model="tiny-gru", locale="zh-CN")
    app.selectbox(key="inside.target").set_value("pattern").run()
    app.text_input(key="inside.pattern").set_value("(").run()
    chinese(settled(app, "inside"), "正则表达式", foreign="unterminated subpattern at position")


def test_a_model_that_is_damaged(open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    broken = tiny("gru", card=tiny_card())
    broken.readout.bias[0] = torch.nan
    path = save(broken, tmp_path / "tiny-broken.safetensors")
    (tmp_path / "tiny-cut.safetensors").write_bytes(path.read_bytes()[:99])
    app = open_app("explore", model="tiny-broken", locale="zh-CN")
    chinese(app, "非有限")
    assert "不完整；请重新复制或下载" in next(c.value for c in app.sidebar.caption if "tiny" in c.value)


def stage(app: AppTest) -> str:
    """How far the run is, as the training view says it."""
    (component,) = components(app)
    return str(unpack(component.proto.bytes)[0]["line"])


@pytest.mark.usefixtures("started")
def test_settings_and_memory_that_refuse_a_run(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("train", locale="zh-CN")
    app.selectbox(key="train-text").set_value("python-docs").run()
    app.button_group(key="train-more").set_value("settings").run()
    app.text_input(key="set-name").set_value("../evil").run()
    next(b for b in app.button if b.key == "train-start").click().run()
    chinese(app, "../evil")
    monkeypatch.setattr(estimate, "available_memory", lambda: 1_000_000)
    chinese(open_app("train", locale="zh-CN"), "1 MB")


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize(
    ("fails", "words"),
    [
        (lambda: TrainConfig(hidden_size=0), "hidden_size 是从"),
        (lambda: Path("/").write_text("", "utf-8"), "系统拒绝了操作"),
    ],
)
def test_a_run_that_failed(open_app: Open, fails: Callable[[], object], words: str) -> None:
    with pytest.raises((ConfigError, OSError)) as caught:
        fails()
    _cause, said = explained(caught.value)
    folder = RunFolder(made("one", None))
    event_log.append(folder.events, {"event": "failed", "reason": str(said), "error": said.to_json()})
    line = stage(open_app("train", locale="zh-CN"))
    assert str(said) not in line
    assert words in line


@pytest.mark.usefixtures("started")
def test_a_run_of_0_1_0_keeps_the_sentence_it_wrote(open_app: Open) -> None:
    made("one", "failed")
    folder = RunFolder(made("two", None))
    event_log.append(folder.events, {"event": "failed", "reason": "it {broke} here"})
    assert "it {broke} here" in stage(open_app("train", run="two", locale="zh-CN"))
