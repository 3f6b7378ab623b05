"""The page's training offers the package's settings, as they are."""

from dataclasses import asdict

from rnnviz.lab.fit import presets
from rnnviz.networks.config import TrainConfig
from rnnviz.networks.settings import settings_of
from rnnviz.page import training_words
from rnnviz.text import corpora


def test_word_has_the_packages_toy_recipe() -> None:
    changed = {
        name
        for name, value in asdict(training_words.WORD_RECIPE).items()
        if value != getattr(presets.TOY, name)
    }
    # How long it trains is the page's own: a time.
    assert changed == {"hidden_size", "epochs", "evaluate_every"}


def test_dials_are_settings_with_their_words_and_recipes_lie_within() -> None:
    fixed = training_words.training_fixed()
    for dial in fixed["dials"]:
        control = settings_of(TrainConfig)[dial["name"]].control
        assert control is not None
        assert (dial["label"], dial["help"]) == (control.label, control.help)
        for recipe in fixed["recipes"].values():
            value = dial["off"] if recipe[dial["name"]] is None else recipe[dial["name"]]
            offered = [choice for choice, _words in dial["choices"]]
            assert value in offered if offered else dial["low"] <= value <= dial["high"]
    assert all(set(recipe) == {"seconds", *training_words.SENT} for recipe in fixed["recipes"].values())


def test_dials_apply_where_the_packages_settings_do() -> None:
    applying = training_words.training_fixed()["applying"]
    assert set(applying["gru"]) == {"torch", "normal"}  # the identity is for an RNN
    assert "activation" in applying["rnn"]["torch"]
    assert "activation" not in applying["lstm"]["torch"]
    assert "sigma" in applying["gru"]["normal"]
    assert "sigma" not in applying["gru"]["torch"]


def test_texts_come_with_the_package() -> None:
    texts = [corpus.name for corpus in training_words.training_corpora()]
    assert texts == list(training_words.WATCHED)
    assert not any(corpora.describe(name).needs_download for name in texts)
