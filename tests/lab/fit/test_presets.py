"""Presets: recipes that hold for any text and machine, and the toy's promise."""

from dataclasses import replace

import pytest

from rnnviz.lab.fit.presets import PRESETS, TOY, dropout, fitting, preset, textbook_text, twice
from rnnviz.lab.fit.trainer import WORD_TEMPERATURE, Trainer, train
from rnnviz.scoring.perplexity import perplexity
from rnnviz.scoring.sampling import sample
from rnnviz.text import corpora


def test_every_preset_has_a_recipe_for_every_text_and_machine() -> None:
    for key, expected in PRESETS.items():
        for characters in (1, 7, 200, 178_979, 10**9):
            for cores in (1, 2, 16, 256):
                config, minutes = preset(key, characters, cores)
                assert minutes == expected
                assert config.model_config(70).parameter_count > 0


def test_dropout_grows_with_the_passes_over_the_text() -> None:
    assert dropout(0.01) == dropout(2) == (0, 0, 0)
    levels = [dropout(passes) for passes in (2, 4, 8, 16, 32, 64, 1000)]
    assert levels == sorted(levels)
    assert levels[-2] == levels[-1]
    once, often = preset("five-minutes", 10**9, 2)[0], preset("five-minutes", 178_979, 2)[0]
    assert once.dropout_output == 0 < often.dropout_output


def test_a_minute_of_a_mingru_is_a_minute_of_the_lstm_but_for_its_network() -> None:
    for cores in (2, 16):
        lstm, mingru = (preset(key, 178_979, cores)[0] for key in ("one-minute", "one-minute-mingru"))
        assert (mingru.cell, mingru.layers, mingru.hidden_size) == ("mingru", 2, lstm.hidden_size)
        network = {"cell": "lstm", "layers": 1, "dropout_weight": lstm.dropout_weight}
        assert replace(mingru, **network) == lstm


@pytest.mark.parametrize("seed", [0, 1])
def test_the_toy_given_m_writes_its_word_again_and_again(seed: int) -> None:
    """As the Train page trains it. Of the word alone it never learns what comes after the e."""
    config = replace(TOY, seed=seed, characters=1400)
    texts = {"machine": False, twice("machine"): True}
    for text, goes_on in texts.items():
        *reports, last = train(config, corpora.from_text(text), device="cpu", sample_length=0)
        assert len(reports) >= 10  # something to look at while it learns
        assert perplexity(last.model, text="machine").perplexity < 1.05
        sample_text = sample(last.model, "m", 100, temperature=WORD_TEMPERATURE, seed=seed)
        assert (sample_text == ("achinem" * 15)[:100]) == goes_on


@pytest.mark.slow
def test_the_report_of_a_toy_writes_the_word_too() -> None:
    *_, last = train(TOY, corpora.from_text(twice("machine")), watch_text="machine")
    assert last.characters < 3_000  # a second or so
    assert last.sample == ("machine" * 30)[:200]


def test_the_textbooks_text_is_its_letters_and_blanks_and_the_presets_part_is_ten_thousand() -> None:
    book = corpora.read("timemachine").text
    text = corpora.from_text(textbook_text(book))
    trainer = Trainer(preset("textbook", text.characters, 2)[0], text, device="cpu")
    assert len(trainer.text) == 10_000
    assert trainer.text.startswith("the time machine by h g wells i the time traveller for so it")
    assert trainer.model.vocabulary.size == 28
    assert "".join(sorted(trainer.model.vocabulary.characters)) == " abcdefghijklmnopqrstuvwxyz"
    assert trainer.total_steps == 500 * trainer.streams.pieces_an_epoch
    assert float(trainer.model.recurrence.weight_hh_l0.detach().std()) == pytest.approx(0.01, rel=0.01)


def test_presets_fit_the_text() -> None:
    assert fitting(7, 4) == fitting(199, 4) == ["toy"]
    assert fitting(200, 4) == ["one-minute"]
    for cores in (1, 2, 4, 8, 16):
        assert (
            fitting(178_979, cores)
            == fitting(10**9, cores)
            == [key for key, minutes in PRESETS.items() if minutes]
        )
        lengths = [len(fitting(n, cores)) for n in (200, 2_000, 20_000, 200_000)]
        assert lengths == sorted(lengths), "the longer the text, the more"
    assert twice("a" * 99) == "a" * 198
    assert twice("a" * 100) == "a" * 100, "twice as long it would be split"
