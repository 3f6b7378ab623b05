"""What a notebook shows: pictures as static HTML, and reprs of one screen at most."""

import base64
import html
import io
import re
import xml.etree.ElementTree as ET
from functools import cache
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rnnviz
from rnnviz import units
from rnnviz.figures.themes import LIGHT, TANH, palette
from rnnviz.lab.analysis import matching
from rnnviz.lab.analysis.evidence import search
from rnnviz.lab.analysis.interventions import Intervention
from rnnviz.lab.analysis.matching import pattern
from rnnviz.networks.ngram import NgramModel
from rnnviz.networks.numpy_model import NumpyModel, weights_of
from rnnviz.scoring.language_model import UniformModel
from rnnviz.text.vocabulary import Vocabulary
from tests.support.models import TEXT, tiny, tiny_card

MODEL = tiny("gru", name="tiny <b>", card=tiny_card(title="<script>x</script>"), hidden_size=40)
READ = rnnviz.trace(MODEL, TEXT)
FOUND = search(READ, units.target("vowel", TEXT))
PATTERN = pattern(READ, 3, 5, threshold=0.02)
MATCHES = matching.find(READ.hidden[:, 0].T.astype(np.float16), 40, PATTERN)
PATCH = units.patch(MODEL, TEXT[:20], 9, TEXT[:30], 20)


@cache
def shown() -> dict[str, Any]:
    large = Vocabulary(tuple(map(chr, range(0x4E00, 0x4E00 + 4000))))
    bare = NumpyModel(MODEL.config, MODEL.vocabulary, weights_of(MODEL), "bare", MODEL.card)
    return {
        "trace": READ,
        "empty trace": READ[:0],
        "search": FOUND,
        "model": MODEL,
        "network without torch": bare,
        "n-gram model": NgramModel.fit(TEXT, order=3, name="tiny-3gram"),
        "vocabulary": large,
        "uniform model": UniformModel(large),
        "score": rnnviz.perplexity(MODEL, text=TEXT),
        "gates": units.gates(READ),
        "projection": units.project(READ),
        "ablation": units.ablate(MODEL, TEXT[:60]),
        "perturbation": units.perturb(MODEL, TEXT[:300], 5, "x"),
        "comparison": units.compare([MODEL, MODEL], TEXT[:100]),
        "connectivity": rnnviz.gradients.connectivity(MODEL, TEXT[:100]),
        "target": units.target("vowel", TEXT),
        "model's file": rnnviz.available()[0][0],
        "intervention": Intervention(range(200)),
        "pattern": PATTERN,
        "matches": MATCHES,
        "match": MATCHES.found[0],
        "unit of a scan": units.scan(MODEL, text=TEXT)[0, 3],
        "patch": PATCH,
        "controls of a patch": PATCH.controls(MODEL, TEXT, n=2),
    }


@pytest.mark.parametrize("name", shown())
def test_a_repr_takes_no_more_than_a_few_lines(name: str) -> None:
    said = repr(shown()[name])
    assert len(said) <= 400
    assert said.count("\n") <= 5
    assert not re.search(r" at 0x[0-9a-f]+>", said)


def test_a_short_vocabulary_is_shown_whole() -> None:
    assert repr(Vocabulary(("a", "b"))) == "Vocabulary(characters=('a', 'b'))"


@pytest.mark.parametrize(
    "thing",
    [READ, READ[:0], FOUND, MODEL, shown()["score"], shown()["n-gram model"]],
    ids=["trace", "no characters", "finding", "model", "score", "n-gram model"],
)
def test_a_picture_is_well_formed_html_without_scripts(thing: Any) -> None:
    drawn = thing._repr_html_()
    assert "<script" not in drawn
    assert "http" not in drawn  # nothing is fetched
    assert re.findall(r"\son\w+=", drawn) == []
    assert ET.fromstring(drawn).tag == "div"  # every element is closed, every & is one


def test_the_heat_map_holds_the_states_of_the_last_characters_in_their_colours() -> None:
    drawn = READ._repr_html_()
    encoded = re.search(r"data:image/png;base64,([^\"]+)", drawn)
    assert encoded
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded[1]))))
    assert pixels.shape == (40, 120, 3)
    np.testing.assert_array_equal(pixels, palette(TANH.anchors(LIGHT))[TANH.levels(READ.hidden[-120:, -1].T)])
    characters = re.findall(r'font-family="monospace"[^>]*>([^<]*)<', drawn)
    assert html.unescape("".join(characters)) == TEXT[-120:].replace(" ", "·").replace("\n", "⏎")
    assert f"the last 120 of {len(TEXT):,}" in drawn
    assert f"perplexity {READ.perplexity[-1]:.3f}" in drawn
    assert "Look for" in drawn
    assert "does not tell" in drawn


def test_a_search_shows_its_table_what_may_be_said_and_the_best_units_as_bars() -> None:
    drawn = FOUND._repr_html_()
    assert f"<td style='padding:1px 12px 1px 0;text-align:left'>{FOUND.target}</td>" in drawn
    assert "Too little text to tell" in drawn
    assert "**" not in drawn
    widths = list(map(int, re.findall(r"width:(\d+)px", drawn)))
    listed = FOUND.panels()[0].picture
    assert len(widths) == len(listed.values) + len(listed.levels)
    assert max(widths) == 240
    assert drawn.count(f"background:{LIGHT.muted}") == len(listed.levels)
    assert all(f"<td>{value:.3f}</td>" in drawn for value in listed.values)


def test_a_score_says_itself_and_shows_its_figures() -> None:
    score = shown()["score"]
    assert "A uniform guess would have done better" in str(score)
    assert f"{score.perplexity:.2f}</td>" in score._repr_html_()


def test_a_model_shows_its_card() -> None:
    drawn = MODEL._repr_html_()
    assert "40 hidden units" in drawn
    assert "4.325" in drawn
    assert "&lt;script&gt;x&lt;/script&gt;" in drawn
