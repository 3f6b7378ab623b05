"""Navigation, the sidebar, languages, and what a reader sees when something fails."""

import logging
import math
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from rnnviz import i18n
from rnnviz.errors import CheckpointError, ConfigError
from rnnviz.figures import torch_network
from rnnviz.networks import checkpoint
from rnnviz.page.formatting import titles
from rnnviz.page.initial_data import FIRST_MODELS
from rnnviz.ui.shell import error_messages, model_cache, sidebar
from rnnviz.ui.shell.model_cache import ModelContext
from tests.support.apptest import SHIPPED, Open, address_fields, open_card, page_words
from tests.support.models import tiny, tiny_card


def listed() -> dict[str, checkpoint.ModelInfo]:
    """The models that are there, by name."""
    return {info.name: info for info in model_cache.list_models()[0]}


def test_first_model_is_language_default() -> None:
    def info(name: str, kind: str) -> checkpoint.ModelInfo:
        return checkpoint.ModelInfo(name, Path(f"{name}.safetensors"), kind, {}, 1, 3)

    counts, other = info("a", "ngram"), info("b", "lstm")
    for language, name in FIRST_MODELS.items():
        with i18n.speaking(language):
            usual = info(name, "gru")
            assert model_cache.first_model([counts, other, usual]) is usual
            assert model_cache.first_model([counts, other]) is other
            assert model_cache.first_model([counts]) is counts


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ("Python code, LSTM", "The Time Machine, counts of 6", "The Time Machine, MLP (no memory)")),
        ("zh", ("Python 代码，LSTM", "时间机器，6 元计数", "时间机器，MLP（没有记忆）")),
    ],
)
def test_shipped_models_have_distinct_titles(
    monkeypatch: pytest.MonkeyPatch, language: str, expected: tuple[str, ...]
) -> None:
    models, _damaged = checkpoint.available()
    with i18n.speaking(language):
        titles_by_name = titles(models)
        assert (
            titles_by_name["python-lstm"],
            titles_by_name["timemachine-6gram"],
            titles_by_name["timemachine-mlp"],
        ) == expected
        assert len(set(titles_by_name.values())) == len(models)
        assert not set(titles_by_name) & set(titles_by_name.values())
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [SHIPPED, SHIPPED.parent])
    assert all(name == title for name, title in titles(models).items())  # somebody's own, of the same names


@pytest.mark.usefixtures("shipped")
def test_picker_shows_titles_and_card_name(open_app: Open) -> None:
    app = open_app("perplexity", model="python-lstm")
    assert app.sidebar.selectbox(key="model").value == "python-lstm"
    assert "Python code, LSTM" in app.sidebar.selectbox(key="model").options
    assert address_fields(app)["model"] == "python-lstm"
    words = page_words(app)
    assert r"How well does **Python code\, LSTM** predict" in words
    assert "`python-lstm` · LSTM" in words
    assert "Some of its units" not in words
    open_card(app)
    words = page_words(app)
    assert r"It keeps track of this\: inside a Python string \(AUC 0\.99\)" in words
    app.sidebar.selectbox(key="model").select("timemachine-rnn").run()
    assert address_fields(app)["model"] == "timemachine-rnn"
    assert r"No unit and no direction could be named from 100\,000 characters of holmes\.txt" in page_words(
        app
    )
    app.session_state[i18n.STATE] = "zh"
    app.run()
    assert "时间机器，RNN" in app.sidebar.selectbox(key="model").options


def test_a_replaced_models_name_leads_on(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        checkpoint, "SUCCESSORS", {"older-gru": "tiny-gru", "tiny-lstm": "tiny-gru", "gone": "lost"}
    )
    for asked, chosen in (("older-gru", "tiny-gru"), ("tiny-lstm", "tiny-lstm")):
        app = open_app("explore", model=asked)
        assert app.sidebar.selectbox(key="model").value == address_fields(app)["model"] == chosen
        assert "There is no model called" not in page_words(app)
    assert r"There is no model called **gone** here" in page_words(open_app("explore", model="gone"))


def test_card_shows_baselines_and_ngram_can_score(open_app: Open) -> None:
    app = open_app("perplexity")
    words = "\n".join([*(m.value for m in app.sidebar.markdown), *(c.value for c in app.sidebar.caption)])
    assert r"Tiny \*text\*" in words  # a title is data, not markup
    assert "GRU, 12 hidden units, on CPU" in words
    bars = re.sub(r"<[^>]+>", " ", app.sidebar.get("html")[0].value).split()
    assert " ".join(bars) == "this model 4.33 table of counts 4.36 uniform guess 30"
    assert "hesitates between about 4 characters each time" in words
    assert "python -m rnnviz train" not in page_words(app)
    open_card(app)
    assert "python -m rnnviz train --corpus tiny" in "\n".join(h.value for h in app.sidebar.get("html"))
    assert app.sidebar.selectbox(key="model").options == ["tiny-3gram", "tiny-gru", "tiny-lstm"]
    app.sidebar.selectbox(key="model").select("tiny-3gram").run()
    assert "Counts of 3-grams" in page_words(app)
    assert "tiny-3gram" not in app.title[0].value


