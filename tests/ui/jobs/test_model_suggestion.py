"""A text that is foreign to the chosen model: the model that reads it best, and how pages offer it."""

import math
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rnnviz.lab.run.row_meaning import score_rows
from rnnviz.networks import checkpoint
from rnnviz.networks.checkpoint import ModelInfo
from rnnviz.page import shown_units
from rnnviz.page.initial_data import examples, examples_for, opening_text
from rnnviz.scoring.tracer import trace
from rnnviz.ui.jobs import model_suggestion
from rnnviz.ui.jobs.model_suggestion import Suggestion, find_suggestion
from rnnviz.ui.pages.explore import page
from rnnviz.ui.shell.example_text import TEXTS
from tests.support.apptest import SHIPPED, Open, address_fields, component_data, page_words, run_until_settled
from tests.support.perplexity_page import upload

GERMAN = "Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett."


def info(name: str) -> ModelInfo:
    return checkpoint.read_info(SHIPPED / f"{name}.safetensors")


def suggest(name: str, text: str) -> Suggestion:
    shares: list[float] = []
    suggestion = find_suggestion(info(name), text, lambda share: shares.append(share.fraction))
    assert shares == sorted(shares)
    assert shares[-1] < 1
    return suggestion


@pytest.mark.usefixtures("shipped")
def test_best_model_is_offered_if_it_leads_clearly() -> None:
    text = TEXTS["journey"]
    suggestion = suggest("timemachine-gru", text)
    model: Any = checkpoint.load_numpy(info("chinese-gru").path)
    assert suggestion.bits == pytest.approx(float(trace(model, text).nll.mean()) / math.log(2), rel=1e-5)
    assert (suggestion.name, suggestion.own_bits > 20) == ("chinese-gru", True)
    assert suggest("shakespeare-lstm", TEXTS["python-source"]).name == "python-lstm"
    assert suggest("timemachine-gru", GERMAN) == Suggestion(pytest.approx(5.4, abs=0.5))
    assert suggest("python-lstm", TEXTS["python-source"]).name is None


@pytest.mark.usefixtures("shipped")
def test_best_models_of_a_short_beginning_read_on() -> None:
    text = (TEXTS["python-source"] * 3)[: model_suggestion.FIRST_CHARS] + TEXTS["holmes"] * 9
    assert suggest("timemachine-gru", text[: model_suggestion.FIRST_CHARS]).name == "python-lstm"
    assert suggest("timemachine-gru", text[: model_suggestion.READ_CHARS]).name != "python-lstm"


@pytest.mark.usefixtures("shipped")
def test_candidates_are_networks_of_other_corpora() -> None:
    names = {network.path.stem for network in model_suggestion.candidates(info("timemachine-gru"))}
    assert {"chinese-gru", "holmes-lstm", "holmes-mlp", "python-lstm"} <= names
    assert not [name for name in names if name.startswith("timemachine") or name.endswith("gram")]


def ask_page(app: AppTest, **fields: Any) -> dict[str, Any]:
    """The header of the answer to the browser."""
    app.session_state[f"{page.KEY}.ask"] = {"client": "b", "seq": 1, **fields}
    app.run()
    return component_data(app)[0]


@pytest.mark.usefixtures("shipped")
def test_missing_model_is_named(open_app: Open) -> None:
    app = open_app("explore", model="timemachine-gru")
    header = ask_page(app, text="machine", model="../nobody")
    assert "no model called" in app.warning[0].value
    assert header["text"] == "machine"


def test_only_the_newest_search_is_kept(open_app: Open) -> None:
    app = open_app("explore")
    for text in ("matter to us", "usually pale"):
        assert "suggestion" not in ask_page(app, text=text), "a keystroke asks nobody else"
        ask_page(app, text=text, suggest=True)
    assert len(app.session_state["suggestion.jobs"].busy()) <= 1


def test_examples_choose_another_model_only_for_texts_that_this_one_cannot_read() -> None:
    listed = [info(name) for name in ("chinese-gru", "holmes-lstm", "python-lstm", "timemachine-gru")]

    def models_for(name: str) -> list[tuple[str | None, bool]]:
        entries = examples_for(info(name).card, name, listed)
        return [(entry["model"], bool(entry["notice"])) for entry in entries]

    english, code, chinese = (None, True), ("python-lstm", True), ("chinese-gru", True)
    assert models_for("holmes-lstm") == [english] * 3 + [code, chinese]
    assert models_for("timemachine-gru") == [(None, False)] * 3 + [code, chinese]
    assert models_for("python-lstm") == [("holmes-lstm", True)] * 3 + [(None, True), chinese]
    assert [entry["model"] for entry in examples_for({}, "own", [])] == [None] * 5


def test_example_shows_the_named_feature() -> None:
    costs = {}
    for example in examples():
        reading = trace(checkpoint.load_numpy(info(example.model).path), example.text)  # type: ignore[arg-type]
        assert reading.known.mean() > 0.9
        costs[example.name] = (example.text, reading.nll / math.log(2))
    text, bits = costs["A sentence"]
    ngram: Any = checkpoint.load_numpy(info("timemachine-6gram").path)
    ngram_bits = -ngram.score(ngram.vocabulary.encode(text)).mean() / math.log(2)
    assert bits.mean() < ngram_bits, "the network wins"
    first = [i for i, c in enumerate(text) if c.isalpha() and (i == 0 or text[i - 1] == " ")]
    later = [i for i, c in enumerate(text) if c.isalpha() and i not in first]
    assert bits[first].mean() > 2 * bits[later].mean()
    text, bits = costs["A strange sentence"]
    assert bits[text.index("qu") + 1] < 0.1
    assert bits.mean() > 6  # as much as a uniform guess
    _text, bits = costs["One word"]
    assert bits[5] < 0.1
    assert bits[:3].min() > bits[4:].max()
    text, bits = costs["Chinese"]
    assert bits[text.index("徒")] < 2
    assert bits[text.index("字")] < 0.5
    assert bits[text.index("师")] > 4
    assert bits[text.index("三")] > 4


def test_program_shows_what_each_named_row_means() -> None:
    """In the example and in the text on which the network opens, of a few lines each."""
    network: Any = checkpoint.load_numpy(info("python-lstm").path)
    rows = [finding for row in shown_units.named_units(network) for finding in row.findings]
    assert {"py-string", "py-comment", "py-bracket-depth"} <= {row.target for row in rows}
    (example,) = (example.text for example in examples() if example.model == network.name)
    for text in (example, opening_text(network)):
        assert all(score and score > 0.7 for score in score_rows(network, rows, text))


@pytest.mark.usefixtures("shipped")
def test_perplexity_page_offers_the_best_model(open_app: Open) -> None:
    app = upload(open_app("perplexity", model="timemachine-gru"), ("a.txt", TEXTS["journey"]))
    app = run_until_settled(app, "suggestion")
    button = app.button(key="perplexity.suggestion")
    assert button.label.replace("\\", "") == "Use Journey to the West (Chinese), GRU?"
    assert "hasn't learnt this kind of text" in page_words(app)
    (offer,) = [
        item.value for item in app.markdown if "predicts the beginning of this text best" in item.value
    ]
    assert re.search(r"best: perplexity \d+\.\d\d, not \d+\.\d million\.", offer), "as the answer says it"
    button.click().run()
    assert app.sidebar.selectbox(key="model").value == "chinese-gru"
    assert address_fields(app)["model"] == "chinese-gru"
    app = run_until_settled(app, "perplexity")
    assert "perplexity.suggestion" not in [button.key for button in app.button]
