"""What a notebook shows: pictures as static HTML, and reprs of one screen at most."""

import base64
import html
import io
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rnnviz
from rnnviz.figures.themes import LIGHT, TANH, palette
from rnnviz.networks.ngram import NgramModel
from rnnviz.scoring.language_model import UniformModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.html_repr import assert_brief, assert_well_formed
from tests.support.models import TEXT, tiny, tiny_card, with_tensors

MODEL = tiny("gru", name="tiny <b>", card=tiny_card(title="<script>x</script>"), hidden_size=40)
WRONG_AND_SURE = with_tensors(MODEL, readout_weight=9 * MODEL.tensors["readout.weight"])  # and wrong
READ = rnnviz.trace(MODEL, TEXT)
LARGE = Vocabulary(tuple(map(chr, range(0x4E00, 0x4E00 + 4000))))
OBJECTS: dict[str, Any] = {
    "trace": READ,
    "empty trace": READ[:0],
    "model": MODEL,
    "n-gram model": NgramModel.fit(TEXT, order=3, name="tiny-3gram"),
    "vocabulary": LARGE,
    "uniform model": UniformModel(LARGE),
    "score": rnnviz.perplexity(WRONG_AND_SURE, text=TEXT),
    "model's file": rnnviz.available()[0][0],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_a_repr_takes_no_more_than_a_few_lines(name: str) -> None:
    assert_brief(OBJECTS[name])


def test_a_short_vocabulary_is_shown_whole() -> None:
    assert repr(Vocabulary(("a", "b"))) == "Vocabulary(characters=('a', 'b'))"


@pytest.mark.parametrize("name", ["trace", "empty trace", "model", "score", "n-gram model"])
def test_a_picture_is_well_formed_html_without_scripts(name: str) -> None:
    assert_well_formed(OBJECTS[name])


def test_the_heat_map_holds_the_states_of_the_last_characters_in_their_colours() -> None:
    picture = READ._repr_html_()
    encoded = re.search(r"data:image/png;base64,([^\"]+)", picture)
    assert encoded
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded[1]))))
    assert pixels.shape == (40, 120, 3)
    np.testing.assert_array_equal(pixels, palette(TANH.anchors(LIGHT))[TANH.levels(READ.hidden[-120:, -1].T)])
    characters = re.findall(r'font-family="monospace"[^>]*>([^<]*)<', picture)
    assert html.unescape("".join(characters)) == TEXT[-120:].replace(" ", "·").replace("\n", "⏎")
    measured = (f"the last 120 of {len(TEXT):,}", f"perplexity {READ.perplexity[-1]:.3f}")
    for words in (*measured, "Look for", "does not tell"):
        assert words in picture
    layout = READ.plot().layout
    axes = [layout.xaxis.title.text, layout.yaxis.title.text]
    assert [layout.title.text, *axes] == [
        "H after each character", "character", "units, similar ones side by side",
    ]  # fmt: skip


def test_short_trace_is_drawn_whole() -> None:
    picture = READ[:7]._repr_html_()
    assert html.unescape("".join(re.findall(r'font-family="monospace"[^>]*>([^<]*)<', picture))) == "The·Tim"


def test_a_score_says_itself_and_shows_its_figures() -> None:
    score = OBJECTS["score"]
    assert "A uniform guess would have done better" in str(score)
    assert f"{score.perplexity:.2f}</td>" in score._repr_html_()


def test_a_model_shows_its_card() -> None:
    html = MODEL._repr_html_()
    for words in ("40 hidden units", "4.325", "&lt;script&gt;x&lt;/script&gt;"):
        assert words in html