def test_about_this_model_gives_its_file_and_a_networks_program(
    open_app: Open, downloads: dict[str, Any], models_folder: Path
) -> None:
    app = open_app("explore", model="tiny-gru")
    assert not downloads, "only once the card is open"
    open_card(app)
    path = models_folder / "tiny-gru.safetensors"
    assert {*downloads} == {"tiny-gru.safetensors", "tiny-gru_torch.py"}
    assert downloads["tiny-gru.safetensors"]() == path.read_bytes()
    text = torch_network.program(checkpoint.load_numpy(path), path.name)
    assert downloads["tiny-gru_torch.py"]() == text.encode()
    assert "Export as PyTorch" in [button.label for button in app.sidebar.get("download_button")]
    downloads.clear()
    open_card(open_app("perplexity", model="tiny-3gram"))
    assert {*downloads} == {"tiny-3gram.safetensors"}, "n-grams have no program"


@pytest.mark.parametrize(
    ("locale", "query", "language"),
    [
        ("zh_TW", {}, "zh"),
        ("zh-CN", {"lang": "en"}, "en"),
        ("zh-CN", {"lang": "../../etc"}, "en"),
    ],
)
def test_language_comes_from_address_or_browser(
    open_app: Open, locale: str, query: dict[str, str], language: str
) -> None:
    app = open_app("perplexity", locale=locale, **query)
    assert app.session_state[i18n.STATE] == language
    assert app.title[0].value == i18n.translations(language).gettext("Perplexity of your texts")


def test_language_switch_changes_page_and_address(open_app: Open) -> None:
    app = open_app("perplexity")
    assert address_fields(app)["lang"] is None
    english = page_words(app)
    app.session_state[i18n.STATE] = "zh"
    app.run()
    assert address_fields(app)["lang"] == "zh"
    assert app.sidebar.selectbox(key="model").value == "tiny-gru"
    chinese = page_words(app)
    for sentence in ("predict your text?", "hesitates between about", "hidden units"):
        assert sentence in english
        assert sentence not in chinese


def test_bars_are_as_long_as_bits_and_escaped() -> None:
    html = sidebar.bars([("<b>", 4.0, "4"), ("uniform", 16.0, "16"), ("odd", math.inf, "&")])
    assert "&lt;b&gt;" in html
    assert "&amp;" in html
    assert re.findall(r"width:([\d.]+)%", html) == ["50.0", "100.0", "0.0"]
    assert "width:100.0%" in sidebar.bars([("alone", 4.0, "4")])


@pytest.mark.parametrize("page", ["explore", "perplexity"])
def test_missing_models_are_explained(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str
) -> None:
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path / "nothing"])
    assert "python -m rnnviz train" in open_app(page).info[0].value


def test_damaged_files_are_named_beside_models(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, models_folder: Path
) -> None:
    (tmp_path / "broken.safetensors").write_bytes(b"nonsense")
    (tmp_path / "cut.safetensors").write_bytes((models_folder / "tiny-gru.safetensors").read_bytes()[:-5])
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path, models_folder])
    app = open_app("perplexity")
    assert "Files that can't be used (2)" in [e.label for e in app.sidebar.expander]
    assert r"broken\.safetensors" in page_words(app)
    assert r"cut\.safetensors" in page_words(app)


