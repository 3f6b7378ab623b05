"""What a page was asked for and hasn't got is named, and so is what it shows instead."""

import shutil
from pathlib import Path

import pytest

from rnnviz.ui.shell import model_cache
from tests.support.apptest import Open, warning_text


@pytest.fixture
def models(
    tmp_path: Path, models_folder: Path, only_tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The tiny models in a folder where they may be removed."""
    folder = tmp_path / "models"
    shutil.copytree(models_folder, folder)
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [folder])
    return folder


def test_unknown_model_is_named_until_next_choice(open_app: Open) -> None:
    app = open_app("explore", model="<nobody>")
    assert "no model called **<nobody>** here" in warning_text(app)
    assert "This is **tiny-gru**" in warning_text(app)
    assert not warning_text(app.sidebar.selectbox(key="model").select("tiny-lstm").run())


def test_ngram_model_on_explore_is_named(open_app: Open) -> None:
    assert "**tiny-3gram** counts n-grams" in warning_text(open_app("explore", model="tiny-3gram"))
    assert not warning_text(open_app("perplexity", model="tiny-3gram"))


@pytest.mark.parametrize("page", ["explore", "perplexity"])
def test_missing_or_broken_model_file_is_named(open_app: Open, models: Path, page: str) -> None:
    app = open_app(page, model="tiny-lstm")
    assert not warning_text(app)
    file = models / "tiny-lstm.safetensors"
    whole = file.read_bytes()
    file.unlink()
    app.run()
    assert "no model called **tiny-lstm** here" in warning_text(app)
    assert app.session_state["model"] == "tiny-gru"
    file.write_bytes(whole)
    assert not warning_text(app.run())
    app.sidebar.selectbox(key="model").select("tiny-lstm").run()
    file.write_bytes(whole[:-5])
    assert "tiny-lstm.safetensors is not a usable rnnviz model" in warning_text(app.run())


@pytest.mark.usefixtures("troubled")
def test_file_removed_before_load_shows_error(
    open_app: Open, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = model_cache.list_models()
    monkeypatch.setattr(model_cache, "list_models", lambda: listed)
    (models / "tiny-lstm.safetensors").unlink()
    app = open_app("explore", model="tiny-lstm")
    assert "The file of the model tiny-lstm is not there any more" in app.error[0].value.replace("\\", "")
    assert app.sidebar.selectbox(key="model").value == "tiny-lstm", "the choice is left"
