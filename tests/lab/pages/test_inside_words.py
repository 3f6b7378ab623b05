"""What Inside paints behind characters, and how its sentences follow one another."""

import pytest

from rnnviz.figures.themes import ColourScale, contrast
from rnnviz.page import formatting as page_words
from rnnviz.ui.shell import dashboard


@pytest.mark.parametrize(("language", "joined"), [("en", "One. Two."), ("zh", "One.Two.")])
def test_chinese_sentences_are_joined_without_a_space(
    language: str, joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rnnviz.page.formatting.language", lambda: language)
    assert page_words.together(["One.", "Two."]) == joined


def test_letters_are_readable_on_every_colour() -> None:
    for theme in dashboard._themes().values():
        for colours in theme["palettes"].values():
            assert min(contrast(behind, letter) for behind, letter in colours) >= 4.5


def test_scale_ends_have_minus_signs() -> None:
    assert dashboard.legend_ends(ColourScale("diverging", -1.0, 1.0)) == ("diverging", "−1", "1")
