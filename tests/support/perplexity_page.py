"""What tests do with the page Perplexity in AppTest."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from rnnviz.networks.checkpoint import load
from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.score import Score
from tests.support.apptest import run_until_settled


def upload(app: AppTest, *files: tuple[str, bytes | str]) -> AppTest:
    """Drop files, by their names and in this order, and wait for their figures."""
    for name, data in files:
        app.file_uploader[0].upload(name, data if isinstance(data, bytes) else data.encode())
    return run_until_settled(app.run(), "perplexity")


def open_section(app: AppTest, name: str) -> AppTest:
    app.session_state["section"] = name
    app.run()
    return run_until_settled(app, "perplexity")


def expected_score(models_folder: Path, text: str, model: str = "tiny-gru") -> Score:
    return perplexity(load(models_folder / f"{model}.safetensors"), text=text)


def paste(app: AppTest, text: str) -> AppTest:
    app.text_area(key="pasted").set_value(text)
    next(b for b in app.button if b.label == "Score this text").click().run()
    return run_until_settled(app, "perplexity")
