"""With Chinese chosen, what a reader of the lab's pages does wrong is said in Chinese."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz import i18n
from rnnviz.errors import ConfigError
from rnnviz.lab.fit import estimate
from rnnviz.lab.run import event_log
from rnnviz.lab.run.folder import RunFolder
from rnnviz.lab.run.process import explain_failure
from rnnviz.networks.config import TrainConfig
from rnnviz.page.payload import unpack
from tests.support.apptest import Open, components, run_until_settled
from tests.support.catalogue import assert_chinese
from tests.support.made_runs import make_run


def test_a_pattern_that_is_none(open_app: Open) -> None:
    app = open_app("inside", model="tiny-gru", locale="zh-CN")
    app.selectbox(key="inside.target").set_value("pattern").run()
    app.text_input(key="inside.pattern").set_value("(").run()
    assert_chinese(
        run_until_settled(app, "inside"), "正则表达式", foreign="unterminated subpattern at position"
    )


pytestmark = pytest.mark.usefixtures("troubled")


@pytest.fixture(autouse=True)
def _widgets_read_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest asks a choice for its words outside of the session, where no language was chosen."""
    monkeypatch.setattr(i18n, "language", lambda: "zh")


def stage_of(app: AppTest) -> str:
    """How far the run is, as the training view says it."""
    (component,) = components(app)
    return str(unpack(component.proto.bytes)[0]["progressLine"])


@pytest.mark.usefixtures("started")
def test_settings_and_memory_that_refuse_a_run(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("train", locale="zh-CN")
    app.selectbox(key="train-text").set_value("python-docs").run()
    app.button_group(key="train-more").set_value("settings").run()
    app.text_input(key="set-name").set_value("../evil").run()
    next(b for b in app.button if b.key == "train-start").click().run()
    assert_chinese(app, "../evil")
    monkeypatch.setattr(estimate, "available_memory", lambda: 1_000_000)
    assert_chinese(open_app("train", locale="zh-CN"), "1 MB")


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
    _cause, said = explain_failure(caught.value)
    folder = RunFolder(make_run("one", None))
    event_log.append(folder.events, {"event": "failed", "reason": str(said), "error": said.to_json()})
    line = stage_of(open_app("train", locale="zh-CN"))
    assert str(said) not in line
    assert words in line


@pytest.mark.usefixtures("started")
def test_a_run_of_0_1_0_keeps_the_sentence_it_wrote(open_app: Open) -> None:
    make_run("one", "failed")
    folder = RunFolder(make_run("two", None))
    event_log.append(folder.events, {"event": "failed", "reason": "it {broke} here"})
    assert "it {broke} here" in stage_of(open_app("train", run="two", locale="zh-CN"))