@pytest.mark.usefixtures("troubled")
def test_unexpected_error_shows_no_traceback(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def explode(context: object) -> None:
        raise RuntimeError("secret detail in /home/someone")

    monkeypatch.setattr("rnnviz.ui.pages.perplexity.page.page", explode)
    with caplog.at_level(logging.ERROR, "rnnviz"):
        app = open_app("perplexity")
    assert "Something unexpected went wrong" in app.error[0].value
    assert "secret detail" not in page_words(app)
    assert "secret detail" in caplog.text  # the terminal has it


def test_on_script_error_returns_true() -> None:
    assert error_messages.on_script_error(RuntimeError("secret detail")) is True


def test_error_message_is_escaped() -> None:
    error = CheckpointError("![x](http://example.org/a.png) <b>*no*</b> :red[model] $x$")
    message = error_messages.describe(error)
    assert message.replace("\\", "").replace("\u2060", "") == str(error)
    for character in "![](<>*:$":
        assert f"\\{character}" in message
    assert "memory" in error_messages.describe(MemoryError())
    assert error_messages.describe(CheckpointError("https://a.b is gone")).startswith("https")


def test_invalid_card_entries_are_left_out(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, card in {
        "bare": {},
        "odd": tiny_card(
            held_out={"perplexity": "low"},
            recipe=[1, 2],
            characters="many",
            versions=7,
            ngram=3,
            title=None,
            training_seconds=True,
        ),
    }.items():
        checkpoint.save(tiny("rnn", card=card), tmp_path / f"{name}.safetensors")
        assert list(sidebar.card_in_words({**card, "name": name})) == []
    monkeypatch.setattr("rnnviz.networks.checkpoint.folders", lambda: [tmp_path])
    for page, name in product(("explore", "perplexity"), ("bare", "odd")):
        assert open_app(page, model=name).sidebar.selectbox(key="model").value == name


def test_recipe_becomes_sentences() -> None:
    text = " ".join(sidebar.card_in_words(tiny_card()))
    read = "It read that text 20 times, with batch size 32; every update looks back 64 characters."
    assert read in text
    assert "40 % of the output, 10 % of whole characters" in text
    assert "recurrent weights" not in text
    assert "Training took 7 minutes." in text


def test_card_lists_candidate_settings() -> None:
    rows: list[Any] = [
        {
            "settings": {"learning_rate": 0.004},
            "validation_perplexity": 4.116,
            "characters": 9,
            "chosen": True,
        },
        {"settings": {"learning_rate": 0.0015}, "validation_perplexity": 4.25, "characters": 9},
    ]
    text = " ".join(sidebar.card_in_words(tiny_card(choice=rows))).replace("\\", "")
    assert "chosen among 2 candidates, by their perplexity on validation text: " in text
    assert "**learning_rate 0.004: 4.12**; learning_rate 0.0015: 4.25." in text
    for odd in (7, [7], [{"settings": "<b>"}], [{**rows[0], "validation_perplexity": "4"}]):
        assert "candidate" not in " ".join(sidebar.card_in_words(tiny_card(choice=odd)))


def test_comparison_model_is_ngram_of_card(only_tiny_models: Path) -> None:
    network, counts = listed()["tiny-gru"], listed()["tiny-3gram"]
    assert model_cache.load_ngram_model(network, [network, counts]).name == "tiny-3gram"
    assert model_cache.load_ngram_model(replace(network, card={}), [network, counts]) is None
    assert model_cache.load_ngram_model(counts, [network, counts]) is None
    assert model_cache.load_ngram_model(network, [network]) is None


@pytest.mark.usefixtures("shipped")
def test_memoryless_is_mlp_of_same_text_and_vocabulary(tmp_path: Path) -> None:
    def beside(name: str, *candidates: checkpoint.ModelInfo) -> str | None:
        mlp = model_cache.load_memoryless(
            model_cache.load_reader(listed()[name]), candidates or [*listed().values()]
        )
        return mlp and mlp.name

    assert beside("timemachine-gru") == beside("timemachine-rnn") == "timemachine-mlp"
    assert [beside(name) for name in ("timemachine-mlp", "python-lstm")] == [None, None]
    other = tiny("mlp", card=listed()["timemachine-gru"].card)
    of_other_symbols = checkpoint.read_info(checkpoint.save(other, tmp_path / "other-mlp.safetensors"))
    assert beside("timemachine-gru", of_other_symbols) is None


def test_model_is_cached_until_file_changes(only_tiny_models: Path) -> None:
    info = listed()["tiny-gru"]
    first = model_cache.load(info)
    assert model_cache.load(info) is first
    checkpoint.save(tiny("gru", card=tiny_card()), info.path)
    assert model_cache.load(info) is not first


def test_explore_and_lecture_load_no_torch(command_environment: dict[str, str]) -> None:
    code = """if True:
        import sys
        from rnnviz.ui.shell import model_cache
        from rnnviz.ui.pages.explore import page
        from rnnviz.page.live_session import LiveAsk, LiveSession
        from rnnviz.lecture.scenes import scenes
        from rnnviz.ui.pages.learn import lecture
        scenes()
        info = next(m for m in model_cache.list_models()[0] if m.name == 'tiny-gru')
        model = model_cache.load(info, to_read=True)
        LiveSession(model).answer(LiveAsk(text='the'))
        print('torch' in sys.modules)
    """
    options = {"capture_output": True, "encoding": "utf-8", "timeout": 120, "check": True}
    done = subprocess.run([sys.executable, "-c", code], env=command_environment, **options)
    assert done.stdout.split() == ["False"]


def test_ngram_context_has_no_network(only_tiny_models: Path) -> None:
    counts, network = listed()["tiny-3gram"], listed()["tiny-gru"]
    assert ModelContext(model_cache.load(network), None, network, 0.8).network is model_cache.load(network)
    with pytest.raises(ConfigError, match="no hidden state; choose a network"):
        _ = ModelContext(model_cache.load(counts), None, counts, 0.8).network


@pytest.mark.parametrize(
    ("kind", "layers", "words"),
    [
        ("mlp", 1, "MLP without a hidden state, 12 units"),
        ("rnn", 1, "RNN, 12 hidden units"),
        ("lstm", 2, "LSTM, 2 layers of 12 hidden units"),
        ("mingru", 1, "minGRU, 12 hidden units"),
    ],
)
def test_kind_describes_cell_and_size(kind: str, layers: int, words: str) -> None:
    info = checkpoint.ModelInfo("x", Path("x.safetensors"), kind, {}, 1, 3)
    assert sidebar.kind(info, tiny(kind, layers=layers)) == words
